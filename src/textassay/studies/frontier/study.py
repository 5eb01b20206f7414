"""Frontier: can a quality-diversity pair reflect how well a distribution is fitted?"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.tokenizers import get_tokenizer
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.inference.plan import Progress, shows_progress, told
from textassay.inference.result import Result, signature
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.frontier.compatibility import check_conditions, fit_slope, induced_divergence
from textassay.studies.frontier.mixtures import NOISE, Estimate, NoiseLength, estimate_pairs, parse_noise_lengths
from textassay.studies.frontier.pairs import Pair, parse_pair
from textassay.studies.frontier.pareto import bound, check_fits, discrepancy, frontier_curve
from textassay.studies.frontier.result import ESTIMATED, EXACT, OPTIMISED, Analysis, Curve, Frontier, SourceColumn
from textassay.studies.frontier.small_space import LENGTH, bleu_pair, coverage_pair, lower_bound
from textassay.studies.frontier.sources import DISTRIBUTION, ORACLE, TEXTS, TOY, Source, open_sources
from textassay.studies.frontier.verdict import (
    NOT_DIVERSE,
    OUTSIDE,
    judge_estimated,
    judge_exact,
    judge_optimised,
    over_seeds,
)
from textassay.studies.outcome import Settings
from textassay.version import __version__

# The pairs of the figures and tables that each kind of source has in the paper.
_EXACT_PAIRS = ("ll/se", "cr/nrr", "ll/nrr", "cr/se")
DEFAULT_PAIRS = {
    DISTRIBUTION: _EXACT_PAIRS,
    TOY: _EXACT_PAIRS,
    ORACLE: ("bs-1", "bs-2", "bs-3", "cn-1", "cn-2", "cn-3"),
    TEXTS: ("bs-2", "bs-3", "bs-4", "cn-2", "cn-3", "cn-4"),
}
_ON_TEXTS = re.compile(r"(bs|cn)-(\d)", flags=re.ASCII)
_LARGEST_N = 9
_MOST_LOG_PROBS = 400


@shows_progress
def frontier(
    source: Any,
    *,
    pairs: Sequence[str | Pair] | str | None = None,
    reference: Any = None,
    n: int = 2,
    space: str = "ngrams",
    tokenizer: str = "words",
    lowercase: bool = False,
    probabilities: bool = False,
    n_points: int = 81,
    n_starts: int = 12,
    n_seeds: int = 4,
    noise_lengths: str = "5,max",
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Frontier:
    """Find the Pareto frontier of quality-diversity pairs, and how far the real distribution is below it.

    A pair that can reflect distribution fitting has the real distribution on its frontier (Li et al. 2020). If it is
    below, some other distribution has higher quality at the same diversity, and the pair prefers it to real text.

    Parameters
    ----------
    source
        A list of probabilities; `"toy:20"`, a random distribution with 20 outcomes; `"oracle:1.0"`, all 64 texts of
        three words out of four under an LSTM with random weights of standard deviation 1; texts, in any form that
        `read_sample` takes; or a dict of these by name.
    pairs
        Names of pairs, or pairs of your own functions (`own_pair`). On distributions: QUALITY/DIVERSITY with `ll`,
        `cr` or `bleu1-R` and `se`, `nrr`, `sdi` or `nsbleu1-C`, solved exactly. On texts and on the oracle also `bs-n`
        (BLEU and Self-BLEU) and `cn-n` (CR and NRR): estimated on texts with mixtures of real text and noise, and on
        the oracle optimised. By default those of the paper's figures and tables.
    reference
        Texts that quality is measured against. Without it, texts are split into halves.
    n, space
        For QUALITY/DIVERSITY pairs on texts: the distribution of n-grams (`"ngrams"`), or of whole texts (`"texts"`).
    tokenizer, lowercase
        How texts are split into words.
    probabilities
        Sources are files of probabilities: one per line, or a column.
    n_points
        Points of an exact frontier.
    n_starts
        Starts of the optimiser.
    n_seeds
        For pairs on texts: the number of draws of halves and mixtures, each with a seed of its own. QDisc and DRate are
        means over them, with an interval if there are two or more.
    noise_lengths
        For pairs on texts: words of the noise texts of a mixture, as whole numbers, `median` or `max` (the lengths of
        the reference). Each length gives a curve, and the largest gap counts. The default is the paper's.
    seed
        The seed of the random number generator.
    progress
        True shows a progress bar, in a terminal or a notebook; or an object that is told about the progress.

    Returns
    -------
    Frontier
        `found["toy:20"]["ll/nrr"].estimate` is QDisc, the gap in quality; its parts have DRate.

    Examples
    --------
    >>> found = frontier([0.4, 0.3, 0.2, 0.1], pairs="cr/nrr,ll/nrr")
    >>> [analysis.verdict.decision for analysis in found["distribution"].analyses]
    ['compatible', 'incompatible']
    >>> round(found["distribution"]["ll/nrr"].estimate, 4)
    0.0046
    """
    _check_numbers(n=n, n_points=n_points, n_starts=n_starts, n_seeds=n_seeds, seed=seed)
    if space not in ("ngrams", "texts"):
        raise InputError(Setting("space", space), "; wanted ngrams or texts")
    settings = ViewSettings(get_tokenizer(tokenizer, lowercase=lowercase))
    sources = open_sources(source, reference=reference, settings=settings, seed=seed, probabilities=probabilities)
    chosen = _chosen_pairs(pairs, sources)
    counter = told(progress)
    lengths = parse_noise_lengths(noise_lengths)
    options = _Options(n, space, n_points, n_starts, n_seeds, lengths, seed, settings.tokenizer.signature, counter)
    columns = [_column(each, chosen, options) for each in sources]
    return Frontier(
        tuple(column for column, _ in columns),
        tuple(pair.name for pair in chosen),
        tuple(dict.fromkeys(note for _, notes in columns for note in notes)),
        _settings(sources, options),
    )


@dataclass(frozen=True, eq=False)
class _Options:
    n: int
    space: str
    n_points: int
    n_starts: int
    n_seeds: int
    noise_lengths: tuple[NoiseLength, ...]
    seed: int
    tokenizer: str
    progress: Progress


def _check_numbers(**values: int) -> None:
    limits = {"n": (1, _LARGEST_N), "n_points": (2, 2000), "n_starts": (1, 10_000), "n_seeds": (1, 100)}
    limits["seed"] = (0, 2**63)
    for name, value in values.items():
        low, high = limits[name]
        if not is_whole(value) or not low <= value <= high:
            raise InputError(Setting(name, value), f"; wanted a whole number from {low} to {high:,}")


def _settings(sources: Sequence[Source], options: _Options) -> Settings:
    has_texts = any(source.kind == TEXTS for source in sources)
    found: dict[str, str | int] = {}
    if has_texts:
        found |= {
            "tokenizer": options.tokenizer,
            "space": options.space,
            "n": options.n,
            "seeds": options.n_seeds,
            "noise lengths": _listed(options.noise_lengths),
        }
    if any(source.kind == ORACLE for source in sources):
        found["starts"] = options.n_starts
    return {**found, "seed": options.seed, "version": __version__}


@dataclass(frozen=True)
class _TextPair:
    """A pair that is measured on texts: BLEU (`bs`) or the coverage rate (`cn`) of n-grams, each with its diversity."""

    name: str
    kind: str
    n: int

    @property
    def is_compatible(self) -> bool:
        """Whether the paper proves that the pair is compatible."""
        return self.kind == "cn"


def _chosen_pairs(pairs: Sequence[str | Pair] | str | None, sources: Sequence[Source]) -> list[_TextPair | Pair]:
    kinds = list(dict.fromkeys(source.kind for source in sources))
    if pairs is None or not len(pairs):
        defaults = {DEFAULT_PAIRS[kind] for kind in kinds}
        if len(defaults) > 1:
            raise InputError(f"sources of different kinds ({', '.join(kinds)}); wanted ", Setting("pairs"))
        return [_parsed(name, kinds) for name in defaults.pop()]
    given = pairs.split(",") if isinstance(pairs, str) else list(pairs)
    chosen = [each if isinstance(each, Pair) else _parsed(each.strip(), kinds) for each in given]
    names = [each.name for each in chosen]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"pair {quoted([repeated[0]])} is given twice; wanted each once")
    return chosen


def _parsed(name: str, kinds: Sequence[str]) -> _TextPair | Pair:
    """A pair of the general form, or one that is measured on texts."""
    found = _ON_TEXTS.fullmatch(name.lower())
    if found is None:
        return parse_pair(name)
    n = int(found[2])
    if any(kind not in (TEXTS, ORACLE) for kind in kinds):
        raise InputError(f"pair {quoted([name])} is measured on texts; wanted texts or oracle:SIGMA as the source")
    if n < 1 or (ORACLE in kinds and n > LENGTH):
        raise InputError(f"pair {quoted([name])}; wanted n from 1 to {LENGTH if ORACLE in kinds else _LARGEST_N}")
    return _TextPair(name.lower(), found[1], n)


def _column(source: Source, chosen: Sequence[_TextPair | Pair], options: _Options) -> tuple[SourceColumn, list[str]]:
    notes: list[str] = []
    on_texts = [pair for pair in chosen if isinstance(pair, _TextPair)]
    options.progress.start(shortened(source.name, 40), _steps(source, chosen, options))
    found: dict[str, Analysis] = {}
    if source.kind == TEXTS and on_texts:
        found = _estimated(source, on_texts, options)
    for pair in chosen:
        if isinstance(pair, Pair):
            found[pair.name] = _exact(source, pair, options, notes)
        elif source.kind == ORACLE:
            found[pair.name] = _optimised(source, pair, options)
    analyses = tuple(found[pair.name] for pair in chosen)
    values = source.distribution.without_zeros().expanded() if source.distribution else np.zeros(0)
    log_probs = tuple(np.log(values[:_MOST_LOG_PROBS]).tolist())
    return SourceColumn(source.name, source.kind, source.n, source.digest, analyses, log_probs), notes


def _steps(source: Source, chosen: Sequence[_TextPair | Pair], options: _Options) -> int:
    exact = sum(isinstance(pair, Pair) for pair in chosen)
    others = len(chosen) - exact
    on_texts = len(NOISE) * len(options.noise_lengths) * options.n_seeds * bool(others)
    return exact + (others * options.n_starts if source.kind == ORACLE else on_texts)


def _exact(source: Source, pair: Pair, options: _Options, notes: list[str]) -> Analysis:
    given = source.shares(space=options.space, n=options.n)
    real = pair.support(given)
    if real.n < given.n:
        notes.append(f"{pair.name}: {many(given.n - real.n, 'outcome')} of probability 0 left out, where f is -∞")
    check_fits(pair, real)
    limit = pair.diversity.limit
    if limit < 1:
        notes.append(f"{pair.name}: g is concave only below {limit:.3g}; larger probabilities are left out")
    fit, gap = fit_slope(pair), discrepancy(pair, real)
    curve = frontier_curve(pair, real, n_points=options.n_points)
    points = zip(curve.w.tolist(), curve.quality.tolist(), curve.diversity.tolist(), strict=True)
    options.progress.step(1)
    parts = {
        "drate": math.nan if gap.is_outside else gap.drate, "quality": gap.quality, "diversity": gap.diversity,
        "best_quality": gap.best_quality,
        "range": gap.highest_quality - gap.lowest_quality, "w": gap.w, "bound": bound(pair, real), "w0": fit.w0,
        "b0": fit.b0, "alpha": fit.alpha, "deviation": fit.deviation,
    }  # fmt: skip
    space = {"space": options.space, "n": options.n} if source.kind == TEXTS else {}
    return Analysis(
        pair.name,
        EXACT,
        gap.quality,
        gap.diversity,
        _result(source, pair.name, math.nan if gap.is_outside else gap.qdisc, parts, options, space, undefined=OUTSIDE),
        judge_exact(fit, gap, limit=limit),
        curves=(Curve("Pareto frontier", "w", tuple(points)),),
        divergences=tuple(induced_divergence(pair, fit, real, curve.shares).tolist()) if fit.is_exact else (),
        conditions=check_conditions(pair, largest=float(real.values[0])),
        fit=fit,
    )


def _optimised(source: Source, pair: _TextPair, options: _Options) -> Analysis:
    assert source.probabilities is not None
    measured = (bleu_pair if pair.kind == "bs" else coverage_pair)(source.probabilities, pair.n)
    found = lower_bound(
        measured, source.probabilities, n_starts=options.n_starts, seed=options.seed, progress=options.progress
    )
    parts = {
        "drate": found.drate, "quality": found.quality, "diversity": found.diversity,
        "best_quality": found.best_quality, "best_diversity": found.best_diversity, "range": found.range,
    }  # fmt: skip
    best = Curve("best distribution found", "", ((0.0, found.best_quality, found.best_diversity),))
    return Analysis(
        pair.name,
        OPTIMISED,
        found.quality,
        found.diversity,
        _result(source, pair.name, found.qdisc, parts, options, {"starts": options.n_starts}),
        judge_optimised(found.qdisc, found.drate, is_compatible=pair.is_compatible, n_starts=options.n_starts),
        curves=(best,),
        steps=found.steps,
    )


def _estimated(source: Source, pairs: Sequence[_TextPair], options: _Options) -> dict[str, Analysis]:
    assert source.halves is not None
    wanted = [(pair.kind, pair.n) for pair in pairs]
    runs = [
        estimate_pairs(
            *source.halves(seed),
            wanted,
            name=source.name,
            lengths=options.noise_lengths,
            seed=seed,
            progress=options.progress,
        )
        for seed in range(options.seed, options.seed + options.n_seeds)
    ]
    return {
        pair.name: _estimate(source, pair, found, options)
        for pair, found in zip(pairs, zip(*runs, strict=True), strict=True)
    }


def _estimate(source: Source, pair: _TextPair, runs: Sequence[Estimate], options: _Options) -> Analysis:
    """The means over all draws, with the curves of the first."""
    found = runs[0]
    qdisc, drate = (over_seeds([getattr(run, ratio) for run in runs]) for ratio in ("qdisc", "drate"))
    ratios = {ratio: over_seeds([getattr(run, ratio) for run in runs]).mean for ratio in ("self_ratio", "ref_ratio")}
    parts = {
        "drate": drate.mean, "drate_low": drate.low, "drate_high": drate.high, **ratios, "quality": found.quality,
        "diversity": found.diversity, "range": found.range, "seeds": qdisc.draws,
        "noise_length": found.best.noise_length if found.best else math.nan,
    }  # fmt: skip
    curves = tuple(
        Curve(f"noise of {many(curve.noise_length, 'word')}", "noise", tuple(_triples(curve.points)))
        for curve in found.curves
    )
    settings = {"tok": options.tokenizer, "noise": _listed(options.noise_lengths)}
    return Analysis(
        pair.name,
        ESTIMATED,
        found.quality,
        found.diversity,
        replace(
            _result(source, pair.name, qdisc.mean, parts, options, settings, undefined=NOT_DIVERSE),
            interval=qdisc.interval,
        ),
        judge_estimated(qdisc, drate, is_compatible=pair.is_compatible, n=source.n),
        curves=curves,
    )


def _listed(lengths: Sequence[NoiseLength]) -> str:
    return ",".join(map(str, lengths))


def _triples(points: Sequence[Any]) -> list[tuple[float, float, float]]:
    return [(point.noise, point.quality, point.diversity) for point in points]


def _result(
    source: Source,
    pair: str,
    qdisc: float,
    parts: Mapping[str, float],
    options: _Options,
    settings: Mapping[str, Any],
    *,
    undefined: str | None = None,
) -> Result:
    data = {source.kind: f"{source.n}/{source.digest}"}
    seeds = {"seed": options.seed} | ({"seeds": options.n_seeds} if "seeds" in parts else {})
    return Result(
        metric="qdisc",
        options={"pair": pair},
        estimate=qdisc,
        better="lower",
        aspect="both",
        interval=None,
        p_value=None,
        parts={name: float(value) for name, value in parts.items() if math.isfinite(value)},
        undefined=undefined if math.isnan(qdisc) else None,
        signature=signature("qdisc", {"pair": pair}, settings=settings, data=data, resampling=seeds),
        seconds=0.0,
        n=source.n,
    )
