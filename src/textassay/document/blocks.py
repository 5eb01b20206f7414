"""Blocks: what a document is made of. A study returns them as data; each form of a report renders them once.

A document is a summary followed by sections. All strings are plain text: renderers escape, cut and isolate them, so a
string may come from a text under evaluation. A number is a `Cell` that was worded by the study, with the value that
sorts it. A candidate is named by its index in the outcome (`candidate`), from which renderers take its mark (shape and
colour); `REAL` is the index of real text, references or people.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from textassay.document.plot import Plot

# The index of the baseline: real text, references or people.
REAL = -1

# Where a section is shown besides a report: in a terminal always, with --table, or with --why. Of lists of items a
# terminal shows the first few (--top).
Shown = Literal["screen", "table", "why", "report"]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the value that sorts it, and what stands beside it.

    `spread` is the interval, `marked` is whether it is significant, `small` are lines of less importance below it (a
    p-value, what chance gives), `detail` is what a report shows on demand. `heat` from 0 to 1 shades the cell of a
    matrix. A `quoted` cell is a text under evaluation.
    """

    text: str
    value: float | None = None
    spread: str = ""
    marked: bool = False
    small: tuple[str, ...] = ()
    detail: str = ""
    heat: float | None = None
    quoted: bool = False
    candidate: int | None = None


@dataclass(frozen=True)
class Head:
    """The head of a column. A `numeric` column is aligned at the right and sorted by the values of its cells."""

    text: str
    numeric: bool = False
    candidate: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: the first cell is its head. Rows of one `section` belong together.

    `examples` are texts under evaluation that are shown below the row, `quiet` rows repeat the row above at another
    size, `notes` are footnotes.
    """

    cells: tuple[Cell, ...]
    section: str = ""
    examples: tuple["Quote", ...] = ()
    quiet: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quote:
    """A part of a text under evaluation, with the phrase in it that is marked; `tags` are words beside it."""

    before: str
    phrase: str = ""
    after: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Badge:
    """A word with a shape and a colour. `tone` is a decision or a grade, or the name of a kind of items."""

    text: str
    tone: str


@dataclass(frozen=True)
class SummaryRow:
    """One candidate in the summary.

    `rank` is None for candidates that are not ranked. `decision` is the decision of its verdict, `grade` the grade of
    its effect (slight, clear, large; empty without one). `cells` are in the order of the summary's columns.
    `stands_out` is one short phrase, `why` at most three sentences on what differs most.
    """

    name: str
    candidate: int
    decision: str
    grade: str = ""
    rank: int | None = None
    cells: tuple[Cell, ...] = ()
    stands_out: str = ""
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The answer: a question, the outcome in one sentence, and one row per candidate, the best first.

    `context` says what was compared in a few words, `reading` what the columns are. `ties` name neighbours that do not
    differ. `caveats` are what may make the answer wrong, each once for all candidates, with its remedy. `hints` name
    what else there is (terminal only). `left_out` says which rows are missing and where they are. `noun` is what a row
    is: a candidate, or a system, a setting, a metric.
    """

    question: str
    context: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: tuple[SummaryRow, ...] = ()
    ties: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    left_out: str = ""
    picture: Plot | None = None
    noun: str = "candidate"
    reading: str = ""

    @property
    def about(self) -> str:
        """What was compared, and what the columns are."""
        return "; ".join(filter(None, (self.context, self.reading)))


@dataclass(frozen=True)
class Text:
    """Paragraphs of our own words."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; reports sort it by any column, and filter it if it is long.

    `total` is the number of rows that there are, where only some are listed. In a terminal, a `brief` table is without
    the small lines of its cells.
    """

    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    title: str = ""
    caption: str = ""
    footnotes: tuple[str, ...] = ()
    total: int | None = None
    brief: bool = False


@dataclass(frozen=True)
class Chart:
    """A plot with its caption; charts that follow each other stand side by side if they are small.

    `file` is where a drawing of it, and of the charts behind it, is, for forms that cannot draw.
    """

    plot: Plot
    caption: str = ""
    remarks: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Facts:
    """Terms and values."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Side:
    """The texts of one side of an item: its name, badge, a line of numbers, and quotes; `total` if more exist."""

    name: str
    texts: tuple[Quote, ...]
    candidate: int | None = None
    badge: Badge | None = None
    line: str = ""
    total: int | None = None


@dataclass(frozen=True)
class Item:
    """One item of a list that can be opened: its name, badges, prompt and sides.

    `values` are numbers that the list can be sorted by, in the order of the sort keys of `Items`.
    """

    name: str
    sides: tuple[Side, ...] = ()
    badges: tuple[Badge, ...] = ()
    prompt: str = ""
    lines: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    candidate: int | None = None


@dataclass(frozen=True)
class Items:
    """A list of items, the most telling first. Reports filter it by badge and text and sort it by `sort_keys`.

    `total` is how many there are; a report leaves out the texts of the last ones where it would be too large.
    """

    items: tuple[Item, ...]
    total: int
    sort_keys: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Notes:
    """Remarks, one per line, as bullets."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A term of a legend with its explanation; a mark or a badge may stand before it."""

    term: str
    text: str
    candidate: int | None = None
    badge: Badge | None = None

    @property
    def name(self) -> str:
        """The term with the word of its badge, for forms without badges."""
        words = (self.badge.text if self.badge else "", self.term)
        return " ".join(dict.fromkeys(word for word in words if word))


@dataclass(frozen=True)
class Legend:
    """How to read something: terms with explanations."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Signatures:
    """Names with the signatures of their numbers."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Details:
    """Blocks that are closed until the reader opens them; `candidate` gives the title a mark."""

    title: str
    blocks: tuple["Block", ...]
    candidate: int | None = None
    quiet: str = ""  # a few words behind the title
    is_open: bool = False


Block = Summary | Text | Table | Chart | Facts | Items | Notes | Legend | Signatures | Details


@dataclass(frozen=True)
class Section:
    """Blocks under a title. `id` is its anchor in a report; `shown` says when a terminal has it as well."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    shown: Shown = "report"


@dataclass(frozen=True)
class Document:
    """What an outcome states. `kind` is a word for it ("comparison"), `title` the title of a page.

    `names` are the candidates in the order of their indexes, `real` the name of the baseline.
    """

    kind: str
    title: str
    summary: Summary
    sections: tuple[Section, ...] = ()
    names: tuple[str, ...] = ()
    real: str = "real text"
    level: float = 0.95
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[Summary | Section]:
        yield self.summary
        yield from self.sections


def sections_of(*sections: Section | None) -> tuple[Section, ...]:
    """The sections that have blocks; None stands for one that does not apply."""
    return tuple(section for section in sections if section is not None and section.blocks)


def notes_of(table: Table) -> tuple[str, ...]:
    """The notes of the rows, each once behind the rows that have it."""
    rows: dict[str, list[str]] = {}
    for row in table.rows:
        for note in row.notes if row.cells else ():
            rows.setdefault(note, []).append(row.cells[0].text.strip())
    return tuple(f"{', '.join(names)}: {note}" for note, names in rows.items())


def walk(blocks: Sequence[Block]) -> Iterator[Block]:
    """All blocks, those within details included."""
    for block in blocks:
        yield block
        if isinstance(block, Details):
            yield from walk(block.blocks)
