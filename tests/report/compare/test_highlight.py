"""Examples of texts with a phrase marked."""

from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.printable import printable
from textassay.report.former.compare import highlight


@given(st.text(max_size=600), st.text(max_size=12))
def test_a_lit_text_is_a_printable_part_of_the_text(text: str, phrase: str) -> None:
    found = highlight(text, phrase)
    pieces = found.before + found.phrase + found.after
    assert pieces == printable(pieces)
    assert pieces.removeprefix("…").removesuffix("…") in printable(text) or "…" in text


def test_a_phrase_is_found_in_the_middle_of_a_long_text() -> None:
    found = highlight("x " * 500 + "The CAT sat" + " y" * 500, "cat sat", width=40)
    assert found.phrase == "CAT sat"
    assert found.before.startswith("…")
    assert found.after.endswith("…")
    assert len(found.before + found.phrase + found.after) <= 42


def test_a_phrase_is_lit_as_a_word_before_a_part_of_one() -> None:
    assert highlight("cat or a dog", "a") == highlight("cat or a dog", "A")
    assert highlight("cat or a dog", "a").before == "cat or "
    assert highlight("category", "cat").phrase == "cat"
    assert highlight("they say hello", "Ġsay ▁hello").phrase == "say hello"
