"""Table 4 and Figures 1d and 3 of Montahaei et al. (2019): models of an oracle's texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.printable import many
from textassay.corpus.sample import stream
from textassay.inference.result import signature
from textassay.metrics.learned.model_distances import TwoLogProbs, bhattacharyya_distance
from textassay.models.base import Generator
from textassay.models.neural.adversarial import train
from textassay.models.oracle import Oracle
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.joint.sweeps import TEMPERATURES, dominance_checks
from textassay.reproduce.result import CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run, by_model
from textassay.reproduce.sweeps import N_PARTS, TOKENIZER, generate

_PAPER = "montahaei2019"
# Table 4: NLL, Oracle-NLL and Bhattacharyya distance.
ORACLE = {
    "mle": (141.948, 167.014, 7.105),
    "seqgan": (155.353, 163.179, 10.076),
    "maligan": (146.260, 168.054, 8.503),
    "rankgan": (160.424, 166.774, 12.127),
}


@dataclass(frozen=True)
class Sizes:
    """The oracle, the texts, and the training of a scale."""

    vocabulary: int
    embedding: int
    length: int
    n_test: int
    n_swept: int
    options: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run) -> "Sizes":
        """Models of the smallest scale only show that everything runs; those of the paper are Texygen's."""
        short = {"preset": "laptop", "epochs": 1, "rounds": 2, "rollouts": 1, "warm_up": 2, "hidden": 8, "embedding": 8}
        laptop = {"preset": "laptop", "epochs": 8, "rounds": 60, "rollouts": 4, "learning_rate": 5e-3}
        return run.by_scale(
            cls(40, 32, 6, 200, 50, short),
            cls(200, 3_200, 10, 4_000, 1_000, laptop),
            cls(5_000, 3_200, 20, 25_000, 5_000, {"preset": "texygen"}),
        )

    def spec(self, name: str) -> str:
        """The model as `train` takes it."""
        options = ":".join(f"{option}={value}" for option, value in self.options_of(name).items())
        return f"{'seqgan' if name == 'mle' else name}:{options}"

    def options_of(self, name: str) -> Mapping[str, Any]:
        """Maximum likelihood is the same network without adversarial rounds, so that all models start alike."""
        return {**self.options, **({"rounds": 0, "warm_up": 0} if name == "mle" else {})}


def reproduce_table_4(_files: Sequence[Path], run: Run) -> Reproduction:
    """NLL, Oracle-NLL and the Bhattacharyya distance of models of an oracle's texts, and both axes of Figure 1d."""
    sizes = Sizes.of(run)
    oracle = Oracle.random(
        vocabulary=sizes.vocabulary,
        hidden=32,
        embedding=sizes.embedding,
        length=sizes.length,
        rng=stream(run.seed, "oracle", sizes.vocabulary, sizes.length),
    )
    training, test = (
        oracle.sample(n, rng=stream(run.seed, "oracle", part))
        for part, n in (("train", run.n_items), ("test", sizes.n_test))
    )
    rows: dict[str, AgainstOracle] = {}
    run.progress.start("training", len(ORACLE))
    seen = {word for text in training for word in text.split()}
    strange = sum(not seen.issuperset(text.split()) for text in test)
    for name in ORACLE:
        model = train(
            training,
            reward="seqgan" if name == "mle" else name,
            oracle=oracle,
            tokenizer=TOKENIZER,
            seed=run.seed,
            **sizes.options_of(name),
        )
        rows[name] = AgainstOracle.of(oracle, model, test, sizes.n_swept, run.seed)
        run.progress.step(1)
    return Reproduction(
        name=run.name,
        title="Table 4 and Figures 1d and 3: models of texts of an oracle",
        paper=_PAPER,
        design=f"An LSTM with random weights as oracle ({sizes.vocabulary:,} words, {sizes.embedding:,} dimensions, "
        f"texts of {sizes.length} words); models are trained on {run.n_items:,} of its texts, the adversarial ones to "
        f"the round with the lowest Oracle-NLL. NLL is of {sizes.n_test:,} further texts of the oracle under a model, "
        f"Oracle-NLL of {sizes.n_test:,} texts of the model under the oracle, both per text. Figure 1d: the entropy of "
        f"a model and the Oracle-NLL of {sizes.n_swept:,} of its texts at each temperature from 1.5^-3 to 1.5^4; lower "
        f"is better on both axes. {many(strange, 'text')} of the oracle with a word that no training text has, which "
        "the models cannot write, count in the distance but not in NLL; no other text is left out.",
        differs=(
            "The weights of the paper's oracle (5,000 words, texts of 20 words) are random and not published, so only "
            "the order of the models can agree.",
            f"The models here are trained with {sizes.spec('seqgan').partition(':')[2]}; the paper's are those of "
            "Texygen.",
        ),
        claims=(*_oracle_claims(rows), _dominance_claim(rows)),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"models": ",".join(sizes.spec(name) for name in ORACLE)},
            data={"oracle": oracle.name},
            resampling={"items": run.n_items, "seed": run.seed},
        ),
        tables=(
            Numbers(
                "Lower is better",
                (
                    *(f"{what}, {whose}" for whose in ("published", "ours") for what in _ORACLE_METRICS),
                    "its standard error",
                ),
                tuple(Row(name, (*ORACLE[name], *rows[name].numbers)) for name in ORACLE),
                None,
            ),
        ),
        notes=tuple(
            f"No round of {name} has a lower Oracle-NLL than its start, so that it is the model of maximum likelihood."
            for name, row in rows.items()
            if name != "mle" and row.numbers == rows["mle"].numbers
        ),
        panels=(_figure_1d(rows, oracle, test), *_figure_3(rows)),
    )


