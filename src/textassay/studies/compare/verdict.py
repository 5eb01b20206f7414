"""The verdict on a candidate of a comparison.

The overall test alone decides whether a candidate differs from the reference, so the chance of any false sentence about
a difference is at most 1 - level over all candidates. A sentence on *how* it differs also needs its own evidence: the
adjusted test of its metric and, if it names a direction, intervals that do not overlap.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from textassay.corpus.printable import share
from textassay.document.words import cited_p, number, plus_minus
from textassay.inference.effect_size import Separable
from textassay.inference.overall.test import Overall, level_beside
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.studies.outcome import NO_TEST, Verdict

# A sample is called collapsed when at least half of its texts repeat another one, beyond what real text does.
COLLAPSED = 0.5
# Copies of the reference are the main finding when they are at least this share of the texts.
COPIED = 0.05
# If only a larger share than this could have been found, "no difference found" would mean next to nothing.
TOO_FEW = 0.5
# Samples of which the candidate has fewer of its word pairs in common with the reference may be in two languages or
# scripts, whose words are of different kinds, so their numbers of different words do not compare.
UNRELATED = 0.05
# Members of the bank that are named in a verdict.
_MOST_NAMED = 4

_PHRASES = {
    "cr": "uses the reference's common phrases less often",
    # A long text may contain all phrases of the reference, and others besides.
    "bleu": "fewer of its phrases are in the reference",
}
_FORMAT = "the format differs as well (see the format findings), which may explain the difference or a part of it"
_CLOSER = "closer to the reference than two independent samples are"

# Which way a value moves when a sample becomes less diverse.
_LESS_DIVERSE = {"distinct": -1, "entropy": -1, "nrr": -1, "self_bleu": 1, "vendi": -1}
_REACH = (
    ("produces texts unlike any in the reference", ("precision", "density")),
    ("leaves parts of the reference uncovered", ("coverage", "recall")),
)


@dataclass(frozen=True)
class Row:
    """One metric of a candidate beside the baseline; `significant` is after all corrections.

    `like_real` is the candidate's result on as many texts as the baseline had; only that one compares with it. With
    `equal_lengths`, all three are results on texts that were cut to the same lengths. A metric that the length of texts
    moves and that could not be measured on such texts is `only_length`: it supports no sentence.
    """

    label: str
    result: Result
    real: Result
    significant: bool
    like_real: Result
    equal_lengths: bool = False
    only_length: bool = False


@dataclass(frozen=True)
class Sight:
    """What the vectors of a run represent, `meaning` or `word patterns`, and whether the encoder can read the texts."""

    what: str = "meaning"
    reliable: bool = True


@dataclass(frozen=True)
class Setting:
    """What a verdict depends on, apart from the results.

    `real_overlap` is the share of texts in one part of the reference that are also in the other part, word for word;
    None if there are no such parts.
    Sentences on copies and closeness share one small error rate over all candidates.
    """

    level: float
    sight: Sight = field(default_factory=Sight)
    real_overlap: float | None = 0.0
    n_candidates: int = 1

    @property
    def beside(self) -> float:
        """The level of the sentences that the overall test does not decide."""
        return level_beside(self.level, self.n_candidates)


def judge(
    rows: Sequence[Row],
    overall: Overall | None,
    *,
    setting: Setting,
    warnings: Sequence[str] = (),
    doubtful: bool = False,
    format_differs: bool = False,
    without_markup: Overall | None = None,
) -> Verdict:
    """What can be claimed about a candidate; `format_differs` is true if metrics are affected by the format.

    `warnings` are signs that its texts are not independent; with `doubtful` the reference shows such signs.
    `without_markup` is the overall test on words without Markdown, where the samples differ in it. Then metrics count
    markup as words, so nothing is said about wording and diversity beyond what this test shows.
    """
    usable = [
        row for row in rows if row.result.undefined is None and row.real.undefined is None and not row.only_length
    ]
    by_metric: dict[str, list[Row]] = {}
    for row in usable:
        by_metric.setdefault(row.result.metric, []).append(row)
    if overall is None:
        collapse = _repetition(by_metric.get("repetition", ()), tested=False)
        return Verdict.of("collapsed" if collapse else "untested", *collapse, NO_TEST)
    if overall.p_value is None:
        collapse = _repetition(by_metric.get("repetition", ()), tested=False)
        why = overall.undefined or "no test could be run"
        return Verdict.of("collapsed" if collapse else "untested", *collapse, why, cautions=warnings)
    copies = _copies(overall, setting)
    if not is_significant(overall.adjusted, setting.level):
        return _nothing_found(overall, copies, setting, warnings)
    collapse = _repetition(by_metric.get("repetition", ()), tested=True)
    difference = _difference(overall, setting.level, doubtful=doubtful or bool(warnings))
    wording = [
        *_diversity(usable, overall, setting.sight),
        *_quality(by_metric, setting),
        *_reach(by_metric, setting),
    ]
    details = [
        *_size(overall.separable),
        *([_FORMAT] if format_differs and without_markup is None else ()),
        *(wording if without_markup is None else _beside_markup(without_markup, setting)),
        *_copying(by_metric.get("copying", ())),
    ]
    is_collapsed = any(reason.startswith("collapsed") for reason in collapse)
    level = "collapsed" if is_collapsed else "differs"
    return Verdict.of(level, *collapse, *copies, difference, details=details, cautions=warnings)


def _nothing_found(overall: Overall, copies: Sequence[str], setting: Setting, warnings: Sequence[str]) -> Verdict:
    found = f"no difference found ({_cited(overall)})"
    is_closer = is_significant(overall.closer, setting.beside)
    if copies:
        # Texts that are in both samples make them alike, so the test shows little about the other texts.
        hidden = f"{found}, but copies hide differences: compare again without them"
        return Verdict.of("copied", *copies, *([_CLOSER] if is_closer else ()), hidden, cautions=warnings)
    limit = None if overall.separable is None else overall.separable.detectable
    if limit is None or limit >= TOO_FEW:
        few = f"too few texts to find any but very large differences ({_cited(overall)})"
        return Verdict.of("untested", few, cautions=warnings)
    power = f"{share(limit)} or more of texts that a classifier recognises would probably have been found"
    why = "some texts may be paraphrases of reference texts, or both samples may answer the same prompts"
    advice = [f"{_CLOSER}: {why}"] if is_closer else []
    return Verdict.of("same", found, details=[power, *advice], cautions=warnings)


def _beside_markup(words: Overall, setting: Setting) -> list[str]:
    """What is left of a difference without Markdown: corrected for all candidates by their number, which is enough."""
    advice = '--strip markdown (in Python strip="markdown") shows wording and diversity without it'
    if words.p_value is None:
        return [f"Markdown differs; {advice}"]
    p = min(words.p_value * setting.n_candidates, 1.0)
    if not is_significant(p, setting.level):
        return [f"Markdown may explain the difference: without it, none is found ({cited_p(p)}); {advice}"]
    low = None if words.separable is None else words.separable.low
    size = f", at least {at_least(low)} of its texts are unlike the reference's" if low else ""
    return [f"Markdown differs; the words without it differ as well ({cited_p(p)}{size}); {advice}"]


def _cited(overall: Overall) -> str:
    """The p-value of the overall test, corrected for several candidates, and the sizes it comes from."""
    assert overall.adjusted is not None
    groups = ""
    if overall.design != "independent":
        groups = f" in {overall.n_groups[0]:,} and {overall.n_groups[1]:,} groups"
    is_smallest = overall.p_value is not None and overall.p_value <= overall.floor
    p = cited_p(overall.adjusted, floor=overall.adjusted if is_smallest else 0.0)
    return f"overall test: {p}, {overall.n[0]:,} and {overall.n[1]:,} texts{groups}"


def _difference(overall: Overall, level: float, *, doubtful: bool) -> str:
    members = overall.found_by(level)
    names = [member.label for member in members[:_MOST_NAMED]]
    more = f" and {len(members) - _MOST_NAMED} more" if len(members) > _MOST_NAMED else ""
    by = f"; found by {', '.join(names)}{more}" if members else ""
    # A warning is a sign that single texts may not be exchanged, which the test takes for granted.
    return f"differs from the reference{', if the texts are independent' * doubtful} ({_cited(overall)}{by})"


def _copies(overall: Overall, setting: Setting) -> list[str]:
    shared = overall.shared_texts or 0.0
    is_sure = is_significant(overall.copied, setting.beside)
    if not is_sure or shared < COPIED or shared <= (setting.real_overlap or 0.0):
        return []
    real = "" if setting.real_overlap is None else f" (real text {share(setting.real_overlap)})"
    return [f"not an independent sample: {share(shared)} of its texts are in the reference word for word{real}"]


def _repetition(rows: Iterable[Row], *, tested: bool) -> list[str]:
    for row in rows:
        value, real = row.like_real.estimate, row.real.estimate
        if value <= real or (tested and not _apart(row)):
            continue
        parts = row.like_real.parts
        texts = "text" if parts["unique_texts"] == 1 else "texts"
        counted = (
            f"{share(value)} of texts repeat another one, {share(parts['exact'])} word for word"
            f" ({int(parts['unique_texts']):,} different {texts} of {row.like_real.n:,})"
        )
        if value >= COLLAPSED:
            return [f"collapsed: {counted}"]
        if tested:
            return [f"repeats itself: {counted}; real text {share(real)}"]
    return []


def _diversity(rows: Sequence[Row], overall: Overall, sight: Sight) -> list[str]:
    """Which of the two is more diverse. A test only finds that they differ, so the values must show the direction."""
    votes: dict[int, Row] = {}
    left_out = [] if sight.reliable else ["vendi"]
    if overall.shared_pairs is not None and overall.shared_pairs < UNRELATED:
        left_out += [name for name in _LESS_DIVERSE if name != "vendi"]
    for name in (name for name in _LESS_DIVERSE if name not in left_out):
        for row in rows:
            if row.result.metric == name and _differs(row) and _beyond(row):
                votes.setdefault(_direction(row), row)
    if len(votes) == 2:
        return [f"diversity measures disagree: lower by {_against(votes[-1])}, higher by {_against(votes[1])}"]
    return [
        f"{'less' if direction < 0 else 'more'} diverse {_than(row, sight)} ({_against(row)})"
        for direction, row in votes.items()
    ]


def _than(row: Row, sight: Sight) -> str:
    """Vectors only show what the encoder represents: they hardly differ for words that it does not know."""
    return f"in {sight.what} as the encoder measures it" if row.result.metric == "vendi" else "than the reference"


def _direction(row: Row) -> int:
    """-1 where the candidate is the less diverse one, 1 where it is the more diverse one, 0 where they are equal."""
    moved = _moved(row) * _LESS_DIVERSE[row.result.metric]
    return (moved < 0) - (moved > 0)


def _moved(row: Row) -> float:
    return row.like_real.estimate - row.real.estimate


def _size(found: Separable | None) -> list[str]:
    """How large the difference is: the separable share, and the grade that follows from it."""
    if found is None:
        return []
    if found.low is None or found.estimate is None:
        return [f"how many of its texts are unlike the reference's is not known: {found.undefined}"]
    if not found.low:
        return [f"{found.grade} difference: hardly any of its texts can be told from the reference's"]
    return [f"{found.grade} difference: at least {at_least(found.low)} of its texts are unlike the reference's"]


def at_least(low: float) -> str:
    """A lower bound as a percentage, rounded down so that it stays one.

    >>> at_least(0.2789), at_least(0.0999), at_least(0.0004), at_least(1.0)
    ('27 %', '9.9 %', '<0.1 %', '100 %')
    """
    digits = 2 if low >= 0.1 else 3
    return share(math.floor(low * 10**digits) / 10**digits or low)


def _reach(by_metric: Mapping[str, Sequence[Row]], setting: Setting) -> list[str]:
    """Texts of one sample that are unlike those of the other; only if the test and the value agree."""
    found = []
    for said, names in _REACH:
        tested = [
            row for name in names for row in by_metric.get(name, ()) if row.significant and setting.sight.reliable
        ]
        rows = [row for row in tested if _moved(row) < 0 and _beyond(row)]
        if said.startswith("leaves"):
            # Noise and other topics cover little of the reference too, so this is about coverage, not diversity.
            rows += [row for row in _bleu(by_metric, "reverse_bleu", setting) if _moved(row) < 0 and _apart(row)]
        found += [f"{said} ({_against(row, 'real v real')})" for row in rows[:1]]
    return found


def _quality(by_metric: Mapping[str, Sequence[Row]], setting: Setting) -> list[str]:
    """Only a value below that of real text is lost quality: a test of `cr` is also significant for repeated phrases."""
    rows = [*filter(_differs, by_metric.get("cr", ())), *_bleu(by_metric, "bleu", setting)]
    lower = [row for row in rows if _moved(row) < 0 and _apart(row)]
    return [f"{_PHRASES[row.result.metric]} ({_against(row, 'real v real')})" for row in lower[:1]]


def _bleu(by_metric: Mapping[str, Sequence[Row]], name: str, setting: Setting) -> Sequence[Row]:
    """Rows of the BLEU family, which have no test; none if both parts of the reference share texts.

    Real text then scores higher against itself than any independent sample of the same source would.
    """
    return by_metric.get(name, ()) if (setting.real_overlap or 0.0) < COPIED else ()


def _copying(rows: Iterable[Row]) -> list[str]:
    return [
        f"copies: {share(row.like_real.estimate)} of texts are in the training file word for word"
        f" (real text {share(row.real.estimate)})"
        for row in rows
        if row.like_real.estimate > row.real.estimate and _apart(row)
    ]


def _differs(row: Row) -> bool:
    """By its test if it has one, otherwise by intervals that do not overlap."""
    return row.significant if row.result.p_value is not None else _apart(row)


def _apart(row: Row) -> bool:
    """True if both have an interval and the two do not overlap."""
    mine, real = row.like_real.interval, row.real.interval
    return mine is not None and real is not None and (mine.low > real.high or mine.high < real.low)


def _beyond(row: Row) -> bool:
    """True if the intervals do not overlap or, if only one has an interval, it does not contain the other value."""
    mine, real = row.like_real.interval, row.real.interval
    if mine is not None and real is not None:
        return _apart(row)
    if real is not None:
        return row.like_real.estimate not in real
    return mine is not None and row.real.estimate not in mine


def _against(row: Row, real_name: str = "real") -> str:
    real = f"{real_name} {number(row.real.estimate)}"
    if row.real.interval is not None and not math.isnan(row.real.estimate):
        real += f" ± {plus_minus((row.real.interval.high - row.real.interval.low) / 2)}"
    size = f" at n = {row.real.n:,}" if row.like_real is not row.result else ""
    if row.equal_lengths:
        size = f" in {row.real.n:,} texts of each cut to equal lengths"
    return f"{row.label} {number(row.like_real.estimate)}, {real}{size}"
