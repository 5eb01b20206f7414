"""A verdict in plain words, made from intervals and adjusted tests only."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.inference.result import Result
from textassay.studies.comparison import Verdict
from textassay.studies.wording import number, plus_minus, share

# A sample is called collapsed when at least half of its texts repeat another one, beyond what real text does.
COLLAPSED = 0.5
# A significant difference within a tenth of the yardstick is called slight: large samples make everything significant.
SLIGHT = 0.9

# Which way a value moves when a sample becomes less diverse.
_LESS_DIVERSE = {"distinct": -1, "entropy": -1, "nrr": -1, "self_bleu": 1, "vendi": -1}
# What is said of two samples when one of these, the first that speaks, tells them apart.
_WORDS = ("word choice", ("ms_jaccard", "cnd"))
_MEANING = ("meaning", ("mmd", "energy", "frechet", "mauve"))
# What is said when shares of texts that lie among the other sample's fall below real text's own.
_REACH = (
    ("writes what the reference does not", ("precision", "density")),
    ("misses part of what the reference says", ("coverage", "recall")),
)


@dataclass(frozen=True)
class Row:
    """One metric of a candidate beside the yardstick; `significant` takes the whole table into account.

    `like_real` is the candidate's result on as many texts as the yardstick had; only that one compares with it.
    """

    label: str
    result: Result
    real: Result
    significant: bool
    like_real: Result


def judge(rows: Sequence[Row], *, resampled: bool, testable: bool) -> Verdict:
    """What can be said of a candidate; `testable` is False when no test could have become significant."""
    usable = [row for row in rows if row.result.undefined is None and row.real.undefined is None]
    by_metric: dict[str, list[Row]] = {}
    for row in usable:
        by_metric.setdefault(row.result.metric, []).append(row)
    collapse = _repetition(by_metric.get("repetition", ()), resampled)
    if not resampled:
        level = "collapsed" if collapse else "untested"
        return Verdict(level, (*collapse, "estimates only: no test was run"))
    words, same_words = _separation(by_metric, *_WORDS)
    meaning, same_meaning = _separation(by_metric, *_MEANING)
    reasons = [
        *collapse,
        *_diversity(usable),
        *words,
        *meaning,
        *_quality(by_metric),
        *_reach(by_metric),
        *_copying(by_metric.get("copying", ())),
    ]
    if reasons or any(row.significant for row in usable):
        level = "collapsed" if any(reason.startswith("collapsed") for reason in collapse) else "differs"
        close = [*same_words, *same_meaning] if testable else []
        return Verdict(level, (*reasons, *close) or ("differs from the reference",))
    return _nothing_found(rows, usable, testable)


def _nothing_found(rows: Sequence[Row], usable: Sequence[Row], testable: bool) -> Verdict:
    size = f" (n = {rows[0].result.n:,})" if rows else ""
    if not usable:
        return Verdict("untested", ("no metric could be computed on these texts",))
    if all(row.result.p_value is None for row in usable):
        return Verdict("untested", (f"no test was run: none of these metrics has one{size}",))
    if not testable:
        return Verdict("untested", (f"too few texts for any test to find a difference{size}",))
    return Verdict("same", (f"no difference from the reference found{size}",))


def _repetition(rows: Iterable[Row], resampled: bool) -> list[str]:
    for row in rows:
        value, real = row.like_real.estimate, row.real.estimate
        if value <= real or (resampled and not _differs(row)):
            continue
        parts = row.result.parts
        texts = "text" if parts["unique_texts"] == 1 else "texts"
        counted = (
            f"{share(row.result.estimate)} of texts repeat another one, {share(parts['exact'])} word for word"
            f" ({int(parts['unique_texts']):,} different {texts} of {row.result.n:,})"
        )
        if value >= COLLAPSED:
            return [f"collapsed: {counted}"]
        if resampled:
            return [f"repeats itself: {counted}; real text {share(real)}"]
    return []


def _diversity(rows: Sequence[Row]) -> list[str]:
    votes: dict[int, Row] = {}
    for name, sign in _LESS_DIVERSE.items():
        for row in rows:
            # The test says "not from one source"; which of the two is more diverse, only the values can say.
            if row.result.metric == name and _differs(row) and _moved(row) and not _overlap(row):
                votes.setdefault(-1 if _moved(row) * sign > 0 else 1, row)
    if len(votes) == 2:
        return [f"diversity differs in kind: lower by {_against(votes[-1])}, higher by {_against(votes[1])}"]
    # Reach alone decides nothing else: noise reaches little and is diverse, a copy reaches all and is not.
    reach = [row for row in rows if row.result.metric == "reverse_bleu" and _moved(row) < 0 and _apart(row)]
    if not votes and not reach:
        return []
    direction, row = next(iter(votes.items())) if votes else (-1, reach[0])
    return [f"{'less' if direction < 0 else 'more'} diverse than the reference ({_against(row)})"]


def _moved(row: Row) -> float:
    return row.like_real.estimate - row.real.estimate


def _separation(by_metric: Mapping[str, Sequence[Row]], what: str, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """What separates the samples, and what does not: one of the two lists is empty, both where nothing was tested."""
    tested = [row for name in names for row in by_metric.get(name, ()) if row.result.p_value is not None]
    apart = [row for row in tested if row.significant]
    if not apart:
        return [], [f"close in {what} ({_against(row, 'real v real')})" for row in tested[:1]]
    row = apart[0]
    slight = row.result.better == "higher" and row.like_real.estimate >= SLIGHT * row.real.estimate > 0
    extent = "slightly different" if slight else "different"
    return [f"{extent} in {what} ({_against(row, 'real v real')})"], []


def _reach(by_metric: Mapping[str, Sequence[Row]]) -> list[str]:
    """Texts beyond the other sample's; only where the test and the value beside real text agree."""
    found = []
    for said, names in _REACH:
        tested = [row for name in names for row in by_metric.get(name, ()) if row.significant]
        rows = [row for row in tested if _moved(row) < 0 and not _overlap(row)]
        found += [f"{said} ({_against(row, 'real v real')})" for row in rows[:1]]
    return found


