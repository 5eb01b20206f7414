"""`textassay survey serve`: the rating page, until it is stopped."""

import ipaddress
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from textassay.cli.survey import options

if TYPE_CHECKING:
    from textassay.survey.links import Addresses


def serve(
    study: options.StudyFile,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all of this machine.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The port to listen on; 0 for any free one. [default: that of the --url of survey create, else 8000]",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The address by which raters know the page, where that is a name or a proxy's address."
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address or network of a proxy before the page, as often as needed: only these are believed when "
            "they say for whom they ask. [default: this machine with --url, else nobody]",
        ),
    ] = None,
) -> None:
    """Serve the rating page of a study. Every answer is safe on disk before the rater sees the next text."""
    from textassay.cli.screen import output_console
    from textassay.cli.survey.screen import command, say, show_facts, show_notes
    from textassay.survey.links import DEFAULT_PORT
    from textassay.survey.web.server import serve as run

    console = output_console()
    made_for = _made_for(study)
    chosen = (made_for.own_port or DEFAULT_PORT) if port is None else port

    def ready(address: str) -> None:
        known = url.rstrip("/") if url else address
        facts = [
            ("serving", study),
            ("at", known),
            *([("proxy to", _known_by(address))] if url else []),
            ("links", f"{command('survey', 'links', study)} --raters N --url {_known_by(known)}"),
            ("stop", "Ctrl-C"),
        ]
        show_facts(console, facts)
        show_notes(console, [*exposure(host, url), *_strange_port(study, made_for, address, url)])

    # The server stops by itself when it is interrupted, but for the moment before it listens to signals.
    with suppress(KeyboardInterrupt):
        run(Path(study), host=host, port=chosen, base_url=url, proxies=proxy or (), on_ready=ready)
    say(console, f"stopped; every answer that was taken is in {study}")


def _made_for(study: str) -> "Addresses":
    """The addresses that the links of a study have."""
    from textassay.survey.links import DEFAULT_URL, Addresses
    from textassay.survey.store.study_store import Store

    with closing(Store.open(Path(study), read_only=True)) as store:
        return Addresses.under(store.study.url or DEFAULT_URL)


def _strange_port(study: str, made_for: "Addresses", address: str, url: str | None) -> list[str]:
    """A remark where links lead to another port than the one that is listened on; `create` tells it of usual ones."""
    from textassay.cli.survey.screen import command

    if url is not None or not made_for.unusual or made_for.own_port in (None, urlsplit(address).port):
        return []
    return [
        f"the links of this study were made for {made_for.base} and do not open here; serve it with "
        f"--port {made_for.own_port}, or make new ones: {command('survey', 'links', study)} --join --url {address}"
    ]


def _known_by(address: str) -> str:
    """The address to make links with: nobody can open the one that stands for all addresses."""
    for all_addresses in ("://0.0.0.0", "://[::]"):
        address = address.replace(all_addresses, f"://{socket.gethostname()}", 1)
    return address


def exposure(host: str, url: str | None) -> list[str]:
    """What listening on an address that others reach means; nothing where only this machine reaches it."""
    if is_loopback(host):
        return []
    notes = [
        f"listening on {host}: anyone who reaches this machine there can open the page; without a link they see "
        "nothing of the study, with somebody's link they can answer as that person"
    ]
    if url is None:
        notes.append(
            f"the page is known by its number and by this machine's own name, {socket.gethostname()}; where people "
            "open it under another name, give that with --url, or they are refused"
        )
    if url is None or not url.lower().startswith("https:"):
        notes.append(
            "traffic is not encrypted: links and answers can be read on the way; put the page behind a proxy with TLS "
            "and give its address with --url https://..."
        )
    return notes


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
