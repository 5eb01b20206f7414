"""Warnings about dependent texts: what is found, what is not, what the messages recommend, and odd input."""

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay import compare
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.dependence import (
    GROUP,
    PAIR,
    DependenceWarning,
    check_dependence,
    order_test,
    own_clusters,
    sorted_by,
)

WORDS = get_tokenizer()
Rng = np.random.Generator


def rng(seed: int = 0) -> Rng:
    return np.random.default_rng(seed)


def text(topic: int, draw: Rng, *, own: int = 3) -> str:
    """Words of a topic, common words and words of the text's own, in random order."""
    words = [f"t{topic}w{draw.integers(6)}" for _ in range(own)]
    words += [f"w{int(draw.zipf(1.3)) % 400}" for _ in range(8)]
    return " ".join(draw.permutation(words))


def independent(n: int, draw: Rng) -> list[str]:
    return [text(int(draw.integers(200)), draw) for _ in range(n)]


def grouped(n_groups: int, each: int, draw: Rng, *, first: int = 1000) -> list[str]:
    return [text(first + group, draw) for group in range(n_groups) for _ in range(each)]


def sample(texts: list[str], name: str = "made", **columns: list[str] | list[int]) -> Sample:
    return Sample.of(texts, name=name, **{key: pa.array(values) for key, values in columns.items()})


def found(candidate: Sample, reference: Sample, *, seed: int = 0) -> dict[str, DependenceWarning]:
    return {warning.kind: warning for warning in check_dependence(candidate, reference, tokenizer=WORDS, seed=seed)}


@pytest.mark.parametrize("n", [12, 60, 300])
def test_independent_texts_give_no_warning(n: int) -> None:
    for seed in range(5):
        draw = rng(seed)
        assert found(sample(independent(n, draw)), sample(independent(2 * n, draw), "real")) == {}, seed


@pytest.mark.parametrize(("n_groups", "each"), [(30, 2), (20, 5), (15, 20)])
def test_texts_of_one_group_next_to_each_other_are_noticed(n_groups: int, each: int) -> None:
    draw = rng()
    warnings = found(sample(grouped(n_groups, each, draw)), sample(independent(150, draw), "real"))
    assert list(warnings) == ["order"]
    assert warnings["order"].option == GROUP
    message = warnings["order"].message
    assert message.startswith("the candidate 'made': neighbouring texts are more alike than distant ones")
    assert 'use --group FIELD (in Python group="FIELD")' in message
    assert "the file may also be sorted" in message


def test_each_sample_has_a_warning_of_its_own() -> None:
    draw = rng()
    both = (sample(grouped(20, 5, draw, first=first), name) for first, name in ((0, "made"), (500, "real")))
    signs = [sign for sign in check_dependence(*both, tokenizer=WORDS) if sign.kind == "order"]
    assert [sign.about for sign in signs] == ["candidate", "reference"]
    assert ["'made'" in sign.message for sign in signs] == [True, False]


def test_a_warning_names_the_field_that_was_found() -> None:
    draw = rng()
    sides = [
        read_sample([{"instruction": f"p{n}", "text": line} for n, line in enumerate(independent(60, draw))])
        for _ in range(2)
    ]
    [sign] = check_dependence(*sides, tokenizer=WORDS)
    assert sign.message.endswith('use --pair instruction (in Python pair="instruction")')
    assert [side.take(np.arange(3)).prompt_field for side in sides] == ["instruction", "instruction"]


def test_what_the_reference_shows_is_stated_once() -> None:
    draw = rng()
    real = grouped(30, 4, draw)
    found = compare(real, {name: independent(120, draw) for name in "abc"}, metrics="cnd", n_resamples=99)
    cautions = [note for note in found.notes if note.startswith("caution: the reference")]
    assert len({note.split(":")[2] for note in cautions}) == len(cautions) >= 1
    for column in found.candidates:
        assert column.verdict is not None
        assert not any("caution: the reference" in reason for reason in column.verdict.reasons)
        assert not column.differs(found.level) or "if the texts are independent" in column.verdict.sentence


def test_groups_in_random_order_are_not_noticed() -> None:
    draw = rng()
    texts = draw.permutation(grouped(20, 5, draw)).tolist()
    assert found(sample(texts), sample(independent(100, draw), "real")) == {}


def test_prompts_that_return_in_the_same_order_are_noticed() -> None:
    draw = rng()
    texts = [text(1000 + prompt, draw) for _ in range(4) for prompt in range(60)]
    warnings = found(sample(texts), sample(independent(200, draw), "real"))
    assert list(warnings) == ["period"]
    assert "texts that are 60 places apart" in warnings["period"].message


