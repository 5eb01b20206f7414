"""Items come in from tables, with a row an item or a row a text, and a bad row is refused by its line."""

import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.item_set import Item, ItemSet, read_items
from textassay.errors import InputError

ITEMS = (
    Item("a", ("a cat", 'the "cat"'), {"mle": ("cat",), "gan": ("dog, two\nlines", "x")}, "say cat"),
    Item("b", ("[one] cat",), {"mle": ("",), "gan": ()}),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, rows: list[list[str]], *, end: str = "\n") -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if name.endswith(".tsv") else ",", lineterminator=end)
        writer.writerows(rows)
    return name


def cell(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 and not texts[0].startswith("[") else json.dumps(texts)


def wide(items: tuple[Item, ...]) -> list[list[str]]:
    """A row an item, lists in brackets, one text alone as it is where it can be."""
    systems = ItemSet.of(items).systems
    return [
        ["id", "references", *(f"candidates.{system}" for system in systems), "prompt"],
        *(
            [item.id, cell(item.references), *(cell(item.candidates[s]) for s in systems), item.prompt or ""]
            for item in items
        ),
    ]


def long(items: tuple[Item, ...]) -> list[list[str]]:
    """A row a text, in which a system without texts cannot show."""
    texts = [(item, "reference", text) for item in items for text in item.references]
    texts += [(item, name, text) for item in items for name, written in item.candidates.items() for text in written]
    return [
        ["text", "source", "prompt", "id"],
        *([text, name, item.prompt or "", item.id] for item, name, text in texts),
    ]


@pytest.mark.parametrize("name", ["pets.csv", "pets.tsv"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_an_item(name: str, end: str) -> None:
    assert read_items(write(name, wide(ITEMS), end=end)).items == ITEMS


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_a_text(end: str) -> None:
    read = read_items(write("pets.csv", long(ITEMS), end=end)).items
    assert read == (ITEMS[0], Item("b", ("[one] cat",), {"mle": ("",)}))


def test_packed_with_a_mark_and_blank_lines() -> None:
    content = Path(write("pets.csv", [[], *wide(ITEMS), []])).read_bytes()
    Path("pets.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + content))
    read = read_items("pets.csv.gz")
    assert (read.name, read.items) == ("pets", ITEMS)
    assert read.notes[:2] == ("byte order mark removed", "pets.csv.gz: 2 blank lines left out")


def test_one_system_and_no_ids() -> None:
    write("x.csv", [["references", "candidates", "source"], ["a", '["b", "c"]', "s"], ["", "[]", "s"], ["d", "", "s"]])
    read = read_items("x.csv")
    assert read.items == (
        Item("1", ("a",), {"candidate": ("b", "c")}),
        Item("2", ("",), {}),
        Item("3", ("d",), {"candidate": ("",)}),
    )
    assert "1 of 3 items has no candidates" in read.notes
    assert "1 blank reference kept" in read.notes


def test_one_system_beside_named_ones() -> None:
    write("x.csv", [["reference", "candidate", "candidates.mle"], ["a", "b", "c"]])
    assert read_items("x.csv").systems == ("candidate", "mle")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=6)
lists = st.lists(texts, max_size=3).map(tuple)
items = st.lists(
    st.builds(
        Item,
        id=st.just(""),
        references=st.lists(texts, min_size=1, max_size=3).map(tuple),
        candidates=st.fixed_dictionaries({"m": st.lists(texts, min_size=1, max_size=2).map(tuple), "g, x": lists}),
        prompt=st.none() | texts.filter(bool),
    ),
    min_size=1,
    max_size=4,
).map(lambda found: tuple(Item(f"i{n}", i.references, i.candidates, i.prompt) for n, i in enumerate(found)))


@given(items=items)
@settings(max_examples=60, deadline=None)
def test_what_is_written_reads_back(items: tuple[Item, ...], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("x")
    for name in ("x.csv", "x.tsv"):
        assert read_items(write(str(folder / name), wide(items))).items == items
    full = [Item(i.id, i.references, {s: t for s, t in i.candidates.items() if t}, i.prompt) for i in items]
    assert read_items(write(str(folder / "long.csv"), long(items))).items == tuple(full)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "x.csv: no items; wanted 'references' and 'candidates' of at least one"),
        ("references,candidates\n", "x.csv: no items; wanted 'references' and 'candidates' of at least one"),
        (
            "id,output\n1,2\n",
            "x.csv:1: no field 'references'; fields are 'id', 'output'; "
            "wanted 'references', or 'id', 'source' and 'text'",
        ),
        ("source,text\na,b\n", "x.csv:1: no field 'id'; fields are 'source', 'text'"),
        (
            "references,candidates\na\n",
            "x.csv:2: 1 field; wanted 2 as in the header ('references', 'candidates')",
        ),
        (
            "\nreferences,candidates.m\x1b\na,b\n\na,b,c\n",
            "x.csv:5: 3 fields; wanted 2 as in the header ('references', 'candidates.m\\x1b')",
        ),
        (
            "references,candidates\n\"['a', 'b']\",c\n",
            "x.csv:2: 'references': not valid JSON: Expecting value (column 2); "
            "wanted a list of strings where a cell begins with '['",
        ),
        (
            "references,candidates.m\x1b\na,[laughs] no\n",
            "x.csv:2: 'candidates.m\\x1b': not valid JSON: Expecting value (column 2); "
            "wanted a list of strings where a cell begins with '['",
        ),
        (
            "references,candidates\na,[1]\n",
            "x.csv:2: candidates of 'candidate': text 1 is a number (1); wanted a string",
        ),
        ("references,candidates\na,b\n[null],b\n", "x.csv:3: 'references': text 1 is null; wanted a string"),
        ("references,references,candidates\na,b,c\n", "x.csv:1: 2 fields have the name 'references'; wanted one"),
        ("references,candidates.a,candidates.a\na,b,c\n", "x.csv:1: 2 fields have the name 'candidates.a'; wanted one"),
        ("id,id,references\na,b,c\n", "x.csv:1: 2 fields have the name 'id'; wanted one"),
        ("references,reference,candidate\na,b,c\n", "x.csv:1: both 'references' and 'reference'; wanted one of them"),
        (
            "references,candidates,candidates.candidate\na,b,c\n",
            "x.csv:1: 'candidates', 'candidates.candidate' hold candidates of one system; wanted one of them",
        ),
        ("references,candidates.\na,b\n", "x.csv:2: a system's name is blank; wanted a name"),
        ("id,references,candidates\n7,a,b\n7,a,b\n", "x.csv:3: id '7' is also at x.csv:2; wanted one item per id"),
        ("id,source,text\n,reference,b\n", "x.csv:2: no id; wanted the id of an item"),
        ("id,source,text\n7, ,b\n", "x.csv:2: no source; wanted 'reference' or the name of a system"),
        ("id,source,source,text\n7,a,a,b\n", "x.csv:1: 2 fields have the name 'source'; wanted one"),
        (
            "id,source,text,prompt\n7,reference,b,p\n7,mle,b,\n7,mle,b,q\n",
            "x.csv:4: a second prompt for id '7'; wanted one per item",
        ),
        (
            "id,source,text\n7,reference,b\n",
            "no candidates in x.csv (fields are 'id', 'source', 'text'); "
            "wanted a field 'candidates', or further files with candidates",
        ),
        (
            "id,source,text\n7,mle,b\n",
            "no references in x.csv (fields are 'id', 'source', 'text'); wanted a field 'references'",
        ),
        ('references,candidates\n"a', "x.csv:2: a broken row: unexpected end of data"),
    ],
)
def test_bad_tables(content: str, message: str) -> None:
    Path("x.csv").write_text(content)
    with pytest.raises(InputError) as raised:
        read_items("x.csv")
    assert str(raised.value) == message
