"""Readers of samples: texts from files, tables, data frames and iterables, by system, and the names of candidates."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files.reading import STDIN, has_known_extension, name_of, named_paths, unused_name
from textassay.corpus.formats.opened import format_note, shown_counts
from textassay.corpus.formats.record import TextKind, checked_kind
from textassay.corpus.formats.requests import read_requests
from textassay.corpus.printable import many, quoted, share
from textassay.corpus.rows import COLUMNS, Found, Rows, Wanted, check_groups, concat_rows, labels, table_rows
from textassay.corpus.sample import TEXT, GeneratedTexts, Sample, is_not_blank
from textassay.corpus.tables import AnySource, Expected, Opened, listed_notes, open_source
from textassay.corpus.values import kind_of
from textassay.errors import InputError, PythonHint, Setting

# The reasons that are a limit of the length, where a record states why a generated text ended.
CUT_OFF = ("length", "max_tokens")
# The field of the groups, or the group of each text.
Grouping: TypeAlias = str | Iterable[Any] | None


def read_sample(
    source: AnySource | Sample,
    *,
    name: str | None = None,
    field: str | None = None,
    group: Grouping = None,
    encoding: str = "utf-8",
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
) -> Sample:
    """Read a sample; its notes report what was left out (blank texts, a byte order mark).

    Parameters
    ----------
    source
        A path, a pattern such as `runs/*.txt`, `-` for standard input, a list of texts or of dicts, a pandas or polars
        column, an Arrow array, a data frame, an Arrow table or a Hugging Face dataset. A sample is returned as it is.
    name
        What to call the sample; by default the stem of the file, or "sample".
    field
        The field that holds the texts, or a path such as `choices[0].message.content` or `generations[*]`; ignored
        where there are no fields. By default `text`, or what the format of a known tool has as text, or the only
        field that holds strings.
    group
        The field that holds the group of each text: its prompt, document or author; or a column or list with the group
        of each text. Every text needs one.
    encoding
        The encoding of text files.
    text
        The answer or the reasoning of a model, in files of known tools.
    prompts_from
        The requests of a batch, whose output has no prompts: its input file, joined by `custom_id`.

    Returns
    -------
    Sample
        The texts, and their `groups` if asked for. `contexts` are the fields `prompt`, `instruction`, `question`,
        `context` and `input` together, `ids` the field `id` or `uid`, and `cut_off` is true where the field
        `finish_reason` is `length` or `max_tokens`, where the records have them.

    Examples
    --------
    >>> read_sample(["a cat sat", "a dog ran"], name="pets").name
    'pets'
    >>> records = [{"prompt": 1, "output": "a cat sat"}, {"prompt": 2, "output": "a dog ran"}]
    >>> read_sample(records, group="prompt").groups.to_pylist()
    ['1', '2']
    """
    if isinstance(source, Sample):
        return source if name is None else replace(source, name=name)
    wanted = Wanted(field, _field_of(group), None, text, _requests(prompts_from))
    rows, called, found = _read_rows(source, wanted, name=name, encoding=encoding)
    rows = _with_groups(rows, group, called)
    systems = [] if rows.systems is None else _different(rows.systems)
    if len(systems) > 1:
        seen = f"{called}: texts of {len(systems)} systems ({quoted(systems)}); wanted one system, or "
        raise InputError(seen, Setting("by", "model"), PythonHint(" in compare"))
    return _sample_of(rows, called, found, source)


def read_systems(
    source: AnySource,
    *,
    by: str = "model",
    name: str | None = None,
    field: str | None = None,
    group: Grouping = None,
    encoding: str = "utf-8",
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
) -> dict[str, Sample]:
    """Read the texts of several systems from one source, as one sample per system.

    Parameters
    ----------
    source, name, field, group, encoding, text, prompts_from
        As for `read_sample`.
    by
        The field that holds the system of each text. In files of known tools `model` is what the tool calls it.

    Returns
    -------
    dict of str to Sample
        A sample per system, in the order of their first texts. Texts without a system are of a system that has the
        name of the source.

    Examples
    --------
    >>> records = [{"model": "a", "text": "a cat sat"}, {"model": "b", "text": "a dog ran"}]
    >>> {name: len(sample) for name, sample in read_systems(records).items()}
    {'a': 1, 'b': 1}
    """
    wanted = Wanted(field, _field_of(group), by, text, _requests(prompts_from))
    rows, called, found = _read_rows(source, wanted, name=name, encoding=encoding)
    rows = _with_groups(rows, group, called)
    if rows.systems is None:
        raise InputError(f"{called}: texts without fields; wanted records with the system of each text")
    named = pc.fill_null(rows.systems, called)
    read = {}
    for system in (several := _different(named)):
        of_system = pc.equal(named, system)
        sample = _sample_of(_filtered(rows, of_system), system, found, None)
        note = f"{len(sample):,} of {many(len(rows), 'text')} of {called} are of this system"
        # What was lost of several systems is not known for each.
        read[system] = replace(sample, notes=(*sample.notes, note), lost=()) if len(several) > 1 else sample
    return read


def _field_of(group: Grouping) -> str | None:
    return group if isinstance(group, str) else None


def _with_groups(rows: Rows, group: Grouping, called: str) -> Rows:
    """The rows with the groups of a column or list; unchanged where a field has them."""
    if isinstance(group, str | None):
        return rows
    return replace(rows, groups=_listed_groups(rows.texts, group, called))


def _listed_groups(texts: pa.Array, group: Iterable[Any], called: str) -> pa.Array:
    groups = labels(group if isinstance(group, pa.Array | pa.ChunkedArray) else list(group))
    name = column_name(group, "group")
    if len(groups) != len(texts):
        seen = f"{called}: {many(len(texts), 'text')} and {many(len(groups), 'value')} of {quoted([name])}"
        raise InputError(f"{seen}; wanted the group of each text")
    check_groups(texts, groups, name, lambda row: f"{called}: text {row + 1}")
    return groups


def column_name(values: Any, default: str) -> str:
    """The name of a column, such as that of a pandas Series; the default for what has none."""
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name.strip() else default


def _requests(source: AnySource | None) -> dict[str, str] | None:
    return None if source is None else read_requests(source)


def candidate_systems(
    sources: Mapping[str, Any],
    *,
    by: str | None = None,
    reference: str | None = None,
    field: str | None = None,
    group: Grouping = None,
    encoding: str = "utf-8",
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
) -> tuple[Sample | None, dict[str, Sample]]:
    """The systems of several sources as candidates, and the one that is the reference, if a name is given.

    >>> records = [{"model": "a", "text": "a cat sat"}, {"model": "b", "text": "a dog ran"}]
    >>> real, candidates = candidate_systems({"x": records}, reference="b")
    >>> real.name, list(candidates)
    ('b', ['a'])
    """
    found: dict[str, Sample] = {}
    for name, given in sources.items():
        source, own = _with_field(given)
        called = None if isinstance(source, str | os.PathLike) else name
        read = (
            {source.name: source}
            if isinstance(source, Sample)
            else read_systems(
                source,
                by=by or "model",
                name=called,
                field=own or field,
                group=group,
                encoding=encoding,
                text=text,
                prompts_from=prompts_from,
            )
        )
        if twice := [system for system in read if system in found]:
            raise InputError(f"{name}: the system {quoted(twice[:1])} is in another file too; wanted different names")
        found |= read
    if reference is None:
        return None, found
    if reference not in found:
        seen = f"; systems are {quoted(list(found))}" if found else ""
        raise InputError(Setting("reference_system", reference), f": no such system{seen}")
    real = found.pop(reference)
    if not found:
        raise InputError(Setting("reference_system", reference), ": the only system; wanted another one as a candidate")
    return real, found


def _different(systems: pa.Array) -> list[str]:
    return [name for name in pc.unique(systems).to_pylist() if name is not None]


def _filtered(rows: Rows, mask: pa.Array) -> Rows:
    """The rows of which the mask is true."""
    columns = {name: getattr(rows, name) for name in ("texts", *COLUMNS)}
    return replace(rows, **{name: column.filter(mask) for name, column in columns.items() if column is not None})


def _sample_of(rows: Rows, name: str, found: Found, source: Any) -> Sample:
    cut_off = pa.array(source.cut_off) if isinstance(source, GeneratedTexts) else None
    if rows.finishes is not None and (found.form is None or rows.finishes.null_count < len(rows)):
        cut_off = pc.fill_null(pc.is_in(rows.finishes, pa.array(CUT_OFF, TEXT)), False)
    contexts, ids = _unless_empty(rows.contexts), _unless_empty(rows.ids)
    sample = Sample.of(
        rows.texts,
        name=name,
        ids=ids,
        contexts=contexts,
        notes=listed_notes(found.notes),
        groups=rows.groups,
        cut_off=cut_off,
    )
    broken = tuple(_broken_texts(rows.texts)) if rows.are_lines else ()
    prompt_field = None if contexts is None else rows.prompt_field
    lost = (*sample.lost, *found.reading.lost.items())
    named = replace(sample, prompt_field=prompt_field, id_field=None if ids is None else rows.id_field, lost=lost)
    return replace(named, notes=(*sample.notes, *broken), is_broken=bool(broken))


def _unless_empty(column: pa.Array | None) -> pa.Array | None:
    """A column in which at least one text has a value."""
    return None if column is None or column.null_count == len(column) else column


# Lines that begin like a part of a longer text: items of lists, headings, quotes, tables and code.
_PART_OF_TEXT = r"^[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|>[ \t]|\||```|~~~)"
# Lines that are objects of JSON.
_OBJECT = r'^\s*\{\s*"[^"]*"\s*:.*\}\s*$'
_MANY_OBJECTS = 0.9
# With this share of such lines or of blank ones, texts probably have several lines each.
_MANY_PARTS, _MANY_BLANK = 0.1, 0.1


def _broken_texts(lines: pa.Array) -> Iterator[str]:
    """A note if a file with one text per line seems to have texts of several lines, or records."""
    objects = pc.mean(pc.match_substring_regex(lines, _OBJECT).cast("int8")).as_py() or 0.0
    if objects >= _MANY_OBJECTS:
        yield (
            f"{share(objects)} of the lines are JSON objects: every line was read as a text, as the name of the file "
            "asks for; for texts in their fields, call the file .jsonl"
        )
        return
    parts = pc.mean(pc.match_substring_regex(lines, _PART_OF_TEXT).cast("int8")).as_py() or 0.0
    blank = 1 - (pc.mean(is_not_blank(lines).cast("int8")).as_py() or 0.0)
    if parts >= _MANY_PARTS or (blank >= _MANY_BLANK and parts > 0):
        yield (
            f"{share(blank)} of the lines are blank and {share(parts)} begin like items of lists, headings or code: "
            "every line was read as a text; if texts have several lines, write them to a .jsonl, .csv or .parquet file"
        )


def _read_rows(source: AnySource, wanted: Wanted, *, name: str | None, encoding: str) -> tuple[Rows, str, Found]:
    """All rows of a source, its name, and what was found in it."""
    checked_kind(wanted.kind)
    found = Found(Counter())
    # Standard input has no extension that distinguishes records from lines; a requested field does.
    expected = Expected(texts=True, unnamed="JSON or table" if wanted.names else "lines")
    try:
        opened = open_source(source, expected, name=name, kind="sample", encoding=encoding, notes=found.notes)
    except InputError as error:
        # A text in the place of a list of texts is the likeliest mistake behind a path that does not exist.
        if isinstance(source, str) and source != STDIN and not os.path.lexists(source):
            raise InputError(str(error), PythonHint(" (a string is a path; pass texts as a list)")) from None
        raise
    return opened_rows(opened, wanted, found), opened.name, found


def opened_rows(opened: Opened, wanted: Wanted, found: Found) -> Rows:
    """All rows of an opened source; what it is and what was left out is in the notes of what was found."""
    rows = concat_rows(_counted(opened, wanted, found))
    _check_varied(rows.texts, found)
    if found.form is not None:
        found.notes[format_note(found.form, found.reading, len(rows))] = 1
    return rows


def _counted(opened: Opened, wanted: Wanted, found: Found) -> Iterator[Rows]:
    """The rows, with a note on empty files, and at the end an error if there was no text at all."""
    total = 0
    has_text = False
    for table in opened.tables:
        count, left_out = 0, found.reading.left_out.total()
        are_lines = opened.unit == "line" and not table.head.fields and table.head.records is None
        for part in table_rows(table, wanted, found):
            rows = replace(part, are_lines=are_lines)
            has_text = has_text or pc.any(is_not_blank(rows.texts)).as_py() is True
            count += len(rows)
            yield rows
        if not count and found.reading.left_out.total() == left_out:
            found.notes["empty file"] += 1
        total += count
    if has_text:
        return
    if found.form is not None:
        counts = shown_counts(found.reading.left_out) or "no records"
        raise InputError(f"{opened.where}: {found.form.name}, no text left ({counts}); wanted at least one text")
    seen = f"{many(total, opened.unit)}, {'all blank' if total > 1 else 'blank'}" if total else "empty"
    one = "at least one text" if opened.unit == "text" else f"one text per {opened.unit}"
    raise InputError(f"{opened.where}: {seen}; wanted {one}")


# A field that the reader chose is refused if it has fewer different values than this share of its texts, or one.
_FEWEST_TEXTS, _LEAST_SHARE = 10, 0.05


def _check_varied(texts: pa.Array, found: Found) -> None:
    """Refuse a field that the reader chose and that hardly varies: it has labels, not generated texts."""
    if found.chosen is None or len(texts) < _FEWEST_TEXTS:
        return
    most = max(1, int(_LEAST_SHARE * len(texts)))
    # Counting takes the memory of the texts, and nearly always the first ones suffice.
    if pc.count_distinct(texts.slice(0, 2 * most)).as_py() > most:
        return
    different = pc.count_distinct(texts).as_py()
    if different <= most:
        chosen, where = found.chosen
        seen = f"the only field with strings, {quoted([chosen])}, has {many(different, 'different value')}"
        raise InputError(
            f"{where}: {seen} in {many(len(texts), 'text')}; name the field of the texts with ", Setting("field")
        )


ONE = "candidate"


def _with_field(source: Any) -> tuple[Any, str | None]:
    """A source and the field of its texts, where it is a pair of a path and a field."""
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], str | None):
        path, field = source
        if isinstance(path, os.PathLike) or (isinstance(path, str) and has_known_extension(path)):
            return path, field
    return source, None


def as_sample(texts: Any, name: str, *, group: Grouping = None) -> Sample:
    """A sample from any kind of input, with the groups of its texts if they are asked for."""
    texts, field = _with_field(texts)
    found = texts if isinstance(texts, Sample) else read_sample(texts, name=name, field=field, group=group)
    if isinstance(texts, Sample) and not isinstance(group, str | None):
        return replace(found, groups=_listed_groups(found.texts, group, name))
    if group is not None and found.groups is None:
        raise InputError(f"{name}: a sample without groups; make it with read_sample(..., group={group!r})")
    return found


def named_candidates(candidates: Any) -> dict[str, Any]:
    """Candidates by name; each value is what `read_sample` takes, or a `Sample`.

    A mapping has the names already. A path is one candidate with the name of its file, and a list of paths several. A
    pair of a path and a field has the name of the field (of the file, if other pairs have that field too), and a column
    its own name. A list of samples, columns, pairs
    or lists is several. Anything else is the texts of one candidate, called "candidate": a list of strings, a data
    frame, a dataset, a list of records. No text is ever looked up as a file: a list
    of strings is a list of paths only if every one of them ends as a readable file does (`.txt`, `.jsonl.gz`, ...) or
    is a `pathlib.Path`.

    Examples
    --------
    >>> named_candidates(["a cat sat", "a dog ran"])
    {'candidate': ['a cat sat', 'a dog ran']}
    >>> named_candidates(["runs/mle.txt", "runs/gan.jsonl"])
    {'mle': 'runs/mle.txt', 'gan': 'runs/gan.jsonl'}
    >>> sorted(named_candidates([["a cat"], ["a dog"]]))
    ['candidate 1', 'candidate 2']
    """
    if isinstance(candidates, Mapping):
        return _checked_name(candidates)
    if isinstance(candidates, Sample):
        return {candidates.name: candidates}
    if isinstance(candidates, str | os.PathLike):
        return {name_of(os.fsdecode(candidates)): candidates}
    if not isinstance(candidates, list | tuple) or _with_field(candidates)[1] is not None:
        return {_own_name(candidates, ONE): candidates}
    if not candidates:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    if _are_paths(candidates):
        return dict(named_paths(candidates))
    if _are_samples(candidates):
        return _numbered(candidates)
    return {ONE: candidates}


def named_sources(values: Sequence[str], *, beside: Sequence[str] = ()) -> dict[str, tuple[str, str | None]]:
    """Files by name, each with the field of its texts: `FILE`, `NAME=FILE`, `FILE::FIELD` or `NAME=FILE::FIELD`.

    An existing file may have any of these signs in its name. Several fields of one file are called by their names;
    `beside` are further files that count for this.

    >>> named_sources(["runs/mle.txt", "model a=out.jsonl::response"])
    {'mle': ('runs/mle.txt', None), 'model a': ('out.jsonl', 'response')}
    """
    parsed = [_parsed_source(value) for value in values]
    paths = [*beside, *(path for _, path, _ in parsed)]
    named: dict[str, tuple[str, str | None]] = {}
    given_names = named_paths([path for _, path, _ in parsed])
    for given, (own, path, field) in zip(given_names, parsed, strict=True):
        name = field if own is None and paths.count(path) > 1 else own
        if name in named:
            raise InputError(f"two candidates have the name {quoted([name])}; wanted different names")
        named[unused_name(given, named) if name is None else name] = path, field
    return named


def split_field(value: str) -> tuple[str, str | None]:
    """The path and the field of a source on the command line; an existing file may have `::` in its name.

    >>> split_field("data.csv::human"), split_field("data.csv")
    (('data.csv', 'human'), ('data.csv', None))
    """
    path, _, field = value.rpartition("::")
    return (path, field) if path and field and not os.path.lexists(value) else (value, None)


def _parsed_source(value: str) -> tuple[str | None, str, str | None]:
    """Name, path and field."""
    if os.path.lexists(value):
        return None, value, None
    name, _, last = value.partition("=")
    if name.strip() and os.path.lexists(last):
        return name.strip(), last, None
    path, field = split_field(value)
    name, separator, last = path.partition("=")
    is_named = bool(separator and name.strip() and last) and not os.path.lexists(path)
    return name.strip() if is_named else None, last if is_named else path, field


def _checked_name(candidates: Mapping[Any, Any]) -> dict[str, Any]:
    for name in candidates:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"candidates: a name is {_shown(name)}; wanted a string that is not blank")
    return dict(candidates)


def _shown(name: Any) -> str:
    return quoted([name]) if isinstance(name, str) else kind_of(name)


def _are_paths(values: Sequence[Any]) -> bool:
    paths = [isinstance(value, os.PathLike) for value in values]
    if any(paths) and not all(isinstance(value, str | os.PathLike) for value in values):
        raise InputError("candidates: a list of paths and other things; wanted one kind, or a dict of names")
    return any(paths) or all(isinstance(value, str) and has_known_extension(value) for value in values)


def _are_samples(values: Sequence[Any]) -> bool:
    """Whether each value holds texts and is neither a text nor a record."""
    return all(
        isinstance(value, Sample)
        or (hasattr(value, "__iter__") and not isinstance(value, str | bytes | os.PathLike | Mapping))
        for value in values
    )


def _own_name(value: Any, default: str) -> str:
    """The name of a sample or column, or the field of a pair of a path and a field."""
    field = _with_field(value)[1]
    return column_name(value, default) if field is None else field


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    """Samples, columns and pairs by name, anything else by number; a name that comes twice gets a number too.

    Pairs with the same field have the names of their files.
    """
    named: dict[str, Any] = {}
    fields = [_with_field(value)[1] for value in values]
    for index, (value, field) in enumerate(zip(values, fields, strict=True), 1):
        is_shared = field is not None and fields.count(field) > 1
        name = name_of(os.fsdecode(value[0])) if is_shared else _own_name(value, f"{ONE} {index}")
        named[unused_name(name, named)] = value
    return named