@pytest.mark.parametrize("each", [(1, 1), (4, 4), (1, 5), (3, 2)])
def test_the_same_prompts_in_the_same_order_are_noticed(each: tuple[int, int]) -> None:
    draw = rng()
    sides = [[text(1000 + prompt, draw) for prompt in range(80) for _ in range(size)] for size in each]
    warnings = found(sample(sides[0]), sample(sides[1], "real"))
    assert warnings["aligned"].option == PAIR
    assert ("order" in warnings) == (max(each) > 1)


@pytest.mark.slow
def test_groups_on_both_sides_do_not_look_aligned() -> None:
    """With random orders of single texts as null, 5 of 100 pairs of files would be."""
    aligned = 0
    for seed in range(40):
        draw = rng(seed)
        topics = [draw.integers(0, 12, 20) for _ in range(2)]
        sides = [[text(int(topic), draw) for topic in side for _ in range(6)] for side in topics]
        aligned += "aligned" in found(sample(sides[0]), sample(sides[1], "real"), seed=seed)
    assert aligned <= 1


def test_a_copy_of_the_reference_is_not_called_aligned() -> None:
    texts = independent(100, rng())
    assert found(sample(texts), sample(texts, "real")) == {}


def test_a_sorted_file_gets_a_message_of_its_own() -> None:
    draw = rng()
    real = sample(independent(200, draw), "real")
    for key, by in ((str, "text"), (str.lower, "text"), (len, "length"), (lambda line: -len(line.split()), "length")):
        texts = [line.replace("w1", "W1") + " x" * int(draw.integers(9)) for line in independent(200, draw)]
        warnings = found(sample(sorted(texts, key=key)), real)
        assert list(warnings) == ["sorted"]
        assert f"sorted by {by}" in warnings["sorted"].message
        assert warnings["sorted"].option is None
    assert sorted_by(real) is None
    assert sorted_by(sample(["same text"] * 30)) is None


def test_shared_prompts_recommend_pairs_and_nothing_else() -> None:
    draw = rng()
    prompts = [f"prompt {number // 5}" for number in range(100)]
    sides = [sample(grouped(20, 5, draw), name, contexts=prompts) for name in ("made", "real")]
    warnings = found(*sides)
    assert list(warnings) == ["shared_prompts"]
    assert warnings["shared_prompts"].option == PAIR
    assert warnings["shared_prompts"].message.startswith("100 % of the texts have a prompt that occurs in both samples")


def test_several_texts_per_prompt_recommend_groups() -> None:
    draw = rng()
    prompts = [f"prompt {number // 5}" for number in range(100)]
    others = [f"other {number}" for number in range(100)]
    made, real = sample(grouped(20, 5, draw), contexts=prompts), sample(independent(100, draw), "real", contexts=others)
    warnings = found(made, real)
    assert list(warnings) == ["several_per_prompt"]
    assert warnings["several_per_prompt"].option == GROUP
    assert "the candidate 'made': 100 % of the texts share" in warnings["several_per_prompt"].message
    assert "several_per_prompt" in found(real, made)


def test_ids_count_unless_they_number_the_rows() -> None:
    draw = rng()
    sides = [independent(100, draw) for _ in range(2)]
    shuffled = draw.permutation(10_000)[:100].tolist()
    assert "shared_ids" in found(sample(sides[0], ids=shuffled), sample(sides[1], "real", ids=shuffled[::-1]))
    numbers = list(range(1, 101))
    assert found(sample(sides[0], ids=numbers), sample(sides[1], "real", ids=numbers)) == {}
    assert found(sample(sides[0], ids=numbers), sample(sides[1], "real", ids=[str(n) for n in numbers])) == {}


def test_one_prompt_for_all_texts_is_no_group() -> None:
    draw = rng()
    same = ["describe an image"] * 100
    assert (
        found(sample(independent(100, draw), contexts=same), sample(independent(100, draw), "r", contexts=same)) == {}
    )


