"""Stress: damage real texts in known ways and strengths, and count how often each metric notices it.

Each run draws two disjoint samples of real texts. One is the reference, the other is damaged and measured against it.
Damages and strengths of a run share both samples. What counts as noticed is in `powers.py`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from textassay.corpus.printable import many
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.corpus.values import is_number, is_whole
from textassay.encoders.base import Encoder
from textassay.encoders.remembered import Remembered, show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan, Progress, fewest_resamples, shows_progress, told
from textassay.inference.result import option_fields, sample_field
from textassay.metrics.measurable import choose, measurable
from textassay.metrics.registry import Request, listed, metric_names, parse_requests
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.outcome import settings_of
from textassay.studies.stress.damages import Damage, choose_damages
from textassay.studies.stress.draw_values import Measurer
from textassay.studies.stress.powers import Powers
from textassay.studies.stress.result import DamageInfo, Stress
from textassay.studies.stress.stock import FEWEST_TEXTS, Stock, build, damaged_texts, divide, limited, topics_of
from textassay.studies.stress.workload import DRAWS_PER_SET, Design, Workload
from textassay.version import __version__
from textassay.work_files import work_file

SIZES, STRENGTHS = (500, 2000), (0.1, 0.3, 1.0)
N_RUNS, N_DRAWS = 20, 999
# More runs or draws than this would take years; it is refused before anything is read.
_MOST = 1_000_000


@shows_progress
def stress(
    reference: Any,
    *,
    damages: str | Sequence[str] = (),
    strengths: float | Sequence[float] = STRENGTHS,
    sizes: float | Sequence[float] = SIZES,
    metrics: str | Sequence[str] = (),
    families: str | Sequence[str] = (),
    other: Any = None,
    training: Any = None,
    tokenizer: str = "words",
    lowercase: bool = False,
    encoder: str | Encoder = "lsa",
    n_runs: int = N_RUNS,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    seed: int = 0,
    records: str | os.PathLike[str] | None = None,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> Stress:
    """Measure which metrics notice which kinds of damage to the texts of a reference.

    Parameters
    ----------
    reference
        Real texts: a `Sample`, a path, or any iterable of strings; at least five times as many as the largest size.
    damages
        Names of damages, as on the command line; by default all, except `blend` without `other` and `copy`
        without `training`.
    strengths, sizes
        The strengths of each damage, between 0 and 1, and the numbers of texts per sample.
    metrics, families
        Metrics as in `compare`; by default all default metrics. The overall test is always measured.
    other, training
        Texts of another corpus for the damage `blend`, and a generator's training texts for `copy`.
    tokenizer, lowercase
        What a word is, as for `compare`.
    encoder
        The encoder of metrics on vectors and of topics. `lsa` is fitted on the reference and on the texts of `other`
        and `training`, as `compare` fits it on reference and candidates.
    n_runs, n_draws
        Runs per damage, strength and size; and undamaged draws for critical values, and again for false alarms.
    records
        A file to which every finished piece of work is appended. If it exists, the study continues from it.
    level, seed
        The confidence level, and the seed of all random numbers.
    engine, progress
        Where the work runs; and True for a progress bar, or an object that is told about the progress.

    Returns
    -------
    Stress
        The power of each metric for each damage, with false alarms, monotonicity and cost.

    Examples
    --------
    >>> real = [f"a {x} {y} sat on the {z}" for x in ("red", "old", "big", "sad", "wet") for y in ("cat", "dog", "hen")
    ...         for z in ("mat", "bed", "car", "bus", "log", "box", "rug", "sea", "lap")]
    >>> found = stress(real, damages="duplicates", metrics="distinct", sizes=20, strengths=[1], n_runs=2, n_draws=19)
    >>> found["distinct-2"]["duplicates"].estimate
    1.0
    """
    plan = Plan(level, 0, seed).checked()
    asked_sizes, asked_strengths = _checked_sizes(sizes), _checked_strengths(strengths)
    _check_counts(n_runs, n_draws, level)
    workers, progress = get_engine(engine), told(progress)
    real = read_sample(reference) if not isinstance(reference, Sample) else reference
    banks = {
        name: limited(_bank(texts, name), seed, sizes=asked_sizes)
        for name, texts in (("other", other), ("training", training))
        if texts is not None
    }
    chosen = choose_damages(listed(damages), given=banks)
    _check_banks(chosen, banks, round(max(asked_strengths) * max(asked_sizes)))
    requests = _requests(listed(metrics), listed(families), encoder, has_training="training" in banks)
    stock, seen = _stocked(real, chosen, banks, sizes=asked_sizes, encoder=encoder, seed=seed, progress=progress)
    settings = ViewSettings(get_tokenizer(tokenizer, lowercase=lowercase), seen)
    train = Material(banks["training"], settings) if "training" in banks else None
    measurer = Measurer(tuple(requests), stock, settings, train)
    design = Design(tuple(chosen), asked_sizes, asked_strengths, n_runs, n_draws)
    with work_file(records, "stress", _identity(real, banks, measurer, seed), check=itemgetter("values")) as kept:
        Workload(design, measurer, kept, progress).run(workers)
        return _outcome(Powers(design, measurer, kept, plan), real, [*banks.values()])


def _bank(texts: Any, name: str) -> Sample:
    return read_sample(texts, name=None if isinstance(texts, Sample | str | os.PathLike) else name)


def _outcome(powers: Powers, real: Sample, banks: Sequence[Sample]) -> Stress:
    design, views = powers.design, powers.measurer.settings
    settings = settings_of(powers.plan, tokenizer=views.tokenizer.signature, encoder=views.required_encoder.name)
    return Stress(
        metrics=(powers.overall(), *map(powers.metric, powers.measurer.requests)),
        reference=(real.name, len(real), real.digest),
        damages=tuple(DamageInfo(each.name, each.title, each.what, each.reach) for each in design.damages),
        sizes=design.sizes,
        strengths=design.strengths,
        n_runs=design.n_runs,
        n_draws=design.n_draws,
        level=powers.plan.level,
        notes=(*real.notes, *(f"{bank.name}: {note}" for bank in banks for note in bank.notes)),
        settings={name: value for name, value in settings.items() if name != "resamples"} | {"seed": powers.plan.seed},
    )


def _checked_sizes(sizes: float | Sequence[float]) -> tuple[int, ...]:
    given = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    for size in given:
        if not is_whole(size) or size < FEWEST_TEXTS:
            raise InputError(Setting("sizes", size), f"; wanted whole numbers of {FEWEST_TEXTS} or more")
    if not given:
        raise InputError("no sizes given; wanted at least one, such as ", Setting("sizes", 500))
    return tuple(sorted({int(size) for size in given}))


def _checked_strengths(strengths: float | Sequence[float]) -> tuple[float, ...]:
    given = list(strengths) if isinstance(strengths, Iterable) else [strengths]
    for strength in given:
        if not is_number(strength) or not 0 < strength <= 1:
            raise InputError(Setting("strengths", strength), "; wanted numbers above 0 and at most 1")
    if not given:
        raise InputError("no strengths given; wanted at least one, such as ", Setting("strengths", 1))
    return tuple(sorted({float(strength) for strength in given}))


def _check_counts(n_runs: int, n_draws: int, level: float) -> None:
    if not is_whole(n_runs) or not 2 <= n_runs <= _MOST:
        raise InputError(Setting("n_runs", n_runs), f"; wanted a whole number of 2 or more, and at most {_MOST:,}")
    fewest = fewest_resamples(1, level)
    if not is_whole(n_draws) or n_draws < fewest:
        raise InputError(
            Setting("n_draws", n_draws), f"; with fewer than {fewest} no test can reach the level {level:g}"
        )
    if n_draws > _MOST:
        raise InputError(Setting("n_draws", n_draws), f"; wanted at most {_MOST:,}")


def _check_banks(damages: Sequence[Damage], banks: Mapping[str, Sample], needed: int) -> None:
    for damage in damages:
        if damage.needs is not None and len(banks[damage.needs]) < needed:
            bank = banks[damage.needs]
            raise InputError(
                f"{bank.name}: {many(len(bank), 'text')}; the damage {damage.name!r} needs at least {needed:,} at "
                "these sizes and strengths"
            )


def _requests(metrics: list[str], families: list[str], encoder: str | Encoder, *, has_training: bool) -> list[Request]:
    """The metrics; without training texts, those that need them are left out unless they were asked for by name."""
    named = metric_names(metrics)
    if isinstance(encoder, str) and encoder.startswith("vectors:"):
        raise InputError(Setting("encoder", encoder), "; damaged texts have no vectors in a file; wanted an encoder")
    found = choose(parse_requests(metrics, families=families), encoder, named=named, families=families).requests
    return measurable(found, named, Setting("training"), given=has_training)


def _stocked(
    real: Sample,
    damages: Sequence[Damage],
    banks: Mapping[str, Sample],
    *,
    sizes: Sequence[int],
    encoder: str | Encoder,
    seed: int,
    progress: Progress,
) -> tuple[Stock, Remembered]:
    """All texts that the study can draw, and the encoder that has seen them."""
    pool, model_texts = divide(real, sizes=sizes, seed=seed)
    progress.start("damaging texts", len(damages) + 1)
    made = []
    for each in damaged_texts(pool, model_texts, damages, banks=banks, seed=seed):
        made.append(each)
        progress.step(1)
    stock = build(pool, made, np.zeros(len(pool), np.int64), seed=seed)
    everything = Sample.of(stock.texts, name=real.name)
    seen = show_all(
        encoder,
        reference=real,
        candidates=banks,
        used=[everything],
        start=partial(progress.start, "encoding"),
        step=progress.step,
    )
    return replace(stock, topics=topics_of(seen.encode(pool.texts.to_pylist()), seed)), seen


def _identity(real: Sample, banks: Mapping[str, Sample], measurer: Measurer, seed: int) -> dict[str, Any]:
    """What every record depends on."""
    return {
        "version": __version__,
        "reference": sample_field(real),
        **{name: sample_field(bank) for name, bank in banks.items()},
        "tokenizer": measurer.settings.tokenizer.signature,
        "encoder": measurer.settings.required_encoder.name,
        "metrics": [request.label for request in measurer.requests],
        **_opened_models(measurer.requests),
        "draws per set": DRAWS_PER_SET,
        "seed": seed,
    }


def _opened_models(requests: Sequence[Request]) -> dict[str, list[str]]:
    """The models that metrics open, by name and digest: labels have the names of files only."""
    opened = [
        str(option_fields(request)[name])
        for request in requests
        for name, option in request.metric.options.items()
        if option.opens is not None
    ]
    return {"models": opened} if opened else {}
