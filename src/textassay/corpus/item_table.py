"""Items in a table: a row an item, or a row a text with its source."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.fields import no_field
from textassay.corpus.item_records import CANDIDATES, IDS, ONE_SYSTEM, REFERENCES, Entry, Side, entry_of, id_of
from textassay.corpus.jsonl import decode_json
from textassay.corpus.printable import quoted

BY_SYSTEM = "candidates."
REFERENCE = "reference"
SOURCE = "source"
TEXT = "text"
PROMPT = "prompt"

Row = tuple[str, Sequence[Any]]


def table_entries(header: list[str], rows: Iterable[Row], where: str, *, side: Side = "references") -> list[Entry]:
    """The entries of rows that come with their places; `where` is the place of the header.

    A row an item has the columns `references` and `candidates`, or `candidates.NAME` for each system. A row a text has
    `id`, `source` (`reference` or the name of a system) and `text`. Both may have a `prompt`, the first an `id`.
    """
    systems = {name: system for name in header if (system := _system(name)) is not None}
    # Summaries have a source too, so the columns of a row an item decide.
    if systems or set(REFERENCES) & set(header):
        _check_once(header, where, (*REFERENCES, *systems, *IDS, PROMPT))
        _check_meanings(header, systems, where)
        return [_wide(header, systems, cells, place) for place, cells in rows]
    if SOURCE in header and TEXT in header:
        if not set(IDS) & set(header):
            raise no_field(header, where, field="id", hint="")
        _check_once(header, where, (*IDS, SOURCE, TEXT, PROMPT))
        return _long(header, rows)
    raise no_field(header, where, field=side, hint=" (nor are there 'id', 'source' and 'text')")


def _system(name: str) -> str | None:
    """Whose candidates a column holds, if any."""
    if name in CANDIDATES:
        return ONE_SYSTEM
    return name.removeprefix(BY_SYSTEM) if name.startswith(BY_SYSTEM) else None


def _check_once(header: list[str], where: str, names: Iterable[str]) -> None:
    for name in names:
        if header.count(name) > 1:
            raise InputError(f"{where}: {header.count(name)} fields are called {quoted([name])}; wanted one")


def _check_meanings(header: list[str], systems: dict[str, str], where: str) -> None:
    """No two columns that mean the same, such as `reference` and `references`."""
    if set(REFERENCES) <= set(header):
        raise InputError(f"{where}: both 'references' and 'reference'; wanted one of them")
    system, count = Counter(systems.values()).most_common(1)[0] if systems else ("", 0)
    if count > 1:
        names = quoted([name for name in systems if systems[name] == system])
        raise InputError(f"{where}: {names} hold candidates of one system; wanted one of them")


def _wide(header: list[str], systems: dict[str, str], cells: Sequence[Any], place: str) -> Entry:
    record: dict[str, Any] = {CANDIDATES[0]: {}}
    for name, cell in zip(header, cells, strict=True):
        if name in REFERENCES:
            record[name] = _listed(cell, place, name)
        elif name in CANDIDATES and isinstance(cell, Mapping):
            # As in a JSON object, each system has its own list; a frame has every system in every row.
            record[CANDIDATES[0]].update({system: texts for system, texts in cell.items() if texts is not None})
        elif name in systems:
            texts = _listed(cell, place, name)
            # As in a JSON object: without a name and a text there is no system.
            if name not in CANDIDATES or (texts is not None and texts != []):
                record[CANDIDATES[0]][systems[name]] = texts
        elif name in IDS or (name == PROMPT and cell != ""):
            record[name] = cell
    return entry_of(record, place)


def _listed(cell: Any, place: str, name: str) -> Any:
    """A cell that begins with a bracket as the JSON list it must be; any other as it is."""
    if not isinstance(cell, str) or not cell.startswith("["):
        return cell
    try:
        return decode_json(cell, f"{place}: {quoted([name])}")
    except InputError as error:
        raise InputError(f"{error}; wanted a list of strings where a cell begins with '['") from None


def _long(header: list[str], rows: Iterable[Row]) -> list[Entry]:
    """Rows of one id gathered, in the order in which ids and texts appear."""
    places: dict[str, str] = {}
    records: dict[str, dict[str, Any]] = {}
    for place, cells in rows:
        row = dict(zip(header, cells, strict=True))
        known = id_of(row, place)
        if known is None:
            raise InputError(f"{place}: no id; wanted the id of an item")
        source = row[SOURCE]
        if not isinstance(source, str) or not source.strip():
            raise InputError(f"{place}: no source; wanted '{REFERENCE}' or the name of a system")
        places.setdefault(known, place)
        record = records.setdefault(known, {"id": known, "references": [], "candidates": {}})
        texts = record["references"] if source == REFERENCE else record["candidates"].setdefault(source, [])
        texts.append(row[TEXT])
        prompt = row.get(PROMPT)
        if prompt is not None and prompt != "" and record.setdefault(PROMPT, prompt) != prompt:
            raise InputError(f"{place}: a second prompt for id {quoted([known])}; wanted one an item")
    return [entry_of(record, places[known]) for known, record in records.items()]
