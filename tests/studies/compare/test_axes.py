"""The axes of quality and diversity without Markdown, where the samples differ in it."""

import math
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


@pytest.mark.parametrize("quick", [False, True])
def test_markdown_alone_makes_no_statement_on_wording(quick: bool) -> None:
    """A quick run has no second test, so it states that Markdown differs, and nothing on phrases or diversity."""
    bold = [" ".join(f"**{word}**" for word in text.split()) for text in corpus(2, 100)]
    found = compare(
        corpus(1, 100), {"bold": bold}, metrics="distinct,cr,bleu,reverse_bleu", n_resamples=99, quick=quick
    )
    verdict = found["bold"].verdict
    assert verdict is not None
    assert [finding.kind for finding in verdict.findings if finding.kind not in ("dependence", "caution")] == [
        "differs",
        "separable share",
        "markup differs" if quick else "markup alone",
    ]
    [row] = found.summary.to_dict("records")
    values = [row.get("quality"), row.get("diversity")]
    assert all(value is None or math.isnan(value) for value in values)


def test_what_stripping_left_is_no_markdown() -> None:
    """A comment in code looks like a heading."""
    code = [f"```\n# {text}\n```" for text in corpus(2, 60)]
    found = compare(corpus(1, 60), {"x": code}, metrics="distinct", n_resamples=99, strip="markdown")
    assert not any(finding.is_markup for finding in found["x"].findings)
    assert found["x"].overall_without_markup is None


def test_words_are_not_compared_where_one_side_has_none() -> None:
    found = compare(corpus(1, 60), {"x": ["***", "|---|", "- - -"] * 20}, metrics="distinct", n_resamples=99)
    assert found["x"].verdict is not None
    assert found["x"].overall_without_markup is None
    assert "words without it" not in found["x"].verdict.sentence


def test_other_differences_in_form_are_named_beside_markdown() -> None:
    real = ["\n".join(f"- {line}" for line in (text, text[::-1], text)) for text in corpus(1, 100)]
    found = compare(real, {"short": corpus(2, 100)}, metrics="distinct", n_resamples=99)
    verdict = found["short"].verdict
    assert verdict is not None
    assert verdict.find("markup and words differ") is not None
    assert "the format differs in other ways as well" in verdict.sentence
    # The p-value is the smallest that the exchanges could give.
    assert "the words without it differ as well (p ≤ " in verdict.sentence


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
