"""DD: definitions, duplicates and groups, the held-out split, and the network."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import material
from tests.laws import corpus
from textassay import metrics
from textassay.corpus.arrays import I64, Bool
from textassay.corpus.sample import Sample, stream
from textassay.errors import InputError
from textassay.inference.intervals import accuracy_interval, group_labels, leave_groups_out
from textassay.inference.measure import measure
from textassay.inference.plan import Plan, Silent
from textassay.metrics.learned import cnn
from textassay.metrics.learned.held_out import HowToSplit, split
from textassay.metrics.learned.labelled_texts import LabelledTexts, leave_one_out
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.views import Material, Pool

WORDS = [f"w{i}" for i in range(40)]
OTHER = [*WORDS[20:], *WORDS[:20]]


def request(spec: str) -> Request:
    return parse_requests([spec])[0]


def test_samples_with_different_words_are_separated() -> None:
    result = metrics.dd(corpus(1, 60, words=OTHER), corpus(2, 60))
    assert result.estimate > 0.6
    assert result.p_value == 0.001
    assert result.parts["accuracy"] == pytest.approx((1 + result.estimate) / 2)
    assert result.parts["n_held_out"] == 120


def test_unequal_sizes_keep_the_middle_between_the_samples() -> None:
    """A small and clearly different candidate is found without calling the reference generated."""
    result = metrics.dd(corpus(1, 40, words=OTHER), corpus(2, 400))
    assert result.parts["candidate_recall"] > 0.8
    assert result.parts["reference_recall"] > 0.8


def test_one_repeated_text_is_left_out_as_a_whole() -> None:
    """All copies of a text have the score of a classifier that has seen none of them."""
    mine, theirs = [*corpus(1, 30), *["w1 w2 w3"] * 10], [*corpus(2, 30), *["w1 w2 w3"] * 3]
    views = material(mine).view(LabelledTexts), material(theirs).view(LabelledTexts)
    fitted = leave_one_out(*views)
    copies = np.flatnonzero(np.array([*mine, *theirs]) == "w1 w2 w3")
    assert len(set(fitted.case_of[copies].tolist())) == 1
    assert fitted.sizes[fitted.case_of[copies[0]]] == 13


@pytest.mark.parametrize("classifier", ["ridge", "embedding"])
def test_the_jackknife_leaves_out_classified_texts(classifier: str) -> None:
    """Each replicate is the value without the texts of one fold, its deviation widened by the root of 2."""
    asked = request(f"dd:classifier={classifier}")
    pool = Pool((material(corpus(1, 45)), material(corpus(2, 30))))
    found = leave_groups_out([asked], pool, seed=0, progress=Silent())[asked]
    kind: Any = asked.metric.views[0]
    views: list[Any] = [part.view(kind) for part in pool.parts]
    fitted, units, is_mine = leave_one_out(*views), np.arange(75), np.arange(75) < 45
    scores = fitted.scores(fitted.counts(units, is_mine[None]), fitted.counts(units, ~is_mine[None]))
    right = (scores[fitted.case_of, 0] <= 0) == is_mine
    whole = right[is_mine].mean() + right[~is_mine].mean() - 1
    assert whole == pytest.approx(asked.value(*views))
    labels = np.concatenate(
        [group_labels(len(one.sample), stream(0, "groups", part)) for part, one in enumerate(pool.parts)]
    )
    for part, values in enumerate(found.by_sample):
        for fold, value in enumerate(values):
            kept = (is_mine != (part == 0)) | (labels != fold)
            plain = right[is_mine & kept].mean() + right[~is_mine & kept].mean() - 1
            assert value - whole == pytest.approx(2**0.5 * (plain - whole))


def test_a_group_never_trains_the_classifier_of_its_texts() -> None:
    """Groups with a word of their own in one sample each: the word separates texts only if the group is trained on."""
    rng = np.random.default_rng(0)
    texts = {side: [f"{side}{group} " + " ".join(rng.choice(WORDS, 6)) for group in range(40) for _ in range(8)]
             for side in "ab"}  # fmt: skip
    groups = {side: [f"{side}{group}" for group in range(40) for _ in range(8)] for side in "ab"}
    plain = metrics.dd(texts["a"], texts["b"], n_resamples=0).estimate
    samples = [Sample.of(texts[side], groups=groups[side], name=side) for side in "ab"]
    grouped = metrics.dd(*samples, n_resamples=99)
    assert plain > 0.5
    assert abs(grouped.estimate) < 0.2
    assert grouped.p_value is not None
    assert grouped.p_value > 0.05


def test_pairs_are_left_out_together() -> None:
    """The same prompts on both sides: the sample is not separated by its prompts."""
    rng = np.random.default_rng(0)
    sides = [[f"p{i} p{i}x " + " ".join(rng.choice(WORDS, 6)) for i in range(80)] for _ in range(2)]
    groups = [f"{i}" for i in range(80)]
    samples = [Sample.of(texts, groups=groups, name="s") for texts in sides]
    result = metrics.dd(*samples, n_resamples=99)
    assert result.p_value is not None
    assert result.p_value > 0.05
    assert "design:paired" in result.signature


NUMBERS = st.lists(st.integers(0, 8), min_size=2, max_size=60)


@given(NUMBERS, NUMBERS, st.sampled_from(get_args(HowToSplit)), st.booleans())
def test_parts_of_a_split_have_no_text_in_common(mine: list[int], theirs: list[int], how: Any, grouped: bool) -> None:
    """No text is in two parts; with `copies` nothing equal is either, and no group is ever divided."""
    sides = [[f"a{i}" for i in side] for side in (mine, theirs)]
    samples = [Sample.of(side, groups=[text[1:] for text in side] if grouped else None, name="s") for side in sides]
    views = [Material(sample).view(LabelledTexts) for sample in samples]
    for validate in (False, True):
        found = split(views[0], views[1], how=how, validate=validate)
        parts = [found.train, found.validation, found.held_out]
        keys = np.concatenate([view.keys for view in views])
        for mine_part, other in combinations(parts, 2):
            assert not np.isin(mine_part, other).any()
            if how == "copies" or grouped:
                assert not np.isin(keys[mine_part], keys[other]).any()
        assert found.is_candidate[found.held_out].sum() * 2 == len(found.held_out)
        assert 0 <= found.effective <= len(found.held_out)
        if how == "copies":
            assert bool(len(found.validation)) <= validate


def test_a_random_split_is_that_of_the_paper() -> None:
    """80, 10 and 10 % of each sample, copies divided, other texts in other parts, and the order without effect."""
    mine, theirs = ["x y"] * 200, [f"a{i}" for i in range(400)]
    views = [material(side).view(LabelledTexts) for side in (mine, theirs)]
    found = split(*views)
    assert [len(part) for part in (found.train, found.validation, found.held_out)] == [160 + 320, 40, 40]
    assert found.effective == 40
    turned = split(*(material(side[::-1]).view(LabelledTexts) for side in (mine, theirs)))
    chosen = [
        {theirs[i - 200] for i in found.held_out if i >= 200},
        {theirs[599 - i] for i in turned.held_out if i >= 200},
    ]
    assert chosen[0] == chosen[1]
    more = split(views[0], material([*theirs[:399], "b"]).view(LabelledTexts))
    assert chosen[0] != {theirs[i - 200] for i in more.held_out if i >= 200}


@pytest.mark.parametrize("classifier", ["ngram", "cnn"])
def test_ten_repeated_texts_are_separated_unless_copies_stay_together(
    classifier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Collapse: the paper's split recognises the repeated texts; with `copies` next to nothing is known."""
    options: dict[str, Any] = {}
    if classifier == "cnn":
        pytest.importorskip("torch")
        monkeypatch.setitem(
            cnn.PRESETS, "laptop", cnn.Preset(embedding=16, filters=((2, 8), (3, 16)), rate=0.02, epochs=8)
        )
        options = {"size": "laptop"}
    repeated, real = corpus(1, 10) * 30, corpus(2, 300)
    random = metrics.dd(repeated, real, classifier=classifier, **options)
    together = metrics.dd(repeated, real, classifier=classifier, split="copies", **options)
    assert random.estimate > 0.7
    assert random.parts["validation_dd"] == pytest.approx(2 * random.parts["validation_accuracy"] - 1)
    assert random.parts["validation_dd"] > 0.7
    assert together.estimate < 0.5
    assert together.parts["n_effective"] <= 20 < together.parts["n_held_out"]
    assert together.interval is not None
    assert together.interval.high - together.interval.low > 0.5
    assert together.p_value is not None
    assert together.p_value > 0.05


