"""A real browser for tests of reports and of the rating page: start, screen widths, and accessibility audits."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# How long a busy machine may take to draw, in milliseconds; only a failing test waits that long.
PATIENCE = 60_000
# The only audit rules that depend on colours; all others find the same in light and in dark.
COLOURS = ("color-contrast", "link-in-text-block")
_AUDIT = "options => axe.run(document, {resultTypes: ['violations'], ...options}).then(found => found.violations)"


@contextmanager
def started_chromium() -> Iterator[Any]:
    """A browser; the test is skipped if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield chromium
        finally:
            chromium.close()
    playwright.expect.set_options(timeout=None)


def widen(page: Any, width: int) -> None:
    """Set the width of the screen, and wait until the page has noticed."""
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("width => innerWidth === width", arg=width)


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"])


def overflows(page: Any, widths: Sequence[int]) -> dict[int, int]:
    """The screen widths at which the page scrolls sideways, and by how much."""
    found = {}
    for width in widths:
        widen(page, width)
        found[width] = overflow(page)
    return {width: over for width, over in found.items() if over > 0}


# A word of at most 15 letters that starts on one line and ends on another; longer names may break.
_BROKEN = r"""
selector => [...document.querySelectorAll(selector)].flatMap(element => {
  const found = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const word of walker.currentNode.data.matchAll(/[\p{L}\p{N}]{2,15}/gu)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
})
"""


def broken_words(page: Any, selector: str = "table, .facts") -> list[str]:
    """Words of these elements that do not fit on a line and are broken inside."""
    return list(page.evaluate(_BROKEN, selector))


def barriers(page: Any) -> list[str]:
    """Serious and critical findings of the accessibility audit: all rules in light, rules on colours also in dark."""
    page.emulate_media(color_scheme="light")
    found = [f"light: {each}" for each in _serious(page)]
    page.emulate_media(color_scheme="dark")
    colours = {"runOnly": {"type": "rule", "values": COLOURS}}
    return found + [f"dark: {each}" for each in _serious(page, **colours)]


def barriers_of_shape(page: Any) -> list[str]:
    """Serious and critical findings except on colours: what a second screen width can change.

    No colour depends on the width of the screen, and the audit does not check colours within drawings, which are the
    only elements that are shown on narrow screens alone.
    """
    return _serious(page, rules={rule: {"enabled": False} for rule in COLOURS})


def barriers_of_colour(page: Any) -> list[str]:
    """Serious and critical findings on colours alone."""
    return _serious(page, runOnly={"type": "rule", "values": COLOURS})


def _serious(page: Any, **options: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.base", reason="needs axe-playwright-python")
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.AXE_SCRIPT)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'][:200]}"
        for violation in page.evaluate(_AUDIT, options)
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"][:3]
    ]
