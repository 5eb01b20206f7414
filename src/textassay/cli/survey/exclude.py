"""`textassay survey exclude`: take raters out of a study, so that others get their places."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from textassay.cli.options import split
from textassay.cli.survey import options


def exclude(
    study: options.StudyFile,
    rater: Annotated[
        list[str] | None, typer.Option(metavar="RATER", help="Exclude this rater, such as r007. Repeatable.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Exclude all raters who failed an attention check.")] = False,
    speeders: Annotated[
        bool, typer.Option("--speeders", help="Exclude all raters whose median time is below a third of the usual one.")
    ] = False,
    include: Annotated[
        list[str] | None, typer.Option(metavar="RATER", help="Include this excluded rater again. Repeatable.")
    ] = None,
) -> None:
    """Exclude raters, so that others rate in their place.

    The ratings of excluded raters stay in the study, but they do not count, and export leaves them out. Excluded raters
    get no more texts. Works while the page is served.
    """
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import many, show_facts
    from textassay.corpus.printable import listed
    from textassay.errors import InputError
    from textassay.survey.store.export import suspects_among
    from textassay.survey.store.study_store import Store

    if not (rater or failed or speeders or include):
        raise InputError("no raters chosen; wanted --rater RATER, --failed, --speeders or --include RATER")
    with closing(Store.open(Path(study))) as store:
        suspects = suspects_among(store.summary().raters)
        left_out = suspects.left_out(without_failed=failed, without_speeders=speeders)
        names = list(dict.fromkeys([*split(rater), *sorted(left_out)]))
        if both := [name for name in split(include) if name in names]:
            raise InputError(f"rater {listed(both)} is excluded and included; wanted one of them")
        excluded, included = store.exclude_and_include(names, split(include))
        summary = store.summary()
    gone = [one.name for one in summary.raters if one.excluded]
    in_all = f"{many(len(gone), 'rater')} in all" + (f": {listed(gone)}" if gone else "")
    facts = [
        ("study", study),
        *([("included", f"{many(included, 'rater')} again")] if include else []),
        ("excluded", f"{many(excluded, 'rater')} now, {in_all}"),
        ("ratings", f"{summary.ratings:,} of {summary.wanted:,} ({summary.share} %)"),
    ]
    show_facts(output_console(), facts)
