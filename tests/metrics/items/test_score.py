"""The mean-aggregated pairwise score against loops, under any labelling."""

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from textassay import InputError, conditional
from textassay.corpus.item_set import TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Surroundings, get_distance
from textassay.distances.bleu import Bleu
from textassay.metrics.items import score as pair_means
from textassay.metrics.items.item_pool import ItemPool, Labels, all_masks
from textassay.metrics.items.score import Over, joint_means, parts, score, under_labels


def pool_of(n: int, m: int, *, seed: int = 0) -> ItemPool:
    """Random scores that differ by direction, some of them below 0."""
    scores = np.random.default_rng(seed).standard_normal((n + m, n + m))
    return ItemPool((n, m), {"own": scores}, {"own": np.zeros_like(scores)})


def loops(pool: ItemPool, candidates: list[int], references: list[int], over: str) -> float:
    scores = pool.scores["own"].tolist()
    by_candidate = [[scores[c][r] for r in references] for c in candidates]
    return fmean(max(row) if over == "max" else fmean(row) for row in by_candidate)


@pytest.mark.parametrize("over", ["mean", "max"])
@given(n=st.integers(1, 5), m=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_equals_loops_under_every_partition(over: Over, n: int, m: int, seed: int) -> None:
    pool, masks = pool_of(n, m, seed=seed), all_masks(n, m)
    values = under_labels(pool, Labels.partitions(masks), distance="own", over=over)
    wanted = [loops(pool, np.flatnonzero(row).tolist(), np.flatnonzero(~row).tolist(), over) for row in masks]
    assert values.tolist() == pytest.approx(wanted, abs=1e-12)
    assert score(pool, distance="own", over=over) == pytest.approx(wanted[0], abs=1e-12)


@pytest.mark.parametrize("over", ["mean", "max"])
def test_texts_that_are_neither_take_no_part(over: Over) -> None:
    pool = pool_of(3, 5)
    candidate, reference = np.zeros((2, 1, 8), dtype=bool)
    candidate[0, [6, 1]] = reference[0, [0, 7, 3]] = True
    found = under_labels(pool, Labels(candidate, reference), distance="own", over=over)
    assert found.tolist() == pytest.approx([loops(pool, [6, 1], [0, 7, 3], over)])


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = pool_of(3, 6), Labels.partitions(all_masks(3, 6))
    whole = under_labels(pool, labels, distance="own", over="max")
    monkeypatch.setattr(pair_means, "_PAIRS", 100)
    assert whole.tolist() == under_labels(pool, labels, distance="own", over="max").tolist()


def test_parts_are_the_extremes_over_candidates() -> None:
    pool = pool_of(4, 3)
    each = [loops(pool, [c], [4, 5, 6], "max") for c in range(4)]
    assert parts(pool, distance="own", over="max") == pytest.approx({"weakest": min(each), "strongest": max(each)})


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0)])
@pytest.mark.parametrize("over", ["mean", "max"])
def test_has_no_number_without_candidates_or_references(sizes: tuple[int, int], over: Over) -> None:
    pool = pool_of(*sizes)
    assert math.isnan(score(pool, distance="own", over=over))
    assert all(math.isnan(value) for value in parts(pool, distance="own", over=over).values())


def test_rouge_l_over_coco_is_that_of_the_coco_tools() -> None:
    """Best precision and best recall may come from two references, so it is at least the best F-score of one."""
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge").Rouge()
    rng = np.random.default_rng(0)
    for case in range(40):
        sides = [
            [" ".join(rng.choice(list("abcdefg"), rng.integers(1, 12))) for _ in range(n)] for n in (1, 1 + case % 5)
        ]
        metrics = [f"score:distance=rouge_l:over={over}" for over in ("coco", "max")]
        items = [{"references": sides[1], "candidates": sides[0]}]
        coco, best = (r.estimate for r in conditional(items, metrics=metrics, n_resamples=0).systems[0].results)
        assert coco == pytest.approx(rouge.calc_score(*sides), abs=1e-12)
        assert coco >= best - 1e-12


def test_over_coco_joins_different_references() -> None:
    items = [{"references": ["a b", "a x y z w c b d e f"], "candidates": ["a b c d e f"]}]
    (found,) = conditional(items, metrics=["score:distance=rouge_l:over=coco"], n_resamples=0).systems[0].results
    precision, recall = 5 / 6, 2 / 2
    assert found.estimate == pytest.approx((1 + 1.44) * precision * recall / (recall + 1.44 * precision))
    assert "over:coco" in found.signature


def test_over_coco_is_for_rouge_l_only() -> None:
    with pytest.raises(InputError, match="over=coco is for distance=rouge_l; the distance is 'meteor'"):
        conditional([{"references": ["a"], "candidates": ["a"]}], metrics=["score:over=coco"])


def test_one_hypothesis_with_several_references_is_an_item() -> None:
    items = [{"references": ["a cat sat", "the cat sat", "a cat"], "candidates": "a cat sat down"}]
    found = conditional(items, metrics=["score:distance=edit:over=max", "score:distance=edit"])
    best, mean = found.systems[0].results
    assert (best.undefined, best.estimate) == (None, 0.75)
    assert mean.estimate == pytest.approx((0.75 + 0.5 + 0.5) / 3)


# Few words make many repeats and clipped counts.
TEXT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9).map(" ".join)


@pytest.mark.filterwarnings("ignore")
@given(candidates=st.lists(TEXT, min_size=1, max_size=3), references=st.lists(TEXT, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_joint_bleu_equals_nltk_under_every_partition(candidates: list[str], references: list[str]) -> None:
    texts = [*candidates, *references]
    table = TextTable.of([texts], tokenizer=get_tokenizer("whitespace"))
    bleu = get_distance("bleu", Surroundings(table))
    assert isinstance(bleu, Bleu)
    counts = bleu.joint(np.array([table.number_of[text] for text in texts]))
    masks = all_masks(len(candidates), len(references))
    found = joint_means(counts, Labels.partitions(masks))
    smooth = SmoothingFunction().method1
    for row, value in zip(masks, found, strict=True):
        others = [texts[place].split() for place in np.flatnonzero(~row)]
        wanted = fmean(
            sentence_bleu(others, texts[place].split(), smoothing_function=smooth) for place in np.flatnonzero(row)
        )
        assert value == pytest.approx(wanted, abs=1e-9)


def test_joint_references_are_for_bleu_alone() -> None:
    items = [{"references": ["a b", "b c"], "candidates": ["a c"]}]
    with pytest.raises(InputError, match=r"over=joint is for distance=bleu; the distance is 'meteor'"):
        conditional(items, metrics="score:distance=meteor:over=joint")
    found = conditional(items, metrics="score:distance=bleu:over=joint", n_resamples=0)
    assert 0 < found["candidate"]["score"].estimate < 1
