"""The verdict on a candidate of a comparison.

The overall test alone decides whether a candidate differs from the reference, so the chance of any false sentence about
a difference is at most 1 - level over all candidates. A sentence on *how* it differs also needs its own evidence: the
adjusted test of its metric and, if it names a direction, intervals that do not overlap.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from textassay.document.results import ends
from textassay.inference.effect_size import Separable
from textassay.inference.overall.test import COPIED, Overall, level_beside
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.metrics.effects import EFFECTS
from textassay.metrics.learned.separable import FEWEST_UNITS
from textassay.studies.finding import NO_TEST, Finding, Verdict
from textassay.studies.planes import metric_of, rise_of

# A sample is called collapsed when at least half of its texts repeat another one, beyond what real text does.
COLLAPSED = 0.5
# A sample of which at least this share is copied from the reference is a copy, whatever else differs.
MOSTLY_COPIES = 0.5
# If only a larger share than this could have been found, "no difference found" would mean next to nothing.
TOO_FEW = 0.5
# Samples of which the candidate has fewer of its word pairs in common with the reference may be in two languages or
# scripts, whose words are of different kinds, so their numbers of different words do not compare.
UNRELATED = 0.05

# What a fall of a metric of quality or of reach shows, by the effect of its rise.
_FEWER_PHRASES = {"more common phrases": "fewer common phrases", "more known phrases": "fewer known phrases"}
_DIVERSITY = ("more diverse", "less diverse")
_REACH = {"more like the reference": "unlike the reference", "more coverage": "uncovered"}


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

    @property
    def rise(self) -> str:
        """What a rise of the value says about the candidate."""
        return rise_of(self.result)

    @property
    def moved(self) -> float:
        """The value of the candidate minus that of real text."""
        return self.like_real.estimate - self.real.estimate

    @property
    def reads_vectors(self) -> bool:
        """Whether the metric sees what an encoder represents, and not the words."""
        metric = metric_of(self.result)
        return metric is not None and metric.reads_vectors


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
    Sentences on copies and closeness share one small error rate over all candidates. Digests have no texts, so there is
    no share of texts that would probably have been found.
    """

    level: float
    sight: Sight = field(default_factory=Sight)
    real_overlap: float | None = 0.0
    n_candidates: int = 1
    has_texts: bool = True

    @property
    def beside(self) -> float:
        """The level of the sentences that the overall test does not decide."""
        return level_beside(self.level, self.n_candidates)


def judge(
    rows: Sequence[Row],
    overall: Overall | None,
    *,
    setting: Setting,
    warnings: Sequence[Finding | str] = (),
    collapse: Sequence[Finding] = (),
    doubtful: bool = False,
    format_differs: bool = False,
    case_differs: bool = False,
    markup_differs: bool = False,
    without_markup: Overall | None = None,
) -> Verdict:
    """What can be claimed about a candidate; `format_differs` is true if metrics are affected by its form.

    With `case_differs` most texts of one sample have capitals that the other one lacks: words with and without them are
    different words then, so nothing is said about wording and diversity that metrics on words show.
    `collapse` are findings on repeated texts that no metric shows, as those of digests.
    `warnings` are signs that its texts are not independent; with `doubtful` the reference shows such signs.
    With `markup_differs` the samples differ in Markdown, which metrics count as words, so nothing is said about wording
    and diversity beyond what `without_markup` shows, the overall test on words without it, if it was run.
    """
    usable = [
        row for row in rows if row.result.undefined is None and row.real.undefined is None and not row.only_length
    ]
    untested = [*collapse, *_repetition(usable, tested=False)]
    if overall is None:
        return Verdict.of("collapsed" if untested else "untested", *untested, NO_TEST)
    if overall.p_value is None:
        why = Finding("not tested", text=overall.undefined or "no test could be run")
        return Verdict.of("collapsed" if untested else "untested", *untested, why, cautions=warnings)
    copies = list(_copies(overall, setting))
    if not is_significant(overall.adjusted, setting.level):
        return _nothing_found(overall, copies, setting, warnings)
    repeated = [*collapse, *_repetition(usable, tested=True)]
    doubtful = doubtful or bool(warnings or copies)
    difference = _difference(overall, setting.level, doubtful=doubtful)
    comparable = [row for row in usable if row.reads_vectors] if case_differs else usable
    wording = [
        *_diversity(comparable, overall, setting.sight),
        *_quality(comparable, setting),
        *_reach(comparable, setting),
    ]
    details = [
        *_size(overall.separable, doubtful=doubtful),
        *(_of_form(without_markup, setting, markup=markup_differs, other=format_differs)),
        *([] if markup_differs else wording),
        *_copying(usable),
    ]
    is_collapsed = any(finding.kind == "collapsed" for finding in repeated)
    is_copy = any(finding.value >= MOSTLY_COPIES for finding in copies)
    decision = "collapsed" if is_collapsed else "copied" if is_copy else "differs"
    return Verdict.of(decision, *repeated, *copies, difference, details=details, cautions=warnings)


