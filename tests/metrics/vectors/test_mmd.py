"""MMD against scikit-learn's kernels, exact enumeration, hyppo and scipy, and at the edges."""

import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import permutation_test
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from tests.conftest import material
from tests.laws import WORDS, corpus
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.registry import parse_requests
from textassay.metrics.vectors.kernels import bandwidth
from textassay.metrics.vectors.mmd import mmd, mmd_approximate, mmd_exchange, mmd_leave_out
from textassay.metrics.vectors.mmd import mmd_parts as parts_of
from textassay.metrics.vectors.vectors import Vectors, joint
from textassay.metrics.views import Resamples

RESAMPLES = 1999


def vectors(seed: int, n: int, *, shift: float = 0.0, d: int = 5) -> Vectors:
    return Vectors((np.random.default_rng(seed).standard_normal((n, d)) + shift).astype(np.float32))


def run(spec: str, candidate: list[str], reference: list[str], n_resamples: int = 99) -> Result:
    roles = {"candidate": material(candidate), "reference": material(reference)}
    return measure(parse_requests([spec]), roles, plan=Plan(n_resamples=n_resamples)).results[0]


def from_matrix(k: NDArray[Any], n: int, *, unbiased: bool) -> float:
    """Squared MMD of the first n against the rest."""
    off = 1 if unbiased else 0
    own, other = k[:n, :n], k[n:, n:]
    own_sum, other_sum = own.sum() - off * np.trace(own), other.sum() - off * np.trace(other)
    m = len(other)
    return float(own_sum / (n * (n - off)) + other_sum / (m * (m - off)) - 2 * k[:n, n:].mean())


def test_default_is_the_papers_rbf_with_half_the_median_over_all_pairs() -> None:
    a, b = vectors(0, 30), vectors(1, 20, shift=0.3)
    pooled = np.concatenate((a.values, b.values)).astype(np.float64)
    k = rbf_kernel(pooled, gamma=1 / (2 * bandwidth(joint(a, b)) ** 2))
    assert mmd(a, b) == pytest.approx(from_matrix(k, 30, unbiased=False), rel=1e-10)
    assert mmd(a, b, variant="u") == pytest.approx(from_matrix(k, 30, unbiased=True), rel=1e-10)


def test_polynomial_unbiased_is_the_kernel_inception_distance() -> None:
    a, b = vectors(0, 30, d=48), vectors(1, 20, shift=0.1, d=48)
    k = polynomial_kernel(np.concatenate((a.values, b.values)).astype(np.float64), degree=3)
    assert mmd(a, b, kernel="polynomial", variant="u") == pytest.approx(from_matrix(k, 30, unbiased=True), rel=1e-10)


def test_parts_add_up_to_the_value() -> None:
    a, b = vectors(0, 30), vectors(1, 20, shift=0.3)
    found = parts_of(a, b, kernel="rbf", variant="u")
    assert found["within_candidate"] + found["within_reference"] - 2 * found["across"] == pytest.approx(
        mmd(a, b, variant="u")
    )
    assert found["bandwidth"] == bandwidth(joint(a, b))
    assert "bandwidth" not in parts_of(a, b, kernel="energy", variant="v")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "energy", "polynomial"])
def test_exact_enumeration_of_four_against_five(kernel: Any) -> None:
    candidate, reference = corpus(3, 8)[4:8], corpus(4, 9, words=WORDS[5:25])[4:9]
    found = run(f"mmd:kernel={kernel}", candidate, reference, 999)
    pooled = material(candidate + reference).view(Vectors).values
    ways = [np.isin(np.arange(9), chosen) for chosen in combinations(range(9), 4)]
    anew = np.array([mmd(Vectors(pooled[way]), Vectors(pooled[~way]), kernel=kernel) for way in ways])
    assert found.p_value == (anew >= anew[0] * (1 - 1e-9)).sum() / 126
    assert anew[0] == pytest.approx(found.estimate, rel=1e-12)
    # Over all exchanges the unbiased value averages to nothing at all.
    masks = np.array(ways)
    view = joint(Vectors(pooled[:4]), Vectors(pooled[4:]))
    unbiased = mmd_exchange(
        view.candidate,
        view.reference,
        resamples=Resamples(np.arange(9), (masks, ~masks)),
        kernel=kernel,
        variant="u",
    )
    assert unbiased.mean() == pytest.approx(0, abs=1e-14)
    assert unbiased.std() > 1e-3


