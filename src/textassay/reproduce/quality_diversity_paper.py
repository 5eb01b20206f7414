"""Tables and figures of Li et al. (2020): which quality-diversity pairs reflect how well a distribution is fitted."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.printable import share
from textassay.errors import InputError, Setting
from textassay.inference.result import Result, signature
from textassay.models.choose import train_model
from textassay.reproduce.result import Claim, CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import available, draw_texts, generate, measure, values
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
from textassay.studies.outcome import number

_PAPER = "li2020"
_ROUNDING = 1e-9
_QUALITY = {"ll": "log-likelihood (LL)", "cr": "coverage rate (CR)", "bs": "BLEU", "cn": "CR"}
_DIVERSITY = {
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
# Table 2: QDisc, DRate in per cent, Self-Ratio and Ref-Ratio.
TABLE_2 = {
    "MSCOCO": {
        "bs-2": (0.032, 3.2, 0.034, 0.314),
        "bs-3": (0.090, 9.0, 0.104, 0.814),
        "bs-4": (0.162, 16.2, 0.219, 1.46),
        "cn-2": (0.75e-6, 0.013, 0.0005, 0.006),
        "cn-3": (1.07e-6, 0.079, 0.0063, 0.087),
        "cn-4": (1.15e-6, 0.163, 0.0247, 0.421),
    },
    "WMT news": {
        "bs-2": (0.034, 3.4, 0.036, 0.26),
        "bs-3": (0.117, 11.7, 0.145, 0.88),
        "bs-4": (0.211, 21.1, 0.339, 1.59),
        "cn-2": (3.69e-7, 0.016, 0.0008, 0.025),
        "cn-3": (3.45e-7, 0.098, 0.0109, 0.358),
        "cn-4": (3.12e-7, 0.220, 0.0525, 2.092),
    },
}


def reproduce_figure_1(_files: Sequence[Path], run: Run) -> Reproduction:
    """The frontier of LL and SE on a toy distribution."""
    found = frontier(f"toy:{run.n_items}", pairs="ll/se", seed=run.seed)
    analysis = found.sources[0].analysis("ll/se")
    on_frontier = abs(analysis.result.estimate) <= _ROUNDING
    falling = _falls_along(analysis)
    closest = min(analysis.divergences)
    return Reproduction(
        name=run.name,
        title="Figure 1: with LL and SE the real distribution is on the Pareto frontier",
        paper=_PAPER,
        design=_toy_design(run) + " The curve is exact: probabilities in proportion to a power of the real ones.",
        differs=(_TOY_DIFFERS,),
        claims=(
            Claim(
                "the real distribution is exactly on the frontier",
                f"QDisc is {number(analysis.result.estimate)}",
                on_frontier,
            ),
            Claim(
                "quality and diversity fall against each other along the frontier",
                f"in {'all' if falling else 'not all'} of {len(analysis.curves[0].points) - 1} steps",
                falling,
            ),
            Claim(
                "half the reverse Kullback-Leibler divergence is least at the real distribution",
                f"the smallest divergence of a drawn point is {number(closest)}, none is negative",
                closest >= -_ROUNDING,
            ),
        ),
        conclusion="The figure is exact and shows what the paper draws: the real distribution lies on the frontier of "
        "LL and SE."
        if on_frontier and falling
        else "The figure does not show what the paper draws.",
        options=run.options,
        signature=_signature(run, found),
        panels=(_frontier_panel(analysis, "LL and SE"),),
    )


_TOY_DIFFERS = "The paper's probabilities are random and not printed; these are another draw of the same kind."


def _toy_design(run: Run) -> str:
    return f"A distribution with {run.n_items} outcomes, whose probabilities are uniform numbers divided by their sum."


def _falls_along(analysis: Analysis) -> bool:
    ordered = sorted((quality, diversity) for _, quality, diversity in analysis.curves[0].points)
    return all(later < earlier for (_, earlier), (_, later) in pairwise(ordered))


def _signature(run: Run, found: Frontier) -> str:
    sources = "+".join(f"{source.n}/{source.digest}" for source in found.sources)
    return signature(run.name, {}, data={"sources": sources}, resampling={"scale": run.scale, "seed": run.seed})


def _frontier_panel(analysis: Analysis, title: str) -> Panel:
    quality, diversity = analysis.pair.split("/")
    points = tuple(CurveAt(x, y) for _, x, y in analysis.curves[0].points)
    return Panel(
        title,
        f"quality: {_QUALITY[quality]}",
        f"diversity: {_DIVERSITY[diversity]}",
        (Line("Pareto frontier", points),),
        points=(NamedPoint("real distribution", analysis.quality, analysis.diversity),),
        tabled=False,
    )


def reproduce_figure_4(_files: Sequence[Path], run: Run) -> Reproduction:
    """Frontiers of pairs that do not match: the real distribution is below them."""
    pairs = {"ll/nrr": "LL with NRR", "cr/se": "CR with SE"}
    found = frontier(f"toy:{run.n_items}", pairs=",".join(pairs), seed=run.seed)
    analyses = found.sources[0].analyses
    below = [analysis.result.estimate > _ROUNDING for analysis in analyses]
    return Reproduction(
        name=run.name,
        title="Figure 4: with pairs that do not match, the real distribution is below the frontier",
        paper=_PAPER,
        design=_toy_design(run) + " The curves are exact.",
        differs=(_TOY_DIFFERS,),
        claims=tuple(
            Claim(f"{pairs[analysis.pair]}: the real distribution is below the frontier", _gap(analysis), is_below)
            for analysis, is_below in zip(analyses, below, strict=True)
        ),
        conclusion="The figure is exact and shows what the paper draws: a gap between the real distribution and both "
        "frontiers."
        if all(below)
        else "Not both pairs show the gap that the paper draws.",
        options=run.options,
        signature=_signature(run, found),
        panels=tuple(_frontier_panel(analysis, pairs[analysis.pair]) for analysis in analyses),
    )


def _gap(analysis: Analysis) -> str:
    rate = share(max(analysis.result.parts["drate"], 0.0))
    return f"QDisc {number(analysis.result.estimate)}, {rate} of the range of quality"


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
        paper=_PAPER,
        design=f"All {4**LENGTH} texts of {LENGTH} words out of 4, under an LSTM with normal random weights of "
        f"standard deviation σ; expected BLEU of one text against two; SLSQP from {run.n_items} starts. Only "
        "distributions that are at least as diverse as the real one count, so that every number is a lower bound.",
        differs=(
            "The weights of the paper are random and not published, so only the order of magnitude can agree.",
            "The paper optimises by gradient descent with a penalty; SLSQP with a constraint finds larger gaps.",
            "The rows of CR and NRR are not printed in the paper, which only states that there is no positive bound.",
        ),
        claims=claims,
        conclusion=_bounds_sentence(claims),
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
    lowest = min(gaps[name, sigma].estimate for name in ("bs-1", "bs-2") for sigma in SIGMAS)
    highest = max(gaps[name, sigma].estimate for name in ("bs-1", "bs-2") for sigma in SIGMAS)
    third = max(gaps["bs-3", sigma].estimate for sigma in SIGMAS)
    compatible = max(gaps[name, sigma].estimate for name in compatible_pairs for sigma in SIGMAS)
    return (
        Claim(
            "BS-1 and BS-2: positive lower bounds of .011 to .024",
            f"{number(lowest)} to {number(highest)}",
            lowest > 1e-3 and highest < 0.1,
        ),
        Claim("BS-3: a gap of at most .0004", f"at most {number(third)}", third < lowest),
        Claim("CR and NRR: no positive lower bound", f"at most {number(compatible)}", compatible <= _ROUNDING),
    )


def _bounds_sentence(claims: Sequence[Claim]) -> str:
    if all(claim.agrees for claim in claims):
        return (
            "The signs and orders of magnitude agree (clear gaps for BS-1 and BS-2, almost none for BS-3, none for CR "
            "and NRR); single values differ, because the weights are other random numbers."
        )
    return _count_sentence(claims)


def _count_sentence(claims: Sequence[Claim]) -> str:
    return f"{sum(claim.agrees for claim in claims)} of {len(claims)} findings show in this draw of weights."


_BETAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def reproduce_figure_6(_files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU, negative Self-BLEU, CR, NRR and CND of the optima of LL and SE, over their parameter beta."""
    real = oracle_distribution(1.0, run.seed)
    orders = range(1, min(run.n_items, LENGTH) + 1)
    models = [real**beta / (real**beta).sum() for beta in _BETAS]
    curves = {
        name: {n: _along(name, real, models, n) for n in orders} for name in ("BLEU", "NSBLEU", "CR", "NRR", "CND")
    }
    rising = {name: [bool((np.diff(curve) > 0).all()) for curve in curves[name].values()] for name in ("BLEU", "CR")}
    falling = {
        name: [bool((np.diff(curve) < 0).all()) for curve in curves[name].values()] for name in ("NSBLEU", "NRR")
    }
    bleu = [*rising["BLEU"], *falling["NSBLEU"]]
    best = [_BETAS[int(curve.argmin())] for curve in curves["CND"].values()]
    claims = (
        Claim("CR rises with β", _of_orders(rising["CR"]), all(rising["CR"])),
        Claim("NRR falls with β", _of_orders(falling["NRR"]), all(falling["NRR"])),
        Claim("CND is least at β = 1", f"least at β = {', '.join(f'{b:g}' for b in best)}", set(best) == {1.0}),
        Claim("BLEU rises and NSBLEU falls with β", _of_orders(bleu), all(bleu)),
    )
    agreed = all(claim.agrees for claim in claims)
    return Reproduction(
        name=run.name,
        title="Figure 6: BLEU, NSBLEU, CR, NRR and CND of the optima of LL and SE on synthetic data",
        paper=_PAPER,
        design=f"All {4**LENGTH} texts of {LENGTH} words out of 4, under an LSTM with normal random weights, σ = 1. "
        "Models are proportional to a power β of the real probabilities; every value is an exact expectation, for "
        f"n-grams up to {max(orders)}.",
        differs=("The weights of the paper are random and not published; the paper does not print which n it draws.",),
        claims=claims,
        conclusion="The figure is exact and agrees with the paper: CR follows quality, NRR diversity, and CND is least "
        "at the real distribution."
        if agreed
        else _count_sentence(claims),
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


def _of_orders(found: Sequence[bool]) -> str:
    return f"{sum(found)} of {len(found)} curves do"


def _along(name: str, real: F64, models: Sequence[F64], n: int) -> F64:
    if name == "CND":
        grams = ngram_counts(all_texts(), n) / (LENGTH - n + 1)
        return np.array([float((((model - real) @ grams) ** 2).sum()) for model in models])
    pair = (bleu_pair if name in ("BLEU", "NSBLEU") else coverage_pair)(real, n)
    side = pair.quality if name in ("BLEU", "CR") else pair.diversity
    return np.array([side(model)[0] for model in models])


_DATA = {"MSCOCO": slice(0, 2), "WMT news": slice(2, 4)}


def _estimated(files: Sequence[Path], run: Run, pairs: Sequence[str]) -> tuple[Frontier, str]:
    """The estimates of section 6.2 on both data sets, with as many texts per sample as there are."""
    columns = []
    digests = []
    for name, part in _DATA.items():
        size = available(files[part], run.n_items, 2)
        drawn = draw_texts(files[part], (size, size), run.seed)
        real, reference = drawn.parts
        found = frontier(
            {name: real},
            reference=reference,
            pairs=list(pairs),
            tokenizer="whitespace",
            seed=run.seed,
            progress=run.progress,
        )
        columns.append(found.sources[0])
        digests.append(f"{size}-of-{drawn.digest}")
    merged = Frontier(tuple(columns), found.labels, found.notes, found.settings)
    return merged, "+".join(digests)


def _sizes(found: Frontier) -> str:
    return " and ".join(f"{source.n:,} + {source.n:,} texts of {source.name}" for source in found.sources)


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """QDisc, DRate, Self-Ratio and Ref-Ratio of BLEU and CR pairs on real texts."""
    names = list(TABLE_2["MSCOCO"])
    found, digest = _estimated(files, run, names)
    tables = []
    claims = []
    for source in found.sources:
        results = {name: source[name] for name in names}
        _check_defined(results, source.name, run)
        rows = [
            Row(
                name.upper(),
                (
                    *TABLE_2[source.name][name],
                    result.estimate,
                    100 * result.parts["drate"],
                    result.parts.get("self_ratio"),
                    result.parts.get("ref_ratio"),
                ),
            )
            for name, result in results.items()
        ]
        tables.append(Numbers(f"{source.name}, {source.n:,} texts per sample", _COLUMNS_2, tuple(rows), None))
        claims += _table_2_claims(results, source.name)
    return Reproduction(
        name=run.name,
        title="Table 2: QDisc, DRate, Self-Ratio and Ref-Ratio on real texts",
        paper=_PAPER,
        design=f"{_sizes(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % random words give a "
        "curve; QDisc is its quality at the diversity of held-out real text, minus the quality of that text. A ratio "
        "of DRates of at least 50 counts as agreement.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus. Gaps shrink as samples grow.",
            "Noise texts have 5 words, the median or the largest length, and the largest QDisc counts; the paper has "
            "no median length.",
        ),
        claims=tuple(claims),
        conclusion=_table_2_sentence(claims, found),
        options=run.options,
        signature=signature(run.name, {}, data={"texts": digest}, resampling={"seed": run.seed}),
        tables=tuple(tables),
    )


