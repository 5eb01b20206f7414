"""Tables 2 to 7 and Figures 2 and 3 of the paper on Distributional Discrepancy, with LSTMs and GPT-2 as generators."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import stream
from textassay.inference.result import Interval, Result, option_fields, result_of, sample_field, signature
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.discrepancy_generators import (
    KINDS,
    METRICS,
    SHARES,
    TEMPERATURES,
    Experiment,
    Found,
    Unit,
    World,
    measured_generators,
)
from textassay.reproduce.discrepancy_paper import (
    ORACLE_DD,
    REAL_BLEU,
    REAL_DD,
    REAL_TAU,
    REAL_VALID_DD,
    SYNTHETIC_DD,
    SYNTHETIC_FED,
    SYNTHETIC_TAU,
)
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.agreement.correlation import tau_b
from textassay.studies.agreement.study import dominated_shares
from textassay.studies.compare.result import Column, Comparison

_PAPER = "cai2020"
_DD = tuple(name for name in METRICS if name.startswith("DD"))
_GROUPS = (*KINDS, "all 10")
_DRAWS = 500
_LEVEL = 0.95
# A tau of five generators is 0.8 if one pair of ten is in the wrong order.
_ONE_PAIR = 0.2
_BY_ERRORS = "intervals from standard errors of the values"
_BY_DRAWS = f"intervals from {_DRAWS} draws of the values within their standard errors, of generators and of seeds"
_BY_PAIRS = "intervals over pairs of neighbouring shares of all seeds"
_NO_VALUE = "the metric has no value for the texts of this generator"


def _values(found: Found, metric: str, group: str, seed: int) -> tuple[F64, F64]:
    """Values and standard errors of a metric for the generators of a group, lower values for better generators."""
    units = _units(group, seed)
    if metric == "dd":
        pairs = [found[unit].dd or (math.nan, math.nan) for unit in units]
    else:
        sign = -1 if METRICS[metric][1] else 1
        pairs = [(sign * found[unit].values[metric][0], found[unit].values[metric][1]) for unit in units]
    return np.array([value for value, _ in pairs]), np.array([error for _, error in pairs])


def _units(group: str, seed: int) -> list[Unit]:
    return [Unit(kind, share, seed) for kind in KINDS if group in (kind, _GROUPS[-1]) for share in SHARES]


def _gold(found: Found, experiment: Experiment, group: str, seed: int) -> tuple[F64, F64]:
    """The gold order and its errors: the oracle dd, or where it is not known the share of training texts."""
    if experiment.world == "synthetic":
        return _values(found, "dd", group, seed)
    shares = -np.array([float(unit.share) for unit in _units(group, seed)])
    return shares, np.zeros(len(shares))


class Taus:
    """Kendall's tau-b of metrics with the gold order, and draws of it.

    A draw has each value within its standard error, and generators and seeds with replacement, the same ones for all
    metrics: a few generators in order show little about other generators.
    """

    def __init__(self, found: Found, experiment: Experiment, seed: int) -> None:
        self._found, self._experiment, self._seed = found, experiment, seed
        rng = stream(seed, "draws of seeds")
        self._seeds = rng.integers(0, experiment.seeds, (_DRAWS, experiment.seeds))

    @cache  # noqa: B019
    def estimate(self, metric: str, group: str) -> float:
        """The mean over seeds; a metric with one value for all generators has tau 0."""
        found = [
            tau_b(
                list(_values(self._found, metric, group, seed)[0]),
                list(_gold(self._found, self._experiment, group, seed)[0]),
            )
            for seed in range(self._experiment.seeds)
        ]
        return float(np.mean(np.nan_to_num(found)))

    @cache  # noqa: B019
    def draws(self, metric: str, group: str) -> F64:
        """Means over drawn seeds of taus of drawn generators with drawn values."""
        taus = np.empty((self._experiment.seeds, _DRAWS))
        for seed in range(self._experiment.seeds):
            x, y = (
                value + error * stream(self._seed, "draws", name, group, seed).standard_normal((_DRAWS, len(value)))
                for name, (value, error) in (
                    (metric, _values(self._found, metric, group, seed)),
                    ("gold", _gold(self._found, self._experiment, group, seed)),
                )
            )
            chosen = stream(self._seed, "draws of generators", group, seed).integers(0, x.shape[1], x.shape)
            taus[seed] = _taus_of_rows(*(np.take_along_axis(side, chosen, axis=1) for side in (x, y)))
        return np.asarray(taus[self._seeds, np.arange(_DRAWS)[:, None]].mean(axis=1))

    def measured(self, metric: str, group: str) -> Measured:
        """Tau of a metric."""
        return _around(self.estimate(metric, group), self.draws(metric, group))

    def lead(self, first: str, second: str, group: str) -> Measured:
        """How much larger tau of the first metric is."""
        apart = self.draws(first, group) - self.draws(second, group)
        return _around(self.estimate(first, group) - self.estimate(second, group), apart)


def _around(estimate: float, draws: F64) -> Measured:
    """An estimate and the quantiles of draws around it; draws have errors twice and may all be on one side of it."""
    low, high = np.quantile(draws, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Measured.between(estimate, min(float(low), estimate), max(float(high), estimate))


def _taus_of_rows(x: F64, y: F64) -> F64:
    """Tau-b of each row of x with that row of y; 0 where one has ties only."""
    first, second = np.triu_indices(x.shape[1], 1)
    mine, theirs = np.sign(x[:, first] - x[:, second]), np.sign(y[:, first] - y[:, second])
    untied = np.sqrt((mine**2).sum(axis=1) * (theirs**2).sum(axis=1))
    return np.asarray((mine * theirs).sum(axis=1) / np.maximum(untied, 1.0))


def _mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of values over seeds and its standard error."""
    values, errors = np.array(pairs).T
    return float(values.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def _over_seeds(found: Found, experiment: Experiment, metric: str, kind: str, share: str) -> tuple[float, float]:
    units = [Unit(kind, share, seed) for seed in range(experiment.seeds)]
    if metric == "dd":
        return _mean([found[unit].dd or (math.nan, math.nan) for unit in units])
    return _mean([found[unit].values[metric] for unit in units])


def _difference(first: tuple[float, float], second: tuple[float, float]) -> Measured:
    return Measured.give_or_take(first[0] - second[0], math.hypot(first[1], second[1]))


def _falls(found: Found, experiment: Experiment, metric: str, kind: str) -> tuple[Check, ...]:
    """The change of a metric from each share of the training texts to the next."""
    means = {share: _over_seeds(found, experiment, metric, kind, share) for share in SHARES}
    return tuple(
        Check(f"{kind}, {before} to {after}", _difference(means[after], means[before]))
        for before, after in pairwise(SHARES)
    )


def _design(experiment: Experiment) -> str:
    models = " and ".join(f"{name} ({experiment.models[kind]})" for name, kind in KINDS.items())
    seeds = "1 seed" if experiment.seeds == 1 else f"{experiment.seeds} seeds"
    source = (
        f"{experiment.pool:,} captions of COCO"
        if experiment.world == "real"
        else f"{experiment.pool:,} texts of an original, a GPT-2 trained on as many captions of COCO"
    )
    return (
        f"Generators of two kinds, {models}, are trained on 20, 40, 60, 80 and 100 % of {source}, with {seeds}. Each "
        f"writes {experiment.texts:,} texts, which are compared with as many others of the same source; the network "
        f"reads {experiment.network_texts:,} of each, metrics on vectors ({experiment.encoder}) "
        f"{experiment.vector_texts:,}. Words with fewer than one occurrence per 200 texts of the pool are <unk>. "
        + (
            "The gold order is that of the training texts: more is better."
            if experiment.world == "real"
            else f"The gold order is the oracle dd, from the probabilities of both models for {experiment.pool:,} "
            "texts of each."
        )
    )


def _differs(experiment: Experiment) -> tuple[str, ...]:
    return (
        f"The paper has 280,000 sentences of news; here it is {experiment.pool:,} captions, and the models are "
        f"{' and '.join(experiment.models.values())}.",
        f"DD is that of the network (size={experiment.network}) with a random split of 80, 10 and 10 %, so that the "
        f"test part has {2 * (experiment.network_texts // 10):,} texts. The paper trains it on the training texts of "
        "the generator and tests it on 20,000 others; here no generator has seen the real texts.",
        "FED is the squared Frechet distance; the paper has it on vectors of the Universal Sentence Encoder, here it "
        f"is on those of {experiment.encoder}.",
        "LM score and reverse LM score use 5-gram models in place of LSTMs.",
    )


def _reproduction(
    run: Run,
    experiment: Experiment,
    files: Sequence[Path],
    title: str,
    claims: Sequence[Claim],
    tables: Sequence[Numbers] = (),
    panels: Sequence[Panel] = (),
    scores: Comparison | None = None,
) -> Reproduction:
    texts = "+".join(sample_field(read_sample(str(file))) for file in files)
    return Reproduction(
        name=run.name,
        title=title,
        paper=_PAPER,
        design=_design(experiment),
        differs=_differs(experiment),
        claims=tuple(claims),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"models": "+".join(experiment.models.values()), "enc": experiment.encoder},
            data={"texts": texts, "pool": experiment.pool, "size": experiment.texts},
            resampling={"seeds": experiment.seeds, "seed": run.seed},
        ),
        tables=tuple(tables),
        panels=tuple(panels),
        scores=scores,
    )


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """The oracle dd and its estimate by a classifier, of generators of synthetic texts."""
    experiment, found = measured_generators("synthetic", files, run)
    taus = Taus(found, experiment, run.seed)
    rows, below = [], []
    for printed in ORACLE_DD:
        kind, share = printed.split()
        oracle, estimate = (_over_seeds(found, experiment, metric, kind, share) for metric in ("dd", "DD"))
        rows.append(
            Row(printed, (ORACLE_DD[printed], oracle[0], oracle[1], SYNTHETIC_DD[printed], estimate[0], estimate[1]))
        )
        below.append(Check(printed, _difference(estimate, oracle)))
    claims = (
        Claim(
            "the oracle dd falls with every fifth of training texts",
            tuple(check for kind in KINDS for check in _falls(found, experiment, "dd", kind)),
            "below",
            0.0,
            _BY_ERRORS,
        ),
        Claim("the estimate is below the oracle dd for all generators", tuple(below), "below", 0.0, _BY_ERRORS),
        _perfect("the estimate orders all ten generators as the oracle dd does (tau 1)", taus, _GROUPS[-1:], 0.1),
    )
    columns = tuple(f"{what}, {whose}" for what in ("dd", "estimate") for whose in ("published", "ours", "its error"))
    return _reproduction(
        run,
        experiment,
        files,
        "Table 2: oracle dd and its estimate on synthetic texts",
        claims,
        (Numbers("The oracle dd and its estimate, means over seeds", columns, tuple(rows), 3),),
    )


