"""Tables of the paper on Distributional Discrepancy: how well metrics rank generators whose order is known."""

import json
import math
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from textassay.corpus.printable import quoted, shortened
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import stream
from textassay.errors import InputError, Setting
from textassay.inference.plan import Silent
from textassay.inference.result import Result, option_fields, result_of, sample_field, signature
from textassay.metrics.registry import Request, parse_requests
from textassay.models.choose import train_model
from textassay.reproduce.claims import Check, Claim, Measured, steps
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import TOKENIZER, draw_texts, measure
from textassay.studies.agreement.correlation import tau_b, tau_p_value
from textassay.studies.compare.result import Column, Comparison
from textassay.version import __version__
from textassay.work_files import work_file

SHARES = ("0.2", "0.4", "0.6", "0.8", "1.0")
LSTM = tuple(f"LSTM {share}" for share in SHARES)
GPT2 = tuple(f"GPT-2 {share}" for share in SHARES)

# Table 2: the oracle dd and its estimate on synthetic data.
ORACLE_DD = dict(zip(LSTM + GPT2, (0.994, 0.986, 0.980, 0.976, 0.972, 0.991, 0.973, 0.959, 0.948, 0.935), strict=True))
SYNTHETIC_DD = dict(
    zip(LSTM + GPT2, (0.442, 0.359, 0.314, 0.289, 0.256, 0.381, 0.287, 0.241, 0.218, 0.192), strict=True)
)
# Table 6: FED on synthetic data.
SYNTHETIC_FED = dict(
    zip(LSTM + GPT2, (0.016, 0.014, 0.012, 0.012, 0.012, 0.014, 0.011, 0.011, 0.011, 0.010), strict=True)
)
# Table 3: DD on the test texts of the real corpus.
REAL_DD = dict(zip(LSTM + GPT2, (0.490, 0.412, 0.393, 0.353, 0.322, 0.446, 0.340, 0.309, 0.292, 0.242), strict=True))
# Tables 4 and 5: Kendall's tau.
REAL_TAU = {"BLEU-5": (0.0, 0.6), "FED": (0.6, 0.8), "LM score": (-0.2, 1.0), "DD": (1.0, 1.0)}
SYNTHETIC_TAU = {
    "BLEU-5": (0.80, 0.80, 0.38),
    "LM score": (0.40, 1.0, 0.82),
    "FED": (0.84, 0.84, 0.92),
    "DD": (1.0, 1.0, 1.0),
}
_GROUPS = {"5 LSTM": LSTM, "5 GPT-2": GPT2, "10 generators": LSTM + GPT2}
# Published coefficients have two digits.
_ROUNDING = 0.005


