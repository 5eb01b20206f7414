"""The page of all reports: templates, styles and scripts, security policy, settings, and items within a size limit."""

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, zip_longest
from typing import Any, Self, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from textassay.corpus.printable import printable, share, shortened
from textassay.report.charts.strips import Strip
from textassay.report.table import ASPECTS, LEVELS, level_of, level_text
from textassay.studies.outcome import Outcome
from textassay.studies.wording import number, p_text
from textassay.version import __version__

T = TypeVar("T")
MOST_BYTES = 1_500_000
# One text may not displace the texts of other items from the page.
MOST_CHARACTERS = 3000
# What the page around the items may take: the rest is for the items themselves.
_MOST_AROUND = 600_000
# Sentences on how many items have their texts differ in length with the numbers in them.
_SLACK = 2_000
# Numbers of the list may take this share of the room; what is left is for texts.
_FOR_ROWS = 0.8
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@cache
def environment() -> Environment:
    """Templates that escape everything and make every plain text printable."""
    found = Environment(
        loader=PackageLoader("textassay.report", "templates"),
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
        cls, name: str, *, styles: tuple[str, ...], scripts: tuple[str, ...], filters: Mapping[str, Callable[..., Any]]
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
    folder = files("textassay.report").joinpath("templates")
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


# The settings that all studies have.
COMMON_SETTINGS = {"resamples": "Resamples", "seed": "Seed", "version": "Version"}


def setting_rows(outcome: Outcome, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Terms and values of these settings; those that the outcome does not have are left out."""
    found = [(term, setting_text(outcome, name)) for name, term in names.items()]
    return [(term, value) for term, value in found if value]


def setting_text(outcome: Outcome, name: str, *, most: int = 8) -> str:
    """A setting of an outcome, several values separated by semicolons; empty if it is not known."""
    value = outcome.settings.get(name, ())
    values = value if isinstance(value, tuple) else (value,)
    return "; ".join(shortened(str(each), 80) for each in values[:most])


def grouped_strips(strips: Iterable[Strip]) -> list[tuple[str, list[Strip]]]:
    """The charts under the titles of their aspects."""
    drawn = list(strips)
    groups = [(title, [strip for strip in drawn if strip.aspect == aspect]) for aspect, title in ASPECTS.items()]
    return [(title, charts) for title, charts in groups if charts]


def span(counts: Iterable[int]) -> str:
    """A count, or the range of counts and the most frequent one.

    >>> span([5, 5, 5]), span([5, 6, 5])
    ('5', '5 to 6, mostly 5')
    """
    tally = Counter(counts)
    if len(tally) < 2:
        return f"{next(iter(tally), 0):,}"
    return f"{min(tally):,} to {max(tally):,}, mostly {tally.most_common(1)[0][0]:,}"


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


def embedded(value: Any) -> str:
    """JSON that can neither end its script element nor begin another one.

    >>> print(embedded(["</script>", None]))
    ["\\u003c/script\\u003e",null]
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def filled(
    frame: dict[str, Any], rows: Iterable[list[Any]], texts: Iterable[list[Any]], *, room: int
) -> tuple[list[list[Any]], list[list[Any]]]:
    """As many rows as there is room for beside the frame, then texts for as many of these, both in order."""
    room -= _bytes(frame)
    for_rows = int(room * _FOR_ROWS)
    kept, left = fitting(rows, for_rows)
    written, _ = fitting((text for _, text in zip(kept, texts, strict=False)), room - for_rows + left)
    return kept, written


def fitting(parts: Iterable[list[Any]], room: int) -> tuple[list[list[Any]], int]:
    """The first parts that fit into this many bytes, with a comma each, and the room that is left."""
    kept = []
    for part in parts:
        taken = _bytes(part) + 1
        if taken > room:
            break
        room -= taken
        kept.append(part)
    return kept, room


def _bytes(value: Any) -> int:
    return len(embedded(value).encode())


class TextTable:
    """Texts for the data of a page: a text is written where it first appears, and by its number afterwards."""

    def __init__(self) -> None:
        self._written: dict[str, int] = {}

    def __call__(self, text: str | None) -> str | int | None:
        """The text, its number if it was written before, or None."""
        if text is None or text in self._written:
            return None if text is None else self._written[text]
        self._written[text] = len(self._written)
        return readable(text, MOST_CHARACTERS)


def scaled(value: float, scale: float) -> int | None:
    """A number as a whole multiple of 1 / scale, which takes fewer bytes; None for what is not finite."""
    return round(value * scale) if math.isfinite(value) else None


def readable(text: str, most: int) -> str:
    r"""The text with its lines kept and control characters made visible, cut where it is too long.

    >>> print(readable("one\ntwo \x1b[31m", 100), readable("a long text", 6))
    one
    two \x1b[31m a lon…
    """
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return "\n".join(printable(line) for line in shown.replace("\r\n", "\n").split("\n"))


def in_turns(lists: Iterable[Sequence[T]], most: int | None = None) -> list[T]:
    """The first of each list, then the second of each, and so on, so that no list fills the result.

    >>> in_turns(["abc", "x", "12"], 4)
    ['a', 'x', '1', 'b']
    """
    missing = object()
    turns = chain.from_iterable(zip_longest(*lists, fillvalue=missing))
    found: list[Any] = [each for each in turns if each is not missing]
    return found if most is None else found[: max(most, 0)]
