"""p-values, Holm, jackknife and paired differences against known answers."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tests.conftest import material
from tests.laws import WORDS, corpus
from textassay.corpus.sample import stream
from textassay.inference.intervals import Replicates, Spread, group_labels, half_width, spread, two_sided, wilson
from textassay.inference.measure import measure, paired_difference
from textassay.inference.p_values import holm, p_value
from textassay.inference.permutation import PermutationTests, block_size, exchange_units, independent, permutation_tests
from textassay.inference.plan import Plan, Silent
from textassay.metrics.items.item_pool import all_masks, random_masks
from textassay.metrics.ngrams.counts import Ngrams
from textassay.metrics.ngrams.overlap import cnd
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.views import Pool


def test_p_value_counts_ties_and_adds_one_only_for_monte_carlo() -> None:
    null = np.array([1.0, 2.0, 2.0, 3.0])
    assert p_value(2.0, null, exact=True) == 0.75
    assert p_value(2.0, null, exact=False) == 0.8
    assert p_value(2.0 + 1e-12, null, exact=True) == 0.75
    assert math.isnan(p_value(math.nan, null, exact=True))


def test_holm_by_hand_and_with_gaps() -> None:
    assert holm([0.01, math.nan, 0.04, 0.03])[0] == pytest.approx(0.03)
    assert math.isnan(holm([0.01, math.nan])[1])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=20)
    left_out = np.array([np.delete(values, i).mean() for i in range(20)])
    found = spread([left_out])
    assert found.error == pytest.approx(values.std(ddof=1) / 20**0.5)
    low, high = stats.t.interval(0.95, 19, loc=values.mean(), scale=found.error)
    assert half_width(found, 0.95) == pytest.approx((high - low) / 2)


def test_groups_are_even_and_every_text_is_left_out_once() -> None:
    labels = group_labels(47, stream(0, "x"))
    assert set(np.bincount(labels)) == {2, 3}
    assert len(np.bincount(labels)) == 20


def run_tests(requests: list[Request], pool: Pool, *, n_resamples: int) -> PermutationTests:
    design = independent([len(part.sample) for part in pool.parts], 0)
    return permutation_tests(requests, pool, design, n_resamples=n_resamples, seed=0, progress=Silent())


def test_exact_permutation_test_equals_brute_force() -> None:
    one, other = ["a b", "b c d", "a a"], ["c d", "d d a", "b a c"]
    (request,) = parse_requests(["cnd:n=1"])
    pool = Pool((material(one), material(other)))
    found = run_tests([request], pool, n_resamples=100).p_values[request]
    texts = one + other
    values = []
    for chosen in combinations(range(6), 3):
        parts = [texts[i] for i in chosen], [texts[i] for i in range(6) if i not in chosen]
        values.append(float(cnd(*(material(part).view(Ngrams) for part in parts), n=1)))
    assert found == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


def test_masks_choose_the_right_number() -> None:
    masks = random_masks(10, 20, rows=40, seed=0)
    assert set(masks.sum(axis=1)) == {10}
    assert len(np.unique(masks, axis=0)) == 40
    every = all_masks(2, 3)
    assert len(np.unique(every, axis=0)) == 10
    assert set(every.sum(axis=1)) == {2}


@pytest.mark.parametrize("sizes", [(3, 4), (1000, 1048), (5000, 5000), (5003, 7001), (60, 100_000)])
def test_units_of_exchange_are_whole_blocks_of_one_size(sizes: tuple[int, int]) -> None:
    units, blocks = exchange_units(sizes, 0)
    block = block_size(sizes)
    assert len(units) == sum(sizes)
    counts = np.bincount(units, minlength=sum(blocks) + 2)
    assert set(counts[: sum(blocks)]) == {block}
    assert set(units[: sizes[0]]) <= {*range(blocks[0]), sum(blocks)}
    assert not set(units[: sizes[0]]) & set(units[sizes[0] :])
    assert counts[sum(blocks)] == sizes[0] % block
    assert counts[sum(blocks) + 1] == sizes[1] % block
    assert (block == 1) == (sum(sizes) <= 2048 or sizes[0] < 100)


def test_exchanging_blocks_still_tells_same_from_different() -> None:
    requests = parse_requests(["cnd", "distinct"])
    same = Pool((material(corpus(1, 2500)), material(corpus(2, 2500))))
    assert min(run_tests(requests, same, n_resamples=99).p_values.values()) > 0.02
    other = Pool((material(corpus(1, 2500)), material(corpus(2, 2500, words=WORDS[::-1]))))
    assert run_tests(requests[:1], other, n_resamples=99).p_values[requests[0]] == 0.01


def test_a_metric_has_the_same_result_alone_and_in_company() -> None:
    roles = {"candidate": material(corpus(1, 40)), "reference": material(corpus(2, 40))}
    alone = measure(parse_requests(["distinct"]), roles, plan=Plan(n_resamples=99)).results[0]
    together = {r.metric: r for r in measure(parse_requests(), roles, plan=Plan(n_resamples=99)).results}["distinct"]
    assert (alone.estimate, alone.interval, alone.p_value) == (together.estimate, together.interval, together.p_value)


def test_wilson_equals_scipy() -> None:
    for successes, n in ((0, 20), (7, 20), (20, 20)):
        expected = stats.binomtest(successes, n).proportion_ci(0.9, method="wilson")
        assert wilson(successes / n, n, 0.9) == pytest.approx((expected.low, expected.high))


def test_paired_difference_takes_the_common_reference_noise_off() -> None:
    noise = np.linspace(-1, 1, 20)
    first = (1.0, Replicates((np.full(20, 1.0), 1.0 + noise)))
    second = (0.5, Replicates((0.5 + 0.001 * noise, 0.5 + noise)))
    found = paired_difference(first, second)
    assert found.estimate == 0.5
    assert found.p_value < 0.001
    assert found.low > 0.4


def test_a_difference_without_variation_is_not_judged() -> None:
    assert math.isnan(two_sided(0.5, Spread(0.0, 19)))
    assert two_sided(0.0, Spread(0.0, 19)) == 1.0


def test_nothing_that_varies_gives_no_interval() -> None:
    """An interval of no width would claim certainty."""
    apart = {"candidate": material(["a b c d"] * 20 + ["a b"] * 5), "reference": material(["w x y z"] * 25)}
    found = {r.metric: r for r in measure(parse_requests(["cr", "repetition"]), apart, plan=Plan()).results}
    assert found["cr"].estimate == 0
    assert found["cr"].interval is None
    assert found["repetition"].interval is not None


def test_the_smallest_p_value_that_can_come_out() -> None:
    assert independent((2, 2), 0).smallest_p(999) == pytest.approx(2 / 6)
    assert independent((500, 500), 0).smallest_p(999) == 0.001


def test_too_few_texts_give_no_interval_and_undefined_says_why() -> None:
    tiny = {"candidate": material(["a b c", "c d e"]), "reference": material(["a b", "d e f"])}
    found = {
        r.metric: r for r in measure(parse_requests(["distinct:n=2", "cnd:n=4", "copying"]), tiny, plan=Plan()).results
    }
    assert found["distinct"].interval is None
    assert found["cnd"].undefined
    assert math.isnan(found["cnd"].estimate)
    assert "train" in str(found["copying"].undefined)
