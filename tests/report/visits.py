"""Reports as files, made when a test first needs them, and visits to them that record every problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urldefrag

Study = TypeVar("Study")
# Smooth scrolling continues after an action is done, and moves what is measured or clicked next.
CALM: dict[str, Any] = {"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 900}}


@dataclass(frozen=True)
class ReportFiles(Generic[Study]):
    """How to make each study by name, how to render it, and the folder of the files."""

    makers: Mapping[str, Callable[[], Study]]
    render: Callable[[Study], str]
    folder: Path
    made: dict[str, Study] = field(default_factory=dict)

    def study(self, name: str) -> Study:
        """The study of this name."""
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def report(self, name: str) -> Path:
        """The file of its report."""
        path = self.folder / f"{name}.html"
        if not path.exists():
            path.write_text(self.render(self.study(name)), encoding="utf-8")
        return path


@dataclass
class Visits:
    """Opens reports; `problems` are requests for anything but the report itself, messages, errors and dialogs.

    Not frozen, because playwright marks the object whose methods listen.
    """

    browser: Any
    reports: ReportFiles[Any]
    problems: list[str] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)

    def __call__(self, name: str, route: str = "", **options: Any) -> Any:
        """The report of this name in a context of its own."""
        context = self.browser.new_context(**CALM | options)
        self.contexts.append(context)
        page = context.new_page()
        address = self.reports.report(name).as_uri()
        page.on("request", lambda request: self._request(request.url, address))
        page.on("console", lambda message: self.problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("dialog", self._dialog)
        page.goto(address + route)
        return page

    def close(self) -> None:
        """Close everything that was opened."""
        for context in self.contexts:
            context.close()

    def _request(self, url: str, address: str) -> None:
        if urldefrag(url).url != address:
            self.problems.append(f"request: {url}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def open_all(page: Any) -> None:
    """Open all details."""
    page.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")
