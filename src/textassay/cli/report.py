"""`textassay report`: saved results in another form."""

from typing import Annotated

import typer

from textassay.cli import options


def report(
    results: Annotated[
        str, typer.Argument(metavar="RESULTS.json", help="The JSON file of any study, or - for standard input.")
    ],
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.FullTable = False,
    why: Annotated[
        bool, typer.Option("--why", help="Show texts, and explain why a number, an interval or a test is missing.")
    ] = False,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="Number of items shown by --why and in Markdown.")] = 5,
    quiet: options.Quiet = False,
) -> None:
    """Show saved results, or write them in another form.

    Reads the JSON file that --json of any study wrote. Nothing is measured again.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.studies.saved import read_results

    check_writable([csv, markdown, latex, bibtex, report], inputs=[results])
    targets = {"csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    deliver_outcome(read_results(results), targets, quiet=quiet, table=table, why=why, top=top)
