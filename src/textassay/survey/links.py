"""Links of a study: addresses made from tokens, and the file that stores personal links."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.store.export import csv_line
from textassay.survey.web.hosts import LOOPBACK, Origins

DEFAULT_PORT = 8000
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


@dataclass(frozen=True)
class Addresses:
    """The addresses of a study's pages, below the address at which raters open it."""

    base: str

    @classmethod
    def under(cls, url: str) -> "Addresses":
        """Addresses below this URL; anything but a web address is an error."""
        return cls(Origins.of((), url).base_url or url)

    @property
    def if_not_default(self) -> str:
        """The base address, or '' if it is the default one."""
        return "" if self.base == DEFAULT_URL else self.base

    @property
    def own_port(self) -> int | None:
        """The port of the server itself; None behind a proxy, that is for https and for addresses without a port."""
        parts = urlsplit(self.base)
        return parts.port if parts.scheme.lower() == "http" else None

    @property
    def serve_options(self) -> list[str]:
        """The options of `survey serve` with which these addresses work."""
        parts = urlsplit(self.base)
        here = parts.hostname in LOOPBACK
        options = []
        if self.own_port is not None and not here:
            options += ["--host", "::" if ":" in (parts.hostname or "") else "0.0.0.0"]  # noqa: S104 - only printed
        elif self.own_port is not None and parts.hostname == "::1":
            options += ["--host", "::1"]
        if self.own_port not in (None, DEFAULT_PORT):
            options += ["--port", str(self.own_port)]
        if not here or parts.path or self.own_port is None:
            options += ["--url", self.base]
        return options

    def rater(self, token: str) -> str:
        """The page of one rater."""
        return f"{self.base}/r/{token}"

    def join(self, token: str) -> str:
        """The page on which anybody can become a rater."""
        return f"{self.base}/join/{token}"

    def admin(self, token: str) -> str:
        """The page that shows the progress of the study."""
        return f"{self.base}/admin/{token}"


def check_new(path: str | None) -> None:
    """Refuse to overwrite a file of links: it may be the only copy of other links."""
    if path is not None and os.path.lexists(path):
        raise InputError(f"{printable(path)}: exists and may contain other links; wanted a new file")


def write_links(path: str, links: Sequence[tuple[str, str]]) -> None:
    """Write names and links as CSV to a new file that only its owner can read: a link allows answering as its rater."""
    text = "".join(map(csv_line, [("rater", "link"), *links]))
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{printable(path)}: the links cannot be written ({reason})") from None
