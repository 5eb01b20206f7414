"""Texts without Markdown: what stays, and that both samples lose the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textassay as ta
from textassay import InputError, Sample
from textassay.corpus.markdown import plain_words, stripped
from textassay.corpus.markup import Markup
from textassay.metrics.views import Material


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a **bold** and *slanted* __word__", "a bold and slanted word"),
        ("# Title\n\nText\n===\n", "Title\nText"),
        ("- one\n  - two\n1. three\n", "one\ntwo\nthree"),
        ("```python\nx = 1\ny = 2\n```", "x = 1\ny = 2"),
        ("use `x * y` or [this](http://a.b)", "use x * y or this"),
        ("> he said\n> so\n\nyes", "he said\nso\nyes"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a\nb\n1\n2"),
        ("one\n\n---\n\ntwo", "one\ntwo"),
        # No markup: signs of arithmetic, names, tags and brackets stay.
        ("5 * 3 * 2 is 30", "5 * 3 * 2 is 30"),
        ("snake_case_name [x] <b>so</b>", "snake_case_name [x] <b>so</b>"),
        ("first line\nsecond line", "first line\nsecond line"),
    ],
)
def test_words_stay_and_signs_go(text: str, words: str) -> None:
    assert plain_words(text) == words
    assert stripped(Sample.of([text]), "markdown").texts.to_pylist() == [words]


def test_paragraphs_of_plain_texts_are_treated_like_those_of_marked_ones() -> None:
    found = stripped(Sample.of(["a\n\nb", "**a**\n\nb", " a b "]), "markdown").texts.to_pylist()
    assert found == ["a\nb", "a\nb", "a b"]


def test_groups_stay_with_their_texts_and_texts_of_markup_only_are_left_out_with_a_note() -> None:
    sample = stripped(Sample.of(["**a**", "***", "# b"], groups=["x", "y", "z"]), "markdown")
    assert sample.texts.to_pylist() == ["a", "b"]
    assert sample.groups is not None
    assert sample.groups.to_pylist() == ["x", "z"]
    assert sample.notes == ("1 text left out that had no words beside Markdown",)


@given(st.text(alphabet=" \n*_`#[]()<>|~-+1.ab\\&;!", max_size=60))
def test_any_text_is_read_and_words_are_kept(text: str) -> None:
    found = plain_words(text)
    letters = [character for character in text if character in "ab"]
    # Letters may go with the address of a link, an entity or the language of a code block, never come.
    assert sum(character in "ab" for character in found) <= len(letters)


def test_an_unknown_kind_of_markup_is_refused() -> None:
    with pytest.raises(InputError, match="strip='html'; wanted markdown"):
        ta.compare(["a b"] * 30, ["a c"] * 30, strip="html", n_resamples=0)


def answers(seed: int, size: int, *, bold: bool) -> list[str]:
    import numpy as np

    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in range(60)]
    texts = [list(rng.choice(words, 30)) for _ in range(size)]
    return [f"**{text[0]}** " + " ".join(text[1:]) if bold else " ".join(text) for text in texts]


def test_a_difference_in_markup_alone_is_named_and_gone_without_it() -> None:
    real, plain = answers(1, 150, bold=True), answers(2, 150, bold=False)
    found = ta.compare(real, plain, families=["ngram"], n_resamples=199)
    column = found.candidates[0]
    assert [finding.kind for finding in column.findings if finding.is_markup] == ["bold"]
    assert column.overall is not None
    assert column.overall_without_markup is not None
    assert column.verdict is not None
    assert column.overall.p_value == 1 / 200
    assert column.overall_without_markup.p_value is not None
    assert column.overall_without_markup.p_value > 0.05
    assert "Markdown may explain the difference" in column.verdict.sentence
    assert "diverse" not in column.verdict.sentence
    assert type(found).from_json(found.to_json()).candidates[0].overall_without_markup == column.overall_without_markup
    alone = ta.compare(real, plain, families=["ngram"], n_resamples=199, strip="markdown")
    assert alone.candidates[0].overall is not None
    assert alone.candidates[0].overall.p_value == column.overall_without_markup.p_value
    assert "strip:markdown" in alone.candidates[0].results[0].signature
    assert alone.settings["strip"] == "markdown"


def test_the_view_of_traits_shows_no_markdown_afterwards() -> None:
    sample = stripped(Sample.of(answers(1, 20, bold=True)), "markdown")
    assert not Material(sample).view(Markup).shown[:, [trait.is_markdown for trait in Markup.traits]].any()
