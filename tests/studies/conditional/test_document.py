"""The document of a conditional study: the ranking, the tables, the list of items, and what is missing."""

import math
import re
from dataclasses import replace

import pytest

import textassay as ta
from tests.report.builders import (
    ONE_REFERENCE,
    UNTESTED,
    conditional,
    curve,
    hostile_conditional,
    item_result,
    many_items,
    one_candidate,
    undefined,
)
from textassay.document.blocks import REAL, Block, Items, Row, Table, walk
from textassay.document.plot import Bars, Dots, Marks
from textassay.inference.items.misses import Miss
from textassay.studies.conditional import tables
from textassay.studies.conditional.document import NOT_RANKED, document
from textassay.studies.conditional.item_list import items_block
from textassay.studies.conditional.plots import kinds_plot, metric_plot, p_value_plot, shares_text, spread_plot
from textassay.studies.conditional.ranking import ranking_index
from textassay.studies.conditional.result import Conditional, sizes_text
from textassay.studies.finding import Finding, Verdict


def judged(found: Conditional, **verdicts: Verdict) -> Conditional:
    """The same study with other verdicts by system."""
    systems = (replace(each, verdict=verdicts.get(each.name, each.verdict)) for each in found.systems)
    return replace(found, systems=tuple(systems))


def blocks(found: Conditional, section: str) -> list[Block]:
    return [
        block for each in document(found).sections if each.id == section for block in walk(each.blocks)
    ]  # fmt: skip


def texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


