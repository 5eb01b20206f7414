"""The script of the rating page in a real browser: one click counts, and one that came to nothing can be repeated."""

from pathlib import Path
from typing import Any

import pytest

from tests.survey.browser import DESKTOP, opened_browser
from tests.survey.live_study import live_study

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
expect: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

# A machine with much else to do takes its time; that is no fault of the page.
PATIENCE = 20_000


def test_a_form_is_sent_once_and_again_when_nothing_came_of_it(tmp_path: Path) -> None:
    with live_study(tmp_path) as study, opened_browser(study.address) as browser:
        page = browser.page(**DESKTOP)
        page.goto(f"{study.personal[0]}?now=start")
        tries: list[str] = []

        def lose(route: Any) -> None:
            tries.append(route.request.url)
            route.abort("aborted")  # as by the Stop button, or in a tunnel

        page.clock.install()
        page.route("**/answer", lose)
        page.locator(".choice").nth(2).click()
        save = page.get_by_role("button", name="Save and go on")
        for _ in range(3):
            save.click(no_wait_after=True)
        page.wait_for_timeout(500)
        assert len(tries) == 1
        page.unroute("**/answer")
        page.clock.fast_forward(5_000)
        save.click()
        expect(page.locator("h1")).to_have_text("Text 2 of 19", timeout=PATIENCE)
