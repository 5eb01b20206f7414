"""`textassay run`: a study that the configuration names."""

import sys
from typing import Annotated

import typer

from textassay.errors import InputError


def run(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A study of textassay.toml; without it, all are listed.")
    ] = None,
) -> None:
    """Run a study that textassay.toml names.

    A table [studies.NAME] has the command, its arguments and its options. What follows the name is added: options of
    the command line win over those of the file.
    """
    from textassay.cli.app import configuration, invoke_study
    from textassay.corpus.printable import printable

    if name is not None:
        raise typer.Exit(invoke_study(name, context.args))
    found = configuration()
    if not found.studies:
        raise InputError("no study here; wanted a table [studies.NAME] in textassay.toml or [tool.textassay]")
    for study, table in found.studies.items():
        sys.stdout.write(printable(f"{study}: textassay {table.get('command', '')}") + "\n")
