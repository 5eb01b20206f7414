"""The report of a HUSE study on a phone: its tables need no scrolling sideways."""

import pytest

from tests.report.browsing import Visits, open_all, widen
from tests.report.huse_builders import judged
from tests.report.shelf import Shelf
from textassay.report.huse.html import render_html
from textassay.studies.huse.result import HuseResult

_WIDER = """
[...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf[HuseResult]:
    """One study, and its report as a file."""
    return Shelf({"plain": lambda: judged(200)}, render_html, tmp_path_factory.mktemp("reports"))


def test_all_columns_of_all_tables_are_in_sight(opened: Visits) -> None:
    page = opened("plain")
    open_all(page)
    widen(page, 390)
    assert page.locator(".scroll").count() >= 7
    assert page.evaluate(_WIDER) == []