def _perfect(statement: str, taus: Taus, groups: Sequence[str], margin: float) -> Claim:
    basis = f"margin: {'one pair of ten' if margin == _ONE_PAIR else 'two pairs of 45'} in another order; {_BY_DRAWS}"
    checks = tuple(Check(f"tau of DD, {group}", taus.measured("DD", group), 1.0) for group in groups)
    return Claim(statement, checks, "within", margin, basis)


def reproduce_table_3(files: Sequence[Path], run: Run) -> Reproduction:
    """DD of generators of captions, on the validation and on the test part."""
    experiment, found = measured_generators("real", files, run)
    rows = []
    for printed in REAL_DD:
        kind, share = printed.split()
        units = [Unit(kind, share, seed) for seed in range(experiment.seeds)]
        parts = [found[unit].parts for unit in units]
        ours = [float(np.mean([part[name] for part in parts])) for name in ("validation_accuracy", "accuracy")]
        error = _over_seeds(found, experiment, "DD", kind, share)[1]
        valid, test = REAL_VALID_DD[printed], REAL_DD[printed]
        numbers = ((1 + valid) / 2, ours[0], valid, 2 * ours[0] - 1, (1 + test) / 2, ours[1], test, 2 * ours[1] - 1)
        rows.append(Row(printed, (*numbers, error)))
    claims = [
        Claim(
            f"{kind}: DD falls with every fifth of training texts",
            _falls(found, experiment, "DD", kind),
            "below",
            0.0,
            _BY_ERRORS,
        )
        for kind in KINDS
    ]
    claims.append(
        Claim(
            "DD is lower with all training texts than with a fifth of them",
            tuple(
                Check(
                    kind, _difference(*(_over_seeds(found, experiment, "DD", kind, share) for share in ("1.0", "0.2")))
                )
                for kind in KINDS
            ),
            "below",
            0.0,
            _BY_ERRORS,
        )
    )
    columns = tuple(
        f"{part} {what}, {whose}"
        for part in ("valid", "test")
        for what in ("accuracy", "DD")
        for whose in ("published", "ours")
    )
    return _reproduction(
        run,
        experiment,
        files,
        "Table 3: DD of generators of real texts",
        claims,
        (
            Numbers("DD of the network, means over seeds", (*columns, "error of test DD"), tuple(rows), 3),
            *(_value_table(found, experiment, kind) for kind in KINDS),
        ),
        [_dd_panel(found, experiment, kind) for kind in KINDS],
        _scores(found, experiment, files[1], run.seed),
    )


