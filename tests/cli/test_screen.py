"""The progress bar's columns."""

import pytest
from rich.progress import Task, TaskID

from textassay.cli.outputs import _Rate, _Remaining


def task(*, total: float | None, completed: float, elapsed: float) -> Task:
    """A piece of work that has taken so long."""
    clock = [0.0]
    made = Task(TaskID(0), "work", total, completed, _get_time=lambda: clock[0])
    made.start_time = 0.0
    clock[0] = elapsed
    return made


@pytest.mark.parametrize(
    ("total", "completed", "elapsed", "shown"),
    [
        (100, 0, 10, ""),
        (100, 1, 10, ""),
        (100, 50, 1, ""),
        (None, 50, 10, ""),
        (0, 0, 10, ""),
        (100, 5, 10, "about 0:03:10 left"),
        (100, 50, 10, "about 0:00:10 left"),
        (100_000, 10_000, 3600, "about 9:00:00 left"),
    ],
)
def test_the_estimate_waits_until_it_means_something(
    total: float | None, completed: float, elapsed: float, shown: str
) -> None:
    assert _Remaining().render(task(total=total, completed=completed, elapsed=elapsed)).plain == shown


def test_a_finished_task_has_no_time_left() -> None:
    done = task(total=10, completed=10, elapsed=10)
    done.finished_time = 10.0
    assert _Remaining().render(done).plain == ""


@pytest.mark.parametrize(("speed", "shown"), [(None, ""), (0.2, ""), (1234.5, "1,234/s")])
def test_a_slow_rate_is_not_shown_as_none(speed: float | None, shown: str) -> None:
    working = task(total=10, completed=1, elapsed=5)
    working.finished_speed = speed
    assert _Rate().render(working).plain == shown
