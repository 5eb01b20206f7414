"""What browser tests share: one browser for all, a reason where there is none, and visits that are watched."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.browsing import Visits
from tests.report.shelf import Shelf

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# How long a busy machine may take to draw, in milliseconds; only what fails waits as long.
PATIENCE = 60_000


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One browser for all tests of reports; not for other tests, which start browsers and event loops of their own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield opened
        opened.close()
    playwright.expect.set_options(timeout=None)


@pytest.fixture
def opened(browser: Any, shelf: Shelf[Any]) -> Iterator[Visits]:
    """Opens reports of the file's shelf, closed behind the test; none may ask for anything or complain."""
    visits = Visits(browser, shelf)
    yield visits
    visits.close()
    assert visits.troubles == []
