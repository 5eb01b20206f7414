"""Table 4 of Montahaei et al. (2019): models of the texts of an oracle, whose probabilities are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.printable import many
from textassay.corpus.sample import stream
from textassay.inference.result import signature
from textassay.metrics.learned.model_distances import TwoLogProbs, bhattacharyya_distance
from textassay.models.base import Generator
from textassay.models.choose import train_model
from textassay.models.oracle import Oracle
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Reproduction, Row, Run

_PAPER = "montahaei2019"
# Table 4: NLL, Oracle-NLL and Bhattacharyya distance.
ORACLE = {
    "mle": (141.948, 167.014, 7.105),
    "seqgan": (155.353, 163.179, 10.076),
    "maligan": (146.260, 168.054, 8.503),
    "rankgan": (160.424, 166.774, 12.127),
}


def reproduce_table_4(_files: Sequence[Path], run: Run) -> Reproduction:
    """NLL, Oracle-NLL and the Bhattacharyya distance of models trained on texts of an oracle."""
    vocabulary, length, n_test = run.by_scale((40, 6, 200), (200, 10, 4000), (5000, 20, 25_000))
    oracle = Oracle.random(
        vocabulary=vocabulary, hidden=32, length=length, rng=stream(run.seed, "oracle", vocabulary, length)
    )
    training, test = (
        oracle.sample(n, rng=stream(run.seed, "oracle", part)) for part, n in (("train", run.n_items), ("test", n_test))
    )
    rows: dict[str, AgainstOracle] = {}
    run.progress.start("training", len(ORACLE))
    seen = {word for text in training for word in text.split()}
    strange = sum(not seen.issuperset(text.split()) for text in test)
    for name in ORACLE:
        model = train_model(_oracle_spec(name, run), training, seed=run.seed)
        rows[name] = _against_oracle(oracle, model, test, run.seed)
        run.progress.step(1)
    return Reproduction(
        name=run.name,
        title="Table 4: NLL, Oracle-NLL and Bhattacharyya distance on texts of an oracle",
        paper=_PAPER,
        design=f"An LSTM with random weights as oracle ({vocabulary:,} words, texts of {length} words); models are "
        f"trained on {run.n_items:,} of its texts. NLL is of {n_test:,} further texts of the oracle under the model, "
        f"Oracle-NLL of {n_test:,} texts of the model under the oracle, both per text. {many(strange, 'text')} of the "
        "oracle with a word that no training text has, which the models cannot write, count in the distance but not in "
        "NLL; no other text is left out.",
        differs=(
            "The paper's oracle has 5,000 words, 3,200 dimensions and texts of 20 words, and its weights are not "
            "published, so only the order of the models can agree.",
            f"Adversarial training has {_rounds(run)} rounds here; the paper's models are those of Texygen.",
        ),
        claims=_oracle_claims(rows),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"models": ",".join(_oracle_spec(name, run) for name in ORACLE)},
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
    )


_ORACLE_METRICS = ("NLL", "Oracle-NLL", "Bhattacharyya")


def _rounds(run: Run) -> int:
    return run.by_scale(2, 30, 500)


def _oracle_spec(name: str, run: Run) -> str:
    epochs, hidden = run.by_scale(1, 8, 80), run.by_scale(8, 32, 32)
    shape = f"hidden={hidden}:embedding={hidden}:epochs={epochs}:tokenizer=whitespace"
    if name == "mle":
        # The same network without adversarial rounds, so that all models start alike.
        return f"seqgan:rounds=0:warm_up=0:{shape}"
    return f"{name}:rounds={_rounds(run)}:rollouts={run.by_scale(1, 2, 16)}:warm_up={run.by_scale(2, 30, 500)}:{shape}"


@dataclass(frozen=True, eq=False)
class AgainstOracle:
    """A model beside the oracle: NLL and Oracle-NLL of each text, and the Bhattacharyya distance with its error."""

    nll: F64
    oracle_nll: F64
    distance: float
    error: float

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """The row of the table."""
        return float(self.nll.mean()), float(self.oracle_nll.mean()), self.distance, self.error


def _against_oracle(oracle: Oracle, model: Generator, test: Sequence[str], seed: int) -> AgainstOracle:
    texts = model.sample(len(test), rng=stream(seed, "oracle", "generate"))
    theirs, mine = (
        TwoLogProbs(oracle.log_prob(part).log_probs, model.log_prob(part).log_probs) for part in (test, texts)
    )
    distance = bhattacharyya_distance(theirs, mine)
    return AgainstOracle(-theirs.log_q[np.isfinite(theirs.log_q)], -mine.log_p, distance.estimate, distance.error)


def _oracle_claims(rows: Mapping[str, AgainstOracle]) -> tuple[Claim, ...]:
    lowest = [min(ORACLE, key=lambda name: ORACLE[name][at]) for at in range(3)]

    def less(at: int, other: str, best: str) -> Measured:
        first, second = rows[other], rows[best]
        if at == 0:
            return Measured.over(first.nll - second.nll)
        if at == 1:
            return Measured.over(first.oracle_nll).less(Measured.over(second.oracle_nll))
        return Measured.give_or_take(first.distance, first.error).less(
            Measured.give_or_take(second.distance, second.error)
        )

    return tuple(
        Claim(
            f"{best} has the lowest {metric}",
            tuple(Check(f"{other} less {best}", less(at, other, best)) for other in ORACLE if other != best),
            "above",
            0.0,
            "intervals over texts",
        )
        for at, (best, metric) in enumerate(zip(lowest, _ORACLE_METRICS, strict=True))
    )
