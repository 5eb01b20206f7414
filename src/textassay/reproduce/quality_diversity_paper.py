"""Tables and figures of Li et al. (2020): which quality-diversity pairs reflect how well a distribution is fitted."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.document.words import number
from textassay.errors import InputError, Setting
from textassay.inference.result import Result, signature
from textassay.models.choose import train_model
from textassay.reproduce.claims import Check, Claim, Measured, Rule, exact_steps, steps
from textassay.reproduce.result import CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import N_PARTS, TOKENIZER, available, draw_texts, generate, measure_parts
from textassay.studies.frontier.result import Analysis, Frontier, SourceColumn
from textassay.studies.frontier.small_space import (
    LENGTH,
    all_texts,
    bleu_pair,
    coverage_pair,
    ngram_counts,
    oracle_distribution,
)
from textassay.studies.frontier.study import frontier

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
    return Reproduction(
        name=run.name,
        title="Figure 1: with LL and SE the real distribution is on the Pareto frontier",
        paper=_PAPER,
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
        exact_steps("diversity", (f"point {place}" for place in range(1, len(ordered) + 1)), (d for _, d in ordered)),
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
    return Reproduction(
        name=run.name,
        title="Figure 4: with pairs that do not match, the real distribution is below the frontier",
        paper=_PAPER,
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
        paper=_PAPER,
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


_DATA = {"MSCOCO": slice(0, 2), "WMT news": slice(2, 4)}


# Texts are split at random into real text and reference this many times, which gives every number its interval.
_SPLITS = 5


@dataclass(frozen=True, eq=False)
class Estimated:
    """The estimates of section 6.2 of one corpus, one per random split of its texts."""

    corpus: str
    n: int
    splits: tuple[SourceColumn, ...]
    digest: str

    def over(
        self, value: Callable[[SourceColumn], float], *, less: Callable[[SourceColumn], float] | None = None
    ) -> Measured:
        """The mean of a number over the splits, or of a difference of two."""
        return Measured.over([value(split) - (less(split) if less else 0.0) for split in self.splits])


def _estimated(files: Sequence[Path], run: Run, pairs: Sequence[str]) -> tuple[Estimated, ...]:
    """The estimates on both data sets, with as many texts per sample as there are."""
    found = []
    for corpus, part in _DATA.items():
        size = available(files[part], run.n_items, 2)
        splits = []
        for seed in range(run.seed, run.seed + _SPLITS):
            drawn = draw_texts(files[part], (size, size), seed)
            real, reference = drawn.parts
            column = frontier(
                {corpus: real},
                reference=reference,
                pairs=list(pairs),
                tokenizer=TOKENIZER,
                n_seeds=1,
                seed=seed,
                progress=run.progress,
            ).sources[0]
            for name in pairs:
                _check_defined(column[name], name, corpus, run)
            splits.append(column)
        found.append(Estimated(corpus, size, tuple(splits), f"{size}-of-{drawn.digest}"))
    return tuple(found)


def _design_of(found: Sequence[Estimated]) -> str:
    sizes = " and ".join(f"{each.n:,} + {each.n:,} texts of {each.corpus}" for each in found)
    return f"{sizes}, words between blanks, split at random {_SPLITS} times"


def _signature_of(run: Run, found: Sequence[Estimated]) -> str:
    texts = "+".join(each.digest for each in found)
    return signature(
        run.name,
        {},
        settings={"tok": TOKENIZER},
        data={"texts": texts},
        resampling={"splits": _SPLITS, "seed": run.seed},
    )


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """QDisc, DRate, Self-Ratio and Ref-Ratio of BLEU and CR pairs on real texts."""
    names = list(TABLE_2["MSCOCO"])
    found = _estimated(files, run, names)
    return Reproduction(
        name=run.name,
        title="Table 2: QDisc, DRate, Self-Ratio and Ref-Ratio on real texts",
        paper=_PAPER,
        design=f"{_design_of(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % random words give a "
        "curve; QDisc is its quality at the diversity of held-out real text, minus the quality of that text. Noise "
        "texts have 5 words or the largest length, and the larger QDisc counts, as in the paper. All "
        "numbers are means over the splits, with the interval of Student's t.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus, without rare words and long texts. Gaps shrink as "
            "samples grow.",
        ),
        claims=tuple(claim for each in found for claim in _table_2_claims(each)),
        options=run.options,
        signature=_signature_of(run, found),
        tables=tuple(
            Numbers(
                f"{each.corpus}, {each.n:,} texts per sample",
                _COLUMNS_2,
                tuple(_table_2_row(each, name) for name in names),
                None,
            )
            for each in found
        ),
    )


_COLUMNS_2 = tuple(
    f"{what}, {whose}" for whose in ("published", "ours") for what in ("QDisc", "DRate (%)", "Self-Ratio", "Ref-Ratio")
)


def _table_2_row(found: Estimated, name: str) -> Row:
    ours = (
        found.over(lambda split: split[name].estimate),
        found.over(lambda split: 100 * split[name].parts["drate"]),
        found.over(lambda split: split[name].parts.get("self_ratio", math.nan)),
        found.over(lambda split: split[name].parts.get("ref_ratio", math.nan)),
    )
    return Row(name.upper(), (*TABLE_2[found.corpus][name], *(each.estimate for each in ours)))


def _check_defined(result: Result, name: str, corpus: str, run: Run) -> None:
    if result.undefined is not None:
        reason = f"; {name} of {corpus} has no value ({result.undefined}); wanted more texts"
        raise InputError(Setting("n_items", run.n_items), reason)


def _table_2_claims(found: Estimated) -> list[Claim]:
    def gap(name: str) -> Callable[[SourceColumn], float]:
        return lambda split: split[name].estimate

    def rate(name: str, times: float = 1.0) -> Callable[[SourceColumn], float]:
        return lambda split: times * split[name].parts["drate"]

    printed = {name: values[0] for name, values in TABLE_2[found.corpus].items()}
    times = [TABLE_2[found.corpus][f"bs-{n}"][1] / TABLE_2[found.corpus][f"cn-{n}"][1] for n in _ORDERS]
    return [
        Claim(
            f"{found.corpus}: QDisc of BLEU is positive and grows with n",
            (
                Check("BS-2", found.over(gap("bs-2"))),
                Check("BS-3 less BS-2", found.over(gap("bs-3"), less=gap("bs-2"))),
                Check("BS-4 less BS-3", found.over(gap("bs-4"), less=gap("bs-3"))),
            ),
            "above",
            0.0,
            _OVER_SPLITS,
        ),
        Claim(
            f"{found.corpus}: QDisc of BLEU-2 to BLEU-4 is about {_listed(printed[f'bs-{n}'] for n in _ORDERS)}",
            tuple(
                Check(
                    f"BS-{n}, as a share of the printed", _share_of(found.over(gap(f"bs-{n}")), printed[f"bs-{n}"]), 1.0
                )
                for n in _ORDERS
            ),
            "within",
            0.5,
            f"half of the printed value, because the texts are others; {_OVER_SPLITS}",
        ),
        Claim(
            f"{found.corpus}: DRate of BLEU is many times that of CR and NRR ({_listed(times)} times)",
            tuple(
                Check(
                    f"DRate of BS-{n} less {_MANY} times that of CN-{n}",
                    found.over(rate(f"bs-{n}"), less=rate(f"cn-{n}", _MANY)),
                )
                for n in _ORDERS
            ),
            "above",
            0.0,
            f"{_MANY} times is about half of the smallest ratio that is printed; a difference is compared, because "
            f"DRate of CN can be 0; {_OVER_SPLITS}",
        ),
    ]


_ORDERS = (2, 3, 4)
_MANY = 50
_OVER_SPLITS = "intervals over random splits of the texts"


def _share_of(found: Measured, printed: float) -> Measured:
    return Measured(*(None if value is None else value / printed for value in (found.estimate, found.low, found.high)))


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(map(number, numbers))


def reproduce_figure_2(files: Sequence[Path], run: Run) -> Reproduction:
    """Mixtures with noise in the planes of BS-3 and CN-3, and real text."""
    found = _estimated(files, run, ("bs-3", "cn-3"))
    return Reproduction(
        name=run.name,
        title="Figure 2: real text and mixtures with noise, by BLEU and NSBLEU and by CR and NRR",
        paper=_PAPER,
        design=f"{_design_of(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % texts of random words "
        "(from right to left), 3-grams. A gap is the quality of the curve with noise of 5 words at the diversity of "
        "real text, minus the quality of real text, as a share of the range of quality. The first split is drawn.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus, without rare words and long texts.",
            "The paper draws noise of 5 words only; noise of the largest length is drawn beside it.",
        ),
        claims=tuple(claim for each in found for claim in _mixture_claims(each)),
        options=run.options,
        signature=_signature_of(run, found),
        panels=tuple(_mixture_panel(each.corpus, analysis) for each in found for analysis in each.splits[0].analyses),
    )


def _mixture_claims(found: Estimated) -> list[Claim]:
    clear, basis = 0.01, f"1 % of the range of quality; {_OVER_SPLITS}"

    def gap(name: str) -> tuple[Check]:
        measured = found.over(lambda split: _gap_at_short_noise(split.analysis(name)))
        return (Check(f"gap of {name.upper()}", measured),)

    return [
        Claim(f"{found.corpus}: real text is clearly below the curve of BLEU", gap("bs-3"), "above", clear, basis),
        Claim(f"{found.corpus}: real text is close to the curve of CR and NRR", gap("cn-3"), "within", clear, basis),
    ]


def _gap_at_short_noise(analysis: Analysis) -> float:
    points = sorted((diversity, quality) for _, quality, diversity in analysis.curves[0].points)
    at = np.interp(analysis.diversity, [diversity for diversity, _ in points], [quality for _, quality in points])
    return (float(at) - analysis.quality) / analysis.result.parts["range"]


def _mixture_panel(corpus: str, analysis: Analysis) -> Panel:
    kind = analysis.pair[:2]
    lines = [
        Line(f"noise of {length}", tuple(CurveAt(x, y) for _, x, y in curve.points))
        for length, curve in zip(("5 words", "the largest length"), analysis.curves, strict=True)
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
    preset = "lstm:preset=li2020"
    spec = run.by_scale("ngram:order=4", f"{preset}:epochs={_LAPTOP_EPOCHS}", preset)
    curves: dict[str, dict[str, list[float]]] = {metric: {} for metric in _METRICS_3}
    claims: list[Claim] = []
    digests = []
    for corpus, part in _DATA.items():
        size = available(files[part], run.n_items, 2)
        drawn = draw_texts(files[part], (size, size), run.seed)
        training, reference = drawn.parts
        model = train_model(spec, training, seed=run.seed)
        texts = generate(model, size, _TEMPERATURES, run.seed)
        found = measure_parts(reference, {_at(t): each for t, each in texts.items()}, "cr:n=2,nrr:n=2,cnd:n=2", run)
        for metric, name in _METRICS_3.items():
            curves[metric][corpus] = [float(np.mean(each)) for each in found[f"{name}-2"].values()]
        claims += _sweep_claims(corpus, found)
        digests.append(f"{size}-of-{drawn.digest}")
    return Reproduction(
        name=run.name,
        title="Figure 3: CR, NRR and CND over the temperature of a language model",
        paper=_PAPER,
        design=f"A language model ({spec}) is trained on {size:,} texts or fewer of each corpus and generates as many "
        "at each temperature; CR, NRR and CND of 2-grams against as many other real texts, each as the mean over "
        f"{N_PARTS} parts of the generated texts.",
        differs=_figure_3_differs(run, run.n_items),
        claims=tuple(claims),
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


_LAPTOP_EPOCHS = 8


def _figure_3_differs(run: Run, size: int) -> tuple[str, ...]:
    sizes = (
        f"The paper trains on 200,000 texts (appendix G.2) and measures 50,000 against 50,000; here it is {size:,} or "
        "fewer each, and the news corpus has 20,000 in total."
    )
    model = run.by_scale(
        ("The paper's model is an LSTM of 128 units trained for 30 epochs; this one is a 4-gram model.",),
        (f"The model is the paper's, an LSTM of 128 units, trained for {_LAPTOP_EPOCHS} epochs in place of 30.",),
        (),
    )
    return (*model, sizes)


def _at(temperature: float) -> str:
    return f"t = {temperature:g}"


def _sweep_claims(corpus: str, found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Claim]:
    basis = f"each step of the temperature; intervals over {N_PARTS} parts of the generated texts"
    divergence = found["cnd-2"]
    near = [_at(t) for t in _TEMPERATURES if 0.9 <= t <= 1.1]
    lowest = min(near, key=lambda place: float(np.mean(divergence[place])))
    return [
        Claim(
            f"{corpus}: CR falls as the temperature grows",
            steps("CR", found["cr-2"], found["cr-2"].values()),
            "below",
            0.0,
            basis,
        ),
        Claim(
            f"{corpus}: NRR rises as the temperature grows",
            steps("NRR", found["nrr-2"], found["nrr-2"].values()),
            "above",
            0.0,
            basis,
        ),
        Claim(
            f"{corpus}: CND is least near t = 1.0",
            tuple(
                Check(f"CND at {place} less that at {lowest}", Measured.over(np.subtract(values, divergence[lowest])))
                for place, values in divergence.items()
                if place not in near
            ),
            "above",
            0.0,
            f"the least of t = 0.9 to 1.1 against every other temperature; intervals over {N_PARTS} parts",
        ),
    ]
