"""Readers of samples: texts from files, patterns, standard input and Python objects, and candidates by name."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from textassay.corpus.fields import Rows, Wanted, concat_rows, table_rows
from textassay.corpus.files import STDIN, has_known_extension, name_of, named_paths, unused_name
from textassay.corpus.json_lines import kind_of
from textassay.corpus.printable import many, quoted
from textassay.corpus.sample import Sample, is_not_blank
from textassay.corpus.tables import AnySource, Expected, Opened, listed_notes, open_source
from textassay.errors import InputError, PythonHint


def read_sample(
    source: AnySource,
    *,
    name: str | None = None,
    field: str | None = None,
    group: str | None = None,
    encoding: str = "utf-8",
) -> Sample:
    """Read a sample; its notes report what was left out (blank texts, a byte order mark).

    Parameters
    ----------
    source
        A path, a pattern such as `runs/*.txt`, `-` for standard input, a list of texts or of dicts, a pandas or polars
        column, an Arrow array, a data frame, an Arrow table or a Hugging Face dataset.
    name
        What to call the sample; by default the stem of the file, or "sample".
    field
        The field that holds the texts; ignored where there are no fields. By default `text`, or the only one that
        holds strings.
    group
        The field that holds the group of each text: its prompt, document or author. Every text needs one.
    encoding
        The encoding of text files.

    Returns
    -------
    Sample
        The texts, and their `groups` if asked for. `contexts` are the fields `prompt`, `instruction`, `question`,
        `context` and `input` together, and `ids` the field `id` or `uid`, where the records have them.

    Examples
    --------
    >>> read_sample(["a cat sat", "a dog ran"], name="pets").name
    'pets'
    >>> records = [{"prompt": 1, "output": "a cat sat"}, {"prompt": 2, "output": "a dog ran"}]
    >>> read_sample(records, group="prompt").groups.to_pylist()
    ['1', '2']
    """
    notes: Counter[str] = Counter()
    wanted = Wanted(field, group)
    # Standard input has no extension that tells records from lines; asking for a field does.
    expected = Expected(texts=True, unnamed="JSON or table" if wanted.names else "lines")
    try:
        opened = open_source(source, expected, name=name, kind="sample", encoding=encoding, notes=notes)
    except InputError as error:
        # A text in the place of a list of texts is the likeliest mistake behind a path that does not exist.
        if isinstance(source, str) and source != STDIN and not os.path.lexists(source):
            raise InputError(str(error), PythonHint(" (a string is a path; pass texts as a list)")) from None
        raise
    rows = concat_rows(list(_counted(opened, wanted, notes)))
    return Sample.of(
        rows.texts,
        name=opened.name,
        ids=rows.ids,
        contexts=rows.contexts,
        notes=listed_notes(notes),
        groups=rows.groups,
    )


def _counted(opened: Opened, wanted: Wanted, notes: Counter[str]) -> Iterator[Rows]:
    """The rows, with a note on empty files, and at the end an error if there was no text at all."""
    total = 0
    found = False
    for table in opened.tables:
        count = 0
        for rows in table_rows(table, wanted):
            found = found or pc.any(is_not_blank(rows.texts)).as_py() is True
            count += len(rows)
            yield rows
        if not count:
            notes["empty file"] += 1
        total += count
    if not found:
        seen = f"{many(total, opened.unit)}, {'all blank' if total > 1 else 'blank'}" if total else "empty"
        one = "at least one text" if opened.unit == "text" else f"one text per {opened.unit}"
        raise InputError(f"{opened.where}: {seen}; wanted {one}")


ONE = "candidate"


def named_candidates(candidates: Any) -> dict[str, Any]:
    """Candidates by name; each value is what `read_sample` takes, or a `Sample`.

    A mapping has the names already. A path is one candidate with the name of its file, and a list of paths several. A
    list of samples, columns or lists is several. Anything else is the texts of one candidate, called "candidate": a
    list of strings, a column, a data frame, a dataset, a list of records. No text is ever looked up as a file: a list
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
    if not isinstance(candidates, list | tuple):
        return {ONE: candidates}
    if not candidates:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    if _are_paths(candidates):
        return dict(named_paths(candidates))
    if _are_samples(candidates):
        return _numbered(candidates)
    return {ONE: candidates}


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


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    """Samples under their own names, anything else by number; a name that comes twice gets a number too."""
    named: dict[str, Any] = {}
    for place, value in enumerate(values, 1):
        name = value.name if isinstance(value, Sample) else f"{ONE} {place}"
        named[unused_name(name, named)] = value
    return named
