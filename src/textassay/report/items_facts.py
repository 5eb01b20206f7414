"""What a conditional study measured, and its outcome in a sentence."""

from collections import Counter
from collections.abc import Iterable

from textassay.corpus.printable import shortened
from textassay.report.cells import level_text
from textassay.report.items_words import sizes_text
from textassay.report.standing import WORDS
from textassay.studies.conditioned import KIND_WORDS, Conditional, SystemColumn
from textassay.studies.wording import share

_FIELDS = {
    "dist": "Distances",
    "tok": "Tokens",
    "enc": "Encoder",
    "test": "Tests",
    "resamples": "Resamples",
    "seed": "Seed",
    "v": "Version",
}
_MISSES = tuple(kind for kind in KIND_WORDS if kind not in ("same", "untested"))


def item_facts(conditional: Conditional) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    items = conditional.items.items
    signatures = [result.signature for system in conditional.systems for result in system.results]
    found = [
        ("Items", f"{len(items):,}"),
        ("References per item", span(len(item.references) for item in items)),
        ("Human row", f"{sizes_text(*conditional.human_sizes)} references"),
        ("Interval level", level_text(conditional.level)),
        *((term, _named(field, signatures)) for field, term in _FIELDS.items()),
    ]
    return [(term, value) for term, value in found if value]


def candidates_span(conditional: Conditional, system: SystemColumn) -> str:
    """How many candidates a system has an item."""
    return span(len(item.candidates.get(system.name, ())) for item in conditional.items.items)


def span(counts: Iterable[int]) -> str:
    """A count, or from which to which and which is the most frequent.

    >>> span([5, 5, 5]), span([5, 6, 5])
    ('5', '5 to 6, mostly 5')
    """
    tally = Counter(counts)
    if len(tally) < 2:
        return f"{next(iter(tally), 0):,}"
    return f"{min(tally):,} to {max(tally):,}, mostly {tally.most_common(1)[0][0]:,}"


def outcome_sentence(conditional: Conditional) -> str:
    """The outcome in a sentence or two."""
    if len(conditional.systems) == 1:
        system = conditional.systems[0]
        return f"{shortened(system.name, 60)} {_VERBS[level_of(system)][0]}. {_how(system)}".strip()
    levels = Counter(level_of(system) for system in conditional.systems)
    clauses = [f"{levels[level]} {_VERBS[level][levels[level] > 1]}" for level in _VERBS if levels[level]]
    return f"Of {len(conditional.systems)} systems, {_listed(clauses)}."


_VERBS = {
    "collapsed": ("has collapsed", "have collapsed"),
    "differs": ("differs from the references", "differ from the references"),
    "same": ("shows no difference", "show no difference"),
    "untested": ("was not tested", "were not tested"),
}


def level_of(system: SystemColumn) -> str:
    """A key of `standing.WORDS`; what was not judged was not tested either."""
    found = system.verdict.level if system.verdict else "untested"
    return found if found in WORDS else "untested"


def _how(system: SystemColumn) -> str:
    found = [(kind, system.count(kind)) for kind in _MISSES]
    shares = [f"{KIND_WORDS[kind]} on {share(count / len(system.items))}" for kind, count in found if count]
    return f"It is {_listed(shares)} of the items." if shares else ""


def _listed(clauses: list[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}" if clauses else "none"


def _named(field: str, signatures: list[str]) -> str:
    """The values of a signature field, each once."""
    start = f"{field}:"
    values = {part[len(start) :]: None for text in signatures for part in text.split("|") if part.startswith(start)}
    # What a signature writes without blanks reads better with them.
    said = [value.replace("-or-", " or ").replace("exact-up-to-", "exact up to ") for value in values]
    return ", ".join(shortened(value, 60) for value in said[:8])
