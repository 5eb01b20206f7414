"""`textassay prepare`: training texts with a limited vocabulary, limited lengths and splits."""

import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    import pyarrow as pa

    from textassay.models.vocabulary import Vocabulary

_PART = re.compile(r"([\w-]+)=(\d*\.?\d+)", re.ASCII)


def prepare(
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="The texts: a file, a pattern, or -.")],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE|-",
            help="Where to write, one text per line. --split adds names: data.train.txt for data.txt.",
        ),
    ] = "-",
    split: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Separate parts with their sizes or shares: train=0.8,validation=0.1,test=1000.",
        ),
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Take the parts of --split one after the other instead of at random.")
    ] = False,
    min_count: Annotated[int, typer.Option(metavar="N", help="Words that occur less often are unknown.")] = 1,
    max_words: Annotated[
        int | None, typer.Option(metavar="N", help="Only the N most common words are known. [default: all]")
    ] = None,
    unknown: Annotated[
        str,
        typer.Option(metavar="replace|drop", help="Replace unknown words by <unk>, or leave out texts with them."),
    ] = "replace",
    max_unknown: Annotated[
        int | None, typer.Option(metavar="N", help="Leave out texts with more unknown words than this.")
    ] = None,
    min_length: Annotated[
        int | None, typer.Option(metavar="N", help="Leave out texts with fewer words, punctuation included.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", help="Leave out texts with more words, punctuation included.")
    ] = None,
    unique: Annotated[bool, typer.Option("--unique", help="Leave out repeated texts.")] = False,
    vocabulary: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Also write the known words with their counts, as TSV.")
    ] = None,
    tokenizer: options.WordTokenizer = "words",
    lowercase: options.Lowercase = False,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Prepare training texts: vocabulary, lengths and splits.

    Settings used in papers: --min-count 20 --unknown drop --max-length 32 (Li et al. 2020, captions); --min-count 150
    --max-unknown 3 --min-length 20 --max-length 40 (Montahaei et al. 2019, news).
    """
    from textassay.cli.outputs import Output, check_writable, deliver
    from textassay.corpus.printable import many
    from textassay.corpus.readers import read_sample
    from textassay.corpus.sample import stream
    from textassay.models.neural.training_texts import prepare_texts, repeated_across, split_texts

    sizes = _sizes(split) if split is not None else None
    targets = _targets(out, list(sizes or {}))
    check_writable([*targets.values(), vocabulary], inputs=[texts])
    sample = read_sample(texts, field=field, encoding=encoding)
    options.note([sample], quiet=quiet)
    made = prepare_texts(
        sample,
        tokenizer=tokenizer,
        lowercase=lowercase,
        min_count=min_count,
        max_words=max_words,
        unknown=unknown,
        max_unknown=max_unknown,
        min_length=min_length,
        max_length=max_length,
        unique=unique,
    )
    parts = {"": made.texts}
    notes = [f"{many(len(made.texts), 'text')} of {len(sample):,} kept", *made.notes]
    if sizes is not None:
        parts = split_texts(made.texts, sizes, rng=None if in_order else stream(seed, "prepare"))
        notes += [*(f"{name}: {many(len(part), 'text')}" for name, part in parts.items()), *repeated_across(parts)]
    if not quiet:
        sys.stderr.write("".join(f"{line}\n" for line in notes))
    outputs: list[Output] = [(targets[name], partial(_lines, part)) for name, part in parts.items()]
    deliver([*outputs, (vocabulary, partial(_counts, made.vocabulary))], table=lambda: None, quiet=quiet)


def _lines(texts: "pa.Array") -> str:
    """One text per line; a line break inside a text would begin another text."""
    return "".join(" ".join(text.splitlines()) + "\n" for text in texts.to_pylist())


def _counts(vocabulary: "Vocabulary") -> str:
    """One line per word with its count, the unknown word first."""
    from textassay.models.vocabulary import UNK

    known = zip(vocabulary.words[UNK:], vocabulary.counts[UNK:].tolist(), strict=True)
    return "".join(f"{word}\t{count}\n" for word, count in known)


def _sizes(text: str) -> dict[str, float]:
    """Names and sizes of parts, from text such as `train=0.8,test=1000`."""
    from textassay.corpus.printable import shortened
    from textassay.errors import InputError

    found = [_PART.fullmatch(part.strip()) for part in text.split(",")]
    sizes = {match[1]: float(match[2]) for match in found if match}
    if len(sizes) < len(found):
        raise InputError(f"--split '{shortened(text, 80)}'; wanted names and sizes, such as train=0.8,test=1000")
    return sizes


def _targets(out: str, names: list[str]) -> dict[str, str]:
    """The file of each part; without parts the output itself."""
    from textassay.errors import InputError

    if not names:
        return {"": out}
    if out == "-":
        raise InputError("--split with standard output; wanted --out FILE, which names the files of the parts")
    stem, extension = os.path.splitext(out)
    return {name: f"{stem}.{name}{extension}" for name in names}
