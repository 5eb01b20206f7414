"""Is HUSE what it promises? Texts from two known distributions, rated by their true probabilities or by noisy people.

`python benchmarks/calibration/ratings.py [RUNS]` (200 runs unless told) writes docs/calibration-huse.md. With exact
probabilities as features HUSE should approach 1 minus the total variation distance as items grow, intervals should hold
that number in at least 90 % of runs, and where both sources are one, p-values of at most 0.05 should come out in at
most about 5 % of runs. With noisy ratings there is no closed form, so intervals are held against the mean over runs.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.ratings.rated_items import NOBODY, RatedItem, RatedItems
from textassay.engines.local import LocalEngine
from textassay.inference.plan import Silent
from textassay.inference.rated_scores import RatedPlan, measure
from textassay.inference.result import Result
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import parse_requests

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "calibration-huse.md"
RUNS, RESAMPLES, LEVEL = 200, 199, 0.95
SIZES = (200, 500, 1000, 2000, 4000, 8000)
F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """Texts with their probability among people and under the model."""

    name: str
    human: F64
    model: F64

    @property
    def overlap(self) -> float:
        """1 minus the total variation distance: what HUSE should be."""
        return float(np.minimum(self.human, self.model).sum())

    def items(self, n: int, rng: np.random.Generator, *, rate: Callable[[F64, np.random.Generator], F64]) -> RatedItems:
        """Half of n texts from each side; `rate` makes one row of ratings a text from its log-probability."""
        texts = [rng.choice(len(self.human), n // 2, p=side) for side in (self.human, self.model)]
        drawn = np.concatenate(texts)
        with np.errstate(divide="ignore"):
            typical, likely = np.log(self.human[drawn]), np.log(self.model[drawn])
        ratings = rate(typical, rng)
        items = tuple(RatedItem(f"{place}", place >= n // 2, float(likely[place]), 1) for place in range(2 * (n // 2)))
        each = ratings.shape[1]
        raters = tuple(f"r{number}" for number in range(each)) if each > 1 else ()
        rater_of = np.tile(np.arange(each) if each > 1 else [NOBODY], len(items))
        item_of = np.repeat(np.arange(len(items)), each)
        return RatedItems(self.name, items, raters, item_of, rater_of, ratings.reshape(-1), (0.0, 1.0))


def normals() -> World:
    """Two bell curves one standard deviation apart, in narrow steps."""
    steps = np.linspace(-6, 7, 5000)
    human, model = (np.exp(-((steps - centre) ** 2) / 2) for centre in (0.0, 1.0))
    return World("two bell curves", human / human.sum(), model / model.sum())


def sentences() -> World:
    """4,000 sentences of very different frequency; the model flattens it and errs on each."""
    rng = np.random.default_rng(3)
    typical = rng.normal(0, 1.5, 4000)
    human, model = np.exp(typical), np.exp(0.7 * typical + rng.normal(0, 1.2, 4000))
    return World("4,000 sentences", human / human.sum(), model / model.sum())


def copying() -> World:
    """A model that writes what it was trained on, 300 of 20,000 texts, and hardly anything else."""
    rng = np.random.default_rng(4)
    human = np.exp(rng.normal(0, 0.5, 20_000))
    human /= human.sum()
    learned = np.zeros_like(human)
    learned[rng.choice(len(human), 300, p=human, replace=False)] = 1 / 300
    return World("copies of 300 training texts", human, 0.98 * learned + 0.02 * human)


def same() -> World:
    """The model is the people."""
    world = sentences()
    return World("no difference", world.human, world.human)


def exactly(typical: F64, _: np.random.Generator) -> F64:
    """The true log-probability in place of ratings."""
    return typical[:, None]


def by_people(typical: F64, rng: np.random.Generator, *, ratings: int) -> F64:
    """Ratings from 1 to 6: typicality, a rater's severity and noise."""
    centre = 3.5 + 0.8 * (typical - typical.mean()) / typical.std()
    noisy = centre[:, None] + rng.normal(0, 0.4, ratings) + rng.normal(0, 1.3, (len(typical), ratings))
    return np.clip(np.round(noisy), 1, 6)


def growing(n: int) -> int:
    """The paper's 16 neighbours of 200 items, and as many more as keep both errors of the vote in balance."""
    return round(16 * (n / 200) ** (2 / 3))


def estimate(run: int, *, world: World, n: int, k: int) -> float:
    """HUSE with exact probabilities."""
    (request,) = parse_requests([f"huse:k={k}"], on="ratings")
    rated = world.items(n, np.random.default_rng([run, n]), rate=exactly)
    with threadpool_limits(1):
        return float(request.value(Ratings.of(rated)))


def results(
    run: int,
    *,
    world: World,
    n: int,
    k: int,
    rate: Callable[[F64, np.random.Generator], F64],
    metrics: tuple[str, ...],
    n_resamples: int = RESAMPLES,
) -> list[Result]:
    """The metrics with intervals."""
    requests = parse_requests([f"{metric}:k={k}" for metric in metrics], on="ratings")
    rated = world.items(n, np.random.default_rng([run, n, 1]), rate=rate)
    plan = RatedPlan(LEVEL, n_resamples, run, LocalEngine(1), Silent())
    with threadpool_limits(1):
        return list(measure(rated, requests, plan).results)


