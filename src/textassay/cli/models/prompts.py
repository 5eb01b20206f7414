"""Prompts of `sample` and `score`: which field of a file has them."""

import sys
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def prompt_fields(path: str, *, field: str | None, encoding: str) -> list[str]:
    """The names of the fields with prompts in a file that also has other fields; none for lines.

    The file is opened for this alone, so there are none for what can be read only once.
    """
    from textassay.corpus.files.reading import is_stream
    from textassay.corpus.rows import CONTEXTS
    from textassay.corpus.tables import Expected, open_source

    if is_stream(path):
        return []
    expected = Expected(texts=True, unnamed="lines")
    opened = open_source(path, expected, name=None, kind="sample", encoding=encoding, notes=Counter())
    names = list(next(opened.tables).head.fields)
    return [name for name in CONTEXTS if name in names and name != field]


def read_prompts(path: str, *, field: str | None, encoding: str, quiet: bool) -> list[str]:
    """The prompts of a file: a field such as `prompt`, if it has one, or else its texts."""
    from textassay.cli import options
    from textassay.corpus.readers import read_sample

    fields = [] if field is not None else prompt_fields(path, field=None, encoding=encoding)
    read = read_sample(path, field=fields[0] if fields else field, encoding=encoding)
    options.note([read], quiet=quiet)
    prompts: list[str] = read.texts.to_pylist()
    if not fields:
        beside = None if field is not None or read.prompt_field is None else given_prompts(read.contexts)
        if beside is None:
            return prompts
        note_field(path, "the prompts are", [str(read.prompt_field)], quiet=quiet)
        return beside
    note_field(path, "the prompts are", fields, quiet=quiet)
    if len(fields) == 1 or read.contexts is None:
        return prompts
    others = read.contexts.to_pylist()
    return [first if rest is None else f"{first}\n{rest}" for first, rest in zip(prompts, others, strict=True)]


def given_prompts(sample_prompts: "pa.Array | None") -> list[str] | None:
    """The prompts beside texts, blank where a text has none; None if no text has one."""
    if sample_prompts is None or sample_prompts.null_count == len(sample_prompts):
        return None
    return [prompt or "" for prompt in sample_prompts.to_pylist()]


def note_field(path: str, what: str, fields: list[str], *, quiet: bool) -> None:
    """Say which fields are read as prompts."""
    from textassay.corpus.printable import printable, quoted

    if not quiet:
        several = "s" if len(fields) > 1 else ""
        sys.stderr.write(f"note: {printable(path)}: {what} the field{several} {quoted(fields)}\n")
