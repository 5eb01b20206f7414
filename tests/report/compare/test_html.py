"""The HTML report: everything is there, nothing from outside gets through, and it fits in its limit."""

import base64
import hashlib
import math
import re
from dataclasses import replace

import pytest

from tests.report.builders import (
    HOSTILE,
    Page,
    candidate,
    compare_result,
    comparison,
    hostile_comparison,
    pairs,
    phrase,
)
from textassay.corpus.printable import printable
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.format_check import Finding, check_format
from textassay.inference.result import Interval
from textassay.report.former.charts.strips import draw_plane, plane_axes
from textassay.report.former.compare import outcome_sentence, render_html, render_notebook
from textassay.report.former.table import level_of
from textassay.report.former.templates.page import MOST_BYTES
from textassay.studies.compare.result import Comparison
from textassay.studies.finding import Verdict
from textassay.studies.outcome import Contest

NAMES = [f"model-{i}" for i in range(20)]
TWENTY_METRICS = [(metric, order) for metric in ("cr", "nrr", "bleu", "self_bleu") for order in range(1, 6)]


def parsed(text: str) -> Page:
    """The page, which must nest."""
    page = Page(text)
    assert page.complaints == []
    return page


def words(page: Page) -> str:
    """What is read, with white space made even."""
    return " ".join(page.text.split())


def test_everything_found_stands_on_the_page() -> None:
    found = comparison(contests=pairs(("small", "large"), 3))
    text = words(parsed(render_html(found)))
    for expected in (
        "Are the candidates distributed like “real_train”?",
        "Of 2 candidates, 2 differ from the reference.",
        "reference, 500 texts",
        "samples cut to 500 texts each (the largest has 10,000)",
        "Tokenizer words+lower",
        "Interval level 95 %",
        "Resamples 999",
        "Seed 7",
        "less diverse than the reference (nrr-2 -0.31)",
        "cr-2 ↑ higher is better",
        "nrr-2 ≈ closer to real text is better",
        "cnd-2 ↓ lower is better",
        "0.330 ±0.020",
        "Used too often",
        "a big dog 4.00 0.200 6.50",
        "Used too rarely",
        "of it 0.100 3.00 -5.25",
        "cr|n:2|tok:words+lower",
        "Coverage rate: the probability that two n-grams, one drawn from each sample, are equal.",
        "Misleading when read alone: repeating the reference's most frequent n-gram beats real text.",
        "expected value at this sample size (delete-a-group jackknife",
        "exchanging texts between candidate and reference",
        "Holm",
        "Paired differences: 3",
    ):
        assert expected in text


def test_adjusted_p_values_are_shown_and_marked_where_significant() -> None:
    found = comparison(["only"], metrics=[("cr", 2), ("nrr", 2)])
    weak = replace(found.candidates[0].results[1], p_value=0.2)
    found = replace(found, candidates=(candidate("only", (found.candidates[0].results[0], weak)),))
    text = words(parsed(render_html(found)))
    assert "p ≤ 0.001 ✱, significant" in text
    assert "p 0.20" in text
    assert "p 0.20 ✱" not in text


def test_a_missing_test_is_a_footnote_with_its_reason() -> None:
    page = render_html(comparison())
    assert (
        "No test: exchanging texts changes what every text is compared with, so a permutation test is not valid" in page
    )
    assert re.search(r'bleu-4<sup><a href="#note-1">1</a></sup>', page)
    assert 'id="note-1"' in page


def test_an_undefined_number_is_a_dash_with_its_reason() -> None:
    found = comparison(["only"])
    results = (*found.candidates[0].results[:-1], compare_result("cnd", 0.0, undefined="no text has n tokens"))
    page = parsed(render_html(replace(found, candidates=(candidate("only", results),))))
    assert "No number: no text has n tokens." in words(page)
    assert re.search(r"–\s*\d", page.text)


def test_format_findings_come_before_the_verdicts() -> None:
    finding = Finding("case", "97 % of candidate texts begin with a capital", 0.97, 0.03, "use --lowercase")
    found = comparison()
    first = replace(found.candidates[0], findings=(finding,))
    page = render_html(replace(found, candidates=(first, *found.candidates[1:])))
    assert page.index(finding.message) < page.index('id="verdicts"')
    assert finding.fix in page
    assert 'id="format"' not in render_html(found)