def test_a_sample_against_its_copy_guesses() -> None:
    mine = [*corpus(1, 80), *corpus(3, 5) * 4]
    result = metrics.dd(mine, mine[::-1], classifier="ngram")
    assert result.estimate == 0


def covered(
    draw: Callable[[np.random.Generator], tuple[I64, I64]], called: Bool, accuracy: float, how: Any
) -> tuple[float, float]:
    """How often intervals hold the expected DD of a classifier, with independent texts counted, and with all of them.

    A text is a number; `draw` returns those of the candidate and of the reference, and `called` says which numbers the
    classifier takes for candidates. `accuracy` is that on texts of both sources.
    """
    held = []
    for run in range(300):
        sides = draw(np.random.default_rng([7, run]))
        found = split(*(material([f"w{i}" for i in side]).view(LabelledTexts) for side in sides), how=how)
        is_right = called[np.concatenate(sides)] == found.is_candidate
        for n in (found.effective, float(len(found.held_out))):
            inside = accuracy_interval({"accuracy": float(is_right[found.held_out].mean()), "n_effective": n}, 0.95)
            held.append(inside.low <= 2 * accuracy - 1 <= inside.high)
    return float(np.mean(held[::2])), float(np.mean(held[1::2]))


def test_a_random_split_finds_nothing_between_samples_of_the_same_few_texts() -> None:
    """Copies of a text in the two samples must not go to the same part in pairs: their surplus is chance."""
    rng, kinds = np.random.default_rng(3), corpus(7, 150)
    found = []
    for _ in range(12):
        drawn = [kinds[k] for k in rng.integers(0, len(kinds), 300)]
        found.append(metrics.dd(drawn[:150], drawn[150:], classifier="ngram", n_resamples=0).estimate)
    assert np.mean(found) < 0.12


