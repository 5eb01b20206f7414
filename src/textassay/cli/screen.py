"""The terminal: a console that obeys NO_COLOR, FORCE_COLOR, TERM=dumb and pipes, and a progress bar."""

import os
import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

# The width of output that does not go to a terminal: wide enough for a few columns, narrow enough for a log.
_PIPE_WIDTH = 120
# The progress bar appears after this many seconds.
_DELAY = 1.0
# The remaining time is shown after this many seconds and this share of the steps: earlier estimates are unreliable.
_ESTIMATE_AFTER, _ESTIMATE_AFTER_SHARE = 3.0, 0.05


def output_console() -> Console:
    """The console for results, on standard output."""
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=False)
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


class _Rate(ProgressColumn):
    """Steps per second, if there is at least one."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed and speed >= 1 else "", style="dim")


class _Remaining(ProgressColumn):
    """The estimated remaining time, once enough steps are done: early steps are often slower."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        early = elapsed < _ESTIMATE_AFTER or task.completed < _ESTIMATE_AFTER_SHARE * (task.total or 0)
        if not task.total or task.finished or early:
            return Text("")
        left = round(elapsed * (task.total - task.completed) / task.completed)
        minutes, seconds = divmod(left, 60)
        return Text(f"about {minutes // 60}:{minutes % 60:02}:{seconds:02} left", style="cyan")


class ProgressBar:
    """A progress bar on standard error, shown only on a terminal and only after a second of work."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._wanted = not quiet and console.is_terminal and not console.is_dumb_terminal
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            _Remaining(),
            console=console,
            transient=True,
        )
        self._began = time.monotonic()
        self._shown = False
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._bar.stop()

    def start(self, what: str, steps: int) -> None:
        """Begin a task of `steps` steps; the previous task is finished."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(what, total=steps)
        self.step(0)

    def step(self, steps: int) -> None:
        """Advance by `steps` steps."""
        if self._task is None:
            return
        self._bar.advance(self._task, steps)
        self._show()

    def report(self, what: str, done: int, steps: int) -> None:
        """Show a task that reports its own state: what is being done, finished steps and all steps.

        A task with the same number of steps continues, so that the remaining time is that of the whole task.
        """
        if self._task is None or self._bar.tasks[self._bar.task_ids.index(self._task)].total != steps:
            self.start(what, steps)
        if self._task is not None:
            self._bar.update(self._task, description=what, completed=done)
        self._show()

    def _show(self) -> None:
        """Show the bar after a second of work."""
        if self._wanted and not self._shown and time.monotonic() - self._began > _DELAY:
            self._shown = True
            self._bar.start()
