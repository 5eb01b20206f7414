"""Levels of verdicts as all reports show them: in words, with a sign, in a colour, and counted in a sentence."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textassay.corpus.printable import shortened
from textassay.studies.verdict import Verdict
from textassay.studies.wording import listed


@dataclass(frozen=True)
class Level:
    """The words of a level, and its sign and colour where there are no icons; the sign makes it readable in grey."""

    words: str
    sign: str
    style: str


LEVELS = {
    "same": Level("No difference found", "=", "green"),
    "differs": Level("Differs", "≠", "yellow"),
    "collapsed": Level("Collapsed", "!", "bold red"),
    "copied": Level("Copied from the reference", "≈", "yellow"),
    "untested": Level("Not tested", "?", "dim"),
}


def level_of(verdict: Verdict | None) -> str:
    """A key of `LEVELS`; without a verdict nothing was tested."""
    return verdict.level if verdict is not None and verdict.level in LEVELS else "untested"


def summary(columns: Mapping[str, Verdict | None], verbs: Mapping[str, tuple[str, str]], *, what: str) -> str:
    """The verdicts in one sentence; `verbs` has, by level, the verb for one column and for several.

    >>> verbs = {"same": ("matches", "match"), "untested": ("was not tested", "were not tested")}
    >>> summary({"a": Verdict("same", ()), "b": None, "c": None}, verbs, what="systems")
    'Of 3 systems, 1 matches and 2 were not tested.'
    """
    if len(columns) == 1:
        ((name, verdict),) = columns.items()
        return f"{shortened(name, 60)} {verbs[level_of(verdict)][0]}."
    counts = Counter(map(level_of, columns.values()))
    clauses = [f"{counts[level]} {verbs[level][counts[level] > 1]}" for level in verbs if counts[level]]
    return f"Of {len(columns)} {what}, {listed(clauses)}."


def every_note(*lists: Iterable[str]) -> list[str]:
    """The notes of several lists in order, without repetitions."""
    return list(dict.fromkeys(note for notes in lists for note in notes))
