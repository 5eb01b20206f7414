"""Tables for other programs: CSV for spreadsheets, LaTeX and BibTeX for papers."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from textassay.corpus.printable import begins_like_formula, printable, shortened
from textassay.document.blocks import Cell, Document, Head, Row, Table, walk
from textassay.metrics.registry import all_metrics, citations

_LONGEST = 400
# A table of more columns than this is turned, so that candidates have rows.
_MOST_COLUMNS = 7


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header; texts are made safe for spreadsheets, numbers are not changed."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _for_spreadsheet(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _for_spreadsheet(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe; control characters become visible.

    >>> _for_spreadsheet("=1+1"), _for_spreadsheet(-1.5), _for_spreadsheet("two lines")
    ("'=1+1", -1.5, 'two lines')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if begins_like_formula(text) else text


# LaTeX.

# Characters that LaTeX would interpret, and signs of ours that its usual fonts lack.
CHARACTERS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": "'", "`": r"\textasciigrave{}", "–": "--", "…": r"\ldots{}",
    "“": "``", "”": "''", "’": "'", "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "≈": r"$\approx$",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "×": r"$\times$", "−": "$-$", "∞": r"$\infty$", "•": r"$\bullet$",
    "·": r"$\cdot$", "⚠": "!",
}  # fmt: skip
_TO_LATEX = str.maketrans(CHARACTERS)
_RAISED, _PLAIN_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"
_LOWERED = str.maketrans(_RAISED, _PLAIN_DIGITS)
_POWER = re.compile(f"[{_RAISED}]+")
_NEGATIVE = re.compile(r"(?<![\w-])-(?=\d)")


def latex(document: Document, metrics: Iterable[str] = ()) -> str:
    r"""The tables of metrics and candidates in the style of booktabs, for a paper; needs the package booktabs.

    These are the tables with a column or a row per candidate; a study without any has the tables that a terminal shows.
    The sources of these metrics are cited below the last table, by the keys of `bibtex`.
    """
    tables = _chosen(document)
    lines = ["% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}"]
    for number, table in enumerate(tables, 1):
        label = f"tab:{document.kind.replace(' ', '-')}" + (f"-{number}" if len(tables) > 1 else "")
        sources = _cited(metrics) if number == len(tables) else ""
        lines += _float(document, table if len(table.heads) <= _MOST_COLUMNS else _turned(table), label, sources)
    return "\n".join(lines) + "\n"


def _chosen(document: Document) -> list[Table]:
    shown = [section for section in document.sections if section.shown in ("screen", "table")]
    tables = [block for section in shown for block in walk(section.blocks) if isinstance(block, Table) and block.rows]
    return [table for table in tables if _has_candidates(table)] or tables


def _has_candidates(table: Table) -> bool:
    """Whether candidates have columns or rows."""
    first = (row.cells[0].candidate for row in table.rows if row.cells)
    return any(candidate is not None for candidate in (*(head.candidate for head in table.heads), *first))


def _turned(table: Table) -> Table:
    """The table with a row per column, if all other columns are numbers and that has fewer columns."""
    rows = [row for row in table.rows if row.cells]
    if len(rows) >= len(table.heads) - 1 or not all(head.numeric for head in table.heads[1:]):
        return table
    first = [row.cells[0].text for row in rows]
    corner = "candidate" if any(head.candidate is not None for head in table.heads) else ""
    heads = (Head(corner), *(Head(text, numeric=True) for text in first))
    turned = [
        Row((Cell(head.text), *(row.cells[place] if place < len(row.cells) else Cell("") for row in rows)))
        for place, head in enumerate(table.heads)
        if place
    ]
    return Table(heads, tuple(turned), table.title, table.caption, table.footnotes)


def _cited(metrics: Iterable[str]) -> str:
    r"""The metrics with their sources.

    >>> _cited(["bleu", "cnd"])
    'Sources: bleu~\\cite{papineni2002}, cnd~\\cite{li2020}.'
    """
    known, listed = all_metrics(), citations()
    papers = {name: known[name].paper for name in metrics if name in known}
    cited = [rf"{_latex(name)}~\cite{{{paper}}}" for name, paper in papers.items() if paper in listed]
    return f"Sources: {', '.join(cited)}." if cited else ""


def _float(document: Document, table: Table, label: str, sources: str) -> Iterator[str]:
    texts = (table.title, document.title, document.summary.context)
    caption = ". ".join(text.rstrip(".") for text in texts if text)
    notes = [table.caption, *table.footnotes, *(note for row in table.rows for note in row.notes)]
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\caption{{{_latex(caption)}.}}"
    yield rf"\label{{{re.sub('[^a-z0-9:-]', '-', label.lower())}}}"
    yield rf"\begin{{tabular}}{{{''.join('r' if head.numeric else 'l' for head in table.heads)}}}"
    yield r"\toprule"
    yield rf"{' & '.join(_latex(head.text) for head in table.heads)} \\"
    yield r"\midrule"
    yield from _latex_rows(table)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    shown = [*(_latex(note) for note in notes if note), *([sources] if sources else [])]
    yield from (rf"\par\smallskip{{\footnotesize {note}\par}}" for note in shown)
    yield r"\end{table}"


def _latex_rows(table: Table) -> Iterator[str]:
    width = len(table.heads)
    for place, (section, rows) in enumerate(groupby(table.rows, key=lambda row: row.section)):
        if place:
            yield r"\addlinespace"
        if section:
            yield rf"\multicolumn{{{width}}}{{l}}{{\emph{{{_latex(section)}}}}} \\"
        for row in rows:
            cells = [*map(_latex_cell, row.cells[:width]), *([""] * (width - len(row.cells)))]
            yield rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell) -> str:
    beside = " ".join([cell.spread, *([f"({'; '.join(cell.small)})"] if cell.small else [])]).strip()
    mark = "$^{*}$" if cell.marked else ""
    return _latex(cell.text) + mark + (rf" {{\scriptsize {_latex(beside)}}}" if beside else "")


def _latex(text: str) -> str:
    r"""The text on one line with what LaTeX would interpret escaped.

    >>> print(_latex("50 % of a_b, -0.3 ±0.1"))
    50 \% of a\_b, $-$0.3 $\pm$0.1
    """
    shown = _NEGATIVE.sub("$-$", shortened(text, _LONGEST).translate(_TO_LATEX))
    return _POWER.sub(lambda found: f"$^{{{found[0].translate(_LOWERED)}}}$", shown)


# BibTeX.

_CITATION = re.compile(r"(?P<author>.+)\. (?P<title>.+?[.?!]) (?P<venue>[^.]+(?:\.\d+)?), (?P<year>\d{4})\.")


def bibtex(metrics: Iterable[str]) -> str:
    """The sources of these metrics as BibTeX entries, under the keys of the documentation."""
    known, listed = all_metrics(), citations()
    papers = sorted({known[name].paper for name in metrics if name in known} & set(listed))
    return "\n".join(_entry(key, listed[key]) for key in papers) or "% no metric here has a source\n"


def _entry(key: str, citation: str) -> str:
    found = _CITATION.fullmatch(citation)
    if found is None:
        return f"@misc{{{key},\n  note = {{{_latex(citation)}}},\n}}\n"
    fields = {
        "author": " and ".join(found["author"].split(", ")),
        "title": f"{{{found['title'].rstrip('.')}}}",
        "howpublished": found["venue"],
        "year": found["year"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(chain([f"@misc{{{key},"], lines, ["}", ""]))