_COLUMNS_2 = tuple(
    f"{what}, {whose}" for whose in ("published", "ours") for what in ("QDisc", "DRate (%)", "Self-Ratio", "Ref-Ratio")
)


def _check_defined(results: Mapping[str, Result], source: str, run: Run) -> None:
    for name, result in results.items():
        if result.undefined is not None:
            reason = f"; {name} of {source} has no value ({result.undefined}); wanted more texts"
            raise InputError(Setting("n_items", run.n_items), reason)


def _table_2_claims(results: Mapping[str, Result], source: str) -> list[Claim]:
    gaps = [results[f"bs-{n}"].estimate for n in (2, 3, 4)]
    printed = [TABLE_2[source][f"bs-{n}"][0] for n in (2, 3, 4)]
    ratios = [results[f"bs-{n}"].parts["drate"] / results[f"cn-{n}"].parts["drate"] for n in (2, 3, 4)]
    published = [TABLE_2[source][f"bs-{n}"][1] / TABLE_2[source][f"cn-{n}"][1] for n in (2, 3, 4)]
    return [
        Claim(
            f"{source}: QDisc of BLEU grows with n ({_listed(printed)})", _listed(gaps), 0 < gaps[0] < gaps[1] < gaps[2]
        ),
        Claim(
            f"{source}: DRate of BLEU is {_listed(published)} times that of CR",
            f"{_listed(ratios)} times",
            min(ratios) >= 50,
        ),
    ]


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(map(number, numbers))