class TestSummary:
    def test_systems_are_ranked_by_the_first_metric_of_distributions(self) -> None:
        found = conditional(("far", "near"))
        assert found.labels[ranking_index(found) or 0] == "trm meteor"
        values = {system.name: system.at_baseline_size["trm meteor"].estimate for system in found.systems}
        assert values["far"] < values["near"], "each system of the builder is worse than the one before"
        rows = document(found).summary.rows
        assert [(row.name, row.rank) for row in rows] == [("far", 1), ("near", 2)]
        assert [row.candidate for row in rows] == [found.names.index(row.name) for row in rows]

    def test_one_answer_is_named_first_and_has_no_rank(self) -> None:
        collapsed = Verdict.of("collapsed", Finding("one answer", value=0.9, n=(9, 10)))
        found = judged(conditional(("beam", "nucleus", "greedy")), beam=collapsed)
        summary = document(found).summary
        assert [(row.name, row.rank) for row in summary.rows] == [("nucleus", 1), ("greedy", 2), ("beam", None)]
        assert summary.sentence.startswith("One answer to most items: beam; 2 of 3 systems differ")
        assert "closest: nucleus" in summary.sentence
        assert summary.rows[-1].why == ("one answer: all candidates are the same text on 9 of 10 items",)

    def test_ten_identical_answers_are_one_answer_whatever_else_holds(self) -> None:
        """They are far from all references, which would be off target."""
        items = [
            {
                "references": [f"{w} {i}" for w in ("a red", "the green", "one blue", "my old")],
                "candidates": ["no"] * 10,
            }
            for i in range(6)
        ]
        found = ta.conditional(items, metrics="trm:distance=edit", n_resamples=99)
        assert found.systems[0].verdict is not None
        assert found.systems[0].verdict.decision == "collapsed"
        summary = document(found).summary
        assert summary.sentence == "No: it gives one answer to most items (100 % one answer of the items)."
        assert "off target" not in str(document(found).summary)
        assert {badge.text for item in items_block(found).items for badge in item.badges} == {"one answer"}

    @pytest.mark.parametrize(
        ("decision", "sentence"),
        [
            ("same", "No difference from the references was found"),
            ("differs", "No: it differs from the references"),
            ("untested", "It was not tested"),
        ],
    )
    def test_the_answer_for_one_system(self, decision: str, sentence: str) -> None:
        summary = document(judged(conditional(("only",)), only=Verdict.of(decision, "a reason"))).summary
        assert summary.question == "Does only write like the references do?"
        assert summary.sentence.startswith(sentence)

    def test_the_grade_is_the_direction_over_all_items(self) -> None:
        found = judged(
            conditional(),
            beam=Verdict.of("differs", Finding("too narrow"), Finding("off target")),
            nucleus=Verdict.of("differs", Finding("off target")),
        )
        assert {row.name: row.grade for row in document(found).summary.rows} == {
            "beam": "too narrow",
            "nucleus": "elsewhere",
        }

    def test_shares_of_items_begin_with_one_answer_and_then_the_most_frequent(self) -> None:
        found = conditional(("only",))
        items = [replace(item, miss=replace(item.miss, kind="collapsed")) for item in found.systems[0].items[:2]]
        system = replace(found.systems[0], items=(*items, *found.systems[0].items[2:]))
        assert shares_text(system).startswith("17 % one answer, 17 % too narrow")
        assert shares_text(replace(system, items=())) == ""

    def test_values_are_differences_from_people(self) -> None:
        found = conditional(("only",))
        summary = document(found).summary
        assert summary.columns == ("items that differ", "quality", "diversity")
        items, quality, diversity = summary.rows[0].cells
        assert items.value == pytest.approx(8 / 12)
        assert quality.value == pytest.approx(0.9 * 0.31 - 0.41)
        spreads = [item.miss.spread for item in found.systems[0].items if math.isfinite(item.miss.spread)]
        assert diversity.value == pytest.approx(-sum(spreads) / len(spreads))

    def test_items_that_cannot_be_tested_are_no_items_that_do_not_differ(self) -> None:
        found = conditional()
        first, second = found.systems
        untested = [replace(item, miss=replace(item.miss, kind="untested")) for item in first.items]
        found = replace(found, systems=(replace(first, items=tuple(untested)), second))
        shares = {row.name: row.cells[0].text for row in document(found).summary.rows}
        assert shares[first.name] == "–"
        assert shares[second.name].endswith("%")

    def test_the_picture_is_the_metric_where_no_item_was_tested(self) -> None:
        found = conditional()
        one = [replace(item, miss=replace(item.miss, kind="collapsed")) for item in found.systems[0].items]
        none = [replace(item, miss=replace(item.miss, kind="untested")) for item in found.systems[1].items]
        systems = [replace(s, items=tuple(items)) for s, items in zip(found.systems, (one, none), strict=True)]
        pictures = [document(each).summary.picture for each in (found, replace(found, systems=tuple(systems)))]
        titles = [picture.title for picture in pictures if picture is not None]
        assert titles[0] == "How the items differ"
        assert titles[1].startswith("trm meteor")

    def test_neighbours_that_do_not_differ_are_named(self) -> None:
        found = conditional()
        assert document(found).summary.ties == ()
        alike = tuple(replace(each, p_value=0.5) for each in found.contests)
        assert document(replace(found, contests=alike)).summary.ties == ("1 and 2 do not differ in trm meteor",)
        assert document(replace(found, contests=())).summary.ties == (), "nothing is known without a comparison"

    def test_notes_are_caveats_and_none_is_lost_or_repeated(self) -> None:
        found = conditional(notes=tuple(f"note {i}" for i in range(8)))
        both = replace(found, items=replace(found.items, notes=("note 0", "of the items")))
        shown = document(both)
        every = [*(each.rstrip(".").lower() for each in shown.summary.caveats), *shown.notes]
        assert sorted(every) == sorted(["of the items", *(f"note {i}" for i in range(8))])

    def test_items_that_were_not_measured_are_a_caveat_with_its_remedy(self) -> None:
        found = one_candidate()
        assert any(caveat.lower().startswith(NOT_RANKED[:30]) for caveat in document(found).summary.caveats)
        assert not any("single items" in caveat for caveat in document(conditional()).summary.caveats)
        assert document(found).summary.columns == ("quality",)


