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

from textassay.corpus.printable import many
from textassay.corpus.sample import stream
from textassay.errors import InputError
from textassay.survey.messages.tables import messages_of
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.export import csv_line
from textassay.survey.templates.environment import environment

# Mechanical Turk's limit on the page of a HIT with its texts filled in, in bytes.
LARGEST_PAGE = 65_535
NO_CONTEXT = "(none)"
_PLAIN = frozenset(" .,:;!?()")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True)
class Batch:
    """HITs, each with its items and attention checks in the order in which they are shown.

    Each item that lacks ratings is in one HIT, and each HIT is done by `assignments` workers; `repeated` items are in
    two HITs, so that all HITs have the same length. `complete` items have all their ratings and are in no HIT. `later`
    items need more ratings after this batch.
    """

    hits: tuple[tuple[SurveyItem, ...], ...]
    codes: Mapping[str, str]
    with_context: bool
    assignments: int
    repeated: int
    complete: int = 0
    later: int = 0

    @property
    def slots(self) -> int:
        """The number of texts per HIT."""
        return len(self.hits[0])

    @property
    def altered(self) -> int:
        """The number of items with a character that a page cannot show and that is replaced."""
        shown = {item.id: f"{item.context or ''}{item.text}" for hit in self.hits for item in hit}
        return sum(any(map(_has_no_reference, text)) for text in shown.values())

    def header(self) -> list[str]:
        """The columns: for each text its code, its context if there are contexts, and the text."""
        names = ("item", "context", "text") if self.with_context else ("item", "text")
        return [f"{name}_{slot}" for slot in range(1, self.slots + 1) for name in names]

    def rows(self) -> Iterator[list[str]]:
        """One row per HIT."""
        for hit in self.hits:
            yield [cell for item in hit for cell in self._cells(item)]

    def csv(self) -> str:
        """The batch file."""
        return "".join(map(csv_line, [self.header(), *self.rows()]))

    def _cells(self, item: SurveyItem) -> list[str]:
        context = [with_references(item.context or NO_CONTEXT)] if self.with_context else []
        return [self.codes[item.id], *context, with_references(item.text)]


def make_batch(
    study: Study,
    items: Sequence[SurveyItem],
    codes: Mapping[str, str],
    *,
    given: Mapping[str, int] | None = None,
    items_per_hit: int | None = None,
    seed: int = 0,
) -> Batch:
    """Distribute the items that lack ratings over HITs at random, with sources in balance; `codes` replace their ids.

    `given` is the number of ratings that each item has already, by id. All HITs of a batch have the same number of
    assignments: the smallest number of ratings that one of the items lacks, so that no rating is paid for that the
    study does not want. Each item is in one HIT, and Mechanical Turk gives a HIT to a worker only once, so nobody rates
    a text twice.
    """
    all_rated = [item for item in items if item.expected is None]
    lacking = {item.id: study.ratings_wanted - (given or {}).get(item.id, 0) for item in all_rated}
    rated = [item for item in all_rated if lacking[item.id] > 0]
    if all_rated and not rated:
        raise InputError(
            f"all {len(all_rated):,} items have the {many(study.ratings_wanted, 'rating')} wanted; nothing is left for "
            "a batch"
        )
    checks = [item for item in items if item.expected is not None]
    if not rated:
        raise InputError("the study has no items to rate; wanted at least one")
    wanted = min(items_per_hit or study.items_per_rater, len(rated))
    n_hits = math.ceil(len(rated) / wanted)
    rng = stream(seed, "turk")
    dealt = [item for source in _sources(rated) for item in _shuffled(source, rng)]
    hits = [dealt[index::n_hits] for index in range(n_hits)]
    repeated = _equalize_lengths(hits, dealt, rng)
    turns = cycle(_shuffled(checks, rng))
    n_checks = min(study.checks_per_rater, len(checks))
    for hit in hits:
        _add_checks(hit, [next(turns) for _ in range(n_checks)], rng)
    fewest = min(lacking[item.id] for item in rated)
    return Batch(
        hits=tuple(tuple(hit) for hit in hits),
        codes=codes,
        with_context=any(item.context is not None for item in items),
        assignments=fewest,
        repeated=repeated,
        complete=len(all_rated) - len(rated),
        later=sum(lacking[item.id] > fewest for item in rated),
    )


def with_references(text: str) -> str:
    """The text in ASCII, with character references for all but letters, digits and some punctuation.

    Mechanical Turk inserts cells into the page without escaping, refuses characters outside the basic plane (emoji),
    and replaces placeholders in them; spreadsheets run cells that begin with an equals sign. Character references
    prevent all of that, and a browser shows the original text. Control characters have no reference and are shown as
    U+FFFD.

    >>> with_references('<b>${text_1}</b> 😀')
    '&#60;b&#62;&#36;&#123;text&#95;1&#125;&#60;&#47;b&#62; &#128512;'
    """
    return "".join(map(_reference, text))


def _reference(sign: str) -> str:
    return sign if _is_plain(sign) else f"&#{ord(_REPLACEMENT if _has_no_reference(sign) else sign)};"


def largest_page(batch: Batch, layout: str) -> int:
    """The size in bytes of the longest page with its texts filled in."""
    return len(layout.encode()) + max(sum(map(len, row)) for row in batch.rows())


def _is_plain(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in _PLAIN)


def _has_no_reference(sign: str) -> bool:
    """Whether HTML has no reference for this character: controls except tabs and line ends, and noncharacters.

    >>> [_has_no_reference(sign) for sign in ("\\x00", "\\x92", "\\uffff", "\\n", "’")]
    [True, True, True, False, False]
    """
    code = ord(sign)
    return (unicodedata.category(sign) == "Cc" and sign not in "\t\n\r") or (
        code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    )


def _sources(items: Sequence[SurveyItem]) -> list[list[SurveyItem]]:
    return [[item for item in items if item.source == source] for source in Counter(item.source for item in items)]


def _shuffled(items: Sequence[SurveyItem], rng: Generator) -> list[SurveyItem]:
    return [items[index] for index in rng.permutation(len(items)).tolist()]


def _equalize_lengths(hits: list[list[SurveyItem]], items: Sequence[SurveyItem], rng: Generator) -> int:
    """Fill shorter HITs with items of other HITs, each used at most once more; the number of items added."""
    longest = max(map(len, hits))
    short = [hit for hit in hits if len(hit) < longest]
    spare = _shuffled(items, rng)
    for hit in short:
        index = next(index for index, item in enumerate(spare) if item not in hit)
        hit.append(spare.pop(index))
    return len(short)


def _add_checks(hit: list[SurveyItem], checks: Sequence[SurveyItem], rng: Generator) -> None:
    """Shuffle a HIT and insert its checks at random places other than the first."""
    hit[:] = _shuffled(hit, rng)
    for check in checks:
        hit.insert(int(rng.integers(1, len(hit) + 1)), check)


def layout(study: Study, batch: Batch) -> str:
    """The HTML to paste into the requester page; the answers are in `Answer.rating_1` and so on."""
    return _template().render(
        study=study, say=messages_of(study), slots=range(1, batch.slots + 1), with_context=batch.with_context
    )


@cache
def _template() -> Template:
    templates = environment().overlay()
    # Stricter than escaping: texts of the study must not be read as placeholders.
    templates.filters = templates.filters | {"with_references": lambda text: Markup(with_references(text))}  # noqa: S704
    return templates.get_template("turk_layout.html.j2")
