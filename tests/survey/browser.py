"""A real browser for the rating page: contexts that note every trouble, the Tab key, and an audit for barriers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.report.conftest import ARGUMENTS, CHROMIUM

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 "
    "Mobile Safari/537.36",
}
# A machine with much else to do takes its time; that is no fault of the page.
PATIENCE = 60_000
# Chromium writes this line by itself for every page that is an error page on purpose.
_OWN_STATUS = "Failed to load resource: the server responded with a status of 4"
_TELL_VIOLATIONS = "addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))"
_SMALL = """[...document.querySelectorAll("button, .button, .choice")]
    .map((element) => [element.innerText, element.getBoundingClientRect().height])
    .filter(([, height]) => 0 < height && height < 44).map(([name, height]) => `${name} (${height} px)`)"""
_FINDINGS = "(options) => axe.run(options).then((found) => found.violations)"
# The two schemes differ in colours alone, so the second needs only the rules that look at these.
_SCHEMES: dict[str, dict[str, Any]] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]},
}
_FOCUSED = "(document.activeElement.innerText || '').trim().replace(/\\s+/g, ' ')"


@dataclass
class Browser:
    """A browser of which every context is watched: `troubles` are errors, dialogs and requests to other hosts.

    Not frozen, because playwright marks the object whose methods listen.
    """

    chromium: Any
    host: str
    troubles: list[str] = field(default_factory=list)

    def page(self, **options: Any) -> Any:
        """A page in a context of its own; `page.context.close()` is closing that person's browser."""
        context = self.chromium.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE)
        context.add_init_script(_TELL_VIOLATIONS)
        page = context.new_page()
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        page.on("dialog", self._dialog)
        return page

    def _request(self, request: Any) -> None:
        if urlsplit(request.url).netloc != self.host:
            self.troubles.append(f"request: {request.url}")

    def _console(self, message: Any) -> None:
        if not message.text.startswith(_OWN_STATUS):
            self.troubles.append(f"console: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def opened_browser(address: str) -> Iterator[Browser]:
    """A browser for the page at this address; a skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield Browser(chromium, urlsplit(address).netloc)
        finally:
            chromium.close()


def tab_to(page: Any, name: str) -> None:
    """Press Tab until what has the focus is called so; nobody presses it more than thirty times."""
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(_FOCUSED))
        if seen[-1] == name:
            return
    raise AssertionError(f"no way to {name!r} by the Tab key: {seen}")


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"])


def small_targets(page: Any) -> list[str]:
    """What can be touched but is lower than a fingertip, links within sentences aside."""
    return list(page.evaluate(_SMALL))


def barriers(page: Any) -> list[str]:
    """Serious and critical findings of the audit, in light and in dark."""
    page.evaluate(pytest.importorskip("axe_playwright_python.base", reason="needs axe-playwright-python").AXE_SCRIPT)
    found = []
    for scheme, options in _SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        found += [
            f"{scheme}: {violation['id']}: {node['target']} {node['failureSummary'][:200]}"
            for violation in page.evaluate(_FINDINGS, options)
            if violation["impact"] in {"serious", "critical"}
            for node in violation["nodes"][:3]
        ]
    return found