class TestTables:
    def test_people_are_in_the_row_of_their_size_and_nowhere_else(self) -> None:
        table = tables.metric_table(conditional())
        assert [head.candidate for head in table.heads] == [None, REAL, 0, 1]
        whole, again = table.rows[2:4]
        assert (texts(whole), texts(again)[1:]) == (["trm meteor ↓", "", "1.31", "1.44"], ["0.630", "1.18", "1.30"])
        assert "at 2 v 3" in again.cells[0].text
        assert again.quiet
        assert whole.cells[2].marked

    def test_without_smaller_parts_people_are_in_the_row_of_the_metric(self) -> None:
        table = tables.metric_table(conditional(small=False))
        assert texts(table.rows[1]) == ["trm meteor ↓", "0.630", "1.31", "1.44"]
        assert table.rows[1].cells[1].small == ("2 v 3",)

    def test_cells_have_the_p_value_and_what_chance_gives(self) -> None:
        score, _, trm, *_ = tables.metric_table(conditional()).rows
        assert trm.cells[2].small == ("p 0.005", "chance 0.610", "11 items")
        assert trm.cells[2].detail.endswith("p <0.001 before adjustment")
        # Of a score it would mislead: exchanged labels mix a system's repeats with the references.
        assert not any("chance" in small for small in score.cells[2].small)

    def test_the_human_column_has_no_p_value(self) -> None:
        found = conditional(small=False)
        assert any(result.p_value is not None for result in found.human.results)
        table = tables.metric_table(found)
        assert not any("p " in text for row in table.rows for text in (*row.cells[1].small, row.cells[1].detail))

    def test_marks_follow_the_whole_table(self) -> None:
        # Marks go by the adjusted p-value, and at the level itself there is one.
        for p, marked in ((0.05 / 12, True), (0.0042, False), (0.02, False)):
            table = tables.metric_table(conditional(("only",), labels=["trm meteor"], p=p))
            assert table.rows[0].cells[2].marked == marked

    def test_estimates_alone_have_no_legend_for_what_is_not_there(self) -> None:
        notes = " ".join(tables.metric_table(conditional(half=None, p=None)).footnotes)
        assert "±" not in notes
        assert "adjusted" not in notes
        assert "↑ higher is better, ↓ lower is better" in notes

    def test_kinds_are_counted(self) -> None:
        table = tables.kinds_table(conditional(("only",)))
        heads = [head.text for head in table.heads]
        assert heads == ["system", "too narrow", "too wide", "off target", "no difference found", "untested"]
        assert texts(table.rows[0]) == ["only", "3", "2", "3", "3", "1"]

    def test_every_combined_p_value_is_listed(self) -> None:
        row = tables.combined_table(conditional()).rows[0]
        assert texts(row) == ["trm meteor", "beam", "<0.001", "0.005", "9.5", "0.40", "0.030", "0.002", "11 of 12"]
        floor = tables.combined_table(conditional(p=0.0001)).rows[0]
        assert texts(floor)[2:4] == ["≤ 0.0001", "0.001"]

    def test_power(self) -> None:
        (found,) = conditional(("beam",), sensitivity=True).sensitivity
        assert list(tables.power_lines(found)) == [
            "beam: trm meteor: 80 % power from 4 candidates (5 references) and from 3 references (10 candidates)"
        ]
        assert texts(tables.needs_table(found).rows[0])[:3] == ["trm meteor", "4", "3"]
        never = replace(curve("beam"), needed={"trm meteor": {"candidates": None, "references": None}})
        assert list(tables.power_lines(never)) == [
            "beam: trm meteor: no 80 % power even with 10 candidates and 5 references"
        ]
        assert texts(tables.needs_table(never).rows[0])[1:3] == ["more", "more"]
        unknown = replace(curve("beam"), points=())
        assert list(tables.power_lines(unknown)) == ["beam: trm meteor: power unknown, because no item could be tested"]
        assert p_value_plot(unknown) is None
        assert tables.points_table(found, most=5).total == len(found.points)

    def test_sizes_are_rounded_for_people(self) -> None:
        assert sizes_text(1, 4.25) == "1 v 4.2"


class TestMissing:
    def test_reasons_are_stated_once_with_some_items(self) -> None:
        found = conditional(count=60)
        (entry,) = tables.missing(found)
        assert (entry.reason, len(entry.ids)) == (ONE_REFERENCE, 8)
        assert entry.labels == dict.fromkeys(("human", "beam", "nucleus"), ("trm meteor", "trm edit", "mmd"))
        (line,) = tables.missing_lines(found)
        assert line.startswith(f"no number on 8 of 60 items (trm meteor, trm edit, mmd): {ONE_REFERENCE}")
        assert line.endswith("'img-0006', 'img-0013', 'img-0020', 'img-0027', 'img-0034' and 3 more")

    def test_a_reason_of_one_system_names_it(self) -> None:
        found = conditional()
        first = found.systems[1].items[0]
        lost = replace(
            first, results=(item_result("score meteor", math.nan, undefined="no candidates"), *first.results[1:])
        )
        system = replace(found.systems[1], items=(lost, *found.systems[1].items[1:]))
        lines = tables.missing_lines(replace(found, systems=(found.systems[0], system)))
        assert "no number on 1 of 12 items (nucleus: score meteor): no candidates: 'img-0000'" in lines

    def test_a_metric_without_a_number_over_all_items_has_its_reason(self) -> None:
        found = conditional(("only",), labels=["trm meteor"])
        empty = replace(found.systems[0], results=(item_result("trm meteor", math.nan, undefined="no candidates"),))
        assert "no number (only): no candidates" in tables.missing_lines(replace(found, systems=(empty,)))

    def test_a_reason_with_other_metrics_for_each_column_is_stated_once(self) -> None:
        found = conditional(("beam",))
        columns = []
        for column, places in ((found.human, (0,)), (found.systems[0], (0, 1))):
            lost = [
                [undefined(result, "lost") if at in places else result for at, result in enumerate(item.results)]
                for item in column.items
            ]
            items = [replace(item, results=tuple(each)) for item, each in zip(column.items, lost, strict=True)]
            columns.append(replace(column, items=tuple(items)))
        lines = tables.missing_lines(replace(found, human=columns[0], systems=(columns[1],)))
        first, second = found.labels[:2]
        assert f"no number on 12 of 12 items (human: {first}; beam: {first}, {second}): lost" in lines


