"""Leave-one-out scores equal those of classifiers that are fitted again for every text."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, U64, Bool
from textassay.metrics.learned.leave_one_out import LeaveOneOut


def refitted(features: F64, keys: U64, groups: U64 | None, candidate: Bool, reference: Bool) -> F64:
    """Scores by solving the whole problem again without each text, its copies and its group."""
    centred = features - features.mean(axis=0)
    penalty = np.trace(centred.T @ centred) / min(features.shape)
    scores = np.zeros(len(features))
    for text in range(len(features)):
        left_out = keys == keys[text]
        if groups is not None:
            left_out |= groups == groups[text]
        mine, theirs = candidate & ~left_out, reference & ~left_out
        if mine.any() and theirs.any() and penalty > 0:
            rest = centred[~left_out]
            means = centred[mine].mean(axis=0), centred[theirs].mean(axis=0)
            moments = rest.T @ rest + penalty * np.eye(features.shape[1])
            weights = np.linalg.solve(moments, means[1] - means[0])
            scores[text] = (centred[text] - (means[0] + means[1]) / 2) @ weights
    return scores


def scored(fitted: LeaveOneOut, candidate: Bool, reference: Bool) -> F64:
    units = np.arange(len(candidate))
    counts = fitted.counts(units, candidate[None]), fitted.counts(units, reference[None])
    found: F64 = fitted.scores(*counts)[fitted.case_of, 0]
    return found


@st.composite
def pools(draw: st.DrawFn) -> tuple[F64, U64, U64 | None, Bool, Bool]:
    """Features of texts of which some are copies, with or without groups; some texts are in neither sample."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, dimension = draw(st.integers(4, 40)), draw(st.integers(1, 60))
    different = draw(st.integers(2, n))
    rows = rng.standard_normal((different, dimension)) * (rng.random((different, dimension)) < 0.5)
    which = rng.integers(0, different, n)
    n_groups = draw(st.sampled_from([0, 3, 10, 40]))
    groups = rng.integers(0, n_groups, n).astype(np.uint64) if n_groups else None
    candidate = rng.random(n) < draw(st.sampled_from([0.2, 0.5]))
    candidate[0], candidate[1] = True, False
    present = rng.random(n) < draw(st.sampled_from([0.8, 1.0]))
    present[:2] = True
    return rows[which], which.astype(np.uint64), groups, candidate & present, ~candidate & present


@given(pools(), st.booleans())
def test_scores_equal_those_of_explicit_refits(pool: Any, sparse: bool) -> None:
    features, keys, groups, candidate, reference = pool
    fitted = LeaveOneOut.of(csr_array(features) if sparse else features, keys, groups)
    found, wanted = scored(fitted, candidate, reference), refitted(*pool)
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max(initial=1e-3))


def test_all_labellings_at_once_equal_one_at_a_time() -> None:
    rng = np.random.default_rng(0)
    features, keys = rng.standard_normal((60, 20)), np.arange(60, dtype=np.uint64) // 2
    masks = np.array([rng.permutation(30) < 15 for _ in range(200)])
    units = rng.permutation(60) // 2
    fitted = LeaveOneOut.of(features, keys)
    together = fitted.discrepancies(units, masks, ~masks)
    alone = [fitted.discrepancies(units, mask[None], ~mask[None])[0] for mask in masks]
    assert together.tolist() == alone


def test_equal_features_are_no_difference() -> None:
    fitted = LeaveOneOut.of(np.ones((10, 3)), np.arange(10, dtype=np.uint64))
    mask = (np.arange(10) < 4)[None]
    assert fitted.discrepancies(np.arange(10), mask, ~mask).tolist() == [0.0]


@pytest.mark.parametrize("grouped", [False, True])
def test_without_the_rule_for_copies_the_scores_leak(grouped: bool) -> None:
    """Random labels that copies share are found with keys that differ for every text, and not with true keys."""
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.standard_normal((60, 200)), 4, axis=0)
    labels = np.repeat([rng.permutation(60) < 30 for _ in range(100)], 4, axis=1)
    copies, each = np.repeat(np.arange(60), 4).astype(np.uint64), np.arange(240, dtype=np.uint64)
    keys, groups = (each, copies) if grouped else (copies, None)
    honest, leaking = (
        fitted.discrepancies(np.arange(240), labels, ~labels)
        for fitted in (LeaveOneOut.of(rows, keys, groups), LeaveOneOut.of(rows, each))
    )
    assert abs(honest.mean()) < 0.05
    assert leaking.mean() > 0.9
