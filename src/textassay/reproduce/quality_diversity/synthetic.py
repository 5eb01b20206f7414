"""Table 1 and Figures 1, 4 and 6 of Li et al. (2020): quality-diversity pairs on distributions that are known."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.document.words import number
from textassay.inference.result import Result, signature
from textassay.reproduce.claims import Check, Claim, Measured, Rule, exact_steps
from textassay.reproduce.result import CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.frontier.result import Analysis, Frontier
from textassay.studies.frontier.small_space import (
    LENGTH,
    all_texts,
    bleu_pair,
    coverage_pair,
    ngram_counts,
    oracle_distribution,
)
from textassay.studies.frontier.study import frontier

PAPER = "li2020"
_ROUNDING = 1e-9
QUALITY = {"ll": "log-likelihood (LL)", "cr": "coverage rate (CR)", "bs": "BLEU", "cn": "CR"}
DIVERSITY = {
    "se": "Shannon entropy (SE)",
    "nrr": "negative repetition rate (NRR)",
    "bs": "negative Self-BLEU",
    "cn": "NRR",
}
# Table 1: QDisc and DRate in per cent for sigma 0.5, 1 and 2; the one that is None is printed as "<0.01".
TABLE_1: dict[str, tuple[tuple[float, float | None], ...]] = {
    "bs-1": ((0.01287, 2.55), (0.01509, 3.29), (0.01063, 3.15)),
    "bs-2": ((0.02384, 9.41), (0.01699, 4.27), (0.01146, 1.71)),
    "bs-3": ((2.090e-8, None), (6.045e-6, 0.19), (3.878e-4, 0.05)),
}
SIGMAS = (0.5, 1.0, 2.0)


def reproduce_figure_1(_files: Sequence[Path], run: Run) -> Reproduction:
    """The frontier of LL and SE on a toy distribution."""
    found = frontier(f"toy:{run.n_items}", pairs="ll/se", seed=run.seed)
    analysis = found.sources[0].analysis("ll/se")
    return Reproduction(
        name=run.name,
        title="Figure 1: with LL and SE the real distribution is on the Pareto frontier",
        paper=PAPER,
        design=_toy_design(run) + " The curve is exact: probabilities in proportion to a power of the real ones.",
        differs=(_TOY_DIFFERS,),
        claims=(
            Claim(
                "the real distribution is exactly on the frontier of LL and SE",
                (Check("QDisc", Measured.exact(analysis.result.estimate)),),
                "within",
                _ROUNDING,
                _EXACT,
            ),
            _trade_off("LL and SE", analysis),
            Claim(
                "half the reverse Kullback-Leibler divergence is least at the real distribution, where it is 0",
                (Check("the smallest divergence of a drawn point", Measured.exact(min(analysis.divergences))),),
                "above",
                0.0,
                _EXACT,
            ),
        ),
        options=run.options,
        signature=_signature(run, found),
        panels=(_frontier_panel(analysis, "LL and SE"),),
    )


_TOY_DIFFERS = "The paper's probabilities are random and not printed; these are another draw of the same kind."


def _toy_design(run: Run) -> str:
    return f"A distribution with {run.n_items} outcomes, whose probabilities are uniform numbers divided by their sum."


_EXACT = "exact numbers; the margin is rounding"


def _trade_off(name: str, analysis: Analysis) -> Claim:
    ordered = sorted((quality, diversity) for _, quality, diversity in analysis.curves[0].points)
    return Claim(
        f"diversity falls along the frontier of {name} as quality rises",
        exact_steps("diversity", (f"point {index}" for index in range(1, len(ordered) + 1)), (d for _, d in ordered)),
        "below",
        0.0,
        _EXACT,
    )


def _signature(run: Run, found: Frontier) -> str:
    sources = "+".join(f"{source.n}/{source.digest}" for source in found.sources)
    return signature(run.name, {}, data={"sources": sources}, resampling={"scale": run.scale, "seed": run.seed})


def _frontier_panel(analysis: Analysis, title: str) -> Panel:
    quality, diversity = analysis.pair.split("/")
    points = tuple(CurveAt(x, y) for _, x, y in analysis.curves[0].points)
    return Panel(
        title,
        f"quality: {QUALITY[quality]}",
        f"diversity: {DIVERSITY[diversity]}",
        (Line("Pareto frontier", points),),
        points=(NamedPoint("real distribution", analysis.quality, analysis.diversity),),
        tabled=False,
    )


def reproduce_figure_4(_files: Sequence[Path], run: Run) -> Reproduction:
    """Frontiers of pairs that do not match: the real distribution is below them."""
    pairs = {"ll/nrr": "LL with NRR", "cr/se": "CR with SE"}
    found = frontier(f"toy:{run.n_items}", pairs=",".join(pairs), seed=run.seed)
    analyses = found.sources[0].analyses
    return Reproduction(
        name=run.name,
        title="Figure 4: with pairs that do not match, the real distribution is below the frontier",
        paper=PAPER,
        design=_toy_design(run) + " The curves are exact.",
        differs=(_TOY_DIFFERS,),
        claims=(
            *(
                Claim(
                    f"{pairs[analysis.pair]}: the real distribution is below the frontier",
                    (Check("QDisc", Measured.exact(analysis.result.estimate)),),
                    "above",
                    _ROUNDING,
                    _EXACT,
                )
                for analysis in analyses
            ),
            *(_trade_off(pairs[analysis.pair], analysis) for analysis in analyses),
        ),
        options=run.options,
        signature=_signature(run, found),
        panels=tuple(_frontier_panel(analysis, pairs[analysis.pair]) for analysis in analyses),
    )


def reproduce_bounds(_files: Sequence[Path], run: Run) -> Reproduction:
    """Lower bounds of QDisc for BLEU and negative Self-BLEU on a small space of texts."""
    names = [*TABLE_1, "cn-1", "cn-2", "cn-3"]
    sources = [f"oracle:{sigma:g}" for sigma in SIGMAS]
    found = frontier(
        dict(zip(sources, sources, strict=True)),
        pairs=",".join(names),
        n_starts=run.n_items,
        seed=run.seed,
        progress=run.progress,
    )
    gaps = {(name, sigma): found[f"oracle:{sigma:g}"][name] for name in names for sigma in SIGMAS}
    rows = [
        Row(
            f"{name.upper()}, σ = {sigma:g}",
            (*(TABLE_1[name][at] if name in TABLE_1 else (None, None)), result.estimate, 100 * result.parts["drate"]),
        )
        for at, sigma in enumerate(SIGMAS)
        for name in names
        for result in (gaps[name, sigma],)
    ]
    claims = _bounds_claims(gaps, names[3:])
    return Reproduction(
        name=run.name,
        title="Table 1: lower bounds of QDisc for BLEU and negative Self-BLEU on synthetic data",
        paper=PAPER,
        design=f"All {4**LENGTH} texts of {LENGTH} words out of 4, under an LSTM with normal random weights of "
        f"standard deviation σ; expected BLEU of one text against two; SLSQP from {run.n_items} starts. Only "
        "distributions that are at least as diverse as the real one count, so that every number is a lower bound.",
        differs=(
            "The weights of the paper are random and not published, so only the order of magnitude can agree.",
            "The paper optimises by gradient descent with a penalty; SLSQP with a constraint finds larger gaps.",
            "The rows of CR and NRR are not printed in the paper, which only states that there is no positive bound.",
        ),
        claims=claims,
        options=run.options,
        signature=_signature(run, found),
        tables=(
            Numbers(
                "QDisc and DRate (%)",
                ("QDisc, published", "DRate, published", "QDisc, ours", "DRate, ours"),
                tuple(rows),
                None,
            ),
        ),
    )


def _bounds_claims(gaps: Mapping[tuple[str, float], Result], compatible_pairs: Sequence[str]) -> tuple[Claim, ...]:
    def checks(names: Iterable[str], limit: float = 0.0) -> tuple[Check, ...]:
        return tuple(
            Check(f"{name.upper()}, σ = {sigma:g}", Measured.exact(gaps[name, sigma].estimate), limit)
            for name in names
            for sigma in SIGMAS
        )

    lowest, highest = min(gap for gap, _ in _PRINTED_GAPS), max(gap for gap, _ in _PRINTED_GAPS)
    of_a_size = "the weights are another draw, so the size is compared"
    return (
        Claim(
            f"BS-1 and BS-2: clear lower bounds of {number(lowest)} to {number(highest)}",
            checks(("bs-1", "bs-2"), lowest / 2),
            "above",
            0.0,
            f"at least half of the smallest that is printed; {of_a_size}",
        ),
        Claim(
            "BS-3: almost no gap, 0.000388 or less",
            checks(("bs-3",), 2 * max(gap for gap, _ in TABLE_1["bs-3"])),
            "below",
            0.0,
            f"less than twice the largest that is printed; {of_a_size}",
        ),
        Claim("CR and NRR: no positive lower bound", checks(compatible_pairs), "within", _ROUNDING, _EXACT),
    )


_PRINTED_GAPS = (*TABLE_1["bs-1"], *TABLE_1["bs-2"])
_BETAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def reproduce_figure_6(_files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU, negative Self-BLEU, CR, NRR and CND of the optima of LL and SE, over their parameter beta."""
    real = oracle_distribution(1.0, run.seed)
    orders = range(1, min(run.n_items, LENGTH) + 1)
    models = [real**beta / (real**beta).sum() for beta in _BETAS]
    curves = {
        name: {n: _along(name, real, models, n) for n in orders} for name in ("BLEU", "NSBLEU", "CR", "NRR", "CND")
    }
    at_one = _BETAS.index(1.0)
    claims = (
        _along_beta("CR rises with β", {"CR": curves["CR"]}, "above"),
        _along_beta("NRR falls with β", {"NRR": curves["NRR"]}, "below"),
        Claim(
            "CND is least at β = 1, for every n",
            tuple(
                Check(f"CND-{n} at β = {beta:g} less that at 1", Measured.exact(float(curve[at] - curve[at_one])))
                for n, curve in curves["CND"].items()
                for at, beta in enumerate(_BETAS)
                if at != at_one
            ),
            "above",
            0.0,
            _EXACT,
        ),
        _along_beta("BLEU rises with β", {"BLEU": curves["BLEU"]}, "above"),
        _along_beta("NSBLEU falls with β", {"NSBLEU": curves["NSBLEU"]}, "below"),
    )
    return Reproduction(
        name=run.name,
        title="Figure 6: BLEU, NSBLEU, CR, NRR and CND of the optima of LL and SE on synthetic data",
        paper=PAPER,
        design=f"All {4**LENGTH} texts of {LENGTH} words out of 4, under an LSTM with normal random weights, σ = 1. "
        "Models are proportional to a power β of the real probabilities; every value is an exact expectation, for "
        f"n-grams up to {max(orders)}.",
        differs=("The weights of the paper are random and not published; the paper does not print which n it draws.",),
        claims=claims,
        options=run.options,
        signature=signature(run.name, {}, data={"oracle": "1.0"}, resampling={"orders": max(orders), "seed": run.seed}),
        panels=tuple(
            Panel(
                name,
                "β",
                name,
                tuple(
                    Line(f"n = {n}", tuple(CurveAt(x, float(y)) for x, y in zip(_BETAS, curve, strict=True)))
                    for n, curve in by_order.items()
                ),
            )
            for name, by_order in curves.items()
        ),
    )


def _along_beta(published: str, curves: Mapping[str, Mapping[int, F64]], rule: Rule) -> Claim:
    places = [f"β = {beta:g}" for beta in _BETAS]
    checks = [
        check
        for name, by_order in curves.items()
        for n, curve in by_order.items()
        for check in exact_steps(f"{name}-{n}", places, curve.tolist())
    ]
    return Claim(published, tuple(checks), rule, 0.0, _EXACT)


def _along(name: str, real: F64, models: Sequence[F64], n: int) -> F64:
    if name == "CND":
        grams = ngram_counts(all_texts(), n) / (LENGTH - n + 1)
        return np.array([float((((model - real) @ grams) ** 2).sum()) for model in models])
    pair = (bleu_pair if name in ("BLEU", "NSBLEU") else coverage_pair)(real, n)
    side = pair.quality if name in ("BLEU", "CR") else pair.diversity
    return np.array([side(model)[0] for model in models])
