"""Sentences: the one place that makes words of findings. `SENTENCES` has one sentence per kind of finding.

Each is a text or a function of the finding. Kinds that several studies have come first, then those of
each study.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from textassay.corpus.printable import many, share, shortened
from textassay.document.words import cited_p, listed, listed_some, number, plus_minus, two_decimals

if TYPE_CHECKING:
    from textassay.studies.finding import Finding

# Members of the bank that are named in a verdict.
_MOST_NAMED = 4
_CLOSER = "closer to the reference than two independent samples are"
_STRIP = '--strip markdown (in Python strip="markdown") shows wording and diversity without it'
# What a gate measures its classifier with if no contaminant is given.
DEFAULT_CONTAMINANT = "its own texts with their words in random order"


def sentence_of(finding: "Finding") -> str:
    """A finding in words."""
    if finding.kind not in SENTENCES:
        raise ValueError(f"a finding of unknown kind {finding.kind!r}")
    sentence = SENTENCES[finding.kind]
    return sentence if isinstance(sentence, str) else sentence(finding)


def at_least(low: float) -> str:
    """A lower bound as a percentage, rounded down so that it stays one.

    >>> at_least(0.2789), at_least(0.0999), at_least(0.0004), at_least(1.0)
    ('27 %', '9.9 %', '0.04 %', '100 %')
    """
    if low < 0.001:
        return f"{math.floor(low * 10_000) / 100:g} %"
    digits = 2 if low >= 0.1 else 3
    return share(math.floor(low * 10**digits) / 10**digits)


def at_most(high: float) -> str:
    """An upper bound as a percentage, rounded up so that it stays one.

    >>> at_most(0.2711), at_most(0.0891), at_most(0.0004), at_most(1.0)
    ('28 %', '9.0 %', '0.1 %', '100 %')
    """
    digits = 2 if high >= 0.1 else 3
    return share(min(math.ceil(high * 10**digits - 1e-9) / 10**digits, 1.0))


def _cited(f: "Finding") -> str:
    """The p-value of the overall test, corrected for several candidates, and the sizes it comes from."""
    return f"overall test: {cited_p(f.adjusted_p, floor=f.floor)}, {_sizes(f)}"


def _sizes(f: "Finding") -> str:
    groups = f" in {f.part('groups'):,.0f} and {f.part('reference_groups'):,.0f} groups" if "groups" in f.parts else ""
    n, m = f.n
    return f"{n:,} and {m:,} texts{groups}"


def _needed(f: "Finding") -> str:
    """How many texts or groups there must be at least, where their number is the reason."""
    kind = "groups" if "groups" in f.parts else "texts"
    return f"; needs at least {f.part('needed'):,.0f} {kind} per sample" if "needed" in f.parts else ""


def _difference(f: "Finding") -> str:
    more = f" and {len(f.names) - _MOST_NAMED} more" if len(f.names) > _MOST_NAMED else ""
    by = f"; found by {', '.join(f.names[:_MOST_NAMED])}{more}" if f.names else ""
    # A warning is a sign that single texts may not be exchanged, which the test takes for granted.
    condition = ", if the texts are independent" if f.condition == "independent" else ""
    return f"differs from the reference{condition} ({_cited(f)}{by})"


def _repeated(f: "Finding") -> str:
    repeat = f"{share(f.value)} of texts repeat another one"
    if "unique_texts" not in f.parts:
        return repeat
    different = f"({many(int(f.parts['unique_texts']), 'different text')} of {f.n[0]:,})"
    if "exact" not in f.parts:
        return f"{repeat} word for word {different}"
    return f"{repeat}, {share(f.part('exact'))} word for word {different}"


def _in_reference(f: "Finding") -> str:
    real = "" if math.isnan(f.baseline) else f" (real text {share(f.baseline)})"
    return f"not an independent sample: {share(f.value)} of its texts are in the reference word for word{real}"


def _separable(f: "Finding") -> str:
    low = f.ends[0] if f.ends else 0.0
    # The bound counts texts as independent draws, as the test does.
    condition = ", under the same condition" if f.condition == "independent" else ""
    if not low:
        return f"{f.grade} difference{condition}: no share of its texts is surely unlike the reference's"
    return f"{f.grade} difference{condition}: at least {at_least(low)} of its texts are unlike the reference's"


def _words_differ(f: "Finding") -> str:
    size = f", at least {at_least(f.ends[0])} of its texts are unlike the reference's" if f.ends else ""
    cited = cited_p(f.adjusted_p, floor=f.floor)
    return f"Markdown differs; the words without it differ as well ({cited}{size}); {_STRIP}"


def _closer(f: "Finding") -> str:
    # Texts that are in both samples are the reason; without them the reason is not known.
    why = "some texts may be paraphrases of reference texts, or both samples may answer the same prompts"
    return _CLOSER if f.condition == "copies" else f"{_CLOSER}: {why}"


def _against(f: "Finding", real_name: str = "real") -> str:
    """A value beside that of real text."""
    real = f"{real_name} {number(f.baseline)}"
    if f.baseline_ends is not None and not math.isnan(f.baseline):
        real += f" ± {plus_minus((f.baseline_ends[1] - f.baseline_ends[0]) / 2)}"
    size = {
        "equal size": " at n = {:,}",
        "equal lengths": " in {:,} texts of each cut to equal lengths",
    }.get(f.condition, "")
    return f"{f.metric} {number(f.value)}, {real}{size.format(*f.n)}"


def _diverse(word: str) -> "Callable[[Finding], str]":
    """Vectors only show what the encoder represents, which is named: they hardly differ for words it does not know."""

    def worded(f: "Finding") -> str:
        return f"{word} diverse{_as_encoded(f) or ' than the reference'} ({_against(f)})"

    return worded


def _disagree(f: "Finding") -> str:
    lower, higher = f.among
    return f"diversity measures disagree: lower by {_against(lower)}, higher by {_against(higher)}"


def _settings(f: "Finding") -> str:
    """Settings, each with the metrics by which it is the best."""
    return "; ".join(f"{each.text} by {listed(each.names)}" for each in f.among)


def _among_the_best(f: "Finding") -> str:
    which = "any of these metrics" if f.part("metrics") > 1 else "this metric"
    return f"not distinguishable from the best by {which}: {f.text}"


def _every_setting(f: "Finding") -> str:
    cited = cited_p(f.adjusted_p, floor=f.floor, n_tests=int(f.part("tests")))
    return f"the overall test distinguishes every setting from the reference (largest {cited})"


def _gap(f: "Finding") -> str:
    estimated = f", estimated on {f.n[0]:,} texts" if f.n else ""
    return f"incompatible by at least {number(f.value)} ({share(f.part('drate'))} of the range of quality){estimated}"


def _divergence(f: "Finding") -> str:
    weight = Fraction(f.value).limit_denominator(1000)
    return f"compatible: {weight} quality + {1 - weight} diversity measures a divergence (Theorem 3)"


def _starts(f: "Finding") -> str:
    gap = "no better distribution" if math.isnan(f.value) else f"a gap of {number(f.value)}"
    return f"{f.n[0]} starts of the optimiser found {gap}"


def _unclear_gap(f: "Finding") -> str:
    return f"the gap is not distinguishable from 0 over {many(f.n[0], 'draw')} of texts and mixtures"


def _damages_found(f: "Finding") -> str:
    found = f"no test finds {listed(f.names)}" if f.names else "every damage is found by at least one test"
    return f"at {f.n[0]:,} texts {found}; the overall test finds {f.value:.0f} of {f.part('damages'):.0f}"


def _use_for(f: "Finding") -> str:
    """The tests that find a damage at the smallest strength, and whether the overall test does."""
    names = ", ".join(shortened(name, 40) for name in f.names[:_MOST_NAMED])
    more = f" and {len(f.names) - _MOST_NAMED} more" if len(f.names) > _MOST_NAMED else ""
    overall = "; the overall test misses it"
    if "overall" in f.parts:
        overall = "" if f.part("overall") == f.value else f"; the overall test from {f.part('overall'):g}"
    return f"{names}{more} (from strength {f.value:g}){overall}"


def _named(names: Sequence[str], most: int) -> str:
    """Names of systems or metrics, which may be long and many."""
    return listed_some([shortened(name, 40) for name in names], most)


def _closest_to_gold(f: "Finding") -> str:
    p = cited_p(f.adjusted_p, n_tests=int(f.part("tests")))
    agreeing, n = int(f.part("agreeing")), int(f.part("tests"))
    start = f"{agreeing} of {many(n, 'metric')}" if agreeing else "no metric"
    verb = "agrees" if agreeing < 2 else "agree"
    return (
        f"{start} significantly {verb} with the gold standard; closest to it: {_named(f.names, 6)}"
        f" (tau-b {two_decimals(f.value)}, {p})"
    )


def _inverts(f: "Finding") -> str:
    first, second = (shortened(name, 40) for name in f.names)
    return f"{f.value:.0f} of {many(f.n[0], 'pair')} in the wrong order, such as {first} above {second}"


def _within_margin(f: "Finding") -> str:
    return (
        f"at most {at_most(f.ends[1] if f.ends else 1.0)} of its texts are unlike the reference's (margin"
        f" {share(f.baseline)}), {_as_well_as(f)}"
    )


def _as_well_as(f: "Finding") -> str:
    """The condition of an upper bound: no number of texts bounds what no classifier finds."""
    return f"if a classifier recognises them as well as {_contaminant(f)}"


def _contaminant(f: "Finding") -> str:
    return f"the texts of “{shortened(f.text, 40)}”" if f.text else DEFAULT_CONTAMINANT


def _beyond_margin(f: "Finding") -> str:
    low, margin = at_least(f.ends[0]) if f.ends else "0 %", share(f.baseline)
    bound = f"more than {margin}" if low == margin and f.baseline else f"at least {low}"
    return f"{bound} of its texts are unlike the reference's (margin {margin})"


def _margin_undecided(f: "Finding") -> str:
    low, high = f.ends or (0.0, 1.0)
    above = f"at most {at_most(high)}"
    known = f"{above} of its texts are unlike the reference's, {_as_well_as(f)}"
    if low:
        known = f"at least {at_least(low)} of its texts are unlike the reference's, {above} {_as_well_as(f)}"
    if high >= 1:
        found = f"with {share(f.baseline)} of {_contaminant(f)} among them, a classifier separates"
        known = f"no upper bound of what is unlike the reference: {found} {share(max(f.part('found'), 0.0))}"
    return f"{known} (margin {share(f.baseline)}); {_texts_to_decide(f)}{_below_spread(f)}"


def _texts_to_decide(f: "Finding") -> str:
    """How many texts or groups decide, beside how many there are."""
    unit, needed, fewest = _unit(f), f.part("needed"), f.part("at least")
    if math.isfinite(needed):
        advice = f"about {round_number(needed):,} {unit}s per sample would decide"
    elif math.isfinite(fewest) or f.condition == "contaminant not found":
        least = f"at least {round_number(fewest):,} {unit}s per sample are needed to pass, and "
        more = least if fewest > min(f.n, default=0) else ""
        advice = f"{more}how many would decide is not known: with so few it does not clearly find them"
    else:
        advice = f"no number of {unit}s is likely to decide: the estimate is at the margin"
    return f"{advice}; these are {f.n[0]:,} and {f.n[1]:,}"


def _unit(f: "Finding") -> str:
    """What a gate counts: texts, or groups of them."""
    return f.names[0] if f.names else "text"


def _below_spread(f: "Finding") -> str:
    if "spread" not in f.parts:
        return ""
    spread = share(f.parts["spread"])
    return f"; the margin is below what two samples of one source of this size may differ by ({spread})"


def round_number(count: float) -> int:
    """A number of texts in two significant digits, rounded up.

    >>> round_number(817.2), round_number(12345), round_number(42)
    (820, 13000, 42)
    """
    unit = 10 ** max(math.floor(math.log10(max(count, 1))) - 1, 0)
    return math.ceil(count / unit) * unit


def _beside_baseline(f: "Finding") -> str:
    """The two values, and by how much the candidate is worse at most and at least."""
    values = f"{f.metric} {number(f.part('candidate'))}, baseline {number(f.part('baseline'))}"
    if "real" in f.parts:
        values += f", real text {number(f.part('real'))}"
    low, high = f.ends or (-math.inf, math.inf)
    return f"{values}; worse by {number(low)} to {number(high)} (margin {number(f.baseline)})"


def _enough(f: "Finding") -> str:
    needed = f.part("needed")
    if f.condition == "relative margin":
        return (
            "; how many texts would decide is not known, because this margin, a tenth of the baseline's value, changes"
            f" with their number; these are {f.n[0]:,}; --margin {f.metric}=N (in Python margins) sets one"
        )
    if not math.isfinite(needed):
        return "; no number of texts is likely to show that it is not: the estimate is not within the margin"
    return f"; about {round_number(needed):,} texts per sample would decide, these are {f.n[0]:,}"


def _changed(f: "Finding") -> str:
    """A change of a metric in a series: the run after it, and the runs between which it is at the level."""
    before, at, start, end = (shortened(name, 40) for name in f.names)
    rose = "rose" if f.value > f.baseline else "fell"
    way = f" ({f.text})" if f.text else ""
    exact = (start, end) == (before, at)
    between = "" if exact else f"; the change is between {start} and {end} at level {share(f.part('level'))}"
    values = f"from {number(f.baseline)} to {number(f.value)}{way}"
    p = cited_p(f.adjusted_p, floor=f.floor)
    return f"{shortened(f.metric, 60)} {rose} {values} at {at}, after {before} ({p}){between}"


def _rule(words: str) -> "Callable[[Finding], str]":
    """A rule of a gate, and the sentence of the verdict that breaks it."""

    def worded(f: "Finding") -> str:
        return f.text or words.format(_RULES[f.names[0]])

    return worded


# What a candidate can fail on.
_RULES = {
    "differs": "a difference from the reference",
    "collapsed": "a collapse",
    "copied": "copies of the reference",
    "format": "a difference in format",
}


def _rule_in_question(f: "Finding") -> str:
    rule = _RULES[f.names[0]]
    return f"{'is' if rule.startswith('a ') else 'are'} {rule}"


def _over_items(f: "Finding") -> str:
    """The value and, if it is not 0 by chance, the value by chance."""
    chance = "" if math.isnan(f.baseline) else f", by chance {number(f.baseline)}"
    cited = f"{f.metric} {number(f.value)}{chance}, adjusted {cited_p(f.adjusted_p, floor=f.floor)}"
    return f"distributed differently from the references ({cited})"


def _unlike_people(f: "Finding") -> str:
    way = "higher" if f.value > 0 else "lower"
    worse = f"{f.metric} {way} by {number(abs(f.value))} on parts of the same size, {cited_p(f.adjusted_p)}"
    return f"candidates differ more from the references than references differ from each other ({worse})"


def _not_distinguished(f: "Finding") -> str:
    cited = cited_p(f.adjusted_p, n_tests=int(f.part("tests")))
    return (
        f"no difference between human and model texts found ({cited}); "
        f"with {f.n[0]:,} items, only a score below {f.part('below'):.2f} would have been significant"
    )


def _rating_means(f: "Finding") -> str:
    means = f"mean rating {f.part('rating_model'):.2f} for the model, {f.part('rating_human'):.2f} for people"
    return f"HUSE-Q {f.value:.2f}; {means}"


_TIMES = ("never", "once", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def _times(n: int) -> str:
    """How often, in words up to twelve.

    >>> _times(2), _times(10), _times(64)
    ('twice', 'ten times', '64 times')
    """
    if n < len(_TIMES):
        return _TIMES[n] + (" times" if n > 2 else "")
    return f"{n:,} times"


def _one_answer(f: "Finding") -> str:
    often = _times(f.n[0]) if f.n[0] else "every time"
    return f"one answer, {often}, on {_of_prompts(f)}"


def _of_prompts(f: "Finding") -> str:
    return f"{f.value:,.0f} of {many(f.n[1], 'prompt')}"


def _per_prompt(f: "Finding") -> str:
    """The mean of the metric that ranks the systems."""
    span = f" ({number(f.ends[0])} to {number(f.ends[1])})" if f.ends else ""
    return f"{number(f.value)} {f.metric} per {f'{f.n[0]:,} answers' if f.n[0] else 'prompt'} on average{span}"


def _less_varied(f: "Finding") -> str:
    way = "lower" if f.value < 0 else "higher"
    on = f"{f.metric} {way} by {number(abs(f.value))} on {many(f.n[0], 'prompt')}"
    return f"less varied than {shortened(f.names[0], 40)}: {on} ({cited_p(f.adjusted_p)})"


def _count_differ(f: "Finding") -> str:
    """How many candidates differ, or how many do not."""
    same, differ, n = int(f.value), int(f.part("differ")), f.n[0]
    if differ == n:
        return f"{'both' if n == 2 else f'all {n}'} candidates differ from the reference"
    if not same:
        return f"{differ} of {n} candidates {'differs' if differ == 1 else 'differ'} from the reference"
    if same == n:
        return f"{'neither' if n == 2 else 'none'} of {n} candidates was found to differ"
    return f"{same} of {n} candidates {'was' if same == 1 else 'were'} not found to differ"


def _closest(f: "Finding") -> str:
    first, *others = (shortened(name, 40) for name in f.names)
    if not others:
        return f"closest: {first}"
    return f"closest: {listed_some([first, *others], 3)} (tied)"


def _who(f: "Finding", one: str, more: str) -> str:
    """Candidates by name, or their number if they are many."""
    few = listed([shortened(name, 40) for name in f.names]) if len(f.names) <= 2 else str(len(f.names))
    return f"{few} {one if len(f.names) == 1 else more}"


_ADVERBS = {"slight": "slightly", "clear": "clearly", "large": "strongly"}


def _alone(f: "Finding", *, decision: str) -> str:
    """The outcome of a comparison of one candidate."""
    name = f"“{shortened(f.names[0], 60)}”"
    behind = f.among[0] if f.among else None
    if decision == "same":
        return f"no difference between {name} and the reference was found"
    if decision == "differs" and f.grade:
        low = f.ends[0] if f.ends else 0.0
        share_of = f": at least {at_least(low)} of its texts are unlike the reference's" if low else ""
        return f"{name} differs {_ADVERBS.get(f.grade, '')} from the reference{share_of}"
    worded = {
        "differs": "differs from the reference",
        "collapsed": "has collapsed",
        "copied": "contains texts copied from the reference",
    }.get(decision, "was not tested against the reference")
    because = f": {brief(behind)}" if behind is not None and decision != "differs" else ""
    return f"{name} {worded}{because}"


def brief(f: "Finding") -> str:
    """A finding in a few words where its sentence is long, for a summary."""
    short = _BRIEF.get(f.kind)
    if short is None:
        return sentence_of(f)
    return short if isinstance(short, str) else short(f)


def _as_encoded(f: "Finding") -> str:
    """What vectors represent, for diversity that only they show."""
    return f" in {f.names[0]} as the encoder measures it" if f.names else ""


def _beside(f: "Finding") -> str:
    return f"{f.metric} {number(f.value)}, real {number(f.baseline)}"


_BRIEF: "Mapping[str, str | Callable[[Finding], str]]" = {
    "collapsed": _repeated,
    "repeats": lambda f: f"{share(f.value)} of its texts repeat another one (real text {share(f.baseline)})",
    "copies of the reference": lambda f: f"{share(f.value)} of its texts are in the reference word for word",
    "too few texts": lambda f: f"{_sizes(f)} are too few to find any but very large differences{_needed(f)}",
    "detectable share": lambda f: (
        f"a difference in {share(f.value)} or more of its texts would probably have been found"
    ),
    "closest settings": lambda f: f"closest to the reference: {_settings(f) if len(f.names) > 1 else f.names[0]}",
    "every setting differs": "every setting differs from the reference",
    "closer": _CLOSER,
    "hidden by copies": "copies hide differences: compare again without them",
    "markup alone": lambda f: f"without Markdown no difference is found ({cited_p(f.adjusted_p)})",
    "markup and words differ": lambda f: (
        "the words without Markdown differ as well"
        + (f": at least {at_least(f.ends[0])} unlike the reference's" if f.ends else "")
    ),
    "less diverse": lambda f: f"less diverse{_as_encoded(f)} ({_beside(f)})",
    "more diverse": lambda f: f"more diverse{_as_encoded(f)} ({_beside(f)})",
    "diversity unclear": "diversity measures disagree",
    "fewer common phrases": lambda f: f"fewer common phrases ({_beside(f)})",
    "fewer known phrases": lambda f: f"fewer of its phrases are known ({_beside(f)})",
    "unlike the reference": lambda f: f"texts unlike any in the reference ({_beside(f)})",
    "uncovered": lambda f: f"parts of the reference are not covered ({_beside(f)})",
}


def _named_sample(name: str) -> str:
    return "the reference" if name == "reference" else f"“{shortened(name, 30)}”"


SENTENCES: "Mapping[str, str | Callable[[Finding], str]]" = {
    # All studies.
    "no test": "estimates only: no test was run",
    "not tested": lambda f: f.text,
    "caution": lambda f: f.text,
    # A sign that texts are not independent; the condition is the option that helps.
    "dependence": lambda f: f"{'caution' if f.condition else 'note'}: {f.text}",
    "encoder": lambda f: f"{f.text}, so nothing is said about {f.metric}; choose an encoder that reads these texts",
    "stated": lambda f: f.text,
    # Comparisons.
    "lost": lambda f: f"left out of {_named_sample(f.names[0])}: {f.text}, of {f.n[1]:,} records",
    "broken texts": lambda f: (
        f"lines of {listed([_named_sample(name) for name in f.names])} look like parts of longer texts, and each was"
        " read as a text: write texts of several lines to a .jsonl, .csv or .parquet file"
    ),
    "quick run": lambda f: (
        f"quick run: {f.n[0]:,} exchanges at first and not all metrics; p-values are coarser than in a full run"
    ),
    "collapsed": lambda f: f"collapsed: {_repeated(f)}",
    "repeats": lambda f: f"repeats itself: {_repeated(f)}; real text {share(f.baseline)}",
    "copies of the reference": _in_reference,
    "copies of the training file": lambda f: (
        f"copies: {share(f.value)} of texts are in the training file word for word (real text {share(f.baseline)})"
    ),
    "differs": _difference,
    "no difference": lambda f: f"no difference found ({_cited(f)})",
    "hidden by copies": lambda f: (
        f"no difference found ({_cited(f)}), but copies hide differences: compare again without them"
    ),
    "too few texts": lambda f: f"too few texts to find any but very large differences ({_cited(f)}){_needed(f)}",
    "detectable share": lambda f: (
        f"{share(f.value)} or more of texts that a classifier recognises would probably have been found"
    ),
    "closer": _closer,
    "separable share": _separable,
    "no separable share": lambda f: f"how many of its texts are unlike the reference's is not known: {f.text}",
    "format differs": lambda f: (
        f"the format differs {'in other ways ' if f.condition else ''}as well (see the format findings),"
        " which may explain the difference or a part of it"
    ),
    "markup differs": f"Markdown differs; {_STRIP}",
    "markup alone": lambda f: (
        f"Markdown may explain the difference: without it, none is found ({cited_p(f.adjusted_p)}); {_STRIP}"
    ),
    "markup and words differ": _words_differ,
    "candidates": _count_differ,
    "closest": _closest,
    "collapsed candidates": lambda f: _who(f, "has collapsed", "have collapsed"),
    "copied candidates": lambda f: _who(f, "contains copies of the reference", "contain copies of the reference"),
    "untested candidates": lambda f: (
        "estimates only: no test was run" if len(f.names) == f.n[0] else _who(f, "was not tested", "were not tested")
    ),
    **{
        f"candidate {decision}": partial(_alone, decision=decision)
        for decision in ("same", "differs", "collapsed", "copied", "untested")
    },
    "less diverse": _diverse("less"),
    "more diverse": _diverse("more"),
    "diversity unclear": _disagree,
    "fewer common phrases": lambda f: f"uses the reference's common phrases less often ({_against(f, 'real v real')})",
    # A long text may contain all phrases of the reference, and others besides.
    "fewer known phrases": lambda f: f"fewer of its phrases are in the reference ({_against(f, 'real v real')})",
    "unlike the reference": lambda f: f"produces texts unlike any in the reference ({_against(f, 'real v real')})",
    "uncovered": lambda f: f"leaves parts of the reference uncovered ({_against(f, 'real v real')})",
    # Gates.
    "within margin": _within_margin,
    "beyond margin": _beyond_margin,
    "margin undecided": _margin_undecided,
    "no margin": lambda f: (
        f"{f.n[0]:,} and {f.n[1]:,} {_unit(f)}s are too few for a classifier: it needs at least 20 {_unit(f)}s per"
        " sample, and textassay plan finds how many decide"
    ),
    "rule kept": _rule("no sign of {}"),
    "rule broken": _rule("{}"),
    "rule undecided": lambda f: f"not known whether there {_rule_in_question(f)}{': ' if f.text else ''}{f.text}",
    "no worse": lambda f: f"no worse than the baseline: {_beside_baseline(f)}",
    "worse than baseline": lambda f: f"worse than the baseline: {_beside_baseline(f)}",
    "worse undecided": lambda f: f"not known whether it is worse: {_beside_baseline(f)}{_enough(f)}",
    "worse not known": lambda f: f"not known whether it is worse: {f.metric}: {f.text}",
    "same as baseline": "the same texts as the baseline",
    # Items with several candidates and references.
    "one answer": lambda f: f"one answer: all candidates are the same text on {f.n[0]:,} of {many(f.n[1], 'item')}",
    "too narrow": "too narrow: candidates vary less than the references do",
    "too wide": "too wide: candidates vary more than the references do",
    "off target": "off target: candidates and references form separate groups",
    "too close": ("too close: candidates are nearer to the references than another sample would be; are they copies?"),
    "differs over items": _over_items,
    "unlike people": _unlike_people,
    "score beside people": lambda f: (
        f"{f.metric} {'lower' if f.value < 0 else 'higher'} than that of people (by {number(abs(f.value))})"
    ),
    "same over items": "no difference from the references found",
    "too few items": "too few items, candidates or references for any test to find a difference",
    "spread untested": (
        "no difference found in mean scores; spread was not tested, which needs two candidates and two references"
    ),
    # HUSE.
    "distinguished": lambda f: (
        f"human and model texts can be distinguished ({share(f.value)} are classified correctly,"
        f" {cited_p(f.adjusted_p, n_tests=int(f.part('tests')))})"
    ),
    "not distinguished": _not_distinguished,
    "quality differs": lambda f: f"they differ in quality: ratings alone distinguish them ({_rating_means(f)})",
    "quality does not differ": lambda f: f"ratings alone do not distinguish them ({_rating_means(f)})",
    "diversity differs": lambda f: (
        f"they differ in diversity: the model's probabilities add to what ratings show (HUSE-D {f.value:.2f})"
    ),
    "no loss of diversity": lambda f: (
        f"no loss of diversity found (HUSE-D {f.value:.2f}, interval up to {(f.ends or (0.0, math.inf))[1]:.2f})"
    ),
    "no score": "no test was run: no score is defined",
    "no test of diversity": "no test was run: HUSE-D has none (ask for huse and huse_q too)",
    "too few resamples": lambda f: (
        f"{f.n[0]:,} resamples are too few for any test to be significant; at least {f.n[1]:,} are needed"
    ),
    # Answers to one prompt.
    "one answer to prompts": _one_answer,
    "one wording": lambda f: f"one wording on {_of_prompts(f)}",
    "one meaning": lambda f: f"one meaning on {_of_prompts(f)}",
    "per prompt": _per_prompt,
    "less varied": _less_varied,
    "no prompt twice": "no prompt with several answers",
    # Plans.
    "size to pass": lambda f: (
        f"about {round_number(f.value):,} {f.text}s per sample: two samples of one source then pass a margin of"
        f" {share(f.baseline)} in {share(f.part('power'))} of gates"
    ),
    "size to decide": lambda f: (
        f"about {round_number(f.value):,} {f.text}s per sample: a gate at {share(f.baseline)} is then decided in"
        f" {share(f.part('power'))} of cases"
    ),
    "no size decides": lambda f: (
        f"no number of {f.text}s is likely to decide: what a classifier separates is at the margin of"
        f" {share(f.baseline)}"
    ),
    "contaminant not found": lambda f: (
        f"how many {f.text}s decide is not known: with {f.n[0]:,} {f.text}s per sample and {share(f.baseline)} of the"
        f" contaminant among them, a classifier separates {share(max(f.value, 0.0))}, which is not clearly above 0"
        + (f"; at least {round_number(f.part('at least')):,} are needed to pass" if f.part("at least") > f.n[0] else "")
    ),
    "measured gates": lambda f: (
        f"with {f.n[0]:,} {f.text}s per sample, {share(f.part('passed'))} of {f.part('trials'):,.0f} trials passed and"
        f" {share(f.part('failed'))} failed"
    ),
    "extrapolated size": lambda f: (
        f"samples of at most {f.n[0]:,} {f.text}s could be drawn, so {round_number(f.n[1]):,} is extrapolated"
    ),
    "margin below spread": lambda f: (
        f"the margin of {share(f.baseline)} is below what two samples of {f.n[0]:,} {f.text}s of one source may differ"
        f" by ({share(f.value)}): with so few, few gates pass ({share(f.part('passed'))} of the trials)"
    ),
    # Histories.
    "changed": _changed,
    "no change": lambda f: (
        f"no change found in {many(f.n[1], 'metric')} over {many(f.n[0], 'run')} ({cited_p(f.adjusted_p)}"
        " for the clearest one)"
    ),
    "not in all runs": lambda f: (
        f"not followed: {listed_some([shortened(name, 40) for name in f.names], _MOST_NAMED)}, which not all runs have"
        f" (missing in {shortened(f.text, 120)})"
    ),
    "untested series": lambda f: (
        f"not tested: {listed_some([shortened(name, 40) for name in f.names], _MOST_NAMED)} ({shortened(f.text, 120)})"
    ),
    # Sweeps.
    "best setting": lambda f: f"{f.text} by {listed(f.names)}",
    "closest settings": lambda f: f"closest to the reference: {_settings(f)}",
    "among the best": _among_the_best,
    "different best settings": "no setting is among the best by all of these metrics: they prefer different settings",
    "best quality": lambda f: f"quality alone is best at {_settings(f)}",
    "best diversity": lambda f: f"diversity is best at {_settings(f)}",
    "alike settings": lambda f: f"the overall test found no difference from the reference at {f.text}",
    "every setting differs": _every_setting,
    "alike over items": lambda f: f"the combined tests found no difference from the references at {f.text}",
    "every setting differs over items": "the combined tests distinguish every setting from the references",
    "some untested": "some settings could not be tested",
    "best at an end": lambda f: (
        f"{listed(f.names)} {'is' if len(f.names) == 1 else 'are'} best at an end of the grid: try a wider one"
    ),
    # Stress tests.
    "damages found": _damages_found,
    "use for": _use_for,
    "found by none": "no test finds it",
    "misses": lambda f: f"misses {listed(f.names)}",
    "praises": lambda f: f"rates damaged text better than real text: {listed(f.names)}",
    "false alarms": lambda f: (
        f"these tests reject undamaged text in more than {100 * f.value:.3g} % of draws, so that their power is too"
        " high: " + listed([f"{shortened(name, 40)} {share(f.parts[name])}" for name in f.names])
    ),
    "few runs": lambda f: (
        f"with {f.n[0]} runs a power has a standard error of up to {number(f.value)}: use more (--runs)"
    ),
    # Agreement of metrics.
    "no correlation": "no metric has a correlation with the gold standard",
    "closest to gold": _closest_to_gold,
    "inverts": _inverts,
    "few systems": lambda f: f"with {f.n[0]} systems only a nearly perfect order can be significant: compare more",
    "no number": lambda f: f"no number for {listed([shortened(name, 40) for name in f.names])}: {f.text}",
    "not dominated": lambda f: (
        f"in the plane of {shortened(f.metric, 40)} and {shortened(f.text, 40)}, no other system dominates"
        f" {_named(f.names, 12)}"
    ),
    "dominated": lambda f: f"{shortened(f.text, 40)} is dominated by {_named(f.names, 4)}",
    "dominates sweep": lambda f: (
        f"sweep {shortened(f.names[0], 40)} dominates {share(f.value)} of the systems of sweep"
        f" {shortened(f.names[1], 40)}"
    ),
    # Pairs of metrics.
    "divergence": _divergence,
    "cnd": "compatible: CND is its divergence (section 5.2)",
    "gap": _gap,
    "on the frontier": (
        "incompatible in general (Theorem 3 does not hold), but the real distribution is on the frontier here"
    ),
    "pair not decided": lambda f: f"not decided: {f.text}",
    "larger probabilities": lambda f: (
        f"not decided: no better distribution has probabilities up to {f.value:.3g} only,"
        " and others were not considered"
    ),
    "starts": _starts,
    "starts without result": lambda f: f"not decided: {_starts(f)}",
    "gap by sampling": lambda f: (
        f"the estimate ({share(max(f.value, 0.0))} of the range of quality) is due to sampling {f.n[0]:,} texts"
    ),
    "unclear gap": _unclear_gap,
    "gap not decided": lambda f: f"not decided: {_unclear_gap(f)}",
}