class TestItems:
    def test_systems_take_turns_and_the_farthest_come_first(self) -> None:
        found = conditional()
        narrow = Miss("too narrow", 50.0, 0.0, 0.001)
        items = [replace(item, miss=narrow if item.id == "img-0003" else UNTESTED) for item in found.systems[1].items]
        other = replace(found, systems=(found.systems[0], replace(found.systems[1], items=tuple(items))))
        assert [item.name for item in items_block(other).items[:3]] == ["img-0000", "img-0003", "img-0004"]
        assert [item.name for item in items_block(found).items[:2]] == ["img-0000", "img-0004"]

    def test_one_answer_comes_before_what_is_farther(self) -> None:
        found = conditional(("only",))
        items = list(found.systems[0].items)
        items[9] = replace(items[9], miss=Miss("collapsed", 0.1, 0.1, 0.4))
        block = items_block(replace(found, systems=(replace(found.systems[0], items=tuple(items)),)))
        assert [item.name for item in block.items[:2]] == ["img-0009", "img-0000"]
        assert block.total == len(block.items) == 12

    def test_an_item_has_its_texts_side_by_side(self) -> None:
        item = items_block(conditional(("beam",))).items[0]
        references, candidates = item.sides
        assert item.prompt == "what is on picture 0?"
        assert [badge.text for badge in item.badges] == ["too narrow"]
        assert (references.candidate, candidates.candidate) == (REAL, 0)
        assert references.texts[0].before == "reference 2 of picture 0"
        assert references.texts[0].tags == ("central",)
        assert [quote.tags for quote in candidates.texts] == [("4 times",), ("3 times",), ("3 times",)]
        assert item.lines[0] == "spread +6.8, place +1.8, p 0.001"
        assert item.lines[1].startswith("trm meteor 1.31, human ")
        assert any("trm meteor 1.31 (p 0.001)" in line for line in item.lines if line.startswith("beam: score meteor"))
        assert any(line.startswith("human: score meteor") for line in item.lines)

    def test_of_several_systems_each_has_its_numbers_and_the_worst_is_named(self) -> None:
        item = items_block(conditional()).items[0]
        assert item.lines[0] == "beam: spread +6.8, place +1.8, p 0.001"
        assert [side.line for side in item.sides] == ["", *["spread +6.8, place +1.8, p 0.001"] * 2]
        assert [side.badge.text for side in item.sides[1:] if side.badge] == ["too narrow"] * 2

    def test_an_item_without_a_number_has_the_reason(self) -> None:
        item = next(each for each in items_block(conditional()).items if each.name == "img-0006")
        assert f"no number: {ONE_REFERENCE}" in item.lines

    def test_a_candidate_that_is_a_reference_is_marked(self) -> None:
        found = conditional(("beam",))
        item = replace(found.items.items[0], candidates={"beam": ("reference 1 of picture 0", "other")})
        block = items_block(replace(found, items=replace(found.items, items=(item, *found.items.items[1:]))))
        assert block.items[0].sides[1].texts[0].tags == ("also a reference",)

    def test_texts_are_cut_and_counted(self) -> None:
        found = conditional(("beam",))
        item = replace(found.items.items[0], candidates={"beam": tuple(f"text {i}" for i in range(40))})
        block = items_block(replace(found, items=replace(found.items, items=(item, *found.items.items[1:]))))
        side = block.items[0].sides[1]
        assert (len(side.texts), side.total) == (12, 40)

    def test_a_system_without_candidates_on_an_item_leaves_its_side_empty(self) -> None:
        found = conditional(("beam",))
        bare = replace(found.items, items=(replace(found.items.items[0], candidates={}), *found.items.items[1:]))
        assert items_block(replace(found, items=bare)).items[0].sides[1].texts == ()

    def test_sort_keys_have_numbers_or_nothing(self) -> None:
        block = items_block(conditional())
        assert {len(item.values) for item in block.items} == {len(block.sort_keys)}
        assert not any(value is not None and math.isnan(value) for item in block.items for value in item.values)