def test_format_that_the_tokenizer_hides_is_folded_away() -> None:
    real = Sample.of(["A cat sat.", "Two dogs ran."] * 20, name="real")
    made = Sample.of(["A cat sat .", "Two dogs ran ."] * 20, name="made")
    found = comparison(["made"])
    for tokenizer, folded in (("words", True), ("whitespace", False)):
        findings = check_format(made, real, tokenizer=get_tokenizer(tokenizer))
        assert findings
        assert findings[0].harmless == folded
        findings = tuple(replace(finding, fix="in other words") for finding in findings)
        page = render_html(replace(found, candidates=(replace(found.candidates[0], findings=findings),)))
        assert ("differences that this tokenizer removes before n-grams are counted" in page) == folded
        assert ("read that first" in page) != folded
        assert findings[0].message in page


def test_the_phrase_is_marked_where_the_text_has_it() -> None:
    page = render_html(comparison(["only"]))
    assert "There is <mark>A BIG dog</mark> here" in page
    assert '<p dir="auto">no such words</p>' in page


@pytest.mark.parametrize("candidates", [1, 2, 20])
def test_any_number_of_candidates(candidates: int) -> None:
    found = comparison(NAMES[:candidates], metrics=TWENTY_METRICS)
    page = parsed(render_html(found))
    for name in NAMES[:candidates]:
        assert name in page.text
    rows = [attributes for attributes in page.tags("th") if attributes.get("scope") == "row"]
    assert len(rows) >= len(TWENTY_METRICS)


def test_estimates_only() -> None:
    found = comparison(half=None, p=None)
    verdict = Verdict.of("untested", "estimates only: no test was run")
    found = replace(found, candidates=tuple(replace(c, verdict=verdict) for c in found.candidates))
    text = words(parsed(render_html(found)))
    assert "Estimates only: no intervals were requested" in text
    assert "Not tested" in text
    assert "±" not in text.partition("How to read this")[0]
    assert level_of(found.candidates[0].verdict) == "untested"


def test_the_level_of_a_column_is_that_of_its_verdict() -> None:
    assert level_of(Verdict.of("same", "no difference")) == "same"
    assert level_of(None) == "untested"
    judged = replace(comparison(["only"]).candidates[0], verdict=Verdict.of("untested", "no test"))
    found = replace(comparison(["only"]), candidates=(judged,))
    assert 'class="card verdict untested"' in render_html(found)
    assert "not tested" in render_notebook(found)


def test_a_lopsided_interval_is_shown_by_its_bounds() -> None:
    found = comparison(["only"], contests=(Contest("a", "b", "cr-2", 0.0, -0.02, 0.1, 0.25, 0.5),))
    lopsided = replace(found.candidates[0].results[0], estimate=0.0, interval=Interval(0.0, 0.0152, 0.95, "wilson"))
    found = replace(found, candidates=(candidate("only", (lopsided, *found.candidates[0].results[1:])),))
    page = render_html(found)
    text = words(parsed(page))
    assert "0 [0, 0.015] p ≤ 0.001" in text
    assert "only: 0 [0, 0.015]" in page
    assert "[low, high] bounds where the estimate is not in the middle" in text
    assert "a b 0 [-0.02, 0.10] 0.50" in text
    assert "0 [0, 0.015]*" in words(parsed(render_notebook(found)))


@pytest.mark.parametrize(("level", "shown"), [(0.999, "99.9 %"), (0.975, "97.5 %")])
def test_the_level_is_never_rounded_to_another(level: float, shown: str) -> None:
    text = words(parsed(render_html(comparison(level=level))))
    assert f"Interval level {shown}" in text
    assert f"half the width of the {shown} interval" in text
    assert f"{shown} interval" in words(parsed(render_notebook(comparison(level=level))))
    assert f'title="{shown} interval' in render_html(comparison(level=level))


