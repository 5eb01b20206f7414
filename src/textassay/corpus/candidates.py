"""Candidates by name, from whatever a Python call hands over: texts, paths, samples, or several of these."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.item_join import system_paths
from textassay.corpus.item_records import kind_of
from textassay.corpus.printable import quoted
from textassay.corpus.sample import Sample
from textassay.corpus.sources import has_known_extension, name_of

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
        return _checked(candidates)
    if isinstance(candidates, Sample):
        return {candidates.name: candidates}
    if isinstance(candidates, str | os.PathLike):
        return {name_of(os.fsdecode(candidates)): candidates}
    if not isinstance(candidates, list | tuple):
        return {ONE: candidates}
    if not candidates:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    if _are_paths(candidates):
        return dict(system_paths(candidates))
    if _are_samples(candidates):
        return _numbered(candidates)
    return {ONE: candidates}


def _checked(candidates: Mapping[Any, Any]) -> dict[str, Any]:
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
        unique, number = name, 2
        while unique in named:
            unique, number = f"{name} ({number})", number + 1
        named[unique] = value
    return named
