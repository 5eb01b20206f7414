"""Mechanical Turk: balanced batches that do not reveal sources, a safe page, and imports of results."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.errors import InputError
from textassay.survey.create.attention_checks import built_in_checks
from textassay.survey.model import TYPICALITY, Choice, Study, SurveyItem
from textassay.survey.store.export import ratings_csv
from textassay.survey.store.importing import Imported
from textassay.survey.store.study_store import Store
from textassay.survey.tokens import item_codes
from textassay.survey.turk.batch import NO_CONTEXT, Batch, largest_page, layout, make_batch, with_references
from textassay.survey.turk.results import Results, read_results

HOSTILE = (
    "<script>alert(1)</script>",
    "]]> ${text_1} $",
    "=1+1 & &amp; \"'",
    "two\r\nlines\ttab",
    "😀 été 中文 \u202e",
)
STUDY = Study("Titles", "Given:", "How typical?", "Mind.", ratings_wanted=3, items_per_rater=6, checks_per_rater=1)


def items(n: int = 12, *, context: bool = True) -> list[SurveyItem]:
    """Items of two sources with hostile texts, and the built-in checks."""
    rated = [
        SurveyItem(
            f"{source}-{k}", source, f"{source[0]}{k} {HOSTILE[k % 5]}", f"{k} {HOSTILE[k % 5]}" if context else None
        )
        for source in ("human", "model")
        for k in range(n)
    ]
    return [*rated, *built_in_checks(TYPICALITY)]


def batch_of(study: Study, items: Sequence[SurveyItem], *, per_hit: int | None = None, seed: int = 0) -> Batch:
    codes = item_codes((item.id for item in items), b"secret")
    return make_batch(study, items, codes, items_per_hit=per_hit, seed=seed)


def table(batch: Batch) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(batch.csv(), newline="")))


def test_a_batch_has_no_item_that_is_complete_and_no_rating_beyond_those_wanted() -> None:
    every = items()
    ids = [item.id for item in every if item.expected is None]
    given = {id_: min(place, 4) for place, id_ in enumerate(ids)}
    given |= dict.fromkeys(ids[12:], 1)
    codes = item_codes((item.id for item in every), b"secret")
    batch = make_batch(STUDY, every, codes, given=given)
    in_hits = {item.id for hit in batch.hits for item in hit if item.expected is None}
    assert in_hits == {id_ for id_ in ids if given[id_] < 3}
    # One item lacks a single rating, the others two or three.
    assert (batch.assignments, batch.complete, batch.later) == (1, 9, 14)
    with pytest.raises(InputError, match=r"all 24 items have the 3 ratings wanted; nothing is left for a batch$"):
        make_batch(STUDY, every, codes, given=dict.fromkeys(ids, 3))


def test_every_item_stands_in_one_hit_and_checks_in_turn() -> None:
    batch = batch_of(STUDY, items())
    assert (len(batch.hits), batch.slots, batch.assignments, batch.repeated) == (4, 7, 3, 0)
    shown = Counter(item.id for hit in batch.hits for item in hit if item.expected is None)
    assert set(shown.values()) == {1}
    assert len(shown) == 24
    for hit in batch.hits:
        assert Counter(item.source for item in hit) == {"human": 3, "model": 3, "check": 1}
        assert hit[0].expected is None
    assert len({item.expected for hit in batch.hits for item in hit if item.expected}) == 4
    assert batch == batch_of(STUDY, items())
    assert batch.hits != batch_of(STUDY, items(), seed=1).hits
    places = [[item.expected is None for item in hit].index(False) for hit in batch.hits]
    assert len(set(places)) > 1


@pytest.mark.parametrize(("per_hit", "hits", "repeated"), [(5, 5, 1), (7, 4, 0), (23, 2, 0), (24, 1, 0), (999, 1, 0)])
def test_hits_are_of_one_length(per_hit: int, hits: int, repeated: int) -> None:
    batch = batch_of(STUDY, items(), per_hit=per_hit)
    assert (len(batch.hits), batch.repeated) == (hits, repeated)
    assert len({len(hit) for hit in batch.hits}) == 1
    shown = Counter(item.id for hit in batch.hits for item in hit if item.expected is None)
    assert len(shown) == 24
    assert sorted(shown.values())[-1] == (2 if repeated else 1)
    assert all(len({item.id for item in hit}) == len(hit) for hit in batch.hits)


def test_a_study_without_checks_or_contexts() -> None:
    batch = batch_of(STUDY, [item for item in items(3, context=False) if item.expected is None])
    assert batch.header()[:4] == ["item_1", "text_1", "item_2", "text_2"]
    assert (len(batch.hits), batch.slots) == (1, 6)
    assert "${context" not in layout(STUDY, batch)
    assert "Given:" not in layout(STUDY, batch)
    with pytest.raises(InputError, match="no items to rate"):
        batch_of(STUDY, built_in_checks(TYPICALITY))


def test_the_batch_gives_no_source_away() -> None:
    every = items()
    batch = batch_of(STUDY, every)
    cells = [cell for row in table(batch) for cell in row.values()]
    assert not any(cell.startswith(("human-", "model-", "check-")) for cell in cells)
    found = {row[f"item_{slot}"] for row in table(batch) for slot in range(1, 8)}
    assert all(re.fullmatch(r"i[0-9a-f]{16}", code) for code in found)
    assert len(set(batch.codes.values())) == len(every)


def test_cells_are_plain_and_start_no_formula() -> None:
    batch = batch_of(STUDY, items())
    text = batch.csv()
    assert text.isascii()
    assert not any(re.search(r"[<>$\"'=+@\s-]", cell.replace(" ", "")) for row in batch.rows() for cell in row)
    assert text.count("\n") == 5
    assert NO_CONTEXT in text


class Page(HTMLParser):
    """What a browser makes of a page: elements, radio buttons, and the texts in quotes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.radios: list[tuple[str, str]] = []
        self.quotes: list[str] = []
        self._quoting = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        found = dict(attrs)
        if tag == "input":
            self.radios.append((found["name"] or "", found["value"] or ""))
        if tag == "blockquote":
            self._quoting = True
            self.quotes.append("")

    def handle_endtag(self, tag: str) -> None:
        self._quoting = self._quoting and tag != "blockquote"

    def handle_data(self, data: str) -> None:
        if self._quoting:
            self.quotes[-1] += data


