"""`textassay reproduce`: a paper's table or figure, beside the published one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.reproduce.result import Reproduction


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The table or figure to reproduce. [default: list them]")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with the published data. [default: the environment variable TEXTASSAY_DATA]",
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of items to measure. [default: depends on the table or figure]"),
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = None,
    markdown: options.Markdown = None,
    svg: Annotated[str | None, typer.Option(metavar="FILE.svg", help="Write the figure.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce a table or figure of a paper.

    Prints the published values beside the measured ones. Needs data that is not part of textassay; the error message
    names missing files. Without NAME, lists all tables and figures.
    """
    from textassay.cli.outputs import check_writable
    from textassay.cli.screen import ProgressBar
    from textassay.reproduce.catalogue import DATA_VARIABLE, find_files, find_reproduction
    from textassay.reproduce.catalogue import reproduce as run

    if name is None:
        _list()
        return
    folder = data if data is not None else os.environ.get(DATA_VARIABLE)
    files = find_files(find_reproduction(name), folder)
    check_writable([json, markdown, svg], inputs=map(str, files))
    with ProgressBar(quiet=quiet) as progress:
        found = run(name, data=folder, n_items=items, seed=seed, progress=progress)
    _deliver(found, json=json, markdown=markdown, svg=svg, quiet=quiet)


def _list() -> None:
    from rich import box
    from rich.table import Table

    from textassay.cli.screen import output_console
    from textassay.reproduce.catalogue import REPRODUCTIONS

    table = Table("name", "what it shows", "data", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, entry in REPRODUCTIONS.items():
        table.add_row(name, entry.title, ", ".join(entry.files))
    output_console().print(table)


def _deliver(found: "Reproduction", *, json: str | None, markdown: str | None, svg: str | None, quiet: bool) -> None:
    """Write the outputs, and print the tables unless an output goes to standard output."""
    from textassay.cli.outputs import Output, deliver
    from textassay.cli.screen import output_console
    from textassay.report.charts.figures import figure
    from textassay.report.reproduction import render, render_markdown

    outputs: list[Output] = [
        (json, lambda: found.to_json(indent=2)),
        (markdown, lambda: render_markdown(found, picture=_relative_path(markdown, svg))),
        (svg, lambda: figure(found)),
    ]
    deliver(outputs, table=lambda: output_console().print(render(found)), quiet=quiet)


def _relative_path(markdown: str | None, svg: str | None) -> str | None:
    """The path from the Markdown file to the figure, if both are written."""
    if markdown is None or svg in (None, "-"):
        return None
    folder = Path.cwd() if markdown == "-" else Path(markdown).parent
    return Path(os.path.relpath(str(svg), folder)).as_posix()
