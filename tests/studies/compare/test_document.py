"""The document of a comparison: everything it found is stated, the answer first, and short enough for a screen."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.laws import corpus
from tests.report.builders import (
    comparison,
    hostile_meaning,
    meaning,
    pairs,
    phrase,
    region,
    with_meaning,
)
from tests.studies.compare.test_ranking import judged, ranked, share
from tests.studies.compare.test_verdict import overall
from textassay import compare
from textassay.corpus.sample import Sample
from textassay.digests.digest import digest_sample
from textassay.digests.statistics import Layout
from textassay.document.blocks import Details, Document, Section, Table, walk
from textassay.document.plot import Discs, Dots
from textassay.inference.format_check import Finding as FormatFinding
from textassay.metrics.views import Settings
from textassay.report.terminal import render
from textassay.studies.compare.aspects import aspects
from textassay.studies.compare.caveats import caveats
from textassay.studies.compare.document import document
from textassay.studies.compare.measuring.equal_lengths import EqualLengths
from textassay.studies.compare.phrase_blocks import as_written, telling
from textassay.studies.compare.result import Comparison, Cue, Separation, SureText
from textassay.studies.compare.summary import gap_cell, why
from textassay.studies.finding import Finding, Verdict

BOLD = FormatFinding(
    "bold", "61 % of candidate texts have bold words (reference 9 %)", 0.61, 0.09, "strip it", is_markup=True
)
LONGER = FormatFinding(
    "mean_length", "candidate texts have 284 words", 0.8, 0.5, "cut both", candidate_mean=284.0, reference_mean=188.0
)
CURLY = FormatFinding("curly_quotes", "28 % have curly quotes", 0.28, 0.05, "write them alike")
HIDDEN = FormatFinding("white_space", "stray spaces", 0.5, 0.0, "no effect", harmless=True)
CUES = Separation(
    (Cue("a red dog", 40, 1, 2.5),),
    (Cue("of it", 2, 30, -1.5),),
    (SureText("sure made", 3.0),),
    (SureText("sure real", -3.0),),
    (SureText("taken for real", -0.5),),
)


def texts_of(value: Any) -> Iterator[str]:
    """All strings of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from texts_of(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name))


def stated(found: Comparison) -> str:
    """All that a comparison states, in one string."""
    return " | ".join(texts_of(document(found)))


def section(found: Document, id: str) -> Section:
    """The section with this anchor."""
    return next(each for each in found.sections if each.id == id)


def screen(found: Comparison, width: int, height: int, **view: bool) -> str:
    """What a terminal of this size shows."""
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render(document(found), width=width, height=height, **view))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def usual(n: int, names: tuple[str, ...] = ()) -> Comparison:
    """A comparison of `n` candidates that differ in form, phrases and topics."""
    plain = with_meaning(comparison(names or tuple(f"checkpoint-{500 * k}" for k in range(1, n + 1))))
    columns = [
        replace(judged(column, "differs", share(min(0.1 + 0.1 * k, 0.9))), findings=(BOLD, LONGER, CURLY))
        for k, column in enumerate(plain.candidates)
    ]
    return replace(plain, candidates=tuple(columns))


@cache
def real_run() -> Comparison:
    """A small comparison as the study makes it."""
    repeated = corpus(4, 10) * 8
    return compare(corpus(1, 80), {"alike": corpus(2, 80), "repeats": repeated}, families="ngram", n_resamples=99)


def test_everything_that_was_found_is_stated() -> None:
    found = usual(2)
    first = replace(found.candidates[0], separation=CUES, findings=(BOLD, LONGER, CURLY, HIDDEN))
    verdict = Verdict.of("differs", "less diverse than the reference (nrr-2 -0.31)", cautions=["caution: look out"])
    first = replace(first, verdict=verdict)
    contests = pairs(found.names, 3)
    found = replace(found, candidates=(first, *found.candidates[1:]), contests=contests)
    text = stated(found)
    member_labels = [member.label for member in first.overall.members] if first.overall else []
    signatures = [result.signature for column in (found.real, *found.candidates) for result in column.results]
    for expected in (
        *verdict.reasons,
        *found.notes,
        *(finding.message for finding in first.findings),
        *(finding.fix for finding in first.findings),
        *(each.text for each in (*first.over, *first.under)),
        "There is ", "A BIG dog", "most ",
        *member_labels,
        *(contest.label for contest in contests),
        "a red dog", "sure made", "sure real", "taken for real",
        "bathroom, toilet, sink, mirror", "20 %", "frisbee, throwing", "is is shown .", "broccoli is on a board",
        "86 % of the candidate's texts", "34 % of the reference texts",
        "0.330", "±0.020", "cr-2 ↑", "nrr-2 ≈", "cnd-2 ↓", "p ≤ 0.001",
        "words+lower", "95 %", "999", "500 texts",
        "Misleading when read alone: repeating the reference's most frequent n-gram beats real text.",
        "No test: exchanging texts changes what every text is compared with",
        *signatures,
    ):  # fmt: skip
        assert expected in text, expected


