"""The n-gram model: probabilities by hand and by brute force, exact sampling, decoding settings, and invalid input."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from textassay.corpus.tokenizers import get_tokenizer
from textassay.errors import InputError
from textassay.models.base import Decoding
from textassay.models.ngrams.arpa import arpa_lines
from textassay.models.ngrams.kneser_ney import FALLBACK, discounts
from textassay.models.ngrams.ngram import NgramModel, restored, train
from textassay.models.storage import ModelFile, load, save

PETS = ["A cat sat.", "A dog sat.", "A dog ran, didn't it?"]
TOWNS = [
    f"{who} {what} {where}{stop}"
    for who in ("The mayor", "Our teacher", "A guest")
    for what in ("walks to", "talks about", "has seen")
    for where in ("the bridge", "a small town", "the sea, again")
    for stop in (".", "!")
]
LETTERS = ["a b c", "a b", "b c a b", "c", "a b c", "c c a", "b", "a c"]
# No sum of probabilities of a few counted words, at which rounding would decide what is inside.
_NUCLEUS = 0.79317
DECODINGS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.7},
    {"top_k": 2},
    {"top_p": _NUCLEUS},
    {"temperature": 0.7, "top_k": 2},
    {"temperature": 1.4, "top_k": 3, "top_p": _NUCLEUS},
    {"temperature": 0.7, "top_p": _NUCLEUS},
]
corpora = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def words(text: str) -> list[str]:
    tokens = get_tokenizer("words")([text])
    return tokens.words(0, len(tokens.ids))


class BruteForce:
    """The same model by its definition, with dictionaries and without any array."""

    def __init__(self, texts: Sequence[str], order: int) -> None:
        rows = [["<s>", *words(text), "</s>"] for text in texts]
        self.order = order
        self.vocabulary = [*sorted({word for row in rows for word in row[1:]}), "<unk>"]
        occurrences: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order + 1)]
        for row in rows:
            for n in range(1, order + 1):
                occurrences[n].update(tuple(row[at : at + n]) for at in range(len(row) - n + 1))
        longest = max(n for n in range(1, order + 1) if occurrences[n])
        self.adjusted: list[dict[tuple[str, ...], int]] = [{}]
        for n in range(1, longest + 1):
            left: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for gram in occurrences[n + 1] if n < longest else ():
                left[gram[1:]].add(gram[0])
            by_rule = {g: c if n == longest or g[0] == "<s>" else len(left[g]) for g, c in occurrences[n].items()}
            self.adjusted.append({g: c for g, c in by_rule.items() if g != ("<s>",)})
        self.discounts = [(0.0, 0.0, 0.0)] + [self._discounts(table) for table in self.adjusted[1:]]
        self.followers: list[dict[tuple[str, ...], dict[str, int]]] = [defaultdict(dict) for _ in self.adjusted]
        for n, table in enumerate(self.adjusted):
            for gram, count in table.items():
                self.followers[n][gram[:-1]][gram[-1]] = count

    @staticmethod
    def _discounts(table: dict[tuple[str, ...], int]) -> tuple[float, float, float]:
        n = Counter(table.values())
        if 0 in (n[1], n[2], n[3], n[4]):
            return FALLBACK
        y = n[1] / (n[1] + 2 * n[2])
        found = (1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3])
        return found if all(0 < d < k for k, d in enumerate(found, 1)) else FALLBACK

    def probability(self, word: str, history: tuple[str, ...]) -> float:
        n = len(history) + 1
        lower = 1 / len(self.vocabulary) if n == 1 else self.probability(word, history[1:])
        seen = self.followers[n].get(history, {}) if n < len(self.followers) else {}
        if not seen:
            return lower
        discount = [0.0, *self.discounts[n]]
        total = sum(seen.values())
        held_back = sum(discount[min(count, 3)] for count in seen.values())
        own = (seen[word] - discount[min(seen[word], 3)]) / total if word in seen else 0.0
        return own + held_back / total * lower

    def log_prob(self, text: str) -> float:
        row = ["<s>", *(word if word in self.vocabulary else "<unk>" for word in words(text)), "</s>"]
        total = -math.log(1 - self.probability("</s>", ("<s>",)[: self.order - 1]))
        for at in range(1, len(row)):
            history = row[max(0, at - self.order + 1) : at]
            total += math.log(self.probability(row[at], tuple(history)))
        return total


def test_probabilities_by_hand() -> None:
    # Two texts of one word: B a E and B b E. Each word has the one left neighbour B, the end has two, and 1/4 of the
    # counts are held back (D1 = 0.5, D2 = 1 of 4): a (1 - 0.5)/4 + 0.5 * 1/4 with four symbols, the end 1/4 + 1/8.
    model = train(["a", "b"], order=2)
    word, end = 0.5 / 4 + 0.5 / 4, 1 / 4 + 0.5 / 4
    assert model.next_words("b a")["<unk>"] == pytest.approx(0.5 * 0.5 / 4)
    assert model.next_words("a")["a"] == pytest.approx(0.5 * word)
    assert model.next_words("a")[""] == pytest.approx(0.5 + 0.5 * end)
    first = (0.5 / 2 + 0.5 * word) / (1 - 0.5 * end)
    assert model.next_words()["a"] == pytest.approx(first)
    assert model.next_words()[""] == 0.0
    assert model.log_prob(["a"]).class_log_probs[0] == pytest.approx(math.log(first * (0.5 + 0.5 * end)))


@given(corpora, st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_log_probabilities_equal_the_brute_force(texts: list[str], order: int) -> None:
    model, plain = train(texts, order=order), BruteForce(texts, order)
    scored = ["a b c d", "d", "a x b", *texts[:3]]
    assert model.log_prob(scored).class_log_probs.tolist() == pytest.approx(
        [plain.log_prob(t) for t in scored], rel=1e-9
    )


def test_real_captions_equal_the_brute_force(data: Path) -> None:
    lines = (data / "coco" / "train.txt").read_text().splitlines()
    texts, unseen = lines[:800], lines[-40:]
    model, plain = train(texts), BruteForce(texts, 5)
    assert all(level.discounts != FALLBACK for level in model.levels)
    found = model.log_prob(unseen).class_log_probs
    assert found.tolist() == pytest.approx([plain.log_prob(text) for text in unseen], rel=1e-9)
    # Perplexity of the two over the same tokens.
    tokens = sum(len(words(text)) + 1 for text in unseen)
    assert math.exp(-found.sum() / tokens) == pytest.approx(math.exp(-sum(map(plain.log_prob, unseen)) / tokens))


@given(corpora, st.integers(1, 5), st.lists(st.sampled_from("abcdx"), max_size=7), st.sampled_from(DECODINGS))
@settings(deadline=None, max_examples=100)
def test_next_words_sum_to_one(texts: list[str], order: int, history: list[str], decoding: dict[str, Any]) -> None:
    chances = train(texts, order=order).next_words(" ".join(history), **decoding)
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert min(chances.values()) >= 0.0


def test_next_words_sum_to_one_after_random_captions(data: Path) -> None:
    lines = (data / "coco" / "train.txt").read_text().splitlines()
    model = train(lines[:3000])
    for line in lines[-60:]:
        part = " ".join(line.split()[: rng(len(line)).integers(0, 9)])
        for decoding in ({}, {"temperature": 0.7}, {"top_k": 40}, {"top_p": 0.95}):
            assert sum(model.next_words(part, **decoding).values()) == pytest.approx(1.0, abs=1e-12)


def stepwise(model: NgramModel, text: str, **decoding: Any) -> float:
    """The log-probability of a text word by word, from probabilities over the whole vocabulary."""
    read = words(text)
    steps = [(" ".join(read[:place]), word) for place, word in enumerate([*read, ""])]
    known = [(start, word if word in model.vocabulary.words else "<unk>") for start, word in steps]
    chances = [model.next_words(start, **decoding)[word] for start, word in known]
    return sum(map(math.log, chances)) if min(chances) > 0 else -math.inf


@given(corpora, st.integers(1, 4), st.sampled_from(DECODINGS))
@settings(deadline=None, max_examples=60)
def test_log_prob_is_the_sum_of_the_steps(texts: list[str], order: int, decoding: dict[str, Any]) -> None:
    model = train(texts, order=order)
    scored = ["a", "a b", "d c b a", "b b b b", *texts[:2]]
    expected = [stepwise(model, text, **decoding) for text in scored]
    assert model.log_prob(scored, **decoding).class_log_probs.tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("decoding", [*DECODINGS, {"top_k": 1}, {"top_p": 0.3}, {"top_k": 40}, {"top_p": 0.97}])
def test_log_prob_of_captions_is_the_sum_of_the_steps(decoding: dict[str, Any]) -> None:
    # More symbols than a nucleus is first looked for in, and many equal probabilities.
    model = train([*TOWNS, *(f"word{n} walks to word{n * 7 % 300} {n}" for n in range(300))])
    texts = [*TOWNS[::9], "word3 walks to word21 3", "word3 talks about word21", "The mayor mayor ! zebra"]
    expected = [stepwise(model, text, **decoding) for text in texts]
    assert model.log_prob(texts, **decoding).class_log_probs.tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_samples_follow_the_probabilities(order: int, decoding: dict[str, Any]) -> None:
    model = train(LETTERS, order=order)
    size = 20_000
    seen = Counter(model.sample(size, max_tokens=60, rng=rng(order), **decoding))
    common = [text for text, _ in seen.most_common(25)]
    chances = np.exp(model.log_prob(common, **decoding).class_log_probs)
    assert (chances > 0).all()
    observed = [*(seen[text] for text in common), size - sum(seen[text] for text in common)]
    expected = np.array([*chances, 1 - chances.sum()]) * size
    kept = expected > 5
    observed_kept = np.array(observed)[kept]
    # The small cells are one cell.
    if not kept.all():
        observed_kept = np.append(observed_kept, size - observed_kept.sum())
        expected = np.append(expected[kept], size - expected[kept].sum())
    if len(expected) > 1 and expected.min() > 1:
        assert chisquare(observed_kept, expected).pvalue > 1e-4
    # Nothing of probability 0 is ever generated.
    assert model.log_prob(list(seen), **decoding).n_zero == 0


def test_all_short_texts_and_the_longer_rest_add_up() -> None:
    model = train(["a b", "b", "b a a"], order=3)
    symbols = ["a", "b", "<unk>"]
    short = [[x, y, z] for x in symbols for y in ["", *symbols] for z in ["", *symbols] if y or not z]
    texts = [" ".join(filter(None, row)) for row in short]
    for decoding in ({}, {"temperature": 0.6}, {"top_k": 2}):
        written = model.sample(20_000, max_tokens=40, rng=rng(), **decoding)
        longer = sum(len(text.split()) > 3 for text in written) / len(written)
        total = np.exp(model.log_prob(texts, **decoding).class_log_probs).sum()
        assert total + longer == pytest.approx(1.0, abs=0.015)


def test_blank_texts_and_texts_with_unknown_words_have_probability_zero() -> None:
    """All texts with one unknown word in place of `zebra` have a positive probability together."""
    model = train(PETS)
    scores = model.log_prob(["A zebra sat.", "  ", "A cat sat.", "zebra", ""])
    assert np.isneginf(scores.class_log_probs).tolist() == [False, True, False, False, True]
    assert np.isneginf(scores.log_probs).tolist() == [True, True, False, True, True]
    assert (scores.n_zero, scores.n_unknown.tolist()) == (4, [1, 0, 0, 1, 0])
    assert model.log_prob(["A <unk> sat."]).log_probs[0] == scores.class_log_probs[0]
    assert scores.n_tokens.tolist() == [5, 1, 5, 2, 1]
    assert len(model.log_prob([])) == 0


def test_many_texts_are_scored_as_one_by_one() -> None:
    model = train(TOWNS)
    texts = [f"{TOWNS[n % 54]} {TOWNS[n * 7 % 54]}" for n in range(12_000)]
    assert len(texts) * 9 > 1 << 16
    found = model.log_prob(texts).class_log_probs
    assert found[[0, 5_000, 11_999]].tolist() == [
        model.log_prob([texts[n]]).class_log_probs[0] for n in (0, 5_000, 11_999)
    ]


def test_discounts_are_those_of_chen_and_goodman() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [400, 120, 60, 40, 5])
    y = 400 / 640
    assert discounts(counts) == pytest.approx((1 - 2 * y * 0.3, 2 - 3 * y * 0.5, 3 - 4 * y * 40 / 60))
    # Not defined without n-grams that occur three times, and negative for unusual counts.
    assert discounts(np.array([1, 1, 2, 4])) == FALLBACK
    assert discounts(np.repeat([1, 2, 3, 4], [100, 1, 100, 100])) == FALLBACK


def test_greedy_decoding_is_the_most_probable_word_at_each_step() -> None:
    model = train(TOWNS)
    (text,) = model.sample(1, top_k=1, rng=rng())
    read: list[str] = []
    while True:
        chances = model.next_words(" ".join(read))
        best = max(chances, key=lambda word: chances[word])
        if not best:
            break
        read.append(best)
    assert words(text) == read
    assert model.beam(width=1) == [text]
    assert model.log_prob([text], top_k=1).class_log_probs.tolist() == [0.0]


@given(corpora, st.integers(2, 4))
@settings(deadline=None, max_examples=30)
def test_a_wide_beam_finds_the_most_probable_text(texts: list[str], order: int) -> None:
    model = train(texts, order=order)
    (found,) = model.beam(width=400)
    symbols = [*model.vocabulary.words[3:], "<unk>"]
    short = [[x, y, z] for x in symbols for y in ["", *symbols] for z in ["", *symbols] if y or not z]
    best = model.log_prob([" ".join(filter(None, row)) for row in short]).class_log_probs.max()
    assert model.log_prob([found]).class_log_probs[0] >= best - 1e-9


def test_beam_search_continues_prompts() -> None:
    model = train(TOWNS)
    first, second = model.beam(width=4, prompts=["Our teacher has seen the", "A guest"])
    assert first in {"bridge.", "bridge!", "sea, again.", "sea, again!"}
    assert second
    assert not second.startswith("A guest")


def test_low_temperature_is_less_diverse() -> None:
    model = train(TOWNS)
    kinds = [len(set(model.sample(300, temperature=t, rng=rng()))) for t in (0.1, 0.7, 1.5)]
    assert kinds[0] < kinds[1] < kinds[2]
    assert model.sample(50, temperature=1e-9, rng=rng())[0].split()[0] in {"The", "Our", "A"}


def test_most_texts_are_new() -> None:
    read = TOWNS[::4]
    written = train(read, order=3).sample(500, rng=rng())
    assert sum(text in read for text in written) < 250
    # The new texts are not noise: many of them follow the rule of the training texts.
    assert sum(text in TOWNS and text not in read for text in written) > 15


def test_same_generator_same_texts() -> None:
    model, again = train(TOWNS), train(list(TOWNS))
    assert model.name == again.name
    assert model.name != train(TOWNS[1:]).name
    for decoding in DECODINGS:
        assert model.sample(50, rng=rng(3), **decoding) == again.sample(50, rng=rng(3), **decoding)
    assert model.sample(50, rng=rng(3)) != model.sample(50, rng=rng(4))


def test_every_text_has_a_word_and_at_most_the_wanted_number() -> None:
    model = train(["a", "b", "a b"], order=1)
    written = model.sample(2000, temperature=3.0, max_tokens=4, rng=rng())
    assert {len(text.split()) for text in written} == {1, 2, 3, 4}
    assert model.sample(0, rng=rng()) == []


def test_punctuation_is_spaced_as_in_the_texts() -> None:
    read = ['He said: "We don\'t pay $3.5 million (a lot); do we?"', "A well-known fact, isn't it!"] * 3
    model = train(read, order=4)
    written = model.sample(300, temperature=0.5, max_tokens=30, rng=rng())
    assert sum(text in read for text in written) > 30
    for text in written:
        assert not any(f" {mark}" in text for mark in ".,;:!?)"), text
        assert "( " not in text
        assert "$ " not in text


@given(st.lists(st.text(alphabet="ab_1.,'-$\" ", max_size=12), min_size=1, max_size=6), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_generated_texts_can_be_scored(texts: list[str], seed: int) -> None:
    model = train([*texts, "a"], order=2)
    written = model.sample(20, temperature=2.0, max_tokens=12, rng=rng(seed))
    assert all(text == text.strip() and text for text in written)
    assert np.isfinite(model.log_prob(written).class_log_probs).all()


def test_prompts_are_continued_like_the_model() -> None:
    model = train(TOWNS)
    prompts = ["The mayor walks", "A guest", "", "A zebra"] * 500
    texts = model.sample(len(prompts), prompts=prompts, rng=rng())
    after = Counter(text.split()[0] if text else "" for text in texts[1::4])
    wanted = model.next_words("A guest")
    for word in ("walks", "talks", "has"):
        assert after[word] / 500 == pytest.approx(wanted[word], abs=0.07)
    assert not any(text.startswith("A guest") for text in texts[1::4])
    assert all(texts[2::4])


def test_empty_prompts_change_nothing() -> None:
    model = train(PETS)
    assert model.sample(20, prompts=[""] * 20, rng=rng()) == model.sample(20, rng=rng())


def test_a_fixed_vocabulary_has_an_unknown_word() -> None:
    model = train([*TOWNS, *PETS], min_count=4)
    assert "zebra" not in model.vocabulary.words
    assert any("<unk>" in text for text in model.sample(500, rng=rng()))
    small = train(TOWNS, max_words=3)
    assert len(small.vocabulary) == 6


def test_white_space_and_lower_case_are_options() -> None:
    model = train(["a , b .", "b , A !"], tokenizer="whitespace", lowercase=True)
    for text in model.sample(50, rng=rng()):
        assert set(text.split()) <= {"a", "b", ",", ".", "!", "<unk>"}


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_no_text_is_an_error(texts: list[str]) -> None:
    with pytest.raises(InputError, match="no text to learn from"):
        train(texts)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"temperature": 0.0}, "temperature=0.0; wanted a finite number above 0"),
        ({"temperature": -1.0}, "temperature=-1.0"),
        ({"top_k": 0}, "top_k=0"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"max_tokens": 0}, "max_tokens=0; wanted a whole number of 1 or more"),
        ({"prompts": ["A cat", "A"]}, "prompts: 2 for 1 texts; wanted one per text"),
    ],
)
def test_bad_settings_of_sampling_are_errors(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        train(PETS).sample(1, rng=rng(), **options)


def test_bad_options_of_training_are_errors() -> None:
    with pytest.raises(InputError, match="order=0; wanted a whole number of 1 or more"):
        train(PETS, order=0)
    with pytest.raises(InputError, match="a word model needs one of words, whitespace"):
        train(PETS, tokenizer="treebank")
    with pytest.raises(InputError, match="width=0; wanted a whole number of 1 or more"):
        train(PETS).beam(width=0)


def test_an_interrupted_training_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(PETS, progress=interrupted)


def test_a_saved_model_is_the_same_model(tmp_path: Path) -> None:
    model = train([*TOWNS, *PETS], order=4, min_count=2, lowercase=True)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, NgramModel)
    assert again.name == model.name
    assert again.sample(30, temperature=0.8, rng=rng()) == model.sample(30, temperature=0.8, rng=rng())
    assert again.log_prob(PETS).class_log_probs.tolist() == model.log_prob(PETS).class_log_probs.tolist()


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("ngrams.2.keys", lambda a: a[::-1].copy(), "order 2 are not in order"),
        ("ngrams.2.keys", lambda a: a + 10**9, "order 2 are not in order"),
        ("ngrams.3.keys", lambda a: a[:-1], "counts of order 3; wanted"),
        ("ngrams.2.counts", lambda a: -a, "none below 0"),
        ("ngrams.1.counts", lambda a: a * 0, "no counts of words"),
        ("ngrams.1.counts", lambda a: a.astype(np.int32), "is int32 in 1 dimensions; wanted int64"),
        ("words.offsets", lambda a: a[::-1].copy(), "places of its words"),
        ("words.counts", lambda a: a[1:], "values of 'words.counts'; wanted"),
        ("spacing.pairs", lambda a: a[1:], "values of 'spacing.joined'; wanted"),
    ],
)
def test_damaged_arrays_are_errors(name: str, change: Any, problem: str) -> None:
    model = train(PETS)
    arrays = {**model.tensors(), name: change(model.tensors()[name])}
    with pytest.raises(InputError, match="damaged model file") as error:
        restored(ModelFile("model.safetensors", "ngram", model.config(), arrays))
    assert problem in str(error.value)


def read_arpa(lines: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Log10-probabilities and backoff weights of all n-grams in a file."""
    log_p, backoff = {}, {}
    for line in lines:
        if "\t" in line:
            value, gram, *weight = line.split("\t")
            log_p[gram] = float(value)
            backoff[gram] = float(weight[0]) if weight else 0.0
    return log_p, backoff


