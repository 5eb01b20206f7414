"""The store against a model in memory: any sequence of actions, imports, waits, clock jumps and crashes."""

import shutil
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.survey.store.small_studies import opened, quick_folder
from textassay.survey.model import Rater, Rating, Stage, SurveyItem, Task
from textassay.survey.store import progress as clock
from textassay.survey.store.holds import HOLD_SECONDS, ONE_IN, PROVISIONAL_SECONDS, SHORTEST_SECONDS
from textassay.survey.store.importing import Imported
from textassay.survey.store.raters import name_of
from textassay.survey.store.study_store import Store, Visitor

MINUTE = 60.0


@dataclass
class Modelled:
    """A rater as the model knows them: tasks in order, answers to the first of them, and until when items are held."""

    token: str
    address: str | None = None
    excluded: bool = False
    tasks: list[Task] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    held_until: dict[int, float | None] = field(default_factory=dict)
    provisional: set[int] = field(default_factory=set)

    @property
    def joined(self) -> bool:
        """Whether the rater came by the shared link, and so from an address."""
        return self.address is not None

    def counts(self, place: int) -> bool:
        """Whether the task at this place is answered or reserved."""
        return place < len(self.answers) or self.held_until[place] is not None

    def holds(self, *, provisional: bool = False) -> int:
        """How many items are reserved, or reserved without a record."""
        open_places = range(len(self.answers), len(self.tasks))
        return sum(self.held_until[p] is not None and (not provisional or p in self.provisional) for p in open_places)


