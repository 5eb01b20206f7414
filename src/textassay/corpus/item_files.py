"""Item files: their records as entries with references, candidates and prompts, and candidates of further files."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from textassay.corpus.printable import many, quoted
from textassay.corpus.rows import no_field
from textassay.corpus.tables import AnySource, Expected, Opened, Table, open_source, read_tables
from textassay.corpus.values import check_text, decode_json, kind_of
from textassay.errors import InputError

# What a file is read for, and the field it must have.
Side = Literal["references", "candidates"]

ONE_SYSTEM = "candidate"
REFERENCES = ("references", "reference")
CANDIDATES = ("candidates", "candidate")
IDS = ("id", "_id")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of one file. `place` is its place in messages; `id` is None where the file gives none.

    `partitions` are the classes of the candidates, where the file has them.
    """

    place: str
    id: str | None
    references: tuple[str, ...] = ()
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prompt: str | None = None
    partitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def entry_of(record: Any, place: str) -> Entry:
    """The entry of a JSON object; a missing field, null or an empty list means no texts and is not an error.

    >>> entry_of({"_id": 7, "reference": "a cat", "candidates": {"mle": ["cat", "dog"]}}, "x.jsonl:1").candidates
    {'mle': ('cat', 'dog')}
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: {kind_of(record)}; wanted an object with 'references' and 'candidates'")
    name, references = _field(record, REFERENCES, place)
    return Entry(
        place,
        id_of(record, place),
        texts_of(references, f"{place}: {quoted([name])}"),
        _systems(record, place),
        _prompt(record.get("prompt"), place),
    )


def id_of(record: Mapping[str, Any], place: str, *, names: tuple[str, ...] = IDS) -> str | None:
    """The id as a string; None where there is none, or a blank one."""
    value = next((record[name] for name in names if record.get(name) is not None), None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: the id is {kind_of(value)}; wanted a string or a whole number")
    return check_text(str(value), f"{place}: the id") if str(value).strip() else None


def texts_of(value: Any, where: str) -> tuple[str, ...]:
    """A list of strings, one string alone, or null for none."""
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise InputError(f"{where}: {kind_of(value)}; wanted a list of strings")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {number} is {kind_of(text)}; wanted a string")
        check_text(text, f"{where}: text {number}")
    return tuple(texts)


def system_of(name: Any, where: str) -> str:
    """The name of a system: any string that is not blank."""
    if not isinstance(name, str):
        raise InputError(f"{where}: a system's name is {kind_of(name)}; wanted a string")
    if not name.strip():
        raise InputError(f"{where}: a system's name is blank; wanted a name")
    return check_text(name, f"{where}: a system's name")


def check_unique(ids: list[str], places: list[str]) -> None:
    """An error that names both places of the first id that comes twice."""
    known: dict[str, str] = {}
    for id_, place in zip(ids, places, strict=True):
        if id_ in known:
            raise InputError(f"{place}: id {quoted([id_])} is also at {known[id_]}; wanted one item per id")
        known[id_] = place


def _systems(record: Mapping[str, Any], place: str) -> dict[str, tuple[str, ...]]:
    name, written = _field(record, CANDIDATES, place)
    if isinstance(written, Mapping):
        return {
            system_of(system, place): texts_of(texts, f"{place}: candidates of {quoted([str(system)])}")
            for system, texts in written.items()
        }
    texts = texts_of(written, f"{place}: {quoted([name])}")
    # No text names no system: beside items with named systems, this one would be a stranger.
    return {ONE_SYSTEM: texts} if texts else {}


def _field(record: Mapping[str, Any], names: tuple[str, str], place: str) -> tuple[str, Any]:
    """The plural or the singular field, and what it holds."""
    there = [name for name in names if record.get(name) is not None]
    if len(there) > 1:
        raise InputError(f"{place}: both {quoted(there[:1])} and {quoted(there[1:])}; wanted one of them")
    return (there[0], record[there[0]]) if there else (names[0], None)


def _prompt(value: Any, place: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{place}: 'prompt' is {kind_of(value)}; wanted a string")
    return check_text(value, f"{place}: 'prompt'")


ANNOTATIONS = "annotations"
IMAGE = "image_id"
CAPTION = "caption"


def is_caption(record: Any) -> bool:
    """Whether a record is one caption of an image, and not an item."""
    return isinstance(record, dict) and {IMAGE, CAPTION} <= set(record) and not {*REFERENCES, *CANDIDATES} & set(record)


def annotation_entries(document: Mapping[str, Any], where: str, *, side: Side) -> list[Entry]:
    """The captions of an annotation file; images without a caption stay as items without references."""
    images = _coco_list(document, "images", where) if side == "references" else []
    known = {}
    for number, image in enumerate(images, 1):
        place = f"{where}: image {number}"
        known[_image_id(image, place, "id")] = place
    captions = _coco_list(document, ANNOTATIONS, where)
    places = ((f"{where}: annotation {number}", caption) for number, caption in enumerate(captions, 1))
    return caption_entries(places, side=side, images=known)


def caption_entries(
    captions: Iterable[tuple[str, Any]], *, side: Side, images: Mapping[str, str] | None = None
) -> list[Entry]:
    """Captions with their places gathered by image, in the order in which images appear."""
    places = dict(images or {})
    texts: dict[str, list[str]] = {image: [] for image in places}
    for place, caption in captions:
        image = _image_id(caption, place, IMAGE)
        if not isinstance(text := caption.get(CAPTION), str):
            if CAPTION not in caption:
                raise no_field(list(caption), place, field=CAPTION, hint="")
            raise InputError(f"{place}: 'caption' is {kind_of(text)}; wanted a string")
        places.setdefault(image, place)
        texts.setdefault(image, []).append(check_text(text, f"{place}: 'caption'"))
    if side == "references":
        return [Entry(places[image], image, tuple(texts[image])) for image in texts]
    return [Entry(places[image], image, candidates={ONE_SYSTEM: tuple(texts[image])}) for image in texts]


def _image_id(record: Any, place: str, field: str) -> str:
    if not isinstance(record, dict):
        raise InputError(f"{place}: {kind_of(record)}; wanted an object with '{field}'")
    if field not in record:
        raise no_field(list(record), place, field=field, hint="")
    image = id_of(record, place, names=(field,))
    if image is None:
        raise InputError(f"{place}: '{field}' is null or blank; wanted a string or a whole number")
    return image


def _coco_list(document: Mapping[str, Any], field: str, where: str) -> list[Any]:
    records = document.get(field) or []
    if not isinstance(records, list):
        raise InputError(f"{where}: '{field}' is {kind_of(records)}; wanted a list of objects")
    return records


BY_SYSTEM = "candidates."
REFERENCE = "reference"
SOURCE = "source"
TEXT = "text"
PROMPT = "prompt"

Row = tuple[str, Sequence[Any]]


def table_entries(header: list[str], rows: Iterable[Row], where: str, *, side: Side = "references") -> list[Entry]:
    """The entries of rows that come with their places; `where` is the place of the header.

    A table with one row per item has the columns `references` and `candidates`, or `candidates.NAME` for each system. A
    table with one row per text has `id`, `source` (`reference` or the name of a system) and `text`. Both may have a
    `prompt`, the first an `id`.
    """
    systems = {name: system for name in header if (system := _system(name)) is not None}
    # Items of a summarization task have a source too, so the columns of one row per item are looked for first.
    if systems or set(REFERENCES) & set(header):
        _check_once(header, where, (*REFERENCES, *systems, *IDS, PROMPT))
        _check_meanings(header, systems, where)
        return [_wide(header, systems, cells, place) for place, cells in rows]
    if {SOURCE, TEXT} <= set(header):
        _check_once(header, where, (*IDS, SOURCE, TEXT, PROMPT))
        _check_id(header, where)
        return _long((place, dict(zip(header, cells, strict=True))) for place, cells in rows)
    raise no_field(header, where, field=side, hint=f"; wanted '{side}', or 'id', 'source' and 'text'")


def _check_id(fields: Sequence[str], where: str) -> None:
    if not set(IDS) & set(fields):
        raise no_field(list(fields), where, field="id", hint="")


def _system(name: str) -> str | None:
    """Whose candidates a column holds, if any."""
    if name in CANDIDATES:
        return ONE_SYSTEM
    return name.removeprefix(BY_SYSTEM) if name.startswith(BY_SYSTEM) else None


def _check_once(header: list[str], where: str, names: Iterable[str]) -> None:
    for name in names:
        if header.count(name) > 1:
            raise InputError(f"{where}: {header.count(name)} fields have the name {quoted([name])}; wanted one")


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


def _long(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Entry]:
    """Rows of one id gathered, in the order in which ids and texts appear."""
    places: dict[str, str] = {}
    records: dict[str, dict[str, Any]] = {}
    for place, row in rows:
        known = id_of(row, place)
        if known is None:
            raise InputError(f"{place}: no id; wanted the id of an item")
        source = row.get(SOURCE)
        if not isinstance(source, str) or not source.strip():
            raise InputError(f"{place}: no source; wanted '{REFERENCE}' or the name of a system")
        places.setdefault(known, place)
        record = records.setdefault(known, {"id": known, "references": [], "candidates": {}})
        texts = record["references"] if source == REFERENCE else record["candidates"].setdefault(source, [])
        texts.append(row.get(TEXT))
        prompt = row.get(PROMPT)
        if prompt is not None and prompt != "" and record.setdefault(PROMPT, prompt) != prompt:
            raise InputError(f"{place}: a second prompt for id {quoted([known])}; wanted one per item")
    return [entry_of(record, places[known]) for known, record in records.items()]


@dataclass(frozen=True, slots=True)
class ItemFile:
    """The entries of a file, or of the files of a pattern; `fields` are those of the first record.

    The entries of `are_records` were gathered from records with one text each; `lost` counts, by reason, those that
    should have had a text.
    """

    where: str
    entries: list[Entry]
    fields: list[str]
    are_records: bool = False
    lost: tuple[tuple[str, int], ...] = ()

    @property
    def seen_fields(self) -> str:
        """The fields in brackets, for a message."""
        return f" (fields are {quoted(self.fields)})" if self.fields else ""


def read_entries(
    source: AnySource, *, side: Side, name: str | None = None, encoding: str, notes: Counter[str]
) -> tuple[ItemFile, str]:
    """The items of a source, and its name; `side` states what captions and lines of text are."""
    opened = open_items(source, side=side, name=name, encoding=encoding, notes=notes)
    return item_file(opened, side=side), opened.name


def open_items(source: AnySource, *, side: Side, name: str | None = None, encoding: str, notes: Counter[str]) -> Opened:
    """Open a source of items; lines of text have only candidates."""
    is_base = side == "references"
    expected = Expected(
        texts=not is_base,
        unnamed="JSON or table" if is_base else "JSON or lines",
        record=" with 'references' and 'candidates'",
    )
    return open_source(source, expected, name=name, kind="items", encoding=encoding, notes=notes)


def item_file(opened: Opened, *, side: Side) -> ItemFile:
    """The items of an opened source."""
    tables = read_tables(opened)
    entries = [entry for table in tables for entry in _entries(table, side)]
    names = next((list(table.fields) for table in tables if table.fields), [])
    return ItemFile(opened.where, entries, [] if ANNOTATIONS in names else names)


def _entries(table: Table, side: Side) -> list[Entry]:
    if table.records is None and table.texts is None:
        rows = [(table.place(row), cells) for row, cells in enumerate(zip(*table.columns, strict=True))]
        return table_entries(list(table.fields), rows, table.head, side=side) if table.fields else []
    records = [(table.place(row), record) for row, record in enumerate(table.rows())]
    first = records[0][1] if records else {}
    if len(records) == 1 and ANNOTATIONS in first:
        return annotation_entries(first, table.where, side=side)
    if is_caption(first):
        if side == "references":
            raise InputError(f"{table.where}: a list of COCO captions has no references; wanted references first")
        return caption_entries(records, side=side)
    names = set(table.fields)
    if {SOURCE, TEXT} <= names and not {*REFERENCES, *CANDIDATES} & names:
        _check_id(table.fields, table.where)
        return _long(records)
    if names == {TEXT} and side == "candidates":
        # A blank line is a blank candidate, because the number of a line identifies its item.
        return [entry_of({CANDIDATES[0]: record.get(TEXT) or ""}, place) for place, record in records]
    return [entry_of(record, place) for place, record in records]


_LISTED = 3


def joined(base: ItemFile, systems: Mapping[str, ItemFile], notes: Counter[str]) -> list[Entry]:
    """The entries of the first file with the candidates of each further file under its system's name."""
    if not systems:
        return base.entries
    taken = {system for entry in base.entries for system in entry.candidates}
    columns: dict[str, list[tuple[str, ...] | None]] = {}
    for system, file in systems.items():
        if system in taken:
            raise InputError(
                f"{file.where}: system {quoted([system])} is also in {base.where}; wanted each system in one place"
            )
        columns[system] = _matched(base, file, notes)
    return [
        replace(
            entry,
            candidates={
                **entry.candidates,
                **{system: texts for system, column in columns.items() if (texts := column[index]) is not None},
            },
        )
        for index, entry in enumerate(base.entries)
    ]


