"""Our tests on a draw: the overall test with and without vectors, with static vectors, its members, and CND.

The number of exchanges is fixed here, and smaller than in `compare`, which also adds exchanges where a p-value is close
to the level. That takes longer and hardly changes how often it is below it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from corpora import Draw
from numpy.typing import NDArray

from textassay.corpus.sample import Sample
from textassay.encoders.static import StaticEncoder, static
from textassay.inference.overall.bank import BANK, bank_description, bank_statistics
from textassay.inference.overall.pair_matrix import gram_counts
from textassay.inference.overall.test import combine
from textassay.inference.p_values import p_value
from textassay.inference.permutation import Design, design_of
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.views import Material, Pool, Settings

F32 = NDArray[np.float32]
Floats = NDArray[np.float64]

EXCHANGES = 399
# In larger samples fewer exchanges save most of the time, and cost a little power.
LARGE, FEWER_EXCHANGES = 1000, 199
# The number is raised when the members' statistics or their combination change, so that results are not mixed.
OUR_VERSION = bank_description() + " 3"


@dataclass(frozen=True, eq=False)
class Known:
    """An encoder of texts whose vectors are known already."""

    texts: Sequence[str] = field(repr=False)
    vectors: F32 = field(repr=False)
    name: str = "minilm:int8, known"

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def encode(self, texts: Sequence[str], /) -> F32:
        places = {text: place for place, text in enumerate(self.texts)}
        return self.vectors[[places[text] for text in texts]]


def our_tests(sample: Draw) -> dict[str, float]:
    """p-values by name; `overall lexical` is what a run without an encoder reports."""
    pool, design, masks = _prepared(sample, sample.vectors)
    statistics = bank_statistics(pool, design, masks, members=BANK)
    lexical = [place for place, member in enumerate(BANK) if not member.reads_vectors]
    pairs = gram_counts(pool.merged(TextNgrams).order(2), design, power=0.0)
    found = {
        "overall": _p(combine(statistics, members=BANK)),
        "overall lexical": _p(combine(statistics[lexical], members=[BANK[place] for place in lexical])),
        "cnd": _p(pairs.distances(masks)),
    }
    return found | {f"member {member.name}": _p(row) for member, row in zip(BANK, statistics, strict=True)}


def static_tests(sample: Draw) -> dict[str, float]:
    """The overall test with static vectors in place of MiniLM's, on the same labellings, and its members on vectors."""
    pool, design, masks = _prepared(sample, _static().encode(sample.texts))
    statistics = bank_statistics(pool, design, masks, members=BANK)
    found = {"overall static": _p(combine(statistics, members=BANK))}
    of_vectors = [(m, row) for m, row in zip(BANK, statistics, strict=True) if m.reads_vectors]
    return found | {f"member {member.name} static": _p(row) for member, row in of_vectors}


@cache
def _static() -> StaticEncoder:
    return static(workers=1)


def _prepared(sample: Draw, vectors: F32) -> tuple[Pool, Design, NDArray[np.bool_]]:
    settings = Settings(encoder=Known(sample.texts, vectors))
    sides = [
        Sample.of(sample.texts[: sample.n], name="candidate"),
        Sample.of(sample.texts[sample.n :], name="reference"),
    ]
    pool = Pool((Material(sides[0], settings), Material(sides[1], settings)))
    design = design_of(*sides, seed=sample.seed)
    return pool, design, design.labellings(EXCHANGES if sample.n < LARGE else FEWER_EXCHANGES, sample.seed)


def _p(values: Floats) -> float:
    return p_value(float(values[0]), values[1:], exact=False)