def filled(html: str, row: dict[str, str]) -> str:
    """As Mechanical Turk fills a page: as often as it finds a placeholder, and without escaping."""
    while found := re.search(r"\$\{(\w+)\}", html):
        html = html.replace(found[0], row[found[1]])
    return html


def test_the_page_shows_the_texts_and_runs_nothing_of_them() -> None:
    study = Study('<b>T</b> ${text_1}"', "Given ${x} <i>", "Q </script>", "]]>", checks_per_rater=1, items_per_rater=6,
                  choices=(Choice(-1, "<no>", "${help}"), Choice(2, 'y"es', "")))  # fmt: skip
    batch = batch_of(study, items())
    html = layout(study, batch)
    assert set(re.findall(r"\$\{(\w+)\}", html)) == {name for name in batch.header() if not name.startswith("item_")}
    empty = Page(html).tags
    for row, hit in zip(table(batch), batch.hits, strict=True):
        page = Page(filled(html, row))
        assert page.tags == empty
        assert page.quotes == [text for item in hit for text in (item.context or NO_CONTEXT, item.text)]
        assert page.radios == [(f"rating_{slot}", value) for slot in range(1, 8) for value in ("-1", "2")]
    assert "item_" not in html
    assert "]]>" not in html
    assert largest_page(batch, html) >= max(len(filled(html, row)) for row in table(batch))


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_references_show_what_they_stand_for(text: str) -> None:
    seen = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef]", "\ufffd", text)
    seen = "".join("\ufffd" if ord(sign) & 0xFFFE == 0xFFFE else sign for sign in seen)
    assert Page(f"<blockquote>{with_references(text)}</blockquote>").quotes == [seen]
    assert not re.search(r"[<>$\"'{}=]", with_references(text))