def approach(pool: ProcessPoolExecutor, runs: int) -> list[str]:
    """Rows of means by size, with the paper's k and with one that grows."""
    rows = []
    for world in (normals(), sentences()):
        for n in SIZES:
            cells = []
            for k in (16, growing(n)):
                few = max(10, min(runs, 40_000 // n))
                found = list(pool.map(partial(estimate, world=world, n=n, k=k), range(few)))
                cells.append(f"{np.mean(found):.3f} ± {np.std(found, ddof=1) / np.sqrt(len(found)):.3f} (k = {k})")
            rows.append(f"| {world.name} | {n:,} | {world.overlap:.3f} | {cells[0]} | {cells[1]} |")
            print(rows[-1], flush=True)
    return rows


def coverage(pool: ProcessPoolExecutor, runs: int) -> list[str]:
    """Rows of the share of intervals that hold 1 minus the total variation distance."""
    rows = []
    for world in (normals(), sentences()):
        for n in (200, 500, 1000):
            k = growing(n)
            work = partial(results, world=world, n=n, k=k, rate=exactly, metrics=("huse",))
            found = [result for (result,) in pool.map(work, range(runs))]
            held = np.mean([world.overlap in result.interval for result in found if result.interval])
            width = np.mean([result.interval.high - result.interval.low for result in found if result.interval])
            rows.append(f"| {world.name} | {n:,} | {k} | {runs} | {held:.1%} | ±{width / 2:.2f} |")
            print(rows[-1], flush=True)
    return rows


def with_people(pool: ProcessPoolExecutor, runs: int) -> list[str]:
    """Rows of the share of intervals that hold the mean over runs, and of significant runs, with noisy ratings."""
    rows = []
    metrics = ("huse", "huse_q", "huse_d")
    for world in (sentences(), same()):
        for ratings in (5, 20):
            rate = partial(by_people, ratings=ratings)
            work = partial(results, world=world, n=200, k=16, rate=rate, metrics=metrics)
            found = list(pool.map(work, range(runs)))
            for column, metric in enumerate(metrics):
                own = [each[column] for each in found]
                centre = float(np.mean([result.estimate for result in own]))
                held = np.mean([centre in result.interval for result in own if result.interval])
                tested = [result.p_value for result in own if result.p_value is not None]
                sure = f"{np.mean([p <= 0.05 for p in tested]):.1%}" if tested else "no test"
                rows.append(f"| {world.name} | {ratings} | `{metric}` | {centre:.2f} | {held:.1%} | {sure} |")
                print(rows[-1], flush=True)
    return rows


def copies(pool: ProcessPoolExecutor, runs: int) -> list[str]:
    """Rows of the scores of a model that copies."""
    rows, world = [], copying()
    for name, rate in (("exact", exactly), ("20 people", partial(by_people, ratings=20))):
        work = partial(results, world=world, n=400, k=25, rate=rate, metrics=("huse", "huse_q", "huse_d"))
        found = list(pool.map(work, range(max(10, runs // 10))))
        means = [np.mean([each[column].estimate for each in found]) for column in range(3)]
        rows.append(f"| {name} | {world.overlap:.2f} | {means[0]:.2f} | {means[1]:.2f} | {means[2]:.2f} |")
        print(rows[-1], flush=True)
    return rows


def page(runs: int, parts: dict[str, list[str]]) -> str:
    """The document."""
    return f"""# Calibration of HUSE

Texts are drawn from two known distributions, so the true value is known: HUSE with exact probabilities as features
should be 1 minus their total variation distance (TV). `python benchmarks/calibration/ratings.py` makes these tables.

## As items grow

Mean HUSE over repeated draws. With the paper's 16 neighbours it stays too high by 0.02 to 0.05, however many items
there are from 200 on, because a vote of 16 errs near the boundary; with k = 16 (n / 200)^(2/3) it comes within 0.02
of the truth.

| distributions | items | 1 - TV | the paper's k | growing k |
|---|---|---|---|---|
{chr(10).join(parts["approach"])}

## Do intervals hold the truth?

Share of {LEVEL:.0%} intervals (bootstrap over items, {RESAMPLES} resamples) that hold 1 - TV, in {runs} runs each.

| distributions | items | k | runs | held | mean width |
|---|---|---|---|---|---|
{chr(10).join(parts["coverage"])}

## With noisy ratings

200 items, k = 16, ratings from 1 to 6 with severity of raters and noise. There is no closed form for the truth then, so
the intervals (bootstrap over contexts and ratings) are held against the mean over the {runs} runs. The last column is
the share of runs with p at most 0.05: for “4,000 sentences” this is the power, for “no difference” the rate of false
alarms.

| distributions | ratings per item | metric | mean | held | p ≤ 0.05 |
|---|---|---|---|---|---|
{chr(10).join(parts["people"])}

## A model that copies

The model writes 300 training texts and hardly anything else: each is as good as what people write, and it would never
write most of what people write. HUSE-Q must be near 1 and HUSE-D low.

| ratings | 1 - TV | HUSE | HUSE-Q | HUSE-D |
|---|---|---|---|---|
{chr(10).join(parts["copies"])}
"""


def main() -> None:
    """All tables, on both cores; with `--smoke` one small draw, printed and not written."""
    if "--smoke" in sys.argv:
        names = ("huse", "huse_q", "huse_d")
        found = results(0, world=copying(), n=60, k=5, rate=exactly, metrics=names)
        print(", ".join(f"{name} {each.estimate:.2f}" for name, each in zip(names, found, strict=True)))
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with ProcessPoolExecutor(2) as pool:
        parts = {
            "copies": copies(pool, runs),
            "coverage": coverage(pool, runs),
            "people": with_people(pool, runs),
            "approach": approach(pool, runs),
        }
    TABLE.write_text(page(runs, parts), encoding="utf-8")


if __name__ == "__main__":
    main()
