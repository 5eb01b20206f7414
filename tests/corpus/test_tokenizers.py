"""The built-in tokenizers against plain Python, text by text, and what all tokenizers share."""

import pickle
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus import tokenizers
from textassay.corpus.tokenizers import BUILT_IN, Tokens, concat_tokens, get_tokenizer
from textassay.errors import InputError

SPACES = [chr(point) for point in range(sys.maxunicode + 1) if chr(point).isspace()]
# Python and Arrow know different Unicode versions; characters this old have one meaning in all of them.
SETTLED = [
    c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Co", "Cs")
]
IDEOGRAPH_NAMES = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "IDEOGRAPHIC ITERATION MARK",
    "IDEOGRAPHIC CLOSING MARK",
    "IDEOGRAPHIC NUMBER ZERO",
    "VERTICAL IDEOGRAPHIC ITERATION MARK",
    "VERTICAL KANA REPEAT",
    "HANGZHOU NUMERAL",
    "MASU MARK",
)
ODD_TEXTS = [
    "",
    " \t\n\u3000",
    "nul\x00byte \x00\x00",
    "back\\slash \\0 \\1 \\n $1 %s",
    "\x1c\x1d\x1e\x1f\x85",
    "שלום, עולם! مرحبا بالعالم.",
    "I ❤\ufe0fNY 👩🏽\u200d💻 🇳🇱",
    "日本語とコーヒー、か\u3099",
    "naïve nai\u0308ve +\u0301 \u0301a",
    "ภาษาไทย ພາສາລາວ ខ្មែរ",
    "don't don ' t street. street .",
    "zero\u200bwidth no\u00a0break \ufeffbom",
]

# A busy machine is no reason to fail, and an example holds many texts.
patient = settings(deadline=None, max_examples=30)
any_text = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(SPACES), st.sampled_from("ab.'")))
settled_text = st.text(st.one_of(st.sampled_from(SETTLED), st.sampled_from("aB1_ .'-\n\u0301\ufe0fé日ー\x00")))


def split(tokens: Tokens) -> list[list[str]]:
    words = tokens.words(0, len(tokens.ids))
    return [words[start:stop] for start, stop in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def tokenized(name: str, texts: Sequence[str], *, lowercase: bool = False) -> list[list[str]]:
    return split(get_tokenizer(name, lowercase=lowercase)(texts))


def words_of(text: str) -> list[str]:
    """The rule of `words`, a character at a time."""
    words: list[str] = []
    in_token = in_word = False
    for character in text:
        kind = unicodedata.category(character)[0]
        is_ideograph = unicodedata.name(character, "").startswith(IDEOGRAPH_NAMES)
        if character.isspace():
            in_token = in_word = False
        elif kind == "M" and in_token:
            words[-1] += character
        elif kind == "M" or character == "_" or (kind in "LN" and not is_ideograph):
            if in_word:
                words[-1] += character
            else:
                words.append(character)
            in_token = in_word = True
        else:
            words.append(character)
            in_token, in_word = True, False
    return words


def plain_of(text: str) -> list[str]:
    """The rule of `plain`: words in lower case, but for those that begin with a symbol."""
    return [word for word in words_of(lowered(text)) if word[0] == "_" or unicodedata.category(word[0])[0] in "LMN"]


def characters_of(text: str) -> list[str]:
    return list(" ".join(text.split()))


def lowered(text: str) -> str:
    return "".join("i" if character == "İ" else character.lower() for character in text)


@patient
@given(st.lists(any_text))
def test_whitespace_is_str_split(texts: list[str]) -> None:
    assert tokenized("whitespace", texts) == [text.split() for text in texts]


def test_whitespace_knows_every_space_and_nothing_else() -> None:
    texts = [f"a{character}b{character}" for character in SETTLED]
    assert tokenized("whitespace", texts) == [text.split() for text in texts]


@pytest.mark.parametrize("beyond", [b"x", b"\x80", b"\xff", b" "])
def test_what_lies_beyond_the_last_text_does_not_matter(beyond: bytes) -> None:
    content = "é b\u3000 ".encode()
    offsets = pa.py_buffer(np.array([0, len(content)], np.int64))
    texts = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(content + beyond * 8)])
    assert [split(get_tokenizer(name)(texts)) for name in BUILT_IN] == [[["é", "b"]]] * 4 + [[["é", " ", "b"]]]


