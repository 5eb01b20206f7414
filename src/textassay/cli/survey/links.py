"""`textassay survey links`: new personal, shared and admin links."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli.options import split
from textassay.cli.survey import options

if TYPE_CHECKING:
    from rich.console import Console

    from textassay.survey.links import Addresses


def links(
    study: options.StudyFile,
    raters: options.MoreRaters = 0,
    again: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATER",
            help="Make a new personal link for this rater, such as r007, who continues where they stopped; the old "
            "link stops working. Repeatable.",
        ),
    ] = None,
    join: Annotated[bool, typer.Option("--join", help="Make a new shared link; the old one stops working.")] = False,
    close: Annotated[
        bool, typer.Option("--close", help="Close the shared link: nobody joins, and raters who have joined continue.")
    ] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="Open the closed shared link again.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="Make a new admin link; the old one stops working.")] = False,
    url: options.UrlOfStudy = None,
    file: options.LinksFile = None,
) -> None:
    """Make or replace links, or close the shared link.

    Existing links cannot be printed again, because only their hashes are stored. Links that are not replaced keep
    working.
    """
    from textassay.cli.outputs import STANDARD_OUTPUT, check_writable, output_console
    from textassay.cli.survey.screen import show_paragraph, show_unwrapped
    from textassay.errors import InputError
    from textassay.survey.links import DEFAULT_URL, Addresses, check_new
    from textassay.survey.store.study_store import Store

    lost = split(again)
    if close and (reopen or join):
        raise InputError("--close together with an option that opens the shared link; wanted one of them")
    if not (raters or lost or join or admin or close or reopen):
        raise InputError(
            "no kind of link chosen; wanted --raters N, --again RATER, --join, --admin, --close or --reopen"
        )
    if file is not None and (not (raters or lost) or file == STANDARD_OUTPUT):
        raise InputError("--links FILE is for personal links; wanted a new file, and --raters N or --again RATER")
    check_new(file)
    check_writable([file], inputs=[study])
    console = output_console()
    with closing(Store.open(Path(study))) as store:
        addresses = Addresses.under(store.study.url or DEFAULT_URL if url is None else url)
        # First, because this refuses unknown names: then no other link is replaced.
        tokens = store.renew(lost)
        if close or reopen:
            store.close_join(close)
        shared = addresses.join(store.new_join()) if join else None
        watching = addresses.admin(store.new_admin()) if admin else None
        tokens += store.invite(raters) if raters else []
    if close or reopen:
        show_paragraph(console, "The shared link is closed." if close else "The shared link is open.")
        if not (tokens or shared or watching):
            return
    with personal_links(study, tokens, addresses, file) as personal:
        if shared is not None:
            show_paragraph(console, "new shared link, for all raters (the old one no longer works):")
            show_unwrapped(console, shared)
        if watching is not None:
            show_paragraph(console, "new admin link, for you only (the old one no longer works):")
            show_unwrapped(console, watching)
        show_personal(console, personal)
        if lost:
            show_paragraph(console, f"The old link of {', '.join(dict.fromkeys(lost))} no longer works.")
        show_paragraph(console, "Save these links: only their hashes are stored.")


@contextmanager
def personal_links(
    study: str, tokens: Sequence[str], addresses: "Addresses", file: str | None
) -> Iterator[list[tuple[str, str]]]:
    """Personal links to print, each with its rater's name; none if they were written to a file.

    The file is written before anything is printed, so that a reader that stops early, such as `head`, loses no link. If
    the file cannot be written, the links are printed instead, and the error is raised at the end.
    """
    from textassay.cli.survey.screen import many
    from textassay.corpus.printable import printable
    from textassay.errors import InputError
    from textassay.survey.links import write_links

    named = _named(study, tokens, addresses)
    failure: InputError | None = None
    if named and file is not None:
        try:
            write_links(file, named)
        except InputError as error:
            failure = error
        else:
            sys.stderr.write(f"wrote {printable(file)}: {many(len(named), 'personal link')}, readable only by you\n")
            named = []
    try:
        yield named
    finally:
        if failure is not None:
            raise failure


def show_personal(console: "Console", named: Sequence[tuple[str, str]]) -> None:
    """Print the names of raters and their links, if there are any."""
    from textassay.cli.survey.screen import show_paragraph, show_unwrapped

    if named:
        show_paragraph(console, "personal links, one per rater:")
        show_unwrapped(console, *(f"{name}  {link}" for name, link in named))


def _named(study: str, tokens: Sequence[str], addresses: "Addresses") -> list[tuple[str, str]]:
    from textassay.survey.store.study_store import Store

    if not tokens:
        return []
    with closing(Store.open(Path(study))) as store:
        known = [(rater.name, token) for token in tokens if (rater := store.rater(token)) is not None]
    return [(name, addresses.rater(token)) for name, token in known]
