"""`textassay reproduce`: the papers' tables and figures, beside the published ones."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options
from textassay.errors import InputError

if TYPE_CHECKING:
    from textassay.reproduce.result import Reproduction


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The table or figure to reproduce. [default: list them]")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Reproduce every table and figure.")] = False,
    scale: Annotated[
        str,
        typer.Option(
            metavar="SCALE",
            help="smoke: seconds, to check that it runs; laptop: minutes; paper: the sizes of the paper, or all data "
            "that there is (the list names the hardware that this needs).",
        ),
    ] = "laptop",
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with the published data. [default: the environment variable TEXTASSAY_DATA]",
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of items or texts to measure. [default: depends on the scale]"),
    ] = None,
    seed: options.Seed = 0,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Store the parts of a long run in this folder, and continue from those there."
        ),
    ] = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    svg: Annotated[str | None, typer.Option(metavar="FILE.svg", help="Write the figure.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write NAME.json and NAME.svg to this folder, and the documentation page of the paper, made from all "
            "its JSON files there.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce the tables and figures of the papers.

    Prints the published values beside the measured ones, and what differs. Most need data that is not part of
    textassay; the error message names missing files. Without NAME, lists all tables and figures, and those that cannot
    be reproduced with the reason.
    """
    from textassay.cli.outputs import check_writable
    from textassay.reproduce.catalogue import DATA_VARIABLE, REPRODUCTIONS, find_files, find_reproduction

    if name is None and not everything:
        if any(option is not None for option in (json, markdown, svg, output, items, work)):
            raise InputError("no NAME given; wanted the name of a table or figure, or --all")
        _list()
        return
    _check(name, everything, files=[json, markdown, svg], items=items, output=output)
    names = list(REPRODUCTIONS) if name is None else [name]
    folder = data if data is not None else os.environ.get(DATA_VARIABLE)
    files = find_files([find_reproduction(each) for each in names], folder)
    check_writable([json, markdown, svg], inputs=map(str, files.values()))
    for each in names:
        started = time.perf_counter()
        found = _run(each, scale=scale, folder=folder, items=items, seed=seed, work=work, quiet=quiet)
        if output is not None:
            _write(found, Path(output))
        if everything:
            _report(found, time.perf_counter() - started, quiet=quiet)
        else:
            _deliver(found, json=json, markdown=markdown, svg=svg, quiet=quiet)
    if output is not None:
        _write_pages(Path(output), {find_reproduction(each).paper for each in names})


def _check(
    name: str | None, everything: bool, *, files: list[str | None], items: int | None, output: str | None
) -> None:
    if name is not None and everything:
        raise InputError("both NAME and --all given; wanted one of them")
    if everything and (any(files) or items is not None):
        raise InputError("--all takes neither --json, --markdown, --svg nor --items; wanted --output FOLDER")
    if output is not None and not Path(output).is_dir():
        raise InputError(f"--output {output}: no such folder; wanted one that exists")


def _run(
    name: str, *, scale: str, folder: str | None, items: int | None, seed: int, work: str | None, quiet: bool
) -> "Reproduction":
    from textassay.engines.progress_bar import ProgressBar
    from textassay.reproduce.catalogue import reproduce as run

    with ProgressBar(quiet=quiet) as progress:
        return run(name, data=folder, scale=scale, n_items=items, seed=seed, work=work, progress=progress)


