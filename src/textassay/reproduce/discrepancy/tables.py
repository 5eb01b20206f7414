"""Tables 2 to 7 of the paper on Distributional Discrepancy, with LSTMs and GPT-2 as generators."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from textassay.corpus.readers import read_sample
from textassay.inference.result import (
    Interval,
    Result,
    finite_or_none,
    option_fields,
    result_of,
    sample_field,
    signature,
)
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.claims import Check, Claim
from textassay.reproduce.discrepancy.generators import (
    KINDS,
    METRICS,
    SHARES,
    Experiment,
    Found,
    Unit,
    World,
    measured_generators,
)
from textassay.reproduce.discrepancy.published import (
    ORACLE_DD,
    REAL_BLEU,
    REAL_DD,
    REAL_TAU,
    REAL_VALID_DD,
    SYNTHETIC_DD,
    SYNTHETIC_FED,
    SYNTHETIC_TAU,
)
from textassay.reproduce.discrepancy.taus import (
    BY_DRAWS,
    BY_ERRORS,
    GROUPS,
    LEVEL,
    ONE_PAIR,
    Taus,
    check_falls,
    difference,
    over_seeds,
    perfect_order,
)
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.compare.result import Column, Comparison

_PAPER = "cai2020"
_DD = tuple(name for name in METRICS if name.startswith("DD"))
_NO_VALUE = "the metric has no value for the texts of this generator"


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


def reproduction_of(
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
        oracle, estimate = (over_seeds(found, experiment, metric, kind, share) for metric in ("dd", "DD"))
        rows.append(
            Row(printed, (ORACLE_DD[printed], oracle[0], oracle[1], SYNTHETIC_DD[printed], estimate[0], estimate[1]))
        )
        below.append(Check(printed, difference(estimate, oracle)))
    claims = (
        Claim(
            "the oracle dd falls with every fifth of training texts",
            tuple(check for kind in KINDS for check in check_falls(found, experiment, "dd", kind)),
            "below",
            0.0,
            BY_ERRORS,
        ),
        Claim("the estimate is below the oracle dd for all generators", tuple(below), "below", 0.0, BY_ERRORS),
        perfect_order("the estimate orders all ten generators as the oracle dd does (tau 1)", taus, GROUPS[-1:], 0.1),
    )
    columns = tuple(f"{what}, {whose}" for what in ("dd", "estimate") for whose in ("published", "ours", "its error"))
    return reproduction_of(
        run,
        experiment,
        files,
        "Table 2: oracle dd and its estimate on synthetic texts",
        claims,
        (Numbers("The oracle dd and its estimate, means over seeds", columns, tuple(rows), 3),),
    )


def reproduce_table_3(files: Sequence[Path], run: Run) -> Reproduction:
    """DD of generators of captions, on the validation and on the test part."""
    experiment, found = measured_generators("real", files, run)
    rows = []
    for printed in REAL_DD:
        kind, share = printed.split()
        units = [Unit(kind, share, seed) for seed in range(experiment.seeds)]
        parts = [found[unit].parts for unit in units]
        ours = [float(np.mean([part[name] for part in parts])) for name in ("validation_accuracy", "accuracy")]
        error = over_seeds(found, experiment, "DD", kind, share)[1]
        valid, test = REAL_VALID_DD[printed], REAL_DD[printed]
        numbers = ((1 + valid) / 2, ours[0], valid, 2 * ours[0] - 1, (1 + test) / 2, ours[1], test, 2 * ours[1] - 1)
        rows.append(Row(printed, (*numbers, error)))
    claims = [
        Claim(
            f"{kind}: DD falls with every fifth of training texts",
            check_falls(found, experiment, "DD", kind),
            "below",
            0.0,
            BY_ERRORS,
        )
        for kind in KINDS
    ]
    claims.append(
        Claim(
            "DD is lower with all training texts than with a fifth of them",
            tuple(
                Check(kind, difference(*(over_seeds(found, experiment, "DD", kind, share) for share in ("1.0", "0.2"))))
                for kind in KINDS
            ),
            "below",
            0.0,
            BY_ERRORS,
        )
    )
    columns = tuple(
        f"{part} {what}, {whose}"
        for part in ("valid", "test")
        for what in ("accuracy", "DD")
        for whose in ("published", "ours")
    )
    return reproduction_of(
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
        Row(name, tuple(finite_or_none(over_seeds(found, experiment, name, kind, share)[0]) for share in SHARES))
        for name in METRICS
    ]
    return Numbers(f"{kind}: all metrics by the share of the pool, means over seeds", SHARES, tuple(rows), None)


def _dd_panel(found: Found, experiment: Experiment, kind: str) -> Panel:
    lines = []
    for name in _DD:
        means = [over_seeds(found, experiment, name, kind, share) for share in SHARES]
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
        interval = Interval(value - half, value + half, LEVEL, request.metric.interval or "none") if error else None
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
        level=LEVEL,
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
    groups = GROUPS[: len(published["DD"])]
    claims = [perfect_order("DD ranks the generators perfectly (tau 1)", taus, groups, ONE_PAIR)]
    for metric, printed in published.items():
        better = [group for group, theirs, own in zip(groups, printed, published["DD"], strict=True) if own > theirs]
        if better:
            checks = [Check(f"tau of DD less that of {metric}, {g}", taus.lead("DD", metric, g)) for g in better]
            claims.append(Claim(f"DD ranks better than {metric}", tuple(checks), "above", 0.0, BY_DRAWS))
    rows = []
    for metric in METRICS:
        numbers: list[float | None] = []
        for at, group in enumerate(groups):
            ours = taus.measured(metric, group)
            theirs = published[metric][at] if metric in published else None
            numbers += [theirs, ours.estimate, ours.low, ours.high]
        rows.append(Row(metric, tuple(numbers)))
    columns = tuple(f"{group}, {what}" for group in groups for what in ("published", "ours", "low", "high"))
    return reproduction_of(
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
    means = {name: over_seeds(found, experiment, "FED", *name.split()) for name in SYNTHETIC_FED}
    best, *others = sorted(SYNTHETIC_FED, key=lambda name: SYNTHETIC_FED[name])
    claims = (
        Claim(
            "FED orders the ten generators much as the oracle dd does (tau 0.92; 0.87 from the printed scores)",
            (Check("tau of FED, all 10", taus.measured("FED", GROUPS[-1]), 0.92),),
            "within",
            0.1,
            f"margin: twice the printed difference; {BY_DRAWS}",
        ),
        Claim(
            f"{best} has the lowest FED",
            tuple(Check(f"{best} less {name}", difference(means[best], means[name])) for name in others),
            "below",
            0.0,
            BY_ERRORS,
        ),
        Claim(
            "DD orders the ten generators better than FED",
            (Check("tau of DD less that of FED, all 10", taus.lead("DD", "FED", GROUPS[-1])),),
            "above",
            0.0,
            BY_DRAWS,
        ),
    )
    rows = tuple(Row(name, (SYNTHETIC_FED[name], *means[name], ORACLE_DD[name])) for name in (best, *others))
    columns = ("FED, published", "FED, ours", "its error", "oracle dd, published")
    return reproduction_of(
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
        ours = [over_seeds(found, experiment, name, kind, share)[0] for name in names]
        rows.append(Row(printed, tuple(value for pair in zip(values, ours, strict=True) for value in pair)))
    claims = [
        Claim(
            f"{kind}: neither BLEU nor Self-BLEU ranks the generators as well as DD",
            tuple(Check(f"tau of DD less that of {name}", taus.lead("DD", name, kind)) for name in names),
            "above",
            0.0,
            BY_DRAWS,
        )
        for kind in KINDS
    ]
    claims.append(
        Claim(
            "Self-BLEU is lowest, its best value, for the generators of a fifth of the texts",
            tuple(
                Check(f"{kind}, Self-BLEU-{n}, 0.2 less {share}", difference(first, then))
                for kind in KINDS
                for n in (2, 3, 4)
                for first in (over_seeds(found, experiment, f"Self-BLEU-{n}", kind, "0.2"),)
                for share in SHARES[1:]
                for then in (over_seeds(found, experiment, f"Self-BLEU-{n}", kind, share),)
            ),
            "below",
            0.0,
            BY_ERRORS,
        )
    )
    columns = tuple(f"{name}, {whose}" for name in names for whose in ("published", "ours"))
    return reproduction_of(
        run,
        experiment,
        files,
        "Table 7: BLEU and Self-BLEU of generators of real texts",
        claims,
        (Numbers("BLEU and Self-BLEU at temperature 1, means over seeds", columns, tuple(rows), 3),),
    )
