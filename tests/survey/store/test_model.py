"""The store against a model in memory: any sequence of raters, tasks, answers, undos, waits and crashes."""

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.survey.store.small_studies import opened, quick_folder
from textassay.survey.model import Rater, Rating, Stage, SurveyItem, Task
from textassay.survey.store import progress as clock
from textassay.survey.store.answers import HOLD_SECONDS
from textassay.survey.store.study_store import Store

MINUTE = 60.0


@dataclass
class Modelled:
    """A rater as the model knows them: tasks in order, answers to the first of them, and until when items are held."""

    token: str
    tasks: list[Task] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    held_until: dict[int, float] = field(default_factory=dict)

    def holds(self, place: int, now: float) -> bool:
        """Whether the task at this place counts for its item."""
        return place < len(self.answers) or self.held_until[place] > now


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
        self.now = 1e9
        self.patches = (
            mock.patch.object(clock, "now", self._time),
            mock.patch.object(clock, "steady", self._time),
            mock.patch("textassay.survey.store.study_store.new_secret", return_value=secret),
        )
        for patch in self.patches:
            patch.start()
        self.path = Path(self.folder.name) / "0.db"
        each_rater = {"ratings_wanted": wanted, "items_per_rater": each, "checks_per_rater": checks}
        self.store, self.links = opened(self.path, items=items, n_raters=1, **each_rater)
        self.wanted, self.each, self.checks = wanted, min(each, items), min(checks, 2)
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
        return self.now

    def _rater(self, which: int) -> tuple[Modelled, Rater]:
        modelled = self.raters[which % len(self.raters)]
        rater = self.store.rater(modelled.token)
        assert rater is not None
        return modelled, rater

    def _loads(self) -> Counter[str]:
        return Counter(
            task.text for rater in self.raters for k, task in enumerate(rater.tasks) if rater.holds(k, self.now)
        )

    def _is_check(self, task: Task) -> bool:
        return self.items[task.text].expected is not None

    @rule(by_link=st.booleans())
    def new_rater(self, by_link: bool) -> None:
        token = self.store.join(self.links.join) if by_link else self.store.invite(1)[0]
        assert token is not None
        self.raters.append(Modelled(token))

    @rule(which=st.integers(0, 50))
    def task(self, which: int) -> None:
        modelled, rater = self._rater(which)
        done, given = len(modelled.answers), [task.text for task in modelled.tasks]
        task = self.store.task(rater)
        if done < len(given):
            assert task == modelled.tasks[done]
            return
        loads = self._loads()
        lacking = [loads[text] for text, item in self.items.items() if item.expected is None and text not in given]
        rated = sum(not self._is_check(task) for task in modelled.tasks)
        if done == self.each + self.checks or (rated < self.each and min(lacking) >= self.wanted):
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
            assert loads[task.text] == min(lacking) < self.wanted
        else:
            assert done - rated < self.checks
        modelled.tasks.append(task)
        modelled.held_until[done] = self.now + HOLD_SECONDS

    @rule(which=st.integers(0, 50))
    def look(self, which: int) -> None:
        """How far a rater is, which gives nobody anything."""
        modelled, rater = self._rater(which)
        done, total = len(modelled.answers), self.each + self.checks
        open_task = modelled.tasks[done].number if done < len(modelled.tasks) else None
        given = {task.text for task in modelled.tasks}
        answers = Counter(task.text for other in self.raters for task in other.tasks[: len(other.answers)])
        lacking = any(
            answers[text] < self.wanted and text not in given
            for text, item in self.items.items()
            if item.expected is None
        )
        left = open_task is not None or (lacking and len(given) < total)
        assert self.store.stage(rater) == Stage(done, total, open_task, left)

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
        else:
            assert outcome == "recorded"
            modelled.answers.append(value)

    @rule(which=st.integers(0, 50), other=st.integers(0, 50), value=st.integers(1, 6))
    def answer_for_another(self, which: int, other: int, value: int) -> None:
        modelled, rater = self._rater(which)
        victim = self.raters[other % len(self.raters)]
        if victim is not modelled and victim.tasks:
            assert self.store.answer(rater, victim.tasks[-1].number, value) == "stale"

    @rule(which=st.integers(0, 50))
    def undo(self, which: int) -> None:
        modelled, rater = self._rater(which)
        assert self.store.undo(rater) == bool(modelled.answers)
        if modelled.answers:
            modelled.answers.pop()
            modelled.held_until[len(modelled.answers)] = self.now + HOLD_SECONDS

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
        self.new_rater(by_link=True)
        self.task(len(self.raters) - 1)
        self.wait(minutes)

    @rule(minutes=st.sampled_from([10.0, 40.0]))
    def wait(self, minutes: float) -> None:
        self.now += minutes * MINUTE

    @rule()
    def reopen(self) -> None:
        self.store.close()
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
        self.path, self.store = copy, Store.open(copy)

    @invariant()
    def same_ratings(self) -> None:
        if not hasattr(self, "store"):
            return
        expected = Counter(
            (f"r{number:03d}", task.text, value)
            for number, rater in enumerate(self.raters, 1)
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
            task.text for rater in self.raters for task, _ in zip(rater.tasks, rater.answers, strict=False)
        )
        rateable = [text for text, item in self.items.items() if item.expected is None]
        assert summary.ratings_per_item == tuple(counts[text] for text in rateable)
        assert summary.items_complete == sum(counts[text] >= self.wanted for text in rateable)
        assert summary.wanted == self.wanted * len(rateable)
        assert [rater.done for rater in summary.raters] == [len(rater.answers) for rater in self.raters]
        for progress, rater in zip(summary.raters, self.raters, strict=True):
            pairs = list(zip(rater.tasks, rater.answers, strict=False))
            checks = [(self.items[task.text].expected, value) for task, value in pairs if self._is_check(task)]
            assert progress.checks_done == len(checks)
            assert progress.checks_right == sum(expected == value for expected, value in checks)


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
