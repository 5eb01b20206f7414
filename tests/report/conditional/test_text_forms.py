"""The forms of a conditional study that are text: terminal view, Markdown, CSV and notebook fragment."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

import textassay as ta
from tests.report.builders import (
    HOSTILE_MARKUP,
    ONE_REFERENCE,
    UNTESTED,
    Page,
    conditional,
    curve,
    hostile_conditional,
    item_result,
    undefined,
)
from textassay.document.words import p_text
from textassay.report.former.conditional import (
    render_markdown,
    render_notebook,
    render_terminal,
)
from textassay.report.former.conditional_items import worst_items
from textassay.report.former.conditional_table import (
    heading,
    missing,
    missing_lines,
    power_lines,
    sizes_text,
    table_lines,
)
from textassay.report.former.markdown import fenced
from textassay.report.former.table import paired_rows
from textassay.studies.conditional.result import CSV_FIELDS, Conditional
from textassay.studies.finding import Verdict
from textassay.studies.outcome import FRAME_COLUMNS, Contest

WIDTHS = (60, 80, 120, 200)
# A terminal obeys these; each must reach it as a visible escape or not at all.
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def on_screen(found: Conditional, width: int, *, why: bool = False, top: int = 5, colour: bool = False) -> str:
    """The terminal view as text."""
    console = Console(
        width=width, force_terminal=colour, color_system="truecolor" if colour else None, _environ={}, emoji=False
    )
    with console.capture() as capture:
        console.print(render_terminal(found, width=width, why=why, top=top))
    return capture.get()


def line_of(shown: str, start: str) -> str:
    """The first line that begins like this."""
    return next(line for line in shown.splitlines() if line.startswith(start))


class TestTable:
    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize(
        "names", [("beam",), ("beam", "nucleus"), tuple(f"a-rather-long-name-{i}" for i in range(9))]
    )
    def test_no_line_is_too_wide_and_no_number_is_lost(self, width: int, names: tuple[str, ...]) -> None:
        found = conditional(names, sensitivity=True)
        shown = on_screen(found, width, why=True)
        assert max(map(cell_len, shown.splitlines())) <= width
        table = shown.partition("± half")[0]
        for line in table_lines(found):
            for figure in line.figures[1:]:
                assert figure.short in table

    def test_people_stand_in_the_row_of_their_size_and_nowhere_else(self) -> None:
        shown = on_screen(conditional(), 80)
        header, score, small, trm = (line_of(shown, start) for start in ("metric", "score", "  at 1 v 4", "trm meteor"))
        assert header.split("   ")[-1].strip() == "nucleus"
        assert header.split() == ["metric", "human", "beam", "nucleus"]
        assert re.search(r"^score meteor ↑ +0\.310 ±0\.020 +0\.341 ±0\.020", score)
        assert re.search(r"^  at 1 v 4 +0\.410 ±0\.020 +0\.279 ±0\.020 +0\.307 ±0\.020", small)
        assert re.search(r"^trm meteor ↓ +1\.31 ±0\.020\* +1\.44 ±0\.020\*", trm)

    def test_without_smaller_parts_people_stand_in_the_row_of_the_metric(self) -> None:
        shown = on_screen(conditional(small=False), 80)
        assert re.search(r"^trm meteor ↓ +0\.630 ±0\.020 +\(2 v 3\) +1\.31 ±0\.020\*", line_of(shown, "trm meteor"))
        assert re.search(r"^score meteor ↑ +0\.410 ±0\.020 +\(1 v 4\) +0\.310", line_of(shown, "score meteor"))
        assert "at 2 v 3" not in shown
        assert "compare a system with it only at the same sizes" in " ".join(shown.split())
        assert "| trm meteor ↓ | 0.630 ±0.020 (2 v 3) | 1.31" in render_markdown(conditional(small=False))
        narrow = on_screen(conditional(small=False), 40)
        assert max(map(cell_len, narrow.splitlines())) <= 40
        assert "(2 v 3)" in narrow

    def test_the_human_column_has_no_p_value(self) -> None:
        found = conditional(small=False)
        assert any(result.p_value is not None for result in found.human.results)
        assert {line.figures[0].p for line in table_lines(found)} == {""}
        assert not any("before adjustment" in line.figures[0].detail for line in table_lines(found))
        assert "human: p" not in on_screen(found, 200, why=True)
        assert "| trm meteor | human |" not in render_markdown(found)

    def test_chance_stands_in_the_cells_where_there_is_room(self) -> None:
        wide, narrow = on_screen(conditional(), 120), on_screen(conditional(), 80)
        assert "1.31 ±0.020* (chance 0.610)" in wide
        # Of a score it would mislead: exchanged labels mix a system's repeats with the references.
        assert "0.310 ±0.020 " in wide
        assert "chance 0.400" not in wide
        assert "chance:" in wide
        assert "chance" not in narrow
        assert "chance 0.610" in on_screen(conditional(), 80, why=True)

    def test_numbers_and_marks_stand_in_line(self) -> None:
        lines = on_screen(conditional(("only",)), 120).splitlines()
        above = {line.rindex("±") for line in lines if "(chance" in line}
        below = {line.rindex("±") for line in lines if line.startswith("  at ")}
        assert len(above) == 1
        assert above == below

    def test_a_narrow_terminal_gets_the_interval_below_the_estimate(self) -> None:
        shown = on_screen(conditional(), 40)
        assert max(map(cell_len, shown.splitlines())) <= 40
        place = shown.splitlines().index(line_of(shown, "trm meteor"))
        assert "1.31*" in shown.splitlines()[place]
        assert "±0.020" in shown.splitlines()[place + 1]

    def test_marks_follow_the_whole_table(self) -> None:
        # Marks go by the adjusted p-value, and at the level itself there is one.
        for p, marked in ((0.05 / 12, True), (0.0042, False), (0.02, False)):
            shown = on_screen(conditional(("only",), labels=["trm meteor"], p=p), 80)
            assert ("1.31 ±0.020*" in shown) == marked
        for tested, wanted in ((0.02, [0.24]), (None, [math.nan])):
            found = conditional(("only",), labels=["trm meteor"], p=tested)
            assert found.adjusted_p_values(found.systems[0]) == pytest.approx(wanted, nan_ok=True)

    def test_estimates_alone_have_no_legend_for_what_is_not_there(self) -> None:
        found = conditional(half=None, p=None)
        shown = on_screen(found, 100)
        assert "±" not in shown.partition("differences")[0]
        assert "Holm" not in shown.partition("differences")[0]
        assert "↑ higher is better, ↓ lower is better" in shown

    def test_a_metric_without_a_number_over_all_items_says_why(self) -> None:
        found = conditional(("only",), labels=["trm meteor"])
        empty = replace(found.systems[0], results=(item_result("trm meteor", math.nan, undefined="no candidates"),))
        shown = on_screen(replace(found, systems=(empty,)), 80)
        assert "no number (only): no candidates" in shown

    def test_people_who_cannot_be_compared_have_no_sizes(self) -> None:
        assert line_of(on_screen(conditional(human_sizes=(0, 0), small=False), 80), "metric").split()[1:] == [
            "human", "beam", "nucleus",
        ]  # fmt: skip


class TestAround:
    def test_the_heading_counts_everything_once(self) -> None:
        assert heading(conditional()) == "12 items with 1-5 references each; 2 systems with 10 candidates per item"
        only = conditional(("only",), count=1)
        assert heading(only) == "1 item with 5 references; 1 system with 10 candidates per item"

    def test_a_heading_that_is_too_long_goes_on_in_a_line_of_its_own(self) -> None:
        lines = on_screen(conditional(), 80).splitlines()
        assert lines[0] == "captions: 12 items with 1-5 references each;"
        assert lines[1] == "  2 systems with 10 candidates per item"
        sizes = "12 items with 1-5 references each; 2 systems with 10 candidates per item"
        assert on_screen(conditional(), 120).splitlines()[0] == f"captions: {sizes}"
        assert on_screen(conditional(), 80).startswith("captions: 12 items")

    def test_notes_come_before_the_table_and_once(self) -> None:
        found = conditional()
        shown = on_screen(replace(found, notes=(*found.items.notes, *found.notes)), 120)
        assert shown.count("all 3,003 ways") == 1
        assert shown.count(found.items.notes[0]) == 1
        assert shown.index("all 3,003 ways") < shown.index("metric")

    def test_verdicts_and_counts(self) -> None:
        shown = on_screen(conditional(), 120)
        assert re.search(r"≠ beam    too narrow on 3 of 12 items *\n +elsewhere on 3", shown)
        assert "items: 3 too narrow · 2 too wide · 3 off target · 3 no difference found · 1 untested" in shown
        found = conditional(("only",))
        for level, sign in (("same", "="), ("untested", "?")):
            judged = replace(found.systems[0], verdict=Verdict.of(level, "a reason"))
            assert f"{sign} only a reason" in on_screen(replace(found, systems=(judged,)), 80)

    def test_differences_are_adjusted_sorted_and_say_who_is_ahead(self) -> None:
        found = conditional(
            contests=(
                Contest("beam", "nucleus", "trm meteor", -0.2, -0.4, 0.0, 0.04),
                Contest("beam", "nucleus", "score meteor", -0.1, -0.15, -0.05, 0.002),
                Contest("beam", "human", "trm meteor", 0.3, 0.2, 0.4, 0.001),
                Contest("nucleus", "human", "mmd", math.nan, math.nan, math.nan, math.nan),
            )
        )
        rows = [(one, one.contest) for one in paired_rows(found, found.contests)]
        listed = [(c.first, c.second, c.label, p_text(one.adjusted), one.ahead) for one, c in rows]
        assert listed == [
            ("beam", "human", "trm meteor", "0.003", "human"),
            ("beam", "nucleus", "score meteor", "0.004", "nucleus"),
            ("beam", "nucleus", "trm meteor", "0.040", "beam"),
            ("nucleus", "human", "mmd", "–", ""),
        ]
        shown = on_screen(found, 80)
        assert re.search(r"beam − human +trm meteor +0\.300 ±0\.10\* +human better", shown)

    def test_many_differences_are_cut_and_counted(self) -> None:
        shown = on_screen(conditional([f"m{i}" for i in range(6)]), 80)
        assert shown.count(" − ") == 12
        assert "and 8 less clear differences" in shown

    def test_reasons_are_said_once_with_their_items_on_request(self) -> None:
        found = conditional(count=60)
        (entry,) = missing(found)
        assert (entry.reason, len(entry.ids)) == (ONE_REFERENCE, 8)
        assert entry.labels == dict.fromkeys(("human", "beam", "nucleus"), ("trm meteor", "trm edit", "mmd"))
        assert missing_lines(found, ids=False) == [
            f"no number on 8 of 60 items (trm meteor, trm edit, mmd): {ONE_REFERENCE}"
        ]
        shown = on_screen(found, 200, why=True)
        assert "'img-0006', 'img-0013', 'img-0020', 'img-0027', 'img-0034' and 3 more" in shown
        assert "img-0013" not in on_screen(found, 200, top=0)

    def test_a_reason_of_one_system_names_it(self) -> None:
        found = conditional()
        first = found.systems[1].items[0]
        lost = replace(
            first, results=(item_result("score meteor", math.nan, undefined="no candidates"), *first.results[1:])
        )
        system = replace(found.systems[1], items=(lost, *found.systems[1].items[1:]))
        lines = missing_lines(replace(found, systems=(found.systems[0], system)), ids=True)
        assert "no number on 1 of 12 items (nucleus: score meteor): no candidates: 'img-0000'" in lines

    def test_a_reason_that_holds_for_whole_metrics_is_given_once(self) -> None:
        items = [{"candidates": ["a cat"], "references": ["a dog", "a cat", "a bird", "two birds"]}] * 3
        metrics = "score:distance=edit,trm:distance=edit,trm:distance=edit:variant=split,mmd"
        found = ta.conditional(items, metrics=metrics, encoder="lsa", n_resamples=19)
        assert missing_lines(found, ids=True) == [
            "no number on 3 of 3 items (candidate: trm edit, trm edit variant=split): 1 candidate and 4 references: "
            "trm needs two candidates and two references (direction=references: one candidate is enough)"
        ]

    def test_a_reason_with_other_metrics_for_each_column_is_given_once(self) -> None:
        found = conditional(("beam",))
        columns = []
        for column, places in ((found.human, (0,)), (found.systems[0], (0, 1))):
            lost = [
                [undefined(result, "lost") if at in places else result for at, result in enumerate(item.results)]
                for item in column.items
            ]
            items = [replace(item, results=tuple(each)) for item, each in zip(column.items, lost, strict=True)]
            columns.append(replace(column, items=tuple(items)))
        lines = missing_lines(replace(found, human=columns[0], systems=(columns[1],)), ids=False)
        first, second = found.labels[:2]
        assert f"no number on 12 of 12 items (human: {first}; beam: {first}, {second}): lost" in lines

    def test_power(self) -> None:
        found = conditional(("beam",), sensitivity=True)
        assert power_lines(found) == [
            "beam: trm meteor: 80 % power from 4 candidates (5 references) and from 3 references (10 candidates)"
        ]
        never = replace(curve("beam"), needed={"trm meteor": {"candidates": None, "references": None}})
        unknown = replace(curve("beam"), points=())
        assert power_lines(replace(found, sensitivity=(never, unknown))) == [
            "beam: trm meteor: no 80 % power even with 10 candidates and 5 references",
            "beam: trm meteor: power unknown, because no item could be tested",
        ]
        assert "80 % power from 4 candidates" in on_screen(found, 120)

    def test_why_gives_every_combined_p_value(self) -> None:
        shown = on_screen(conditional(), 200, why=True)
        line = line_of(shown, "trm meteor, beam: p <0.001, adjusted 0.005, z 9.5, harmonic mean 0.40")
        assert "Fisher 0.030, Simes 0.002, 11 of 12 items, chance 0.610" in line
        floor = on_screen(conditional(p=0.0001), 200, why=True)
        assert "trm meteor, beam: p ≤ 0.0001, adjusted 0.001" in floor
        assert "Simes" not in on_screen(conditional(), 200)

    def test_sizes_are_rounded_for_people(self) -> None:
        assert sizes_text(1, 4.25) == "1 v 4.2"


class TestWorst:
    def test_systems_take_turns_and_the_farthest_come_first(self) -> None:
        found = [(worst.system, worst.id) for worst in worst_items(conditional(), 5)]
        assert found == [
            ("beam", "img-0000"), ("nucleus", "img-0000"), ("beam", "img-0004"), ("nucleus", "img-0004"),
            ("beam", "img-0001"),
        ]  # fmt: skip

    def test_items_where_nothing_was_found_are_never_the_worst(self) -> None:
        shown = worst_items(conditional(("only",), count=40), 100)
        assert {worst.miss.kind for worst in shown} == {"too narrow", "too wide", "elsewhere"}
        found = conditional(("only",))
        quiet = replace(found.systems[0], items=tuple(replace(i, miss=UNTESTED) for i in found.systems[0].items))
        unranked = replace(found, systems=(quiet,))
        assert "differ most" not in on_screen(unranked, 80)
        assert "differ most" not in on_screen(found, 80, top=0)
        reason = "How single items differ was not measured"
        assert reason in on_screen(unranked, 80)
        assert reason in render_markdown(unranked)
        assert reason not in on_screen(unranked, 80, top=0)
        assert reason not in on_screen(found, 80) + render_markdown(found)

    def test_texts_stand_side_by_side_with_the_central_reference_first(self) -> None:
        shown = on_screen(conditional(("beam",)), 100, top=1)
        assert "beam on img-0000: too narrow (spread +6.8, place +1.8, p 0.001)" in shown
        assert re.search(r"^> reference 2 of picture 0 +\| beam says 0 of picture 0 ×4", line_of(shown, ">"))
        assert re.search(r"^  and 1 more +\|", line_of(shown, "  and 1 more"))
        assert "what is on picture 0?" in shown

    def test_a_system_without_candidates_on_an_item_leaves_its_side_empty(self) -> None:
        found = conditional(("beam",))
        items = found.items.items
        bare = replace(found.items, items=(replace(items[0], candidates={}), *items[1:]))
        worst = worst_items(replace(found, items=bare), 1)[0]
        assert worst.candidates == ()
        assert len(worst.lines()) == 5


class TestHostile:
    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("why", [False, True])
    def test_nothing_steers_the_terminal(self, width: int, why: bool) -> None:
        shown = on_screen(hostile_conditional(), width, why=why, top=50)
        assert not STEERING.search(shown)
        assert "[bold red]markup[/bold red]" in shown
        assert "\\x1b[31m" in shown

    def test_colour_is_ours_alone(self) -> None:
        shown = on_screen(hostile_conditional(), 120, why=True, top=50, colour=True)
        codes = set(re.findall(r"\x1b\[([0-9;]*)m", shown))
        assert codes
        assert all(re.fullmatch(r"[0-9;]*", code) for code in codes)
        assert not STEERING.search(re.sub(r"\x1b\[[0-9;]*m", "", shown))
        assert "\x1b[31m delete" not in shown

    def test_long_texts_are_cut(self) -> None:
        assert "long" * 110 not in re.sub(r"\s", "", on_screen(hostile_conditional(), 200, why=True, top=50))
        assert "long" * 110 not in render_markdown(hostile_conditional()).partition("```")[0]

    def test_markdown_has_no_live_sign_of_theirs(self) -> None:
        page = render_markdown(hostile_conditional())
        assert not STEERING.search(page)
        body = page.partition("\n```text")[0]
        assert not re.search(r"(?<!\\)<", body)
        assert "\\[a link\\](javascript" in page
        assert "\\`\\`\\`\\\\nfence" in page
        tables = [block for block in body.split("\n\n") if block.startswith("| ")]
        assert len(tables) > 10
        for table in tables:
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1

    def test_a_fence_cannot_be_closed_from_within(self) -> None:
        assert fenced(["a", "````"]) == ["`````text", "a", "````", "`````"]

    def test_csv_cells_are_no_formulas(self) -> None:
        found = hostile_conditional([*HOSTILE_MARKUP[:2], "=cmd|' /C calc'!A0", "+1", "-2", "@x", "\tx", "\rx", "safe"])
        renamed = [replace(s, name=n) for s, n in zip(found.systems, ("=HYPERLINK(1)", "-x"), strict=True)]
        text = replace(found, systems=tuple(renamed)).to_csv()
        read = list(csv.DictReader(io.StringIO(text, newline="")))
        assert len(read) == len(list(found.csv_rows()))
        assert {row["system"] for row in read} == {"human", "'=HYPERLINK(1)", "'-x"}
        assert {row["undefined"] for row in read} >= {"'=cmd|' /C calc'!A0", "'+1", "'-2", "'@x", "\\tx", "\\rx"}
        words = ("system", "item", "at", "label", "options", "miss", "undefined", "signature")
        assert not any(row[word][:1] in tuple("=+-@\t\r") for row in read for word in words)
        assert not STEERING.search(text)

    def test_a_notebook_shows_texts_and_runs_none(self) -> None:
        page = Page(render_notebook(hostile_conditional()))
        assert page.complaints == []
        assert {"script", "img", "style", "iframe"}.isdisjoint(tag for tag, _ in page.elements)
        assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
        assert "<script>alert(1)</script>" in page.text
        assert not STEERING.search(page.text)


class TestForms:
    def test_markdown(self) -> None:
        page = render_markdown(conditional(sensitivity=True))
        assert page.startswith("# captions: 12 items with 1-5 references each; 2 systems with 10 candidates per item\n")
        assert "| metric | human | beam | nucleus |\n| --- | ---: | ---: | ---: |" in page
        assert "| trm meteor ↓ |  | 1.31 ±0.020\\* (chance 0.610) | 1.44 ±0.020\\* (chance 0.610) |" in page
        assert "| trm meteor at 2 v 3 | 0.630 ±0.020 | 1.18 ±0.020 | 1.30 ±0.020 |" in page
        assert "| trm meteor | beam | \\<0.001 | 0.005 | 9.5 | 0.40 | 0.030 | 0.002 | 12 |" in page
        assert "| beam | nucleus | score meteor | -0.100 ±0.050\\* | 0.012 | nucleus |" in page
        assert "| &gt; reference 2 of picture 0 | beam says 0 of picture 0 ×4 |" in page
        assert "(trm meteor, trm edit, mmd): one reference; wanted 2 or more: 'img-0006'" in page
        assert "80 % power from 4 candidates" in page
        assert page.count("trm|distance:meteor") == 5

    def test_sections_without_content_are_left_out(self) -> None:
        page = render_markdown(conditional(("only",), half=None, p=None, count=3, small=False))
        assert re.findall("^## (.*)", page, flags=re.M) == ["Items that differ most"]

    def test_csv_has_people_first_and_a_row_a_result(self) -> None:
        found = conditional()
        listed = list(found.csv_rows())
        assert set(listed[0]) == set(CSV_FIELDS)
        assert [row["system"] for row in listed[:4]] == ["human"] * 4
        per_human, per_system = 4 + 12 * 4, 4 + 4 + 12 * 4
        assert len(listed) == per_human + 2 * per_system
        over = [row for row in listed if row["system"] == "beam" and row["item"] == "" and row["at"] == ""]
        assert [(row["label"], row["estimate"], row["n"]) for row in over][1] == ("trm meteor", 1.31, 12)
        assert (over[1]["p_value"], over[1]["fisher"], over[1]["simes"], over[1]["chance"]) == (
            0.0004,
            0.03,
            0.002,
            0.61,
        )
        small = [row for row in listed if row["system"] == "beam" and row["at"]]
        assert [row["at"] for row in small] == ["1 v 4", "2 v 3", "2 v 3", "2 v 3"]
        assert all(row["p_value"] is None for row in small)
        item = next(
            row for row in listed if row["system"] == "beam" and row["item"] == "img-0006" and row["metric"] == "trm"
        )
        assert (item["estimate"], item["undefined"], item["miss"]) == (None, ONE_REFERENCE, "untested")

    def test_pandas_reads_the_rows(self) -> None:
        pytest.importorskip("pandas")
        found = conditional()
        tidy = found.to_frame()
        assert list(tidy.columns) == list(FRAME_COLUMNS)
        assert tidy["candidate"].tolist() == [name for name in found.names for _ in found.labels]
        frame = found.items_frame()
        assert list(frame.columns) == list(CSV_FIELDS)
        assert len(frame) == 2 * 12 * 4
        assert frame.loc[frame["item"] == "img-0000", "miss"].tolist()[-1] == "too narrow"

    def test_a_notebook_gets_verdicts_table_and_chance(self) -> None:
        page = Page(conditional()._repr_html_())
        for expected in (
            "captions: 12 items",
            "human beam nucleus",
            "at 1 v 4",
            "1.31 ±0.020* (chance 0.610)",
            "beam: differs",
        ):
            assert expected in re.sub(r"\s+", " ", page.text)
        assert page.complaints == []