def _table_2_sentence(claims: Sequence[Claim], found: Frontier) -> str:
    coco, news = found.sources
    grows = all(claim.agrees for claim in claims[::2])
    first = "As in the paper, the gap of BLEU grows with n" if grows else "The gap of BLEU does not always grow with n"
    ratios = [claim.agrees for claim in claims[1::2]]
    if all(ratios):
        second = "and its DRate is at least 50 times that of CR and NRR on both corpora"
    elif ratios[0]:
        second = (
            f"and on COCO its DRate is at least 50 times that of CR and NRR; on news it is not for all n, because "
            f"{news.n:,} texts per sample leave a larger sampling error"
        )
    else:
        second = f"but with {coco.n:,} texts per sample its DRate is less than 50 times that of CR and NRR for some n"
    return f"{first}, {second}."


def reproduce_figure_2(files: Sequence[Path], run: Run) -> Reproduction:
    """Mixtures with noise in the planes of BS-3 and CN-3, and real text."""
    found, digest = _estimated(files, run, ("bs-3", "cn-3"))
    claims = tuple(claim for source in found.sources for claim in _mixture_claims(source.name, *source.analyses))
    panels = [_mixture_panel(source.name, analysis) for source in found.sources for analysis in source.analyses]
    return Reproduction(
        name=run.name,
        title="Figure 2: real text and mixtures with noise, by BLEU and NSBLEU and by CR and NRR",
        paper=_PAPER,
        design=f"{_sizes(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % texts of random words "
        "(from right to left), 3-grams. A gap is the quality of the curve with noise of 5 words at the diversity of "
        "real text, minus the quality of real text, as a share of the range of quality.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus.",
            "The paper draws noise of 5 words only; noise of the median and of the largest length is drawn beside it.",
        ),
        claims=claims,
        conclusion=_mixture_sentence(claims),
        options=run.options,
        signature=signature(run.name, {}, data={"texts": digest}, resampling={"seed": run.seed}),
        panels=tuple(panels),
    )


