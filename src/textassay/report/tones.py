"""Tones: word, sign, colour and icon of decisions, grades and kinds of items, the same in every form of a report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tone:
    """How a decision, a grade or a kind of items is shown.

    `words` stand in a badge, `sign` before them in a terminal, in the Rich style `style`. `css` is the class that gives
    a badge of a page, or a mark of a plot, its colours (see page.css), and the name of its icon.
    """

    words: str
    sign: str
    style: str
    css: str


# By decision and grade first, then by the kinds of items.
TONES = {
    "same": Tone("no difference found", "=", "green", "t-same"),
    "slight": Tone("slight difference", "≠", "yellow", "t-slight"),
    "clear": Tone("clear difference", "≠", "bold yellow", "t-clear"),
    "large": Tone("large difference", "≠", "bold red", "t-large"),
    "differs": Tone("differs", "≠", "yellow", "t-differs"),
    "collapsed": Tone("collapsed", "!", "bold red", "t-collapsed"),
    "copied": Tone("copied texts", "≈", "bold yellow", "t-copied"),
    "untested": Tone("not tested", "?", "dim", "t-untested"),
    "compatible": Tone("compatible", "=", "green", "t-same"),
    "incompatible": Tone("incompatible", "≠", "yellow", "t-differs"),
    "planned": Tone("planned", "=", "green", "t-same"),
    "undecided": Tone("not decided", "?", "dim", "t-untested"),
    "finds all": Tone("finds all", "=", "green", "t-same"),
    "misses some": Tone("misses some", "≠", "yellow", "t-differs"),
    "finds none": Tone("finds none", "!", "bold red", "t-collapsed"),
    "changed": Tone("changed", "≠", "yellow", "t-differs"),
    "no change found": Tone("no change found", "=", "green", "t-same"),
    "agrees": Tone("agrees", "=", "green", "t-same"),
    "contradicts": Tone("contradicts", "!", "bold red", "t-collapsed"),
    "not shown": Tone("not significant", "?", "dim", "t-untested"),
    "holds": Tone("holds", "=", "green", "t-same"),
    "fails": Tone("fails", "≠", "bold red", "t-large"),
    "repeats": Tone("repeats answers", "!", "yellow", "t-differs"),
    "varied": Tone("varied", "=", "green", "t-same"),
    "one wording": Tone("one wording", "!", "red", "t-narrow"),
    "one meaning": Tone("one meaning", "-", "yellow", "t-elsewhere"),
    "too narrow": Tone("too narrow", "-", "red", "t-narrow"),
    "too wide": Tone("too wide", "+", "blue", "t-wide"),
    "elsewhere": Tone("off target", "↗", "yellow", "t-elsewhere"),
    "too close": Tone("too close", "≈", "cyan", "t-close"),
    "different": Tone("different", "≠", "yellow", "t-different"),
    "quality failure": Tone("quality failure", "-", "red", "t-narrow"),
    "diversity failure": Tone("diversity failure", "+", "blue", "t-wide"),
    "indistinguishable": Tone("indistinguishable", "=", "green", "t-same"),
}


def tone_of(name: str) -> Tone:
    """The tone of this name; one that is not known is neutral and has its name as its words."""
    return TONES.get(name) or Tone(name, "·", "", "t-other")


def tone_of_decision(decision: str, grade: str = "") -> Tone:
    """The tone of a verdict: that of its grade where the decision is a difference that has one.

    >>> tone_of_decision("differs", "clear").words, tone_of_decision("same").sign
    ('clear difference', '=')
    """
    return tone_of(grade if decision == "differs" and grade else decision or "untested")
