"""What all forms of a frontier report share: rows, verdicts, names and legends."""

import math
from dataclasses import dataclass

from textassay.corpus.printable import share, shortened
from textassay.report.page import setting_text
from textassay.studies.frontier.result import ESTIMATED, EXACT, OPTIMISED, Analysis, Frontier, SourceColumn
from textassay.studies.frontier.sources import DISTRIBUTION, ORACLE, TEXTS, TOY
from textassay.studies.wording import listed, number

KINDS = {
    DISTRIBUTION: "distribution with {n:,} outcomes",
    TOY: "random distribution with {n:,} outcomes",
    ORACLE: "all {n:,} texts of a small space",
    TEXTS: "{n:,} texts",
}
METHODS = {
    EXACT: "exact (Theorem 2)",
    OPTIMISED: "lower bound by optimisation (section 6.1)",
    ESTIMATED: "estimated with noise mixtures (section 6.2)",
}
_QUALITIES = {"ll": "log-likelihood", "cr": "coverage rate", "bs": "BLEU", "cn": "coverage rate"}
_DIVERSITIES = {
    "se": "Shannon entropy",
    "nrr": "negative repetition rate",
    "sdi": "Simpson's diversity index",
    "bs": "negative Self-BLEU",
    "cn": "negative repetition rate",
}


def axis_names(pair: str) -> tuple[str, str]:
    """Quality and diversity of a pair in words.

    >>> axis_names("cr/nrr"), axis_names("bs-2"), axis_names("mine/se")
    (('coverage rate', 'negative repetition rate'), ('BLEU-2', 'negative Self-BLEU-2'), ('mine', 'Shannon entropy'))
    """
    first, slash, second = pair.partition("/")
    if slash:
        return _QUALITIES.get(first, first), _DIVERSITIES.get(second, second)
    kind, _, n = pair.partition("-")
    return f"{_QUALITIES.get(kind, kind)}-{n}", f"{_DIVERSITIES.get(kind, kind)}-{n}"


@dataclass(frozen=True)
class Row:
    """A line of the table as text."""

    source: SourceColumn
    analysis: Analysis
    qdisc: str
    drate: str
    quality: str
    diversity: str
    self_ratio: str
    ref_ratio: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The numbers in the order of `HEAD`."""
        return self.qdisc, self.drate, self.quality, self.diversity, self.self_ratio, self.ref_ratio


# Differences of sums of probabilities below this are rounding.
_ROUNDING = 1e-13
HEAD = ("QDisc", "DRate", "quality", "diversity", "Self-Ratio", "Ref-Ratio")


def rows(found: Frontier) -> list[Row]:
    """One row per source and pair."""
    return [_row(source, analysis) for source in found.sources for analysis in source.analyses]


def _row(source: SourceColumn, analysis: Analysis) -> Row:
    parts, result = analysis.result.parts, analysis.result
    return Row(
        source,
        analysis,
        qdisc=number(0.0 if abs(result.estimate) < _ROUNDING else result.estimate),
        drate=_share(parts.get("drate", math.nan)),
        quality=number(analysis.quality),
        diversity=number(analysis.diversity),
        self_ratio=number(parts["self_ratio"]) if "self_ratio" in parts else "",
        ref_ratio=number(parts["ref_ratio"]) if "ref_ratio" in parts else "",
    )


def _share(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{100 * value:.2f} %" if abs(value) >= 1e-4 else f"{100 * value:.1e} %" if abs(value) > 1e-9 else "0 %"


def used_columns(found: Frontier) -> list[int]:
    """The places of the columns that have a number."""
    cells = [row.cells for row in rows(found)]
    return [place for place in range(len(HEAD)) if any(row[place] for row in cells)]


def kind_text(source: SourceColumn) -> str:
    """What a source is, in words."""
    return KINDS.get(source.kind, "{n:,} outcomes").format(n=source.n)


def heading(found: Frontier) -> str:
    """The sources in one line."""
    return listed([f"{shortened(source.name, 40)} ({kind_text(source)})" for source in found.sources])


def outcome_sentence(found: Frontier) -> str:
    """How many pairs are compatible."""
    levels: dict[str, set[str]] = {}
    for row in rows(found):
        levels.setdefault(row.analysis.verdict.level, set()).add(row.analysis.pair)
    words = {"compatible": "compatible", "incompatible": "incompatible", "untested": "not decided"}
    order = [(level, [pair for pair in found.labels if pair in levels.get(level, ())]) for level in words]
    clauses = [f"{words[level]}: {listed(pairs)}" for level, pairs in order if pairs]
    return "; ".join(clauses)[:1].upper() + "; ".join(clauses)[1:] + "."


def legend(found: Frontier) -> list[str]:
    """How to read the table."""
    lines = [
        "QDisc: the highest quality at the diversity of the real distribution, minus the quality of the real one",
        "DRate: QDisc as a share of the range of quality on the frontier",
    ]
    if any(row.analysis.verdict.level == "incompatible" for row in rows(found)):
        lines.append("incompatible: some other distribution has more quality than the real one at no less diversity")
    if any(row.self_ratio for row in rows(found)):
        lines.append(
            "Self-Ratio: QDisc as a share of the quality of real text; Ref-Ratio: of the loss by the first noise"
        )
    methods = dict.fromkeys(METHODS[row.analysis.method] for row in rows(found) if row.analysis.method in METHODS)
    return [*lines, f"method: {'; '.join(methods)}"]


def theory_lines(found: Frontier) -> list[tuple[str, str]]:
    """The conditions of Theorem 1 and the fit of Theorem 3, for each pair of the general form."""
    first = {row.analysis.pair: row.analysis for row in reversed(rows(found)) if row.analysis.fit is not None}
    return [(pair, _theory(first[pair])) for pair in found.labels if pair in first]


def _theory(analysis: Analysis) -> str:
    fit, conditions = analysis.fit, analysis.conditions
    assert fit is not None
    facts = []
    if conditions is not None:
        facts.append("f increases" if conditions.quality is None else f"f does not increase {conditions.quality}")
        concave = conditions.diversity
        facts.append("g is concave" if concave is None else f"g is not concave {concave}")
    if fit.is_exact:
        facts.append(f"g' = {round(fit.w0, 9):g} f + {round(fit.b0, 9) + 0.0:g}".replace("+ -", "- "))
    else:
        facts.append(f"g' is no multiple of f plus a constant (best fit off by {share(fit.deviation)} of its range)")
    return "; ".join(facts)


def settings(found: Frontier) -> list[tuple[str, str]]:
    """Terms and values of what was measured with."""
    names = {"tokenizer": "Tokenizer", "starts": "Starts of the optimiser", "seed": "Seed", "version": "Version"}
    values = [(term, setting_text(found, name)) for name, term in names.items()]
    return [("Sources", heading(found)), *((term, value) for term, value in values if value)]
