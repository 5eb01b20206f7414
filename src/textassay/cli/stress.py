"""`textassay stress`: which metric notices which damage to real text?"""

from typing import Annotated

import typer

from textassay.cli import options


def stress(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Real texts: at least five times as many as the largest sample size.")
    ],
    damages: Annotated[
        list[str] | None,
        typer.Option(
            "--damages",
            "-d",
            metavar="LIST",
            help="topics (some are lost), duplicates, truncate (second half cut off), shuffle (order of words), rare "
            "(rarest words replaced), typos, words (random words replaced), cold and hot (texts of an n-gram model at "
            "temperature 0.5 and 1.5), blend (texts of --other) and copy (texts of --training). [default: all, except "
            "blend without --other and copy without --training]",
        ),
    ] = None,
    strengths: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Strengths of each damage, above 0 and at most 1. [default: 0.1,0.3,1]"),
    ] = None,
    sizes: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="Numbers of texts per sample. [default: 500,2000]")
    ] = None,
    other: Annotated[
        str | None, typer.Option(metavar="FILE", help="Texts of another corpus, for the damage blend.")
    ] = None,
    training: Annotated[
        str | None, typer.Option(metavar="FILE", help="Training texts of a generator, for copy and the metric copying.")
    ] = None,
    metrics: options.Metrics = None,
    family: options.Family = None,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    encoder: options.Encoder = "lsa",
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    runs: Annotated[int, typer.Option(metavar="N", help="Number of runs per damage, strength and size.")] = 20,
    draws: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of pairs of undamaged samples per size from which critical values come; as many more measure "
            "false alarms.",
        ),
    ] = 999,
    level: Annotated[
        float, typer.Option(metavar="N", help="One minus the level of the tests: 0.95 is a test at 5 %.")
    ] = 0.95,
    seed: options.Seed = 0,
    records: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Append every finished piece of work to this file, and continue from it if it exists. An interrupted "
            "study then loses only seconds of work.",
        ),
    ] = None,
    engine: options.Engine = "local",
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per metric, damage, size and strength.")
    ] = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.FullTable = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Print what each metric misses, Kendall's tau of value and strength, and what each damage does as "
            "well.",
        ),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find which metrics notice which damage to real text.

    Your own real texts are damaged in known ways, at several strengths and sample sizes. Prints the power of each
    metric and of the overall test for each damage, their false alarms on undamaged text and their time, and which
    metric to use for which damage. The defaults take about half an hour on two cores.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.files.reading import check_stdin_once
    from textassay.corpus.readers import read_sample
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.stress.study import SIZES, STRENGTHS
    from textassay.studies.stress.study import stress as run

    inputs = [name for name in (reference, other, training) if name is not None]
    check_stdin_once(inputs)
    check_writable([json, csv, markdown, latex, bibtex, report, records], inputs=[*inputs, tokenizer])
    with ProgressBar(quiet=quiet) as progress:
        real, *banks = (
            None if source is None else read_sample(source, field=field, encoding=encoding)
            for source in (reference, other, training)
        )
        found = run(
            real,
            damages=options.split(damages),
            strengths=_numbers(strengths, "strengths") or STRENGTHS,
            sizes=[_whole(size) for size in _numbers(sizes, "sizes")] or SIZES,
            metrics=options.split(metrics),
            families=options.split(family),
            other=banks[0],
            training=banks[1],
            tokenizer=tokenizer,
            lowercase=lowercase,
            encoder=encoder or "lsa",
            n_runs=runs,
            n_draws=draws,
            level=level,
            seed=seed,
            records=records,
            engine=engine,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table, timings=not no_timings, why=why)


def _numbers(values: list[str] | None, name: str) -> list[float]:
    """The numbers of a comma-separated option."""
    from textassay.errors import InputError, Setting

    found = []
    for part in options.split(values):
        try:
            found.append(float(part.replace("_", "")))
        except ValueError:
            raise InputError(Setting(name, part), "; wanted numbers with commas between them") from None
    return found


def _whole(number: float) -> int | float:
    """A whole number as an integer; anything else is refused by the study."""
    return int(number) if number.is_integer() else number
