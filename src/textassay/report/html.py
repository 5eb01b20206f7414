"""The page of a document: one self-contained HTML file that makes no request and is readable without scripts."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from textassay.corpus.printable import many, printable, printable_lines, shortened
from textassay.document.blocks import (
    Block,
    Cell,
    Chart,
    Details,
    Document,
    Item,
    Items,
    Notes,
    Row,
    Section,
    Signatures,
    Summary,
    SummaryRow,
    Table,
)
from textassay.document.plot import Plot
from textassay.report.canvas import forms_of
from textassay.report.charts import draw
from textassay.report.legend import legend
from textassay.report.svg import key
from textassay.report.tones import Tone, tone_of, tone_of_decision
from textassay.version import __version__

MOST_BYTES = 1_500_000
# One text may not displace the texts of other items from the page.
MOST_CHARACTERS = 3000
# The share of the room for items that their rows may take; the rest is for their texts.
_FOR_ROWS = 0.4
_SLACK = 4_000


def page(document: Document) -> str:
    """The whole page, in at most 1.5 MB: examples, rows and charts are left out where it would be larger, and said.

    Items take what room is left by all other blocks.
    """
    for limits in _LIMITS:
        trimmed = _trimmed(document, limits)
        bare = _filled(trimmed, limits, 0)
        if len(bare.encode()) <= (_MOST_AROUND if _has_items(document) else MOST_BYTES):
            break
    room = MOST_BYTES - len(bare.encode()) - _SLACK
    return _filled(trimmed, limits, room) if _has_items(document) else bare


# What the page around the items may take: the rest is for the items themselves.
_MOST_AROUND = 800_000


@dataclass(frozen=True)
class _Limits:
    """The most rows of a table, examples of a row, charts of a section, signatures, candidates, and notes of a list."""

    rows: int
    examples: int
    charts: int
    pairs: int
    candidates: int
    notes: int = 30


_LIMITS = (
    _Limits(rows=2000, examples=4, charts=80, pairs=2000, candidates=300, notes=200),
    _Limits(rows=400, examples=3, charts=40, pairs=400, candidates=200),
    _Limits(rows=100, examples=1, charts=12, pairs=100, candidates=150),
    _Limits(rows=30, examples=0, charts=4, pairs=30, candidates=120),
    _Limits(rows=10, examples=0, charts=0, pairs=10, candidates=100, notes=10),
)


@dataclass(frozen=True)
class _LeftOut:
    """Says what a list of blocks lacks."""

    words: str


def _trimmed(document: Document, limits: _Limits) -> Document:
    """The document with as many rows, examples and charts as the limits allow."""
    rows = document.summary.rows
    hidden = len(rows) - limits.candidates
    left_out = f"{hidden:,} more are in the JSON file" if hidden > 0 else document.summary.left_out
    summary = replace(document.summary, rows=rows[: limits.candidates], left_out=left_out)
    sections = (replace(each, blocks=tuple(_fewer(each.blocks, limits))) for each in document.sections)
    return replace(document, summary=summary, sections=tuple(sections), notes=_first_notes(document.notes, limits))


def _first_notes(lines: tuple[str, ...], limits: _Limits) -> tuple[str, ...]:
    hidden = len(lines) - limits.notes
    return (*lines[: limits.notes], f"{hidden:,} more are in the JSON file.") if hidden > 0 else lines


def _fewer(blocks: Sequence[Block], limits: _Limits) -> Iterator[Any]:
    """The blocks within the limits; charts beyond their number are left out with a remark."""
    drawn = 0
    n_charts = sum(isinstance(block, Chart) for block in blocks)
    for block in blocks:
        drawn += isinstance(block, Chart)
        if not isinstance(block, Chart) or drawn <= limits.charts:
            yield _smaller(block, limits)
    if n_charts > limits.charts:
        yield _LeftOut(f"{n_charts - limits.charts:,} charts are left out, because the report would be too large.")


def _smaller(block: Block, limits: _Limits) -> Block:
    match block:
        case Table():
            rows = tuple(replace(row, examples=row.examples[: limits.examples]) for row in block.rows[: limits.rows])
            return replace(block, rows=rows, total=max(block.total or 0, len(block.rows)))
        case Signatures():
            return replace(block, pairs=block.pairs[: limits.pairs])
        case Notes():
            return Notes(_first_notes(block.lines, limits))
        case Details():
            return replace(block, blocks=tuple(_fewer(block.blocks, limits)))
    return block


def _has_items(document: Document) -> bool:
    return any(map(_items_of, document.sections))


def _items_of(section: Section | Details) -> list[Items]:
    found = [block for block in section.blocks if isinstance(block, Items)]
    return found + [items for block in section.blocks if isinstance(block, Details) for items in _items_of(block)]


def _filled(document: Document, limits: _Limits, room: int) -> str:
    """The page, with as many items as fit into this room."""
    n_lists = sum(len(_items_of(section)) for section in document.sections)
    template = environment().get_template("page.html.j2")
    remarks = (
        ["Parts of tables and charts are left out, because the report would be too large; the JSON file has all."]
        if limits is not _LIMITS[0]
        else []
    )
    style, script, icons = (asset(*names) for names in (("chart.css", "page.css"), ("page.js",), ("icons.svg",)))
    tools = _Tools(room // max(n_lists, 1))
    return template.render(
        document=document, tools=tools, version=__version__, style=style, script=script, icons=icons, remarks=remarks,
        policy=_policy(style, script),
    )  # fmt: skip


@cache
def asset(*names: str) -> Markup:
    """The named files of the templates folder, one after the other."""
    folder = files("textassay.report").joinpath("templates")
    return Markup("\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names))  # noqa: S704


def _policy(style: str, script: str) -> str:
    """A content security policy that allows this style and this script, and no request."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """Templates that escape everything and make every plain text printable."""
    found = Environment(
        loader=PackageLoader("textassay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    found.filters |= dict(_FILTERS)
    return found


def _safe(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# Words.

# A percent sign after its number, a sign before its number, and the letter before that.
_SIGNS = re.compile(r" %|(?:\b[pn] )?[=<≤±≥] (?=[-+\d])")
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# An option of the command line, which should not be broken behind its first signs.
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]{1,20}(?![\w-])")
_TURNED = re.compile(f"[{_RIGHT_TO_LEFT}](?:[^<>&\"']*[{_RIGHT_TO_LEFT}])?")


def unbroken(text: str) -> str:
    """The same text for a page, where no line may end between a number and its sign.

    >>> unbroken("74 % of them"), unbroken("p = 0.01")
    ('74\\xa0% of them', 'p\\xa0=\\xa00.01')
    """
    return _SIGNS.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def say(text: str) -> Markup:
    """A sentence of ours: options stay on one line, and right-to-left parts do not reorder what is beside them."""
    shown = _OPTION.sub(r"<code>\g<0></code>", str(escape(unbroken(printable(text)))))
    return Markup(_TURNED.sub(lambda found: f"<bdi>{found[0]}</bdi>", shown))  # noqa: S704


def readable(text: str) -> str:
    """A text under evaluation with its lines, cut where it is too long."""
    return printable_lines(text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…")


# Numbers in columns.

_NUMBER = re.compile(r"^[-+−]?[\d,]*\.?(\d*)(?=$| %)")
_DIGIT, _POINT = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"
# Numbers that need more decimals than this to be aligned are not.
_MOST_PADDING = 5


def padding(text: str, decimals: int) -> str:
    r"""Spaces of the width of digits behind a number, so that its decimal point is where that of others is.

    >>> [padding(text, 2) for text in ("1.25", "3", "n/a")]
    ['', '\u2008\u2007\u2007', '']
    """
    own = _decimals(text)
    if own is None or own >= decimals or decimals - own > _MOST_PADDING:
        return ""
    return (_POINT if own == 0 else "") + _DIGIT * (decimals - own)


def most_decimals(texts: Iterable[str]) -> int:
    """The decimals of the number that has most of them."""
    return max((known for known in map(_decimals, texts) if known is not None), default=0)


def _decimals(text: str) -> int | None:
    """The number of decimals of a number; None for other texts."""
    found = _NUMBER.match(text)
    return len(found[1]) if found and any(map(str.isdigit, found[0])) and found.end() == len(text) else None


class _Tools:
    """What a page remembers: the number of its drawings, the decimals of its columns, and the room for items."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._drawn = 0
        self._decimals: dict[tuple[int, int], int] = {}
        self._spreads: dict[tuple[int, int], bool] = {}

    def drawn(self, plot: Plot, is_picture: bool = False) -> Markup:
        """The plot at all sizes that a page needs."""
        forms = forms_of(plot, is_picture=is_picture)
        self._drawn += 1
        return Markup("").join(draw(plot, form, id_=f"c{self._drawn}-{form.name}") for form in forms)

    def padding(self, cell: Cell, block: Table | Summary, place: int) -> str:
        """What is behind the number of a cell, so that the points of a column are below each other."""
        if isinstance(block, Table) and not block.heads[place].numeric:
            return ""
        column = id(block), place
        if column not in self._decimals:
            cells = (row.cells[place] for row in block.rows if place < len(row.cells))
            self._decimals[column] = most_decimals(each.text for each in cells)
        return padding(cell.text, self._decimals[column])

    def has_spread(self, block: Table, place: int) -> bool:
        """Whether a column has intervals: a number without one then leaves their space free."""
        column = id(block), place
        if column not in self._spreads:
            self._spreads[column] = any(row.cells[place].spread for row in block.rows if place < len(row.cells))
        return self._spreads[column]

    def listed(self, block: Items) -> "_Listed":
        """The items of a list that there is room for."""
        render = environment().get_template("blocks.html.j2").make_module({"tools": self}).item  # type: ignore[attr-defined]
        return _listed(block, self._room, render)


