"""Pages from templates: everything escaped, style and script as files of their own, one plain page for all errors."""

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment
from starlette.responses import HTMLResponse, Response

from textassay.survey.problems import Problem, said
from textassay.survey.templating import environment


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