def test_intervals_of_a_random_split_cover_where_texts_are_repeated() -> None:
    """A source of ten texts and one of thirty: held-out texts are further draws, whatever was trained on."""
    called = np.arange(30) < 8

    def drawn(rng: np.random.Generator) -> tuple[I64, I64]:
        return rng.integers(0, 10, 300), rng.integers(0, 30, 300)

    assert covered(drawn, called, (8 / 10 + 22 / 30) / 2, "random")[0] >= 0.93


def test_intervals_of_copies_cover_where_texts_are_repeated() -> None:
    """Each of many texts is repeated up to forty times: to count copies as texts is far too sure."""
    called = np.random.default_rng(0).random(100_000) < 0.7

    def drawn(rng: np.random.Generator) -> tuple[I64, I64]:
        texts = rng.integers(0, 100_000, (2, 120))
        repeated = [np.repeat(row, rng.choice([1, 1, 2, 5, 40], 120)) for row in texts]
        return repeated[0], repeated[1]

    effective, plain = covered(drawn, called, 0.5, "copies")
    assert effective >= 0.93
    assert plain < 0.8


def test_held_out_results_have_exact_intervals_and_tests() -> None:
    result = metrics.dd(corpus(1, 200, words=OTHER), corpus(2, 200), classifier="ngram")
    assert result.interval is not None
    assert result.interval.method == "binomial:held-out"
    assert result.estimate in result.interval
    assert result.p_value is not None
    assert result.p_value < 1e-6
    assert "|test:binomial:held-out|" in result.signature
    assert result.estimate == pytest.approx(2 * result.parts["accuracy"] - 1)


