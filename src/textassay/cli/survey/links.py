"""`textassay survey links`: new links for raters, for everybody, or for the one who watches."""

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
            help="A new personal link for this rater, such as r007, who goes on where they stopped; the old one stops "
            "working. Repeatable.",
        ),
    ] = None,
    join: Annotated[bool, typer.Option("--join", help="A new shared link; the old one stops working.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="A new admin link; the old one stops working.")] = False,
    url: options.UrlOfStudy = None,
    file: options.LinksFile = None,
) -> None:
    """Make new links: personal ones for more raters, or one in place of a personal, shared or admin link that is lost.

    Old links cannot be shown again: only their hashes are stored. All links that are not replaced keep working.
    """
    from textassay.cli.outputs import STANDARD_OUTPUT, check_writable
    from textassay.cli.screen import output_console
    from textassay.cli.survey.screen import say, show_whole
    from textassay.errors import InputError
    from textassay.survey.links import DEFAULT_URL, Addresses, check_new
    from textassay.survey.store.study_store import Store

    lost = split(again)
    if not (raters or lost or join or admin):
        raise InputError("no links asked for; wanted --raters N, --again RATER, --join or --admin")
    if file is not None and (not (raters or lost) or file == STANDARD_OUTPUT):
        raise InputError("--links is for personal links; wanted --raters N or --again RATER with it, and a new file")
    check_new(file)
    check_writable([file], inputs=[study])
    console = output_console()
    with closing(Store.open(Path(study))) as store:
        addresses = Addresses.under(store.study.url or DEFAULT_URL if url is None else url)
        # First, as this refuses names that are wrong: nothing else is replaced then.
        tokens = store.renew(lost)
        shared = addresses.join(store.new_join()) if join else None
        watching = addresses.admin(store.new_admin()) if admin else None
        tokens += store.invite(raters) if raters else []
    with personal_links(study, tokens, addresses, file) as personal:
        if shared is not None:
            say(console, "new shared link, for everybody who is to rate (the old one no longer works):")
            show_whole(console, shared)
        if watching is not None:
            say(console, "new admin link, for you alone (the old one no longer works):")
            show_whole(console, watching)
        show_personal(console, personal)
        if lost:
            say(console, f"No longer works: the old link of {', '.join(dict.fromkeys(lost))}.")
        say(console, "Links are shown only now; only their hashes are stored.")


@contextmanager
def personal_links(
    study: str, tokens: Sequence[str], addresses: "Addresses", file: str | None
) -> Iterator[list[tuple[str, str]]]:
    """Personal links that are left to show, each with its rater's name: none where they were written to a file.

    The file comes before all that is shown: a reader that leaves early, such as head, takes nothing with it. Where it
    cannot be written, they are shown with the rest rather than lost, and only then that is an error.
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
            sys.stderr.write(f"wrote {printable(file)}: {many(len(named), 'personal link')}, readable by you alone\n")
            named = []
    try:
        yield named
    finally:
        if failure is not None:
            raise failure


def show_personal(console: "Console", named: Sequence[tuple[str, str]]) -> None:
    """Names of raters and their links, where there are any to show."""
    from textassay.cli.survey.screen import say, show_whole

    if named:
        say(console, "personal links, one a rater:")
        show_whole(console, *(f"{name}  {link}" for name, link in named))


def _named(study: str, tokens: Sequence[str], addresses: "Addresses") -> list[tuple[str, str]]:
    from textassay.survey.store.study_store import Store

    if not tokens:
        return []
    with closing(Store.open(Path(study))) as store:
        known = [(rater.name, token) for token in tokens if (rater := store.rater(token)) is not None]
    return [(name, addresses.rater(token)) for name, token in known]
