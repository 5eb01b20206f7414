"""Two windows of one rater: answers and undos at the same moment end as in one of their serial orders."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.survey.store.small_studies import current, hurried, opened, raters_of
from textassay.survey.model import Rater
from textassay.survey.store import answers
from textassay.survey.store.study_store import Store

Outcome = tuple[tuple[Any, Any], list[int], int | None]


def outcome_of(store: Store, rater: Rater, results: tuple[Any, Any]) -> Outcome:
    """What both windows were told, the values that are stored, and the open task."""
    values = [rating.value for rating in store.ratings(checks=True) if rating.rater == rater.name]
    return results, sorted(values), store.stage(rater).task


def both(store: Store, rater: Rater, *, order: str) -> Outcome:
    """A rater who has answered a text with 1 answers the next one with 2 and presses Undo."""
    store.answer(rater, current(store, rater).number, 1)
    task = current(store, rater).number
    acts: dict[str, Callable[[], Any]] = {
        "answer": lambda: store.answer(rater, task, 2),
        "undo": lambda: store.undo_shown(rater, task),
    }
    told: dict[str, Any] = {}
    if order == "at once":
        at_once(acts, told)
    else:
        for name in order.split(" then "):
            told[name] = acts[name]()
    results = (told["answer"], told["undo"])
    _, values, number = outcome_of(store, rater, results)
    # Numbers of tasks differ between raters; what counts is which of the two is open.
    return results, values, None if number is None else number - task


def at_once(acts: dict[str, Callable[[], Any]], told: dict[str, Any]) -> None:
    """Run all acts in threads that start together."""
    barrier = threading.Barrier(len(acts))

    def act(name: str) -> None:
        barrier.wait()
        told[name] = acts[name]()

    threads = [threading.Thread(target=act, args=(name,)) for name in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("between", [True, False])
def test_answer_and_undo_at_the_same_moment_end_as_in_a_serial_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: bool
) -> None:
    n = 40
    store, links = opened(tmp_path / "s.db", items=8, n_raters=n + 2, ratings_wanted=n + 2)
    with closing(hurried(store)):
        raters = raters_of(store, links.raters)
        serial = [
            both(store, raters[n], order="answer then undo"),
            both(store, raters[n + 1], order="undo then answer"),
        ]
        assert [results for results, *_ in serial] == [("recorded", "since"), ("stale", "undone")]
        if between:
            # Force the collision: every look at the open task gives the other window time to write.
            waiting = threading.Event()
            real = answers.current

            def slow(*arguments: Any) -> Any:
                found = real(*arguments)
                waiting.wait(0.002)
                return found

            monkeypatch.setattr(answers, "current", slow)
        for rater in raters[:n]:
            assert both(store, rater, order="at once") in serial
