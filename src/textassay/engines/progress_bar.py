"""Progress bars: on standard error of a terminal, and in the output of a notebook's cell."""

import html
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.segment import Segment
from rich.text import Text

from textassay.corpus.printable import printable_lines

# A progress bar appears after this many seconds.
_DELAY = 1.0
# The remaining time is shown after this many seconds and this share of the steps: earlier estimates are unreliable.
_ESTIMATE_AFTER, _ESTIMATE_AFTER_SHARE = 3.0, 0.05
# A notebook is told of the progress so often at most, in seconds.
_PAUSE = 0.2


class SafeConsole(Console):
    """A console whose styles are its own: no text that is printed can control the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed; those that are not the console's own controls with safe text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable_lines(segment.text))


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
        console = SafeConsole(stderr=True)
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


class NotebookBar:
    """A progress bar in the output of a cell, shown only after a second of work and removed at the end."""

    def __init__(self) -> None:
        self._what, self._steps, self._done = "", 0, 0
        self._next = time.monotonic() + _DELAY
        self._handle: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.update(_Html(""))

    def start(self, what: str, steps: int) -> None:
        """Begin a task of `steps` steps; the previous task is finished."""
        self._what, self._steps, self._done = what, steps, 0
        self.step(0)

    def step(self, steps: int) -> None:
        """Advance by `steps` steps."""
        self._done += steps
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        if self._handle is None:
            self._handle = import_module("IPython.display").display(_Html(self._shown()), display_id=True)
        else:
            self._handle.update(_Html(self._shown()))

    def _shown(self) -> str:
        bar = f'<progress value="{self._done}" max="{max(self._steps, 1)}"></progress>'
        return f"<div>{html.escape(self._what)} {bar} {self._done:,}/{self._steps:,}</div>"


class _Html:
    """What a notebook shows as HTML, and nothing as text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return self._text


def shown_bar() -> ProgressBar | NotebookBar:
    """The bar for where Python runs: in a notebook, or else on standard error if that is a terminal."""
    return NotebookBar() if _in_notebook() else ProgressBar(quiet=False)


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython in a terminal has no kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