def _quality(by_metric: Mapping[str, Sequence[Row]]) -> list[str]:
    """Only a value below real text's own is lost quality: a test of `cr` also fails who repeats what is common."""
    rows = [*(row for row in by_metric.get("cr", ()) if row.significant), *by_metric.get("bleu", ())]
    lower = [row for row in rows if row.like_real.estimate < row.real.estimate and _apart(row)]
    return [f"writes less of what is common in the reference ({_against(row, 'real v real')})" for row in lower[:1]]


def _copying(rows: Iterable[Row]) -> list[str]:
    return [
        f"copies: {share(row.like_real.estimate)} of texts stand verbatim in the training file"
        f" (real text {share(row.real.estimate)})"
        for row in rows
        if row.like_real.estimate > row.real.estimate and _apart(row)
    ]


def _differs(row: Row) -> bool:
    """By its test where it has one, otherwise by intervals that do not meet."""
    return row.significant if row.result.p_value is not None else _apart(row)


def _overlap(row: Row) -> bool:
    """True when the intervals are there and meet."""
    return row.like_real.interval is not None and row.real.interval is not None and not _apart(row)


def _apart(row: Row) -> bool:
    mine, real = row.like_real.interval, row.real.interval
    return mine is not None and real is not None and (mine.low > real.high or mine.high < real.low)


def _against(row: Row, real_name: str = "real") -> str:
    real = f"{real_name} {number(row.real.estimate)}"
    if row.real.interval is not None and not math.isnan(row.real.estimate):
        real += f" ± {plus_minus((row.real.interval.high - row.real.interval.low) / 2)}"
    size = f" at n = {row.real.n:,}" if row.like_real is not row.result else ""
    return f"{row.label} {number(row.like_real.estimate)}, {real}{size}"
