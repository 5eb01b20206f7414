"""Items, wording and attention checks of a new study: accepted files, and errors with their place."""

import csv
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textassay.errors import InputError
from textassay.survey.create.attention_checks import built_in_checks, checks_for
from textassay.survey.create.items import Columns, StudyItems, items_from_one_file, items_from_two_files, study_items
from textassay.survey.create.wording import default_wording, page_wording
from textassay.survey.model import TYPICALITY, Choice, Study


def lines(path: Path, *texts: str) -> str:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def table(path: Path, *rows: list[str]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def too_few(n: int, model: str = "model") -> str:
    """What is said where there are so many texts in equal parts."""
    return (
        f"{n} texts in equal parts of 'human' and '{model}': textassay huse needs at least 32, two for each of its k "
        "= 16 neighbours (or a smaller --k)"
    )


def rows(made: StudyItems) -> list[tuple[str, str, str, str | None, float | None]]:
    return [(item.id, item.source, item.text, item.context, item.log_prob) for item in made.items]


def test_lines_with_contexts_are_paired_by_line(tmp_path: Path) -> None:
    made = items_from_two_files(
        lines(tmp_path / "h.txt", "a title", "another"),
        lines(tmp_path / "m.txt", "the title", "some title"),
        model_name="gpt2",
        contexts=lines(tmp_path / "c.txt", "first article", "second article"),
    )
    assert rows(made) == [
        ("human-001", "human", "a title", "first article", None),
        ("human-002", "human", "another", "second article", None),
        ("gpt2-001", "gpt2", "the title", "first article", None),
        ("gpt2-002", "gpt2", "some title", "second article", None),
    ]
    assert made.with_context
    assert made.notes == (
        too_few(4, "gpt2"),
        "the texts have no log-probability; join them later with textassay huse --log-probs",
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_columns_beside_the_texts_are_taken(tmp_path: Path, kind: str) -> None:
    records = [
        {"title": "one, two", "article": "x\ny", "lp": "-3.5"},
        {"title": '"three"', "article": "z", "lp": "-inf"},
    ]
    path = tmp_path / f"texts.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([{**r, "lp": float(r["lp"])} for r in records]), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, records[0], delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(records)
    made = items_from_two_files(str(path), str(path), columns=Columns("title", "article", "lp"))
    assert rows(made)[:2] == [
        ("human-001", "human", "one, two", "x\ny", -3.5),
        ("human-002", "human", '"three"', "z", float("-inf")),
    ]
    assert made.notes == (
        too_few(4),
        "2 texts are in both 'human' and 'model' with the same context; each copy is rated separately, and one "
        "rater may see both",
    )


def test_usual_names_of_columns_need_not_be_said(tmp_path: Path) -> None:
    path = table(tmp_path / "h.csv", [" context", "headline ", "log_prob"], ["an article", "a title", "-7"])
    assert rows(items_from_two_files(path, path))[0] == ("human-001", "human", "a title", "an article", -7.0)


def test_blank_texts_are_left_out_and_shift_nothing(tmp_path: Path) -> None:
    made = items_from_two_files(
        lines(tmp_path / "h.txt", "", "b", "c"),
        lines(tmp_path / "m.txt", "A", " \t", "C"),
        contexts=lines(tmp_path / "c.txt", "1", "2", "3"),
    )
    assert [(item.id, item.text, item.context) for item in made.items] == [
        ("human-002", "b", "2"),
        ("human-003", "c", "3"),
        ("model-001", "A", "1"),
        ("model-003", "C", "3"),
    ]
    assert [note for note in made.notes if "blank" in note] == [
        f"{tmp_path}/h.txt: 1 blank text left out",
        f"{tmp_path}/m.txt: 1 blank text left out",
    ]


def test_a_context_may_be_blank_only_where_no_text_needs_it(tmp_path: Path) -> None:
    contexts = lines(tmp_path / "c.txt", "1", "")
    made = items_from_two_files(
        lines(tmp_path / "h.txt", "a", ""), lines(tmp_path / "m.txt", "b", ""), contexts=contexts
    )
    assert len(made.items) == 2
    with pytest.raises(
        InputError, match=r"c\.txt:2: the context is blank; wanted a context for the text at .*m\.txt:2$"
    ):
        items_from_two_files(lines(tmp_path / "h.txt", "a", ""), lines(tmp_path / "m.txt", "b", "c"), contexts=contexts)


def test_repeated_and_unequal_texts_are_said(tmp_path: Path) -> None:
    made = items_from_two_files(lines(tmp_path / "h.txt", "a", "b"), lines(tmp_path / "m.txt", "a", "x", "x", "x"))
    assert made.notes[:3] == (
        too_few(4),
        "unequal numbers of texts: 2 of 'human', 4 of 'model'; textassay huse uses an equal number of each (or set "
        "--size)",
        "2 texts of 'model' repeat another one; each is rated separately",
    )
    assert not made.with_context


def test_looks_that_give_a_source_away_are_said_before_anybody_rates(tmp_path: Path) -> None:
    human = lines(tmp_path / "h.txt", *(f"Storks return to town {n}." for n in range(30)))
    split = lines(tmp_path / "m.txt", *(f"Town gets {n} more storks ." for n in range(30)))
    said = [note for note in items_from_two_files(human, split, model_name="gpt\x1b").notes if "log-prob" not in note]
    assert said == [
        "format of 'gpt\\x1b' (candidate) and human texts (reference): "
        "100 % of candidate texts have a space before punctuation (reference 0 %)",
        "raters can see such differences and may rate by them; remove them before you collect ratings",
    ]
    marked = lines(tmp_path / "k.txt", *(f"**Town** gets {n} more storks." for n in range(30)))
    first, *_ = (note for note in items_from_two_files(human, marked).notes if "log-prob" not in note)
    assert first.endswith("100 % of candidate texts have bold words (reference 0 %)")
    alike = lines(tmp_path / "a.txt", *(f"Town gets {n} more storks." for n in range(30)))
    assert not [note for note in items_from_two_files(human, alike).notes if "format" in note or "raters see" in note]
    # Whoever is compared with whom: each model of a file with its human texts.
    both = [["human", f"Storks {n}."] for n in range(30)] + [
        [m, f"Storks {n} ."] for m in ("a", "b") for n in range(30)
    ]
    notes = items_from_one_file(table(tmp_path / "items.csv", ["source", "text"], *both)).notes
    assert [note[:13] for note in notes if note.startswith("format")] == ["format of 'a'", "format of 'b'"]


def test_size_draws_pairs_by_seed(tmp_path: Path) -> None:
    human = lines(tmp_path / "h.txt", *(f"h{n}" for n in range(30)))
    model = lines(tmp_path / "m.txt", *(f"m{n}" for n in range(30)))
    contexts = lines(tmp_path / "c.txt", *(f"c{n}" for n in range(30)))

    def drawn(seed: int) -> list[str]:
        return [item.id for item in items_from_two_files(human, model, size=7, seed=seed).items]

    found = items_from_two_files(human, model, contexts=contexts, size=7, seed=3)
    texts = [item.text[1:] for item in found.items]
    assert texts[:7] == texts[7:] == [item.context[1:] for item in found.items[:7] if item.context]
    assert len(set(texts)) == 7
    assert drawn(3) == drawn(3) != drawn(4)
    assert Counter(name[:5] for name in drawn(3)) == {"human": 7, "model": 7}
    assert [name[6:] for name in drawn(3)[:7]] != [name[6:] for name in drawn(3)[7:]]


def test_size_of_contexts_that_only_some_share(tmp_path: Path) -> None:
    human = table(tmp_path / "h.csv", ["text", "context"], *([f"h{n}", f"c{n}"] for n in range(6)))
    model = table(tmp_path / "m.csv", ["text", "context"], *([f"m{n}", f"c{n}"] for n in range(3, 9)))
    found = items_from_two_files(human, model, size=3)
    assert [item.context for item in found.items] == ["c3", "c4", "c5"] * 2
    with pytest.raises(InputError, match=r"3 contexts with texts of all sources; wanted 4 \(--size\)"):
        items_from_two_files(human, model, size=4)


def test_one_file_with_everything(tmp_path: Path) -> None:
    path = table(
        tmp_path / "items.csv",
        ["item", "source", "text", "context", "log_prob"],
        ["a", "human", "one", "c", "-1"],
        ["", "gpt2", "two", "c", ""],
        ["b", "gpt2", "  ", "c", ""],
    )
    made = items_from_one_file(path)
    assert rows(made) == [("a", "human", "one", "c", -1.0), ("gpt2-002", "gpt2", "two", "c", None)]
    assert made.notes == (
        f"{path}: 1 blank text left out",
        too_few(2, "gpt2"),
        "1 of 2 texts has no log-probability; join them later with textassay huse --log-probs",
    )


def test_several_models_in_one_file(tmp_path: Path) -> None:
    texts = [[source, f"{source} {n}", f"c{n}"] for source in ("human", "a", "b") for n in range(5)]
    path = table(tmp_path / "items.csv", ["source", "text", "context"], *texts)
    made = items_from_one_file(path, size=2, seed=1)
    contexts = {source: [i.context for i in made.items if i.source == source] for source in ("human", "a", "b")}
    assert contexts["human"] == contexts["a"] == contexts["b"]
    assert len(made.items) == 6


@pytest.mark.parametrize(
    ("header", "row", "wanted"),
    [
        (["source", "text"], ["human", "a"], "the source is 'human'; wanted 'human' and a model"),
        (["source", "text"], ["  ", "a"], ":3: no source; wanted 'human' or the name of a model"),
        (["source", "words"], ["m", "a"], "no field 'text'; fields are 'source', 'words'"),
        (["source", "text", "text"], ["m", "a", "b"], ":1: 2 fields have the name 'text'; wanted one"),
        (["source", "text", "log_prob"], ["m", "a", "often"], ":3: log_prob is 'often'; wanted a number"),
        (["source", "text", "log_prob"], ["m", "a", "12.5"], ":3: log_prob 12.5 is above 0"),
        (
            ["source", "text", "context"],
            ["m", "a", ""],
            "1 of 2 texts has no context; wanted contexts for all texts or",
        ),
        (["source", "text", "item"], ["m", "a", "x"], ":3: id 'x' is also at"),
        (["source", "text"], ["m", "a", "b"], ":3: 3 fields; wanted 2 as in the header"),
        (["source", "text"], ["m", " "], "the source is 'human'; wanted 'human' and a model"),
    ],
)
def test_one_file_refused(tmp_path: Path, header: list[str], row: list[str], wanted: str) -> None:
    first = ["human", "one", "x", "x"][: len(header)]
    if "log_prob" in header:
        first[2] = "-1"
    path = table(tmp_path / "items.csv", header, first, row)
    with pytest.raises(InputError) as caught:
        items_from_one_file(path)
    assert wanted in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")


def test_two_files_refused(tmp_path: Path) -> None:
    human, model = lines(tmp_path / "h.txt", "a", "b"), lines(tmp_path / "m.txt", "c")
    cases: list[tuple[str, dict[str, object]]] = [
        ("h.txt has 2 rows; wanted equal numbers", {"contexts": lines(tmp_path / "c.txt", "1")}),
        ("--model-name 'human'", {"model_name": "human"}),
        ("--model-name ' '", {"model_name": " "}),
        ("1 text of 'model'; wanted 2 (--size)", {"size": 2}),
        ("no field 'lp'; fields are 'text' (use --log-prob-field)", {"columns": Columns(log_prob="lp")}),
        ("both --contexts and --context-field", {"columns": Columns(context="c"), "contexts": human}),
        ("unknown encoding", {"encoding": "nonsense"}),
    ]
    for wanted, given in cases:
        with pytest.raises(InputError) as caught:
            items_from_two_files(human, model, **given)  # type: ignore[arg-type]
        assert wanted in str(caught.value)
    with pytest.raises(InputError, match=r"e\.txt: empty; wanted one text per row"):
        items_from_two_files(human, lines(tmp_path / "e.txt"))
    with pytest.raises(InputError, match=r"b\.txt: 2 rows, all blank"):
        items_from_two_files(human, lines(tmp_path / "b.txt", "", " "))
    with pytest.raises(InputError, match=r"m\.txt: no contexts, but .*h\.csv has contexts"):
        items_from_two_files(table(tmp_path / "h.csv", ["text", "context"], ["a", "b"]), model)
    with pytest.raises(InputError, match=r"n\.csv:2: the context is blank"):
        items_from_two_files(*[table(tmp_path / "n.csv", ["text", "context"], ["a", " "], ["b", "c"])] * 2)
    with pytest.raises(InputError, match=r"h\.jsonl:2: field 'text' is a number \(7\); wanted a string"):
        items_from_two_files(lines(tmp_path / "h.jsonl", '{"text": "a"}', '{"text": 7}'), model)


def test_neither_or_both_ways_to_give_texts(tmp_path: Path) -> None:
    path = lines(tmp_path / "h.txt", "a")
    with pytest.raises(InputError, match="no file with human or model texts; wanted --human and --model, or --items"):
        study_items(human=None, model=None, items=None)
    with pytest.raises(InputError, match="no file with model texts"):
        study_items(human=path, model=None, items=None)
    with pytest.raises(InputError, match="--items together with other files or columns"):
        study_items(human=path, model=None, items=path)
    with pytest.raises(InputError, match="--items together with other files or columns"):
        study_items(human=None, model=None, items=path, columns=Columns(text="x"))


def test_the_default_wording_is_that_of_figure_6() -> None:
    found = default_wording(text_name="title", context_name="news  article")
    assert (found.context_intro, found.question) == ("Given this news article:", "How typical is this exact title?")
    assert (
        found.note == "Please also take into account whether the title is grammatical, topical and factually correct."
    )
    assert [choice.label for choice in found.choices] == [
        "Very Typical", "Typical", "Average", "Specific", "Rare", "Invalid",
    ]  # fmt: skip
    alone = default_wording(with_context=False)
    assert alone.context_intro == ""
    assert "context" not in f"{alone.title} {alone.question} {alone.note}"
    with pytest.raises(InputError, match="--text-name is blank"):
        default_wording(text_name=" ")


def test_a_template_changes_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(
        'question = """\nFluent? “{text}” %s\n"""\n'
        '[[choices]]\nvalue = 1\nlabel = "no"\n[[choices]]\nvalue = 0\nlabel = "yes"\nhelp = "at all"\n',
        encoding="utf-8",
    )
    found = page_wording(str(path), title="  My \n study ")
    assert (found.title, found.question) == ("My study", "Fluent? “{text}” %s")
    assert found.choices == (Choice(1, "no", ""), Choice(0, "yes", "at all"))
    assert found.context_intro == "Given this context:"
    assert (found.introduction, found.thanks) == ("", "")


def test_a_template_says_what_comes_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(
        'introduction = """\nYou take part of your own will.\n\n  Press Start to agree.\n"""\n'
        'thanks = "Code: C0FFEE"\n',
        encoding="utf-8",
    )
    found = page_wording(str(path))
    assert found.introduction == "You take part of your own will.\n\n  Press Start to agree."
    assert found.thanks == "Code: C0FFEE"
    assert found.question == "How typical is this exact text?"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("question = ", "not valid TOML"),
        (
            "questions = 'a'",
            "unknown 'questions'; wanted 'title', 'introduction', 'consent', 'context_intro', 'question', ",
        ),
        ("thanks = 7", "'thanks' is a number (7); wanted a string"),
        ("question = 7", "'question' is a number (7); wanted a string"),
        ("question = ' '", "'question' is blank"),
        ("note = 1979-05-27", "'note' is date; wanted a string"),
        ("choices = 3", "'choices' is a number (3); wanted [[choices]]"),
        ("choices = [1]", "'choices' is an array; wanted [[choices]]"),
        ("[[choices]]\nvalue = 1\nlabel = 'a'", "1 choice; wanted two or more"),
        ("[[choices]]\nlabel = 'a'", "choice 1: no value"),
        ("[[choices]]\nvalue = true\nlabel = 'a'", "choice 1: the value is a boolean; wanted a whole number"),
        ("[[choices]]\nvalue = 1.5\nlabel = 'a'", "choice 1: the value is a number (1.5); wanted a whole number"),
        ("[[choices]]\nvalue = 9999\nlabel = 'a'", "wanted a whole number from -1000 to 1000"),
        ("[[choices]]\nvalue = 1\nlabel = ' '", "choice 1: the label is blank"),
        ("[[choices]]\nvalue = 1\nlabel = 'a'\nworth = 2", "choice 1: unknown 'worth'"),
        (
            "[[choices]]\nvalue = 1\nlabel = 'a'\n[[choices]]\nvalue = 1\nlabel = 'b'",
            "2 choices have the value '1'; wanted only one",
        ),
        (
            "[[choices]]\nvalue = 1\nlabel = 'a'\n[[choices]]\nvalue = 2\nlabel = 'a'",
            "2 choices have the label 'a'; wanted only one",
        ),
    ],
)
def test_templates_refused(tmp_path: Path, written: str, wanted: str) -> None:
    path = tmp_path / "words.toml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        page_wording(str(path))
    assert wanted in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_template_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "words.toml").write_bytes(b"title = 'a'\nnote = '\xff'")
    with pytest.raises(InputError, match=r"words\.toml:2: byte 0xff is not valid utf-8"):
        page_wording(str(tmp_path / "words.toml"))
    with pytest.raises(InputError, match="no such file"):
        page_wording(str(tmp_path / "none.toml"))


