"""The reports of agreement, frontier and sweep studies in a browser: no barrier, no problem, and they fit a phone."""

from typing import Any

import pytest

from tests.browser import barriers, overflows
from tests.report.test_agreement import found as agreement
from tests.report.test_frontier import on_texts, oracles, toy
from tests.report.test_sweep import two_parameters
from tests.report.visits import ReportFiles, Visits, open_all
from tests.studies.sweep.test_sweep import found as temperatures

MAKERS: dict[str, Any] = {
    "toy": toy,
    "texts": on_texts,
    "oracles": oracles,
    "agreement": agreement,
    "temperatures": temperatures,
    "two parameters": two_parameters,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[Any]:
    """The studies, and their reports as files."""
    return ReportFiles(MAKERS, lambda study: str(study.to_html()), tmp_path_factory.mktemp("reports"))


@pytest.mark.parametrize("name", MAKERS)
def test_pages_have_no_barrier_and_fit_a_phone(opened: Visits, name: str) -> None:
    page = opened(name)
    open_all(page)
    assert barriers(page) == []
    assert overflows(page, (320, 390, 768, 1280)) == {}
