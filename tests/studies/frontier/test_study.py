"""The frontier study: sources, pairs, verdicts, JSON and bad input."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from tests.laws import corpus
from tests.studies.frontier.test_mixtures import random_texts
from textassay.errors import InputError
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.own_functions import own_pair
from textassay.studies.frontier.pairs import parse_pair
from textassay.studies.frontier.result import Frontier
from textassay.studies.frontier.sources import read_probabilities
from textassay.studies.frontier.study import frontier
from textassay.studies.frontier.verdict import OverSeeds, judge_estimated


def test_the_toy_distribution_has_the_verdicts_of_figures_1_and_4() -> None:
    found = frontier("toy:20")
    levels = {each.pair: each.verdict.decision for each in found["toy:20"].analyses}
    assert levels == {
        "ll/se": "compatible",
        "cr/nrr": "compatible",
        "ll/nrr": "incompatible",
        "cr/se": "incompatible",
    }
    analysis = found["toy:20"].analysis("ll/nrr")
    assert analysis.verdict.sentence.startswith("incompatible by at least 0.0210 (2.2 % of the range")
    assert found["toy:20"]["ll/nrr"].estimate == pytest.approx(0.02096, abs=1e-5)
    assert found["toy:20"].analysis("cr/nrr").verdict.sentence == (
        "compatible: 2/3 quality + 1/3 diversity measures a divergence (Theorem 3)"
    )


def test_compatible_pairs_have_the_divergence_of_each_point() -> None:
    found = frontier("toy:20", pairs="cr/nrr,ll/nrr")["toy:20"]
    divergences = found.analysis("cr/nrr").divergences
    (curve,) = found.analysis("cr/nrr").curves
    assert len(divergences) == len(curve.points)
    assert min(divergences) >= -1e-15
    least = min(zip(divergences, curve.points, strict=True))
    assert least[1][0] == pytest.approx(-2.0, rel=0.2)  # w0
    assert found.analysis("ll/nrr").divergences == ()


def test_an_outcome_is_read_back_equal() -> None:
    for found in (
        frontier("toy:12", pairs="ll/se,bleu1-8/nsbleu1-8"),
        frontier("oracle:1", pairs="bs-1,cn-1,cr/nrr", n_starts=2),
        frontier(random_texts(60, 0), pairs="bs-2,cn-2,cr/se"),
        frontier(random_texts(44, 1), pairs="bs-4"),
    ):
        assert Frontier.from_json(found.to_json()) == found


def test_the_same_seed_gives_the_same_bytes() -> None:
    texts = random_texts(60, 2)
    first, second = (frontier(texts, pairs="bs-2,cn-2", seed=3).to_json() for _ in range(2))
    assert first == second
    assert frontier(texts, pairs="bs-2,cn-2", seed=4).to_json() != first


def test_several_sources_have_a_column_each() -> None:
    found = frontier({"mine": [0.5, 0.3, 0.2], "toy": "toy:5"}, pairs=["cr/nrr"])
    assert found.names == ("mine", "toy")
    assert found.labels == ("cr/nrr",)
    frame = found.to_frame()
    assert list(frame["candidate"]) == ["mine", "toy"]
    assert list(frame["metric"]) == ["qdisc", "qdisc"]


def test_the_space_of_texts_counts_whole_texts() -> None:
    texts = ["a b", "a b", "a b", "c d", "c d", "e f"]
    found = frontier(texts, pairs="cr/nrr", space="texts")
    shares = np.array([3, 2, 1]) / 6
    assert found["candidate"].analysis("cr/nrr").quality == pytest.approx((shares**2).sum())
    words = frontier(texts, pairs="cr/nrr", n=1)
    assert words["candidate"].analysis("cr/nrr").quality == pytest.approx(2 * ((shares / 2) ** 2).sum())


def test_a_reference_replaces_the_halves() -> None:
    texts, other = random_texts(40, 3), random_texts(30, 4)
    assert frontier(texts, pairs="bs-1")["candidate"].n == 20
    assert frontier(texts, reference=other, pairs="bs-1")["candidate"].n == 40


def test_a_pair_of_the_user_is_analysed() -> None:
    mine = own_pair(np.sqrt, lambda x: -x * x, name="root/nrr")
    found = frontier([0.5, 0.3, 0.15, 0.05], pairs=[mine, "cr/nrr"])
    assert found.labels == ("root/nrr", "cr/nrr")
    assert found["distribution"].analysis("root/nrr").verdict.decision == "incompatible"


def test_outcomes_of_probability_zero_are_noted_with_ll() -> None:
    found = frontier([0.5, 0.3, 0.2, 0.0], pairs="ll/se")
    assert found.notes == ("ll/se: 1 outcome of probability 0 left out, where f is -∞",)
    assert found["distribution"]["ll/se"].estimate == pytest.approx(0.0, abs=1e-12)


def test_a_distribution_beyond_the_limit_of_nsbleu_is_not_decided() -> None:
    found = frontier([0.5, 0.25, 0.25], pairs="bleu1-5/nsbleu1-5")
    result = found["distribution"]["bleu1-5/nsbleu1-5"]
    assert math.isnan(result.estimate)
    assert result.undefined is not None
    assert found["distribution"].analyses[0].verdict.decision == "untested"
    assert "drate" not in result.parts
    assert "g is concave only below 0.4" in found.notes[0]


@pytest.mark.parametrize("pair", ["cr/nsbleu1-4", "bleu1-5/nsbleu1-4"])
def test_a_restricted_space_proves_no_optimality(pair: str) -> None:
    """The real distribution is the best below the limit of g, but others beyond it are better and more diverse."""
    real = Distribution.of([0.5, 0.3, 0.2])
    found = frontier({"p": real}, pairs=pair)["p"].analyses[0]
    parsed = parse_pair(pair)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([5, 3, 2], 200_000)
    quality, diversity = parsed.quality.of(shares, real), parsed.diversity.of(shares, real)
    better = (quality > found.quality) & (diversity >= found.diversity)
    assert better.any()
    assert (shares[better].max(axis=1) > parsed.diversity.limit).all()
    assert found.verdict.decision == "untested"
    assert "frontier here" not in found.verdict.sentence


@pytest.mark.parametrize("pair", ["cr/nsbleu1-8", "cr/nrr", "ll/nrr"])
def test_the_range_of_quality_is_that_of_all_distributions(pair: str) -> None:
    """From the most diverse distribution to the most probable outcome alone."""
    parsed, real = parse_pair(pair), Distribution.of(np.arange(1.0, 21.0) / 210)
    result = frontier({"p": real}, pairs=pair)["p"][pair]
    alone, even = np.eye(20)[:1], np.full((1, 20), 0.05)
    highest, lowest = (float(parsed.quality.of(shares, real)[0]) for shares in (alone, even))
    assert result.parts["range"] == pytest.approx(highest - lowest)
    assert result.parts["drate"] == pytest.approx(result.estimate / result.parts["range"])


def test_estimates_have_an_interval_over_draws() -> None:
    """It holds the mean of the draws, and what is not clear of 0 is no gap."""
    texts = corpus(5, 600)
    found = frontier({"t": texts}, pairs="bs-2,cn-2", n_seeds=4)["t"]
    alone = [frontier({"t": texts}, pairs="bs-2,cn-2", n_seeds=1, seed=seed)["t"] for seed in range(4)]
    for pair in ("bs-2", "cn-2"):
        values = [one[pair].estimate for one in alone]
        assert all(one[pair].interval is None for one in alone)
        result = found[pair]
        assert result.estimate == pytest.approx(np.mean(values))
        assert len(set(values)) == 4
        mean, half = float(np.mean(values)), float(stdtrit(3, 0.975) * np.std(values, ddof=1) / 2)
        assert result.interval is not None
        assert (result.interval.low, result.interval.high) == pytest.approx((mean - half, mean + half))
        assert result.parts["drate_low"] < result.parts["drate"] < result.parts["drate_high"]


@pytest.mark.parametrize(("low", "level"), [(-1e-6, "untested"), (1e-6, "incompatible")])
def test_a_gap_counts_if_its_interval_is_above_zero(low: float, level: str) -> None:
    gap = OverSeeds(1e-5, low, 2e-5, 4)
    found = judge_estimated(gap, gap, is_compatible=False, n=100)
    assert found.decision == level
    assert ("not distinguishable from 0 over 4 draws" in found.sentence) == (level == "untested")
    compatible = judge_estimated(gap, gap, is_compatible=True, n=100).sentence
    assert ("not distinguishable from 0" in compatible) == (level == "untested")


def test_two_probabilities_are_on_every_frontier_which_proves_nothing() -> None:
    found = frontier([0.4, 0.2, 0.2, 0.2], pairs="ll/nrr")
    assert found["distribution"].analyses[0].verdict.sentence.startswith("incompatible in general")


def test_probabilities_are_read_from_files(tmp_path: Path) -> None:
    for name, text in (
        ("lines.txt", "0.5\n0.25\n\n0.25\n"),
        ("column.csv", "name,p\na,0.5\nb,0.25\nc,0.25\n"),
        ("bare.csv", "0.5\n0.25\n0.25\n"),
        ("records.jsonl", '{"prob": 0.5}\n{"prob": 0.25}\n{"prob": 0.25}\n'),
    ):
        (tmp_path / name).write_text(text)
        found, real = read_probabilities(tmp_path / name)
        assert (found, real.n, real.values.tolist()) == (name.partition(".")[0], 3, [0.5, 0.25])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.5\n0.4\n", "sum to 0.9; wanted 1"),
        ("0.5\nmany\n", r"bad\.txt:2: text is 'many'; wanted a number"),
        ("1.5\n-0.5\n", "probability 2 is -0.5"),
    ],
)
def test_bad_files_of_probabilities_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        read_probabilities(tmp_path / "bad.txt")


def test_a_file_with_several_columns_needs_a_field(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("a,b\n0.5,0.5\n0.5,0.5\n")
    with pytest.raises(InputError, match="no field 'probability'; fields are 'a', 'b'"):
        read_probabilities(tmp_path / "two.csv")
    assert read_probabilities(tmp_path / "two.csv", field="b")[1].n == 2


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("toy:1", {}, "wanted toy:N with N from 2 to 100,000"),
        ("toy:2.5", {}, "wanted toy:N"),
        ("oracle:0", {}, "wanted oracle:SIGMA with SIGMA above 0"),
        ("toy:5", {"pairs": "bs-2"}, "'bs-2' is measured on texts"),
        ("oracle:1", {"pairs": "bs-4"}, "'bs-4'; wanted n from 1 to 3"),
        ("toy:5", {"pairs": "cr/nrr,cr/nrr"}, "'cr/nrr' is given twice"),
        ("toy:5", {"pairs": "quality"}, "'quality' is not known"),
        ({"a": "toy:5", "b": "oracle:1"}, {}, r"different kinds \(toy, oracle\); wanted pairs"),
        ("toy:5", {"n_points": 1}, "n_points=1; wanted a whole number from 2 to 2,000"),
        ("toy:5", {"space": "words"}, "space='words'; wanted ngrams or texts"),
        ("toy:5", {"pairs": "bleu1-20/nsbleu1-20"}, "wanted at least 10 outcomes"),
        ([0.5, 0.2], {}, "distribution: the probabilities sum to 0.7; wanted 1"),
        (["a b c"] * 60, {"pairs": "bs-4"}, "0 of 30 real texts have 4 words or more; wanted at least 20"),
        (["a b c", "a b c"], {"pairs": "cr/nrr", "space": "texts"}, "all texts are the same"),
        (["a b c", "a b c"], {"pairs": "cr/nrr", "n": 5}, "fewer than two different 5-grams"),
    ],
)
def test_bad_input_is_refused(source: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        frontier(source, **options)  # type: ignore[arg-type]
