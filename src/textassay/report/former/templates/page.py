"""The page of all reports: the environment of its templates, style, script, security policy, and limits on its size."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Self

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from textassay.corpus.printable import printable, share, shortened
from textassay.document.words import number, p_text
from textassay.report.former.table import LEVELS, level_of, level_text
from textassay.version import __version__

MOST_BYTES = 1_500_000


@cache
def environment() -> Environment:
    """Templates that escape everything and make every plain text printable."""
    found = Environment(
        loader=PackageLoader("textassay.report.former", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    found.filters |= {
        "cut": shortened,
        "number": number,
        "count": "{:,.0f}".format,
        "level": lambda level: unbroken(level_text(level)),
        "p_text": p_text,
        "share": lambda value: unbroken(share(value)),
        "unbroken": unbroken,
        "level_of": level_of,
    }
    found.globals["levels"] = LEVELS
    return found


def _safe(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# A percent sign after its number, a sign before its number, and the letter before that.
_SIGNS = re.compile(r" %|(?:\b[pn] )?[=<≤±] (?=[-+\d])")


def unbroken(text: str) -> str:
    """The same text for a page, where no line may end between a number and its sign.

    >>> unbroken("74 % of them"), unbroken("p = 0.01")
    ('74\\xa0% of them', 'p\\xa0=\\xa00.01')
    """
    return _SIGNS.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def fragment(template: str, **content: Any) -> str:
    """A template of a notebook's output cell."""
    return environment().get_template(template).render(content)


@dataclass(frozen=True)
class Page:
    """A template with what every page needs: version, style, script and security policy."""

    template: Template
    frame: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        name: str,
        *,
        styles: tuple[str, ...],
        scripts: tuple[str, ...],
        filters: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    ) -> Self:
        """The page of a template, with files of the templates folder as its style and script."""
        style, script = _asset(*styles), _asset(*scripts)
        own = environment().overlay()
        own.filters = environment().filters | dict(filters)
        frame = {"version": __version__, "style": style, "script": script, "policy": _policy(style, script)}
        return cls(own.get_template(name), frame)

    def render(self, content: Mapping[str, Any]) -> str:
        """The page with this content."""
        return self.template.render(self.frame, **content)

    def first_within(self, most: int, contents: Iterable[Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
        """The page, and its content, with the first content that keeps it within `most` bytes, or else the last."""
        text: str = ""
        content: Mapping[str, Any] = {}
        for content in contents:
            text = self.render(content)
            if len(text.encode()) <= most:
                break
        return text, content


def _asset(*names: str) -> Markup:
    """The named files of the templates folder, one after the other."""
    folder = files("textassay.report.former").joinpath("templates")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return Markup("\n".join(texts))  # noqa: S704


def _policy(style: str, script: str) -> str:
    """A content security policy that allows this style and this script, and no request."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# What the page around the items may take: the rest is for the items themselves.
_MOST_AROUND = 600_000
# Sentences on how many items have their texts differ in length with the numbers in them.
_SLACK = 2_000


@dataclass(frozen=True)
class Block:
    """The JSON text, safe inside a script element, and how many items it lists and how many come with texts."""

    json: Markup
    listed: int
    with_texts: int


_NO_ITEMS = Block(Markup(), 0, 0)


def render_with_items(
    page: Page, contents: Iterable[Mapping[str, Any]], block: Callable[[Mapping[str, Any], int], Block]
) -> str:
    """The page with the first content that leaves room for items, and the block of as many as fit into that room."""
    text, content = page.first_within(_MOST_AROUND, (each | {"block": _NO_ITEMS} for each in map(dict, contents)))
    room = max(MOST_BYTES - len(text.encode()) - _SLACK, 0)
    return page.render({**content, "block": block(content, room)})