def test_the_answer_is_first_and_settings_are_last() -> None:
    found = document(usual(3))
    assert next(iter(found)) is found.summary
    assert [section.id for section in found.sections][-1] == "settings"
    assert found.summary.rows[0].rank == 1
    assert "500 texts" in found.summary.context
    shown = [section.id for section in found.sections if section.shown == "screen"]
    assert shown == []


def test_a_candidate_that_is_named_like_the_reference_is_not_asked_to_be_like_itself() -> None:
    found = usual(1)
    same = replace(found, reference=replace(found.reference, name=found.names[0]))
    assert document(same).summary.question == f"Is {found.names[0]} distributed like the reference?"


def test_bare_estimates_come_with_their_table() -> None:
    found = replace(comparison(half=None, p=None), n_resamples=0)
    assert section(document(found), "metrics").shown == "screen"
    assert "estimates only" in stated(found)


def test_gaps_are_in_points_beside_real_text() -> None:
    found = comparison(["more", "less"], metrics=[("bleu", 4), ("self_bleu", 4)])
    quality, diversity = aspects(found)
    assert (quality.label, diversity.label) == ("bleu-4", "self_bleu-4")
    moved = [replace(result, estimate=result.estimate + 0.1) for result in found.real.results]
    column = replace(found.candidates[0], results=tuple(moved))
    # More self-BLEU is less diversity.
    assert [gap_cell(found, column, axis).text for axis in (quality, diversity)] == ["+10", "-10"]
    alike = replace(column, results=tuple(replace(r, estimate=r.estimate + 0.01) for r in found.real.results))
    assert gap_cell(found, alike, quality).text == "as real"
    same = replace(column, verdict=Verdict.of("same"))
    assert gap_cell(found, same, quality).text == "as real"
    # What the table of metrics marks as different is not called as real.
    marked = replace(alike, adjusted=(0.01,) * len(found.labels))
    assert gap_cell(found, marked, quality).text == "+1.0"
    assert gap_cell(found, replace(marked, verdict=Verdict.of("same")), quality).text == "as real"
    # Less diverse words are no less coverage.
    covered = replace(diversity, rise="more coverage")
    narrow = replace(alike, verdict=Verdict.of("differs", Finding("less diverse", metric="self_bleu-4")))
    assert (covered.title, gap_cell(found, narrow, covered).text) == ("coverage", "as real")
    # Another metric found a difference in diversity: the cell does not contradict it.
    less = replace(alike, verdict=Verdict.of("differs", Finding("less diverse", metric="entropy-2")))
    assert gap_cell(found, less, quality).text == "as real"
    assert (
        gap_cell(
            found,
            replace(less, results=tuple(replace(r, estimate=r.estimate + 0.001) for r in found.real.results)),
            diversity,
        ).text
        == "-0.1"
    )


def test_gaps_are_those_at_equal_lengths() -> None:
    found = comparison(["only"], metrics=[("bleu", 4), ("self_bleu", 4)])
    real, column = found.real.results[0], found.candidates[0]
    equal = EqualLengths({"bleu-4": (replace(real, estimate=0.75), replace(real, estimate=0.5))}, ("self_bleu-4",))
    column = replace(column, equal_lengths=equal)
    found = replace(found, candidates=(column,))
    (quality,) = aspects(found)
    assert gap_cell(found, column, quality).text == "+25"


def test_a_caveat_on_prompts_names_their_field() -> None:
    words = [f"word {n}" for n in range(40)]
    contexts = pa.array([f"Q{n}" for n in range(40)])
    sides = [replace(Sample.of(words, name=name, contexts=contexts), prompt_field="question") for name in ("a", "b")]
    found = compare(sides[0], sides[1], metrics="distinct", n_resamples=19, pair=False)
    assert "Texts of one prompt are in both samples: use --pair question." in caveats(found)