def _value_table(found: Found, experiment: Experiment, kind: str) -> Numbers:
    rows = [
        Row(name, tuple(_known(_over_seeds(found, experiment, name, kind, share)[0]) for share in SHARES))
        for name in METRICS
    ]
    return Numbers(f"{kind}: all metrics by the share of the pool, means over seeds", SHARES, tuple(rows), None)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _dd_panel(found: Found, experiment: Experiment, kind: str) -> Panel:
    lines = []
    for name in _DD:
        means = [_over_seeds(found, experiment, name, kind, share) for share in SHARES]
        points = tuple(
            CurveAt(float(share), mean, mean - 1.96 * error, mean + 1.96 * error)
            for share, (mean, error) in zip(SHARES, means, strict=True)
        )
        lines.append(Line(name, points))
    return Panel(f"{kind}: DD over the share of training texts", "share of the pool", "DD", tuple(lines), tabled=False)


def _scores(found: Found, experiment: Experiment, real: Path, seed: int) -> Comparison:
    """The values of every generator as a comparison with the file of real texts, from which each seed draws its own."""
    specs = [spec.format(network=experiment.network) for spec, *_ in METRICS.values()]
    requests = dict(zip(METRICS, parse_requests(specs), strict=True))
    texts, n = read_sample(str(real)), experiment.texts

    def result(unit: Unit, name: str, request: Request) -> Result:
        (value, error), data = found[unit].values[name], {"generator": unit, "file": sample_field(texts), "texts": n}
        fixed = signature(request.metric.name, option_fields(request), data=data, resampling={"seed": seed})
        half = 1.96 * error
        interval = Interval(value - half, value + half, _LEVEL, request.metric.interval or "none") if error else None
        return result_of(
            request,
            value,
            interval=interval,
            signature=fixed,
            n=n,
            undefined=_NO_VALUE if math.isnan(value) else None,
        )

    columns = [
        Column(str(unit), n, "", tuple(result(unit, *named) for named in requests.items()))
        for unit in sorted(found, key=str)
    ]
    return Comparison(
        reference=Column(texts.name, len(texts), texts.digest, ()),
        real=Column("real v real", 0, "", tuple(map(_no_baseline, requests.values()))),
        candidates=tuple(columns),
        labels=tuple(request.label for request in requests.values()),
        contests=(),
        level=_LEVEL,
        notes=(),
    )


