"""The document of a HUSE study: its scores in words, charts, items by kind, and raters."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.report.builders import huse_study, undefined
from textassay.document.blocks import Block, Items, Notes, Row, Table, walk
from textassay.document.plot import Band, Cells, Dots, Marks, Names
from textassay.document.words import two_decimals
from textassay.studies.finding import NO_TEST, Finding, Verdict
from textassay.studies.huse import tables, words
from textassay.studies.huse.document import document
from textassay.studies.huse.item_list import clearest, items_blocks, items_together
from textassay.studies.huse.plots import (
    LANDMARKS,
    map_plot,
    neighbours_plot,
    plane_plot,
    score_plot,
    stability_plot,
)
from textassay.studies.huse.result import KINDS, HuseResult


def with_scores(*estimates: float) -> HuseResult:
    """The study with these scores."""
    found = huse_study()
    results = [replace(each, estimate=value) for each, value in zip(found.results, estimates, strict=True)]
    return replace(found, results=tuple(results))


def texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


def section(found: HuseResult, name: str) -> list[Block]:
    return [block for each in document(found).sections if each.id == name for block in walk(each.blocks)]


def table_of(blocks: Sequence[Block]) -> Table:
    return next(block for block in blocks if isinstance(block, Table))


class TestSummary:
    def test_each_score_has_a_row_with_its_meaning(self) -> None:
        summary = document(with_scores(0.53, 0.58, 0.95)).summary
        assert [(row.name, row.cells[0].text, row.stands_out) for row in summary.rows] == [
            ("HUSE", "0.53", "74 % identified by rating and probability"),
            ("HUSE-Q", "0.58", "71 % identified by rating alone"),
            ("HUSE-D", "0.95", "a further 2.5 % identified with the probability"),
        ]
        assert summary.question == "Can pointer net be distinguished from people?"
        assert summary.context.startswith("headlines: 40 items (20 human, 20 pointer net), 800 ratings by 20 raters")

    def test_the_sentence_says_whether_and_by_what(self) -> None:
        found = replace(
            huse_study(),
            verdict=Verdict.of(
                "differs",
                Finding("distinguished", "huse", 0.74, adjusted_p=0.01, parts={"tests": 2}),
                details=[
                    Finding("quality differs", "huse_q", 0.58, parts={"rating_model": 3.7, "rating_human": 4.3}),
                    Finding("no loss of diversity", "huse_d", 0.95, (0.8, 1.1)),
                ],
            ),
        )
        shown = document(found).summary
        wanted = "Yes: 74 % of texts are classified correctly; they differ in quality; no loss of diversity was found."
        assert shown.sentence == wanted
        assert [len(row.why) for row in shown.rows] == [1, 1, 1]
        assert "mean rating 3.70 for the model" in shown.rows[1].why[0]

    @pytest.mark.parametrize(
        ("verdict", "sentence"),
        [
            (Verdict.of("same", "words of an older file"), "No difference between human and model texts was found."),
            (Verdict.of("untested", NO_TEST), "Estimates only: no test was run."),
        ],
    )
    def test_other_outcomes(self, verdict: Verdict, sentence: str) -> None:
        assert document(replace(huse_study(), verdict=verdict)).summary.sentence == sentence

    def test_scores_are_judged_by_their_test_and_diversity_by_its_interval(self) -> None:
        found = huse_study()
        assert [row.decision for row in document(found).summary.rows][:2] == ["differs", "differs"]
        diversity = found.results[2]
        assert diversity.interval is not None
        for high, decision in ((0.99, "differs"), (1.0, "same")):
            result = replace(diversity, interval=replace(diversity.interval, high=high))
            rows = document(replace(found, results=(*found.results[:2], result))).summary.rows
            assert rows[2].decision == decision
        bare = tuple(replace(each, interval=None, p_value=None, parts={}) for each in found.results)
        summary = document(replace(found, results=bare, verdict=Verdict.of("untested", NO_TEST))).summary
        assert [row.decision for row in summary.rows] == ["untested"] * 3
        assert summary.columns == ("value",), "nothing is known of chance"

    def test_random_raters_are_a_caveat_with_the_option_that_leaves_them_out(self) -> None:
        found = huse_study()
        (caveat,) = [each for each in document(found).summary.caveats if "random" in each]
        assert caveat.startswith("2 of 20 raters look random; without them HUSE")
        assert caveat.endswith("--without-flagged leaves them out.")

    def test_a_score_without_a_number_has_its_reason(self) -> None:
        found = huse_study()
        found = replace(found, results=(*found.results[:2], undefined(found.results[2], "fewer than 32 items")))
        summary = document(found).summary
        assert summary.rows[2].cells[0].text == "–"
        assert summary.caveats[0] == "HUSE-D: no number: fewer than 32 items."

    def test_notes_are_stated_once(self) -> None:
        found = huse_study()
        shown = document(replace(found, rated=replace(found.rated, notes=found.notes)))
        assert str((shown.summary, shown.notes)).count(found.notes[0][1:]) == 1

    def test_results_with_other_options_come_last(self) -> None:
        found = huse_study()
        order = (2, 0, 1, 0)
        labels = ("huse_d", "huse", "huse_q", "huse k=8")
        again = replace(found, labels=labels, results=tuple(found.results[at] for at in order), agreement=None)
        assert [row.name for row in document(again).summary.rows] == ["HUSE", "HUSE-Q", "HUSE-D", "HUSE k=8"]
        assert document(again).names[document(again).summary.rows[0].candidate] == "HUSE"


class TestWords:
    def test_a_score_in_words(self) -> None:
        huse, huse_q, huse_d = with_scores(0.53, 0.58, 0.95).results
        assert words.in_words(replace(huse_d, estimate=1.02)) == "the probability adds nothing"
        assert words.in_words(undefined(huse, "too few")) == "no number"
        assert "no better than a random guess" in words.meaning(replace(huse_q, estimate=1.1))
        assert words.meaning(replace(huse_d, estimate=1.1)).endswith("A value above 1 is noise.")

    def test_sizes_without_single_ratings(self) -> None:
        wanted = "40 items (20 human, 20 pointer net), mean ratings only, between 1 and 6"
        assert words.sizes_text(huse_study(raters=False)) == wanted

    def test_raters_that_were_left_out_are_not_counted(self) -> None:
        found = huse_study()
        rated = found.rated
        kept = rated.rater_of < 18
        cut = replace(rated, item_of=rated.item_of[kept], rater_of=rated.rater_of[kept], ratings=rated.ratings[kept])
        found = replace(found, rated=cut)
        assert "720 ratings by 18 raters" in words.sizes_text(found)
        assert "2 of 20 raters look random and are left out" in str(section(found, "raters"))
        assert not any("random" in caveat for caveat in document(found).summary.caveats)

    def test_where_one_score_has_no_test_a_dash_stands(self) -> None:
        found = huse_study()
        results = (*found.results[:2], replace(found.results[2], p_value=None))
        assert words.p_texts(replace(found, results=results)) == ["0.001", "0.001", "–"]
        untested = tuple(replace(result, p_value=None) for result in found.results)
        assert words.p_texts(replace(found, results=untested)) == ["", "", ""]


class TestTables:
    def test_scores_have_their_intervals_and_what_chance_gives(self) -> None:
        found = huse_study()
        table = tables.score_table(found)
        for row, result in zip(table.rows, found.results, strict=True):
            assert row.cells[1].spread == words.interval_text(result.interval)
        assert table.rows[0].cells[3].text == two_decimals(found.results[0].parts["chance"])
        method = "bootstrap over contexts, items, ratings and raters"
        footnotes = tables.score_table(replace(found, settings={"interval": method})).footnotes
        assert f"[ ]: 95 % interval, {method}" in footnotes
        bare = tuple(replace(each, interval=None, p_value=None, parts={}) for each in found.results)
        assert len(tables.score_table(replace(found, results=bare)).footnotes) == 1

    def test_items_are_counted_by_kind_and_source(self) -> None:
        found = replace(huse_study(), chance_kinds=(6.4, 3.0, 30.6))
        table = tables.kinds_table(found)
        assert [head.text for head in table.heads][2:] == ["human", "pointer net", "both", "both by chance"]
        for row, kind in zip(table.rows, KINDS, strict=True):
            kinds = [(each.kind, each.item.is_model) for each in found.items]
            assert [cell.value for cell in row.cells[2:4]] == [kinds.count((kind, side)) for side in (False, True)]
        assert [row.cells[-1].text for row in table.rows] == ["6", "3", "31"]
        assert "both by chance" not in [head.text for head in tables.kinds_table(huse_study()).heads]

    def test_numbers_of_neighbours_and_their_range(self) -> None:
        found = huse_study()
        lowest, highest = min(at.huse for at in found.by_k), max(at.huse for at in found.by_k)
        assert tables.k_range(found).startswith(f"k 1 to 16: HUSE {lowest:.2f} to {highest:.2f}, HUSE-Q ")
        assert tables.k_range(replace(found, by_k=found.by_k[:1])) == ""
        unknown = tuple(replace(at, huse=math.nan, huse_d=math.nan) for at in found.by_k)
        assert tables.k_range(replace(found, by_k=unknown)).startswith("k 1 to 16: HUSE-Q ")
        many = tuple(replace(found.by_k[0], k=k) for k in range(1, 40))
        results = tuple(replace(result, options={"k": 12}) for result in found.results)
        rows = tables.neighbours_table(replace(found, by_k=many, results=results)).rows
        assert [row.cells[0].text for row in rows] == ["1", "2", "4", "8", "12", "16", "32"]

    def test_more_data(self) -> None:
        assert texts(tables.outlook_table(huse_study()).rows[0]) == ["HUSE", "±0.12", "±0.09", "±0.12"]
        assert texts(tables.outlook_table(huse_study(raters=False)).rows[0])[-1] == "–"
        found = huse_study()
        paid = tuple(replace(each, metric=f"{each.metric} k=8", worth="pay for items") for each in found.outlook)
        (notes,) = [block for block in section(replace(found, outlook=paid), "data") if isinstance(block, Notes)]
        assert notes.lines[1:] == ("HUSE-Q k=8: pay for items", "HUSE-D k=8: pay for items")

    def test_parts_of_the_ratings(self) -> None:
        table = tables.stability_table(huse_study())
        sizes = [row.cells[0].text for row in table.rows]
        assert {"40 items", "1 rating per item"} <= set(sizes)
        assert [head.text for head in table.heads][1:] == ["HUSE", "HUSE-Q", "HUSE-D"]


class TestRaters:
    def test_agreement_and_scores_without_random_raters(self) -> None:
        found = with_scores(0.53, 0.58, 0.95)
        assert found.agreement is not None
        without = tuple(replace(result, estimate=result.estimate - 0.02) for result in found.results)
        found = replace(found, agreement=replace(found.agreement, without=without))
        stated = str(section(found, "raters"))
        assert "low agreement of raters, Krippendorff's alpha 0.34 [0.27, 0.41], 0.36 for ranks" in stated
        assert f"without them HUSE 0.51, HUSE-Q 0.56, HUSE-D 0.93; {words.CHOSEN}" in stated
        assert texts(table_of(section(found, "raters")).rows[0])[3] == "-0.02"

    def test_random_raters_are_listed_with_the_reason(self) -> None:
        table = table_of(section(huse_study(), "flagged"))
        assert [row.cells[0].text for row in table.rows] == ["r019", "r018"]
        assert "gave 6 every time" in str(table)
        assert len(table_of(section(huse_study(), "every-rater")).rows) == 20

    def test_good_and_unknown_raters(self) -> None:
        found = huse_study()
        assert found.agreement is not None
        good = tuple(rater for rater in found.agreement.raters if not rater.flagged)
        calm = replace(found, agreement=replace(found.agreement, raters=good, without=(), alpha=0.81))
        assert "high agreement" in str(section(calm, "raters"))
        assert "no rater looks random" in str(section(calm, "raters"))
        assert section(calm, "flagged") == []
        nameless = replace(found, agreement=replace(found.agreement, raters=(), without=()))
        assert "single raters cannot be checked" in str(section(nameless, "raters"))
        assert "one mean rating per item" in str(section(huse_study(raters=False), "raters"))


class TestItems:
    def test_both_sources_take_turns_and_the_clearest_come_first(self) -> None:
        found = huse_study(200)
        for kind in KINDS:
            items = [found.items[index] for index in clearest(found, kind)]
            assert {item.kind for item in items} == {kind}
            assert [item.item.is_model for item in items[:4]] == [True, False] * 2
            votes = [item.votes for item in items if not item.item.is_model]
            by_rating = [item.votes_by_rating for item in items if not item.item.is_model]
            if kind == "quality failure":
                assert by_rating == sorted(by_rating, reverse=True)
            elif kind == "diversity failure":
                assert votes == sorted(votes, reverse=True)
            else:
                assert votes == sorted(votes, key=lambda share: abs(share - 0.5))

    def test_an_entry_has_the_texts_of_one_context(self) -> None:
        found = huse_study(200)
        together = items_together(found)
        for block in items_blocks(found):
            item = block.items[0]
            index = next(i for i, judged in enumerate(found.items) if judged.item.id == item.name)
            assert item.prompt == found.items[index].item.context
            assert item.sides[0].badge is not None
            assert (item.sides[0].badge.text, item.sides[0].texts[0].before) == (
                found.items[index].kind,
                found.items[index].item.text,
            )
            assert len(item.sides) == len(together.get(index, (index,)))

    def test_all_items_are_in_the_list_of_their_kind(self) -> None:
        found = huse_study(200)
        for block, kind in zip(items_blocks(found), KINDS, strict=True):
            named = {side.name.split()[-1] for item in block.items for side in item.sides}
            assert {judged.item.id for judged in found.items if judged.kind == kind} <= named

    def test_every_vote_that_makes_a_kind_is_shown(self) -> None:
        found = huse_study()
        first = replace(found.items[0], votes=0.5, votes_by_rating=0.8, votes_by_log_prob=0.25, kind="quality failure")
        (block,) = items_blocks(replace(found, items=(first,)))
        (line,) = block.items[0].lines
        assert line.endswith("neighbours from its source 50 %, by rating 80 %, by probability 25 %")
        unknown = replace(first, votes=math.nan, votes_by_rating=math.nan, votes_by_log_prob=math.nan)
        (block,) = items_blocks(replace(found, items=(unknown,)))
        assert "neighbours" not in block.items[0].lines[0]
        assert block.items[0].values[0] is None

    def test_items_without_texts_say_so(self) -> None:
        found = huse_study()
        bare = tuple(replace(each, item=replace(each.item, text=None, context=None)) for each in found.items)
        block = next(items_blocks(replace(found, items=bare)))
        assert block.items[0].sides[0].texts[0].tags == ("no text in the file",)
        assert block.items[0].prompt == ""

    def test_kinds_without_items_are_left_out(self) -> None:
        found = huse_study()
        told = tuple(replace(each, kind="quality failure") for each in found.items)
        (block,) = items_blocks(replace(found, items=told))
        assert isinstance(block, Items)


class TestPlots:
    def test_a_gauge_has_the_score_its_interval_and_chance(self) -> None:
        found = huse_study()
        band, marks = score_plot(found, 0).layers
        assert isinstance(band, Band)
        assert isinstance(marks, Marks)
        (point,) = marks.points
        interval = found.results[0].interval
        assert interval is not None
        assert (point.x, point.x_ends) == (found.results[0].estimate, (interval.low, interval.high))
        assert (band.low, band.high) == tuple(found.results[0].parts[f"chance_{end}"] for end in ("low", "high"))

    def test_the_map_has_the_vote_and_every_item(self) -> None:
        found = huse_study()
        plot = map_plot(found)
        assert plot is not None
        cells, human, model, names = plot.layers
        assert isinstance(names, Names)
        assert {text for _, _, text in names.places} == {"mostly human", "mostly model"}
        assert isinstance(cells, Cells)
        assert isinstance(human, Dots)
        assert isinstance(model, Dots)
        assert (human.tone, model.tone) == ("human", "model")
        assert len(human.points) == len(model.points) == 20
        shares = found.decision_map.share_model
        assert cells.shades[3][5] == 2 * shares[5][3] - 1, "rows of the picture are ratings"
        assert (len(cells.x_edges), len(cells.y_edges)) == (len(shares) + 1, len(shares[0]) + 1)
        assert list(cells.x_edges) == sorted(cells.x_edges)
        nowhere = tuple(replace(each, log_prob=math.nan) for each in found.items)
        assert map_plot(replace(found, items=nowhere)) is None
        assert "there is no map" in str(section(replace(found, items=nowhere), "map"))

    def test_items_without_a_number_are_counted(self) -> None:
        found = huse_study()
        items = (replace(found.items[0], log_prob=math.nan), *found.items[1:])
        assert "1 item is not drawn" in str(section(replace(found, items=items), "map"))

    def test_the_plane_has_the_model_the_resamples_and_the_models_of_the_paper(self) -> None:
        plot = plane_plot(huse_study())
        assert plot is not None
        (cloud,) = [layer for layer in plot.layers if isinstance(layer, Dots)]
        papers, model = [layer for layer in plot.layers if isinstance(layer, Marks)]
        assert len(cloud.points) == 200
        assert [(point.label, point.x, point.y) for point in papers.points] == list(LANDMARKS)
        assert [point.label for point in model.points] == ["pointer net"]
        found = huse_study()
        assert plane_plot(replace(found, labels=found.labels[:2], results=found.results[:2])) is None

    def test_curves_have_a_line_per_score_with_the_mark_of_its_row(self) -> None:
        found = huse_study()
        by_k, by_items = neighbours_plot(found), stability_plot(found, "items")
        assert by_k is not None
        assert by_items is not None
        assert "HUSE " in by_k.summary
        assert [layer.candidate for layer in by_items.layers if hasattr(layer, "candidate")] == [0, 1, 2]
        assert neighbours_plot(replace(found, by_k=())) is None
        assert stability_plot(huse_study(raters=False), "ratings") is None


def test_sections_without_content_are_left_out() -> None:
    found = replace(huse_study(), outlook=(), items=())
    ids = [each.id for each in document(found).sections]
    assert not {"data", "items"} & set(ids)
    assert ids[-2:] == ["settings", "signatures"]
    assert "were not measured with other numbers" in str(section(replace(found, by_k=()), "neighbours"))
    assert "No parts of the ratings" in str(section(replace(found, stability=()), "stability"))


def test_paragraphs_are_whole_in_every_form() -> None:
    found = huse_study()
    for shown in (found.to_markdown(), " ".join(str(found.in_terminal(width=200, table=True)).split())):
        assert "..." not in shown
    assert "This selection alone lowers scores and raises alpha" in found.to_markdown()
    assert re.search(r"^# Can pointer net be distinguished from people\?", found.to_markdown())