def test_each_caveat_is_stated_once_for_all_candidates() -> None:
    found = usual(3)
    sign = Finding("dependence", "both", names=("aligned",), condition="pair", text="texts at the same place")
    columns = [replace(c, verdict=Verdict.of("differs", cautions=[sign])) for c in found.candidates]
    found = replace(found, candidates=tuple(columns), cautions=(Finding("encoder", "meaning", text="no words known"),))
    assert caveats(found) == (
        "Texts at the same place in both samples are alike: if they share a prompt, use --pair FIELD"
        " (all 3 candidates).",
        "Markdown differs in all 3 candidates (bold): strip it.",
        "Length differs in all 3 candidates: cut both.",
        "Form differs in all 3 candidates (curly quotes): write them alike.",
        "No words known, so nothing is said about meaning; choose an encoder that reads these texts.",
    )
    assert Comparison.from_json(found.to_json()).cautions == found.cautions


def test_format_that_the_tokenizer_hides_is_no_caveat() -> None:
    found = comparison(["only"])
    found = replace(found, candidates=(replace(found.candidates[0], findings=(HIDDEN,)),))
    assert caveats(found) == ()
    (details,) = section(document(found), "format").blocks
    assert isinstance(details, Details)
    assert "this tokenizer removes" in details.title


def test_reasons_are_at_most_three_lines_of_a_terminal() -> None:
    column = usual(1).candidates[0]
    reasons = list(why(column, 0.95))
    assert reasons == [
        "form: 284 words per text (reference 188), bold 61 % (9.0 %)",
        "words: more “A BIG dog” 40 (reference 2); fewer “of it” 1 (30)",
        "topics: more on bathroom, toilet 20 % (reference 5.0 %)",
    ]
    long = replace(column, over=tuple(phrase(f"word{k} " * 9) for k in range(9)), under=())
    assert all(len(reason) < 130 for reason in why(long, 0.95))


def test_a_phrase_is_shown_as_texts_have_it() -> None:
    assert as_written(phrase("don ' t", "Two men don't know.")) == "don't"
    assert as_written(phrase(". Remember ,", "Go. Remember, it rains.")) == "Remember"
    assert as_written(phrase("nowhere", "not in this text")) == "nowhere"
    common = phrase("and the", more=900, less=800)
    assert telling([common, phrase("of", more=90, less=1), phrase("panda")])[0].text == "panda"


@pytest.mark.parametrize(("width", "height", "n"), [(80, 24, 3), (120, 40, 6)])
def test_the_answer_fits_on_one_screen(width: int, height: int, n: int) -> None:
    shown = screen(usual(n), width, height)
    assert len(shown.splitlines()) < height
    for name in usual(n).names:
        assert name in shown
    assert "closest: checkpoint-500" in " ".join(shown.split())
    assert "strip it" in shown
    assert shown.splitlines()[-1].startswith("All metrics: --table")
    assert "longer" in shown or "form: " in shown


@pytest.mark.parametrize("n", [20, 100])
def test_many_candidates_are_cut_and_counted(n: int) -> None:
    shown = screen(usual(n), 80, 24)
    assert len(shown.splitlines()) < 24
    assert re.search(r"… and \d+ more \(.*; all: --table", " ".join(shown.split()))
    assert f"All {n} candidates differ" in shown
    sizes = {block.total for block in walk(section(document(usual(n)), "phrases").blocks) if isinstance(block, Table)}
    assert sizes <= {None, 2}


SCRIPTS = ("name " * 40, "漢字の名前" * 40, "اسم" * 67, "a" * 200, "наименование-" * 15)


@pytest.mark.parametrize("width", [40, 80])
def test_long_names_in_any_script_keep_the_screen_in_one_piece(width: int) -> None:
    shown = screen(usual(len(SCRIPTS), SCRIPTS), width, 24)
    assert max(map(cell_len, shown.splitlines())) <= width
    assert "closest" in shown


def test_hostile_texts_are_in_no_place_that_breaks_a_document() -> None:
    found = hostile_meaning()
    assert len(document(found).sections) > 6
    for text in (screen(found, 60, 24, table=True, why=True), found.to_markdown()):
        assert not set(text) & set("\x00\x1b\x7f\x85\u2028\u202e")


