"""A real browser for the rating page: contexts that record every problem, the Tab key, and sizes of buttons."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.browser import PATIENCE, started_chromium

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 "
    "Mobile Safari/537.36",
}
# Chromium writes this line by itself for every page that is an error page on purpose.
_OWN_STATUS = "Failed to load resource: the server responded with a status of 4"
_TELL_VIOLATIONS = "addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))"
_SMALL = """[...document.querySelectorAll("button, .button, .choice")]
    .map((element) => [element.innerText, element.getBoundingClientRect().height])
    .filter(([, height]) => 0 < height && height < 44).map(([name, height]) => `${name} (${height} px)`)"""
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
    """A browser for the page at this address; the test is skipped if there is none."""
    with started_chromium() as chromium:
        yield Browser(chromium, urlsplit(address).netloc)


def tab_to(page: Any, name: str) -> None:
    """Press Tab until what has the focus is called so; nobody presses it more than thirty times."""
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(_FOCUSED))
        if seen[-1] == name:
            return
    raise AssertionError(f"no way to {name!r} by the Tab key: {seen}")


def small_targets(page: Any) -> list[str]:
    """What can be touched but is lower than a fingertip, links within sentences aside."""
    return list(page.evaluate(_SMALL))