def test_nulls_numbers_and_lists_are_prompts_too() -> None:
    draw = rng()
    texts = independent(40, draw)
    numbers = pa.array([None if n % 4 == 0 else n // 2 for n in range(40)])
    chats = pa.array([[{"role": "user", "content": f"{n // 2}"}] for n in range(40)])
    for column in (numbers, chats):
        made = Sample.of(texts, name="made", contexts=column)
        assert "several_per_prompt" in found(made, sample(independent(40, draw), "real"))
    blank = sample(texts, contexts=["", " "] * 20)
    assert found(blank, sample(independent(40, draw), "real", contexts=["", " "] * 20)) == {}
    empty = Sample.of(texts, name="made", contexts=pa.nulls(40))
    assert found(empty, empty) == {}


def test_texts_whose_groups_are_given_are_not_checked() -> None:
    draw = rng()
    made = sample(grouped(20, 5, draw), groups=[str(n // 5) for n in range(100)])
    assert found(made, sample(independent(100, draw), "real")) == {}


def test_near_duplicates_in_random_order_are_noticed_where_only_one_side_has_them() -> None:
    draw = rng()
    originals = independent(40, draw)
    texts = draw.permutation([f"{line} {word}" for line in originals for word in ("a", "b", "c")]).tolist()
    real = sample(independent(120, draw), "real")
    warnings = found(sample(texts), real)
    assert list(warnings) == ["near_duplicates"]
    assert warnings["near_duplicates"].option == GROUP
    assert "otherwise the generator repeats itself" in warnings["near_duplicates"].message
    assert "otherwise the source repeats itself" in found(real, sample(texts))["near_duplicates"].message


def test_stock_replies_on_both_sides_are_no_groups() -> None:
    draw = rng()
    replies = ["I cannot help with that request .", "As a model I have no view .", "Please give more details ?"]
    sides = [
        draw.permutation(independent(100, draw) + [replies[i] for i in draw.integers(0, 3, 100)]).tolist() for _ in "ab"
    ]
    assert found(sample(sides[0]), sample(sides[1], "real")) == {}


def test_clusters_by_hand() -> None:
    """Five pairs of one side, one pair across: the chance of a pair on one side is a quarter."""
    lines = [" ".join(f"x{number}y{place}" for place in range(8)) for number in range(20)]
    made, real = sample([*lines[:5], *lines[:6]]), sample([lines[5], *lines[6:16]], "real")
    mine, theirs = own_clusters(made, real, tokenizer=WORDS)
    assert mine.number == 5
    assert mine.share == pytest.approx(10 / 11)
    assert mine.by_chance == pytest.approx(6 * 2 * 0.25 / 11)
    assert (theirs.share, theirs.number) == (0.0, 0)


def test_the_order_test_holds_its_level() -> None:
    """Both p-values are at most .05 in about 5 % of 100 random orders: more than 12 has a chance of .001."""
    texts = independent(60, rng())
    draw = rng(1)
    tests = [order_test(sample(draw.permutation(texts).tolist()), tokenizer=WORDS, seed=seed) for seed in range(100)]
    for place in (0, 2):
        assert sum(test[place] <= 0.05 for test in tests) <= 12


def test_the_same_seed_gives_the_same_answer_and_large_samples_are_cheap() -> None:
    draw = rng()
    some = grouped(200, 5, draw)
    large = sample([f"{line} {number % 977}" for number, line in enumerate(some * 100)])
    real = sample(independent(1000, draw) * 5, "real")
    began = time.process_time()
    first = check_dependence(large, real, tokenizer=WORDS, seed=3)
    # About 2 s of processor time on a slow core; all pairs of 100,000 texts would take minutes.
    assert time.process_time() - began < 30
    assert "order" in {warning.kind for warning in first}
    assert first == check_dependence(large, real, tokenizer=WORDS, seed=3)


def test_real_captions(data: Path) -> None:
    import json

    items = json.loads((data / "captions" / "coco_val_sample.json").read_text(encoding="utf-8"))
    captions = [line for line in (data / "coco" / "test.txt").read_text(encoding="utf-8").split("\n") if line.strip()]
    images = [item["references"][:5] for item in items]
    real = sample(captions[:250], "real")
    for seed in range(3):
        chosen = rng(seed).choice(len(images), 50, replace=False)
        assert list(found(sample([line for at in chosen for line in images[at]]), real, seed=seed)) == ["order"]
        one_each = sample([images[at][0] for at in rng(seed).choice(len(images), 250, replace=False)])
        assert found(one_each, real, seed=seed) == {}


@settings(max_examples=60)
@given(
    st.lists(st.text(alphabet="ab \n.é日", max_size=12), min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "a b", "...", "word", "日本"]), min_size=1, max_size=30),
    st.sampled_from(["words", "plain", "char"]),
)
def test_odd_texts_never_fail(one: list[str], other: list[str], tokenizer: str) -> None:
    made, real = Sample.of([line or "x" for line in one], name="made"), Sample.of(other, name="real")
    if len(made) and len(real):
        warnings = check_dependence(made, real, tokenizer=get_tokenizer(tokenizer))
        assert all(warning.option in (PAIR, GROUP, None) and warning.message for warning in warnings)


@pytest.mark.parametrize(
    "texts", [["one"], ["same text here"] * 50, ["..."] * 50, ["word"] * 5, [str(n) for n in range(50)]]
)
def test_texts_without_anything_to_compare(texts: list[str]) -> None:
    plain = get_tokenizer("plain")
    for other in (texts, ["another text"], independent(50, rng())):
        warnings = check_dependence(sample(texts), sample(other, "real"), tokenizer=plain)
        assert {warning.kind for warning in warnings} <= {"sorted"}
