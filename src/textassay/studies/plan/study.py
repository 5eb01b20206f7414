"""Plan: how many texts does a gate need, by trials on the user's own texts with the same bounds?"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textassay.corpus.markdown import stripped
from textassay.corpus.printable import many
from textassay.corpus.readers import as_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError, Setting
from textassay.inference.plan import Plan, Progress, shows_progress, told
from textassay.inference.record_design import grouped_design
from textassay.metrics.learned.separable import FEWEST_UNITS
from textassay.metrics.views import Material, Settings
from textassay.studies.gate.rules import GateRules
from textassay.studies.gate.study import read_contaminant
from textassay.studies.outcome import settings_of
from textassay.studies.plan.result import Predicted, Round, SizePlan
from textassay.studies.plan.trials import Trials, run_trials
from textassay.studies.plan.verdict import judge

# The first round, and how near the planned size must be to that of the last round for it to be the last one.
_FIRST, _NEAR, _MOST_ROUNDS = 200, 0.1, 5
# How many times more texts the next round has if the contaminant was not found.
_MORE = 3
# Rounds before the last one find the size roughly.
_ROUGH_TRIALS = 40
_CURVE = 30


@shows_progress
def plan(
    reference: Any,
    pilot: Any = None,
    *,
    margin: float | str = 0.1,
    power: float = 0.8,
    contaminant: Any = None,
    tokenizer: str = "words",
    lowercase: bool = False,
    strip: str | None = None,
    group: str | None = None,
    n_runs: int = 100,
    level: float = 0.95,
    seed: int = 0,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> SizePlan:
    """Find how many texts per sample a gate at this margin needs.

    Without a pilot, two samples of one source should pass: samples of the reference are compared with each other. With
    a pilot, a sample of a candidate, the gate should decide either way: samples of the pilot are compared with samples
    of the reference.

    Parameters
    ----------
    reference, pilot
        Texts as for `compare`: a path, a `Sample`, or a list of texts.
    margin : float or str
        The margin of the separable share, such as 0.1 or "10%".
    power : float
        The share of gates that should be decided.
    contaminant : optional
        The texts of which a candidate may have at most the margin, as for `compare`.
    tokenizer, lowercase, strip
        What a word is, as for `compare`.
    group : str, optional
        The field of the prompt or document of a text. Groups are then counted, not texts. By default, prompts are
        counted where they repeat in a sample, as a gate groups them.
    n_runs : int
        The trials of the last round.
    level, seed
        The confidence level of the gate, and the seed of all random numbers.
    engine, progress
        Where the work runs; and True for a progress bar, or an object that is told about the progress.

    Returns
    -------
    SizePlan
        `needed` is the number of texts, or of groups, per sample.

    Examples
    --------
    >>> import textassay as ta
    >>> texts = [f"the {pet} saw {n} {what}" for pet in ("cat", "dog") for n in range(30) for what in ("birds", "mice")]
    >>> ta.plan(texts, margin="30%", n_runs=20).needed > 20
    True
    """
    checked = Plan(level, 999, seed).checked()
    rules = GateRules(max_separable=margin, contaminant=contaminant).checked(checked)
    _check(power, n_runs)
    real = stripped(as_sample(reference, "reference", group=group), strip)
    other = None if pilot is None else stripped(as_sample(pilot, "pilot", group=group), strip)
    design = grouped_design(real, {} if other is None else {other.name: other})
    real, other = design.reference, next(iter(design.candidates.values()), None)
    available = _available(real, other)
    share = rules.margin
    assert share is not None
    bank = read_contaminant(contaminant, real, strip)
    words = Settings(get_tokenizer(tokenizer, lowercase=lowercase), None, strip)
    materials = Material(real, words), None if other is None else Material(other, words)
    workers, shown = get_engine(engine), told(progress)
    shown.start("planning", _MOST_ROUNDS)

    def trials(n: int, count: int) -> Trials:
        found = run_trials(
            *materials, n=n, margin=share, contaminant=bank, n_trials=count, level=level, seed=seed,
            engine=workers,
        )  # fmt: skip
        shown.step(1)
        return found

    made = _until_near(trials, power=power, n_runs=n_runs, available=available)
    last = made[-1]
    needed = _needed(made, power)
    unit = "text" if real.groups is None else "group"
    return SizePlan(
        margin=share,
        power=power,
        needed=needed,
        unit=unit,
        available=available,
        reference=real.name,
        pilot="" if other is None else other.name,
        contaminant=last.found.contaminant,
        rounds=tuple(map(_round, made)),
        curve=_curve(last, needed),
        verdict=judge(last, needed, power=power, available=available, unit=unit, has_pilot=other is not None),
        level=level,
        labels=(),
        notes=(
            *design.notes,
            *(f"{each.name}: {note}" for each in (real, other) if each is not None for note in each.notes),
        ),
        settings=settings_of(Plan(level, 0, seed), tokenizer=words.tokenizer.name, strip=strip, seed=seed),
    )


def _until_near(trials: Callable[[int, int], Trials], *, power: float, n_runs: int, available: int) -> list[Trials]:
    """Rounds of trials, each at the size that those before planned, until that is near the last one's own."""
    rough = min(_ROUGH_TRIALS, n_runs)
    made = [trials(min(_FIRST, available), rough)]
    while len(made) < _MOST_ROUNDS:
        wanted = _needed(made, power)
        if wanted is None:
            # More texts may find the contaminant; if it is found, no number of texts is likely to decide.
            wanted = available if made[-1].found.is_found else _MORE * made[-1].n
        size = min(max(wanted, FEWEST_UNITS), available)
        is_near = abs(math.log(size / made[-1].n)) <= _NEAR
        if is_near and len(made[-1].values) >= n_runs:
            break
        made.append(trials(size, n_runs if is_near or len(made) >= _MOST_ROUNDS - 2 else rough))
    return made


