"""Laws of model metrics on texts with unknown words: no metric gains by a smaller vocabulary, and all report them."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.laws import corpus
from textassay import compare, metrics
from textassay.inference.result import Result
from textassay.metrics.learned.likelihood import ZERO
from textassay.models.base import Generator
from textassay.models.choose import train_model

TRAINING, OTHERS = corpus(1, 300), corpus(2, 120)
NEW = [*OTHERS[:-2], "w0 zebra w1", "w1 w0 giraffe"]


@cache
def model(min_count: int) -> Generator:
    return train_model(f"ngram:order=2:min_count={min_count}", TRAINING)


@cache
def made(min_count: int, seed: int = 0) -> tuple[str, ...]:
    return tuple(model(min_count).sample(120, rng=np.random.default_rng(seed)))


Measure = Callable[[Generator, list[str]], Result]
# Metrics of one model on texts that it should have written or explained; less is better for all but `model_entropy`.
ON_TEXTS: dict[str, Measure] = {
    "nll": lambda scorer, texts: metrics.nll(OTHERS, texts, model=scorer, n_resamples=0),
    "oracle_nll": lambda scorer, texts: metrics.oracle_nll(texts, oracle=scorer, n_resamples=0),
    "model_entropy": lambda scorer, texts: metrics.model_entropy(texts, model=scorer, n_resamples=0),
    "lm_score": lambda scorer, texts: metrics.lm_score(texts, OTHERS, variant="released", model=scorer, n_resamples=0),
}


@pytest.mark.parametrize("name", ON_TEXTS)
def test_a_smaller_vocabulary_never_gives_a_better_value(name: str) -> None:
    """Words that a model does not have make a text impossible, and the value undefined with a reason."""
    for min_count in (1, 4, 40):
        found = ON_TEXTS[name](model(min_count), NEW)
        known = set(model(min_count).vocabulary.words)  # type: ignore[attr-defined]
        strange = [text for text in NEW if not known.issuperset(text.split())]
        assert math.isnan(found.estimate)
        assert found.undefined is not None
        assert found.parts["share_unknown"] == pytest.approx(len(strange) / len(NEW))
        assert found.parts["zero_probability"] == len(strange)
        if name != "lm_score":
            assert found.undefined == ZERO
            kept = [text for text in NEW if text not in strange]
            if len(kept) > 1:
                others = ON_TEXTS[name](model(min_count), kept)
                assert found.parts["mean_of_others"] == pytest.approx(others.estimate)
                assert others.parts["lower_bound"] == pytest.approx(others.estimate)


@pytest.mark.parametrize("name", ["nll", "oracle_nll", "model_entropy"])
def test_the_lower_bound_is_the_value_on_texts_with_a_mark(name: str) -> None:
    """With `<unk>` in place of them, as in prepared texts, unknown words have the probability of their class."""
    scorer = model(4)
    known = set(scorer.vocabulary.words)  # type: ignore[attr-defined]
    marked = [" ".join(word if word in known else "<unk>" for word in text.split()) for text in NEW]
    found, plain = ON_TEXTS[name](scorer, marked), ON_TEXTS[name](scorer, NEW)
    assert found.estimate == pytest.approx(plain.parts["lower_bound"])
    assert found.parts["share_unknown"] == plain.parts["share_unknown"] > 0.01


@pytest.mark.parametrize("min_count", [30, 60])
@pytest.mark.parametrize("swapped", [False, True])
def test_models_with_other_words_are_far_apart(min_count: int, swapped: bool) -> None:
    """The distance is at least the share of texts that only one of the two models can write, in both directions."""
    sides = [(model(1), list(made(1))), (model(min_count), list(made(min_count)))]
    (oracle, real), (scorer, texts) = sides[::-1] if swapped else sides
    found = metrics.oracle_dd(texts, real, model=scorer, oracle=oracle, n_resamples=99)
    known = set(model(min_count).vocabulary.words)  # type: ignore[attr-defined]
    impossible = sum(not known.issuperset(text.split()) for text in made(1)) / 120
    marked = sum("<unk>" in text for text in made(min_count)) / 120
    assert found.estimate > (impossible + marked) / 2 - 0.1
    assert min(impossible, marked) > 0.3
    assert found.interval is not None
    assert found.p_value == 0.01
    shares = [found.parts["share_unknown"], found.parts["share_unknown_reference"]]
    assert shares == pytest.approx([impossible, marked] if swapped else [marked, impossible])
    distance = metrics.bhattacharyya(texts, real, model=scorer, oracle=oracle, variant="hellinger", n_resamples=0)
    assert distance.parts["share_unknown"] == found.parts["share_unknown"]
    assert distance.estimate > 0.3


def test_texts_that_are_no_sample_of_their_model_are_refused() -> None:
    found = metrics.oracle_dd(list(made(4)), NEW, model=model(4), oracle=model(1), n_resamples=0)
    assert found.undefined == "a text has probability 0 under the model that it should be a sample of"
    assert found.parts["share_unknown_reference"] > 0


@pytest.mark.parametrize("name", ["lm_score", "reverse_lm_score"])
def test_lm_scores_report_the_words_that_only_one_side_has(name: str) -> None:
    """Both samples are read with the words of the reference, so the value is that of texts with a mark."""
    function = getattr(metrics, name)
    options: dict[str, Any] = {"tokenizer": "whitespace", "n_resamples": 0, "min_count": 1}
    mine = [*made(1), "w0 zebra w1"]
    known = {word for text in OTHERS for word in text.split()}
    marked = [" ".join(word if word in known else "<unk>" for word in text.split()) for text in mine]
    found = function(mine, OTHERS, **options)
    assert found.estimate == pytest.approx(function(marked, OTHERS, **options).estimate)
    wanted = sum("<unk>" in text for text in marked) / len(mine) if name == "lm_score" else 0
    assert found.parts["share_unknown"] == pytest.approx(wanted)


def test_upper_case_is_outside_of_a_model_without_it() -> None:
    lower = train_model("ngram:order=2:lowercase=true", [text.upper() for text in TRAINING])
    scores = lower.log_prob(["w0 w1", "W0 w1"])
    assert np.isneginf(scores.log_probs).tolist() == [False, True]
    assert scores.class_log_probs[0] == scores.class_log_probs[1]


def test_compare_notes_the_share() -> None:
    asked = f"nll:model={_stored()}"
    found = compare(NEW, {"made": list(made(1))}, metrics=[asked], n_resamples=0)
    (note,) = [note for note in found.notes if "unknown words" in note]
    share = 100 * found["made"]["nll"].parts["share_unknown"]
    assert note.endswith(f"{share:.3g} % of the texts have unknown words (<unk>, or words that a model does not have)")


def _stored() -> str:
    from textassay.metrics.learned.model_texts import model_name

    return model_name(model(4))