@pytest.mark.parametrize("sign", ["\x80", "\x85", "\x92", "\x9f", "\x00"])
def test_what_browsers_would_take_for_another_character_is_replaced_and_said(sign: str) -> None:
    assert Page(f"<blockquote>{with_references(f'a{sign}b’')}</blockquote>").quotes == ["a\ufffdb’"]
    every = [SurveyItem("a", "human", "x"), SurveyItem("b", "model", "y", f"{sign} z"), SurveyItem("c", "model", sign)]
    assert batch_of(STUDY, every).altered == 2
    assert batch_of(STUDY, items()).altered == 0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A study without ratings."""
    Store.create(tmp_path / "study.db", STUDY, items())
    with closing(Store.open(tmp_path / "study.db")) as opened:
        yield opened


Form = Callable[[int, int], dict[str, str]]


def plain(slot: int, value: int) -> dict[str, str]:
    return {f"Answer.rating_{slot}": str(value)}


def flat(slot: int, value: int) -> dict[str, str]:
    return {f"Answer.rating_{slot}.{choice}": str(choice == value).lower() for choice in range(1, 7)}


def flat_on(slot: int, value: int) -> dict[str, str]:
    return {f"Answer.rating_{slot}.{choice}.on": str(choice == value).upper() for choice in range(1, 7)}


def answered(store: Store, *, form: Form = plain, workers: int = 3) -> list[dict[str, str]]:
    """A results file in which each HIT is done by so many workers; the first gets every check wrong."""
    batch = make_batch(store.study, store.items(), store.codes())
    rows = []
    for number, (hit, inputs) in enumerate(zip(batch.hits, table(batch), strict=True)):
        for worker in range(workers):
            row = {
                "HITId": f"H{number}",
                "WorkerId": f"A{worker}",
                "AssignmentStatus": ("Submitted", "Approved")[worker % 2],
                "WorkTimeInSeconds": "70",
                **{f"Input.{name}": cell for name, cell in inputs.items()},
            }
            for slot, item in enumerate(hit, 1):
                expected = item.expected if item.expected is not None else 1 + (slot + worker) % 6
                row |= form(slot, expected if worker or item.expected is None else expected % 6 + 1)
            rows.append(row)
    return rows


def written(path: Path, rows: list[dict[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def read(store: Store, path: str) -> Results:
    return read_results(path, store.study, store.items(), store.codes())


def add(store: Store, path: str) -> int:
    found = read(store, path)
    given = {worker: [answer.imported for answer in answers] for worker, answers in found.answers.items()}
    return store.import_ratings(given).added


@pytest.mark.parametrize("form", [plain, flat, flat_on])
def test_results_become_ratings_once(store: Store, tmp_path: Path, form: Form) -> None:
    path = written(tmp_path / "results.csv", answered(store, form=form))
    found = read(store, path)
    assert (found.assignments, found.rejected, found.unanswered, found.repeated) == (12, 0, 0, 0)
    assert found.failed == ("A0",)
    assert add(store, path) == 84
    assert add(store, path) == 0
    summary = store.summary()
    assert (summary.ratings, summary.items_complete) == (72, 24)
    assert summary.median_seconds == pytest.approx(10.0)
    assert [(rater.name, rater.done, rater.checks_right, rater.checks_done) for rater in summary.raters] == [
        ("r001", 28, 0, 4),
        ("r002", 28, 4, 4),
        ("r003", 28, 4, 4),
    ]
    text = "".join(ratings_csv(store))
    assert "A0" not in text
    assert text.count(",r002,") == 24


def test_json_in_one_column(store: Store, tmp_path: Path) -> None:
    rows = answered(store)
    for number, row in enumerate(rows):
        given = {slot: row.pop(f"Answer.rating_{slot}") for slot in range(1, 8)}
        spelled: list[object] = [
            {f"rating_{slot}": {str(v): str(v) == value for v in range(1, 7)} for slot, value in given.items()},
            {f"rating_{slot}": value for slot, value in given.items()},
            {f"rating_{slot}": int(value) for slot, value in given.items()},
            {f"rating_{slot}": {value: {"on": True}} for slot, value in given.items()},
        ]
        row["Answer.taskAnswers"] = json.dumps([spelled[number % 4]])
    assert add(store, written(tmp_path / "results.csv", rows)) == 84
    assert store.summary().ratings == 72


def test_results_of_another_study_over_the_same_texts_are_refused(store: Store, tmp_path: Path) -> None:
    Store.create(tmp_path / "other.db", replace(STUDY, question="How rude?"), items())
    with closing(Store.open(tmp_path / "other.db")) as other:
        path = written(tmp_path / "results.csv", answered(other))
        assert not set(store.codes().values()) & set(other.codes().values())
        assert store.codes() == store.codes()
        with pytest.raises(InputError, match=r"results\.csv:2: Input\.item_1 is 'i\w+', not an item of this study$"):
            add(store, path)
        assert store.summary().raters == ()
        assert add(other, path) == 84


def test_a_second_file_adds_what_is_new(store: Store, tmp_path: Path) -> None:
    rows = answered(store)
    assert add(store, written(tmp_path / "first.csv", rows[:5])) == 35
    assert add(store, written(tmp_path / "all.csv", rows)) == 49


def test_rejected_assignments_are_left_out(store: Store, tmp_path: Path) -> None:
    rows = [{**row, "Approve": "", "Reject": ""} for row in answered(store)]
    rows[0] |= {"AssignmentStatus": "Rejected", "Answer.rating_1": "99"}
    rows[1]["Reject"] = "no effort"
    found = read(store, written(tmp_path / "results.csv", rows))
    assert (found.assignments, found.rejected) == (10, 2)
    assert len(found.answers["A0"]) == 21


def test_open_and_repeated_answers_are_counted(store: Store, tmp_path: Path) -> None:
    rows = answered(store)
    rows[0]["Answer.rating_2"] = ""
    rows.append({**rows[1], "Answer.rating_1": "6", "Answer.rating_3": "6"})
    path = written(tmp_path / "results.csv", rows)
    found = read(store, path)
    assert (found.unanswered, found.repeated, found.repeated_checks) == (1, 6, 1)
    assert add(store, path) == 83


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"Answer.rating_3": "7"}, ":14: Answer.rating_3 is '7'; wanted one of '6', '5', '4', '3', '2', '1'"),
        ({"Answer.rating_3": "Rare"}, ":14: Answer.rating_3 is 'Rare'"),
        ({"Input.item_2": "human-1"}, ":14: Input.item_2 is 'human-1', not an item of this study"),
        ({"WorkerId": " "}, ":14: WorkerId is empty"),
        ({"AssignmentStatus": "Lost"}, ":14: AssignmentStatus is 'Lost'; wanted Submitted, Approved or Rejected"),
        ({"WorkTimeInSeconds": "long"}, ":14: WorkTimeInSeconds is 'long'; wanted a number of seconds"),
        ({"WorkTimeInSeconds": "nan"}, ":14: WorkTimeInSeconds is 'nan'"),
        ({f"Input.item_{slot}": "" for slot in range(1, 8)}, ":14: Input.item_1 and so on are empty"),
        ({"Answer.rating_1.5": "true"}, ":14: Answer.rating_1: 2 answers ("),
        ({"Answer.rating_1.5": "maybe"}, ":14: Answer.rating_1.5 is 'maybe'; wanted true or false"),
        ({"Answer.taskAnswers": "[1]"}, ":14: Answer.taskAnswers: '[1]'; wanted a list with an object"),
        ({"Answer.taskAnswers": "{"}, ":14: Answer.taskAnswers: not valid JSON"),
    ],
)
def test_one_bad_row_and_nothing_is_added(store: Store, tmp_path: Path, change: dict[str, str], wanted: str) -> None:
    blank = dict.fromkeys(change, "")
    rows = [{**blank, **row} for row in answered(store)]
    rows.append({**rows[2], **change})
    path = written(tmp_path / "results.csv", rows)
    with pytest.raises(InputError) as caught:
        add(store, path)
    assert str(caught.value).startswith(f"{path}{wanted}")
    assert store.summary().ratings == 0
    assert store.summary().raters == ()


@pytest.mark.parametrize("column", ["WorkerId", "AssignmentStatus", "WorkTimeInSeconds"])
def test_columns_that_must_be_there(store: Store, tmp_path: Path, column: str) -> None:
    rows = [{name: cell for name, cell in row.items() if name != column} for row in answered(store)]
    with pytest.raises(InputError, match=f"no field '{column}'; fields are"):
        read(store, written(tmp_path / "results.csv", rows))
    rows = [{name: cell for name, cell in row.items() if "item_" not in name} for row in answered(store)]
    with pytest.raises(InputError, match=r"no column 'Input\.item_1'; columns are"):
        read(store, written(tmp_path / "results.csv", rows))


def test_imported_ratings_are_all_or_nothing(store: Store) -> None:
    for bad in (Imported("nobody-1", 3, 1.0), Imported("human-1", 7, 1.0)):
        with pytest.raises(InputError, match="wanted an item of the study and a rating on its scale"):
            store.import_ratings({"a": [Imported("human-0", 3, 1.0)], "b": [bad]})
        assert store.summary().ratings == 0
        assert store.summary().raters == ()


def test_imported_raters_have_no_link_and_leave_others_their_places(store: Store) -> None:
    worked = [("human-0", 4, 5.0, 20.0), ("human-0", 3, 5.0, 10.0), ("model-0", 2, 5.0, None)]
    store.import_ratings({"worker": [Imported(*one) for one in worked]})
    assert store.rater("worker") is None
    token = store.invite(1)[0]
    rater = store.rater(token)
    assert rater is not None
    assert rater.name == "r002"
    given = set()
    while (task := store.task(rater)) is not None:
        given.add(task.text)
        store.answer(rater, task.number, 1)
    assert len(given) == 7
    # Items that have a rating already wait until the others have one too.
    assert not given & {item.text for item in store.items() if item.id in ("human-0", "model-0")}
    assert [(r.item.id, r.value) for r in store.ratings() if r.rater == "r001"] == [("human-0", 3), ("model-0", 2)]
