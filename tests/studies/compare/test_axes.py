"""The axes of quality and diversity without Markdown, where the samples differ in it."""

from collections import Counter

import pytest

from tests.laws import corpus
from textassay import compare
from textassay.corpus.markdown import plain_words
from textassay.studies.compare import run


def test_bold_words_move_no_candidate_on_the_plane() -> None:
    """The same texts with bold words are where they are without."""
    real, plain, other = corpus(1, 300), corpus(2, 120), corpus(3, 120)
    bold = [" ".join(f"**{word}**" for word in text.split()) for text in plain]
    found = compare(real, {"bold": bold, "plain": plain, "other": other}, metrics="cr,nrr,cnd", n_resamples=49)
    marked, same = (found[name].axes_without_markup for name in ("bold", "plain"))
    assert set(marked) == {"cr-2", "nrr-2"}
    assert {label: result.estimate for label, result in marked.items()} == {
        label: result.estimate for label, result in same.items()
    }
    assert found["bold"]["cr"].estimate < 0.5 * found["plain"]["cr"].estimate
    assert "without Markdown" in found.to_html()
    assert type(found).from_json(found.to_json()) == found


def test_without_a_difference_in_markdown_the_axes_are_the_metrics() -> None:
    found = compare(corpus(1, 60), {"x": corpus(2, 60)}, metrics="cr,nrr", n_resamples=49)
    assert not found["x"].axes_without_markup
    assert "without Markdown" not in found.to_html()


def test_each_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The overall test without markup and the axes read the same texts, and all candidates the same reference."""
    parsed: Counter[str] = Counter()

    def counted(text: str) -> str:
        parsed[text] += 1
        return plain_words(text)

    monkeypatch.setattr(run, "plain_words", counted)
    real = [f"# {text}" for text in corpus(1, 60)]
    compare(real, {"x": corpus(2, 60), "y": [f"- {text}" for text in corpus(3, 60)]}, metrics="cr,nrr", n_resamples=19)
    assert set(real) <= set(parsed)
    assert set(parsed.values()) == {1}
