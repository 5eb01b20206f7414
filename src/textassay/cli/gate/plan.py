"""`textassay plan`: how many texts a gate needs."""

from typing import Annotated

import typer

from textassay.cli import options
from textassay.cli.gate import options as gate_options


def plan(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Real texts: a file, a glob, or - for standard input.")
    ],
    pilot: Annotated[
        str | None,
        typer.Argument(metavar="PILOT", help="A first sample of a candidate. [default: real text against real text]"),
    ] = None,
    margin: Annotated[str, typer.Option(metavar="SHARE", help="The margin of the separable share.")] = "10%",
    power: Annotated[str, typer.Option(metavar="SHARE", help="The share of gates that should be decided.")] = "80%",
    contaminant: Annotated[str | None, typer.Option(metavar="FILE", help=gate_options.CONTAMINANT)] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="Number of trials of the last round.")] = 100,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    strip: options.Strip = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    group: options.Group = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    engine: options.Engine = "local",
    json: options.Json = None,
    csv: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per size.")] = None,
    markdown: options.Markdown = None,
    report: options.Report = None,
    table: options.FullTable = False,
    quiet: options.Quiet = False,
) -> None:
    """Find how many texts a gate needs.

    Draws samples of your own texts, decides as `textassay compare --max-separable` would, and finds the number of texts
    per sample with which two samples of one source pass. With a pilot, the number with which a gate on such a candidate
    is decided. With --group, or where prompts repeat in a sample, prompts or documents are counted.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.files.reading import check_stdin_once
    from textassay.corpus.readers import read_sample
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.gate.rules import share_of
    from textassay.studies.plan.study import plan as run

    del max_input  # applied when it is parsed
    inputs = [name for name in (reference, pilot, contaminant) if name is not None]
    check_stdin_once(inputs)
    check_writable([json, csv, markdown, report], inputs=[*inputs, tokenizer])
    with ProgressBar(quiet=quiet) as progress:
        real, other = (
            None if source is None else read_sample(source, field=field, encoding=encoding, group=group)
            for source in (reference, pilot)
        )
        bank = None if contaminant is None else read_sample(contaminant, field=field, encoding=encoding)
        found = run(
            real,
            other,
            margin=margin,
            power=share_of(power, "power"),
            contaminant=bank,
            tokenizer=tokenizer,
            lowercase=lowercase,
            strip=strip,
            group=group,
            n_runs=runs,
            level=level,
            seed=seed,
            engine=engine,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table)
