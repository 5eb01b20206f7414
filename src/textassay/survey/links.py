"""The addresses that are handed out: made from tokens, and written to a file that only its owner can read."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.store.exporting import csv_line
from textassay.survey.web.hosts import LOOPBACK, Origins

DEFAULT_PORT = 8000
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


@dataclass(frozen=True)
class Addresses:
    """Where the pages of a study are, under the address by which people know it."""

    base: str

    @classmethod
    def under(cls, url: str) -> "Addresses":
        """Addresses under this URL; anything but a web address is an error."""
        return cls(Origins.of((), url).base_url or url)

    @property
    def unusual(self) -> str:
        """The address where it is not the usual one, else ''."""
        return "" if self.base == DEFAULT_URL else self.base

    @property
    def own_port(self) -> int | None:
        """The port of the server itself; None behind a proxy, which has encrypted addresses or those without a port."""
        parts = urlsplit(self.base)
        return parts.port if parts.scheme.lower() == "http" else None

    @property
    def serving(self) -> list[str]:
        """The options of `survey serve` under which these addresses open."""
        parts = urlsplit(self.base)
        here = parts.hostname in LOOPBACK
        options = []
        if self.own_port is not None and not here:
            options += ["--host", "::" if ":" in (parts.hostname or "") else "0.0.0.0"]  # noqa: S104 - only said
        elif self.own_port is not None and parts.hostname == "::1":
            options += ["--host", "::1"]
        if self.own_port not in (None, DEFAULT_PORT):
            options += ["--port", str(self.own_port)]
        if not here or parts.path or self.own_port is None:
            options += ["--url", self.base]
        return options

    def rater(self, token: str) -> str:
        """A rater's own page."""
        return f"{self.base}/r/{token}"

    def join(self, token: str) -> str:
        """The page by which anybody becomes a rater."""
        return f"{self.base}/join/{token}"

    def admin(self, token: str) -> str:
        """The page that shows how the study fills."""
        return f"{self.base}/admin/{token}"


def check_new(path: str | None) -> None:
    """Refuse a file for links that exists: it may hold the only copy of other links."""
    if path is not None and os.path.lexists(path):
        raise InputError(f"{printable(path)}: exists and may hold other links; wanted a new file")


def write_links(path: str, links: Sequence[tuple[str, str]]) -> None:
    """Names and links as CSV in a new file for its owner alone: whoever has a link can answer in its rater's place."""
    text = "".join(map(csv_line, [("rater", "link"), *links]))
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{printable(path)}: the links cannot be written ({reason})") from None
