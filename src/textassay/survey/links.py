"""The addresses that are handed out: made from tokens, and written to a file that only its owner can read."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable
from textassay.survey.exporting import csv_line
from textassay.survey.origins import Origins

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Addresses:
    """Where the pages of a study are, under the address by which people know it."""

    base: str

    @classmethod
    def under(cls, url: str) -> "Addresses":
        """Addresses under this URL; anything but a web address is an error."""
        return cls(Origins.of((), url).base_url or url)

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