def _matched(base: ItemFile, file: ItemFile, notes: Counter[str]) -> list[tuple[str, ...] | None]:
    """A system's texts for each entry of the first file, None where it has nothing."""
    texts = _texts(file, notes)
    known = [entry.id is not None for entry in base.entries]
    given = [entry.id is not None for entry in file.entries]
    ids = [entry.id for entry in file.entries if entry.id is not None]
    check_unique(ids, [entry.place for entry in file.entries if entry.id is not None])
    if all(known) and all(given):
        by_id = dict(zip(ids, texts, strict=True))
        _check_known(base, file, ids)
        return [by_id.get(entry.id or "") for entry in base.entries]
    if any(known) and any(given):
        lacking = next(entry for entry in (*base.entries, *file.entries) if entry.id is None)
        raise InputError(f"{lacking.place}: no id, but other items have one; wanted ids in all or in none")
    if len(texts) != len(known):
        raise InputError(
            f"{file.where}: {many(len(texts), 'item')}; {base.where} has {len(known):,}; wanted as many, or ids in both"
        )
    if ids:
        notes[f"{file.where}: matched by order, because {base.where} has no ids"] += 1
    return list(texts)


def _texts(file: ItemFile, notes: Counter[str]) -> list[tuple[str, ...]]:
    """The candidates of the one system of a file, entry by entry."""
    names = list(dict.fromkeys(system for entry in file.entries for system in entry.candidates))
    if len(names) > 1:
        raise InputError(f"{file.where}: candidates of {quoted(names)}; wanted one system in each candidate file")
    texts = [next(iter(entry.candidates.values()), ()) for entry in file.entries]
    if not any(texts):
        raise InputError(
            f"no candidates in {file.where}{file.seen_fields}; wanted a field 'candidates', or one per line in .txt"
        )
    if any(entry.references for entry in file.entries):
        notes[f"{file.where}: its references left out"] += 1
    return texts


def _check_known(base: ItemFile, file: ItemFile, ids: list[str]) -> None:
    known = {entry.id for entry in base.entries}
    strange = [id_ for id_ in ids if id_ not in known]
    if strange:
        seen = f"{many(len(strange), 'id')} {'are' if len(strange) > 1 else 'is'}"
        raise InputError(f"{file.where}: {seen} not in {base.where}: {quoted(strange, _LISTED)}; wanted ids it has")
