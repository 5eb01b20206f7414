"""The report of a HUSE study on a phone: its tables need no scrolling sideways."""

import pytest

from tests.browser import broken_words, widen
from tests.report.builders import huse_study
from tests.report.visits import ReportFiles, Visits, open_all
from textassay.report.huse.html import render_html
from textassay.studies.huse.result import HuseResult

_WIDER = """
[...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[HuseResult]:
    """One study, and its report as a file."""
    return ReportFiles({"plain": lambda: huse_study(200)}, render_html, tmp_path_factory.mktemp("reports"))


def test_all_columns_of_all_tables_are_in_sight(opened: Visits) -> None:
    page = opened("plain")
    open_all(page)
    widen(page, 390)
    assert page.locator(".scroll").count() >= 7
    assert page.evaluate(_WIDER) == []
    assert broken_words(page) == []
