"""`textassay survey turk-export` and `turk-import`: a study on Mechanical Turk."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli.survey import options

if TYPE_CHECKING:
    from textassay.survey.turk.batch import Batch
    from textassay.survey.turk.results import Results


def turk_export(
    study: options.StudyFile,
    out: Annotated[str, typer.Option("--out", "-o", metavar="BATCH.csv|-", help="Where to write the batch file.")],
    template_out: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Write the page of a HIT, to be pasted into the layout.")
    ] = None,
    items_per_hit: Annotated[
        int | None, typer.Option(min=1, max=1_000, help="Items a HIT. [default: the study's items a rater]")
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Write a batch file for Mechanical Turk, one row a HIT, and the page that goes with it. Sources are not in it."""
    from textassay.cli.outputs import check_writable, write
    from textassay.corpus.printable import printable
    from textassay.survey.store.study_store import Store
    from textassay.survey.turk.batch import layout, make_batch

    check_writable([out, template_out], inputs=[study])
    with closing(Store.open(Path(study), read_only=True)) as store:
        settings, items, codes = store.study, store.items(), store.codes()
    batch = make_batch(settings, items, codes, items_per_hit=items_per_hit, seed=seed)
    page = layout(settings, batch)
    for target, text in ((template_out, page), (out, batch.csv())):
        if target is not None:
            write(target, text)
            if target != "-":
                sys.stderr.write(f"wrote {printable(target)}\n")
    if "-" not in (out, template_out):
        _explain(study, batch, page, template_out)


def turk_import(
    study: options.StudyFile,
    results: Annotated[str, typer.Argument(metavar="RESULTS.csv", help="The results file of a batch.")],
    encoding: options.Encoding = "utf-8",
) -> None:
    """Add the answers of a Mechanical Turk results file to a study: all of it, or nothing where something is wrong.

    Importing a file again adds nothing. Workers become raters of the study; their ids are not stored.
    """
    from textassay.cli.screen import output_console
    from textassay.cli.survey.screen import many, show_facts, show_notes
    from textassay.survey.store.study_store import Store
    from textassay.survey.turk.results import read_results

    with closing(Store.open(Path(study))) as store:
        found = read_results(results, store.study, store.items(), store.codes(), encoding=encoding)
        given = {
            worker: [(answer.item.id, answer.value, answer.seconds) for answer in answers]
            for worker, answers in found.answers.items()
        }
        added = store.import_ratings(given)
    answers = sum(map(len, found.answers.values()))
    console = output_console()
    of = f"{many(len(given), 'worker')} in {many(found.assignments, 'assignment')}"
    show_facts(console, [("study", study), ("added", f"{many(added, 'answer')} of {of}")])
    show_notes(console, _imported(found, before=answers - added))


def _imported(found: "Results", *, before: int) -> list[str]:
    """What there is to say about answers that were not simply added."""
    from textassay.cli.survey.screen import many

    again, names = "of items that the worker had rated before: the first counts", ", ".join(found.failed)
    checks = "to attention checks that the worker had answered before: a wrong one counts, whichever came first"
    notes = [
        (before, f"{many(before, 'answer')} in the study already"),
        (found.rejected, f"{many(found.rejected, 'rejected assignment')} left out"),
        (found.blank, f"{many(found.blank, 'assignment')} without any answer left out"),
        (found.untimed, f"{many(found.untimed, 'assignment')} without a time: how long the answers took is not known"),
        (found.unanswered, f"{many(found.unanswered, 'text')} without an answer"),
        (found.repeated, f"{many(found.repeated, 'answer')} left out, {again}"),
        (found.repeated_checks, f"{many(found.repeated_checks, 'answer')} left out, {checks}"),
        (len(found.failed), f"{many(len(found.failed), 'worker')} failed an attention check: {names}"),
    ]
    return [text for count, text in notes if count]


def _explain(study: str, batch: "Batch", page: str, template: str | None) -> None:
    """What to do with the files on the requester page."""
    from textassay.cli.screen import output_console
    from textassay.cli.survey.screen import command, many, say, show_facts, show_notes, show_whole
    from textassay.survey.turk.batch import LARGEST_PAGE, largest_page

    console = output_console()
    checks = sum(item.expected is not None for item in batch.hits[0])
    each = many(batch.slots - checks, "item") + (f" and {many(checks, 'attention check')}" if checks else "")
    total = len(batch.hits) * batch.assignments
    facts = [
        ("HITs", f"{len(batch.hits):,}, each with {each}"),
        ("assignments per HIT", f"{batch.assignments:,} (set this on the requester page)"),
        ("in total", f"{many(total, 'assignment')} to pay for; each item gets {many(batch.assignments, 'rating')}"),
        ("layout", f"paste {template} into Design Layout, as source" if template else "write it with --template-out"),
    ]
    show_facts(console, facts)
    notes = []
    if batch.repeated:
        notes.append(f"{many(batch.repeated, 'item')} put into a second HIT too, so that all are of one length")
    if batch.altered:
        what = "with control characters, which no page can show"
        notes.append(f"{many(batch.altered, 'item')} {what}: workers see U+FFFD in their place")
    size = largest_page(batch, page)
    if size > LARGEST_PAGE:
        notes.append(
            f"the longest page has {size:,} bytes, and Mechanical Turk takes {LARGEST_PAGE:,}: fewer --items-per-hit"
        )
    show_notes(console, notes)
    say(console, "When the batch is done, download its results and type:")
    show_whole(console, command("survey", "turk-import", study, "Batch_results.csv"))
