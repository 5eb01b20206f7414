"""The helpers of browser tests find what they look for: on a page that does everything wrong."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser import barriers, barriers_of_shape, overflows
from tests.report.visits import ReportFiles, Visits

BAD = """<!doctype html><html lang="en"><title>Bad</title>
<style>
  :root { color-scheme: light dark; }
  b { width: 500px; display: block; }
  @media (prefers-color-scheme: dark) { p { color: #333; background: #000; } }
</style>
<main><h1>Bad</h1><p>Dark on dark.</p><b>wide</b><img src="nothing.png"></main>
<script>console.log("noise"); alert("look"); throw new Error("broken");</script>"""


@pytest.fixture
def reports(tmp_path: Path) -> ReportFiles[str]:
    """The bad page as a file."""
    return ReportFiles({"bad": lambda: BAD}, str, tmp_path)


def test_every_trouble_and_barrier_is_found(browser: Any, reports: ReportFiles[str]) -> None:
    visits = Visits(browser, reports)
    page = visits("bad")
    assert overflows(page, (320, 1280)).keys() == {320}
    found = [each.split(":")[:2] for each in barriers(page)]
    assert [[scheme, rule.strip()] for scheme, rule in found] == [["light", "image-alt"], ["dark", "color-contrast"]]
    assert [each.split(":")[0] for each in barriers_of_shape(page)] == ["image-alt"]
    visits.close()
    kinds = [trouble.split(":")[0] for trouble in visits.problems]
    assert {"request", "console", "script", "dialog"} == set(kinds)
