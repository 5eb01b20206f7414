"""The HTML report of a HUSE study: everything is there, nothing from outside gets through, and it fits."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

from tests.report.builders import HOSTILE_MARKUP, Page, huse_study, undefined
from textassay.inference.result import Interval
from textassay.report.former.charts.decision_map import draw_map
from textassay.report.former.charts.score_charts import score_cards
from textassay.report.former.huse import huse_settings, render_html
from textassay.report.former.huse_items import clearest, clearest_first, entries, groups, huse_block
from textassay.report.former.huse_scores import chosen_k, outcome_sentence, rater_section, tie_rule
from textassay.report.former.items import MOST_CHARACTERS, embedded, fitting, readable
from textassay.report.former.templates.page import MOST_BYTES
from textassay.studies.finding import Verdict
from textassay.studies.huse.result import KINDS, DecisionMap, HuseResult

SCRIPTS = ("huse/store.js", "huse/list.js", "huse/map.js", "huse/static.js")


def parsed(text: str) -> Page:
    """The page, which must nest."""
    page = Page(text)
    assert page.complaints == []
    return page


def words(text: str) -> str:
    """What is read, with white space made even."""
    return " ".join(parsed(text).text.split())


def data(text: str) -> Any:
    """The block of JSON that scripts read."""
    found = re.findall(r'<script type="application/json" id="huse-data">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def unpacked(block: Any) -> dict[int, tuple[str | None, str | None]]:
    """Context and text of items by their place, as the script on the page unpacks them."""
    table: list[str] = []

    def text(value: str | int | None) -> str | None:
        if isinstance(value, str):
            table.append(value)
        return table[value] if isinstance(value, int) else value

    found = {}
    for rows, (context, *texts) in zip(block["entries"], block["texts"], strict=False):
        shared = text(context)
        for row, each in zip(rows, texts, strict=True):
            found[row[0]] = (shared, text(each))
    return found


def test_everything_found_stands_on_the_page() -> None:
    found = huse_study(200)
    text = words(render_html(found))
    huse, huse_q, huse_d = (result.estimate for result in found.results)
    human = sum(each.kind == KINDS[0] and not each.item.is_model for each in found.items)
    model = sum(each.kind == KINDS[0] and each.item.is_model for each in found.items)
    for expected in (
        "Can pointer net be distinguished from people on headlines?",
        "Differs",
        "told from people (HUSE 0.55, p 0.001)",
        f"{huse:.2f} {huse - 0.11:.2f} to {huse + 0.13:.2f}, 95 % interval",
        f"the nearest neighbours assign the wrong source to {50 * huse:.0f} % of texts; guessing would give 50 %",
        "Indistinguishable texts would score 0.98, 0.84 to 1.12 in 95 % of cases. p 0.001",
        "p 0.001: the probability that indistinguishable texts score this low.",
        f"the source of a further {50 * (1 - huse_d):.1f} % of texts is identified",
        "No p-value: no exchange of sources removes only the difference in diversity; read the interval",
        "Caveats 3 human items had no partner",
        "Items 100 human, 100 from the model",
        "Ratings 4,000 by 20 raters",
        "Scale 1 (Invalid) to 6 (Very Typical)",
        "Neighbours k = 16",
        "other tasks with other texts and raters",
        f"{human + model}",
        f"{human} human, {model} from the model",
        "The texts of all 200 items are included. Clear examples come first, with all kinds and both sources mixed.",
        "Ties: all items at the distance of the k-th nearest also vote",
        "twice the items would narrow the interval from ±0.12 to ±0.085",
        "Krippendorff's alpha is 0.34 [0.27, 0.41] (95 % interval), 0.36 if only the order",
        "Krippendorff suggests 0.8 for firm and 0.667 for tentative conclusions; these limits are a convention",
        "2 of 20 raters are flagged, for one of two reasons: less agreement with the others than raters have who answer"
        " up to two of five items at random, or nearly always the same answer. Raters with fewer than 10 ratings",
        "r019 gave 6 every time",
        f"{huse_q:.2f} [{huse_q - 0.11:.2f}, {huse_q + 0.13:.2f}]",
        "a high one does not prove that it is good",
        "HUSE-D above 1 is noise",
        "Hashimoto, Hugh Zhang, Percy Liang",
        "huse_d|k:16|variant:released|per:token",
    ):
        assert expected in text, expected


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [("same", "could not be distinguished"), ("untested", "was not tested"), ("what else", "was not tested")],
)
def test_verdicts_have_words(verdict: str, expected: str) -> None:
    found = replace(huse_study(), verdict=Verdict(verdict, ()))
    assert expected in outcome_sentence(found)
    assert expected in words(render_html(found))


def test_a_nameless_model_is_called_so() -> None:
    found = replace(huse_study(), rated=replace(huse_study().rated, model="model"))
    assert outcome_sentence(found) == "The model can be distinguished from people."
    assert "Can the model be distinguished from people" in words(render_html(found))


def test_the_level_is_the_studys_own() -> None:
    text = words(render_html(huse_study(level=0.9)))
    assert "90 % interval" in text
    assert "95 %" not in text


def test_what_has_no_number_says_why() -> None:
    found = huse_study()
    gone = replace(found, results=(*found.results[:2], undefined(found.results[2], "HUSE or HUSE-Q is not defined")))
    text = words(render_html(gone))
    assert "No number: HUSE or HUSE-Q is not defined" in text
    assert "This chart needs a number for both HUSE-Q and HUSE-D." in text
    infinite = replace(found.results[0], estimate=math.inf)
    assert score_cards(replace(found, results=(infinite, *found.results[1:])))[0].undefined == "unknown reason"


@pytest.mark.parametrize(
    ("estimate", "high", "expected"),
    [
        (1.08, 1.2, "no lack of diversity was found. A value above 1 is noise."),
        (1.0, 1.2, "no lack of diversity was found."),
        (0.9, 1.02, "a further 5.0 % of texts is identified. This may be chance, because the interval includes 1."),
        (0.7, 0.9, "a further 15 % of texts is identified: the model does not write some of what people write."),
    ],
)
def test_diversity_in_words(estimate: float, high: float, expected: str) -> None:
    found = huse_study()
    interval = found.results[2].interval
    assert interval is not None
    result = replace(found.results[2], estimate=estimate, interval=replace(interval, high=high))
    assert score_cards(replace(found, results=(*found.results[:2], result)))[2].meaning.endswith(expected)


def test_no_better_than_a_guess_is_said() -> None:
    found = huse_study()
    result = replace(found.results[0], estimate=1.02)
    assert (
        "no better than a random guess" in score_cards(replace(found, results=(result, *found.results[1:])))[0].meaning
    )


def test_scores_stand_in_their_order_and_variants_behind() -> None:
    found = huse_study()
    again = replace(found.results[0], options={"k": 8})
    mixed = replace(
        found,
        labels=("huse_d", "huse", "huse k=8", "huse_q"),
        results=(found.results[2], found.results[0], again, found.results[1]),
    )
    assert [card.title for card in score_cards(mixed)] == ["HUSE", "HUSE-Q", "HUSE-D", "HUSE k=8"]
    assert chosen_k(mixed) == 16


def test_mean_ratings_leave_raters_unknown() -> None:
    text = words(render_html(huse_study(raters=False)))
    assert "The file has one mean rating per item and no single ratings." in text
    assert "Ratings one mean per item" in text
    assert "fewer ratings per item could not be measured" in text
    assert "Flagged" not in text


def test_no_flag_no_second_result() -> None:
    found = huse_study()
    assert found.agreement is not None
    fine = tuple(replace(rater, reason="") for rater in found.agreement.raters)
    calm = replace(found, agreement=replace(found.agreement, raters=fine, without=()))
    assert "None of the 20 raters is flagged for answers that look random" in words(render_html(calm))
    few = replace(found, agreement=replace(found.agreement, without=()))
    assert "too few ratings would be left" in words(render_html(few))
    unknown = replace(found, agreement=replace(found.agreement, raters=(), without=()))
    assert "The file does not record who gave which rating" in words(render_html(unknown))


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.85, "reliable"),
        (0.7, "only tentative conclusions"),
        (0.3, "not reliable"),
        (-0.1, "no better than by chance"),
        (math.nan, "cannot be computed"),
    ],
)
def test_alpha_in_words(alpha: float, expected: str) -> None:
    found = huse_study()
    assert found.agreement is not None
    found = replace(found, agreement=replace(found.agreement, alpha=alpha, interval=None))
    section = rater_section(found, most=5)
    assert section is not None
    assert expected in section.meaning
    assert ('aria-labelledby="alpha-title' in render_html(found)) != math.isnan(alpha)
    assert (len(section.rows), section.left_out) == (5, 15)
    assert [rater.name for rater in section.flagged] == ["r019", "r018"]


def test_nothing_hostile_becomes_markup() -> None:
    text = render_html(huse_study(hostile=True))
    page = parsed(text)
    assert [attributes.get("type") for attributes in page.tags("script")] == ["application/json", None]
    assert not page.tags("img")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert not [attributes for _, attributes in page.elements if "style" in attributes]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    read = " ".join(page.text.split())
    for each in HOSTILE_MARKUP[:3]:
        assert " ".join(each.split()) in read


def test_the_block_cannot_end_its_script_and_reads_back() -> None:
    found = huse_study(hostile=True)
    text = render_html(found)
    (block,) = re.findall(r'id="huse-data">(.*?)</script>', text, re.DOTALL)
    assert not re.search("[<>&\u2028\u2029\x00-\x1f]", block)
    items = unpacked(data(text))
    assert len(items) == 40
    for place, (context, written) in items.items():
        item = found.items[place].item
        assert context == readable(item.context or "", MOST_CHARACTERS)
        assert written == readable(item.text or "", MOST_CHARACTERS)


def test_the_policy_lets_exactly_the_own_style_and_script_run() -> None:
    text = render_html(huse_study(hostile=True))
    (policy,) = (str(a["content"]) for a in parsed(text).tags("meta") if "http-equiv" in a)
    for kind in ("style", "script"):
        content = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_write_text_only(name: str) -> None:
    script = files("textassay.report.former").joinpath("templates", name).read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|fetch\(", script)


def test_ids_are_unique() -> None:
    ids = [a["id"] for _, a in parsed(render_html(huse_study())).elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_same_study_is_the_same_page() -> None:
    assert render_html(huse_study()) == render_html(huse_study())


def test_ten_thousand_items_stay_within_the_limit_and_the_page_says_what_is_left_out() -> None:
    found = huse_study(10_000)
    text = render_html(found)
    assert 0.97 * MOST_BYTES < len(text.encode()) <= MOST_BYTES
    block = data(text)
    assert sum(map(len, block["entries"])) == 10_000
    kept = len(unpacked(block))
    assert 1_000 < kept < 10_000
    assert f"The texts of the {kept:,} clearest examples are included." in words(text)
    assert (
        f"The texts of the other {10_000 - kept:,} are in the JSON file, because the page would be too large."
        in words(text)
    )
    # Whatever the list begins with, no kind of item is left without texts.
    assert {found.items[place].kind for place in unpacked(block)} == set(KINDS)


def test_too_many_items_for_the_list_are_said_as_well() -> None:
    found = huse_study(200)
    block = huse_block(found, draw_map(found, cell=0.0), room=8_000)
    assert 0 < block.with_texts < block.listed < 200
    assert len(block.json.encode()) <= 8_000
    listed = [[row[0] for row in rows] for rows in json.loads(block.json)["entries"]]
    assert listed == [list(places) for places in clearest_first(found)[: len(listed)]]


def test_no_room_leaves_no_items() -> None:
    block = huse_block(huse_study(), None, room=0)
    assert (block.listed, block.with_texts) == (0, 0)
    assert json.loads(block.json)["maps"] == {}


def test_one_endless_text_does_not_fill_the_page() -> None:
    found = huse_study()
    long = replace(found.items[0], item=replace(found.items[0].item, text="word " * 400_000))
    text = render_html(replace(found, items=(long, *found.items[1:])))
    assert len(text.encode()) < 300_000
    assert len(unpacked(data(text))[0][1] or "") == MOST_CHARACTERS


def test_numbers_of_rows_can_be_read_back() -> None:
    found = huse_study()
    rows = {row[0]: row for rows in data(render_html(found))["entries"] for row in rows}
    for place, each in enumerate(found.items):
        _, name, is_model, kind, rating, log_prob, votes, by_rating, count, by_log_prob = rows[place]
        assert (name, is_model, KINDS[kind], count) == (each.item.id, each.item.is_model, each.kind, each.n_ratings)
        assert (rating / 1000, log_prob / 1000) == pytest.approx((each.rating, each.log_prob), abs=0.0006)
        assert (votes / 100, by_rating / 100) == pytest.approx((each.votes, each.votes_by_rating), abs=0.006)
        assert by_log_prob / 100 == pytest.approx(each.votes_by_log_prob, abs=0.006)


def test_texts_on_one_context_stand_together_the_models_first() -> None:
    found = huse_study()
    assert entries(found)[:2] == [(1, 0), (3, 2)]
    assert len(entries(found)) == 20
    alone = [replace(each, item=replace(each.item, context=None)) for each in found.items]
    assert entries(replace(found, items=tuple(alone))) == [(place,) for place in range(40)]
    blank = [replace(each, item=replace(each.item, context=" ")) for each in found.items]
    assert len(entries(replace(found, items=tuple(blank)))) == 40


def test_a_context_of_one_source_or_of_a_whole_task_makes_no_pair() -> None:
    found = huse_study()
    task = [replace(each, item=replace(each.item, context="write a headline")) for each in found.items]
    assert len(entries(replace(found, items=tuple(task)))) == 40
    people = [replace(each, item=replace(each.item, is_model=False)) for each in found.items]
    assert len(entries(replace(found, items=tuple(people)))) == 40


def test_the_clearest_of_a_kind_come_first_sources_taking_turns() -> None:
    found = huse_study(200)
    places = [place for entry in clearest(found, KINDS[0], 4) for place in entry]
    highest = {
        is_model: max(e.votes_by_rating for e in found.items if e.kind == KINDS[0] and e.item.is_model == is_model)
        for is_model in (False, True)
    }
    shown = [found.items[place] for place in places if found.items[place].kind == KINDS[0]]
    for is_model, most in highest.items():
        assert most in [each.votes_by_rating for each in shown if each.item.is_model == is_model]
    assert len(clearest(found, KINDS[0], 4)) == 4


def test_kinds_are_counted_by_source() -> None:
    found = huse_study(200)
    counted = groups(found)
    assert [group.kind for group in counted] == list(KINDS)
    assert sum(group.human for group in counted) == sum(group.model for group in counted) == 100
    assert sum(group.share for group in counted) == pytest.approx(1)


def test_readers_without_scripts_get_the_most_telling_of_each_kind() -> None:
    found = huse_study(200)
    text = words(render_html(found))
    for kind in KINDS:
        for entry in clearest(found, kind, 8):
            for place in entry:
                assert str(found.items[place].item.text) in text


def test_items_without_texts_say_so() -> None:
    found = huse_study()
    bare = tuple(replace(each, item=replace(each.item, text=None, context=None)) for each in found.items)
    text = render_html(replace(found, items=bare))
    assert "(no text in the file)" in words(text)
    assert set(unpacked(data(text)).values()) == {(None, None)}


def test_tie_rules_are_said_in_words() -> None:
    found = huse_study()
    for variant, expected in (("fair", "half an error"), ("exact", "exactly the distance"), ("another", "")):
        results = tuple(replace(result, options={"k": 16, "variant": variant}) for result in found.results)
        assert expected in tie_rule(replace(found, results=results))
        assert ("Ties", variant) in huse_settings(replace(found, results=results))


def test_less_than_everything_is_a_page_as_well() -> None:
    found = huse_study()
    empty = HuseResult(
        rated=replace(found.rated, items=()),
        labels=found.labels,
        results=tuple(undefined(result, "no items") for result in found.results),
        items=(),
        by_k=(),
        stability=(),
        outlook=(),
        agreement=None,
        decision_map=DecisionMap((), (), ()),
        cloud=(),
        verdict=Verdict("untested", ()),
        level=0.95,
        notes=(),
    )
    text = words(render_html(empty))
    for expected in (
        "No number: no items",
        "so there is no map",
        "were not measured with other numbers",
        "was not measured",
    ):
        assert expected in text
    assert "No parts of the ratings were measured." in text


def test_results_without_interval_test_or_chance_are_a_page_as_well() -> None:
    found = huse_study()
    bare = tuple(replace(result, interval=None, p_value=None, parts={}) for result in found.results)
    text = words(render_html(replace(found, results=bare, cloud=())))
    assert "no interval" in text
    assert "Indistinguishable texts" not in text


def test_one_item_beyond_the_votes_has_dashes() -> None:
    found = huse_study()
    lost = replace(found.items[0], votes=math.nan, votes_by_rating=math.nan, share_model=math.nan)
    text = render_html(replace(found, items=(lost, *found.items[1:])))
    rows = {row[0]: row for rows in data(text)["entries"] for row in rows}
    assert rows[0][6:8] == [None, None]
    assert "nan" not in words(text)


def test_parts_fit_into_the_room_there_is() -> None:
    parts = [["one"], ["two"], ["a longer one"]]
    kept, left = fitting(parts, 2 * (len(embedded(["one"])) + 1) + 3)
    assert (kept, left) == ([["one"], ["two"]], 3)


def test_no_trend_is_promised_beyond_the_data() -> None:
    text = words(render_html(huse_study()))
    assert "would fall further" not in text
    assert "The curves do not show how the scores would continue with more data" in text


def test_no_line_ends_between_a_number_and_its_percent_sign() -> None:
    found = huse_study(200)
    found = replace(found, verdict=Verdict.of("differs", "74 % of them are told"), notes=("5 % of them are odd",))
    page = parsed(render_html(found))
    assert "74\N{NO-BREAK SPACE}% of them are told" in page.text
    assert "5\N{NO-BREAK SPACE}% of them are odd" in page.text
    assert re.search(r"\d\N{NO-BREAK SPACE}% interval", page.text)
    # Charts have their own words, which are read out and not broken.
    seen = re.sub(r"<svg.*?</svg>", "", render_html(found), flags=re.DOTALL)
    assert re.findall(r".{0,30}\d %.{0,20}", parsed(seen).text) == []


def test_the_cards_share_one_line() -> None:
    """With other ranges behind each score, 1 is at the same place on all three."""
    found = huse_study()
    wide = replace(found.results[0], parts={**found.results[0].parts, "chance_high": 1.6})
    low = replace(found.results[2], interval=Interval(-0.4, 1.0, 0.95, "bootstrap"))
    cards = score_cards(replace(found, results=(wide, found.results[1], low)))
    places = [re.findall(r'<text x="([\d.]+)"[^>]*class="tick">([\d.]+)<', str(card.gauge)) for card in cards]
    assert [value for _, value in places[0]] == ["0", "0.5", "1"]
    assert places[0] == places[1] == places[2]


def test_raters_that_are_left_out_are_in_no_number() -> None:
    found = huse_study()
    assert found.agreement is not None
    assert "flagged raters are included in all numbers above" in words(render_html(found))
    rated = found.rated
    kept = rated.rater_of < 18
    cut = replace(rated, item_of=rated.item_of[kept], rater_of=rated.rater_of[kept], ratings=rated.ratings[kept])
    left = replace(found, rated=cut, agreement=replace(found.agreement, without=()))
    text = words(render_html(left))
    assert "flagged raters are left out of all numbers above" in text
    assert "too few ratings would be left" not in text
    assert ("Ratings", "720 by 18 raters") in huse_settings(left)


def test_one_rating_an_item_is_said_where_fewer_cannot_be_tried() -> None:
    found = huse_study()
    alone = tuple(point for point in found.stability if point.along == "items")
    assert "No item has more than one rating, so fewer could not be measured." in words(
        render_html(replace(found, stability=alone))
    )
    assert "so fewer could not be measured" not in words(render_html(found))


def test_the_page_names_the_method_of_intervals() -> None:
    found = replace(huse_study(), settings={"interval": "bootstrap over contexts and ratings"})
    assert "Intervals come from a bootstrap over contexts and ratings." in words(render_html(found))