def test_numbers_without_end_are_shown_and_not_drawn() -> None:
    found = comparison(["only"])
    results = tuple(replace(r, estimate=math.inf, interval=None) for r in found.candidates[0].results)
    page = parsed(render_html(replace(found, candidates=(candidate("only", results),))))
    assert "∞" in page.text
    assert not re.search(r"\binf\b", page.text)


def test_nothing_at_all_is_still_a_page() -> None:
    bare = comparison(["only"], metrics=[])
    bare = replace(bare, candidates=(candidate("only", (), verdict=None, over=(), under=()),), notes=())
    text = words(parsed(render_html(bare)))
    assert "No candidate uses any phrase clearly too often or too rarely." in text


def test_hostile_texts_stay_texts() -> None:
    page = parsed(render_html(hostile_comparison()))
    assert len(page.tags("script")) == len(page.tags("style")) == 1
    assert not page.tags("img")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    for text in HOSTILE:
        assert printable(text[:57]) in page.text
    assert "49" not in page.text.split("Verdicts")[1].split("Quality")[0]


@pytest.mark.parametrize("render", [render_html, render_notebook])
def test_no_control_character_or_override_is_left(render: object) -> None:
    assert callable(render)
    page = render(hostile_comparison())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    assert "\\x00" in page
    assert "\\u202e" in page


@pytest.mark.parametrize("found", [comparison(), hostile_comparison()])
def test_nothing_is_fetched(found: Comparison) -> None:
    page = parsed(render_html(found))
    for tag, attributes in page.elements:
        assert not {"src", "srcset", "data", "action", "poster", "xlink:href", "style"} & set(attributes)
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in page.within["style"]
    assert "@import" not in page.within["style"]


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = parsed(render_html(comparison(NAMES, metrics=TWENTY_METRICS)))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(a.get("href") or "#main")[1:] for a in page.tags("a")} <= set(ids)
    named = " ".join(a["aria-labelledby"] or "" for _, a in page.elements if "aria-labelledby" in a)
    assert set(named.split()) <= set(ids)