def test_unbiased_value_averages_to_zero_between_samples_of_one_source() -> None:
    splits = [float(mmd(vectors(seed, 20), vectors(1000 + seed, 20), variant="u")) for seed in range(200)]
    plain = [float(mmd(vectors(seed, 20), vectors(1000 + seed, 20))) for seed in range(200)]
    error = np.std(splits) / math.sqrt(200)
    assert abs(np.mean(splits)) < 4 * error
    assert np.mean(plain) > 20 * error


def test_leaving_out_holds_the_bandwidth() -> None:
    a, b = vectors(0, 40), vectors(1, 50, shift=0.3)
    labels = (np.arange(40) % 20, np.arange(50) % 20)
    k = rbf_kernel(joint(a, b).values.astype(np.float64), gamma=1 / (2 * bandwidth(joint(a, b)) ** 2))
    mine, others = mmd_leave_out(a, b, labels=labels, kernel="rbf", variant="v")
    stays = np.concatenate((labels[0] != 3, np.ones(50, bool)))
    assert mine[3] == pytest.approx(from_matrix(k[np.ix_(stays, stays)], 38, unbiased=False), rel=1e-10)
    stays = np.concatenate((np.ones(40, bool), labels[1] != 3))
    assert others[3] == pytest.approx(from_matrix(k[np.ix_(stays, stays)], 40, unbiased=False), rel=1e-10)


def close_samples() -> tuple[list[str], list[str]]:
    """Samples on which the kernels do not agree: p-values from 0.1 to 0.6."""
    return corpus(15, 40), corpus(65, 40)


def assert_agree(ours: float | None, theirs: float) -> None:
    """Within four standard errors of the difference between two Monte-Carlo p-values: at most 0.063."""
    assert ours is not None
    assert 0.05 < ours < 0.7
    assert abs(ours - theirs) < 4 * math.sqrt(2 * ours * (1 - ours) / RESAMPLES), (ours, theirs)


def test_p_value_agrees_with_hyppo() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ksample = pytest.importorskip("hyppo.ksample")
        candidate, reference = close_samples()
        a, b = (material(texts).view(Vectors) for texts in (candidate, reference))
        gamma = 1 / (2 * bandwidth(joint(a, b)) ** 2)
        theirs = ksample.MMD(bias=True, gamma=gamma).test(
            a.values.astype(np.float64), b.values.astype(np.float64), reps=RESAMPLES, auto=False, random_state=0
        )
    assert_agree(run("mmd", candidate, reference, RESAMPLES).p_value, theirs.pvalue)


@pytest.mark.parametrize(("kernel", "variant"), [("laplacian", "v"), ("polynomial", "u"), ("rbf", "u")])
def test_p_value_agrees_with_scipy(kernel: Any, variant: Any) -> None:
    candidate, reference = close_samples()
    pooled = material(candidate + reference).view(Vectors).values

    def statistic(x: NDArray[Any], y: NDArray[Any]) -> float:
        one, other = Vectors(pooled[x.astype(np.int64)]), Vectors(pooled[y.astype(np.int64)])
        return float(mmd(one, other, kernel=kernel, variant=variant))

    places = (np.arange(40.0), np.arange(40.0, 80.0))
    theirs = permutation_test(
        places, statistic, n_resamples=RESAMPLES, vectorized=False, alternative="greater", rng=np.random.default_rng(0)
    )
    spec = f"mmd:kernel={kernel}:variant={variant}"
    assert_agree(run(spec, candidate, reference, RESAMPLES).p_value, theirs.pvalue)


@pytest.mark.parametrize("spec", [f"mmd:kernel={k}" for k in ("rbf", "laplacian", "energy", "polynomial")])
def test_edges_have_honest_values(spec: str) -> None:
    same = run(spec, ["a b c"] * 30, ["a b c"] * 25)
    assert (same.estimate, same.p_value, same.interval) == (0.0, 1.0, None)
    empty = run(spec, [""] * 5 + corpus(1, 20), [""] * 25)
    assert empty.estimate > 0
    assert empty.p_value is not None
    two = run(spec, ["a b", "c d"], ["e f", "g h"])
    assert two.undefined is None
    assert two.p_value is not None
    one = run(spec, ["a b"], ["e f", "g h"])
    assert one.undefined == "1 text in the candidate; needs 2 or more"


def test_signature_has_the_approximation() -> None:
    assert mmd_approximate(2048) == {}
    assert mmd_approximate(10_000) == {"bandwidth": 2048}
    assert list(mmd_approximate(40_000).items()) == [("bandwidth", 2048), ("slices", 5)]
