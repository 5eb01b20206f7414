"""What a file has: its format and all its records, from the files of known tools and from plain texts alike."""

import json
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
from textassay.corpus.tables import AnySource, Expected, listed_notes, open_source
from textassay.corpus.values import check_text
from textassay.errors import InputError

_BLANK = "blank text|blank texts"


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The records of a source, the name of its format, the field of its texts, and what was left out and kept.

    `field` is None where texts have no fields, such as lines.
    """

    name: str
    format: str
    field: str | None
    records: list[Record]
    left_out: Counter[str]
    kept: Counter[str]
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The records as JSON Lines, which are read back as the same records."""
        for record in self.records:
            fields = asdict(record)
            del fields["error"]
            if record.partition is None:
                del fields["partition"]
            # Half a surrogate pair, which a prompt may hold, stays an escape: it cannot be written as UTF-8.
            yield json.dumps(fields, ensure_ascii=False).encode(errors="backslashreplace").decode() + "\n"

    def described(self, most: int = 3) -> str:
        """What the source is, how many systems, prompts and repeats it has, and its first records, for a terminal."""
        systems = Counter(record.system for record in self.records)
        prompts = Counter((record.system, record.prompt_name) for record in self.records)
        named = [name for name in systems if name is not None]
        has_prompts = any(record.prompt_name is not None for record in self.records)
        field = "no fields" if self.field is None else f"field {quoted([self.field])}"
        facts = {
            "format": self.format,
            "texts": f"{len(self.records):,} ({field})",
            "systems": f"{len(named)}: {quoted(named)}" if named else "not stated",
            "prompts": _prompts(prompts) if has_prompts else "not stated",
            "left out": shown_counts(self.left_out) or "nothing",
        }
        if self.kept:
            facts["kept"] = shown_counts(self.kept)
        lines = [f"{label:<10}{value}" for label, value in facts.items()]
        for number, record in enumerate(self.records[:most], 1):
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
    """All records of a source, with the prompts of their requests if these are given; an error where it has none."""
    found = Found(Counter())
    wanted = Wanted(field, kind=text, prompts=read_requests(prompts_from) if prompts_from is not None else None)
    expected = Expected(texts=True, unnamed="JSON or table" if field is not None else "lines")
    opened = open_source(source, expected, name=None, kind="sample", encoding=encoding, notes=found.notes)
    reading, chosen = found.reading, field
    records: list[Record] = []
    for table in opened.tables:
        form = format_of(table) if field is None else None
        if form is not None:
            found.enter(form, table.head.where)
            chosen = form.text
            records += (
                record
                for chunk in records_of(table, form, reading, text=text, prompts=wanted.prompts)
                for record in chunk
            )
            continue
        for rows in table_rows(table, wanted, found):
            records += _plain_records(rows, reading)
        if table.head.fields:
            chosen = found.chosen[0] if found.chosen is not None else field or "text"
    kind = "plain texts" if found.form is None else found.form.name
    if not records:
        counts = shown_counts(reading.left_out)
        seen = f"{kind}, no text left ({counts})" if counts else "empty"
        raise InputError(f"{opened.where}: {seen}; wanted at least one text")
    for number, record in enumerate(records, 1):
        check_text(record.text or "", f"{opened.where}: text {number}")
    return Contents(opened.name, kind, chosen, records, reading.left_out, reading.kept, listed_notes(found.notes))


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