def test_the_policy_allows_this_script_and_this_style_only() -> None:
    page = parsed(render_html(comparison()))
    policy = next(a["content"] for a in page.tags("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.within[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_twenty_candidates_by_twenty_metrics_fit_with_the_worst_of_texts() -> None:
    worst = "\u2028" * 5000
    found = comparison(NAMES, metrics=TWENTY_METRICS, contests=pairs(NAMES, 3800))
    many = tuple(phrase(f"{i} {worst}", worst, worst, worst) for i in range(50))
    long_names = tuple(replace(c, name=f"{c.name}{worst}", over=many, under=many) for c in found.candidates)
    page = render_html(replace(found, candidates=long_names, notes=(worst,) * 1000))
    assert len(page.encode()) <= MOST_BYTES
    assert "more are in the JSON file" in page
    assert "<li>970 more are in the JSON file.</li>" in page
    assert "clearest of 3,800" in page


def test_larger_comparisons_leave_out_more_and_say_so() -> None:
    found = comparison([f"model-{i}" for i in range(60)], metrics=TWENTY_METRICS * 2)
    page = render_html(found)
    assert len(page.encode()) <= MOST_BYTES
    assert "more metrics are in the table only" in page


def test_only_the_sixty_most_notable_contests_are_listed() -> None:
    page = render_html(comparison(contests=pairs(("small", "large"), 100)))
    assert "m-99<" in page
    assert "m-40<" in page
    assert "m-39<" not in page
    assert "adjusted for all 100 differences (Holm)" in page


def test_the_same_comparison_gives_the_same_page() -> None:
    found = comparison()
    assert render_html(found) == render_html(Comparison.from_json(found.to_json()))


def test_what_is_drawn_beside_real_text_has_its_size() -> None:
    found = comparison(["only"], metrics=[("cr", 2), ("nrr", 2)], real_n=250)
    smaller = {"cr-2": compare_result("cr", 0.777, n=250, p=None)}
    found = replace(found, candidates=(replace(found.candidates[0], at_baseline_size=smaller),))
    page = render_html(found)
    text = words(parsed(page))
    assert "at n = 250 0.300 ±0.020 0.777 ±0.020" in text
    assert "All drawn at n = 250, the largest size of real v real; the table also has n = 500." in text
    assert "only: cr-2 0.777 ±0.020, nrr-2" in page
    assert "only: 0.777 ±0.020" in page
    assert page.count("cr|n:2|tok:words+lower|candidate:250") == 2


def test_another_size_of_real_text_is_said_in_chart_and_table() -> None:
    text = words(parsed(render_html(comparison(real_n=250))))
    assert "Real text has n = 250, candidates n = 500; the value may depend on the size." in text
    assert "0.300 ±0.020 n = 250" in text
    assert "eal text has n =" not in render_html(comparison())


@pytest.mark.parametrize(
    ("metrics", "axes"),
    [
        ([("bleu", 2), ("self_bleu", 2), ("cr", 3), ("nrr", 2), ("nrr", 3)], (2, 4)),
        ([("cr", 2), ("self_bleu", 4), ("bleu", 4)], (2, 1)),
        ([("cnd", 2), ("bleu", 4), ("nrr", 2)], (1, 2)),
        ([("cnd", 2), ("bleu", 4)], None),
    ],
)
def test_the_plane_takes_the_preferred_pair(metrics: list[tuple[str, int]], axes: tuple[int, int] | None) -> None:
    assert plane_axes(comparison(metrics=metrics)) == axes


def test_more_self_bleu_is_drawn_lower() -> None:
    found = comparison(["near", "far"], metrics=[("bleu", 4), ("self_bleu", 4)])
    plane = draw_plane(found)
    assert plane is not None
    assert "reversed axis" in plane.wide
    near = re.search(r'<circle cx="[\d.]+" cy="([\d.]+)" r="5.5" class="mark k0"', plane.wide)
    far = re.search(r'<polygon points="[\d.]+,([\d.]+) [^"]*" class="mark k1"', plane.wide)
    assert near is not None
    assert far is not None
    assert float(far[1]) > float(near[1])  # pixels grow downwards


def test_a_candidate_without_a_place_on_the_plane_is_named() -> None:
    found = comparison(["there", "nowhere"])
    lost = (compare_result("cr", 0.0, undefined="no n-gram"), *found.candidates[1].results[1:])
    page = render_html(replace(found, candidates=(found.candidates[0], candidate("nowhere", lost))))
    assert "Not drawn, because a number is missing on one of the axes: nowhere." in page


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (
            ("collapsed", "differs", "differs", "same"),
            "2 differ from the reference and 1 was not found to differ from the reference.",
        ),
        (("same", "same"), "Of 2 candidates, 2 were not found to differ from the reference."),
        (("collapsed",), "model-0 has collapsed."),
        (("same",), "No difference between model-0 and the reference was found."),
        (("untested",), "model-0 was not tested against the reference."),
        (("differs", "untested"), "1 differs from the reference and 1 was not tested against the reference."),
    ],
)
def test_the_summary_counts_verdicts(levels: tuple[str, ...], sentence: str) -> None:
    found = comparison(NAMES[: len(levels)])
    judged = [replace(c, verdict=Verdict(level, ())) for c, level in zip(found.candidates, levels, strict=True)]
    assert outcome_sentence(replace(found, candidates=tuple(judged))).endswith(sentence)


def test_the_notebook_fragment_touches_nothing_around_it() -> None:
    found = comparison()
    page = parsed(render_notebook(found))
    assert page.elements[0][0] == "div"
    assert not {"script", "style", "html", "h1"} & {tag for tag, _ in page.elements}
    assert not [a for _, a in page.elements if "id" in a]
    assert "0.330 ±0.020*" in words(page)


def test_the_notebook_names_the_level_once() -> None:
    judged = replace(comparison(["only"]).candidates[0], verdict=Verdict.of("differs", "differs from the reference"))
    page = words(parsed(render_notebook(replace(comparison(["only"]), candidates=(judged,)))))
    assert "only : differs from the reference" in page or "only: differs from the reference" in page


def test_hostile_texts_stay_texts_in_the_notebook() -> None:
    page = parsed(render_notebook(hostile_comparison()))
    assert not {"script", "img", "style"} & {tag for tag, _ in page.elements}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "mathjax_ignore" in (page.elements[0][1]["class"] or "")
