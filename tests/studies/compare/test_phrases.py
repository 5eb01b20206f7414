"""Examples of texts with a phrase marked, and lists of phrases."""

from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.printable import on_one_line
from textassay.studies.compare.phrase_blocks import marked


@given(st.text(max_size=600), st.text(max_size=12))
def test_a_marked_text_is_a_part_of_the_text(text: str, phrase: str) -> None:
    found = marked(text, phrase)
    pieces = found.before + found.phrase + found.after
    assert pieces == text or pieces.strip("…") in text or "…" in text
    assert len(pieces) <= 162


def test_a_phrase_is_found_in_the_middle_of_a_long_text() -> None:
    found = marked("x " * 500 + "The CAT sat" + " y" * 500, "cat sat", width=40)
    assert found.phrase == "CAT sat"
    assert found.before.startswith("…")
    assert found.after.endswith("…")
    assert len(found.before + found.phrase + found.after) <= 42


def test_a_phrase_is_marked_as_a_word_before_a_part_of_one() -> None:
    assert marked("cat or a dog", "a") == marked("cat or a dog", "A")
    assert marked("cat or a dog", "a").before == "cat or "
    assert marked("category", "cat").phrase == "cat"
    assert marked("they say hello", "Ġsay ▁hello").phrase == "say hello"


def test_a_long_run_of_white_space_takes_no_time() -> None:
    # It took time in the square of the run, minutes here.
    assert on_one_line("a" + "\u2028" * 300_000 + "b\n \n c") == "a" + "\u2028" * 300_000 + "b c"
