"""What holds of every document in the terminal, in Markdown and in LaTeX: it is complete, safe, and fits the screen."""

import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console

from tests.report.documents import comparison, document_of, documents, hostile_texts, metric_table, unique_words
from textassay.corpus.printable import printable_lines
from textassay.document.blocks import Chart, Document, Head, Notes, Section, Summary, Table
from textassay.metrics.registry import all_metrics, citations
from textassay.report import markdown, tables
from textassay.report.names import fitted_names
from textassay.report.terminal import render

HOSTILE = document_of(hostile_texts())
UNIQUE = document_of(unique_words())
SCRIPTS = ("ключ-модель-", "モデル評価-", "نموذج-توليد-", "मॉडल-परीक्षण-", "👩‍👩‍👧-model-", "a\u0301b\u0301-")


def shown(document: Document, *, width: int = 80, **view: Any) -> list[str]:
    """The lines of the terminal form, without colours."""
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False, emoji=False, markup=False)
    with console.capture() as capture:
        console.print(render(document, width=width, **view))
    return printable_lines(capture.get()).splitlines()


def words(text: str) -> set[str]:
    return set(re.findall(r"w\d{3}x", text))


def strings(value: Any) -> Iterator[str]:
    """All strings of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from strings(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from strings(getattr(value, name))


def titles_of_axes(document: Document) -> set[str]:
    charts = [block for section in document.sections for block in section.blocks if isinstance(block, Chart)]
    return {title for chart in charts for title in (chart.plot.x.title, chart.plot.y.title)}


class TestTerminal:
    @pytest.mark.parametrize("width", [40, 61, 80, 120, 200])
    @pytest.mark.parametrize("document", [HOSTILE, UNIQUE, comparison(1), comparison(6)], ids=range(4))
    def test_no_line_is_wider_than_the_screen(self, document: Document, width: int) -> None:
        for view in ({"table": True, "why": True}, {"height": 24}, {}):
            assert max(map(cell_len, shown(document, width=width, **view))) <= width

    @settings(max_examples=15)
    @given(documents())
    def test_any_text_is_harmless_and_fits(self, document: Document) -> None:
        for width in (40, 100):
            lines = shown(document, width=width, table=True, why=True)
            assert max(map(cell_len, lines)) <= width
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\n".join(lines))

    def test_everything_is_shown_when_it_is_asked_for(self) -> None:
        in_report = {word for section in UNIQUE.sections if section.shown == "report" for word in words(str(section))}
        wanted = words(" ".join(strings(UNIQUE))) - in_report - titles_of_axes(UNIQUE) - {UNIQUE.title}
        assert wanted - words("\n".join(shown(UNIQUE, width=120, table=True, why=True))) == set()

    def test_sections_come_when_they_are_wanted(self) -> None:
        by_shown = {section.shown: section.title for section in UNIQUE.sections}
        for view in ({}, {"table": True}, {"why": True}, {"table": True, "why": True}):
            found = words("\n".join(shown(UNIQUE, **view)))
            assert {how for how, title in by_shown.items() if title in found} == {"screen", *view}

    @pytest.mark.parametrize(
        ("n", "width", "height"), [(1, 80, 24), (2, 80, 24), (3, 80, 24), (6, 120, 40), (3, 40, 40), (100, 80, 24)]
    )
    @pytest.mark.parametrize("same", [False, True])
    def test_the_answer_fits_on_the_screen(self, n: int, width: int, height: int, same: bool) -> None:
        document = comparison(n, same=same)
        lines = shown(document, width=width, height=height)
        assert len(lines) < height  # the last line is for the prompt
        text = " ".join(" ".join(lines).split())
        assert document.summary.sentence in text
        assert document.summary.caveats[0] in text
        assert "--table" in lines[-1] or "--table" in lines[-2]
        assert "at least 37 %" in text
        assert ("none found" in text or "no difference found" in text) == same

    def test_a_screen_has_as_many_reasons_as_fit(self) -> None:
        document = comparison(3)
        every = [reason for row in document.summary.rows for reason in row.why]
        large, small = (" ".join(shown(document, width=100, height=height)) for height in (60, 20))
        assert all(reason in large for reason in every)
        assert 0 < sum(reason in small for reason in every) < len(every)

    @pytest.mark.parametrize("height", [24, 40, None])
    def test_a_hundred_candidates_are_cut_with_a_count(self, height: int | None) -> None:
        text = "\n".join(shown(comparison(100), width=100, height=height))
        (hidden,) = re.findall(r"and (\d+) more \(", text)
        rows = [line for line in text.splitlines() if re.match(r"\d+ +\S+ +≠ .*41 %", line)]
        assert len(rows) + int(hidden) == 100
        assert len(rows) >= 5
        everything = "\n".join(shown(comparison(100), width=100, height=height, table=True))
        assert all(f"{500 * place}-t" in everything for place in range(1, 101))

    @pytest.mark.parametrize("script", SCRIPTS)
    @pytest.mark.parametrize("width", [14, 24])
    def test_long_names_stay_different(self, script: str, width: int) -> None:
        long = (script * 200)[:200]
        for names in ([f"{long}{i}" for i in range(5)], [f"{i}{long}" for i in range(5)], [long] * 3):
            fitted = fitted_names(names, width)
            assert len(set(fitted)) == len(names)
            assert max(map(cell_len, fitted)) <= width
        document = comparison(5, names=tuple(f"{long}{i}" for i in range(5)))
        for wide in (40, 80):
            assert max(map(cell_len, shown(document, width=wide, table=True))) <= wide

    def test_a_table_of_many_columns_has_the_baseline_in_every_block(self) -> None:
        lines = shown(comparison(8), width=80, table=True)
        heads = [line for line in lines if line.startswith("metric ")]
        assert len(heads) > 2
        assert all("real v real" in head for head in heads)
        names = tuple(f"checkpoint-{500 * place}-temperature-0.7" for place in range(1, 9))
        assert sum(line.count("±0.0098") for line in lines) == 3 * len(names)

    @pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
    def test_without_colours_the_words_are_the_same(self, variable: str, value: str) -> None:
        console = Console(force_terminal=True, width=80, _environ={variable: value}, file=StringIO())
        with console.capture() as capture:
            console.print(render(comparison(3), width=80))
        plain = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
        assert plain.splitlines() == shown(comparison(3))
        assert not re.search(r"\x1b\[[\d;]*3\d", capture.get())
        assert value != "dumb" or "\x1b" not in capture.get()


class TestMarkdown:
    parser = MarkdownIt("commonmark").enable("table")

    def test_everything_is_in_it(self) -> None:
        wanted = words(" ".join(strings(UNIQUE))) - titles_of_axes(UNIQUE) - {UNIQUE.title, *UNIQUE.summary.hints}
        assert wanted - words(markdown.text(UNIQUE)) == set()

    @settings(max_examples=15)
    @given(documents())
    def test_any_text_is_only_text(self, document: Document) -> None:
        self.assert_plain(document)

    def test_hostile_texts_are_only_text(self) -> None:
        self.assert_plain(HOSTILE)

    def assert_plain(self, document: Document) -> None:
        """No text makes an element of its own, and every table has as many cells as its head."""
        page = self.parser.render(markdown.text(document))
        tags = set(re.findall(r"</?(\w+)", page))
        ours = "h1 h2 h3 p em strong ul li table thead tbody tr th td pre code details summary hr br"
        assert tags <= set(ours.split())
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
        for table in re.findall("<table>.*?</table>", page, flags=re.S):
            counts = {len(re.findall("<t[hd]", row)) for row in re.findall("<tr>.*?</tr>", table, flags=re.S)}
            assert len(counts) == 1
        details = [
            block for section in document.sections for block in section.blocks if type(block).__name__ == "Details"
        ]
        assert page.count("<details>") == page.count("</details>") == len(details)

    def test_texts_come_through_unchanged(self) -> None:
        inline = [token for token in self.parser.parse(markdown.text(comparison(2))) if token.type == "inline"]
        text = "\n".join(child.content for token in inline for child in token.children or ())
        assert comparison(2).summary.sentence in text
        assert comparison(2).summary.rows[0].why[0] in text


class TestScreens:
    CAVEATS = tuple(f"caveat {at}: {'a long remedy ' * 8}" for at in range(6))

    def test_the_ranking_comes_before_caveats_and_these_are_counted(self) -> None:
        document = comparison(7)
        document = replace(document, summary=replace(document.summary, caveats=self.CAVEATS))
        lines = shown(document, width=80, height=24)
        assert len(lines) < 24
        assert [line.split()[0] for line in lines if "41 %" in line] == [str(rank) for rank in range(1, 8)]
        (left,) = [line for line in lines if "more caveat" in line]
        n_shown = sum(line.startswith("! caveat") for line in lines)
        assert left.strip() == f"! {6 - n_shown} more caveats: --why"
        # Too small for the reasons of all candidates: there is none of a few.
        assert not any("“Certainly !”" in line for line in lines)

    def test_a_tiny_screen_has_a_candidate_and_counts_all_else(self) -> None:
        document = comparison(7)
        document = replace(document, summary=replace(document.summary, caveats=self.CAVEATS))
        text = " ".join(" ".join(shown(document, width=40, height=24)).split())
        assert "… and 6 more" in text
        assert "! 6 caveats: --why" in text

    def test_lists_of_sections_leave_room_for_the_answer(self) -> None:
        document = comparison(3)
        checks = (metric_table(("a",)), Notes(tuple(f"check {at}" for at in range(9))))
        document = replace(document, sections=(Section("gate", "Gate", checks, "screen"),))
        lines = shown(document, width=80, height=24)
        assert len(lines) < 24
        assert [line.split()[0] for line in lines if "41 %" in line] == ["1", "2", "3"]
        n_shown = sum(line.startswith("check") for line in lines)
        assert n_shown < 9
        assert f"… and {9 - n_shown} more: --table" in lines
        assert sum(line.startswith("check") for line in shown(document, width=80, height=24, table=True)) == 9
        assert sum(line.startswith("check") for line in shown(document, width=80)) == 9

    def test_reasons_do_not_repeat_what_stands_out(self) -> None:
        document = comparison(1)
        row = replace(document.summary.rows[0], stands_out="“Yes” 9 v 1", why=("words: more “Yes” 9 (1)", "topics"))
        document = replace(document, summary=replace(document.summary, rows=(row,)))
        found = {}
        for height in range(7, 24):
            text = "\n".join(shown(document, width=80, height=height))
            found[height] = ("“Yes” 9 v 1" in text, "words: more" in text)
        assert (True, True) not in found.values()
        assert found[23] == (False, True)

    def test_what_stands_out_comes_before_reasons_of_candidates_in_which_nothing_does(self) -> None:
        document = comparison(4)
        rows = [
            replace(row, stands_out=f"marked {at}", why=(f"why {at}",)) for at, row in enumerate(document.summary.rows)
        ]
        rows[0] = replace(rows[0], stands_out="")
        document = replace(document, summary=replace(document.summary, rows=tuple(rows), ties=(), caveats=()))
        whole = shown(document, width=80, height=40)
        assert sum("why" in line for line in whole) == 4
        less = shown(document, width=80, height=len(whole))
        assert sum("marked" in line for line in less) == 3
        assert not any("why 0" in line for line in less)

    def test_sections_without_room_beside_the_answer_leave_it_whole(self) -> None:
        document = comparison(3)
        gate = Section("gate", "Gate", (metric_table(tuple("abcdefgh")),) * 4, "screen")
        lines = shown(replace(document, sections=(gate,)), width=80, height=24)
        assert len(lines) > 24
        assert [line.split()[0] for line in lines if "41 %" in line] == ["1", "2", "3"]


class TestLatex:
    # The commands and environments that the form has itself, and those that stand for a character.
    OURS = frozenset(
        {"begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule", "addlinespace"}
        | {"multicolumn", "emph", "par", "smallskip", "footnotesize", "scriptsize", "usepackage"}
        | set(re.findall(r"\\([a-z]+)", " ".join(tables.CHARACTERS.values())))
    )

    def test_no_text_is_a_command(self) -> None:
        text = tables.latex(HOSTILE)
        assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= self.OURS
        body = re.sub(r"\\.", "", text.partition("\n")[2])
        assert body.count("{") == body.count("}")
        assert body.count("$") % 2 == 0
        assert not re.search(r"[#%~]", body)

    def test_the_table_has_all_values_and_intervals(self) -> None:
        text = tables.latex(comparison(4))
        assert text.count(r"\begin{table}") == 1
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert sum(line.count(r"$\pm$0.0098") for line in rows) == 12
        assert {line.count("&") for line in rows if "multicolumn" not in line} == {5}
        assert r"\emph{quality}" in text

    def test_the_caption_says_what_was_compared_and_nothing_of_columns_of_the_summary(self) -> None:
        document = comparison(2)
        summary = replace(document.summary, context="9 texts each", reading="quality in points")
        text = tables.latex(replace(document, title="a against b", summary=summary))
        assert r"\caption{a against b. 9 texts each.}" in text
        assert "in points" not in text
        assert "9 texts each; quality in points" in " ".join(shown(replace(document, summary=summary)))

    def test_metrics_cite_their_sources(self) -> None:
        text = tables.latex(comparison(2), ["bleu", "no such metric", "cnd"])
        assert r"Sources: bleu~\cite{papineni2002}, cnd~\cite{li2020}." in text
        cited = set(re.findall(r"\\cite\{(\w+)\}", text))
        assert {f"@misc{{{key}," for key in cited} <= set(tables.bibtex(["bleu", "cnd"]).split("\n"))
        assert "cite" not in tables.latex(comparison(2))

    def test_many_candidates_have_rows(self) -> None:
        text = tables.latex(comparison(9))
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert rows[0].startswith("candidate & bleu-4 $\\uparrow$ &")
        assert len(rows) == 1 + 1 + 9  # the head, real text, and candidates
        assert text.count(r"$\pm$0.0098") == 27

    def test_a_study_without_columns_of_candidates_has_its_tables(self) -> None:
        table = metric_table(("a",))
        plain = Table((Head("pair"), Head("QDisc", True), Head("DRate", True)), table.rows)
        document = Document("frontier", "t", Summary("q", "c", "s"), (Section("a", "A", (plain,), "table"),))
        assert r"pair & QDisc & DRate \\" in tables.latex(document)


def test_every_citation_is_an_entry() -> None:
    entries = tables.bibtex(all_metrics())
    assert entries.count("@misc{") == len(citations())
    for key, citation in citations().items():
        entry = entries.partition(f"@misc{{{key},")[2].partition("\n}")[0]
        fields = dict(re.findall(r"(\w+) = \{(.*)\},", entry))
        assert set(fields) == {"author", "title", "howpublished", "year"}
        title = fields["title"][1:-1]
        parts = fields["author"].replace(" and ", ", "), title, fields["howpublished"], fields["year"]
        assert citation == f"{parts[0]}. {title}{'' if title[-1] in '?!' else '.'} {parts[2]}, {parts[3]}."
    assert tables.bibtex(["no such metric"]).startswith("%")