def _no_baseline(request: Request) -> Result:
    return result_of(request, math.nan, undefined="no baseline: real text has no generator", signature="")


def _tau_reproduction(
    world: World, title: str, published: Mapping[str, tuple[float, ...]], files: Sequence[Path], run: Run
) -> Reproduction:
    """Kendall's tau of metrics beside the printed ones: whether DD is perfect, and better than each other metric."""
    experiment, found = measured_generators(world, files, run)
    taus = Taus(found, experiment, run.seed)
    groups = _GROUPS[: len(published["DD"])]
    claims = [_perfect("DD ranks the generators perfectly (tau 1)", taus, groups, _ONE_PAIR)]
    for metric, printed in published.items():
        better = [group for group, theirs, own in zip(groups, printed, published["DD"], strict=True) if own > theirs]
        if better:
            checks = [Check(f"tau of DD less that of {metric}, {g}", taus.lead("DD", metric, g)) for g in better]
            claims.append(Claim(f"DD ranks better than {metric}", tuple(checks), "above", 0.0, _BY_DRAWS))
    rows = []
    for metric in METRICS:
        numbers: list[float | None] = []
        for at, group in enumerate(groups):
            ours = taus.measured(metric, group)
            theirs = published[metric][at] if metric in published else None
            numbers += [theirs, ours.estimate, ours.low, ours.high]
        rows.append(Row(metric, tuple(numbers)))
    columns = tuple(f"{group}, {what}" for group in groups for what in ("published", "ours", "low", "high"))
    return _reproduction(
        run, experiment, files, title, claims, (Numbers("Kendall's tau-b, means over seeds", columns, tuple(rows)),)
    )