def _nothing_found(
    overall: Overall, copies: Sequence[Finding], setting: Setting, warnings: Sequence[Finding | str]
) -> Verdict:
    is_closer = is_significant(overall.closer, setting.beside)
    if copies:
        # Texts that are in both samples make them alike, so the test shows little about the other texts.
        closer = [Finding("closer", condition="copies")] if is_closer else []
        return Verdict.of("copied", *copies, *closer, _tested("hidden by copies", overall), cautions=warnings)
    limit = None if overall.separable is None else overall.separable.detectable
    if not setting.has_texts:
        return Verdict.of("same", _tested("no difference", overall), cautions=warnings)
    if limit is None or limit >= TOO_FEW:
        few = _tested("too few texts", overall)
        if limit is None:
            few = replace(few, parts={**few.parts, "needed": FEWEST_UNITS})
        return Verdict.of("untested", few, cautions=warnings)
    # Texts that are in both samples are the reason, even where so many repeat that they are no sign of copying.
    reason = "copies" if (overall.shared_texts or 0.0) >= COPIED else ""
    details = [Finding("detectable share", value=limit), *([Finding("closer", condition=reason)] if is_closer else [])]
    return Verdict.of("same", _tested("no difference", overall), details=details, cautions=warnings)


def _of_form(words: Overall | None, setting: Setting, *, markup: bool, other: bool) -> Iterator[Finding]:
    """What Markdown explains, and whether other differences in form may explain the rest."""
    beside = _beside_markup(words, setting) if markup else None
    if beside is not None:
        yield beside
    if other and (beside is None or beside.kind != "markup alone"):
        yield Finding("format differs", condition="" if beside is None else "beside Markdown")


def _beside_markup(words: Overall | None, setting: Setting) -> Finding:
    """What is left of a difference without Markdown: corrected for all candidates by their number, which is enough."""
    if words is None or words.p_value is None:
        return Finding("markup differs")
    p = min(words.p_value * setting.n_candidates, 1.0)
    floor = p if words.p_value <= words.floor else math.nan
    if not is_significant(p, setting.level):
        return Finding("markup alone", adjusted_p=p)
    low = None if words.separable is None else words.separable.low
    return Finding("markup and words differ", adjusted_p=p, floor=floor, ends=(low, 1.0) if low else None)


def _tested(kind: str, overall: Overall, **found: Any) -> Finding:
    """A finding of the overall test, with its p-value, corrected for several candidates, and what that comes from."""
    assert overall.adjusted is not None
    assert overall.p_value is not None
    is_smallest = overall.p_value <= overall.floor
    grouped = overall.design != "independent"
    groups = dict(zip(("groups", "reference_groups"), overall.n_groups, strict=True)) if grouped else {}
    floor = overall.adjusted if is_smallest else math.nan
    return Finding(kind, adjusted_p=overall.adjusted, floor=floor, n=overall.n, parts=groups, **found)


def _difference(overall: Overall, level: float, *, doubtful: bool) -> Finding:
    names = tuple(member.label for member in overall.found_by(level))
    return _tested("differs", overall, names=names, condition="independent" if doubtful else "")


def _copies(overall: Overall, setting: Setting) -> Iterator[Finding]:
    shared, real = overall.shared_texts or 0.0, setting.real_overlap
    is_sure = is_significant(overall.copied, setting.beside)
    if is_sure and shared >= COPIED and shared > (real or 0.0):
        yield Finding("copies of the reference", value=shared, baseline=math.nan if real is None else real)


def _repetition(rows: Iterable[Row], *, tested: bool) -> Iterator[Finding]:
    for row in rows:
        value = row.like_real.estimate
        if row.rise != "more repeats" or row.moved <= 0 or (tested and not _apart(row)):
            continue
        counted = {name: row.like_real.parts[name] for name in ("exact", "unique_texts") if name in row.like_real.parts}
        kind = "collapsed" if value >= COLLAPSED else "repeats" if tested else ""
        if kind:
            yield replace(_beside_real(kind, row), parts=counted, n=(row.like_real.n,))
            return


