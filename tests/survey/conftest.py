"""What tests of the rating page share: a study with hostile texts in it, its links, and visitors."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.survey.store.small_studies import quick_folder
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.study_store import Links, Store

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HOME = "http://127.0.0.1:8000"
SOURCE = "secret-model-name"
SCRIPT = "<script>alert(1)</script>"
SQL = "'; DROP TABLE items; --"

STUDY = Study(
    title=f"Titles {SCRIPT}",
    context_intro="Given this news article:",
    question="How typical is this exact title?",
    note=f"Please mind the facts. {SQL}",
    ratings_wanted=3,
    items_per_rater=4,
    checks_per_rater=1,
)
TEXTS = (
    f"one {SCRIPT}",
    f"two {SQL}",
    'three " onmouseover=alert(1) x="',
    "four\n   indented {{ 7919 * 7907 }} {% raw %}",
    "خمسة كلمات",
    "six ' \u202e txet",
)
ITEMS = (
    *(
        SurveyItem(f"i{n}", "human" if n % 2 else SOURCE, text, f"article {n} {SCRIPT}" if n else None, -1.25)
        for n, text in enumerate(TEXTS)
    ),
    SurveyItem("check", "check", "Please choose “Rare” here.", expected=2),
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of the test's own, on a disk in memory: nearly every test here makes a study and saves answers."""
    with quick_folder() as name:
        yield Path(name)


@pytest.fixture(autouse=True)
def _same_chances(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has tokens and secrets of its own, and the same ones in every run: who gets which text follows."""
    numbers = count()

    def token_bytes(n: int) -> bytes:
        return hashlib.shake_256(f"{request.node.name} {next(numbers)}".encode()).digest(n)

    monkeypatch.setattr("textassay.survey.tokens.secrets", SimpleNamespace(token_bytes=token_bytes))


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Site:
    """A study that is served: its file, its store and its links."""

    path: Path
    store: Store
    links: Links
    clock: Clock
    visitor: Callable[[], "TestClient"]

    def rater(self, index: int = 0) -> str:
        """The address of an invited rater's page."""
        return f"/r/{self.links.raters[index]}"

    def content(self) -> dict[str, list[tuple[object, ...]]]:
        """All rows of all tables, to compare."""
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            tables = [name for (name,) in names.fetchall()]
            return {table: connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables}

    def values(self) -> list[int]:
        """The ratings that are in the store, checks as well."""
        return sorted(rating.value for rating in self.store.ratings(checks=True))


@pytest.fixture
def make_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Makes studies; each visitor is a browser with cookies of its own."""
    from tests.survey.web.forms import TestClient
    from textassay.survey.web.app import make_app

    opened: list[Store] = []

    def make(study: Study = STUDY, items: tuple[SurveyItem, ...] = ITEMS, base_url: str | None = None) -> Site:
        path = tmp_path / f"study{len(opened)}.sqlite"
        links = Store.create(path, study, items, n_raters=2)
        store, clock = Store.open(path), Clock()
        opened.append(store)
        app = make_app(store, base_url=base_url, clock=clock)
        return Site(path, store, links, clock, lambda: TestClient(app, base_url=HOME, follow_redirects=False))

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """A study of six items and a check, with two invited raters."""
    return make_site()


@pytest.fixture
def everything(make_site: Callable[..., Site]) -> Site:
    """The same study, but that a rater gets all of its texts, and not some of them by chance."""
    return make_site(replace(STUDY, items_per_rater=len(TEXTS)))


@pytest.fixture
def client(site: Site) -> "TestClient":
    """A visitor of the study."""
    return site.visitor()
