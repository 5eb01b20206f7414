"""How a candidate stands: the words for its verdict, and one sentence for all candidates together."""

from collections import Counter

from textassay.corpus.printable import shortened
from textassay.studies.comparison import Column, Comparison

WORDS = {
    "same": "No difference found",
    "differs": "Differs",
    "collapsed": "Collapsed",
    "copied": "Copied from the reference",
    "untested": "Not tested",
}


def standing(column: Column) -> str:
    """A key of `WORDS`: the level of the verdict; what was not judged was not tested either."""
    if column.verdict is None or column.verdict.level not in WORDS:
        return "untested"
    return column.verdict.level


def summary(comparison: Comparison) -> str:
    """The outcome in a sentence."""
    if len(comparison.candidates) == 1:
        return _single(comparison)
    counts = Counter(map(standing, comparison.candidates))
    clauses = []
    if counts["collapsed"]:
        clauses.append(f"{counts['collapsed']} {_verb(counts['collapsed'], 'has', 'have')} collapsed")
    if counts["differs"]:
        clauses.append(f"{counts['differs']} {_verb(counts['differs'], 'differs', 'differ')} from the reference")
    if counts["copied"]:
        clauses.append(f"{counts['copied']} {_verb(counts['copied'], 'has', 'have')} texts copied from it")
    if counts["same"]:
        clauses.append(f"{counts['same']} {_verb(counts['same'], 'shows', 'show')} no difference")
    if counts["untested"]:
        clauses.append(f"{counts['untested']} {_verb(counts['untested'], 'was', 'were')} not tested")
    listed = clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}" if clauses else "none"
    return f"Of {len(comparison.candidates)} candidates, {listed}."


def _single(comparison: Comparison) -> str:
    column = comparison.candidates[0]
    said = {
        "same": "shows no difference from the reference",
        "differs": "differs from the reference",
        "collapsed": "has collapsed",
        "copied": "has texts copied from the reference",
        "untested": "was not tested against the reference",
    }[standing(column)]
    return f"{shortened(column.name, 60)} {said}."


def _verb(count: int, one: str, several: str) -> str:
    return one if count == 1 else several