def reproduce_published(_files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau-b of the printed scores, beside the printed coefficients."""
    if run.n_items != len(ORACLE_DD):
        raise InputError(Setting("n_items", run.n_items), f"; wanted {len(ORACLE_DD)}: the generators of the paper")
    by_share = {name: -float(name.split()[-1]) for name in LSTM + GPT2}
    cases = [
        ("FED, synthetic (Table 5)", SYNTHETIC_FED, ORACLE_DD, list(_GROUPS), SYNTHETIC_TAU["FED"]),
        ("DD, synthetic (Table 5)", SYNTHETIC_DD, ORACLE_DD, list(_GROUPS), SYNTHETIC_TAU["DD"]),
        ("DD, real corpus (Table 4)", REAL_DD, by_share, list(_GROUPS)[:2], REAL_TAU["DD"]),
    ]
    rows: list[Row] = []
    claims: list[Claim] = []
    for metric, scores, gold, groups, published in cases:
        for group, printed in zip(groups, published, strict=True):
            x, y = ([values[name] for name in _GROUPS[group]] for values in (scores, gold))
            tau, (p_value, _) = tau_b(x, y), tau_p_value(x, y)
            rows.append(Row(f"{metric}, {group}", (printed, tau, p_value)))
            checks = (Check("tau", Measured.exact(tau), printed),)
            statement = f"tau of {metric}, {group}, is {printed:.2f}"
            claims.append(Claim(statement, checks, "within", _ROUNDING, "two printed digits; exact numbers"))
    return Reproduction(
        name=run.name,
        title="Kendall's tau from the printed tables",
        paper="cai2020",
        design="Kendall's tau-b of the printed scores of the generators: FED (Table 6) and the estimated DD (Table 2) "
        "against the oracle dd (Table 2), and DD on the real corpus (Table 3) against the share of training texts.",
        differs=("BLEU-5 and the LM score are printed as coefficients only, so theirs cannot be computed again.",),
        claims=tuple(claims),
        options=run.options,
        signature=signature(run.name, {}, data={"generators": run.n_items}, resampling={}),
        tables=(Numbers("Kendall's tau-b", ("published", "computed here", "exact p"), tuple(rows), None),),
    )


# The metrics of the experiment: name, specification, and whether higher values are better. Self-BLEU counts as the
# paper has it: lower is better.
_METRICS = {
    "DD, ridge": ("dd", False),
    "DD, n-grams": ("dd:classifier=ngram", False),
    "DD, embedding": ("dd:classifier=embedding", False),
    "DD, network": ("dd:classifier=cnn:size={size}", False),
    "BLEU-5": ("bleu:n=5", True),
    "Self-BLEU-5": ("self_bleu:n=5", False),
    "LM score": ("lm_score", False),
    "reverse LM score": ("reverse_lm_score", False),
    "MS-Jaccard-4": ("ms_jaccard:n=4", True),
    "CND-2": ("cnd:n=2", False),
    "Frechet": ("frechet", False),
    "MAUVE": ("mauve", True),
}
_DD = tuple(name for name in _METRICS if name.startswith("DD"))
# Metrics that are slow or read vectors are measured on fewer texts.
_ON_VECTORS = ("DD, embedding", "Frechet", "MAUVE")
_ON_NETWORK = ("DD, network",)
_NO_VALUE = "the metric has no value for the texts of this generator"
_KINDS = {"LSTM": "lstm", "5-gram": "ngram"}
_PUBLISHED_NAMES = {"DD": "DD, network", "BLEU-5": "BLEU-5", "LM score": "LM score", "FED": "Frechet"}


@dataclass(frozen=True)
class Experiment:
    """The sizes of the experiment: texts of the pool and of each sample, models, seeds, and processes."""

    pool: int
    texts: int
    vector_texts: int
    network_texts: int
    models: Mapping[str, str]
    network: str
    encoder: str
    min_count: int
    seeds: int
    processes: int

    @classmethod
    def of(cls, run: Run) -> "Experiment":
        """The experiment of a scale, with as many texts in the pool as there are items."""
        if run.n_items < 100:
            raise InputError(Setting("n_items", run.n_items), "; wanted 100 or more texts in the pool")
        small = "lstm:hidden=16:embedding=16:epochs=1"
        models = {
            "lstm": run.by_scale(small, "lstm:preset=laptop", "lstm:preset=cai2020"),
            "ngram": "ngram:order=5",
        }
        texts = min(run.n_items // 2, 10_000)
        return cls(
            run.n_items,
            texts,
            run.by_scale(texts, min(texts, 4_000), texts),
            run.by_scale(texts, min(texts, 8_000), texts),
            models,
            run.by_scale("laptop", "laptop", "paper"),
            run.by_scale("lsa", "minilm", "minilm"),
            run.by_scale(2, 5, 5),
            run.by_scale(1, 3, 3),
            run.by_scale(1, 2, 2),
        )

    @property
    def units(self) -> list["Unit"]:
        """Every generator of every seed; the slowest first, so that processes end at about the same time."""
        found = [Unit(kind, share, seed) for seed in range(self.seeds) for kind in _KINDS for share in SHARES]
        return sorted(found, key=lambda unit: (unit.kind != "LSTM", -float(unit.share), unit.seed))


@dataclass(frozen=True)
class Unit:
    """One generator: its kind, the share of the pool that it is trained on, and its seed."""

    kind: str
    share: str
    seed: int

    def __str__(self) -> str:
        return f"{self.kind.lower()}-{self.share}-{self.seed}"


# The values of the metrics of each generator.
Found = dict[Unit, dict[str, float]]


def reproduce_generators(files: Sequence[Path], run: Run) -> Reproduction:
    """Generators trained on more and more texts, and how well metrics find their order."""
    experiment = Experiment.of(run)
    found = _measure_all(experiment, files, run)
    taus = {name: {kind: _taus(found, experiment, kind, name) for kind in _KINDS} for name in _METRICS}
    return Reproduction(
        name=run.name,
        title="Tables 3 and 4: DD falls with more training texts, and ranks generators by them",
        paper="cai2020",
        design=_design(experiment),
        differs=_differences(experiment),
        claims=(*_falling_claims(found, experiment), *_tau_claims(taus)),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"models": "+".join(experiment.models.values()), "enc": experiment.encoder},
            data={"pool": experiment.pool, "texts": experiment.texts},
            resampling={"seeds": experiment.seeds, "seed": run.seed},
        ),
        tables=(_tau_table(taus), *(_value_table(found, experiment, kind) for kind in _KINDS)),
        panels=tuple(_dd_panel(found, experiment, kind) for kind in _KINDS),
        scores=_scores(found, experiment, files[1], run.seed),
    )


def _measure_all(experiment: Experiment, files: Sequence[Path], run: Run) -> Found:
    """The values of every generator, from the work file of the run if they are there already."""
    settings = {**asdict(experiment), "seed": run.seed, "version": __version__, "processes": None}
    keys = {unit: json.dumps({**settings, "unit": str(unit)}) for unit in experiment.units}
    run.progress.start("generators", len(keys))
    with work_file(_work_path(run.work, keys), "reproduce", check=_check_values) as work:
        missing = [unit for unit, key in keys.items() if key not in work]
        run.progress.step(len(keys) - len(missing))
        measure_one = partial(_values, experiment, list(files), run.seed)
        for unit, values in _measured(measure_one, missing, experiment.processes):
            work.add(keys[unit], values)
            run.progress.step(1)
        return {unit: work[key] for unit, key in keys.items()}


def _work_path(folder: Path | None, units: Iterable[Unit]) -> Path | None:
    """The work file in a folder; the files of an earlier version, one per generator, are refused."""
    if folder is None:
        return None
    if earlier := [name for unit in units if (folder / (name := f"{unit}.json")).exists()]:
        seen = f"{shortened(str(folder))}: has parts of an earlier version of textassay ({quoted(earlier, 3)})"
        raise InputError(f"{seen}; wanted an empty folder")
    return folder / "generators.work"


def _check_values(values: Any) -> None:
    if set(values) != set(_METRICS) or not all(isinstance(value, int | float) for value in values.values()):
        raise ValueError


def _measured(
    measure_one: Callable[[Unit], dict[str, float]], units: Sequence[Unit], processes: int
) -> Iterator[tuple[Unit, dict[str, float]]]:
    """The values of generators, as they are finished."""
    if processes == 1:
        yield from ((unit, measure_one(unit)) for unit in units)
        return
    # Each process has one thread of torch, which is faster than one process with two.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=_end_with_parent) as pool:
        waiting = {pool.submit(measure_one, unit): unit for unit in units}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """End this process as soon as the one that started it ends, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _values(experiment: Experiment, files: Sequence[Path], seed: int, unit: Unit) -> dict[str, float]:
    own = int(stream(seed, "generators", unit.seed).integers(2**31))
    (pool,), (real,) = (
        draw_texts([file], (size,), own).parts
        for file, size in zip(files, (experiment.pool, experiment.texts), strict=True)
    )
    counts = Counter(word for text in pool for word in text.split())
    known = {word for word, count in counts.items() if count >= experiment.min_count}
    pool, real = (_with_unknown(texts, known) for texts in (pool, real))
    spec = f"{experiment.models[_KINDS[unit.kind]]}:tokenizer={TOKENIZER}"
    model = train_model(spec, pool[: round(float(unit.share) * len(pool))], seed=own)
    made = model.sample(experiment.texts, rng=stream(own, "sample", str(unit)))
    return dict(_metric_values(experiment, made, real, own))


def _with_unknown(texts: Sequence[str], known: set[str]) -> list[str]:
    return [" ".join(word if word in known else "<unk>" for word in text.split()) for text in texts]


def _scores(found: Found, experiment: Experiment, real: Path, seed: int) -> Comparison:
    """The values of every generator as a comparison with the file of real texts, from which each seed draws its own."""
    specs = [spec.format(size=experiment.network) for spec, _ in _METRICS.values()]
    requests = dict(zip(_METRICS, parse_requests(specs), strict=True))
    texts, n = read_sample(str(real)), experiment.texts

    def result(unit: Unit, name: str, request: Request) -> Result:
        value, data = found[unit][name], {"generator": unit, "file": sample_field(texts), "texts": n}
        fixed = signature(request.metric.name, option_fields(request), data=data, resampling={"seed": seed})
        return result_of(request, value, signature=fixed, n=n, undefined=_NO_VALUE if math.isnan(value) else None)

    columns = [
        Column(str(unit), n, "", tuple(result(unit, *named) for named in requests.items()))
        for unit in sorted(found, key=str)
    ]
    return Comparison(
        reference=Column(texts.name, len(texts), texts.digest, ()),
        real=Column("real v real", 0, "", ()),
        candidates=tuple(columns),
        labels=tuple(request.label for request in requests.values()),
        contests=(),
        level=0.95,
        notes=(),
    )


def _metric_values(
    experiment: Experiment, made: Sequence[str], real: Sequence[str], seed: int
) -> Iterator[tuple[str, float]]:
    sizes = {
        **dict.fromkeys(_ON_VECTORS, experiment.vector_texts),
        **dict.fromkeys(_ON_NETWORK, experiment.network_texts),
    }
    for size in sorted({sizes.get(name, experiment.texts) for name in _METRICS}):
        names = [name for name in _METRICS if sizes.get(name, experiment.texts) == size]
        metrics = ",".join(_METRICS[name][0].format(size=experiment.network) for name in names)
        found = measure(
            real[:size], {"made": made[:size]}, metrics, encoder=experiment.encoder, progress=Silent(), seed=seed
        )
        yield from zip(names, (result.estimate for result in found["made"].results), strict=True)


def _taus(found: Found, experiment: Experiment, kind: str, metric: str) -> list[float]:
    """Kendall's tau-b between a metric and the share of training texts, one per seed; 1 is the order of the shares."""
    sign = 1 if _METRICS[metric][1] else -1
    shares = [float(share) for share in SHARES]
    return [
        tau_b([sign * found[Unit(kind, share, seed)][metric] for share in SHARES], shares)
        for seed in range(experiment.seeds)
    ]


def _by_share(found: Found, experiment: Experiment, kind: str, metric: str) -> list[list[float]]:
    """The values of all seeds for each share."""
    return [[found[Unit(kind, share, seed)][metric] for seed in range(experiment.seeds)] for share in SHARES]


_OVER_SEEDS = "intervals over seeds"


def _falling_claims(found: Found, experiment: Experiment) -> Iterator[Claim]:
    for kind in _KINDS:
        published = "0.490 to 0.322" if kind == "LSTM" else "not printed for this kind"
        checks = [check for name in _DD for check in steps(name, SHARES, _by_share(found, experiment, kind, name))]
        statement = f"{kind}: DD falls with every fifth of training texts ({published})"
        yield Claim(statement, tuple(checks), "below", 0.0, _OVER_SEEDS)


def _tau_claims(taus: Mapping[str, Mapping[str, Sequence[float]]]) -> Iterator[Claim]:
    of_lstm = {name: np.nan_to_num(by_kind["LSTM"]) for name, by_kind in taus.items()}
    network = of_lstm["DD, network"]
    yield Claim(
        "LSTM: DD ranks all five generators correctly (tau 1.0)",
        tuple(Check(name, Measured.over(of_lstm[name]), 1.0) for name in _DD),
        "within",
        _ROUNDING,
        f"two printed digits; {_OVER_SEEDS}",
    )
    for source, name in _PUBLISHED_NAMES.items():
        if source != "DD":
            yield Claim(
                f"LSTM: {source} ranks less well than DD (tau {REAL_TAU[source][0]})",
                (Check(f"tau of DD of the network less that of {name}", Measured.over(network - of_lstm[name])),),
                "above",
                0.0,
                _OVER_SEEDS,
            )
    yield Claim(
        "LSTM: no metric ranks better than DD",
        tuple(
            Check(f"tau of DD of the network less that of {name}", Measured.over(network - values))
            for name, values in of_lstm.items()
            if name not in _DD
        ),
        "above",
        0.0,
        _OVER_SEEDS,
    )


def _tau_table(taus: Mapping[str, Mapping[str, Sequence[float]]]) -> Numbers:
    printed = {name: REAL_TAU[source][0] for source, name in _PUBLISHED_NAMES.items()}
    rows = [
        Row(
            name,
            (printed.get(name), *(_number(value) for kind in _KINDS for value in _summary(by_kind[kind]))),
        )
        for name, by_kind in taus.items()
    ]
    columns = ("5 LSTM, published", *(f"{kind}, {what}" for kind in _KINDS for what in ("mean", "lowest", "highest")))
    return Numbers("Kendall's tau-b against the share of training texts", columns, tuple(rows))


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    return float(np.mean(values)), min(values), max(values)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _value_table(found: Found, experiment: Experiment, kind: str) -> Numbers:
    rows = [
        Row(name, tuple(_number(float(np.mean(row))) for row in _by_share(found, experiment, kind, name)))
        for name in _METRICS
    ]
    published = Row("DD, published (LSTM, Table 3)", tuple(REAL_DD[name] for name in LSTM))
    return Numbers(
        f"{kind}: means over seeds, by the share of the pool",
        SHARES,
        (published, *rows) if kind == "LSTM" else tuple(rows),
        None,
    )


def _dd_panel(found: Found, experiment: Experiment, kind: str) -> Panel:
    lines = []
    for name in _DD:
        by_share = _by_share(found, experiment, kind, name)
        points = [
            CurveAt(float(s), float(np.mean(row)), min(row), max(row)) for s, row in zip(SHARES, by_share, strict=True)
        ]
        lines.append(Line(name, tuple(points)))
    return Panel(f"{kind}: DD over the share of training texts", "share of the pool", "DD", tuple(lines), tabled=False)


def _design(experiment: Experiment) -> str:
    models = " and ".join(f"{name} ({experiment.models[kind]})" for name, kind in _KINDS.items())
    seeds = "1 seed" if experiment.seeds == 1 else f"{experiment.seeds} seeds"
    return (
        f"Generators of two kinds, {models}, are trained on 20, 40, 60, 80 and 100 % of a pool of {experiment.pool:,} "
        f"captions of COCO, with {seeds}. Each generates {experiment.texts:,} captions, which are compared with as "
        f"many other real captions; metrics on vectors ({experiment.encoder}) read the first "
        f"{experiment.vector_texts:,} of each, and the network the first {experiment.network_texts:,}. "
        f"Words with fewer than {experiment.min_count} occurrences in the pool "
        "are <unk> in all texts. More training texts make a better generator, so their share is the gold order; "
        "Kendall's tau-b is 1 for a metric with that order."
    )


def _differences(experiment: Experiment) -> tuple[str, ...]:
    network = "and the network is smaller" if experiment.network == "laptop" else "and the network is the paper's"
    return (
        "The paper has 280,000 sentences of news, LSTMs with two layers of 512 units and GPT-2; here it is captions, "
        f"{experiment.models['lstm']} and a 5-gram model, {network}.",
        "The paper trains its classifier on the training texts of the generator and 300,000 generated texts, and tests "
        "on 10,000 others. Here the real captions are those that no generator has seen: half of them train the network "
        "and the classifier of n-grams, and ridge and embedding classify every text by all others.",
        "FED is the squared Frechet distance of vectors of the Universal Sentence Encoder; here it is the distance of "
        f"vectors of {experiment.encoder}.",
        "LM score and reverse LM score use 5-gram models, and the vocabulary of the real texts.",
    )
