"""Notes about a new study: too few texts for HUSE, texts in several sources, and attention checks."""

import csv
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, raters_of
from textassay.cli.main import run
from textassay.errors import InputError
from textassay.studies.huse.study import huse
from textassay.survey.create.attention_checks import built_in_checks, checks_for
from textassay.survey.create.items import items_from_one_file
from textassay.survey.model import TYPICALITY, SurveyItem
from textassay.survey.store.study_store import Store


def notes(folder: Path, *rows: tuple[str, ...], header: tuple[str, ...] = ("source", "text")) -> list[str]:
    """What is said of items with these fields, but for log-probabilities, which none of them has."""
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return [note for note in items_from_one_file(str(folder / "items.csv")).notes if "log-probability" not in note]


def texts(source: str, n: int) -> Iterable[tuple[str, str]]:
    return ((source, f"the {source} text {number}") for number in range(n))


def measured(n_human: int, n_model: int) -> None:
    """HUSE of so many texts, each with one rating."""
    counts = {"human": n_human, "model": n_model}
    rows = [
        {"item": f"{source}-{number}", "source": source, "text": text, "log_prob": -1.0 - number, "rating": number % 6}
        for source, count in counts.items()
        for number, (_, text) in enumerate(texts(source, count))
    ]
    huse(rows, n_resamples=0, stability=False)


@pytest.mark.parametrize(("n_human", "n_model"), [(1, 1), (12, 12), (15, 15), (15, 40), (40, 15)])
def test_too_few_texts_for_huse_are_said(tmp_path: Path, n_human: int, n_model: int) -> None:
    n = 2 * min(n_human, n_model)
    first = notes(tmp_path, *texts("human", n_human), *texts("model", n_model))[0]
    assert first == (
        f"{n} texts in equal parts of 'human' and 'model': textassay huse needs at least 32, two for each of its k = "
        "16 neighbours (or a smaller --k)"
    )
    with pytest.raises(InputError, match=f" {n} items, as many of both sources; wanted at least 32"):
        measured(n_human, n_model)


@pytest.mark.parametrize(("n_human", "n_model"), [(16, 16), (16, 40)])
def test_where_huse_can_be_measured_nothing_is_said_of_it(tmp_path: Path, n_human: int, n_model: int) -> None:
    said = notes(tmp_path, *texts("human", n_human), *texts("model", n_model))
    assert not [note for note in said if "huse needs" in note]
    measured(n_human, n_model)


def test_of_several_models_those_are_named_that_have_too_few(tmp_path: Path) -> None:
    said = notes(tmp_path, *texts("human", 20), *texts("a", 20), *texts("b", 7))
    assert [note[:48] for note in said if "huse needs" in note] == ["14 texts in equal parts of 'human' and 'b': text"]


def test_texts_that_two_sources_share_are_counted(tmp_path: Path) -> None:
    rows = [*texts("human", 20), *texts("a", 20), *texts("b", 20)]
    shared = [("human", "x"), ("a", "x"), ("a", "x"), ("b", "y"), ("human", "y"), ("human", "z"), ("b", "z")]
    said = [note for note in notes(tmp_path, *rows, *shared) if "in both" in note]
    end = "; each copy is rated separately, and one rater may see both"
    assert said == [f"1 text is in both 'human' and 'a'{end}", f"2 texts are in both 'human' and 'b'{end}"]


def test_a_text_of_another_context_is_another_text(tmp_path: Path) -> None:
    rows = [("human", "x", "one"), ("a", "x", "two"), ("human", "y", "two"), ("a", "y", "two")]
    said = notes(tmp_path, *rows, header=("source", "text", "context"))
    assert [note[:63] for note in said if "in both" in note] == [
        "1 text is in both 'human' and 'a' with the same context; each c"
    ]


def test_a_rater_may_meet_both_as_is_said(tmp_path: Path) -> None:
    items = [SurveyItem("h", "human", "same"), SurveyItem("m", "model", "same")]
    links = Store.create(tmp_path / "s.db", STUDY, items, n_raters=1)
    with closing(Store.open(tmp_path / "s.db")) as store:
        (rater,) = raters_of(store, links.raters)
        seen = []
        while (task := store.task(rater)) is not None:
            seen.append(task.text)
            store.answer(rater, task.number, 1)
    assert seen == ["same", "same"]


def test_checks_have_contexts_where_texts_have(tmp_path: Path) -> None:
    contexts = [f"article {number // 2}" for number in range(24)]
    found = built_in_checks(TYPICALITY, contexts=contexts)
    # From all over the study, each another one, and the same whenever it is made.
    assert [check.context for check in found] == [f"article {number}" for number in (1, 3, 5, 7, 9, 11)]
    assert found == built_in_checks(TYPICALITY, contexts=contexts)
    assert [check.context for check in checks_for(STUDY, [], contexts=contexts)] == [check.context for check in found]
    assert [check.context for check in built_in_checks(TYPICALITY, contexts=["a", "b"])] == ["a"] * 3 + ["b"] * 3
    assert {check.context for check in built_in_checks(TYPICALITY)} == {None}


@pytest.mark.parametrize("with_contexts", [True, False])
def test_nothing_but_its_text_tells_a_check(tmp_path: Path, with_contexts: bool) -> None:
    for source in ("human", "model"):
        rows = [f"{source} {number},article {number}\n" for number in range(8)]
        header = "text,context\n" if with_contexts else "text,other\n"
        (tmp_path / f"{source}.csv").write_text(header + "".join(rows), encoding="utf-8")
    given = [f"--{source}={tmp_path / source}.csv" for source in ("human", "model")]
    assert run(["survey", "create", str(tmp_path / "s.db"), *given]) == 0
    with closing(Store.open(tmp_path / "s.db")) as store:
        items = store.items()
    assert [item.expected for item in items if item.expected is not None] == [6, 5, 4, 3, 2, 1]
    assert {item.context is not None for item in items} == {with_contexts}
    assert {item.context for item in items[16:]} <= {item.context for item in items[:16]}
