"""What a file has: its format and all its records, from the files of known tools and from plain texts alike."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from textassay.corpus.formats.opened import format_of, records_of, shown_counts
from textassay.corpus.formats.record import Reading, Record, TextKind
from textassay.corpus.formats.requests import read_requests
from textassay.corpus.printable import many, printable, quoted, shortened
from textassay.corpus.rows import Found, Rows, Wanted, table_rows
from textassay.corpus.sample import is_not_blank
from textassay.corpus.tables import TEXT_FIELD, AnySource, Expected, OpenTable, listed_notes, open_source
from textassay.corpus.values import check_text, json_line
from textassay.errors import InputError

_BLANK = "blank text|blank texts"


@dataclass(eq=False)
class Contents:
    """The records of a source, which can be read once, and after that what was left out and kept.

    `field` is that of the texts, None where texts have no fields, such as lines.
    """

    name: str
    where: str
    _tables: Iterator[OpenTable]
    _wanted: Wanted
    _found: Found
    n: int = 0
    field: str | None = None

    @property
    def format(self) -> str:
        """The name of the format."""
        return "plain texts" if self._found.form is None else self._found.form.name

    @property
    def left_out(self) -> Counter[str]:
        """What was left out so far, by reason."""
        return self._found.reading.left_out

    @property
    def notes(self) -> tuple[str, ...]:
        """What else there is to say about the files."""
        return listed_notes(self._found.notes)

    def __iter__(self) -> Iterator[Record]:
        """The records; an error at the end if there were none."""
        for table in self._tables:
            for record in self._records_of(table):
                self.n += 1
                check_text(record.text or "", f"{self.where}: text {self.n}")
                yield record
        if not self.n:
            counts = shown_counts(self.left_out)
            seen = f"{self.format}, no text left ({counts})" if counts else "empty"
            raise InputError(f"{self.where}: {seen}; wanted at least one text")

    def _records_of(self, table: OpenTable) -> Iterator[Record]:
        wanted, found = self._wanted, self._found
        form = format_of(table) if wanted.text is None else None
        if form is not None:
            found.enter(form, table.head.where)
            for chunk in records_of(table, form, found.reading, text=wanted.kind, prompts=wanted.prompts):
                yield from chunk
            self.field = ", ".join(found.reading.fields) or form.text
            return
        for rows in table_rows(table, wanted, found):
            yield from _plain_records(rows, found.reading)
        if table.head.fields:
            self.field = found.chosen[0] if found.chosen is not None else wanted.text or TEXT_FIELD

    def lines(self) -> Iterator[str]:
        """The records as JSON Lines, which are read back as the same records."""
        for record in self:
            fields = asdict(record)
            del fields["error"], fields["reply"]
            if record.partition is None:
                del fields["partition"]
            yield json_line(fields)

    def described(self, most: int = 3) -> str:
        """What the source is, how many systems, prompts and repeats it has, and its first records, for a terminal."""
        systems: Counter[str | None] = Counter()
        prompts: Counter[tuple[str | None, str | None]] = Counter()
        first: list[Record] = []
        for record in self:
            systems[record.system] += 1
            prompts[record.system, record.prompt_name] += 1
            first += [record] if len(first) < most else []
        named = [name for name in systems if name is not None]
        has_prompts = any(name is not None for _, name in prompts)
        facts = {
            "format": self.format,
            "texts": f"{self.n:,} ({'no fields' if self.field is None else f'field {quoted([self.field])}'})",
            "systems": f"{len(named)}: {quoted(named)}" if named else "not stated",
            "prompts": _prompts(prompts) if has_prompts else "not stated",
            "left out": shown_counts(self.left_out) or "nothing",
        }
        if kept := self._found.reading.kept:
            facts["kept"] = shown_counts(kept)
        lines = [f"{label:<10}{value}" for label, value in facts.items()]
        for number, record in enumerate(first, 1):
            lines += ["", f"text {number}", *_described(record)]
        return "\n".join([printable(self.name), *lines, *(f"note: {printable(note)}" for note in self.notes)])


def _prompts(prompts: Counter[tuple[str | None, str | None]]) -> str:
    different = len({prompt for _, prompt in prompts})
    fewest, most = min(prompts.values()), max(prompts.values())
    repeats = many(most, "text") if fewest == most else f"{fewest:,} to {many(most, 'text')}"
    return f"{different:,}, with {repeats} each"


def _described(record: Record) -> Iterator[str]:
    for label in ("system", "prompt_id", "prompt", "sample", "finish", "reasoning", "text"):
        value = getattr(record, label)
        if value is not None:
            yield f"  {label.replace('_', ' '):<10}{shortened(str(value), 160)}"


def read_contents(
    source: AnySource,
    *,
    field: str | None = None,
    encoding: str = "utf-8",
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
) -> Contents:
    """The records of a source, with the prompts of their requests if these are given."""
    found = Found(Counter())
    prompts = read_requests(prompts_from) if prompts_from is not None else None
    expected = Expected(texts=True, unnamed="JSON or table" if field is not None else "lines")
    opened = open_source(source, expected, name=None, kind="sample", encoding=encoding, notes=found.notes)
    return Contents(opened.name, opened.where, opened.tables, Wanted(field, kind=text, prompts=prompts), found)


def _plain_records(rows: Rows, reading: Reading) -> Iterator[Record]:
    columns: list[list[Any]] = [
        [None] * len(rows) if column is None else column.to_pylist()
        for column in (rows.systems, rows.contexts, rows.ids, rows.finishes)
    ]
    texts, filled = rows.texts.to_pylist(), is_not_blank(rows.texts).to_pylist()
    for text, is_filled, system, prompt, identity, finish in zip(texts, filled, *columns, strict=True):
        if not is_filled:
            reading.left_out[_BLANK] += 1
            continue
        number = reading.number(system, identity if identity is not None else prompt)
        yield Record(text, system, prompt, identity, number, None, finish)
