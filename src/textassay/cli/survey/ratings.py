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
    participants: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.csv",
            help="Also write the ids of Prolific and Mechanical Turk, to this file: one row per rater, with progress.",
        ),
    ] = None,
    without_failed: Annotated[
        bool, typer.Option("--without-failed", help="Leave out raters who failed an attention check.")
    ] = False,
    without_speeders: Annotated[
        bool,
        typer.Option(
            "--without-speeders", help="Leave out raters whose median time is below a third of the usual one."
        ),
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
    from textassay.errors import InputError
    from textassay.survey.store.export import checks_csv, ratings_csv, suspects_among

    if salvage and participants is not None:
        raise InputError(
            "--participants with --salvage: a damaged study is read for its answers only; wanted one of them"
        )
    check_writable([out, checks, participants], inputs=[study])
    with _opened(study, salvage=salvage) as found:
        without = {"without_failed": without_failed, "without_speeders": without_speeders}
        left_out = suspects_among(found.summary().raters).left_out(**without)
        lines = [*_export_summary(found, **without), *_lost(found)]
        makers: dict[str | None, Callable[[], Iterator[str]]] = {
            checks: lambda: checks_csv(found, spreadsheet_safe=spreadsheet_safe),
            participants: lambda: _participants(found, spreadsheet_safe=spreadsheet_safe),
            out: lambda: ratings_csv(found, spreadsheet_safe=spreadsheet_safe, left_out=left_out),
        }
        texts = {target: "".join(make()) for target, make in makers.items() if target is not None}
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
    if found.bare:
        whose = f"note: the contexts of {many(found.bare, 'item')} cannot be read"
        notes.append(f"{whose}: their ratings have an empty context")
    return notes or ["note: all answers could be read"]


def _participants(found: "Snapshot | Salvaged", *, spreadsheet_safe: bool) -> Iterator[str]:
    """The ids from links as CSV; a damaged study has none."""
    from textassay.survey.store.export import participants_csv
    from textassay.survey.store.progress import Snapshot

    if isinstance(found, Snapshot):
        yield from participants_csv(found, spreadsheet_safe=spreadsheet_safe)


def _export_summary(found: "Snapshot | Salvaged", *, without_failed: bool, without_speeders: bool) -> list[str]:
    """What the file has: its ratings, items and raters; and the raters who are or could be left out."""
    from textassay.cli.survey.screen import many
    from textassay.survey.store.export import suspects_among

    summary = found.summary()
    suspects = suspects_among(summary.raters)
    left_out = suspects.left_out(without_failed=without_failed, without_speeders=without_speeders)
    kept = [rating for rating in found.ratings() if rating.rater not in left_out]
    raters, items = {rating.rater for rating in kept}, {rating.item.id for rating in kept}
    wanted = f"{summary.wanted:,} wanted" + (f", of {summary.items:,} items" if len(items) < summary.items else "")
    share = "" if len(kept) >= summary.wanted and len(items) == summary.items else f" ({wanted})"
    lines = [f"{many(len(kept), 'rating')} of {many(len(items), 'item')} by {many(len(raters), 'rater')}{share}"]
    done = {rater.name: rater.done - rater.checks_done for rater in summary.raters}
    for option, names, what, chosen in (
        ("--without-failed", suspects.failed, "failed an attention check", without_failed),
        ("--without-speeders", suspects.speeders, "took less than a third of the usual time", without_speeders),
    ):
        if names:
            theirs = f"their {many(sum(done[name] for name in names), 'rating')}"
            tail = f"left out {theirs}" if chosen else f"{option} leaves out {theirs}"
            lines.append(f"{many(len(names), 'rater')} {what}; {tail}")
    if excluded := sum(rater.excluded for rater in summary.raters):
        lines.append(f"{many(excluded, 'excluded rater')} left out")
    return lines


def _status(store: "Snapshot", summary: "Summary") -> dict[str, Any]:
    """The progress of a study, as plain values for JSON."""
    from textassay.survey.store.export import suspects_among
    from textassay.survey.store.progress import agreement
    from textassay.version import __version__

    alpha, speeders = agreement(store.ratings()), suspects_among(summary.raters).speeders
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
                "speeder": rater.name in speeders,
                "excluded": rater.excluded,
            }
            for rater in summary.raters
        ],
    }


def _facts(path: str, found: dict[str, Any], *, share: int) -> list[tuple[str, str]]:
    from textassay.cli.survey.screen import many
    from textassay.corpus.printable import listed
    from textassay.document.words import number
    from textassay.survey.store.progress import duration

    marked = {
        what: [rater["name"] for rater in found["raters"] if rater[key]]
        for what, key in (("speeders", "speeder"), ("excluded", "excluded"))
    }
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
        *((what, listed(names)) for what, names in marked.items() if names),
    ]


def _checks(raters: list[dict[str, Any]]) -> str:
    """The number of right answers to attention checks, and the raters who failed one."""
    from textassay.corpus.printable import listed

    raters = [rater for rater in raters if not rater["excluded"]]
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