# Blocks.


def _kind(block: Any) -> str:
    return "left out" if isinstance(block, _LeftOut) else type(block).__name__.lower()


def _grouped(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Charts that follow each other together, other blocks one by one."""
    for is_chart, run in groupby(blocks, key=lambda block: isinstance(block, Chart)):
        found = list(run)
        yield from [found] if is_chart else ([block] for block in found)


def _tone(row: SummaryRow) -> Tone:
    return tone_of_decision(row.decision, row.grade)


# Columns of a summary that are together longer than this have intervals below the values.
_MOST_BESIDE = 44


def _crowded(summary: Summary) -> bool:
    columns = zip(summary.columns, *(row.cells for row in summary.rows), strict=False)
    widths = (max(len(head), *(len(cell.text) + len(cell.spread) + 1 for cell in cells)) for head, *cells in columns)
    return sum(width + 1 for width in widths) > _MOST_BESIDE


def _sections(table: Table) -> list[tuple[str, list[Row]]]:
    return [(title, list(rows)) for title, rows in groupby(table.rows, key=lambda row: row.section)]


def _footnotes(table: Table) -> list[str]:
    return list(dict.fromkeys(note for row in table.rows for note in row.notes if note))


def _heat(cell: Cell) -> str:
    """The class of a shade; none for a cell without one."""
    known = cell.heat is not None and math.isfinite(cell.heat)
    step = round(10 * min(max(cell.heat or 0.0, 0.0), 1.0)) if known else 0
    return f" h{step}" if step else ""


def _badges(item: Item) -> str:
    return "|".join(badge.text.replace("|", "/") for badge in item.badges)


def _sort_values(item: Item) -> str:
    known = (value is not None and math.isfinite(value) for value in item.values)
    return " ".join(f"{value:.6g}" if ok else "-" for value, ok in zip(item.values, known, strict=True))


@dataclass(frozen=True)
class _Listed:
    """The items of a list that are in the page, and how many of them have their texts."""

    rendered: Sequence[Markup]
    words: str


def _listed(block: Items, room: int, render: Callable[[Item, bool], str]) -> _Listed:
    """As many items as fit into this many bytes, and the texts of as many of these."""
    if room <= 0:
        return _Listed((), "")
    rows = [Markup(render(item, False)) for item in _first(block.items, room)]  # noqa: S704
    kept, left = _fitting(rows, int(room * _FOR_ROWS))
    left += room - int(room * _FOR_ROWS)
    rendered = list(kept)
    n_texts = 0
    for place, item in enumerate(block.items[: len(kept)]):
        whole = Markup(render(item, True))  # noqa: S704
        left -= len(whole.encode()) - len(kept[place].encode())
        if left < 0:
            break
        rendered[place], n_texts = whole, place + 1
    return _Listed(rendered, _items_words(block.total, len(rendered), n_texts))


def _first(items: Sequence[Item], room: int) -> Sequence[Item]:
    """The items that can fit at all: a row has at least 150 bytes."""
    return items[: room // 150 + 1]


def _fitting(parts: Sequence[Markup], room: int) -> tuple[list[Markup], int]:
    kept: list[Markup] = []
    for part in parts:
        taken = len(part.encode()) + 1
        if taken > room:
            break
        room -= taken
        kept.append(part)
    return kept, room


def _items_words(total: int, n: int, n_texts: int) -> str:
    """How many of the items are in the page."""
    parts = [many(n, "item") if n == total else f"{n:,} of {total:,} items; the JSON file has all"]
    if n_texts < n:
        parts.append(f"the first {n_texts:,} with their texts, because the page would be too large")
    return "; ".join(parts)


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "cut": shortened,
    "say": say,
    "known": lambda cell: cell.value is not None and math.isfinite(cell.value),
    "readable": readable,
    # A number for scripts: its digits are not grouped.
    "plain": str,
    "key": key,
    "kind": _kind,
    "grouped": _grouped,
    "plot_legend": legend,
    "tone": _tone,
    "tone_css": lambda row: _tone(row).css if row.decision else "plain",
    "tone_named": tone_of,
    "ranked": lambda summary: len(summary.rows) > 1 and any(row.rank is not None for row in summary.rows),
    "crowded": _crowded,
    "decided": lambda summary: any(row.decision for row in summary.rows),
    "sections": _sections,
    "footnotes": _footnotes,
    "notes_of": lambda row, notes: [notes.index(note) + 1 for note in row.notes if note],
    "heat": _heat,
    "badges": _badges,
    "sort_values": _sort_values,
    "tojson_attr": lambda keys: json.dumps(list(keys), ensure_ascii=True),
}
