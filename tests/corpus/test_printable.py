"""Nothing that is printed can steer the terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.printable import begins_like_formula, printable, quoted, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("nul \x00 del \x7f csi \x9b", "nul \\x00 del \\x7f csi \\x9b"),
        ("gnp.\u202etxt", "gnp.\\u202etxt"),
        ("\u2066isolated\u2069", "\\u2066isolated\\u2069"),
        ("one\u2028two\u2029three", "one\\u2028two\\u2029three"),
        ("undecodable \udcff", "undecodable \\udcff"),
        ("שלום \u200fעולם, emoji 👩‍🚀, combining e\u0301", "שלום \u200fעולם, emoji 👩‍🚀, combining e\u0301"),
    ],
)
def test_what_is_escaped_and_what_is_left(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_always_one_line_that_any_terminal_can_take(text: str) -> None:
    shown = printable(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
    shown.encode()


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20")
@given(
    before=st.text(st.characters(categories=["Cc", "Cf", "Cn", "Co", "Zs", "Zl", "Zp", "Mn"]) | st.sampled_from("|%"))
)
def test_a_formula_behind_characters_without_a_shape_is_one(sign: str, before: str) -> None:
    assert begins_like_formula(f"{before}{sign}1+1")


@pytest.mark.parametrize("cell", ["", " ", "a=1", "|a|b|", "100 %", "%", "\u200bword", "\u3042=1"])
def test_plain_cells_are_no_formulas(cell: str) -> None:
    assert not begins_like_formula(cell)


def test_shortened_keeps_short_texts_and_cuts_long_ones() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd" * 100, 10) == "abcdabc..."


def test_quoted_counts_what_it_does_not_list() -> None:
    assert quoted(["a", "b\x1b"]) == "'a', 'b\\x1b'"
    assert quoted([str(number) for number in range(15)], most=2) == "'0', '1' and 13 more"
