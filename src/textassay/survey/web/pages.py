"""Pages from templates with escaped values, static files, and the error page."""

import hashlib
import math
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment
from starlette.responses import HTMLResponse, Response

from textassay.survey.messages.tables import Messages, shipped
from textassay.survey.templates.environment import environment


class Problem(Exception):
    """Ends a request with the error page of this status, and of this kind if it has several: a key of the messages.

    `retry_after` is in seconds.
    """

    def __init__(self, status: int, *, kind: str = "", retry_after: float = 0.0) -> None:
        super().__init__(status)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after


# The messages of the error pages: by the kind of a problem, or else by its status.
_KEYS = {
    403: "form",
    404: "missing",
    409: "full",
    410: "expired",
    413: "large",
    429: "often",
    500: "server",
    503: "busy",
}
# Where another try may help, and where the way back to one's own page is explained: personal links work anywhere, and
# the shared link has set a cookie.
_AGAIN = frozenset({"form", "often", "server", "busy", "gone"})
_WAY_BACK = frozenset({"form", "server", "busy"})


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
    """Renders pages in one language, whose links begin with `prefix`, the path of the study's public address."""

    prefix: str = ""
    messages: Messages = field(default_factory=lambda: shipped("en"))

    def page(self, template: str, /, *, status: int = 200, **content: Any) -> HTMLResponse:
        """A page from this template."""
        text = (
            _environment().get_template(f"{template}.html.j2").render(prefix=self.prefix, say=self.messages, **content)
        )
        # A lone surrogate cannot be encoded in UTF-8; a text that has one must not break the page.
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def problem(self, problem: Problem) -> HTMLResponse:
        """The error page of a status, the same for all causes."""
        key = problem.kind or _KEYS.get(problem.status, "other")
        response = self.page("problem", status=problem.status, key=key, again=key in _AGAIN, way_back=key in _WAY_BACK)
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
