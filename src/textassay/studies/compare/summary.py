"""The summary of a comparison: the candidates by closeness to the reference, why they differ, and caveats."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import Cell, Summary, SummaryRow
from textassay.document.results import cell_text, result_cell
from textassay.document.words import listed, number, sentence
from textassay.inference.format_check import Finding as FormatFinding
from textassay.inference.p_values import is_significant
from textassay.studies.compare.aspects import POINTS, Aspect, aspects, repeats
from textassay.studies.compare.caveats import LENGTH, caveats, form_gap, kind_words
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.meaning_blocks import region_name
from textassay.studies.compare.phrase_blocks import as_written, telling
from textassay.studies.compare.plots import plane_chart, separable_plot
from textassay.studies.compare.ranking import SEPARABLE, Ranked, Ranking, outcome
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.finding import Finding
from textassay.studies.gate.document import gate_words
from textassay.studies.outcome import known
from textassay.studies.sentences import at_least, brief, sentence_of

# A reason should fit on a line of a terminal of 80 columns, behind the rank.
_WIDTH = 74
_MOST_REASONS = 3
# Shares of repeated real texts that are worth a word.
_REPEATS = 0.005


def summary(found: Comparison, order: Ranking) -> Summary:
    """The answer of a comparison."""
    axes = aspects(found)
    has_repeats = any(repeats(found, column) is not None for column in found.candidates)
    has_share = order.by == SEPARABLE
    ranked_by = order.by if order.by and not has_share else ""
    columns = (
        *(["separable"] if has_share else []),
        *([shortened(ranked_by, 24)] if ranked_by else []),
        *(axis.title for axis in axes),
        *(["repeats"] if has_repeats else []),
    )
    picture = separable_plot(order) or getattr(plane_chart(found), "plot", None)
    return Summary(
        question=_question(found),
        context="; ".join(_context(found)),
        reading="; ".join(_reading(found, axes)),
        sentence=_sentence(found, order),
        columns=columns,
        rows=tuple(_row(found, order, ranked, axes, has_repeats=has_repeats) for ranked in order.rows),
        ties=tuple(_ties(order)),
        caveats=caveats(found),
        hints=("All metrics: --table", "Reasons and notes: --why", "Report: --report FILE.html"),
        picture=picture,
    )


def _question(found: Comparison) -> str:
    name = shortened(found.reference.name, 60)
    reference = "the reference" if name == "reference" or found.reference.name in found.names else name
    if len(found) == 1:
        return f"Is {shortened(found.names[0], 60)} distributed like {reference}?"
    return f"Which candidate is distributed most like {reference}?"


def _sentence(found: Comparison, order: Ranking) -> str:
    """The decision of the gate, if there is one, and the outcome."""
    said = sentence("; ".join(map(sentence_of, outcome(found, order))))
    return said if found.gate is None else f"{gate_words(found.gate)}. {said}"


def _context(found: Comparison) -> Iterator[str]:
    """Sizes, and the design."""
    sizes = {column.n for column in found.candidates}
    if sizes == {found.reference.n}:
        yield f"{many(found.reference.n, 'text')} each"
    else:
        of_candidates = f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")
        yield f"{many(found.reference.n, 'text')} of the reference, {of_candidates} of {_candidates(found)}"
    design = next((_DESIGNS[kind] for kind in _designs(found) if kind in _DESIGNS), "")
    if design:
        field = found.settings.get("groups")
        yield f"{design} by {shortened(str(field), 40)}" if field else design


def _reading(found: Comparison, axes: Sequence[Aspect]) -> Iterator[str]:
    """What the columns of quality and diversity are, and how much real text repeats."""
    in_points = all(axis.unit == POINTS for axis in axes)
    labels = [shortened(axis.label, 30) for axis in axes]
    named = [
        axis.title if axis.title == label else f"{axis.title} ({label if in_points else axis.unit.behind(label)})"
        for axis, label in zip(axes, labels, strict=True)
    ]
    if named:
        without = ", without Markdown where it differs" if _has_words_alone(found, axes) else ""
        yield f"{listed(named)} beside real text{', in points' if in_points else ''}{without}"
    pairs = [pair for column in found.candidates if (pair := repeats(found, column)) is not None]
    if pairs and pairs[0][1] >= _REPEATS:
        yield f"real text repeats {share(pairs[0][1])}"


def _has_words_alone(found: Comparison, axes: Sequence[Aspect]) -> bool:
    """Whether a candidate that differs in Markdown has a value without it."""
    differing = [column for column in found.candidates if column.markup_differs]
    return any(axis.gap(found, column) is not None for column in differing for axis in axes)


_DESIGNS = {"paired": "paired", "grouped": "grouped", "paired+grouped": "paired and grouped"}


def _designs(found: Comparison) -> set[str]:
    return {column.overall.design for column in found.candidates if column.overall is not None}


def _candidates(found: Comparison) -> str:
    return "the candidate" if len(found) == 1 else "each candidate"


def _ties(order: Ranking) -> Iterator[str]:
    """The ranks that are not told apart, in one line."""
    if order.ties:
        ranks = [f"{first} and {last}" if last == first + 1 else f"{first} to {last}" for first, last in order.ties]
        more = f"; and {len(ranks) - 6} more groups" if len(ranks) > 6 else ""
        yield f"Tied in {shortened(order.by, 40)}: {'; '.join(ranks[:6])}{more}"


def _row(found: Comparison, order: Ranking, ranked: Ranked, axes: Sequence[Aspect], *, has_repeats: bool) -> SummaryRow:
    column = ranked.column
    size = column.verdict.find("separable share") if column.verdict else None
    cells = [
        *([_separable_cell(column)] if order.by == SEPARABLE else []),
        *([_metric_cell(found, order.by, column)] if order.by and order.by != SEPARABLE else []),
        *(gap_cell(found, column, axis) for axis in axes),
        *([_repeats_cell(found, column)] if has_repeats else []),
    ]
    return SummaryRow(
        column.name,
        ranked.index,
        ranked.decision,
        size.grade if size is not None else "",
        ranked.rank,
        tuple(cells),
        stands_out(column, found.level),
        tuple(why(column, found.level)),
    )


def summary_rows(found: Comparison, order: Ranking) -> Iterator[dict[str, Any]]:
    """The summary as plain values, with None for what is not known; `SUMMARY_FIELDS` are their names."""
    axes = {axis.name: axis for axis in aspects(found)}
    for ranked in order.rows:
        column = ranked.column
        share_of = column.overall.separable if column.overall is not None else None
        size = column.verdict.find("separable share") if column.verdict else None
        pair = repeats(found, column)
        gaps = {name: axis.gap(found, column) for name, axis in axes.items()}
        yield {
            "rank": ranked.rank,
            "candidate": column.name,
            "decision": ranked.decision,
            "grade": size.grade if size is not None else None,
            "separable": share_of.estimate if share_of else None,
            "separable_low": share_of.low if share_of else None,
            "repeats": known(pair[0]) if pair else None,
            "stands_out": stands_out(column, found.level),
        } | {name: axes[name].unit.factor * gap.value for name, gap in gaps.items() if gap is not None}


def _separable_cell(column: Column) -> Cell:
    """The separable share with its lower bound where that is above 0; a dash without one."""
    found = column.overall.separable if column.overall is not None else None
    if found is None or found.estimate is None or found.low is None:
        return Cell("–")
    value = max(found.estimate, 0.0)
    low = at_least(found.low).removesuffix(" %")
    return Cell(share(value), value, spread=f"(at least {low})" if found.low else "")


def _metric_cell(found: Comparison, label: str, column: Column) -> Cell:
    result = column.results[found.labels.index(label)]
    return result_cell(column.beside_real(label, result), level=found.level)


def gap_cell(found: Comparison, column: Column, axis: Aspect) -> Cell:
    """How much more quality or diversity a candidate has than real text.

    It is as real text where the overall test found no difference, or where the gap is smaller than its uncertainty, no
    test of these values is significant, and the verdict names no difference in this aspect.
    """
    gap = axis.gap(found, column)
    if gap is None:
        return Cell("–")
    value = axis.unit.factor * gap.value
    values = (cell_text(result_cell(each, level=found.level)) for each in (gap.candidate, gap.real))
    detail = "{}; real text {}".format(*values)
    is_same = column.verdict is not None and column.verdict.decision == "same"
    is_found = _found_to_differ(column, axis) or _is_marked(column, axis, found.level)
    if is_same or not value or (not gap.is_clear and gap.half and not is_found):
        return Cell("as real", value, detail=detail)
    return Cell(_signed(value, in_points=axis.unit == POINTS), value, detail=detail)


def _signed(value: float, *, in_points: bool) -> str:
    """A difference with its sign; one of less than a tenth of a point with the digits that it needs.

    >>> _signed(-12.3, in_points=True), _signed(1.26, in_points=True), _signed(-0.0016, in_points=True)
    ('-12', '+1.3', '-0.00160')
    """
    if in_points and abs(value) >= 0.05:
        return f"{value:+.{0 if abs(value) >= 9.95 else 1}f}"
    return f"{'+' if value > 0 else ''}{number(value)}"


def _found_to_differ(column: Column, axis: Aspect) -> bool:
    """Whether the verdict names a difference in this aspect, by any metric: "as real" beside it would contradict it."""
    return column.verdict is not None and column.verdict.find(*_DIFFERENCES.get(axis.title, ())) is not None


def _is_marked(column: Column, axis: Aspect, level: float) -> bool:
    """Whether the table of metrics marks the values that are compared: at equal lengths and without Markdown they are
    others.
    """
    is_shown = axis.label not in column.equal_lengths.results and not column.markup_differs
    return is_shown and is_significant(column.adjusted[axis.index], level)


_DIFFERENCES = {
    "quality": ("unlike the reference", "fewer known phrases", "fewer common phrases"),
    "coverage": ("uncovered",),
    "diversity": ("less diverse", "more diverse", "diversity unclear"),
}


def _repeats_cell(found: Comparison, column: Column) -> Cell:
    pair = repeats(found, column)
    if pair is None or pair[0] != pair[0]:
        return Cell("–")
    mine, real = pair
    return Cell(share(mine), mine, detail=f"real text {share(real)}")


# What stands out, and why.


def stands_out(column: Column, level: float) -> str:
    """The largest differences of a candidate in one short phrase; nothing where none was found."""
    if not _differs(column):
        return ""
    parts = [_repeated(column), _form_phrase(column), _one_phrase(column) or _one_topic(column, level)]
    return "; ".join([part for part in parts if part][:2])


def _differs(column: Column) -> bool:
    return column.verdict is not None and column.verdict.decision in ("differs", "collapsed", "copied")


def _repeated(column: Column) -> str:
    found = column.verdict.find("collapsed", "copies of the reference") if column.verdict else None
    if found is None:
        return ""
    if found.kind == "collapsed" and "unique_texts" in found.parts:
        return f"{int(found.part('unique_texts')):,} different texts of {found.n[0]:,}"
    return f"{share(found.value)} {'repeat' if found.kind == 'collapsed' else 'copied'}"


def _form_findings(column: Column) -> list[FormatFinding]:
    """Differences in format that metrics see: length, then the widest gap."""
    found = [finding for finding in column.findings if not finding.harmless]
    return sorted(found, key=lambda finding: (finding.kind != LENGTH, -form_gap(finding)))


def _is_plural(words: str) -> bool:
    """Whether these words are counted: "fewer" of them, not "less".

    >>> _is_plural("HTML tags"), _is_plural("texts of the greatest length"), _is_plural("upper case")
    (True, True, False)
    """
    return words.endswith("s") or words.partition(" ")[0].endswith("s")


def _form_phrase(column: Column) -> str:
    """Two differences in form, such as "longer, more bold"."""
    parts = []
    for finding in _form_findings(column)[:2]:
        more = finding.candidate_share > finding.reference_share
        if finding.kind == LENGTH:
            parts.append("longer" if more else "shorter")
        else:
            words = kind_words(finding)
            parts.append(f"{'more' if more else 'fewer' if _is_plural(words) else 'less'} {words}")
    return ", ".join(parts)


def _one_phrase(column: Column) -> str:
    """The clearest phrase that it writes too often, or too rarely, with its counts."""
    phrases = telling(column.over)[:1] or telling(column.under)[:1]
    return "".join(
        f"“{as_written(phrase)}” {phrase.candidate_count:,} v {phrase.reference_count:,}" for phrase in phrases
    )


def _one_topic(column: Column, level: float) -> str:
    if column.meaning is None:
        return ""
    over, under = column.meaning.over(level)[:1], column.meaning.under(level)[:1]
    said = [f"more about {region_name(region)}" for region in over] or [f"less about {region_name(r)}" for r in under]
    return shortened("".join(said), 60)


# Findings that change what the row means come before how the texts differ.
_FIRST = (
    "collapsed", "repeats", "copies of the reference", "hidden by copies", "too few texts", "not tested", "closer",
    "detectable share", "markup alone", "copies of the training file",
)  # fmt: skip
_LAST = (
    "markup and words differ", "less diverse", "more diverse", "diversity unclear", "fewer common phrases",
    "fewer known phrases", "unlike the reference", "uncovered", "stated",
)  # fmt: skip


def why(column: Column, level: float) -> Iterator[str]:
    """At most three reasons, a line each: what the verdict depends on, form, words, topics, and how it differs."""
    lines = [
        *_findings(column, _FIRST),
        *([_form_line(column), _word_line(column), _topic_line(column, level)] if _differs(column) else []),
        *_findings(column, _LAST),
    ]
    yield from [line for line in lines if line][:_MOST_REASONS]


def _findings(column: Column, kinds: Sequence[str]) -> Iterator[str]:
    found: Iterable[Finding] = column.verdict.findings if column.verdict is not None else ()
    yield from (brief(finding) for finding in found if finding.kind in kinds)


@dataclass
class _Line:
    """A line that takes parts while there is room; `text` begins with its head."""

    text: str
    is_empty: bool = True

    def add(self, part: str, *, joint: str = ", ") -> bool:
        """Add a part, with its joint unless it is the first; False if there is no room."""
        longer = f"{self.text}{' ' if self.is_empty else joint}{part}"
        if len(longer) > _WIDTH and not self.is_empty:
            return False
        self.text, self.is_empty = longer, False
        return True


def _form_line(column: Column) -> str:
    line, findings = _Line("form:"), _form_findings(column)
    for index, finding in enumerate(findings):
        reference = "" if index else "reference "
        if finding.candidate_mean is not None and finding.reference_mean is not None:
            words = many(round(finding.candidate_mean), "word")
            part = f"{words} per text ({reference}{finding.reference_mean:,.0f})"
        else:
            shares = f"{share(finding.candidate_share)} ({reference}{share(finding.reference_share)})"
            part = f"{'longer texts' if finding.kind == LENGTH else kind_words(finding)} {shares}"
        if not line.add(part):
            break
    return line.text if findings else ""


def _word_line(column: Column) -> str:
    """Phrases that are too frequent, then those that are too rare, with their counts."""
    line = _Line("words:")
    over, under = telling(column.over), telling(column.under)
    for index, phrase in enumerate(over[: 2 if under else 6]):
        line.add(_counted(phrase, "more" if not index else "", first=not index))
    for index, phrase in enumerate(under[:6]):
        word, joint = ("fewer" if not index else ""), ("; " if not index else ", ")
        if not line.add(_counted(phrase, word, first=not index and not over), joint=joint):
            break
    return line.text if over or under else ""


def _counted(phrase: Phrase, word: str, *, first: bool) -> str:
    reference = "reference " if first else ""
    counts = f"{phrase.candidate_count:,} ({reference}{phrase.reference_count:,})"
    return f"{word} “{as_written(phrase)}” {counts}".strip()


def _topic_line(column: Column, level: float) -> str:
    if column.meaning is None:
        return ""
    line, first = _Line("topics:"), True
    for word, regions in (("more on", column.meaning.over(level)), ("fewer on", column.meaning.under(level))):
        for index, region in enumerate(regions[:2]):
            shares = f"{share(region.candidate_share)} ({'reference ' if first else ''}{share(region.reference_share)})"
            name = ", ".join(region.words[:2]) if region.words else region_name(region, 36)
            part = f"{word} {shortened(name, 40)} {shares}" if not index else f"{shortened(name, 40)} {shares}"
            line.add(part, joint=", " if index else "; ")
            first = False
    return "" if first else line.text