def _list() -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from textassay.cli.outputs import output_console
    from textassay.reproduce.catalogue import NOT_REBUILT, PAPERS, REPRODUCTIONS

    # A name of a file that does not fit is continued on the next line.
    data = Column("data", overflow="fold")
    table = Table("name", "what it shows", data, "the scale paper needs", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, entry in REPRODUCTIONS.items():
        table.add_row(name, entry.title, _shown_files(entry.files), entry.hardware)
    missing = Table("not reproduced", "reason", box=box.SIMPLE_HEAD, pad_edge=False)
    names = {paper: name for name, paper in PAPERS.items()}
    for each in NOT_REBUILT:
        missing.add_row(Text(f"{names[each.paper]}: {each.what}"), Text(each.reason))
    output_console().print(table, missing)


def _shown_files(files: tuple[str, ...]) -> str:
    """The files if they are few, else their folders."""
    if len(files) <= 2:
        return ", ".join(files) or "none"
    return ", ".join(dict.fromkeys(f"{file.rpartition('/')[0]}/*" for file in files))


def _report(found: "Reproduction", seconds: float, *, quiet: bool) -> None:
    """One reproduction of many: the claims that agree, and the conclusion."""
    from rich.text import Text

    from textassay.cli.outputs import output_console

    if not quiet:
        agreeing = f"{found.n_agreeing} of {len(found.claims)} statements hold"
        output_console().print(Text(f"{found.name}: {agreeing} ({seconds:.1f} s)", style="bold"))
        output_console().print(Text(f"  {found.conclusion}"))


def _write(found: "Reproduction", folder: Path) -> None:
    """The numbers and the figure of a reproduction."""
    from textassay.cli.outputs import write

    write(str(folder / f"{found.name}.json"), found.to_json(indent=1) + "\n")
    if found.has_figure:
        write(str(folder / f"{found.name}.svg"), figure(found))


def _write_pages(folder: Path, papers: set[str]) -> None:
    """The pages of some papers, from all results in the folder; last, because a file that was read is not replaced."""
    from textassay.cli.outputs import write
    from textassay.report.markdown import text
    from textassay.reproduce.catalogue import NOT_REBUILT, PAPERS, REPRODUCTIONS
    from textassay.reproduce.document import page

    for prefix, paper in PAPERS.items():
        names = [name for name, entry in REPRODUCTIONS.items() if entry.paper == paper and paper in papers]
        there = [path for name in names if (path := folder / f"{name}.json").is_file()]
        made = [_read(path) for path in there]
        missing = [(each.what, each.reason) for each in NOT_REBUILT if each.paper == paper]
        if made:
            write(str(folder / f"{prefix}.md"), text(page(paper, made, missing)))


def _read(path: Path) -> "Reproduction":
    """The result in a file of the folder; an error names the file."""
    from textassay.corpus.printable import shortened
    from textassay.corpus.values import read_json
    from textassay.reproduce.result import Reproduction

    try:
        return Reproduction.from_dict(read_json(path))
    except InputError as error:
        raise InputError(f"{shortened(str(path))}: {error}") from None


def _deliver(found: "Reproduction", *, json: str | None, markdown: str | None, svg: str | None, quiet: bool) -> None:
    """Write the outputs, and print the tables unless an output goes to standard output."""
    from textassay.cli.outputs import Output, deliver, output_console
    from textassay.report.markdown import text
    from textassay.report.terminal import render
    from textassay.reproduce.document import document

    outputs: list[Output] = [
        (json, lambda: found.to_json(indent=2)),
        (markdown, lambda: text(document(found, picture=_relative_path(markdown, svg)))),
        (svg, lambda: figure(found)),
    ]
    console = output_console()
    deliver(outputs, table=lambda: console.print(render(document(found), width=console.width)), quiet=quiet)


def figure(found: "Reproduction") -> str:
    """The figure as an SVG file; a reproduction that is a table has none."""
    from textassay.report.picture import picture
    from textassay.reproduce.document import plots

    drawn = plots(found)
    if not drawn:
        raise InputError(f"--svg: {found.name} is a table and has no figure; wanted --markdown or --json")
    return picture(drawn, title=found.title, summary=found.design).svg


def _relative_path(markdown: str | None, svg: str | None) -> str:
    """The path from the Markdown file to the figure, if both are written."""
    if markdown is None or svg in (None, "-"):
        return ""
    folder = Path.cwd() if markdown == "-" else Path(markdown).parent
    return Path(os.path.relpath(str(svg), folder)).as_posix()
