"""Intervals where samples hold little: shares of a few texts, values near 0 and 1, and texts that repeat."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student

from tests.laws import corpus
from textassay import compare, metrics
from textassay.corpus.sample import Sample
from textassay.inference.intervals import Replicates, different_texts, fewest_texts, interval, modified_wilson, wilson
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.interval_methods import INTERVAL_METHODS
from textassay.metrics.registry import find_metric, parse_requests
from textassay.metrics.views import Material, Settings

F64 = NDArray[np.float64]


def coverage(n: int, shares: F64, *, modified: bool) -> F64:
    """How often the interval of a share holds it, exactly."""
    how = modified_wilson if modified else wilson
    limits = np.array([how(hits / n, n, 0.95) for hits in range(n + 1)])
    chances = binom.pmf(np.arange(n + 1), n, shares[:, None])
    return np.asarray((chances * ((limits[:, 0] <= shares[:, None]) & (shares[:, None] <= limits[:, 1]))).sum(axis=1))


@pytest.mark.parametrize("n", [20, 50, 51, 100, 500])
def test_modified_wilson_covers_rare_and_common_shares(n: int) -> None:
    rare = np.exp(np.linspace(np.log(0.01 / n), np.log(0.5), 800))
    shares = np.concatenate((rare, 1 - rare))
    assert coverage(n, shares, modified=False).min() < 0.85
    assert coverage(n, shares, modified=True).min() > 0.91


@pytest.mark.parametrize("n", [7, 50, 100])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_modified_wilson_holds_wilsons_interval(n: int, level: float) -> None:
    for hits in range(n + 1):
        low, high = modified_wilson(hits / n, n, level)
        plain = wilson(hits / n, n, level)
        assert 0 <= low <= plain[0] <= hits / n <= plain[1] <= high <= 1
        if 3 < hits < n - 3:
            assert (low, high) == plain


def measured(spec: str, candidate: list[str], reference: list[str], train: list[str] | None = None) -> Result:
    texts = {"candidate": candidate, "reference": reference} | ({"train": train} if train else {})
    roles = {role: Material(Sample.of(each, name=role)) for role, each in texts.items()}
    return measure(parse_requests([spec]), roles, plan=Plan(n_resamples=1), test=False).results[0]


def sentences(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list("abcdefgh"), 8)) + f" {seed} {number}" for number in range(n)]


def test_copying_has_the_modified_interval() -> None:
    texts = sentences(60, 1)
    found = measured("copying", texts, sentences(60, 2), train=texts[:1])
    assert found.interval is not None
    assert found.interval.method == "wilson:modified"
    assert (found.interval.low, found.interval.high) == modified_wilson(1 / 60, 60, 0.95)
    assert found.interval.low < wilson(1 / 60, 60, 0.95)[0]


@pytest.mark.parametrize("metric", ["bleu", "reverse_bleu"])
def test_bleu_has_no_interval_where_few_different_texts_carry_it(metric: str) -> None:
    """Half of the texts are one text, so that they count as fewer than four different ones."""
    reference = sentences(60, 2)
    repeated = [*sentences(30, 1), *sentences(1, 3) * 30]
    assert measured(metric, sentences(60, 1), reference).interval is not None
    assert measured(metric, repeated, reference).interval is None
    assert measured(metric, reference, repeated).interval is None
    assert not np.isnan(measured(metric, repeated, reference).estimate)
    assert measured("self_bleu", repeated, reference).interval is not None


def test_texts_that_repeat_count_for_less() -> None:
    def counted(texts: list[str]) -> float:
        return different_texts(Material(Sample.of(texts)))

    assert counted(sentences(20, 1)) == counted(sentences(20, 1) * 2) == 20
    assert counted([*sentences(30, 1), *sentences(1, 3) * 30]) == pytest.approx(60**2 / (30 + 30**2))
    names = ("jackknife", "jackknife:different-texts", "jackknife:fixed-clusters:logit")
    assert [fewest_texts(INTERVAL_METHODS[name]) for name in names] == [20, 20, 50]


@pytest.mark.parametrize(("different", "given"), [(19, False), (20, True)])
def test_twenty_different_texts_are_enough(different: int, given: bool) -> None:
    candidate = sentences(different, 1) * 2
    assert (measured("bleu", candidate, sentences(40, 2)).interval is not None) is given


def vectors_of(rows: F64) -> Material:
    """A material whose texts are the numbers of the rows, and whose encoder looks the rows up."""
    texts = [f"text {number} {row.sum():.6f}" for number, row in enumerate(rows)]
    known = dict(zip(texts, rows.astype(np.float32), strict=True))

    class Lookup:
        name = "lookup"
        dimension = rows.shape[1]

        def encode(self, wanted: Sequence[str], /) -> NDArray[np.float32]:
            return np.stack([known[text] for text in wanted])

    return Material(Sample.of(texts, name="lookup"), Settings(encoder=Lookup()))


def mauve_of(shift: float, n: int = 60) -> Result:
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((n, 8)), rng.standard_normal((n, 8)) + shift
    both = vectors_of(np.concatenate((one, other)))
    texts = both.sample.texts.to_pylist()
    roles = {
        role: Material(Sample.of(part, name=role), both.settings)
        for role, part in (("candidate", texts[:n]), ("reference", texts[n:]))
    }
    return measure(parse_requests(["mauve"]), roles, plan=Plan(n_resamples=1), test=False).results[0]


def test_mauve_has_uneven_limits_that_stay_inside_of_its_range() -> None:
    """Near 0 the upper limit is farther away, near 1 the lower one."""
    far, near = mauve_of(0.7), mauve_of(0.0)
    assert far.interval is not None
    assert near.interval is not None
    assert far.interval.method == "jackknife:fixed-clusters:logit"
    assert 0 < far.interval.low < far.estimate < 0.5 < near.estimate < near.interval.high < 1
    assert far.interval.high - far.estimate > far.estimate - far.interval.low
    assert near.interval.high - near.estimate < near.estimate - near.interval.low


def test_the_logit_interval_by_hand() -> None:
    """Twenty values on the logit scale with spread 1; widened by ten over n."""
    request = parse_requests(["mauve"])[0]
    around = np.tile([-0.1, 0.1], 10)
    replicates = {request: Replicates((1 / (1 + np.exp(-around)),))}
    error = math.sqrt(19 / 20 * 20 * 0.01)
    for n in (50, 100, 10**9):
        found = interval(request, 0.5, n=n, level=0.95, replicates=replicates)
        assert found is not None
        half = float(student.ppf(0.975, 19)) * error * (1 + 10 / n)
        assert (found.low, found.high) == pytest.approx((1 / (1 + math.exp(half)), 1 / (1 + math.exp(-half))))


def test_values_at_the_ends_of_the_range_keep_the_plain_interval() -> None:
    """Where a group left out gives 0 or 1, the logit scale has no place for it."""
    request = parse_requests(["mauve"])[0]
    values = np.array([1.0, *[0.9] * 19])
    found = interval(request, 0.9, n=100, level=0.95, replicates={request: Replicates((values,))})
    assert found is not None
    half = float(student.ppf(0.975, 19)) * math.sqrt(19 / 20 * ((values - values.mean()) ** 2).sum())
    assert (found.low, found.high) == pytest.approx((0.9 - half, min(0.9 + half, 1.0)))
    constant = {request: Replicates((np.full(20, 0.9),))}
    assert interval(request, 0.9, n=100, level=0.95, replicates=constant) is None


@pytest.mark.parametrize(("metric", "factor"), [("density", 1.2), ("precision", 1.2), ("energy", 1.0)])
def test_intervals_of_values_that_outliers_decide_are_a_fifth_wider(metric: str, factor: float) -> None:
    request = parse_requests([metric])[0]
    values = 0.5 + np.tile([-0.02, 0.02], 10)
    found = interval(request, 0.5, n=10**6, level=0.95, replicates={request: Replicates((values,))})
    assert found is not None
    half = float(student.ppf(0.975, 19)) * math.sqrt(19 * 0.02**2)
    assert (found.low, found.high) == pytest.approx((0.5 - factor * half, 0.5 + factor * half))


@pytest.mark.parametrize("metric", ["precision", "recall", "density", "mauve", "frontier_integral"])
def test_vectors_of_few_different_texts_have_no_interval(metric: str) -> None:
    both = vectors_of(np.random.default_rng(0).standard_normal((140, 8)))
    texts = both.sample.texts.to_pylist()
    different, repeated = texts[:60], [*texts[:30], *texts[:1] * 30]

    def found(candidate: list[str]) -> Result:
        roles = {"candidate": candidate, "reference": texts[80:]}
        made = {role: Material(Sample.of(part, name=role), both.settings) for role, part in roles.items()}
        return measure(parse_requests([metric]), made, plan=Plan(n_resamples=1), test=False).results[0]

    assert found(different).interval is not None
    assert found(repeated).interval is None
    assert not math.isnan(found(repeated).estimate)


def test_a_value_that_one_text_decides_has_no_interval() -> None:
    """Half of the samples would not have this text, and no interval around this value covers theirs."""
    texts, others = corpus(1, 100), corpus(2, 100)
    table = [*texts[:-1], " | ---" * 700]
    for found in (metrics.cnd(table, others, n_resamples=19), metrics.nrr(table, n_resamples=19)):
        assert found.interval is None
        assert "one twentieth of the texts makes more than half of the value" in found.notes[0]
    for found in (metrics.cnd(texts, others, n_resamples=19), metrics.nrr(texts, n_resamples=19)):
        assert found.interval is not None
        assert found.notes == ()
    both = compare(others, {"x": table}, metrics="cnd", n_resamples=19)
    assert any(note.startswith("x: cnd-2: no interval") for note in both.notes)
    assert type(both).from_json(both.to_json()) == both


def test_a_metric_names_a_known_method() -> None:
    with pytest.raises(TypeError, match="cr: no interval method 'jackknif'; wanted jackknife, "):
        replace(find_metric("cr"), interval="jackknif")
