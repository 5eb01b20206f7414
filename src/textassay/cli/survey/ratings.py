"""`textassay survey status`, `export` and `backup`: the progress of a study, its ratings, and a copy."""

import json as json_format
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textassay.cli import options as common
from textassay.cli.survey import options

if TYPE_CHECKING:
    from textassay.survey.model import Summary
    from textassay.survey.store.progress import Snapshot
    from textassay.survey.store.salvage import Salvaged


def status(study: options.StudyFile, json: common.Json = None) -> None:
    """Show the progress of a study.

    Prints the number of ratings, their agreement, the time per rating, and the raters who failed an attention check.
    """
    from textassay.cli.outputs import check_writable, deliver, output_console
    from textassay.cli.survey.screen import show_facts
    from textassay.survey.store.study_store import Store

    check_writable([json], inputs=[study])
    with closing(Store.open(Path(study), read_only=True)) as store, store.snapshot() as snapshot:
        summary = snapshot.summary()
        found = _status(snapshot, summary)
    deliver(
        [(json, lambda: json_format.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))],
        table=lambda: show_facts(output_console(), _facts(study, found, share=summary.share)),
        quiet=True,
    )


def export(
    study: options.StudyFile,
    out: options.Out = "-",
    checks: Annotated[
        str | None, typer.Option(metavar="FILE.csv", help="Also write the answers to attention checks, to this file.")
    ] = None,
    without_failed: Annotated[
        bool, typer.Option("--without-failed", help="Leave out raters who failed an attention check.")
    ] = False,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe",
            help="Put an apostrophe before cells that a spreadsheet would run as a formula. "
            "This changes these texts; textassay huse needs the file without it.",
        ),
    ] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read a damaged study: write all answers that can still be read.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the ratings as CSV for textassay huse.

    The file has one row per rating. Works while the page is served.
    """
    from textassay.cli.outputs import STANDARD_OUTPUT, check_writable, write
    from textassay.corpus.printable import printable
    from textassay.survey.store.export import RatedStudy, checks_csv, ratings_csv

    check_writable([out, checks], inputs=[study])
    makers: dict[str | None, Callable[[RatedStudy], str]] = {
        checks: lambda found: "".join(checks_csv(found, spreadsheet_safe=spreadsheet_safe)),
        out: lambda found: "".join(
            ratings_csv(found, spreadsheet_safe=spreadsheet_safe, without_failed=without_failed)
        ),
    }
    with _opened(study, salvage=salvage) as found:
        lines = [*_export_summary(found.summary(), without_failed=without_failed), *_lost(found)]
        texts = {target: make(found) for target, make in makers.items() if target is not None}
    for target, text in texts.items():
        write(target, text)
        if not quiet and target != STANDARD_OUTPUT:
            sys.stderr.write(f"wrote {printable(target)}\n")
    if not quiet:
        sys.stderr.write("".join(f"{line}\n" for line in lines))


@contextmanager
def _opened(study: str, *, salvage: bool) -> "Iterator[Snapshot | Salvaged]":
    """The study at one point in time, so that the printed counts are those of the written rows."""
    from textassay.survey.store.salvage import read_damaged
    from textassay.survey.store.study_store import Store

    if salvage:
        yield read_damaged(Path(study))
        return
    with closing(Store.open(Path(study), read_only=True)) as store, store.snapshot() as found:
        yield found


def _lost(found: "Snapshot | Salvaged") -> list[str]:
    """Notes about the parts of a damaged study that cannot be read."""
    from textassay.cli.survey.screen import many
    from textassay.survey.store.salvage import Salvaged

    if not isinstance(found, Salvaged):
        return []
    notes = []
    if found.incomplete:
        notes.append(f"note: parts of these tables cannot be read: {', '.join(found.incomplete)}")
    if found.orphans:
        notes.append(f"note: {many(found.orphans, 'answer')} left out: their items cannot be read")
    return notes or ["note: all answers could be read"]


def _export_summary(summary: "Summary", *, without_failed: bool) -> list[str]:
    """The number of exported ratings, and of raters who failed an attention check."""
    from textassay.cli.survey.screen import many
    from textassay.survey.store.export import has_failed

    started = [rater for rater in summary.raters if rater.done]
    failed = [rater for rater in started if has_failed(rater)]
    theirs = sum(rater.done - rater.checks_done for rater in failed)
    ratings = summary.ratings - (theirs if without_failed else 0)
    raters = len(started) - (len(failed) if without_failed else 0)
    share = "" if ratings >= summary.wanted else f" ({summary.wanted:,} wanted)"
    lines = [f"{many(ratings, 'rating')} of {many(summary.items, 'item')} by {many(raters, 'rater')}{share}"]
    if failed:
        who = f"{many(len(failed), 'rater')} failed an attention check"
        what = f"their {many(theirs, 'rating')}"
        lines.append(f"{who}; left out {what}" if without_failed else f"{who}; --without-failed leaves out {what}")
    return lines


def _status(store: "Snapshot", summary: "Summary") -> dict[str, Any]:
    """The progress of a study, as plain values for JSON."""
    from textassay.survey.store.progress import agreement
    from textassay.version import __version__

    alpha = agreement(store.ratings())
    counts = summary.ratings_per_item
    return {
        "textassay": __version__,
        "title": store.study.title,
        "ratings": summary.ratings,
        "wanted": summary.wanted,
        "items": summary.items,
        "items_complete": summary.items_complete,
        "ratings_an_item": {"min": min(counts), "median": median(counts), "max": max(counts)} if counts else None,
        "agreement": {"krippendorff_alpha": None if math.isnan(alpha) else alpha, "metric": "interval"},
        "median_seconds": summary.median_seconds,
        "raters": [
            {
                "name": rater.name,
                "done": rater.done,
                "total": rater.total,
                "checks_right": rater.checks_right,
                "checks_done": rater.checks_done,
                "median_seconds": rater.median_seconds,
                "last_seen": rater.last_seen,
            }
            for rater in summary.raters
        ],
    }


def _facts(path: str, found: dict[str, Any], *, share: int) -> list[tuple[str, str]]:
    from textassay.cli.survey.screen import many
    from textassay.studies.outcome import number
    from textassay.survey.store.progress import duration

    raters, counts, alpha = found["raters"], found["ratings_an_item"], found["agreement"]["krippendorff_alpha"]
    started = sum(rater["done"] > 0 for rater in raters)
    done = sum(rater["done"] >= rater["total"] > 0 for rater in raters)
    part = f" ({share} %)" if found["wanted"] else ""
    spread = ""
    if counts:
        most = many(counts["max"], "rating")
        spread = f"; {counts['min']:,} to {most} per item, median {counts['median']:g}"
    time = "–" if found["median_seconds"] is None else f"{duration(found['median_seconds'])} per rating (median)"
    return [
        ("study", path),
        ("page", found["title"]),
        ("ratings", f"{found['ratings']:,} of {found['wanted']:,}{part}"),
        ("items", f"{found['items_complete']:,} of {found['items']:,} complete{spread}"),
        ("raters", f"{many(len(raters), 'rater')}, {started:,} started, {done:,} done"),
        ("agreement", f"Krippendorff's alpha {'–' if alpha is None else number(alpha)} (interval scale)"),
        ("time", time),
        ("checks", _checks(raters)),
    ]


def _checks(raters: list[dict[str, Any]]) -> str:
    """The number of right answers to attention checks, and the raters who failed one."""
    from textassay.corpus.printable import listed

    right = sum(rater["checks_right"] for rater in raters)
    answered = sum(rater["checks_done"] for rater in raters)
    failed = [rater for rater in raters if rater["checks_right"] < rater["checks_done"]]
    if not answered:
        return "none answered yet"
    names = listed([f"{rater['name']} ({rater['checks_right']}/{rater['checks_done']})" for rater in failed])
    return f"{right:,} of {answered:,} right" + (f"; failed by {names}" if failed else "")


def backup(
    study: options.StudyFile,
    new: Annotated[
        str, typer.Argument(metavar="NEW.db", help="The copy to create. An existing file is never overwritten.")
    ],
) -> None:
    """Copy a study to a new file, with all saved answers. Works while the page is served.

    The links of the study also open the copy. A copy made by other means may lack the latest answers.
    """
    from textassay.cli.outputs import STANDARD_OUTPUT, output_console
    from textassay.cli.survey.screen import many, show_facts
    from textassay.errors import InputError
    from textassay.survey.store.study_store import Store

    if new == STANDARD_OUTPUT:
        raise InputError("a study cannot go to standard output (-); wanted a new file")
    with closing(Store.open(Path(study), read_only=True)) as store:
        store.backup(Path(new))
    with closing(Store.open(Path(new), read_only=True)) as copy:
        summary = copy.summary()
    raters = many(sum(rater.done > 0 for rater in summary.raters), "rater")
    facts = [("study", study), ("copy", new), ("holds", f"{many(summary.ratings, 'rating')} by {raters}")]
    show_facts(output_console(), facts)
