"""`textassay describe` and `textassay convert`: what a file is, and its records as JSON Lines."""

import sys
from typing import Annotated

import typer

from textassay.cli import options

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of texts or of another tool, a glob, or - for standard input.")
]


def describe(
    source: Source,
    field: options.Field = None,
    text: options.TextKind = "answer",
    prompts_from: options.PromptsFrom = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
) -> None:
    """Describe a file: its format, systems and first texts.

    Prints which tool wrote the file, the field of the texts, how many systems, prompts and texts per prompt it has,
    what was left out and why, and the first three records.
    """
    from textassay.corpus.formats.contents import read_contents
    from textassay.corpus.formats.record import checked_kind

    del max_input  # applied when it is parsed
    kind = checked_kind(text)
    found = read_contents(source, field=field, encoding=encoding, text=kind, prompts_from=prompts_from)
    sys.stdout.write(found.described() + "\n")


def convert(
    source: Source,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE|-", help="Where to write the records (JSON Lines).")
    ] = None,
    every_eval_ever: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Where to write the records as instances of Every Eval Ever (JSON Lines)."),
    ] = None,
    field: options.Field = None,
    text: options.TextKind = "answer",
    prompts_from: options.PromptsFrom = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    quiet: options.Quiet = False,
) -> None:
    """Write the records of a file as JSON Lines.

    A record has the fields system, prompt, prompt_id, sample, text, reasoning and finish. Reads the files of other
    tools and plain texts; what is left out is printed with counts. All commands read the records, and the instances of
    Every Eval Ever, which have one line per system and prompt and no scores.
    """
    from textassay.cli.outputs import check_writable, write
    from textassay.corpus.formats.contents import read_contents
    from textassay.corpus.formats.every_eval_ever import instance_lines
    from textassay.corpus.formats.opened import shown_counts
    from textassay.corpus.formats.record import checked_kind
    from textassay.corpus.printable import many, printable
    from textassay.errors import InputError

    del max_input  # applied when it is parsed
    if (out is None) == (every_eval_ever is None):
        raise InputError("convert: wanted one of --out and --every-eval-ever")
    check_writable([out, every_eval_ever], inputs=[source, *([prompts_from] if prompts_from else [])])
    kind = checked_kind(text)
    found = read_contents(source, field=field, encoding=encoding, text=kind, prompts_from=prompts_from)
    if every_eval_ever is not None:
        write(every_eval_ever, instance_lines(found, name=found.name))
    elif out is not None:
        write(out, found.lines())
    if not quiet:
        left = f"; left out: {shown_counts(found.left_out)}" if found.left_out else ""
        sys.stderr.write(f"note: {printable(found.name)}: {found.format}: {many(found.n, 'record')}{left}\n")