@patient
@given(st.lists(settled_text))
def test_words_follow_the_rule(texts: list[str]) -> None:
    assert tokenized("words", texts) == [words_of(text) for text in texts]


def test_words_know_every_character() -> None:
    texts = [f"a{character}b" for character in SETTLED]
    assert tokenized("words", texts) == [words_of(text) for text in texts]


@patient
@given(st.lists(st.text(st.characters(max_codepoint=127))))
def test_words_of_ascii_are_the_same_beside_other_text(texts: list[str]) -> None:
    assert tokenized("words", texts) == tokenized("words", [*texts, "é"])[:-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't", "don ' t"),
        ("street.", "street ."),
        ("snake_case 3.5%", "snake_case 3 . 5 %"),
        ("ready-made…", "ready - made …"),
        ("日本語text", "日 本 語 text"),
        ("コーヒー", "コ ー ヒ ー"),
        ("ภาษาไทย", "ภาษาไทย"),
        ("I ❤\ufe0fNY", "I ❤\ufe0f NY"),
        ("A\x00b", "A \x00 b"),
    ],
)
def test_words_by_example(text: str, words: str) -> None:
    assert tokenized("words", [text, words]) == [words.split(" ")] * 2


@patient
@given(st.lists(settled_text))
def test_plain_follows_the_rule(texts: list[str]) -> None:
    assert tokenized("plain", texts) == [plain_of(text) for text in texts]


def test_plain_knows_every_character() -> None:
    texts = [f"a{character}b" for character in SETTLED]
    assert tokenized("plain", texts) == [plain_of(text) for text in texts]


@patient
@given(st.lists(st.text(st.characters(max_codepoint=127))))
def test_plain_tokens_of_ascii_are_the_same_beside_other_text(texts: list[str]) -> None:
    assert tokenized("plain", texts) == tokenized("plain", [*texts, "é"])[:-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man's DOG, running.", "a man s dog running"),
        ("snake_case _ 3.5% $5", "snake_case _ 3 5 5"),
        ("日本語、コ・ー!", "日 本 語 コ ー"),
        ("I ❤\ufe0fNY +\u0301 nai\u0308ve É", "i ny nai\u0308ve é"),
        ("...", ""),
        ("a\x00b\x1cc\u3000d", "a b c d"),
    ],
)
def test_plain_by_example(text: str, words: str) -> None:
    assert tokenized("plain", [text, "?!"]) == [words.split(), []]


@patient
@given(st.lists(any_text))
def test_characters_are_code_points_with_single_blanks(texts: list[str]) -> None:
    assert tokenized("char", texts) == [characters_of(text) for text in texts]


@pytest.mark.parametrize("folder", ["coco", "coco_models", "news"])
def test_real_text_is_cut_as_by_the_references(data: Path, folder: str) -> None:
    texts = [
        line for path in sorted((data / folder).glob("*.txt")) for line in path.read_text("utf-8").splitlines()[:2000]
    ]
    assert tokenized("words", texts) == [words_of(text) for text in texts]
    assert tokenized("plain", texts) == [plain_of(text) for text in texts]
    assert tokenized("whitespace", texts) == [text.split() for text in texts]


@patient
@given(st.lists(any_text, max_size=8), st.data(), st.booleans())
def test_any_cut_gives_the_same_tokens(texts: list[str], data: st.DataObject, lowercase: bool) -> None:
    place = data.draw(st.integers(0, len(texts)))
    for name in BUILT_IN:
        tokenizer = get_tokenizer(name, lowercase=lowercase)
        whole, joined = tokenizer(texts), concat_tokens([tokenizer(texts[:place]), tokenizer(texts[place:])])
        assert split(whole) == split(joined)
        np.testing.assert_array_equal(whole.offsets, joined.offsets)
        np.testing.assert_array_equal(whole.ids, joined.ids)
        assert whole.vocabulary.equals(joined.vocabulary)


