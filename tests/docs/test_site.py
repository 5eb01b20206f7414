"""The site of the documents: it builds without a warning, and its pages can be read by everyone, also on a phone."""

import functools
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import barriers_of_colour, barriers_of_shape, overflow, started_chromium
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
DESKTOP, PHONE = 1280, 390
Look = Callable[[Any], list[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="needs mkdocs-material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def pages(site: Path) -> list[str]:
    return sorted(path.parent.relative_to(site).as_posix() for path in site.rglob("index.html"))


def test_no_source_of_markup_is_shown(site: Path) -> None:
    """No formula, link or table that was not converted."""
    for path in site.rglob("index.html"):
        shown = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
        words = re.sub(r"<[^>]+>", "", shown)
        assert ":math:" not in words, path
        assert not re.search(r"\$[A-Za-z(\\][^$\n]*\$|\$\$", words), path
        assert not re.search(r"\]\([^)\s]+\.md|^\s*\|[ -]+\||```|\.\. math::", words, flags=re.MULTILINE), path


def test_every_page_can_be_read_by_everyone(site: Path, address: str) -> None:
    """On a desktop and on a phone, light and dark: nothing is wider than the screen, and an audit finds nothing."""
    found: dict[tuple[str, str], object] = {}
    looks: dict[tuple[str, int], list[Look]] = {
        ("light", DESKTOP): [barriers_of_shape, barriers_of_colour],
        ("light", PHONE): [barriers_of_shape],
        ("dark", DESKTOP): [barriers_of_colour],
    }
    with started_chromium() as chromium:
        for (scheme, width), audits in looks.items():
            # The theme chooses its colours when a page is loaded.
            screen = {"width": width, "height": 900}
            page = chromium.new_page(viewport=screen, color_scheme=scheme, reduced_motion="reduce")
            for name in pages(site):
                page.goto(f"{address}{name}/", wait_until="load")
                seen = [each for audit in audits for each in audit(page)]
                if over := overflow(page):
                    seen.append(f"{over} pixels too wide")
                if seen:
                    found[name, f"{scheme}, {width}"] = seen
            page.close()
    assert found == {}


def test_the_home_page_has_what_a_visitor_looks_for(site: Path, address: str) -> None:
    with started_chromium() as chromium:
        page = chromium.new_page(viewport={"width": DESKTOP, "height": 900})
        page.goto(address, wait_until="load")
        text = page.locator("main").inner_text()
        for wanted in ("pip install textassay", "Which candidate is distributed most like", "Tutorial", "Metrics"):
            assert wanted in text
        picture = page.locator("main img").first
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 600
        # The answer of the terminal is seen without scrolling sideways.
        answer = page.locator("pre", has_text="Which candidate is distributed").locator("code")
        assert answer.evaluate("code => code.scrollWidth <= code.clientWidth")
