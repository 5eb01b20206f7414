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
        str | None,
        typer.Option(metavar="FILE.html", help="Also write the page of a HIT, to paste into the requester's layout."),
    ] = None,
    items_per_hit: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1_000, help="Number of items per HIT. [default: the study's items per rater]"
        ),
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Write a study as a batch file for Mechanical Turk.

    The file has the items that lack ratings, one row per HIT. --template-out also writes the HTML page of a HIT.
    Neither contains the sources of the texts.
    """
    from textassay.cli.outputs import check_writable, write
    from textassay.corpus.printable import printable
    from textassay.survey.store.study_store import Store
    from textassay.survey.turk.batch import layout, make_batch

    check_writable([out, template_out], inputs=[study])
    with closing(Store.open(Path(study), read_only=True)) as store:
        settings, items, codes = store.study, store.items(), store.codes()
        rated = (item.id for item in items if item.expected is None)
        given = dict(zip(rated, store.summary().ratings_per_item, strict=True))
    batch = make_batch(settings, items, codes, given=given, items_per_hit=items_per_hit, seed=seed)
    page = layout(settings, batch)
    for target, text in ((template_out, page), (out, batch.csv())):
        if target is not None:
            write(target, text)
            if target != "-":
                sys.stderr.write(f"wrote {printable(target)}\n")
    if "-" not in (out, template_out):
        _print_instructions(study, batch, page, template_out, wanted=settings.ratings_wanted)


def turk_import(
    study: options.StudyFile,
    results: Annotated[str, typer.Argument(metavar="RESULTS.csv", help="The results file of a batch.")],
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
) -> None:
    """Add the answers of a Mechanical Turk results file to a study. If a row is invalid, nothing is added.

    Importing a file twice adds nothing. Workers become raters of the study; their worker ids are not stored.
    """
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import many, show_facts, show_notes
    from textassay.survey.store.study_store import Store
    from textassay.survey.turk.results import read_results

    del max_input  # applied when it is parsed
    with closing(Store.open(Path(study))) as store:
        found = read_results(results, store.study, store.items(), store.codes(), encoding=encoding)
        given = {worker: [answer.imported for answer in answers] for worker, answers in found.answers.items()}
        counts = store.import_ratings(given)
    present = sum(map(len, found.answers.values())) - counts.added - counts.replaced
    console = output_console()
    of = f"{many(len(given), 'worker')} in {many(found.assignments, 'assignment')}"
    show_facts(console, [("study", study), ("added", f"{many(counts.added, 'answer')} of {of}")])
    show_notes(console, _import_notes(found, before=present, replaced=counts.replaced))


def _import_notes(found: "Results", *, before: int, replaced: int) -> list[str]:
    """Notes about answers that were left out, assignments without times, and failed attention checks."""
    from textassay.cli.survey.screen import many
    from textassay.corpus.printable import listed

    again = "to items that the worker had already rated: the answer submitted first counts"
    checks = "to attention checks that the worker had already answered"
    wrong = "a wrong answer to an attention check counts, even if it was submitted later"
    earlier = f"{many(replaced, 'answer')} of an earlier import replaced"
    notes = [
        (before, f"{many(before, 'answer')} already in the study"),
        (replaced, f"{earlier}: {wrong}; otherwise the one submitted first"),
        (found.rejected, f"{many(found.rejected, 'rejected assignment')} left out"),
        (found.blank, f"{many(found.blank, 'assignment')} without an answer left out"),
        (found.untimed, f"{many(found.untimed, 'assignment')} without a time: the duration of the answers is unknown"),
        (found.unanswered, f"{many(found.unanswered, 'text')} without an answer"),
        (found.repeated, f"{many(found.repeated, 'answer')} left out, {again}"),
        (found.repeated_checks, f"{many(found.repeated_checks, 'answer')} left out, {checks}: {wrong}"),
        (len(found.failed), f"{many(len(found.failed), 'worker')} failed an attention check: {listed(found.failed)}"),
    ]
    return [text for count, text in notes if count]


# What Hashimoto et al. (2019), section A.3, paid for a HIT of so many texts.
_PAID_DOLLARS, _PAID_TEXTS = 1.0, 25


def _pay(batch: "Batch", assignments: int) -> str:
    """What the batch costs at the rate of the paper."""
    each = _PAID_DOLLARS * batch.slots / _PAID_TEXTS
    return (
        f"{each:.2f} dollars per assignment at the rate of the paper ({_PAID_DOLLARS:g} dollar for {_PAID_TEXTS} texts "
        f"in 2018), {each * assignments:,.2f} in total, plus fees; compare it with the minimum wage where workers live"
    )


def _print_instructions(study: str, batch: "Batch", page: str, template: str | None, *, wanted: int) -> None:
    """Print what to do with the files on the requester page."""
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import command, many, show_facts, show_notes, show_paragraph, show_unwrapped
    from textassay.survey.turk.batch import LARGEST_PAGE, largest_page

    console = output_console()
    checks = sum(item.expected is not None for item in batch.hits[0])
    each = many(batch.slots - checks, "item") + (f" and {many(checks, 'attention check')}" if checks else "")
    total = len(batch.hits) * batch.assignments
    facts = [
        ("HITs", f"{len(batch.hits):,}, each with {each}"),
        ("assignments per HIT", f"{batch.assignments:,} (set this on the requester page)"),
        ("in total", f"{many(total, 'assignment')} to pay for; each item gets {many(batch.assignments, 'rating')}"),
        ("workers", "approval rate above 95 %, more than 50 approved HITs, location USA (Hashimoto et al. 2019)"),
        ("pay", _pay(batch, total)),
        ("layout", f"paste {template} into Design Layout, as source" if template else "write one with --template-out"),
    ]
    show_facts(console, facts)
    notes = []
    if batch.complete:
        notes.append(f"{many(batch.complete, 'item')} left out: complete, with {many(wanted, 'rating')}")
    if batch.later:
        verb = "lacks" if batch.later == 1 else "lack"
        notes.append(
            f"{many(batch.later, 'item')} {verb} more ratings than this batch gives, because all HITs of a batch have "
            "the same number of assignments; export again when its results are imported"
        )
    if batch.repeated:
        notes.append(f"{many(batch.repeated, 'item')} added to a second HIT, so that all HITs have the same length")
    if batch.altered:
        what = "with control characters, which a page cannot show"
        notes.append(f"{many(batch.altered, 'item')} {what}: workers see U+FFFD instead")
    size = largest_page(batch, page)
    if size > LARGEST_PAGE:
        notes.append(
            f"the longest page has {size:,} bytes, but Mechanical Turk accepts at most {LARGEST_PAGE:,}; "
            "use a smaller --items-per-hit"
        )
    show_notes(console, notes)
    show_paragraph(console, "When the batch is finished, download its results and run:")
    show_unwrapped(console, command("survey", "turk-import", study, "Batch_results.csv"))