def test_the_arpa_file_has_the_same_probabilities() -> None:
    model = train(LETTERS, order=4)
    lines = list(arpa_lines(model))
    log_p, backoff = read_arpa(lines)
    sizes = [int(line.partition("=")[2]) for line in lines if line.startswith("ngram ")]
    assert sizes == [sum(len(gram.split()) == n for gram in log_p) for n in (1, 2, 3, 4)]

    def conditional(history: list[str], word: str) -> float:
        gram = " ".join([*history, word])
        if gram in log_p:
            return log_p[gram]
        return backoff.get(" ".join(history), 0.0) + conditional(history[1:], word)

    for text in [*LETTERS, "c b a", "a x a", "x"]:
        row = ["<s>", *(word if word in "abc" else "<unk>" for word in text.split()), "</s>"]
        total = sum(conditional(row[max(0, at - 3) : at], row[at]) for at in range(1, len(row)))
        assert total * math.log(10) == pytest.approx(model.log_prob([text]).class_log_probs[0], abs=1e-6)


def test_kenlm_reads_the_arpa_file(data: Path, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    lines = (data / "coco" / "train.txt").read_text().splitlines()
    model = train(lines[:2000])
    (tmp_path / "model.arpa").write_text("".join(f"{line}\n" for line in arpa_lines(model)))
    peer = kenlm.Model(str(tmp_path / "model.arpa"))
    texts = lines[-300:]
    found = [peer.score(" ".join(words(text))) * math.log(10) for text in texts]
    assert found == pytest.approx(model.log_prob(texts).class_log_probs.tolist(), abs=1e-3)


def test_arpa_needs_contexts_and_words_of_its_own() -> None:
    with pytest.raises(InputError, match="order 1; wanted order 2 or more"):
        list(arpa_lines(train(PETS, order=1)))
    with pytest.raises(InputError, match="'<s>' has a meaning of its own"):
        list(arpa_lines(train(["a <s> b"], tokenizer="whitespace")))


def test_decoding_settings_are_part_of_the_contract() -> None:
    # The same checks for every model, with options named as on the command line.
    with pytest.raises(InputError) as error:
        train(PETS).log_prob(PETS, top_p=2)
    assert error.value.with_options() == "--top-p 2; wanted a number above 0, at most 1"
    assert Decoding(top_k=1).truncates
