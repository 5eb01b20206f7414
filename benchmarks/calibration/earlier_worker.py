"""Compare pairs of samples with whichever version of textassay is on the path; earlier_version.py starts it.

Each line of standard input is a JSON object with `reference`, `candidate`, `seed`, `metrics` ("ngram" or "all"), and
for all metrics the path of a NumPy file with the vectors of the reference and then of the candidate. Each line of
standard output is the decision: true where the version claims a difference. Only what both versions have is used.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from textassay import compare

LEVEL, RESAMPLES = 0.95, 199


@dataclass(frozen=True, eq=False)
class Given:
    """An encoder that looks up vectors which were made before."""

    vectors: dict[str, Any]
    dimension: int
    name: str = "given"

    def encode(self, texts: Sequence[str], /) -> Any:
        return np.stack([self.vectors[text] for text in texts])


def differs(job: dict[str, Any]) -> bool:
    """The decision of this version."""
    options: dict[str, Any] = {"families": ["ngram"]}
    if job["metrics"] == "all":
        vectors = np.load(job["vectors"], allow_pickle=False)
        texts = [*job["reference"], *job["candidate"]]
        options = {"encoder": Given(dict(zip(texts, vectors, strict=True)), vectors.shape[1])}
    found = compare(job["reference"], {"x": job["candidate"]}, n_resamples=RESAMPLES, seed=job["seed"], **options)
    column = found.candidates[0]
    if hasattr(column, "differs"):
        return bool(column.differs(LEVEL))
    assert column.verdict is not None
    # 0.4.0 has no overall test; its verdict is what claims a difference.
    return getattr(column.verdict, "level", "") in ("differs", "collapsed")


def main() -> None:
    for line in sys.stdin:
        with threadpool_limits(1):
            print(json.dumps(differs(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
