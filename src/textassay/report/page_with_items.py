"""A report with its items in a block of JSON: how many of them, and how much of the rest, one file has room for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from textassay.report.embedded import embedded, fitting, size
from textassay.report.html import MOST_BYTES, environment

# A single text may not push the texts of other items out of the page.
MOST_CHARACTERS = 3000
# What the page around the items may take: the rest is for the items themselves.
_MOST_AROUND = 600_000
# Sentences on how many items have their texts differ in length with the numbers in them.
_SLACK = 2_000
# Numbers of the list may take this share of the room; what is left is for texts.
_FOR_ROWS = 0.8


@dataclass(frozen=True)
class Block:
    """The JSON text, safe inside a script element, and how many items it lists and how many come with texts."""

    json: Markup
    listed: int
    with_texts: int


def template(name: str, filters: dict[str, Any]) -> Template:
    """A template that has the filters of all reports, and these."""
    own = environment().overlay()
    own.filters = environment().filters | filters
    return own.get_template(name)


def page_with_items(
    page: Template, contents: Iterable[dict[str, Any]], block: Callable[[dict[str, Any], int], Block]
) -> str:
    """The page with the first content that leaves room for items, and the block of as many as go into that room."""
    content, around = {}, 0
    for content in contents:
        around = len(page.render(content, block=Block(Markup(), 0, 0)).encode())
        if around <= _MOST_AROUND:
            break
    return page.render(content, block=block(content, max(MOST_BYTES - around - _SLACK, 0)))


@dataclass(frozen=True)
class Fitted:
    """The rows and the texts that there was room for; the first rows are those that have texts."""

    rows: list[list[Any]]
    texts: list[list[Any]]


def fitted(frame: dict[str, Any], rows: Iterable[list[Any]], texts: Iterable[list[Any]], *, room: int) -> Fitted:
    """As many rows as there is room for beside the frame, then texts for as many of these, both in order."""
    room -= size(frame)
    for_rows = int(room * _FOR_ROWS)
    kept, left = fitting(rows, for_rows)
    written, _ = fitting((text for _, text in zip(kept, texts, strict=False)), room - for_rows + left)
    return Fitted(kept, written)


def block_of(frame: dict[str, Any], *, listed: int, with_texts: int) -> Block:
    """The frame with everything in it as a block for the page."""
    return Block(Markup(embedded(frame)), listed, with_texts)  # noqa: S704
