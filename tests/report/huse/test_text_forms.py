"""The forms of a HUSE study that are text: terminal view, Markdown, CSV, data frame and notebook fragment."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.report.builders import Page, huse_study, undefined
from textassay.inference.p_values import holm
from textassay.report.former import huse_scores as trust
from textassay.report.former import huse_scores as words
from textassay.report.former.huse import (
    render_markdown,
    render_notebook,
    render_terminal,
)
from textassay.report.former.huse_items import examples
from textassay.studies.finding import Verdict
from textassay.studies.huse.result import CSV_FIELDS, KINDS, TITLES, HuseResult

WIDTHS = (60, 80, 120, 200)

# A terminal obeys these; each must reach it as a visible escape or not at all.
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def line_of(shown: str, start: str) -> str:
    """The first line that begins like this."""
    return next(line for line in shown.splitlines() if line.startswith(start))


def on_screen(found: HuseResult, width: int, *, why: bool = False, top: int = 5, colour: bool = False) -> str:
    """The terminal view as text."""
    console = Console(
        width=width, force_terminal=colour, color_system="truecolor" if colour else None, _environ={}, emoji=False
    )
    with console.capture() as capture:
        console.print(render_terminal(found, width=width, why=why, top=top))
    return capture.get()


def with_scores(*estimates: float) -> HuseResult:
    """The study with other estimates."""
    found = huse_study()
    results = [replace(result, estimate=value) for result, value in zip(found.results, estimates, strict=True)]
    return replace(found, results=tuple(results))


class TestTable:
    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("raters", [True, False])
    def test_no_line_is_too_wide_and_no_number_is_lost(self, width: int, raters: bool) -> None:
        found = huse_study(200, raters=raters)
        shown = on_screen(found, width, why=True)
        assert max(map(cell_len, shown.splitlines())) <= width
        for name, result in zip(TITLES.values(), found.results, strict=True):
            line = re.sub(r" {2,}", "  ", line_of(shown, f"{name} "))
            assert line.startswith(f"{name}  {words.score(result.estimate)}  {words.interval_text(result.interval)}  ")
            assert words.chance_text(result) in line

    def test_scores_have_the_names_and_decimals_of_the_paper(self) -> None:
        shown = on_screen(with_scores(0.53, 0.58, 0.95), 80)
        assert re.search(r"^HUSE +0\.53  ", shown, flags=re.M)
        assert re.search(r"^HUSE-Q +0\.58  ", shown, flags=re.M)
        assert re.search(r"^HUSE-D +0\.95  ", shown, flags=re.M)

    def test_options_stand_behind_the_name(self) -> None:
        found = replace(huse_study(), labels=("huse k=8", "huse_q", "huse_d k=8 variant=fair"))
        shown = on_screen(found, 120)
        assert line_of(shown, "HUSE k=8 ")
        assert line_of(shown, "HUSE-D k=8 variant=fair ")

    def test_words_stand_in_the_row_where_there_is_room(self) -> None:
        found = with_scores(0.53, 0.58, 0.95)
        wide, narrow = on_screen(found, 120), on_screen(found, 80)
        assert line_of(wide, "HUSE-D").rstrip().endswith("a further 2.5 % identified with the probability")
        assert "in words" in line_of(wide, "metric")
        assert "in words" not in narrow
        assert "HUSE-D: a further 2.5 % identified with the probability" in narrow.splitlines()

    def test_without_intervals_and_tests_there_are_no_columns_for_them(self) -> None:
        found = huse_study()
        bare = [replace(result, interval=None, p_value=None, parts={}) for result in found.results]
        shown = on_screen(replace(found, results=tuple(bare)), 80)
        assert line_of(shown, "metric").split() == ["metric", "score", "in", "words"]
        assert not {"interval:", "chance:", "p:"} & set(shown.split())

    def test_a_score_without_a_number_says_why(self) -> None:
        found = huse_study()
        found = replace(found, results=(*found.results[:2], undefined(found.results[2], "fewer than 32 items")))
        shown = on_screen(found, 80)
        assert re.search(r"^HUSE-D +– ", shown, flags=re.M)
        assert "HUSE-D: no number: fewer than 32 items" in shown

    def test_why_says_what_has_no_test(self) -> None:
        assert "HUSE-D: no test: " in on_screen(huse_study(), 120, why=True)
        assert "no test" not in on_screen(huse_study(), 120)

    def test_it_is_printed_without_a_terminal(self) -> None:
        shown = str(huse_study())
        assert not STEERING.search(shown)
        assert line_of(shown, "HUSE-Q")


class TestWords:
    def test_a_score_in_words(self) -> None:
        huse, huse_q, huse_d = with_scores(0.53, 0.58, 0.95).results
        assert words.in_words(huse) == "74 % identified by rating and probability"
        assert words.in_words(huse_q) == "71 % identified by rating alone"
        assert words.in_words(huse_d) == "a further 2.5 % identified with the probability"
        assert words.in_words(replace(huse_d, estimate=1.02)) == "the probability adds nothing"
        assert words.in_words(undefined(huse, "too few")) == "no number"

    def test_the_heading_counts_sources_ratings_and_raters(self) -> None:
        assert words.heading(huse_study()) == (
            "40 items (20 human, 20 pointer net), 800 ratings by 20 raters, scale 1 to 6"
        )
        assert words.heading(huse_study(raters=False)) == (
            "40 items (20 human, 20 pointer net), mean ratings only, between 1 and 6"
        )

    def test_failures_are_counted_by_source(self) -> None:
        found = huse_study()
        for name, is_model in words.sources(found):
            counted = [int(number) for number in re.findall(r"\d+", words.kind_counts(found, is_model=is_model))]
            assert sum(counted) == 20
            kinds = [each.kind for each in found.items if each.item.is_model == is_model]
            assert counted == [kinds.count(kind) for kind in KINDS]
            assert f"{name}  " in re.sub(r" {2,}", "  ", on_screen(found, 80))

    def test_neighbours_in_a_line(self) -> None:
        found = huse_study()
        name, ranges = words.k_range(found)
        assert name == "k 1 to 16"
        lowest, highest = min(at.huse for at in found.by_k), max(at.huse for at in found.by_k)
        assert ranges.startswith(f"HUSE {lowest:.2f} to {highest:.2f}, HUSE-Q ")
        assert words.k_range(replace(found, by_k=found.by_k[:1])) == ("", "")
        unknown = [replace(at, huse=math.nan, huse_d=math.nan) for at in found.by_k]
        assert words.k_range(replace(found, by_k=tuple(unknown)))[1].startswith("HUSE-Q ")

    def test_of_many_numbers_of_neighbours_few_are_listed(self) -> None:
        found = huse_study()
        many = tuple(replace(found.by_k[0], k=k) for k in range(1, 40))
        results = tuple(replace(result, options={"k": 12}) for result in found.results)
        ks = [at.k for at in words.main_ks(replace(found, by_k=many, results=results))]
        assert ks == [1, 2, 4, 8, 12, 16, 32]

    def test_raters(self) -> None:
        found = with_scores(0.53, 0.58, 0.95)
        agreement = found.agreement
        assert agreement is not None
        without = tuple(replace(result, estimate=result.estimate - 0.02) for result in found.results)
        found = replace(found, agreement=replace(agreement, without=without))
        assert trust.agreement_lines(found) == [
            "low agreement, Krippendorff's alpha 0.34 [0.27, 0.41], 0.36 for ranks; 2 of 20 raters look random",
            f"without them HUSE 0.51, HUSE-Q 0.56, HUSE-D 0.93; {trust.CHOSEN}",
        ]
        assert trust.rater_lines(found, 1) == [
            "r018 (40 ratings): agrees with nobody: correlation -0.02, p 0.55",
            "and 1 more",
        ]
        good = tuple(rater for rater in agreement.raters if not rater.flagged)
        calm = replace(found, agreement=replace(agreement, raters=good, without=(), alpha=0.81))
        assert trust.agreement_lines(calm)[0].startswith("high agreement")
        assert trust.agreement_lines(calm)[0].endswith("; no rater looks random")
        assert trust.rater_lines(calm, 5) == []
        assert trust.agreement_lines(huse_study(raters=False)) == ["agreement unknown: there are only mean ratings"]

    def test_raters_that_were_left_out_are_not_counted(self) -> None:
        found = huse_study()
        rated = found.rated
        kept = rated.rater_of < 18
        cut = replace(rated, item_of=rated.item_of[kept], rater_of=rated.rater_of[kept], ratings=rated.ratings[kept])
        found = replace(found, rated=cut)
        assert "720 ratings by 18 raters" in words.heading(found)
        assert "2 of 20 raters look random and are left out" in trust.agreement_lines(found)[0]

    def test_ratings_whose_raters_are_not_known(self) -> None:
        found = huse_study()
        agreement = found.agreement
        assert agreement is not None
        nameless = replace(agreement, raters=(), without=())
        assert trust.agreement_lines(replace(found, agreement=nameless))[0].endswith("; raters unknown")

    def test_where_one_score_has_no_test_a_dash_stands(self) -> None:
        found = huse_study()
        results = (*found.results[:2], replace(found.results[2], p_value=None))
        assert words.p_texts(replace(found, results=results)) == ["0.001", "0.001", "–"]
        untested = tuple(replace(result, p_value=None) for result in found.results)
        assert words.p_texts(replace(found, results=untested)) == ["", "", ""]

    def test_raters_are_listed_only_on_request(self) -> None:
        assert "gave 6 every time" in on_screen(huse_study(), 80, why=True)
        assert "gave 6 every time" not in on_screen(huse_study(), 80)

    def test_more_data(self) -> None:
        assert trust.outlook_rows(huse_study())[0] == ("HUSE", "±0.12", "±0.09", "±0.12")
        assert trust.outlook_rows(huse_study(raters=False))[0] == ("HUSE", "±0.12", "±0.09", "–")
        found = huse_study()
        paid = tuple(replace(each, metric=f"{each.metric} k=8", worth="pay for items") for each in found.outlook)
        found = replace(found, outlook=paid)
        assert trust.worth_lines(found)[1:] == [("HUSE-Q k=8", "pay for items"), ("HUSE-D k=8", "pay for items")]
        assert on_screen(found, 80).count("pay for items") == 1
        assert on_screen(found, 80, why=True).count("pay for items") == 3
        assert "more data" not in on_screen(replace(found, outlook=()), 80)

    @pytest.mark.parametrize(("level", "sign"), [("same", "="), ("differs", "≠"), ("untested", "?"), ("odd", "?")])
    def test_the_verdict_has_a_sign(self, level: str, sign: str) -> None:
        found = replace(huse_study(), verdict=Verdict.of(level, "one reason", "another"))
        assert re.search(rf"^{re.escape(sign)} one reason *\n  another", on_screen(found, 80), re.M)

    def test_notes_are_said_once(self) -> None:
        found = huse_study()
        found = replace(found, rated=replace(found.rated, notes=found.notes))
        assert on_screen(found, 200).count(found.notes[0]) == 1


class TestCaptions:
    def test_at_80_columns_captions_are_a_line_each_and_definitions_come_on_request(self) -> None:
        found = replace(huse_study(), chance_kinds=(6.0, 3.0, 31.0))
        short = [*words.short_legend(found), *words.kinds_in_short(found), trust.OUTLOOK_SHORT]
        assert max(map(len, short)) <= 80
        assert set(short) <= {line.rstrip() for line in on_screen(found, 80).splitlines()}
        long = [*words.legend_lines(found), words.kinds_explained(found), trust.OUTLOOK_LEGEND]
        asked, plain = on_screen(found, 320, why=True), on_screen(found, 320)
        for line in long:
            assert line in asked
            assert line not in plain

    def test_only_what_there_is_is_explained(self) -> None:
        found = huse_study()
        bare = tuple(replace(result, interval=None, p_value=None, parts={}) for result in found.results)
        assert len(words.short_legend(replace(found, results=bare))) == 2
        assert words.short_legend(replace(found, results=bare[2:])) == [
            "HUSE-D 1: the probability does not help to distinguish more texts"
        ]
        assert len(words.kinds_in_short(found)) == 2
        untested = tuple(replace(result, p_value=None, parts={}) for result in found.results)
        assert words.short_legend(replace(found, results=untested))[2] == "interval: 95 %"

    def test_the_legend_names_the_method_of_intervals(self) -> None:
        found = huse_study()
        method = "bootstrap over contexts, items, ratings and raters"
        assert f"interval: 95 %, {method}" in words.legend_lines(replace(found, settings={"interval": method}))
        assert "interval: 95 %, bootstrap" in words.legend_lines(found)


class TestExamples:
    def test_both_sources_take_turns_and_the_clearest_come_first(self) -> None:
        found = huse_study(200)
        for kind, items in examples(found, 6).items():
            assert {item.judged.kind for item in items} == {kind}
            assert [item.source for item in items[:4]] == ["pointer net", "human"] * 2
            votes = [item.judged.votes for item in items if item.source == "human"]
            by_rating = [item.judged.votes_by_rating for item in items if item.source == "human"]
            if kind == "quality failure":
                assert by_rating == sorted(by_rating, reverse=True)
            elif kind == "diversity failure":
                assert votes == sorted(votes, reverse=True)
            else:
                assert votes == sorted(votes, key=lambda share: abs(share - 0.5))

    def test_kinds_without_items_are_left_out(self) -> None:
        found = huse_study()
        told = tuple(replace(each, kind="quality failure") for each in found.items)
        assert list(examples(replace(found, items=told), 3)) == ["quality failure"]
        assert examples(found, 0) == {}

    def test_texts_ratings_and_probabilities_are_shown_on_request(self) -> None:
        found = huse_study(200)
        shown = on_screen(found, 200, why=True, top=1)
        for kind, (item,) in examples(found, 1).items():
            assert words.PLURALS[kind] in shown
            assert f"{item.source} {item.id}: rating {item.judged.rating:.2f}, log p per token" in shown
            assert f"\n  {item.text}" in shown
            assert f"\n  context: {item.context}" in shown
            assert item.text not in on_screen(found, 200)

    def test_every_vote_that_makes_a_kind_is_shown(self) -> None:
        found = huse_study()
        first = replace(found.items[0], votes=0.5, votes_by_rating=0.8, votes_by_log_prob=0.25, kind="quality failure")
        votes = ("neighbours from its source 50 %", "by rating 80 %", "by probability 25 %")
        shown = on_screen(replace(found, items=(first,)), 200, why=True)
        assert ", ".join(votes) in line_of(shown, f"human {first.item.id}")
        page = render_markdown(replace(found, items=(first,)))
        assert "| neighbours from its source | by rating | by probability |" in page
        assert "| 50 % | 80 % | 25 % |" in page
        unknown = replace(first, votes=math.nan, votes_by_rating=math.nan, votes_by_log_prob=math.nan)
        (example,) = examples(replace(found, items=(unknown,)), 1)["quality failure"]
        assert "neighbours" not in example.figures
        assert example.votes == ("–", "–", "–")

    def test_markdown_has_as_many_of_a_kind_as_the_terminal(self) -> None:
        found = huse_study(200)
        counted = []
        for page in (render_markdown(found), render_markdown(found, top=3)):
            tables = re.findall(r"^### .*\n\n\|.*\n\| ---.*\n((?:\|.*\n)+)", page, flags=re.M)
            counted.append([len(table.splitlines()) for table in tables])
        assert counted == [[5] * 3, [3] * 3]

    def test_items_without_texts_say_so(self) -> None:
        found = huse_study()
        bare = tuple(replace(each, item=replace(each.item, text=None, context=None)) for each in found.items)
        shown = on_screen(replace(found, items=bare), 80, why=True, top=1)
        assert "(no text)" in shown
        assert "context:" not in shown


class TestHostile:
    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("why", [False, True])
    def test_nothing_steers_the_terminal(self, width: int, why: bool) -> None:
        shown = on_screen(huse_study(hostile=True), width, why=why, top=50)
        assert not STEERING.search(shown)
        assert max(map(cell_len, shown.splitlines())) <= width
        assert "[bold red]markup[/bold red]" in re.sub(r"\s+", " ", shown)

    def test_colour_is_ours_alone(self) -> None:
        shown = on_screen(huse_study(hostile=True), 120, why=True, top=50, colour=True)
        assert re.search(r"\x1b\[1m", shown)
        assert not STEERING.search(re.sub(r"\x1b\[[0-9;]*m", "", shown))

    def test_long_texts_are_cut(self) -> None:
        assert "x" * 900 not in re.sub(r"\s", "", on_screen(huse_study(hostile=True), 200, why=True, top=50))
        assert "x" * 900 not in render_markdown(huse_study(hostile=True))

    def test_markdown_has_no_live_sign_of_theirs(self) -> None:
        page = render_markdown(huse_study(hostile=True))
        assert not STEERING.search(page)
        body = page.partition("\n```")[0]
        assert not re.search(r"(?<!\\)<", body)
        assert "\\[a link\\](javascript" in body
        tables = [block for block in body.split("\n\n") if block.startswith("| ")]
        assert len(tables) >= 7
        for table in tables:
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1

    def test_csv_cells_are_no_formulas(self) -> None:
        text = huse_study(hostile=True).to_csv()
        cells = [cell for row in csv.DictReader(io.StringIO(text)) for cell in row.values()]
        numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
        assert any(cell.startswith("'=cmd") for cell in cells)
        assert any(cell.startswith("'+1 |") for cell in cells)
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@") and not numbers.fullmatch(cell)]
        assert not STEERING.search(text)
        assert len(text.splitlines()) == 1 + len(huse_study().items)

    def test_a_notebook_shows_texts_and_runs_none(self) -> None:
        page = Page(render_notebook(huse_study(hostile=True)))
        assert page.complaints == []
        assert {"script", "img", "style", "iframe"}.isdisjoint(tag for tag, _ in page.elements)
        assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
        assert "<script>alert(1)</script>" in page.text
        assert not STEERING.search(page.text)


class TestForms:
    def test_markdown(self) -> None:
        found = with_scores(0.53, 0.58, 0.95)
        page = render_markdown(found)
        assert page.startswith("# headlines: 40 items (20 human, 20 pointer net), 800 ratings by 20 raters")
        assert "| metric | in words | score | interval | p | chance |" in page
        assert re.search(
            r"^\| HUSE \| 74 % identified [a-z ]+ \| 0\.53 \| \\\[0\.\d\d, 0\.\d\d\\\] \| 0\.001"
            r" \| 0\.98 \\\[0\.84, 1\.12\\\] \|",
            page,
            re.M,
        )
        assert re.findall("^## (.*)", page, flags=re.M) == [
            "No number or no test", "Kinds of items", "Neighbours", "Raters", "Stability", "More data", "Items",
        ]  # fmt: skip
        kinds = words.count_of(found, "quality failure", is_model=False)
        assert f"| quality failure | source clear from the rating alone | {kinds} |" in page
        assert f"| 1 | {found.by_k[0].huse:.2f} | {found.by_k[0].huse_q:.2f} |" in page
        assert "| mean and range on | HUSE | HUSE-Q | HUSE-D |" in page
        assert re.search(r"^\| 1 rating per item \| [\d.]+ \[[\d.]+, [\d.]+\] \|", page, flags=re.M)
        assert re.search(r"^\| 40 items \| ", page, flags=re.M)
        assert "scale: 1 (Invalid) to 6 (Very Typical)" in page
        assert page.count("|resamples:999|") == 3

    def test_markdown_counts_what_chance_gives(self) -> None:
        found = huse_study()
        assert "by chance" not in render_markdown(found)
        page = render_markdown(replace(found, chance_kinds=(6.4, 3.0, 30.6)))
        assert "| kind | which means | human | pointer net | both by chance |" in page
        row = r"^\| diversity failure \| source clear only with the probability \| \d+ \| \d+ \| 3 \|"
        assert re.search(row, page, re.M)

    def test_sections_without_content_are_left_out(self) -> None:
        found = replace(huse_study(), by_k=(), stability=(), outlook=(), agreement=None, items=())
        titles = re.findall("^## (.*)", render_markdown(found), flags=re.M)
        assert not {"Neighbours", "Stability", "More data", "Items"} & set(titles)

    def test_csv_has_a_row_an_item(self) -> None:
        found = huse_study()
        listed = list(csv.DictReader(io.StringIO(found.to_csv())))
        assert tuple(listed[0]) == CSV_FIELDS
        for row, each in zip(listed, found.items, strict=True):
            assert (row["item"], row["kind"], row["text"]) == (each.item.id, each.kind, each.item.text)
            assert row["source"] == ("pointer net" if each.item.is_model else "human")
            assert float(row["rating"]) == each.rating
            assert float(row["log_prob_per_token"]) == each.log_prob
            assert (float(row["votes"]), row["told"]) == (each.votes, str(each.told))

    def test_what_is_not_known_is_empty(self) -> None:
        found = huse_study()
        first = replace(found.items[0], votes=math.nan, item=replace(found.items[0].item, context=None))
        row = next(csv.DictReader(io.StringIO(replace(found, items=(first,)).to_csv())))
        assert (row["votes"], row["context"]) == ("", "")

    def test_pandas_reads_the_rows(self) -> None:
        pytest.importorskip("pandas")
        tidy = huse_study().to_frame()
        assert tidy["metric"].tolist() == ["huse", "huse_q", "huse_d"]
        assert set(tidy["candidate"]) == {huse_study().rated.model}
        first, second, third = (result.p_value for result in huse_study().results)
        assert first is not None
        assert second is not None
        assert third is None
        assert tidy["p_adjusted"].tolist()[:2] == holm([first, second])
        frame = huse_study().items_frame()
        assert list(frame.columns) == list(CSV_FIELDS)
        assert frame["kind"].tolist() == [row["kind"] for row in huse_study().csv_rows()]

    def test_a_notebook_gets_scores_verdict_and_counts(self) -> None:
        page = Page(with_scores(0.53, 0.58, 0.95)._repr_html_())
        text = re.sub(r"\s+", " ", page.text)
        for expected in ("headlines: 40 items", "Differs: told from people", "HUSE-D 0.95", "pointer net: quality"):
            assert expected in text
        assert "Krippendorff's alpha 0.34" in text
        assert page.complaints == []