class TestPlots:
    def test_bars_have_a_piece_per_kind_and_are_whole(self) -> None:
        (bars,) = kinds_plot(conditional().systems).layers
        assert isinstance(bars, Bars)
        assert {len(pieces) for pieces in bars.values} == {len(bars.tones)} == {len(bars.names)}
        assert [sum(pieces) for pieces in bars.values] == pytest.approx([1.0, 1.0])

    def test_each_placed_item_has_a_dot(self) -> None:
        plot = spread_plot(conditional(("only",)).systems[0])
        assert plot is not None
        dots = [layer for layer in plot.layers if isinstance(layer, Dots)]
        assert sum(len(layer.points) for layer in dots) == 11
        assert dots[0].tone == "same", "items that differ are drawn over the others"

    def test_many_items_share_their_marks(self) -> None:
        plot = spread_plot(many_items(3000).systems[0])
        assert plot is not None
        assert sum(len(layer.points) for layer in plot.layers if isinstance(layer, Dots)) < 3000

    def test_people_are_drawn_only_at_the_same_sizes(self) -> None:
        found = conditional()
        at_size, without = metric_plot(found, 1), metric_plot(conditional(small=False, human_sizes=(0, 0)), 3)
        assert at_size is not None
        assert at_size.summary.startswith("human 0.630 ±0.020; beam 1.18")
        marks = [layer for layer in at_size.layers if isinstance(layer, Marks)]
        assert [point.label for point in marks[-1].points] == ["1.18", "1.30"]
        assert without is not None


def test_all_statements_are_in_the_document() -> None:
    """Verdicts, combined tests, differences and settings, each in the section of its name."""
    found = conditional(sensitivity=True)
    shown = {section.id: str(section.blocks) for section in document(found).sections}
    why = str(document(found).summary.rows)
    assert all(reason in why for system in found.systems if system.verdict for reason in system.verdict.reasons)
    assert "-0.100" in shown["differences"]
    assert "signs of the items' differences" in shown["differences"]
    assert "80 % power from 4 candidates" in shown["curves"]
    assert "2 v 3 or 1 v 4" in shown["settings"] or "1 v 4 or 2 v 3" in shown["settings"]
    assert found.systems[0].at_baseline_size["mmd"].signature in shown["signatures"]
    assert list(shown)[-2:] == ["settings", "signatures"]


def test_reasons_that_the_summary_has_no_space_for_are_below_it() -> None:
    found = judged(conditional(), beam=Verdict.of("differs", "first", "second", "third", "fourth", "fifth"))
    assert document(found).summary.rows[0].why == ("first", "second", "third")
    assert "beam: fourth; fifth" in str(blocks(found, "kinds"))


def test_differences_are_corrected_over_all_metrics_wherever_they_are_listed() -> None:
    ranking, every = [block for block in blocks(conditional(), "differences") if isinstance(block, Table)]
    assert len(ranking.rows) == 1
    assert len(every.rows) == 4
    assert ranking.rows[0] in every.rows


def test_forms_of_hostile_texts() -> None:
    found = hostile_conditional()
    for text in (str(found), found.to_markdown(top=20), found.to_latex()):
        assert "\x1b" not in text
    assert re.search(r"^# Which system writes like the references do\?", found.to_markdown())


def test_a_study_without_tests_has_only_what_it_measured() -> None:
    shown = document(conditional(("only",), half=None, p=None, count=3, small=False))
    assert "combined" not in [section.id for section in shown.sections]
    assert "differences" not in [section.id for section in shown.sections]


def test_thousands_of_items_are_cut_with_their_number() -> None:
    (block,) = blocks(many_items(3200, candidates=2, references=4), "items")
    assert isinstance(block, Items)
    assert (len(block.items), block.total) == (3000, 3200)
