"""A small stress study that several tests read, made once."""

from functools import cache
from typing import Any

from tests.laws import corpus
from textassay.studies.stress.result import Stress
from textassay.studies.stress.study import stress

OTHER_WORDS = [f"v{number}" for number in range(40)]


def reference() -> list[str]:
    """Real texts, enough for samples of 24."""
    return corpus(1, 130)


def settings() -> dict[str, Any]:
    return {
        "damages": "topics,duplicates,shuffle,cold,blend,copy",
        "metrics": "bleu:n=2,distinct,cnd,energy,copying",
        "sizes": [20, 24],
        "strengths": [0.5, 1],
        "n_runs": 2,
        "n_draws": 19,
        "other": corpus(2, 40, words=OTHER_WORDS),
        "training": corpus(3, 40),
    }


@cache
def small_study() -> Stress:
    return stress(reference(), **settings())
