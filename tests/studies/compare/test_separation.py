"""What the classifier uses: its phrases and surest texts, in the outcome, the JSON and the reports."""

import numpy as np

from tests.conftest import material
from textassay import Comparison, compare
from textassay.studies.compare.separation import what_separates

WORDS = [f"w{i}" for i in range(30)]


def texts(seed: int, *, added: str) -> list[str]:
    """Random words with one more word at a random place."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(80):
        chosen = rng.choice(WORDS, 7).tolist()
        chosen.insert(int(rng.integers(7)), added)
        made.append(" ".join(chosen))
    return made


def test_the_words_that_differ_are_the_ones_that_are_used() -> None:
    found = what_separates(material(texts(1, added="flux")), material(texts(2, added="calm")))
    assert found is not None
    assert found.candidate_cues[0].text == "flux"
    assert (found.candidate_cues[0].candidate_texts, found.candidate_cues[0].reference_texts) == (80, 0)
    assert found.candidate_cues[0].weight > 0
    assert found.reference_cues[0].text == "calm"
    assert found.reference_cues[0].weight < 0
    assert all("flux" in each.text and each.score > 0 for each in found.generated)
    assert all("calm" in each.text and each.score < 0 for each in found.real)
    assert len(found.mistaken) < 8


def test_copies_of_one_text_have_nothing_that_separates_them() -> None:
    found = what_separates(material(["a"] * 5), material(["a"] * 7))
    assert found is None or not (found.candidate_cues or found.generated or found.real)


def test_outcomes_and_reports_show_what_the_classifier_uses() -> None:
    real, made = texts(1, added="calm"), texts(2, added="<script>alert(1)</script>")
    found = compare(real, {"model": made}, metrics=["dd"], tokenizer="whitespace")
    separation = found["model"].separation
    assert separation is not None
    assert separation.candidate_cues[0].text == "<script>alert(1)</script>"
    assert Comparison.from_json(found.to_json()) == found
    page = found.to_html()
    assert "What the classifier uses" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "What the classifier uses" in found.to_markdown()


def test_without_a_difference_nothing_is_shown() -> None:
    found = compare(texts(1, added="calm"), {"model": texts(2, added="calm")}, metrics=["dd"], tokenizer="whitespace")
    assert found["model"].separation is None
    assert "What the classifier uses" not in found.to_html()
