"""The treebank tokenizer against NLTK's, token for token."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer

from textassay.corpus.tokenizers import get_tokenizer

# Every character and word that a rule looks for, in runs and orders that make rules meet, and what surrounds them.
PIECES = [
    *"\"'`.,:;@#$%&?!()[]{}<>- \n\ta1_é٣\u00a0\u3000\u2028\u0301\x00\x0b\x85\r",
    *["cannot", "Cannot", "d'ye", "gimme", "G\u0131mme", "gonna", "GOTTA", "lemme", "more'n", "wanna", "wanna "],
    *["a's' ", " 'tis", " 'T\u0130\u017f", " 'Twas", "'tis'twas", "don't", "N'T ", "'ll ", "'S ", "'re", "''"],
    *["--", "...", ". "],
]
ASCII_PIECES = [piece for piece in PIECES if piece.isascii()]
ODD_TEXTS = [
    "",
    " \t\n\u3000",
    "nul\x00byte \x00\x00.",
    "back\\slash \\0 \\1 \\n $1 %s.",
    "שלום, עולם! مرحبا بالعالم.",
    "I ❤\ufe0fNY 👩🏽\u200d💻 🇳🇱.",
    "日本語とコーヒー、か\u3099。",
    "Thai ไทย, 3,5 and ٣,٥: 3:4.",
]


def assert_as_nltk(texts: list[str]) -> None:
    tokens = get_tokenizer("treebank")(texts)
    words = tokens.words(0, len(tokens.ids))
    found = [words[start:stop] for start, stop in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]
    reference = TreebankWordTokenizer()
    assert found == [reference.tokenize(text) for text in texts]


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([PIECES, ASCII_PIECES]).flatmap(lambda pieces: st.lists(st.lists(st.sampled_from(pieces)))))
def test_hard_text(texts: list[list[str]]) -> None:
    assert_as_nltk(["".join(pieces) for pieces in texts])


@pytest.mark.parametrize("pieces", [PIECES, ASCII_PIECES], ids=["any", "ascii"])
def test_many_hard_texts(pieces: list[str]) -> None:
    draw = random.Random(0)
    assert_as_nltk(["".join(draw.choices(pieces, k=draw.randrange(15))) for _ in range(4000)])


# Without control characters, since versions of NLTK differ on U+001C to U+001F after the last full stop, and without
# the planes where most new letters go, since Python and Arrow may know different versions of Unicode.
known = st.characters(codec="utf-8", max_codepoint=0xFFFF, categories=["L", "M", "N", "P", "S", "Z"])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.one_of(known, st.sampled_from("a1 .,'\"\n")))))
def test_any_text(texts: list[str]) -> None:
    assert_as_nltk(texts)


def test_odd_and_very_long_texts() -> None:
    assert_as_nltk([*ODD_TEXTS, ("a cat's \"tail\", isn't it? " * 40_000)[:1_000_000]])


@pytest.mark.parametrize("folder", ["coco", "coco_models", "news"])
def test_real_text(data: Path, folder: str) -> None:
    paths = sorted((data / folder).glob("*.txt"))
    assert_as_nltk([line for path in paths for line in path.read_text("utf-8").splitlines()[:700]])
