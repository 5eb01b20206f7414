"""Files of items: JSON, tables, Parquet, COCO captions and lines of text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.files import Source, byte_blocks, line_texts, name_of, sources_of, text_blocks
from textassay.corpus.items.entries import CANDIDATES, IDS, ONE_SYSTEM, REFERENCES, Entry, Side, entry_of, id_of
from textassay.corpus.json_lines import decode_json, has_json_lines, json_lines, kind_of, seen
from textassay.corpus.printable import many, quoted
from textassay.corpus.records import no_field
from textassay.corpus.tables import delimited_rows, parquet_columns, plain_cell, wrong_width
from textassay.corpus.values import check_text
from textassay.errors import InputError

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


_DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, slots=True)
class ItemFile:
    """The entries of a file, or of the files of a pattern; `fields` are those of the first record."""

    where: str
    entries: list[Entry]
    fields: list[str]

    @property
    def seen_fields(self) -> str:
        """The fields in brackets, for a message."""
        return f" (fields are {quoted(self.fields)})" if self.fields else ""


def read_entries(path: str, *, side: Side, encoding: str, notes: Counter[str]) -> ItemFile:
    """What a path or a pattern holds; `side` says what bare captions and lines are."""
    files = sources_of(path)
    read = [_read(file, side, encoding, notes) for file in files]
    where = files[0].where if len(files) == 1 else name_of(path)
    entries = [entry for file in read for entry in file.entries]
    return ItemFile(where, entries, next((file.fields for file in read if file.fields), []))


def _read(file: Source, side: Side, encoding: str, notes: Counter[str]) -> ItemFile:
    if file.kind == "lines" and side == "references":
        wanted = ".jsonl, .json, .csv, .tsv or .parquet"
        raise InputError(f"{file.where}: not a file of items by its name; wanted {wanted}")
    if file.kind == "parquet":
        return _parquet(file, side)
    text = "".join(text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes))
    if file.kind in _DELIMITERS:
        return _table(text, file, side, notes)
    # Standard input has no extension to tell records from lines, but its first character does.
    start = text.lstrip()[:1] if file.kind is None else ""
    if (file.kind == "json" and not has_json_lines(text)) or start == "[":
        return _document(text, file.where, side)
    if file.kind == "lines" or (file.kind is None and side == "candidates" and start != "{"):
        return ItemFile(file.where, _lines(text, file.where), [])
    return _records(list(_json_lines(text, file.where, notes)), file.where, side)


def _lines(text: str, where: str) -> list[Entry]:
    """One candidate a line; blank lines are blank candidates, as the place of a line says whose it is."""
    texts = [line for lines in line_texts([text] if text else []) for line in lines.to_pylist()]
    return [Entry(f"{where}:{number}", None, candidates={ONE_SYSTEM: (line,)}) for number, line in enumerate(texts, 1)]


def _document(text: str, where: str, side: Side) -> ItemFile:
    document = decode_json(text, where) if text.strip() else []
    if isinstance(document, dict) and ANNOTATIONS in document:
        return ItemFile(where, annotation_entries(document, where, side=side), [])
    if not isinstance(document, list | dict):
        raise InputError(f"{where}: {seen(document)}; wanted a list of objects, or an object with COCO's 'annotations'")
    # One line of JSON lines is a document too.
    records = [document] if isinstance(document, dict) else document
    places = [(f"{where}: item {number}", record) for number, record in enumerate(records, 1)]
    return _records(places, where, side)


def _records(places: list[tuple[str, Any]], where: str, side: Side) -> ItemFile:
    first = places[0][1] if places else None
    if is_caption(first):
        if side == "references":
            raise InputError(f"{where}: a list of COCO captions is candidates; wanted references first")
        return ItemFile(where, caption_entries(places, side=side), [])
    entries = [entry_of(record, place) for place, record in places]
    return ItemFile(where, entries, list(first) if isinstance(first, dict) else [])


def _json_lines(text: str, where: str, notes: Counter[str]) -> Iterator[tuple[str, Any]]:
    blank = 0
    for number, line in enumerate(json_lines(text) if text else [], 1):
        if line.strip():
            yield f"{where}:{number}", decode_json(line, f"{where}:{number}")
        else:
            blank += 1
    _note_blank(blank, where, notes)


def _table(text: str, file: Source, side: Side, notes: Counter[str]) -> ItemFile:
    where = file.where
    rows = list(delimited_rows([text], where, _DELIMITERS[file.kind or ""]))
    full = [(line, row) for line, row in rows if row]
    _note_blank(len(rows) - len(full), where, notes)
    if not full:
        return ItemFile(where, [], [])
    (line, header), *body = full
    entries = table_entries(header, _even(body, header, where), f"{where}:{line}", side=side)
    return ItemFile(where, entries, header)


def _parquet(file: Source, side: Side) -> ItemFile:
    header, columns = parquet_columns(file)
    rows = (
        (f"{file.where}: row {number}", [plain_cell(cell) for cell in cells])
        for number, cells in enumerate(zip(*columns, strict=True), 1)
    )
    return ItemFile(file.where, table_entries(header, rows, file.where, side=side), header)


def _even(rows: Iterable[tuple[int, list[str]]], header: list[str], where: str) -> Iterator[Row]:
    """Rows with their places, each as long as the header."""
    for line, row in rows:
        if len(row) != len(header):
            raise wrong_width(f"{where}:{line}", row, header)
        yield f"{where}:{line}", row


def _note_blank(count: int, where: str, notes: Counter[str]) -> None:
    if count:
        notes[f"{where}: {many(count, 'blank line')} left out"] += 1
