"""Reports in a real browser: visits that note every trouble, widths of the screen, and an audit for barriers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag

import pytest

from tests.report.shelf import Shelf

# Smooth scrolling goes on after an action is done, and moves what is to be measured or clicked next.
CALM: dict[str, Any] = {"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 900}}
# The only rules of the audit that look at colours; all others find the same in light and in dark.
COLOURS = ("color-contrast", "link-in-text-block")
_AUDIT = "options => axe.run(document, {resultTypes: ['violations'], ...options}).then(found => found.violations)"


@dataclass
class Visits:
    """Opens reports; `troubles` are requests for anything but the report itself, messages, errors and dialogs.

    Not frozen, because playwright marks the object whose methods listen.
    """

    browser: Any
    shelf: Shelf[Any]
    troubles: list[str] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)

    def __call__(self, name: str, route: str = "", **options: Any) -> Any:
        """The report of this name in a context of its own."""
        context = self.browser.new_context(**CALM | options)
        self.contexts.append(context)
        page = context.new_page()
        address = self.shelf.report(name).as_uri()
        page.on("request", lambda request: self._request(request.url, address))
        page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        page.on("dialog", self._dialog)
        page.goto(address + route)
        return page

    def close(self) -> None:
        """Close all that was opened."""
        for context in self.contexts:
            context.close()

    def _request(self, url: str, address: str) -> None:
        if urldefrag(url).url != address:
            self.troubles.append(f"request: {url}")

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def open_all(page: Any) -> None:
    """Unfold everything that can be unfolded."""
    page.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")


def widen(page: Any, width: int) -> None:
    """Make the screen so wide; the page hears of it a little later."""
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("width => innerWidth === width", arg=width)


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"])


def overflows(page: Any, widths: Sequence[int]) -> dict[int, int]:
    """The widths of the screen at which the page scrolls sideways, and by how much."""
    found = {}
    for width in widths:
        widen(page, width)
        found[width] = overflow(page)
    return {width: over for width, over in found.items() if over > 0}


def barriers(page: Any) -> list[str]:
    """Serious and critical findings of the audit: all rules in light, those on colours in dark, too."""
    page.emulate_media(color_scheme="light")
    found = [f"light: {each}" for each in _grave(page)]
    page.emulate_media(color_scheme="dark")
    colours = {"runOnly": {"type": "rule", "values": COLOURS}}
    return found + [f"dark: {each}" for each in _grave(page, **colours)]


def barriers_of_shape(page: Any) -> list[str]:
    """Serious and critical findings but for colours: what a second width can change.

    No colour depends on the width of the screen, and the audit never judges colours within drawings, which are all
    that is shown on narrow screens only.
    """
    return _grave(page, rules={rule: {"enabled": False} for rule in COLOURS})


def _grave(page: Any, **options: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python").Axe()
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.axe_script)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'][:200]}"
        for violation in page.evaluate(_AUDIT, options)
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"][:3]
    ]
