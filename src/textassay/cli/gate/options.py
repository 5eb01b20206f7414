"""The options of a gate, in a group of their own in the help."""

from typing import Annotated

import typer

PANEL = "Gate (exit code 0 pass, 1 fail, 3 undecided)"

MaxSeparable = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        rich_help_panel=PANEL,
        help="The margin of the separable share, such as 10%. Pass if its upper bound is at most the margin, fail if "
        "its lower bound is above it; otherwise undecided, with the number of texts needed.",
    ),
]
Contaminant = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=PANEL,
        help="Texts of which a candidate may have at most the margin. [default: the texts themselves with their words "
        "in random order]",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(metavar="LIST", rich_help_panel=PANEL, help="Fail on any of differs, collapsed, copied, format."),
]
Undecided = Annotated[
    str,
    typer.Option(
        metavar="pass|fail",
        rich_help_panel=PANEL,
        help="The decision where there are not enough texts for one. [default: undecided, exit code 3]",
        show_default=False,
    ),
]
