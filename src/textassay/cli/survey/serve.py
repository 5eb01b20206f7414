"""`textassay survey serve`: serve the rating page until interrupted."""

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
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address to listen on; 0.0.0.0 for all addresses of this machine."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65_535,
            help="The port to listen on; 0 for any free port. [default: the port of survey create --url, else 8000]",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The address at which raters open the page, if raters use a host name or a proxy."
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address or network of a trusted reverse proxy. Its X-Forwarded-For header gives the address of "
            "the rater. Repeatable. [default: this machine if --url is given, else none]",
        ),
    ] = None,
) -> None:
    """Serve the rating page of a study. Each answer is saved to disk before the next text is shown."""
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import command, show_facts, show_notes, show_paragraph
    from textassay.survey.links import DEFAULT_PORT
    from textassay.survey.web.server import serve as run

    console = output_console()
    made_for = _link_addresses(study)
    chosen = (made_for.own_port or DEFAULT_PORT) if port is None else port

    def ready(address: str) -> None:
        known = url.rstrip("/") if url else address
        facts = [
            ("serving", study),
            ("at", known),
            *([("proxy to", _reachable(address))] if url else []),
            ("links", f"{command('survey', 'links', study)} --raters N --url {_reachable(known)}"),
            ("stop", "Ctrl-C"),
        ]
        show_facts(console, facts)
        show_notes(console, [*exposure_notes(host, url), *_port_mismatch(study, made_for, address, url)])

    # The server handles interrupts itself, except before it has installed its signal handlers.
    with suppress(KeyboardInterrupt):
        run(Path(study), host=host, port=chosen, base_url=url, proxies=proxy or (), on_ready=ready)
    show_paragraph(console, f"stopped; all answers are saved in {study}")


def _link_addresses(study: str) -> "Addresses":
    """The addresses used in the links of a study."""
    from textassay.survey.links import DEFAULT_URL, Addresses
    from textassay.survey.store.study_store import Store

    with closing(Store.open(Path(study), read_only=True)) as store:
        return Addresses.under(store.study.url or DEFAULT_URL)


def _port_mismatch(study: str, made_for: "Addresses", address: str, url: str | None) -> list[str]:
    """A note if links lead to a port other than the one the server listens on.

    For the default address, `survey create` has printed how to change the links.
    """
    from textassay.cli.survey.screen import command

    if url is not None or not made_for.if_not_default or made_for.own_port in (None, urlsplit(address).port):
        return []
    return [
        f"the links of this study lead to {made_for.base}, not to this address; serve it with "
        f"--port {made_for.own_port}, or make new links: {command('survey', 'links', study)} --join --url {address}"
    ]


def _reachable(address: str) -> str:
    """The address for links: with the name of this machine in place of 0.0.0.0 or ::, which no browser can open."""
    for all_addresses in ("://0.0.0.0", "://[::]"):
        address = address.replace(all_addresses, f"://{socket.gethostname()}", 1)
    return address


def exposure_notes(host: str, url: str | None) -> list[str]:
    """Notes about listening on an address that other machines can reach; none for a loopback address."""
    if is_loopback(host):
        return []
    notes = [
        f"listening on {host}: anyone who can reach this address can open the page. Without a link they see nothing of "
        "the study; with the link of a rater they can answer as that rater"
    ]
    if url is None:
        notes.append(
            f"the page opens under the IP addresses of this machine and its name, {socket.gethostname()}; requests for "
            "any other name are refused unless it is given with --url"
        )
    if url is None or not url.lower().startswith("https:"):
        notes.append(
            "traffic is not encrypted: links and answers can be read in transit. Put a proxy with TLS in front of the "
            "page and give its address with --url https://..."
        )
    return notes


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