def test_numbers_have_readable_units() -> None:
    found = comparison(["only"], metrics=[("cnd", 2)])
    small = [replace(found.real.results[0], estimate=0.000443, interval=None)]
    found = replace(found, real=replace(found.real, results=tuple(small)))
    found = replace(found, candidates=(replace(found.candidates[0], results=tuple(small)),))
    (table,) = section(document(found), "metrics").blocks
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0].cells] == ["cnd-2 ↓ (10⁻⁴)", "4.43", "4.43"]


def test_results_at_the_size_of_the_baseline_have_their_own_row() -> None:
    found = comparison(["a", "b"], metrics=[("cr", 2)], real_n=250)
    again = {"cr-2": replace(found.candidates[0].results[0], estimate=0.777, n=250)}
    found = replace(found, candidates=(found.candidates[0], replace(found.candidates[1], at_baseline_size=again)))
    (table,) = section(document(found), "metrics").blocks
    assert isinstance(table, Table)
    whole, smaller = ([cell.text for cell in row.cells] for row in table.rows)
    assert whole == ["cr-2 ↑", "", "0.300", "0.330"]
    assert smaller == ["  at n = 250", "0.300", "", "0.777"]


def test_the_map_of_meaning_opens_on_the_candidate_that_differs_most() -> None:
    found = replace(ranked(near=("differs", 0.2), far=("differs", 0.7)), level=0.95)
    found = with_meaning(found)
    details = [block for block in section(document(found), "meaning").blocks if isinstance(block, Details)]
    assert [(block.title, block.is_open) for block in details] == [("far", True), ("near", False)]
    chart = details[0].blocks[0]
    dots, made, discs, _ = chart.plot.layers  # type: ignore[union-attr]
    assert isinstance(dots, Dots)
    assert isinstance(made, Dots)
    assert isinstance(discs, Discs)
    assert sorted((disc.tone, disc.number) for disc in discs.discs if disc.number) == [("less", 2), ("more", 1)]


def test_a_tall_map_is_turned() -> None:
    tall = meaning([replace(region(k), place=(0.5, k / 5)) for k in range(5)], points=1)
    tall = replace(tall, candidate_points=((0.5, 0.0),), reference_points=((0.5, 1.0),))
    chart = next(iter(walk(section(document(with_meaning(comparison(["only"]), tall)), "meaning").blocks[1:])))
    places = [disc.x for disc in chart.blocks[0].plot.layers[2].discs]  # type: ignore[union-attr]
    assert max(places) - min(places) > 0.7


def test_candidates_without_a_map_are_named() -> None:
    found = with_meaning()
    found = replace(found, candidates=(found.candidates[0], replace(found.candidates[1], meaning=None)))
    assert "Too few texts for regions of meaning: large." in stated(found)


def test_the_picture_shows_separable_shares_in_order() -> None:
    picture = document(ranked(far=("differs", 0.6), near=("differs", 0.2))).summary.picture
    assert picture is not None
    assert picture.y.names == ("near", "far")
    assert "far: 60 %, at least 56 %" in picture.summary


def test_a_study_makes_the_same_document_before_and_after_json() -> None:
    found = real_run()
    again = Comparison.from_json(found.to_json())
    assert document(again) == document(found)
    assert found.best == "alike"
    assert "collapsed" in document(found).summary.sentence


def test_the_summary_is_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = real_run().summary
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["candidate"]) == ["alike", "repeats"]
    assert frame["repeats"][1] > 0.5
    assert frame["separable_low"][0] == 0


def test_digests_are_ranked_by_what_they_have() -> None:
    made = [
        digest_sample(Sample.of(corpus(seed, 400), name=f"shard {seed}"), Settings(), layout=Layout(32))
        for seed in range(3)
    ]
    found = compare(made[0], {"a": made[1], "b": made[2]}, n_resamples=99)
    summary = document(found).summary
    assert "separable" not in summary.columns
    assert [row.rank for row in summary.rows] == [1, 2]
    assert "Tied in" in " ".join(summary.ties)


def test_without_texts_to_compare_nothing_is_said_about_quality() -> None:
    plain = comparison(["only"])
    real = tuple(
        replace(r, estimate=float("nan"), undefined="no baseline: pairs", interval=None) for r in plain.real.results
    )
    found = replace(plain, real=replace(plain.real, results=real))
    assert aspects(found) == ()
    assert caveats(found) == ("No baseline: pairs.",)
    assert overall(0.001).separable is not None
