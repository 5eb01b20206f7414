"""A study as a batch for Mechanical Turk: one row per HIT, and the page of a HIT."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle

from jinja2 import Template
from markupsafe import Markup
from numpy.random import Generator

from textassay.errors import InputError
from textassay.inference.rng import stream
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.exporting import csv_line
from textassay.survey.web.pages import environment

# What a page may not exceed once the texts are filled in, in bytes (the limit on a HIT's question).
LARGEST_PAGE = 65_535
NO_CONTEXT = "(none)"
_PLAIN = frozenset(" .,:;!?()")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True)
class Batch:
    """HITs, each with its items in the order in which they are shown, attention checks among them.

    Every item stands in one HIT, and each HIT is done by `assignments` workers; `repeated` items stand in two, so that
    all HITs are of one length.
    """

    hits: tuple[tuple[SurveyItem, ...], ...]
    codes: Mapping[str, str]
    with_context: bool
    assignments: int
    repeated: int

    @property
    def slots(self) -> int:
        """How many texts a HIT has."""
        return len(self.hits[0])

    @property
    def altered(self) -> int:
        """How many items have a character that workers do not see, and a replacement in its place."""
        shown = {item.id: f"{item.context or ''}{item.text}" for hit in self.hits for item in hit}
        return sum(any(map(_is_lost, text)) for text in shown.values())

    def header(self) -> list[str]:
        """The columns: for each text its code, its context where there are contexts, and the text."""
        names = ("item", "context", "text") if self.with_context else ("item", "text")
        return [f"{name}_{slot}" for slot in range(1, self.slots + 1) for name in names]

    def rows(self) -> Iterator[list[str]]:
        """One row a HIT."""
        for hit in self.hits:
            yield [cell for item in hit for cell in self._cells(item)]

    def csv(self) -> str:
        """The whole batch file."""
        return "".join(map(csv_line, [self.header(), *self.rows()]))

    def _cells(self, item: SurveyItem) -> list[str]:
        context = [referenced(item.context or NO_CONTEXT)] if self.with_context else []
        return [self.codes[item.id], *context, referenced(item.text)]


def make_batch(
    study: Study,
    items: Sequence[SurveyItem],
    codes: Mapping[str, str],
    *,
    items_per_hit: int | None = None,
    seed: int = 0,
) -> Batch:
    """Deal all items to HITs, about as many of each source to each, shuffled; `codes` stand for their ids.

    One HIT an item: Mechanical Turk gives a HIT to a worker only once, so nobody rates a text twice.
    """
    rated = [item for item in items if item.expected is None]
    checks = [item for item in items if item.expected is not None]
    if not rated:
        raise InputError("the study has no items to rate; wanted at least one")
    wanted = min(items_per_hit or study.items_per_rater, len(rated))
    n_hits = math.ceil(len(rated) / wanted)
    rng = stream(seed, "turk")
    dealt = [item for source in _sources(rated) for item in _shuffled(source, rng)]
    hits = [dealt[place::n_hits] for place in range(n_hits)]
    repeated = _level(hits, dealt, rng)
    turns = cycle(_shuffled(checks, rng))
    n_checks = min(study.checks_per_rater, len(checks))
    for hit in hits:
        _add_checks(hit, [next(turns) for _ in range(n_checks)], rng)
    return Batch(
        hits=tuple(tuple(hit) for hit in hits),
        codes=codes,
        with_context=any(item.context is not None for item in items),
        assignments=study.ratings_wanted,
        repeated=repeated,
    )


def referenced(text: str) -> str:
    """The text in plain ASCII, with a character reference for all but letters, digits and a few harmless signs.

    Mechanical Turk puts cells into the page as they are, refuses characters beyond the basic plane (emoji), and fills
    in whatever looks like one of its placeholders; spreadsheets run what begins with an equals sign. References stop
    all of that, and a browser shows the text as it was; for a character that no reference can stand for (controls,
    some of which browsers take for other characters) it shows U+FFFD.

    >>> referenced('<b>${text_1}</b> 😀')
    '&#60;b&#62;&#36;&#123;text&#95;1&#125;&#60;&#47;b&#62; &#128512;'
    """
    return "".join(sign if _is_plain(sign) else f"&#{ord(_REPLACEMENT if _is_lost(sign) else sign)};" for sign in text)


def largest_page(batch: Batch, layout: str) -> int:
    """How many bytes the longest page has once its texts are filled in."""
    return len(layout.encode()) + max(sum(map(len, row)) for row in batch.rows())


def _is_plain(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in _PLAIN)


def _is_lost(sign: str) -> bool:
    """Whether HTML has no reference for this character: controls but tabs and line ends, and what Unicode never uses.

    >>> [_is_lost(sign) for sign in ("\\x00", "\\x92", "\\uffff", "\\n", "’")]
    [True, True, True, False, False]
    """
    code = ord(sign)
    return (unicodedata.category(sign) == "Cc" and sign not in "\t\n\r") or (
        code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    )


def _sources(items: Sequence[SurveyItem]) -> list[list[SurveyItem]]:
    return [[item for item in items if item.source == source] for source in Counter(item.source for item in items)]


def _shuffled(items: Sequence[SurveyItem], rng: Generator) -> list[SurveyItem]:
    return [items[place] for place in rng.permutation(len(items)).tolist()]


def _level(hits: list[list[SurveyItem]], items: Sequence[SurveyItem], rng: Generator) -> int:
    """Fill up shorter HITs with items of others, each at most once more; how many were needed."""
    longest = max(map(len, hits))
    short = [hit for hit in hits if len(hit) < longest]
    spare = _shuffled(items, rng)
    for hit in short:
        place = next(place for place, item in enumerate(spare) if item not in hit)
        hit.append(spare.pop(place))
    return len(short)


def _add_checks(hit: list[SurveyItem], checks: Sequence[SurveyItem], rng: Generator) -> None:
    """Shuffle a HIT and put its checks anywhere but first."""
    hit[:] = _shuffled(hit, rng)
    for check in checks:
        hit.insert(int(rng.integers(1, len(hit) + 1)), check)


def layout(study: Study, batch: Batch) -> str:
    """The HTML to paste into the requester page; answers come back as `Answer.rating_1` and so on."""
    return _template().render(study=study, slots=range(1, batch.slots + 1), with_context=batch.with_context)


@cache
def _template() -> Template:
    templates = environment().overlay()
    # Stricter than escaping: words of the study must not be taken for placeholders either.
    templates.filters = templates.filters | {"referenced": lambda text: Markup(referenced(text))}  # noqa: S704
    return templates.get_template("turk_layout.html.j2")
