"""The options of a gate, in a group of their own in the help."""

from typing import Annotated

import typer

PANEL = "Gate (exit code 0 pass, 1 fail, 3 undecided)"

CONTAMINANT = (
    "Texts of which a candidate may have at most the margin. [default: the texts themselves with their words in random "
    "order]"
)

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
        help=CONTAMINANT,
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
NoWorseThan = Annotated[
    str | None,
    typer.Option(
        metavar="BASELINE",
        rich_help_panel=PANEL,
        help="Texts of a baseline, or results that --json wrote: every metric of --metrics must be no worse than the "
        "baseline's by more than its margin.",
    ),
]
Margin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=N",
        rich_help_panel=PANEL,
        help="By how much a metric may be worse than the baseline's. [default: 0.02 for metrics from 0 to 1, a tenth "
        "of the baseline's value for others]",
    ),
]
Splits = Annotated[
    int,
    typer.Option(
        "--aa",
        metavar="N",
        rich_help_panel=PANEL,
        show_default=False,
        help="Split the reference in two N times, and report how often the rules fail or are undecided on it.",
    ),
]
GitHub = Annotated[
    bool,
    typer.Option(
        "--github",
        rich_help_panel=PANEL,
        help="Write the decision to the step summary of GitHub Actions (the file $GITHUB_STEP_SUMMARY), and an "
        "annotation per rule that is not kept.",
    ),
]
JUnit = Annotated[
    str | None,
    typer.Option("--junit", metavar="FILE|-", rich_help_panel=PANEL, help="Write JUnit XML, one test case per rule."),
]