def study(**given: int) -> Study:
    return Study("t", "", "q", "n", **given)  # type: ignore[arg-type]


def test_every_choice_is_asked_for_once() -> None:
    found = built_in_checks(TYPICALITY, {"check-2"})
    assert [item.expected for item in found] == [6, 5, 4, 3, 2, 1]
    assert [item.id for item in found] == ["check-1", "check-3", "check-4", "check-5", "check-6", "check-7"]
    for item, choice in zip(found, TYPICALITY, strict=True):
        assert f"“{choice.label}”" in item.text
    assert len({item.text.replace(c.label, "") for item, c in zip(found, TYPICALITY, strict=True)}) == 6
    many = built_in_checks([Choice(n, f"{{label}} {n}", "") for n in range(11)])
    assert [item.expected for item in many] == [0, 2, 4, 6, 8, 10]
    assert "{label} 4" in many[2].text


def test_checks_of_a_study(tmp_path: Path) -> None:
    assert len(checks_for(study(checks_per_rater=6), [])) == 6
    assert checks_for(study(checks_per_rater=0), []) == []
    with pytest.raises(InputError, match="--checks 7; wanted at most 6, the number built in"):
        checks_for(study(checks_per_rater=7), [])
    path = table(tmp_path / "k.csv", ["text", "expected", "context"], ["a", "Rare", ""], ["b", "6", "c"])
    found = checks_for(study(), ["check-1"], path=path)
    assert [(i.id, i.text, i.expected, i.context) for i in found] == [
        ("check-2", "a", 2, None),
        ("check-3", "b", 6, "c"),
    ]
    with pytest.raises(InputError, match=r"--checks 3; wanted at most 2, the number in .*k\.csv"):
        checks_for(study(checks_per_rater=3), [], path=path)


@pytest.mark.parametrize(
    ("header", "row", "wanted"),
    [
        (
            ["text", "expected"],
            ["a", "7"],
            ":2: 'expected' is '7'; wanted one of '6', '5', '4', '3', '2', '1', or a label",
        ),
        (["text", "expected"], ["a", ""], ":2: 'expected' is ''"),
        (["text", "expected"], [" ", "6"], ":2: the text is blank"),
        (["text", "answer"], ["a", "6"], "no field 'expected'; fields are 'text', 'answer'"),
    ],
)
def test_checks_refused(tmp_path: Path, header: list[str], row: list[str], wanted: str) -> None:
    with pytest.raises(InputError) as caught:
        checks_for(study(), [], path=table(tmp_path / "k.csv", header, row))
    assert wanted in str(caught.value)
