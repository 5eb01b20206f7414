"""Pages from templates with escaped values, static files, and the error page."""

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment
from starlette.responses import HTMLResponse, Response

from textassay.survey.templates import environment


class Problem(Exception):
    """Ends a request with the error page of this status, and of this kind if the status has several.

    `retry_after` is in seconds.
    """

    def __init__(self, status: int, *, kind: str = "", retry_after: float = 0.0) -> None:
        super().__init__(status)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after


@dataclass(frozen=True)
class ErrorText:
    """The heading and the sentence of an error page, and whether to offer another try."""

    heading: str
    sentence: str
    again: bool = False


_OTHER = ErrorText("That did not work", "The request was not valid. Nothing was changed.")
# True for personal links and for the shared link, which has set a cookie.
_WAY_BACK = (
    "If that does not help, open the link that you were given: in this browser it takes you back to where you stopped."
)
_ERROR_TEXTS = {
    403: ErrorText(
        "This form is no longer valid",
        "It was not sent from your own page, or the page was open for too long. Nothing was changed. Please try again. "
        "To join a study, the browser must accept cookies. "
        f"{_WAY_BACK}",
        again=True,
    ),
    404: ErrorText(
        "Page not found",
        "There is no page at this address. Please check that the link is complete and that its end is not cut off.",
    ),
    409: ErrorText(
        "This study is full",
        "Enough people have joined with this link. Thank you for your interest.",
    ),
    410: ErrorText(
        "This link has expired",
        "It worked for a limited time, and that time is over. "
        "Answers that you gave before are saved; later answers are not. Thank you for your help.",
    ),
    413: ErrorText("That was too large", "The form is larger than an answer can be. Nothing was changed."),
    429: ErrorText(
        "One moment, please",
        "There were too many requests in a short time, so your request was not processed. Answers that were confirmed "
        "before are saved. Please wait a little and try again.",
        again=True,
    ),
    500: ErrorText(
        "Something went wrong",
        f"This is an error of the server. Answers that were confirmed are saved. Please try again in a moment. "
        f"{_WAY_BACK}",
        again=True,
    ),
    503: ErrorText(
        "One moment, please",
        "Another program is using the study, so nothing could be saved just now. Answers that were confirmed before "
        f"are saved. Please try again in a moment. {_WAY_BACK}",
        again=True,
    ),
}


def error_text(status: int) -> ErrorText:
    """The text of the error page of this status."""
    return _ERROR_TEXTS.get(status, _OTHER)


@dataclass(frozen=True)
class StaticFile:
    """A file that pages load; its version is in the address, so browsers may cache it."""

    body: bytes
    media_type: str

    @property
    def version(self) -> str:
        """A short digest of the content."""
        return hashlib.sha256(self.body).hexdigest()[:12]


@cache
def static_files() -> MappingProxyType[str, StaticFile]:
    """All static files by name; requested names are never used as paths."""
    folder = files("textassay.survey").joinpath("templates")
    kinds = {"survey.css": "text/css", "survey.js": "text/javascript", "icon.svg": "image/svg+xml"}
    found = {name: StaticFile(folder.joinpath(name).read_bytes(), kind) for name, kind in kinds.items()}
    return MappingProxyType(found)


@cache
def _environment() -> Environment:
    found = environment().overlay()
    versions = {name.replace(".", "_"): static.version for name, static in static_files().items()}
    found.globals = found.globals | {"versions": versions}
    return found


@dataclass(frozen=True)
class Pages:
    """Renders pages whose links begin with `prefix`, the path of the study's public address."""

    prefix: str = ""

    def page(self, template: str, /, *, status: int = 200, **content: Any) -> HTMLResponse:
        """A page from this template."""
        text = _environment().get_template(f"{template}.html.j2").render(prefix=self.prefix, **content)
        # A lone surrogate cannot be encoded in UTF-8; a text that has one must not break the page.
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def problem(self, problem: Problem) -> HTMLResponse:
        """The error page of a status, the same for all causes."""
        response = self.page("problem", status=problem.status, error=error_text(problem.status))
        if problem.retry_after:
            response.headers["retry-after"] = str(math.ceil(problem.retry_after))
        return response


def static_response(name: str) -> Response:
    """A static file by name."""
    found = static_files().get(name)
    if found is None:
        raise Problem(404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(found.body, media_type=found.media_type, headers=headers)