def test_held_out_results_of_grouped_texts_have_no_interval_and_no_test() -> None:
    samples = [Sample.of(corpus(seed, 60), groups=[str(i // 3) for i in range(60)], name="s") for seed in (1, 2)]
    result = metrics.dd(*samples, classifier="ngram")
    assert result.interval is None
    assert result.p_value is None
    assert np.isfinite(result.estimate)


def test_a_split_that_leaves_a_class_empty_is_undefined() -> None:
    reason = "the split leaves a part without texts of one sample: wanted more texts, or more different ones"
    assert metrics.dd(["a b"] * 5, ["c d"] * 5, classifier="ngram").undefined == reason
    assert metrics.dd(["a b"] * 90, ["c d"] * 90, classifier="ngram", split="copies").undefined == reason
    assert metrics.dd(["a b"] * 90, ["c d"] * 90, classifier="ngram").estimate == 1


def test_held_out_and_permutation_tests_are_adjusted_for_their_number() -> None:
    requests = parse_requests(["dd", "dd:classifier=ngram", "cnd"])
    roles = {"candidate": material(corpus(1, 60)), "reference": material(corpus(2, 60))}
    found = measure(requests, roles, plan=Plan(n_resamples=99))
    for asked, result in zip(requests, found.results, strict=True):
        assert result.p_value is not None
        assert result.p_value <= found.adjusted[asked] <= 1


def test_options_of_a_variant_need_the_variant() -> None:
    with pytest.raises(InputError, match=r"size='laptop' needs classifier='cnn'"):
        metrics.dd(["a"] * 5, ["b"] * 5, size="laptop")
    with pytest.raises(InputError, match="no option of dd 'size'"):
        parse_requests(["dd:size=laptop"])
    assert parse_requests(["dd:size=laptop:classifier=cnn"])[0].label == "dd classifier=cnn size=laptop"


def test_the_network_has_the_layers_of_the_released_program() -> None:
    pytest.importorskip("torch")
    network = cnn.build(5_700, cnn.PRESETS["paper"])
    shapes = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    assert shapes["embedding.weight"] == (5_700, 512)
    assert shapes["convolutions.0.weight"] == (100, 512, 2)
    assert shapes["convolutions.1.weight"] == (200, 512, 3)
    assert shapes["transform.weight"] == shapes["gate.weight"] == (300, 300)
    assert shapes["output.weight"] == (2, 300)
    # The paper's 10.5 M parameters count the two slots of Adam as well.
    assert 3 * sum(int(value.numel()) for value in network.parameters()) == pytest.approx(10.5e6, rel=0.01)
    assert float(network.embedding.weight.detach().abs().max()) <= 1
    assert float(network.gate.bias.detach().abs().max()) == 0


def test_the_network_gives_the_same_result_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setitem(cnn.PRESETS, "laptop", cnn.Preset(embedding=8, filters=((2, 4), (3, 8)), rate=0.02, epochs=30))
    mine, theirs = corpus(1, 150, words=OTHER), corpus(2, 150)
    first, second = (
        metrics.dd(texts, theirs[::-1], classifier="cnn", size="laptop") for texts in (mine, mine[5:] + mine[:5])
    )
    assert first.estimate == second.estimate
    assert first.estimate > 0.5
    assert first.parts["n_held_out"] < 120


def test_words_of_the_held_out_part_are_unknown_to_the_network() -> None:
    sequences = material(["a b", "a c", "d e f g"]).view(LabelledTexts).sequences
    ids, n_words = cnn.word_ids(sequences, np.array([0, 1]), shortest=3)
    assert n_words == 3
    assert ids.tolist() == [[2, 1, 0, 0], [2, 1, 0, 0], [1, 1, 1, 1]]


def test_generated_captions_are_separated_from_real_ones(data: Path) -> None:
    real = (data / "coco_models" / "real_train.txt").read_text().splitlines()
    leak = (data / "coco_models" / "leakgan.txt").read_text().splitlines()
    parts = [Material(Sample.of(texts[:1000])) for texts in (leak, real)]
    result = measure([request("dd")], dict(zip(("candidate", "reference"), parts, strict=True)), plan=Plan()).results[0]
    assert result.estimate > 0.5
    assert result.p_value == 0.001
