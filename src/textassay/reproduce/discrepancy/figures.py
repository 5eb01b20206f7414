"""Figures 2 and 3 of the paper on Distributional Discrepancy: metrics of generators over temperatures."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.discrepancy.generators import (
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
from textassay.reproduce.discrepancy.tables import reproduction_of
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.studies.agreement.study import dominated_shares

_BY_PAIRS = "intervals over pairs of neighbouring shares of all seeds"
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
    return reproduction_of(
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
