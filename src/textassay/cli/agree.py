"""`textassay agree`: which metrics rank systems as a gold standard does?"""

from typing import Annotated

import typer

from textassay.cli import options


def agree(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULTS",
            help="JSON files of textassay compare, conditional, sweep, huse or reproduce dd-table-3, with the same "
            "reference.",
        ),
    ],
    gold: Annotated[
        str,
        typer.Option(
            metavar="ORDER",
            help="The right order, best first, such as 'a>b=c>d'; a file with one system per line, or with the columns "
            "system and score (higher is better) or rank; or the label of a metric in the results.",
        ),
    ],
    plane: Annotated[
        str | None,
        typer.Option(
            metavar="QUALITY,DIVERSITY",
            help="The metrics of the plane in which dominance is checked, such as bleu-4,self_bleu-4. "
            "[default: cr and nrr, bleu and self_bleu, or the first of each kind]",
        ),
    ] = None,
    level: options.Level = 0.95,
    json: options.Json = None,
    csv: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per metric and coefficient.")
    ] = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    report: options.Report = None,
    table: options.FullTable = False,
    why: Annotated[bool, typer.Option("--why", help="Also print how metrics correlate with each other.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure which metrics rank systems as a gold standard does.

    Prints Kendall's tau-b of each metric with an interval and an exact p-value, Spearman's and Pearson's correlations,
    and which systems dominate others in quality and diversity. The report has the correlations of every two metrics.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.studies.agreement.study import agree as run

    check_writable([json, csv, markdown, latex, report], inputs=[*results, gold])
    found = run(results, gold, plane=plane, level=level)
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table, why=why)