def _mixture_claims(corpus: str, bleu: Analysis, coverage: Analysis) -> list[Claim]:
    gap, small = _gap_at_short_noise(bleu), _gap_at_short_noise(coverage)
    return [
        Claim(
            f"{corpus}: real text is clearly below the curve of BLEU",
            f"a gap of {100 * gap:.2f} % with noise of 5 words, {100 * bleu.result.parts['drate']:.2f} % with the "
            f"noise length of the largest gap ({bleu.result.parts['noise_length']:.0f} words)",
            gap > 0.01,
        ),
        Claim(
            f"{corpus}: real text is close to the curve of CR and NRR",
            f"a gap of {100 * small:.2f} % with noise of 5 words",
            abs(small) < 0.01,
        ),
    ]


def _gap_at_short_noise(analysis: Analysis) -> float:
    points = sorted((diversity, quality) for _, quality, diversity in analysis.curves[0].points)
    at = np.interp(analysis.diversity, [diversity for diversity, _ in points], [quality for _, quality in points])
    return (float(at) - analysis.quality) / analysis.result.parts["range"]


def _mixture_sentence(claims: Sequence[Claim]) -> str:
    coco, coco_cr, news, news_cr = (claim.agrees for claim in claims)
    if coco and coco_cr and news and news_cr:
        return "As in the paper, real text is close to the curve of CR and NRR and clearly below that of BLEU."
    if coco and coco_cr and news_cr:
        return (
            "COCO agrees with the paper, and so do CR and NRR on news; by BLEU, real news is not below the curve "
            "with noise of 5 words but only below that with longer noise."
        )
    return "With this many texts the gaps of BLEU and of CR and NRR do not differ as in the paper."