def _diversity(rows: Sequence[Row], overall: Overall, sight: Sight) -> list[Finding]:
    """Which of the two is more diverse. A test only finds that they differ, so the values must show the direction."""
    are_related = overall.shared_pairs is None or overall.shared_pairs >= UNRELATED
    votes: dict[int, Row] = {}
    for row in sorted(rows, key=lambda row: row.result.metric):
        counts = sight.reliable if row.reads_vectors else are_related
        if row.rise in _DIVERSITY and counts and _differs(row) and _beyond(row):
            votes.setdefault(_direction(row), row)
    found = [_diverse(direction, row, sight) for direction, row in votes.items()]
    if len(votes) == 2:
        return [Finding("diversity unclear", among=tuple(sorted(found, key=lambda each: each.kind)))]
    return found


def _diverse(direction: int, row: Row, sight: Sight) -> Finding:
    """Less or more diverse; a metric on vectors names what its encoder represents."""
    kind = "less diverse" if direction < 0 else "more diverse"
    return replace(_beside_real(kind, row), names=(sight.what,) if row.reads_vectors else ())


def _direction(row: Row) -> int:
    """-1 where the candidate is the less diverse one, 1 where it is the more diverse one, 0 where they are equal."""
    moved = row.moved * EFFECTS[row.rise]
    return (moved > 0) - (moved < 0)


def _size(found: Separable | None, *, doubtful: bool) -> Iterator[Finding]:
    """How large the difference is: the separable share, and the grade that follows from it."""
    if found is None:
        return
    if found.low is None or found.estimate is None:
        yield Finding("no separable share", text=str(found.undefined))
    else:
        condition = "independent" if doubtful else ""
        yield Finding(
            "separable share", value=found.estimate, ends=(found.low, 1.0), grade=str(found.grade), condition=condition
        )


def _quality(rows: Iterable[Row], setting: Setting) -> Iterator[Finding]:
    """Only a value below that of real text is lost quality: a test of `cr` is also significant for repeated phrases."""
    lower = [row for row in _lower(rows, setting) if row.rise in _FEWER_PHRASES and _differs(row) and _apart(row)]
    yield from (_beside_real(_FEWER_PHRASES[row.rise], row) for row in lower[:1])


def _reach(rows: Sequence[Row], setting: Setting) -> Iterator[Finding]:
    """Texts of one sample that are unlike those of the other; only if the test and the value agree.

    Noise and other topics cover little of the reference too, so this is about coverage, not diversity.
    """
    for effect, kind in _REACH.items():
        lower = [
            row
            for row in _lower(rows, setting)
            if row.rise == effect
            and (setting.sight.reliable or not row.reads_vectors)
            and (row.significant and _beyond(row) if _is_tested(row) else _apart(row))
        ]
        yield from (_beside_real(kind, row) for row in lower[:1])


def _lower(rows: Iterable[Row], setting: Setting) -> list[Row]:
    """Rows with values below those of real text; metrics that are tested come first, then those that are shares.

    Metrics that compare and have no test are left out if both parts of the reference share texts: real text then scores
    higher against itself than any independent sample of the same source would.
    """
    shares_texts = (setting.real_overlap or 0.0) >= COPIED
    found = [row for row in rows if row.moved < 0 and (_is_tested(row) or not shares_texts)]
    return sorted(found, key=lambda row: (not _is_tested(row), not _is_share(row), row.result.metric))


def _is_tested(row: Row) -> bool:
    metric = metric_of(row.result)
    return metric is not None and metric.test is not None


def _is_share(row: Row) -> bool:
    metric = metric_of(row.result)
    return metric is not None and metric.bounds[1] <= 1


def _copying(rows: Iterable[Row]) -> list[Finding]:
    found = [row for row in rows if row.rise == "more copies" and row.moved > 0 and _apart(row)]
    return [_beside_real("copies of the training file", row) for row in found]


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


def _beside_real(kind: str, row: Row) -> Finding:
    """A value beside that of real text, and on which texts both were measured."""
    condition = "equal lengths" if row.equal_lengths else "equal size" if row.like_real is not row.result else ""
    return Finding(
        kind,
        row.label,
        value=row.like_real.estimate,
        ends=ends(row.like_real),
        baseline=row.real.estimate,
        baseline_ends=ends(row.real),
        n=(row.real.n,),
        condition=condition,
    )