def _needed(made: Sequence[Trials], power: float) -> int | None:
    """The size at which this share of gates is decided, by all rounds; None where no size is likely to do.

    The last round is scaled, but never beyond what another round has measured: the classifier finds less with fewer
    texts than any scaling knows.
    """
    found = made[-1].needed(power)
    short = max((each for each in made if _share(each) < power), key=_size, default=None)
    if short is None:
        return found
    enough = min((each for each in made if each.n > short.n and _share(each) >= power), key=_size, default=None)
    if enough is None:
        return found if found is None else max(found, short.n + 1)
    if found is not None and short.n < found <= enough.n:
        return found
    part = (power - _share(short)) / (_share(enough) - _share(short))
    return math.ceil(short.n * (enough.n / short.n) ** part)


def _share(made: Trials) -> float:
    """The share of gates that are decided in the same way."""
    return max(made.decided())


def _size(made: Trials) -> int:
    return made.n


def _round(made: Trials) -> Round:
    return Round(made.n, len(made.values), *made.decided(), made.found.found, float(made.up.mean()))


def _curve(last: Trials, needed: int | None) -> tuple[Predicted, ...]:
    """The shares of decisions at sizes up to four times the planned one."""
    sizes = np.geomspace(20, 4 * max(needed or last.n, last.n), _CURVE).astype(int)
    return tuple(Predicted(n, *last.decided(n)) for n in sorted({*sizes.tolist(), last.n}))


def _check(power: float, n_runs: int) -> None:
    if not 0.5 <= power < 1:
        raise InputError(Setting("power", power), "; wanted at least 0.5 and below 1, such as 0.8")
    if not 20 <= n_runs <= 10_000:
        raise InputError(Setting("n_runs", n_runs), "; wanted 20 to 10,000")


def _available(reference: Sample, pilot: Sample | None) -> int:
    """How many texts or groups one sample of a trial can have: a half of the reference, if there is no pilot."""
    smaller = reference if pilot is None else min(reference, pilot, key=Sample.count_independent)
    n, draws = smaller.count_independent(), 2 if pilot is None else 1
    if n < draws * FEWEST_UNITS:
        has = many(n, "text" if smaller.groups is None else "group")
        drawn = "two samples" if pilot is None else "samples of it"
        raise InputError(f"{smaller.name}: {has}; planning draws {drawn}, wanted at least {draws * FEWEST_UNITS}")
    return n // draws
