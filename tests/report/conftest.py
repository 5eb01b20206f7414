"""Fixtures of browser tests: one browser for all, and visits that fail the test on any problem."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import started_chromium
from tests.report.visits import ReportFiles, Visits


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One browser for all tests of reports; other tests start browsers and event loops of their own."""
    with started_chromium() as chromium:
        yield chromium


@pytest.fixture
def opened(browser: Any, reports: ReportFiles[Any]) -> Iterator[Visits]:
    """Opens the reports of the test file and closes them after the test; none may request anything or fail."""
    visits = Visits(browser, reports)
    yield visits
    visits.close()
    assert visits.problems == []