def _mixture_panel(corpus: str, analysis: Analysis) -> Panel:
    kind = analysis.pair[:2]
    lines = [
        Line(f"noise of {length}", tuple(CurveAt(x, y) for _, x, y in curve.points))
        for length, curve in zip(("5 words", "the median length", "the largest length"), analysis.curves, strict=True)
    ]
    return Panel(
        f"{corpus}: {'BLEU-3 and NSBLEU-3' if kind == 'bs' else 'CR-3 and NRR-3'}",
        f"quality: {_QUALITY[kind]}",
        f"diversity: {_DIVERSITY[kind]}",
        tuple(lines),
        points=(NamedPoint("real text", analysis.quality, analysis.diversity),),
        tabled=False,
    )


_TEMPERATURES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
_METRICS_3 = {"CR": "cr", "NRR": "nrr", "CND": "cnd"}


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """CR, NRR and CND of the texts of a language model over its temperature."""
    spec = run.by_scale("ngram:order=4", "ngram:order=4", "lstm:preset=li2020")
    curves: dict[str, dict[str, list[float]]] = {metric: {} for metric in _METRICS_3}
    digests = []
    for corpus, part in _DATA.items():
        size = available(files[part], run.n_items, 2)
        drawn = draw_texts(files[part], (size, size), run.seed)
        training, reference = drawn.parts
        model = train_model(spec, training, seed=run.seed)
        texts = generate(model, size, _TEMPERATURES, run.seed)
        found = measure(
            reference,
            {f"t{t:g}": texts[t] for t in texts},
            "cr:n=2,nrr:n=2,cnd:n=2",
            progress=run.progress,
            seed=run.seed,
        )
        for metric, name in _METRICS_3.items():
            curves[metric][corpus] = values(found, f"{name}-2")
        digests.append(f"{size}-of-{drawn.digest}")
    claims = tuple(claim for corpus in _DATA for claim in _sweep_claims(corpus, curves))
    return Reproduction(
        name=run.name,
        title="Figure 3: CR, NRR and CND over the temperature of a language model",
        paper=_PAPER,
        design=f"A language model ({spec}) is trained on {size:,} texts or fewer of each corpus and generates as many "
        "at each temperature; CR, NRR and CND of 2-grams against as many other real texts.",
        differs=_figure_3_differs(spec),
        claims=claims,
        conclusion=_sweep_sentence(claims),
        options=run.options,
        signature=signature(
            run.name, {}, settings={"model": spec}, data={"texts": "+".join(digests)}, resampling={"seed": run.seed}
        ),
        panels=tuple(
            Panel(
                f"{metric}, 2-grams",
                "temperature",
                metric,
                tuple(
                    Line(corpus, tuple(CurveAt(t, y) for t, y in zip(_TEMPERATURES, curve, strict=True)))
                    for corpus, curve in by_corpus.items()
                ),
            )
            for metric, by_corpus in curves.items()
        ),
    )


