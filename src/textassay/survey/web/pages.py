"""Pages from templates, with everything escaped, and one page for all errors."""

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response


class Problem(Exception):
    """Ends a request with the page of this status; `retry_after` in seconds where asking again later helps."""

    def __init__(self, status: int, *, retry_after: float = 0.0) -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Said:
    """The heading and the sentence of an error page, and whether asking again may help."""

    heading: str
    sentence: str
    again: bool = False


_OTHER = Said("That did not work", "The page could not make sense of this request. Nothing was changed.")
# True for those with a personal link and for those who came by the shared one: it left a cookie in their browser.
_WAY_BACK = (
    "If that does not help, open the link that you were given: in this browser it leads you back to where you stopped."
)
_SAID = {
    403: Said(
        "This form is no longer valid",
        "It did not come from your own page, or the page was open for too long. Nothing was changed. Please try again. "
        f"{_WAY_BACK}",
        again=True,
    ),
    404: Said(
        "Nothing here",
        "There is no page at this address. Please check that you have the whole link, with nothing cut off at its end.",
    ),
    409: Said(
        "This study is full",
        "So many people have joined by this link that no more are needed. Thank you for your interest.",
    ),
    410: Said(
        "This link has expired",
        "It worked for a limited time, and that time is over. "
        "What you answered before its end is saved; an answer that came later is not. Thank you for your help.",
    ),
    413: Said("That was too much", "The form was larger than any answer can be. Nothing was changed."),
    429: Said(
        "One moment, please",
        "There were too many requests in a short time, so nothing was done just now. Answers that were confirmed "
        "before are safe. Please wait a little and try again.",
        again=True,
    ),
    500: Said(
        "Something went wrong here",
        f"The fault is ours. Answers that were confirmed are saved. Please try again in a moment. {_WAY_BACK}",
        again=True,
    ),
    503: Said(
        "One moment, please",
        "Another program is using the study, so nothing could be saved just now. Answers that were confirmed before "
        f"are safe. Please try again in a moment. {_WAY_BACK}",
        again=True,
    ),
}


def said(status: int) -> Said:
    """What a visitor is told about this status."""
    return _SAID.get(status, _OTHER)


@cache
def environment() -> Environment:
    """The templates; what one page needs beside goes into an overlay of its own."""
    return Environment(
        loader=PackageLoader("textassay.survey", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@dataclass(frozen=True)
class Static:
    """A file that pages load; its version stands in the address, so browsers may keep it for long."""

    body: bytes
    media_type: str

    @property
    def version(self) -> str:
        """A short digest of the content."""
        return hashlib.sha256(self.body).hexdigest()[:12]


@cache
def statics() -> MappingProxyType[str, Static]:
    """All files that may be asked for, by name: there is no way from a name to a path."""
    folder = files("textassay.survey").joinpath("templates")
    kinds = {"survey.css": "text/css", "survey.js": "text/javascript", "icon.svg": "image/svg+xml"}
    return MappingProxyType({name: Static(folder.joinpath(name).read_bytes(), kind) for name, kind in kinds.items()})


@cache
def _environment() -> Environment:
    found = environment().overlay()
    versions = {name.replace(".", "_"): static.version for name, static in statics().items()}
    found.globals = found.globals | {"versions": versions}
    return found


@dataclass(frozen=True)
class Pages:
    """Renders pages whose links begin with `prefix`, the path under which the study is known from outside."""

    prefix: str = ""

    def page(self, template: str, /, *, status: int = 200, **content: Any) -> HTMLResponse:
        """A page of this template."""
        text = _environment().get_template(f"{template}.html.j2").render(prefix=self.prefix, **content)
        # Half a surrogate pair fits in no UTF-8 stream; a text that has one must not take the page down.
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def problem(self, problem: Problem) -> HTMLResponse:
        """The page of a status: the same for all that can lead to it."""
        response = self.page("problem", status=problem.status, said=said(problem.status))
        if problem.retry_after:
            response.headers["retry-after"] = str(math.ceil(problem.retry_after))
        return response


def static_response(name: str) -> Response:
    """One of the fixed files."""
    found = statics().get(name)
    if found is None:
        raise Problem(404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(found.body, media_type=found.media_type, headers=headers)
