"""The reports of frontier and agreement studies in a browser: no barrier, no problem, nothing wider than a phone."""

from typing import Any

import pytest

from tests.browser import barriers, overflows
from tests.report.agreement.test_forms import found as agreement
from tests.report.frontier.test_forms import on_texts, oracles, toy
from tests.report.visits import ReportFiles, Visits, open_all

MAKERS: dict[str, Any] = {"toy": toy, "texts": on_texts, "oracles": oracles, "agreement": agreement}


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