def reproduce_table_4(files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau of metrics with the share of training texts, on real captions."""
    title = "Table 4: Kendall's tau of metrics with the order of generators, real texts"
    return _tau_reproduction("real", title, REAL_TAU, files, run)


def reproduce_table_5(files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau of metrics with the oracle dd, on synthetic texts."""
    title = "Table 5: Kendall's tau of metrics with the oracle dd, synthetic texts"
    return _tau_reproduction("synthetic", title, SYNTHETIC_TAU, files, run)


def reproduce_table_6(files: Sequence[Path], run: Run) -> Reproduction:
    """FED of generators of synthetic texts."""
    experiment, found = measured_generators("synthetic", files, run)
    taus = Taus(found, experiment, run.seed)
    means = {name: _over_seeds(found, experiment, "FED", *name.split()) for name in SYNTHETIC_FED}
    best, *others = sorted(SYNTHETIC_FED, key=lambda name: SYNTHETIC_FED[name])
    claims = (
        Claim(
            "FED orders the ten generators much as the oracle dd does (tau 0.92; 0.87 from the printed scores)",
            (Check("tau of FED, all 10", taus.measured("FED", _GROUPS[-1]), 0.92),),
            "within",
            0.1,
            f"margin: twice the printed difference; {_BY_DRAWS}",
        ),
        Claim(
            f"{best} has the lowest FED",
            tuple(Check(f"{best} less {name}", _difference(means[best], means[name])) for name in others),
            "below",
            0.0,
            _BY_ERRORS,
        ),
        Claim(
            "DD orders the ten generators better than FED",
            (Check("tau of DD less that of FED, all 10", taus.lead("DD", "FED", _GROUPS[-1])),),
            "above",
            0.0,
            _BY_DRAWS,
        ),
    )
    rows = tuple(Row(name, (SYNTHETIC_FED[name], *means[name], ORACLE_DD[name])) for name in (best, *others))
    columns = ("FED, published", "FED, ours", "its error", "oracle dd, published")
    return _reproduction(
        run,
        experiment,
        files,
        "Table 6: FED of generators of synthetic texts",
        claims,
        (Numbers("FED, means over seeds", columns, rows, 3),),
    )


def reproduce_table_7(files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU and Self-BLEU of generators of real texts."""
    experiment, found = measured_generators("real", files, run)
    taus = Taus(found, experiment, run.seed)
    names = [f"{kind}-{n}" for kind in ("BLEU", "Self-BLEU") for n in (2, 3, 4)]
    rows = []
    for printed, values in REAL_BLEU.items():
        kind, share = printed.split()
        ours = [_over_seeds(found, experiment, name, kind, share)[0] for name in names]
        rows.append(Row(printed, tuple(value for pair in zip(values, ours, strict=True) for value in pair)))
    claims = [
        Claim(
            f"{kind}: neither BLEU nor Self-BLEU ranks the generators as well as DD",
            tuple(Check(f"tau of DD less that of {name}", taus.lead("DD", name, kind)) for name in names),
            "above",
            0.0,
            _BY_DRAWS,
        )
        for kind in KINDS
    ]
    claims.append(
        Claim(
            "Self-BLEU is lowest, its best value, for the generators of a fifth of the texts",
            tuple(
                Check(f"{kind}, Self-BLEU-{n}, 0.2 less {share}", _difference(first, then))
                for kind in KINDS
                for n in (2, 3, 4)
                for first in (_over_seeds(found, experiment, f"Self-BLEU-{n}", kind, "0.2"),)
                for share in SHARES[1:]
                for then in (_over_seeds(found, experiment, f"Self-BLEU-{n}", kind, share),)
            ),
            "below",
            0.0,
            _BY_ERRORS,
        )
    )
    columns = tuple(f"{name}, {whose}" for name in names for whose in ("published", "ours"))
    return _reproduction(
        run,
        experiment,
        files,
        "Table 7: BLEU and Self-BLEU of generators of real texts",
        claims,
        (Numbers("BLEU and Self-BLEU at temperature 1, means over seeds", columns, tuple(rows), 3),),
    )


_PLANES = {"BLEU-5 with Self-BLEU-5": ("Self-BLEU-5", "BLEU-5"), "LM scores": ("reverse LM score", "LM score")}


def reproduce_figure_2(files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU and Self-BLEU, LM scores, and FED of generators over temperatures, on real captions."""
    title = "Figure 2: metrics of generators over temperatures, real texts"
    return _figure("real", title, files, run)


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """The same on synthetic texts."""
    title = "Figure 3: metrics of generators over temperatures, synthetic texts"
    return _figure("synthetic", title, files, run)


def _figure(world: World, title: str, files: Sequence[Path], run: Run) -> Reproduction:
    experiment, found = measured_generators(world, files, run)
    orders = {name: _in_order(found, experiment, name) for name in ("DD", "FED", *_PLANES)}
    both = {name: np.concatenate(list(by_kind.values())) for name, by_kind in orders.items()}
    claims = [
        Claim(
            f"over temperatures, {name} ranks the generators less well than DD at temperature 1",
            (Check("share of neighbours in order, DD less it", Measured.over(both["DD"] - both[name])),),
            "above",
            0.0,
            _BY_PAIRS,
        )
        for name in ("BLEU-5 with Self-BLEU-5", "FED")
    ]
    scores = orders["LM scores"]
    claims.append(
        Claim(
            "LM scores rank the generators of one kind"
            if world == "synthetic"
            else "LM scores rank the GPT-2 generators",
            tuple(
                Check(f"share of neighbours in order, {kind}", Measured.over(scores[kind]), 0.8)
                for kind in (KINDS if world == "synthetic" else ("GPT-2",))
            ),
            "above",
            0.0,
            f"limit: eight of ten pairs; {_BY_PAIRS}",
        )
    )
    if world == "real":
        apart = Measured.over(scores["GPT-2"] - scores["LSTM"])
        claims.append(
            Claim(
                "LM scores rank the LSTMs less well than the GPT-2 generators",
                (Check("share of neighbours in order, GPT-2 less LSTM", apart),),
                "above",
                0.0,
                _BY_PAIRS,
            )
        )
    rows = tuple(Row(name, tuple(float(by_kind[kind].mean()) for kind in KINDS)) for name, by_kind in orders.items())
    return _reproduction(
        run,
        experiment,
        files,
        title,
        claims,
        (Numbers("Share of neighbouring generators in order; 0.5 is chance", tuple(KINDS), rows),),
        [panel for kind in KINDS for panel in _figure_panels(found, kind)],
    )


def _in_order(found: Found, experiment: Experiment, what: str) -> dict[str, F64]:
    """For each kind how far two neighbouring generators are in order, for all pairs of all seeds; 0.5 is chance.

    In a plane, that is half of 1 plus the share of the points of the smaller generator that the larger one dominates,
    minus the share of the points of the larger one that the smaller one dominates. For FED it is the share of
    temperatures at which the larger one is better, and for DD whether it is better.
    """
    return {
        kind: np.array([
            _pair_in_order(found, Unit(kind, less, seed), Unit(kind, more, seed), what)
            for seed in range(experiment.seeds)
            for less, more in pairwise(SHARES)
        ])
        for kind in KINDS
    }  # fmt: skip


def _pair_in_order(found: Found, less: Unit, more: Unit, what: str) -> float:
    if what in _PLANES:
        shares = dominated_shares([_points(found, unit, what) for unit in (less, more)])
        return float(1 + shares[1, 0] - shares[0, 1]) / 2
    first, second = (
        np.array([found[unit].values[what][0]] if what == "DD" else found[unit].swept[what]) for unit in (less, more)
    )
    return float((1 + np.sign(first - second)).mean()) / 2


def _points(found: Found, unit: Unit, plane: str) -> F64:
    """The points of a generator over temperatures, higher values for better ones."""
    return np.array([(1 if METRICS[name][1] else -1) * np.array(found[unit].swept[name]) for name in _PLANES[plane]]).T


def _figure_panels(found: Found, kind: str) -> Iterator[Panel]:
    """The planes and FED of one kind, of the first seed."""
    names = {Unit(kind, share, 0): f"{float(share):.0%} of the training texts" for share in SHARES}

    def lines(points: Callable[[Unit], Sequence[tuple[float, float]]]) -> tuple[Line, ...]:
        return tuple(Line(name, tuple(CurveAt(x, y) for x, y in points(unit))) for unit, name in names.items())

    for title, (across, up) in _PLANES.items():
        is_high = METRICS[up][1]
        yield Panel(
            f"{kind}: {title}",
            across,
            f"1 - {up}" if is_high else up,
            lines(
                lambda unit, across=across, up=up, is_high=is_high: [  # type: ignore[misc]
                    (x, 1 - y if is_high else y)
                    for x, y in zip(found[unit].swept[across], found[unit].swept[up], strict=True)
                ]
            ),
            tabled=False,
        )
    by_temperature = lines(lambda unit: list(zip(TEMPERATURES, found[unit].swept["FED"], strict=True)))
    yield Panel(f"{kind}: FED over temperatures", "temperature", "FED", by_temperature)
