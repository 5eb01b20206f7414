"""The HTML report of a conditional study: everything is there, nothing from outside gets through, and it fits."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

import textassay as ta
from tests.report.builders import (
    HOSTILE_MARKUP,
    Page,
    conditional,
    curve,
    hostile_conditional,
    item_set,
    many_items,
    one_candidate,
)
from textassay.corpus.item_set import Item, ItemSet
from textassay.inference.per_item import Miss
from textassay.report.former.charts.item_charts import curves, kind_bar, scatters
from textassay.report.former.conditional import render_html
from textassay.report.former.conditional_items import excerpt, folded, item_views, items_block, profile, worst_first
from textassay.report.former.conditional_table import outcome_sentence
from textassay.report.former.items import MOST_CHARACTERS, readable
from textassay.report.former.table import paired_rows
from textassay.report.former.templates.page import MOST_BYTES
from textassay.studies.conditional.result import KINDS, Conditional, CurvePoint, Sensitivity
from textassay.studies.outcome import Contest

SCRIPTS = ("tools.js", *(f"conditional/{name}.js" for name in ("store", "list", "item_page", "routing")))


def parsed(text: str) -> Page:
    """The page, which must nest."""
    page = Page(text)
    assert page.complaints == []
    return page


def words(text: str) -> str:
    """What is read, with white space made even."""
    return " ".join(parsed(text).text.split())


def embedded(text: str) -> str:
    """The block of JSON as it stands in the page."""
    found = re.findall(r'<script type="application/json" id="items-data">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def unpacked(block: str) -> dict[int, dict[str, Any]]:
    """Items with texts as the script on the page unpacks them: a string is new, a number stands for an earlier one."""
    table: list[str] = []

    def text(value: str | int) -> str:
        if isinstance(value, int):
            return table[value]
        table.append(value)
        return value

    items = {}
    for place, prompt, references, central, candidates, p_values, _, profiles, reasons in json.loads(block)["texts"]:
        items[place] = {
            "prompt": None if prompt is None else text(prompt),
            "references": [text(each) for each in references],
            "central": central,
            "candidates": [[text(each) for each in written] for written in candidates],
            "p": p_values,
            "profiles": profiles,
            "reasons": [{at: text(reason) for at, reason in known.items()} for known in reasons],
        }
    return items


def test_everything_found_stands_on_the_page() -> None:
    text = words(render_html(conditional(sensitivity=True)))
    for expected in (
        "On captions: do candidates vary like references?",
        "Of 2 systems, 2 differ from the references.",
        "beam 10 candidates per item",
        "References per item 1 to 5, mostly 5",
        "Human column 1 v 4 or 2 v 3 references",
        "p-values are exact: all 3,003 ways",
        "no number on 1 of 12 items",
        "too narrow 3 25 %",
        "off target 3 25 %",
        "no difference found 3 25 %",
        "untested 1 8.3 %",
        "too narrow on 3 of 12 items",
        "trm meteor ↓ lower is better",
        "1.31 ±0.020",
        "chance 0.610",
        "p 0.005 ✱, significant",
        "at 2 v 3",
        "at 1 v 4",
        "p Adjusted p z Harmonic mean p Fisher p Simes p Items",
        "Paired differences: 4",
        "log10 of combined p",
        "Fewest texts per item for 80 % power",
        "img-0000",
        "nucleus says 0 of picture 0 × 4",
        "trm|distance:meteor|tok:plain",
        "Labels are exchanged at random within every item",
    ):
        assert expected in text, expected


def test_one_system_is_spoken_of_by_name() -> None:
    found = conditional(("beam",))
    expected = "beam differs from the references. It is too narrow on 25 %, too wide on 17 % and off target on 25 % of"
    assert outcome_sentence(found).startswith(expected)
    untested = replace(found, systems=(replace(found.systems[0], verdict=None, items=()),))
    assert outcome_sentence(untested) == "beam was not tested."


def test_nothing_hostile_becomes_markup() -> None:
    text = render_html(hostile_conditional())
    page = parsed(text)
    assert [attributes.get("type") for attributes in page.tags("script")] == ["application/json", None]
    assert not page.tags("img")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert not [attributes for _, attributes in page.elements if "style" in attributes]
    # As text, each stands in the list for readers without scripts.
    read = " ".join(page.text.split())
    for each in HOSTILE_MARKUP[:3]:
        assert " ".join(each.split()) in read


def test_the_block_cannot_end_its_script_and_reads_back() -> None:
    block = embedded(render_html(hostile_conditional()))
    assert not re.search("[<>&\u2028\u2029\x00-\x1f]", block)
    items = unpacked(block)
    assert len(items) == len(HOSTILE_MARKUP)
    for place, text in enumerate(HOSTILE_MARKUP):
        assert items[place]["references"][0] == readable(text, MOST_CHARACTERS)
        assert items[place]["reasons"][1]["3"] == readable(text, MOST_CHARACTERS)
    assert any("</script>" in text for text in items[1]["references"])


def test_the_policy_lets_exactly_the_own_style_and_script_run() -> None:
    text = render_html(hostile_conditional())
    (policy,) = (str(a["content"]) for a in parsed(text).tags("meta") if "http-equiv" in a)
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
    for kind, content in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_write_text_only(name: str) -> None:
    script = files("textassay.report.former").joinpath("templates", name).read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|fetch\(", script)


def test_ids_are_unique() -> None:
    ids = [a["id"] for _, a in parsed(render_html(conditional(sensitivity=True))).elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_many_items_stay_within_the_limit_and_the_page_says_what_is_left_out() -> None:
    found = many_items(2500, references=3, candidates=4)
    text = render_html(found)
    assert 0.97 * MOST_BYTES < len(text.encode()) <= MOST_BYTES
    data = json.loads(embedded(text))
    assert len(data["rows"]) == 2500
    kept = [entry[0] for entry in data["texts"]]
    assert 500 < len(kept) < 2500
    assert kept == worst_first(found)[: len(kept)]
    said = f"The {len(kept):,} items that differ most come with their texts."
    assert said in words(text)
    assert (
        f"The texts of the other {2500 - len(kept):,} are in the JSON file, because the page would be too large."
        in words(text)
    )


def test_too_many_items_for_the_list_are_said_as_well() -> None:
    found = many_items(300)
    block = items_block(found, room=12_000)
    data = json.loads(block.json)
    assert block.with_texts < block.listed < 300
    assert [row[0] for row in data["rows"]] == sorted(worst_first(found)[: block.listed])
    assert len(block.json.encode()) <= 12_000


def test_no_room_leaves_no_items() -> None:
    block = items_block(conditional(), room=0)
    assert (block.listed, block.with_texts) == (0, 0)
    assert json.loads(block.json)["rows"] == []


def test_one_endless_text_does_not_fill_the_page() -> None:
    items = item_set(12)
    long = replace(items.items[0], references=("word " * 400_000, *items.items[0].references[1:]))
    found = conditional(items=ItemSet.of([long, *items.items[1:]], name="long"))
    text = render_html(found)
    assert len(text.encode()) < 300_000
    assert len(unpacked(embedded(text))[0]["references"][0]) == MOST_CHARACTERS


def test_a_text_is_written_once() -> None:
    text = embedded(render_html(many_items(40)))
    items = unpacked(text)
    repeated = items[0]["candidates"][0]
    assert repeated[:8] == [items[0]["references"][0]] * 8
    assert text.count(repeated[0]) == 1


def test_numbers_of_rows_can_be_read_back() -> None:
    found = conditional()
    data = json.loads(items_block(found, room=10**6).json)
    place, name, beam, _ = data["rows"][0]
    outcome = found.systems[0].items[0]
    kind, spread, away, p, *estimates = beam
    assert (place, name, data["kinds"][kind]) == (0, "img-0000", "too narrow")
    assert (spread / 100, away / 100) == pytest.approx((outcome.miss.spread, outcome.miss.place), abs=0.005)
    assert p / 10_000 == outcome.miss.p_value
    scaled = [value / 10**digits for value, digits in zip(estimates, data["decimals"], strict=True)]
    assert scaled == pytest.approx([result.estimate for result in outcome.results], rel=0.01)
    untested = data["rows"][6][2]
    assert data["kinds"][untested[0]] == "untested"
    assert untested[1:4] == [None, None, None]


def test_a_system_without_an_item_has_nothing_there() -> None:
    found = conditional()
    short = replace(found.systems[1], items=found.systems[1].items[1:])
    text = render_html(replace(found, systems=(found.systems[0], short)))
    data = json.loads(embedded(text))
    assert data["rows"][0][3] == 0
    assert data["rows"][1][3] != 0


def test_the_profile_of_triangles_goes_along() -> None:
    found = many_items(5)
    data = json.loads(items_block(found, room=10**6).json)
    assert [data["labels"][at] for at in data["profiled"]] == ["trm meteor", "trm edit"]
    assert data["sides"] == ["references", "candidates"]
    wanted = found.systems[1].items[3].results[2].parts
    shares = unpacked(json.dumps(data))[3]["profiles"][1][0]
    assert shares == [round(100 * value) for value in wanted.values()]


def test_a_rank_that_is_never_counted_is_not_a_number() -> None:
    result = replace(many_items(1).systems[0].results[0], parts={"a_b_shorter": 0.5, "a_b_between": 0.5, "chance": 1.0})
    found = profile(result)
    assert list(found) == ["a_b"]
    assert found["a_b"][:2] == (0.5, 0.5)
    assert math.isnan(found["a_b"][2])


def test_readers_without_scripts_get_the_worst_items() -> None:
    found = many_items(60)
    page = parsed(render_html(found))
    worst = worst_first(found)
    text = " ".join(page.text.split())
    assert "The 25 items that differ most, with their texts side by side" in text
    for place, shown in ((worst[0], True), (worst[24], True), (worst[25], False)):
        assert (found.items.items[place].references[0] in text) is shown


def test_without_measured_differences_no_item_is_said_to_differ_most() -> None:
    page = render_html(one_candidate())
    text = words(page)
    assert "All items, with their texts side by side" in text
    assert "How single items differ was not measured" in text
    assert "difference not measured; score edit" in text
    assert "differ most" not in text.split("How to read this")[0]
    assert 'id="strip-0' in page
    assert 'id="strip-1' not in page


def test_the_limits_of_exact_tests_are_given_in_words() -> None:
    assert "Tests exact up to 5,000 labellings per item Resamples" in words(render_html(one_candidate()))
    items = [{"candidates": ["a cat", "a dog"], "references": ["a dog", "a bird"]}] * 2
    found = ta.conditional(
        items, metrics="trm:distance=edit,mmd,frechet", encoder="lsa", n_resamples=19, partitions=200_000
    )
    limits = "trm, mmd: exact up to 200,000 labellings per item; frechet: exact up to 20,000 labellings per item"
    assert f"Tests {limits} Resamples" in words(render_html(found))
    assert "exact-up-to-20000|" in found.systems[0]["frechet"].signature


def test_repeats_are_folded_and_marked() -> None:
    texts = folded(["a", "b", "a", "a"], central="b", shared=["a"])
    assert [(t.text, t.count, t.central, t.shared) for t in texts] == [("a", 3, False, True), ("b", 1, True, False)]


def test_views_cut_what_is_too_much_and_count_it() -> None:
    (view,) = item_views(conditional(), [0], texts=2, characters=8)
    assert [text.text for text in view.references] == ["referen…", "referen…"]
    assert view.more == 3
    assert [side.more for side in view.sides] == [1, 1]


def test_an_item_is_told_by_its_prompt_or_else_its_first_reference() -> None:
    assert excerpt(Item("1", ("a cat",), {}, "what\n  is it?")) == "what is it?"
    assert excerpt(Item("1", ("a cat",), {})) == "a cat"
    assert excerpt(Item("1", (), {})) == ""


def test_farthest_first_over_all_systems() -> None:
    found = conditional(count=4)
    far = Miss("elsewhere", 0.0, 50.0, 0.001)
    second = replace(found.systems[1].items[2], miss=far)
    items = (*found.systems[1].items[:2], second, *found.systems[1].items[3:])
    found = replace(found, systems=(found.systems[0], replace(found.systems[1], items=items)))
    assert worst_first(found)[0] == 2


def test_what_a_test_found_comes_before_what_only_looks_far() -> None:
    found = conditional(("only",), count=4)
    items = list(found.systems[0].items)
    items[1] = replace(items[1], miss=Miss("same", 1.9, 0.0, 0.2))
    items[3] = replace(items[3], miss=Miss("too wide", -0.4, 0.0, 0.01))
    found = replace(found, systems=(replace(found.systems[0], items=tuple(items)),))
    assert worst_first(found)[-1] == 1


def test_the_bar_is_shared_out_by_counts() -> None:
    bar = kind_bar(dict(zip(KINDS, (0, 50, 0, 25, 0, 0, 25, 0), strict=True)))
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', bar)]
    assert widths == pytest.approx([298.5, 148.5, 148.5])


def test_scatter_counts_what_it_cannot_draw() -> None:
    chart = scatters(conditional(count=14), cell=2.0)[0]
    assert chart.missing == 2
    assert 'class="narrow-kind"' in chart.chart
    assert 'class="untested-kind"' not in chart.chart


def test_scatters_of_many_items_stay_small() -> None:
    charts = scatters(many_items(4000, references=1, candidates=1), cell=4.0)
    assert max(len(chart.chart) for chart in charts) < 80_000


def test_nothing_tested_draws_no_scatter() -> None:
    found = conditional(count=8)
    blank = Miss("untested", math.nan, math.nan, math.nan)
    systems = [replace(s, items=tuple(replace(i, miss=blank) for i in s.items)) for s in found.systems]
    found = replace(found, systems=tuple(systems))
    assert scatters(found, cell=2.0) == []
    assert "How items differ" not in words(render_html(found))


def test_curves_say_what_power_needs() -> None:
    (drawn,) = curves([curve("beam", needed=None)])
    assert drawn.references == 5
    assert [(need.candidates, need.references) for need in drawn.needs] == [("more", "3")]
    assert drawn.needs[0].power == pytest.approx(1 - 0.5**10)
    assert drawn.chart is not None
    assert "p 0.32 at 1 and &lt;0.001 at 10 candidates" in drawn.chart


def test_curves_without_numbers_or_with_zeros_are_drawn_as_far_as_they_go() -> None:
    nothing = CurvePoint("trm", 1, 5, 10, math.nan, math.nan, math.nan)
    zero = CurvePoint("trm", 2, 5, 10, 0.0, 1.0, 1.0)
    empty, some = curves([Sensitivity("a", 0.95, 0.8, points, {"trm": {}}) for points in ((nothing,), (nothing, zero))])
    assert empty.chart is None
    assert some.chart is not None


def test_contests_are_adjusted_and_name_who_is_ahead() -> None:
    contests = (
        Contest("a", "b", "trm meteor", 0.2, 0.1, 0.3, 0.001),
        Contest("a", "b", "score meteor", 0.5, 0.4, 0.6, 0.001),
        Contest("a", "human", "mmd", 0.01, -0.1, 0.1, 0.3),
        Contest("a", "human", "trm edit", math.nan, math.nan, math.nan, math.nan),
    )
    rows = paired_rows(conditional(contests=contests), conditional(contests=contests).contests)
    assert [(row.contest.label, row.ahead) for row in rows] == [
        ("score meteor", "a"),
        ("trm meteor", "b"),
        ("mmd", ""),
        ("trm edit", ""),
    ]
    assert [row.adjusted for row in rows[:3]] == pytest.approx([0.003, 0.003, 0.3])


def test_strips_draw_what_compares_with_people() -> None:
    text = render_html(conditional())
    assert "All drawn at 1 v 4 texts per item, the largest size with a human value" in words(text)
    assert "All drawn at" not in words(render_html(conditional(small=False)))


def test_a_human_value_at_other_sizes_is_not_drawn() -> None:
    found = conditional(("only",), small=False)
    only = found.systems[0]
    sizes = {"candidates": 1.0, "references": 5.0}
    other = replace(only, results=tuple(replace(r, parts={**r.parts, **sizes}) for r in only.results))
    text = render_html(replace(found, systems=(other,)))
    assert "human: not comparable: 2 v 3 against 1 v 5" in words(text)
    assert "human: not comparable: 1 v 4 against 1 v 5" in words(text)
    assert 'class="band"' not in text
    assert "<small>2 v 3</small>" in text
    same = {"candidates": 2.0, "references": 3.0}
    equal = replace(only, results=tuple(replace(r, parts={**r.parts, **same}) for r in only.results))
    drawn = render_html(replace(found, systems=(equal,)))
    assert "2 v 3 against" not in words(drawn)
    assert 'class="band"' in drawn


def test_the_human_column_is_explained_without_rows_that_do_not_exist() -> None:
    start = "compares part of an item's references with the others. Each row shows the sizes (candidates v references)."
    with_rows, without = words(render_html(conditional())), words(render_html(conditional(small=False)))
    assert start in with_rows
    assert start in without
    assert "The rows “at” such sizes" in with_rows
    assert "The rows “at” such sizes" not in without
    assert "The texts of all 12 items are included." in without


@pytest.mark.parametrize(
    "found",
    [
        conditional(("only",), half=None, p=None, small=False),
        conditional(count=1),
        conditional(contests=(), notes=()),
        replace(conditional(("only",)), systems=(replace(conditional(("only",)).systems[0], verdict=None),)),
    ],
    ids=["bare", "one item", "no contests", "not judged"],
)
def test_less_than_everything_is_a_page_as_well(found: Conditional) -> None:
    assert "How to read this" in words(render_html(found))


def test_the_same_study_is_the_same_page() -> None:
    assert render_html(conditional(sensitivity=True)) == render_html(conditional(sensitivity=True))


def test_dozens_of_systems_fit() -> None:
    found = conditional(tuple(f"a long name of a system {at}" for at in range(40)), count=30, sensitivity=True)
    assert len(render_html(found).encode()) <= MOST_BYTES