def _figure_3_differs(spec: str) -> tuple[str, ...]:
    sizes = "The paper trains on 50,000 texts or more; the news corpus here has 20,000 in total."
    model = "The paper's model is an LSTM of 128 units trained for 30 epochs; this one is a 4-gram model."
    return (sizes,) if spec.startswith("lstm") else (model, sizes)


def _sweep_claims(corpus: str, curves: dict[str, dict[str, list[float]]]) -> list[Claim]:
    quality, diversity, divergence = (np.array(curves[metric][corpus]) for metric in _METRICS_3)
    best = _TEMPERATURES[int(divergence.argmin())]
    falls, rises = bool((np.diff(quality) < 0).all()), bool((np.diff(diversity) > 0).all())
    span = "from t = 0.5 to t = 1.5"
    return [
        Claim(
            f"{corpus}: CR falls as the temperature grows",
            f"from {number(quality[0])} to {number(quality[-1])} {span}",
            falls,
        ),
        Claim(
            f"{corpus}: NRR rises as the temperature grows",
            f"from {number(diversity[0])} to {number(diversity[-1])} {span}",
            rises,
        ),
        Claim(f"{corpus}: CND is least near t = 1.0", f"least at t = {best:g}", 0.9 <= best <= 1.1),
    ]


def _sweep_sentence(claims: Sequence[Claim]) -> str:
    off = [claim for claim in claims if not claim.agrees]
    if not off:
        return "As in the paper, CR falls and NRR rises with the temperature, and CND is least near t = 1.0."
    return "; ".join(f"{claim.published.partition(',')[0]} does not hold ({claim.found})" for claim in off) + "."