_ORACLE_METRICS = ("NLL", "Oracle-NLL", "Bhattacharyya")


@dataclass(frozen=True, eq=False)
class AgainstOracle:
    """A model beside the oracle: NLL and Oracle-NLL of each text, and the Bhattacharyya distance with its error.

    `swept` are the log-probability under the oracle and minus that under the model of texts at every temperature, by
    part of the texts.
    """

    nll: F64
    oracle_nll: F64
    distance: float
    error: float
    swept: F64

    @classmethod
    def of(cls, oracle: Oracle, model: Generator, test: Sequence[str], n_swept: int, seed: int) -> "AgainstOracle":
        """Measure a model."""
        texts = model.sample(len(test), rng=stream(seed, "oracle", "generate"))
        theirs, mine = (
            TwoLogProbs(oracle.log_prob(part).log_probs, model.log_prob(part).log_probs) for part in (test, texts)
        )
        distance = bhattacharyya_distance(theirs, mine)
        by_temperature = [
            (oracle.log_prob(written).log_probs, -model.log_prob(written, temperature=t).log_probs)
            for t, written in generate(model, n_swept, TEMPERATURES, seed).items()
        ]
        parts = [
            [float(values[part::N_PARTS].mean()) for pair in by_temperature for values in pair]
            for part in range(N_PARTS)
        ]
        swept = np.array(parts).reshape(N_PARTS, len(TEMPERATURES), 2)
        nll = -theirs.log_q[np.isfinite(theirs.log_q)]
        return cls(nll, -mine.log_p, distance.estimate, distance.error, swept)

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """The row of the table."""
        found = float(self.nll.mean()), float(self.oracle_nll.mean()), self.distance, self.error
        return tuple(value if np.isfinite(value) else None for value in found)


def _less(rows: Mapping[str, AgainstOracle], at: int, other: str, best: str) -> Measured:
    """By how much a column of the table is lower for the second model."""
    first, second = rows[other], rows[best]
    if at == 0:
        return Measured.over(first.nll - second.nll)
    if at == 1:
        return Measured.over(first.oracle_nll).less(Measured.over(second.oracle_nll))
    return Measured.give_or_take(first.distance, first.error).less(Measured.give_or_take(second.distance, second.error))


def _oracle_claims(rows: Mapping[str, AgainstOracle]) -> tuple[Claim, ...]:
    lowest = [min(ORACLE, key=lambda name: ORACLE[name][at]) for at in range(3)]
    return tuple(
        Claim(
            f"{best} has the lowest {metric}",
            tuple(Check(f"{other} less {best}", _less(rows, at, other, best)) for other in ORACLE if other != best),
            "above",
            0.0,
            "intervals over texts",
        )
        for at, (best, metric) in enumerate(zip(lowest, _ORACLE_METRICS, strict=True))
    )


def _dominance_claim(rows: Mapping[str, AgainstOracle]) -> Claim:
    names = list(rows)
    sides = np.stack([row.swept for row in rows.values()], axis=1)
    checks = dominance_checks(
        names,
        sides,
        lambda first, second: Check(
            f"Bhattacharyya distance of {names[second]} less that of {names[first]}",
            _less(rows, 2, names[second], names[first]),
        ),
    )
    return Claim(
        "the Bhattacharyya distance orders the models as their dominance over temperatures does (Figure 1d)",
        checks,
        "above",
        0.0,
        f"every two models; intervals over texts and over {N_PARTS} parts of them",
    )


def _figure_1d(rows: Mapping[str, AgainstOracle], oracle: Oracle, test: Sequence[str]) -> Panel:
    lines = tuple(
        Line(name, tuple(CurveAt(float(-entropy), float(-log_p)) for log_p, entropy in row.swept.mean(axis=0)))
        for name, row in rows.items()
    )
    own = float(oracle.log_prob(test).log_probs.mean())
    return Panel(
        "Figure 1d: temperatures from 1.5^-3 to 1.5^4",
        "minus entropy",
        "Oracle-NLL",
        lines,
        points=(NamedPoint("texts of the oracle", own, -own),),
        tabled=False,
    )


def _figure_3(rows: Mapping[str, AgainstOracle]) -> Iterator[Panel]:
    for at, metric in enumerate(_ORACLE_METRICS):
        sides: dict[str, list[float | None]] = {
            "published": [ORACLE[name][at] for name in rows],
            "ours": [row.numbers[at] for row in rows.values()],
        }
        yield by_model(f"Figure 3: {metric}", metric, list(rows), sides)
