"""Small studies for tests: pairs of items with the same context, attention checks, settings."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textassay.survey.model import Rater, Study, SurveyItem, Task
from textassay.survey.store.study_store import Links, Store

# Where Linux has a disk in memory; None is the folder for temporary files.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

STUDY = Study(
    title="How typical?",
    context_intro="The article",
    question="How typical is this summary?",
    note="Take your time.",
    ratings_wanted=3,
    items_per_rater=6,
    checks_per_rater=1,
)


def quick_folder() -> "tempfile.TemporaryDirectory[str]":
    """A folder for studies where flushing costs nothing: what is written is the same, and no test waits for a disk."""
    return tempfile.TemporaryDirectory(prefix="textassay-", dir=_IN_MEMORY)


def pairs(n: int, *, checks: int = 2) -> list[SurveyItem]:
    """`n` items, half of them human, each human one with a model's of the same context; then attention checks."""
    items = [
        SurveyItem(f"item-{k}", ("human", "model")[k % 2], f"text {k}", f"context {k // 2}", -float(k))
        for k in range(n)
    ]
    return items + [SurveyItem(f"check-{k}", "check", f"choose {k + 1}", expected=k + 1) for k in range(checks)]


def opened(path: Path, *, items: int = 8, n_raters: int = 0, **settings: int | None) -> tuple[Store, Links]:
    """A new study, open."""
    links = Store.create(path, replace(STUDY, **settings), pairs(items), n_raters=n_raters)  # type: ignore[arg-type]
    return Store.open(path), links


def hurried(store: Store) -> Store:
    """The store without waiting for the disk: for tests of what is written, not of how safe it is there."""
    store._writer._connection.execute("PRAGMA synchronous = OFF")
    return store


def raters_of(store: Store, tokens: Iterable[str]) -> list[Rater]:
    """Whose tokens these are."""
    found = [store.rater(token) for token in tokens]
    assert None not in found
    return [rater for rater in found if rater is not None]


def current(store: Store, rater: Rater) -> Task:
    """The rater's task, where there must be one."""
    task = store.task(rater)
    assert task is not None
    return task