@pytest.mark.parametrize("name", BUILT_IN)
def test_slices_do_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{text} {number % 7}" for number, text in enumerate(ODD_TEXTS * 20)]
    whole = get_tokenizer(name)(texts)
    monkeypatch.setattr(tokenizers, "SLICE_BYTES", 500)
    sliced = get_tokenizer(name)(texts)
    assert len(list(tokenizers._slices(pa.array(texts, pa.large_string())))) > 10
    np.testing.assert_array_equal(whole.ids, sliced.ids)
    np.testing.assert_array_equal(whole.offsets, sliced.offsets)
    assert whole.vocabulary.equals(sliced.vocabulary)
    assert (str(sliced.ids.dtype), str(sliced.offsets.dtype)) == ("int32", "int64")


@pytest.mark.parametrize("name", BUILT_IN)
def test_arrow_arrays_of_any_make_are_read_alike(name: str) -> None:
    tokenizer = get_tokenizer(name)
    wanted = split(tokenizer(["a cat.", "", "a dog!"]))
    padded = pa.array(["cut off", "a cat.", None, "a dog!", "cut off"])
    for texts in (padded[1:4], padded.cast(pa.large_string())[1:4], padded.dictionary_encode()[1:4]):
        assert split(tokenizer(texts)) == wanted


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("texts", [[], [""], ["", " \n", "\u3000"]])
def test_blank_texts_keep_their_place(name: str, texts: list[str]) -> None:
    assert tokenized(name, texts) == [[]] * len(texts)
    assert len(get_tokenizer(name)([*texts, "word"]).vocabulary) == (4 if name == "char" else 1)


@pytest.mark.parametrize(
    ("name", "reference"),
    [("words", words_of), ("plain", plain_of), ("whitespace", str.split), ("char", characters_of)],
)
def test_odd_and_very_long_texts(name: str, reference: Callable[[str], list[str]]) -> None:
    texts = [*ODD_TEXTS, ("a cat's \"tail\", isn't it? " * 40_000)[:1_000_000]]
    assert tokenized(name, texts) == [reference(text) for text in texts]


@patient
@given(st.lists(settled_text))
def test_lowercase_takes_each_code_point_by_itself(texts: list[str]) -> None:
    assert tokenized("words", texts, lowercase=True) == [words_of(lowered(text)) for text in texts]


def test_lowercase_by_example() -> None:
    assert tokenized("words", ["The CAT", "ΟΔΟΣ İ É"], lowercase=True) == [["the", "cat"], ["οδοσ", "i", "é"]]
    assert tokenized("treebank", ["I CAN'T"], lowercase=True) == [["i", "ca", "n't"]]


def test_signatures_and_equality() -> None:
    assert get_tokenizer().signature == "words"
    assert get_tokenizer("treebank", lowercase=True).signature == "treebank+lower"
    assert get_tokenizer("plain", lowercase=True) == get_tokenizer("plain")
    assert get_tokenizer("plain").signature == "plain"
    assert get_tokenizer("char") == get_tokenizer("char") != get_tokenizer("char", lowercase=True)
    assert pickle.loads(pickle.dumps(get_tokenizer("treebank")))(["a b"]).words(0, 2) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "word",
            "no tokenizer 'word'; did you mean 'words'? names are words, plain, whitespace, treebank, char, or a path",
        ),
        ("Treebanks", "did you mean 'treebank'?"),
        ("xyz\n", r"no tokenizer 'xyz\n'; names are words,"),
        ("missing.json", "tokenizer 'missing.json': no such file; wanted a tokenizer.json file or one of words,"),
        ("x" * 5000, "no tokenizer 'xxx"),
    ],
)
def test_an_unknown_name_is_one_helpful_line(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        get_tokenizer(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
