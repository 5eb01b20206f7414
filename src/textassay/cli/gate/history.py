"""`textassay history`: metrics over runs, checkpoints or dates."""

from typing import Annotated

import typer

from textassay.cli import options


def history(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULTS",
            help="JSON files of textassay compare, one per run, with the same reference; or one file, whose candidates "
            "are the runs.",
        ),
    ],
    candidate: Annotated[
        str | None, typer.Option(metavar="NAME", help="The candidate to follow, where files have several.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            "-m",
            metavar="LIST",
            help="Labels of the metrics to follow, such as cnd-2,self_bleu-4. Fewer metrics need less correction. "
            "[default: all that every run has]",
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="natural|date|given",
            help="natural: by the dates in the names of the files if all have one, otherwise by name with numbers by "
            "their value; date: by date; given: as on the command line.",
        ),
    ] = "natural",
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json: options.Json = None,
    csv: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per run and metric.")
    ] = None,
    markdown: options.Markdown = None,
    report: options.Report = None,
    table: options.FullTable = False,
    why: Annotated[bool, typer.Option("--why", help="Also print how to read the changes.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Follow metrics over runs, checkpoints or dates.

    Draws each metric with its intervals, and marks the first change that is significant over the whole series: with all
    places at which a change can be and all metrics taken into account, and not each run against the one before it.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.studies.history.study import history as run

    check_writable([json, csv, markdown, report], inputs=results)
    labels = options.split(metrics)
    found = run(results, candidate=candidate, metrics=labels, order=order, level=level, seed=seed)
    targets = {"json": json, "csv": csv, "markdown": markdown, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table, why=why)