class Model(RuleBasedStateMachine):
    """What the store must do, said with lists."""

    @initialize(
        items=st.integers(1, 9),
        wanted=st.integers(1, 3),
        each=st.integers(1, 6),
        checks=st.integers(0, 3),
        secret=st.binary(min_size=1, max_size=2),
    )
    def create(self, items: int, wanted: int, each: int, checks: int, secret: bytes) -> None:
        self.folder = quick_folder()
        # Steady time, by how much the clock of the system is wrong, and how wrong it was when the store was opened.
        self.elapsed = self.error = self.error_at_start = 0.0
        self.imported: dict[tuple[str, str], list[tuple[bool, float, int]]] = {}
        self.workers: dict[str, Modelled] = {}
        self.patches = (
            mock.patch.object(clock, "now", self._time),
            mock.patch.object(clock, "steady", self._steady_clock),
            mock.patch("textassay.survey.store.study_store.new_secret", return_value=secret),
        )
        for patch in self.patches:
            patch.start()
        self.path = Path(self.folder.name) / "0.db"
        each_rater = {"ratings_wanted": wanted, "items_per_rater": each, "checks_per_rater": checks}
        self.store, self.links = opened(self.path, items=items, n_raters=1, **each_rater)
        self.wanted, self.each, self.checks = wanted, min(each, items), min(checks, 2)
        self.most_per_address = max(self.each, -(-items * wanted // 4))
        self.items = {item.text: item for item in self.store.items()}
        self.raters = [Modelled(self.links.raters[0])]
        self.abandoned: list[Store] = []

    def teardown(self) -> None:
        """Also after a failure on the way."""
        if hasattr(self, "folder"):
            for store in (*self.abandoned, self.store):
                store.close()
            for patch in self.patches:
                patch.stop()
            self.folder.cleanup()

    def _time(self) -> float:
        return 1e9 + self.elapsed + self.error

    def _steady_clock(self) -> float:
        return self.elapsed

    def _steady(self) -> float:
        return 1e9 + self.elapsed + self.error_at_start

    def _with_links(self) -> list[Modelled]:
        return [rater for rater in self.raters if rater.token]

    def _rater(self, which: int) -> tuple[Modelled, Rater]:
        modelled = self._with_links()[which % len(self._with_links())]
        rater = self.store.rater(modelled.token)
        assert rater is not None
        return modelled, rater

    def _loads(self, *, firm: bool = False) -> Counter[str]:
        """The tasks that count for each item: all, or without those of raters who joined."""
        return Counter(
            task.text
            for rater in self.raters
            if not rater.excluded and not (firm and rater.joined)
            for place, task in enumerate(rater.tasks)
            if rater.counts(place)
        )

    def _address_load(self, address: str | None) -> int:
        """The tasks that count for an address, those of excluded raters too."""
        return sum(
            rater.counts(place) and not self._is_check(task)
            for rater in self.raters
            if rater.address == address
            for place, task in enumerate(rater.tasks)
        )

    def _at_cap(self, modelled: Modelled) -> bool:
        return modelled.joined and self._address_load(modelled.address) >= self.most_per_address

    def _may_answer(self, modelled: Modelled) -> bool:
        """Whether a rater may answer the open task."""
        place = len(modelled.answers)
        free = modelled.held_until.get(place) is not None or self._is_check(modelled.tasks[place])
        return not modelled.excluded and (free or not self._at_cap(modelled))

    def _gets_no_more(self, modelled: Modelled) -> bool:
        rated = sum(not self._is_check(task) for task in modelled.tasks)
        return rated < self.each and self._at_cap(modelled)

    def _has_record(self, modelled: Modelled) -> bool:
        pairs = list(zip(modelled.tasks, modelled.answers, strict=False))
        wrong = any(self._is_check(task) and self.items[task.text].expected != value for task, value in pairs)
        return 2 * len(pairs) >= self.each + self.checks and not wrong

    def _is_provisional(self, modelled: Modelled) -> bool:
        return modelled.joined and not self._has_record(modelled)

    def _open_places(self) -> int:
        loads = self._loads()
        return sum(max(self.wanted - loads[text], 0) for text, item in self.items.items() if item.expected is None)

    def _longest_hold(self) -> float:
        plenty = ONE_IN * (sum(rater.holds() for rater in self.raters) + 1)
        return max(SHORTEST_SECONDS, HOLD_SECONDS * min(1.0, self._open_places() / plenty))

    def _end_holds(self) -> None:
        """End the reservations that are over, and shorten those that are too long."""
        now = self._steady()
        for rater in self.raters:
            rater.held_until = {
                place: until if until is not None and until > now else None for place, until in rater.held_until.items()
            }
        latest = now + self._longest_hold()
        for rater in self.raters:
            for place, until in rater.held_until.items():
                rater.held_until[place] = None if until is None else min(until, latest)

    def _fewest(self, given: list[str], *, firm: bool = False) -> int | None:
        """The smallest load among the open items that are new to a rater; None if there are none."""
        loads, closing = self._loads(), self._loads(firm=firm)
        new = [text for text, item in self.items.items() if item.expected is None and text not in given]
        return min((loads[text] for text in new if closing[text] < self.wanted), default=None)

    def _held_until(self, modelled: Modelled) -> float | None:
        """Until when the next task of a rater reserves its item."""
        if not self._is_provisional(modelled):
            return self._steady() + self._longest_hold()
        reserved = sum(rater.holds(provisional=True) for rater in self.raters)
        if self._open_places() < ONE_IN * (reserved + 1):
            return None
        return self._steady() + min(PROVISIONAL_SECONDS, self._longest_hold())

    def _hold(self, modelled: Modelled, place: int) -> None:
        """Reserve the item of the task at this place, if that is possible."""
        modelled.held_until[place] = self._held_until(modelled)
        modelled.provisional.discard(place)
        if self._is_provisional(modelled):
            modelled.provisional.add(place)

    def _is_check(self, task: Task) -> bool:
        return self.items[task.text].expected is not None

    @rule(address=st.sampled_from([None, "192.0.2.1", "2001:db8::/64"]))
    def new_rater(self, address: str | None) -> None:
        """A rater with a personal link, or one who joins from an address."""
        if address is None:
            self.raters.append(Modelled(self.store.invite(1)[0]))
            return
        visitor = Visitor(address)
        barred = self._address_load(address) >= self.most_per_address
        assert self.store.refusal(visitor) == ("barred" if barred else None)
        token = self.store.join(self.links.join, visitor)
        assert (token is None) == barred
        if token is not None:
            self.raters.append(Modelled(token, address))

    @rule(which=st.integers(0, 50), excluded=st.booleans())
    def exclude(self, which: int, excluded: bool) -> None:
        """Take a rater's places away, or give them back."""
        number = which % len(self.raters)
        modelled = self.raters[number]
        assert self.store.exclude([name_of(number + 1)], excluded=excluded) == (modelled.excluded != excluded)
        modelled.excluded = excluded
        if excluded:
            modelled.held_until = dict.fromkeys(modelled.held_until)

    @rule(which=st.integers(0, 50))
    def task(self, which: int) -> None:
        modelled, rater = self._rater(which)
        done, given = len(modelled.answers), [task.text for task in modelled.tasks]
        task = self.store.task(rater)
        if done < len(given):
            assert task == (modelled.tasks[done] if self._may_answer(modelled) else None)
            return
        rated = sum(not self._is_check(task) for task in modelled.tasks)
        if done == self.each + self.checks or modelled.excluded or self._gets_no_more(modelled):
            assert task is None
            return
        self._end_holds()
        fewest = self._fewest(given)
        if rated < self.each and fewest is None and not self._is_provisional(modelled):
            # Reservations without a record give way.
            for other in self.raters:
                other.held_until |= {place: None for place in other.provisional if place in other.held_until}
            fewest = self._fewest(given)
            if fewest is None and not modelled.joined:
                fewest = self._fewest(given, firm=True)
        if rated < self.each and fewest is None:
            assert task is None
            return
        assert task is not None
        assert (task.done, task.total) == (done, self.each + self.checks)
        item = self.items[task.text]
        assert task.context == item.context
        assert task.text not in given
        assert task.number not in [other.number for rater in self.raters for other in rater.tasks]
        if item.expected is None:
            assert rated < self.each
            assert self._loads()[task.text] == fewest
        else:
            assert done - rated < self.checks
        until, provisional = self._held_until(modelled), self._is_provisional(modelled)
        modelled.tasks.append(task)
        modelled.held_until[done] = until
        if provisional:
            modelled.provisional.add(done)

    @rule(which=st.integers(0, 50))
    def look(self, which: int) -> None:
        """How far a rater is, which gives nobody anything."""
        modelled, rater = self._rater(which)
        done, total = len(modelled.answers), self.each + self.checks
        may_answer = done < len(modelled.tasks) and self._may_answer(modelled)
        open_task = modelled.tasks[done].number if may_answer else None
        given = {task.text for task in modelled.tasks}
        answers = Counter(
            task.text
            for other in self.raters
            if not other.excluded and (modelled.joined or not other.joined)
            for task in other.tasks[: len(other.answers)]
        )
        lacking = any(
            answers[text] < self.wanted and text not in given
            for text, item in self.items.items()
            if item.expected is None
        )
        waits = done < len(modelled.tasks) and not may_answer
        barred = not modelled.excluded and open_task is None and (waits or self._gets_no_more(modelled))
        left = open_task is not None or (lacking and len(given) < total and not barred and not modelled.excluded)
        assert self.store.stage(rater) == Stage(done, total, open_task, left, barred)

    @rule(which=st.integers(0, 50), value=st.integers(0, 7), back=st.integers(-1, 2))
    def answer(self, which: int, value: int, back: int) -> None:
        """An answer to the current task, to one before it, or to one after it."""
        modelled, rater = self._rater(which)
        done = len(modelled.answers)
        place = done - back
        known = 0 <= place < len(modelled.tasks)
        number = modelled.tasks[place].number if known else 10**9
        outcome = self.store.answer(rater, number, value)
        if not 1 <= value <= 6:
            assert outcome == "refused"
        elif not known or place > done:
            assert outcome == "stale"
        elif place < done:
            assert outcome == ("already" if value == modelled.answers[place] else "kept")
        elif not self._may_answer(modelled):
            assert outcome == "barred"
        else:
            assert outcome == "recorded"
            modelled.answers.append(value)

    @rule(which=st.integers(0, 50), other=st.integers(0, 50), value=st.integers(1, 6))
    def answer_for_another(self, which: int, other: int, value: int) -> None:
        modelled, rater = self._rater(which)
        victim = self._with_links()[other % len(self._with_links())]
        if victim is not modelled and victim.tasks:
            assert self.store.answer(rater, victim.tasks[-1].number, value) == "stale"

    @rule(which=st.integers(0, 50))
    def undo(self, which: int) -> None:
        modelled, rater = self._rater(which)
        can = bool(modelled.answers) and not modelled.excluded
        assert self.store.undo(rater) == can
        if can:
            self._withdraw(modelled)

    def _withdraw(self, modelled: Modelled) -> None:
        modelled.answers.pop()
        modelled.held_until[len(modelled.answers)] = None
        self._hold(modelled, len(modelled.answers))

    @rule(which=st.integers(0, 50), shown=st.integers(-1, 3))
    def undo_in_old_window(self, which: int, shown: int) -> None:
        """Undo in a window that shows the open task, one before it, or the last page."""
        modelled, rater = self._rater(which)
        done = len(modelled.answers)
        numbers = [task.number for task in modelled.tasks]
        current = numbers[done] if done < len(numbers) and self._may_answer(modelled) else None
        place = done - shown
        window = numbers[place] if 0 <= place < len(numbers) else None
        found = self.store.undo_shown(rater, window)
        if window != current:
            assert found == ("since" if window is not None and (current is None or current > window) else "gone")
        elif modelled.answers and modelled.excluded:
            assert found == "fixed"
        elif modelled.answers:
            assert found == "undone"
            self._withdraw(modelled)
        else:
            assert found == "none"

    @rule(which=st.integers(0, 50), value=st.integers(1, 6))
    def answer_and_undo_at_once(self, which: int, value: int) -> None:
        """Two windows show the same task; one answers it and one goes back, at the same moment."""
        modelled, rater = self._rater(which)
        done = len(modelled.answers)
        if done == len(modelled.tasks) or not self._may_answer(modelled):
            return
        number, told = modelled.tasks[done].number, dict[str, Any]()
        acts: dict[str, Callable[[], Any]] = {
            "answer": lambda: self.store.answer(rater, number, value),
            "undo": lambda: self.store.undo_shown(rater, number),
        }

        def act(name: str) -> None:
            told[name] = acts[name]()

        threads = [threading.Thread(target=act, args=(name,)) for name in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        orders = {("recorded", "since"), ("stale", "undone") if done else ("recorded", "none")}
        assert (told["answer"], told["undo"]) in orders
        if told["answer"] == "recorded":
            modelled.answers.append(value)
        else:
            self._withdraw(modelled)

    @rule(
        answers=st.lists(
            st.tuples(st.sampled_from("AB"), st.integers(0, 20), st.integers(1, 6), st.integers(0, 9)),
            min_size=1,
            max_size=4,
        )
    )
    def import_file(self, answers: list[tuple[str, int, int, int]]) -> None:
        """A file with answers of two workers, who may have rated the same items in earlier or later files."""
        items, given = list(self.items.values()), dict[str, list[Imported]]()
        for worker, index, value, hour in answers:
            item = items[index % len(items)]
            before = self.imported.setdefault((worker, item.text), [])
            # No two answers are submitted at the same moment.
            submitted = hour * 3600.0 + sum(map(len, self.imported.values()))
            before.append((value == item.expected, submitted, value))
            given.setdefault(worker, []).append(Imported(item.id, value, 1.0, submitted))
        self.store.import_ratings(given)
        for worker, ratings in given.items():
            if worker not in self.workers:
                self.workers[worker] = Modelled("")
                self.raters.append(self.workers[worker])
            for rating in ratings:
                self._import(self.workers[worker], worker, next(item for item in items if item.id == rating.item))

    def _import(self, modelled: Modelled, worker: str, item: SurveyItem) -> None:
        """A wrong answer to a check counts, then the one that was submitted first."""
        *_, value = min(self.imported[worker, item.text])
        texts = [task.text for task in modelled.tasks]
        if item.text in texts:
            modelled.answers[texts.index(item.text)] = value
        else:
            modelled.tasks.append(Task(-1, item.text, item.context, done=0, total=0))
            modelled.answers.append(value)

    @rule(which=st.integers(0, 50), value=st.integers(1, 6))
    def rate_to_the_end(self, which: int, value: int) -> None:
        modelled, _ = self._rater(which)
        before = -1
        while before < len(modelled.answers):
            before = len(modelled.answers)
            self.task(which)
            if before < len(modelled.tasks):
                self.answer(which, value, 0)

    @rule(minutes=st.sampled_from([20.0, 40.0]))
    def come_and_go(self, minutes: float) -> None:
        """Somebody looks at a task, and is not seen again for a while."""
        self.new_rater("192.0.2.1")
        self.task(len(self._with_links()) - 1)
        self.wait(minutes)

    @rule(minutes=st.sampled_from([10.0, 40.0]))
    def wait(self, minutes: float) -> None:
        self.elapsed += minutes * MINUTE

    @rule(days=st.sampled_from([-3.0, -0.01, 0.01, 3.0]))
    def clock_jump(self, days: float) -> None:
        """Somebody sets the clock of the system."""
        self.error += days * clock.DAY

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.error_at_start = self.error
        self.store = Store.open(self.path)

    @precondition(lambda self: len(self.abandoned) < 4)
    @rule()
    def crash(self) -> None:
        """Go on with the bytes that are on disk now; the process that wrote them never closes them."""
        copy = self.path.with_name(f"{len(self.abandoned) + 1}.db")
        for ending in ("", "-wal"):
            if Path(f"{self.path}{ending}").exists():
                shutil.copyfile(f"{self.path}{ending}", f"{copy}{ending}")
        self.abandoned.append(self.store)
        self.error_at_start = self.error
        self.path, self.store = copy, Store.open(copy)

    @invariant()
    def same_ratings(self) -> None:
        if not hasattr(self, "store"):
            return
        expected = Counter(
            (f"r{number:03d}", task.text, value)
            for number, rater in enumerate(self.raters, 1)
            if not rater.excluded
            for task, value in zip(rater.tasks, rater.answers, strict=False)
        )
        found = list(self.store.ratings(checks=True))
        assert Counter((rating.rater, rating.item.text, rating.value) for rating in found) == expected
        self._check_order(found)
        self._check_summary()

    def _check_order(self, found: list[Rating]) -> None:
        order: list[SurveyItem] = list(self.items.values())
        places = [(order.index(rating.item), rating.rater) for rating in found]
        assert places == sorted(places)
        assert [r for r in found if r.item.expected is None] == list(self.store.ratings())

    def _check_summary(self) -> None:
        summary = self.store.summary()
        counts = Counter(
            task.text
            for rater in self.raters
            if not rater.excluded
            for task, _ in zip(rater.tasks, rater.answers, strict=False)
        )
        rateable = [text for text, item in self.items.items() if item.expected is None]
        assert summary.ratings_per_item == tuple(counts[text] for text in rateable)
        assert summary.items_complete == sum(counts[text] >= self.wanted for text in rateable)
        assert summary.wanted == self.wanted * len(rateable)
        assert [(rater.done, rater.excluded) for rater in summary.raters] == [
            (len(rater.answers), rater.excluded) for rater in self.raters
        ]
        with self.store._readers.reading() as connection:
            loads = dict(connection.execute("SELECT i.text, q.load FROM queue q JOIN items i ON i.number = q.item"))
            firm = dict(connection.execute("SELECT i.text, q.firm FROM queue q JOIN items i ON i.number = q.item"))
        assert all(self._loads()[text] == loads[text] for text in rateable)
        assert all(self._loads(firm=True)[text] == firm[text] for text in rateable)
        door = self.store.door()
        addresses = {rater.address for rater in self.raters if rater.joined}
        assert door.most == self.most_per_address
        assert sorted(use.load for use in door.addresses) == sorted(map(self._address_load, addresses))
        assert all(use.load <= door.most for use in door.addresses)
        for progress, rater in zip(summary.raters, self.raters, strict=True):
            pairs = list(zip(rater.tasks, rater.answers, strict=False))
            checks = [(self.items[task.text].expected, value) for task, value in pairs if self._is_check(task)]
            assert progress.checks_done == len(checks)
            assert progress.checks_right == sum(expected == value for expected, value in checks)


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


class LongModel(Model):
    """The same model for 10,000 steps."""


TestLongModel = pytest.mark.slow(LongModel.TestCase)
TestLongModel.settings = settings(max_examples=250, stateful_step_count=50, deadline=None)
