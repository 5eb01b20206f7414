"""LM scores: the candidate under a language model of the reference, and the reference under one of the candidate.

Both models have the words of the reference. Words that occur there fewer than `min_count` times, and all other words of
the candidate, are the unknown word. So candidates are scored alike, whatever words they have.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import F64, I64
from textassay.metrics.learned.cnn import TRAINING
from textassay.metrics.learned.likelihood import mean_nll, model_remarks
from textassay.metrics.learned.model_texts import (
    DECODING_LIMITS,
    ModelTexts,
    WordTexts,
    model_name,
    ratio_without_folds,
    share_unknown,
    totals,
)
from textassay.metrics.registry import Value, metric, variant
from textassay.models.base import Scores
from textassay.models.choose import train_model
from textassay.models.vocabulary import Vocabulary

LanguageModel = Literal["ngram", "lstm"]
Variant = Literal["paper", "released"]
Size = Literal["laptop", "paper"]
_PRESETS = {"laptop": "laptop", "paper": "cai2020"}
# Of the real texts, one in this many chooses the epoch of a network that is trained on generated texts.
_VALIDATION = 10
# Of the tokens that are scored, the most that may be unknown words.
_MOST_UNKNOWN = 0.5
_UNDEFINED = "a text has probability 0 under the model, or more than half of the words are unknown"
_NO_TEST = "the language model is trained on the texts of one sample, so that texts cannot be exchanged"
_LIMITS = {"order": (1, 20), "min_count": (1, 1_000_000)}


def _vocabulary(reference: WordTexts, min_count: int) -> Vocabulary:
    return reference.once(
        ("vocabulary", min_count),
        lambda: Vocabulary.learn(reference.texts, tokenizer="whitespace", min_count=min_count),
    )


def _trained(texts: pa.Array, vocabulary: Vocabulary, order: int) -> Callable[[pa.Array], Scores]:
    """The scores of texts under an n-gram model."""
    model = train_model(f"ngram:order={order}", texts, vocabulary=vocabulary)
    return lambda scored: _of_classes(model.log_prob(scored))


def _of_classes(scores: Scores) -> Scores:
    """The scores of texts in which one unknown word replaces all words outside of the vocabulary."""
    return Scores(scores.class_log_probs, scores.n_tokens, scores.classes)


def _ngram_scores(trained_on: WordTexts, scored: WordTexts, reference: WordTexts, order: int, min_count: int) -> Scores:
    """The scores of one sample under an n-gram model of the other, computed once."""
    found, *_ = scored.once(
        ("ngram", id(trained_on), order, min_count),
        lambda: (_trained(trained_on.texts, _vocabulary(reference, min_count), order)(scored.texts), trained_on),
    )
    return found


def _share_of_tokens(scores: Scores) -> float:
    """The share of unknown words among all tokens, without the ends of texts."""
    return float(scores.n_unknown.sum() / max((scores.n_tokens - 1).sum(), 1))


def _per_token(scores: Scores) -> float:
    """The score; undefined if most words are unknown, because it is then the score of lengths and not of words."""
    return mean_nll(scores, per="token").estimate if _share_of_tokens(scores) <= _MOST_UNKNOWN else math.nan


def _retrained(
    trained_on: WordTexts, scored: WordTexts, reference: WordTexts, folds: I64, order: int, min_count: int
) -> F64:
    """The score under models that are trained without each fold; the vocabulary stays."""
    vocabulary = _vocabulary(reference, min_count)
    parts = [trained_on.texts.filter(pa.array(folds != fold)) for fold in range(int(folds.max()) + 1)]
    return np.array([_per_token(_trained(part, vocabulary, order)(scored.texts)) for part in parts])


def _scored_without_folds(scores: Scores, folds: I64) -> F64:
    return ratio_without_folds(*totals(scores, "token"), folds)


def _score_parts(scores: Scores) -> dict[str, float]:
    return {
        "perplexity": math.exp(min(_per_token(scores), 700.0)),
        "zero_probability": float(scores.n_zero),
        "share_unknown": share_unknown(scores),
        "share_unknown_tokens": _share_of_tokens(scores),
    }


def lm_score_parts(
    candidate: WordTexts, reference: WordTexts, /, *, lm: str, variant: str, order: int, min_count: int
) -> Mapping[str, float]:
    """The perplexity, the number of texts with probability 0, and the shares of unknown words."""
    return _score_parts(_ngram_scores(reference, candidate, reference, order, min_count))


def lm_score_leave_out(
    candidate: WordTexts,
    reference: WordTexts,
    /,
    *,
    labels: Sequence[I64],
    lm: str,
    variant: str,
    order: int,
    min_count: int,
) -> tuple[F64, F64]:
    """The score without each group of scored texts, and under models that are trained without each group of texts."""
    scores = _ngram_scores(reference, candidate, reference, order, min_count)
    retrained = _retrained(reference, candidate, reference, labels[1], order, min_count)
    return _scored_without_folds(scores, labels[0]), retrained


@metric(
    "lm_score",
    family="learned",
    aspect="quality",
    better="lower",
    rise="less likely",
    bounds=(0.0, math.inf),
    interval="jackknife:fixed-vocabulary",
    test=None,
    why_no_test=_NO_TEST,
    paper="cai2020",
    undefined=_UNDEFINED,
    in_default=False,
    parts=lm_score_parts,
    leave_out=lm_score_leave_out,
    limits=_LIMITS,
    remarks=model_remarks,
)
def lm_score(
    candidate: WordTexts,
    reference: WordTexts,
    /,
    *,
    lm: LanguageModel = "ngram",
    variant: Variant = "paper",
    order: int = 5,
    min_count: int = 2,
) -> Value:
    r"""LM score: negative log-likelihood per token of the candidate under a language model of the reference.

    .. math:: \mathrm{LM} = -\frac{\sum_{x \in C} \ln p_R(x)}{\sum_{x \in C} |x|}

    The language model is trained on the reference. The length of a text includes its end. Words with fewer than
    `min_count` occurrences in the reference are unknown, in the candidate as well.

    - `lm=ngram`: an n-gram model with modified Kneser-Ney smoothing (`order`).
    - `lm=lstm`: an LSTM (extra `models`); `size=laptop` has one layer of 128, `size=paper` two of 512 and 80 epochs.
    - `variant=released`: the program of the paper, which scores the candidate with the generator itself (`model=FILE`,
      with `temperature`, `top_k` and `top_p`); this is the entropy of the generator per token.

    It sees implausible sequences of words.

    Misleading as a measure of quality and diversity: repeating one common text gives the lowest value, below that of
    real text. It falls with the number of texts to train on, so only samples of the same size can be compared. An
    n-gram model cannot see whether a whole text makes sense.

    It is undefined if a text has probability 0 under the model, or if more than half of the words that are scored are
    unknown. The part `share_unknown` is the share of texts with unknown words.
    """
    return _per_token(_ngram_scores(reference, candidate, reference, order, min_count))


def _lstm_scores(
    trained_on: WordTexts, scored: WordTexts, reference: WordTexts, size: str, min_count: int
) -> tuple[Scores, I64]:
    """The scores of one sample under an LSTM of the other, and which texts of it these are.

    Texts are sorted, so that their order does not change the network. Real texts choose the epoch: a tenth of those
    that are scored, or a part of those that the network is trained on.
    """

    def make() -> tuple[Scores, I64, WordTexts]:
        order = np.argsort(np.array(scored.texts.to_pylist(), dtype=object), kind="stable")
        chosen = np.zeros(len(scored), np.bool_)
        chosen[order[::_VALIDATION]] = scored is reference
        kept = np.flatnonzero(~chosen)
        validation = scored.texts.take(pa.array(order[::_VALIDATION])) if scored is reference else None
        texts = pa.array(sorted(trained_on.texts.to_pylist()), trained_on.texts.type)
        vocabulary = _vocabulary(reference, min_count)
        with TRAINING:
            model = train_model(f"lstm:preset={_PRESETS[size]}", texts, validation=validation, vocabulary=vocabulary)
            return _of_classes(model.log_prob(scored.texts.take(pa.array(kept)))), kept, trained_on

    scores, kept, _ = scored.once(("lstm", id(trained_on), scored is reference, size, min_count), make)
    return scores, kept


def _lstm_without_folds(found: tuple[Scores, I64], scored_folds: I64, trained_folds: I64) -> tuple[F64, F64]:
    """The score without each group of scored texts; the network stays."""
    scores, kept = found
    unchanged = np.full(int(trained_folds.max()) + 1, _per_token(scores))
    return _scored_without_folds(scores, scored_folds[kept]), unchanged


def lm_score_lstm_parts(
    candidate: WordTexts, reference: WordTexts, /, *, lm: str, size: Size, min_count: int
) -> Mapping[str, float]:
    """The perplexity, the number of texts with probability 0, and the shares of unknown words."""
    return _score_parts(_lstm_scores(reference, candidate, reference, size, min_count)[0])


def lm_score_lstm_leave_out(
    candidate: WordTexts, reference: WordTexts, /, *, labels: Sequence[I64], lm: str, size: Size, min_count: int
) -> tuple[F64, F64]:
    """The score without each group of scored texts; the network stays."""
    return _lstm_without_folds(_lstm_scores(reference, candidate, reference, size, min_count), labels[0], labels[1])


@variant(
    "lm_score",
    lm="lstm",
    interval="jackknife:fixed-model",
    test=None,
    why_no_test=_NO_TEST,
    parts=lm_score_lstm_parts,
    leave_out=lm_score_lstm_leave_out,
)
def lm_score_lstm(
    candidate: WordTexts,
    reference: WordTexts,
    /,
    *,
    lm: LanguageModel = "lstm",
    size: Size = "laptop",
    min_count: int = 2,
) -> Value:
    """LM score with an LSTM."""
    return _per_token(_lstm_scores(reference, candidate, reference, size, min_count)[0])


def released_parts(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    variant: str,
    **model: Any,
) -> Mapping[str, float]:
    """The perplexity, the number of texts with probability 0, and the shares of unknown words."""
    return _score_parts(candidate.scores(**model))


def released_leave_out(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    labels: Sequence[I64],
    variant: str,
    **model: Any,
) -> tuple[F64, F64]:
    """The score without each group of texts; the reference changes nothing."""
    scores = candidate.scores(**model)
    unchanged = np.full(int(labels[1].max()) + 1, _per_token(scores))
    return _scored_without_folds(scores, labels[0]), unchanged


@variant(
    "lm_score",
    variant="released",
    interval="jackknife",
    test=None,
    why_no_test="the generator itself scores its texts, so that the texts of the reference are not read",
    parts=released_parts,
    leave_out=released_leave_out,
    limits=DECODING_LIMITS,
    opens={"model": model_name},
)
def lm_score_released(
    candidate: ModelTexts,
    reference: ModelTexts,
    /,
    *,
    variant: Variant = "released",
    model: str = "",
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Value:
    """LM score of the released program: the candidate under its own generator."""
    return _per_token(candidate.scores(model, temperature, top_k, top_p))


def reverse_parts(
    candidate: WordTexts, reference: WordTexts, /, *, lm: str, order: int, min_count: int
) -> Mapping[str, float]:
    """The perplexity, the number of texts with probability 0, and the shares of unknown words."""
    return _score_parts(_ngram_scores(candidate, reference, reference, order, min_count))


def reverse_leave_out(
    candidate: WordTexts,
    reference: WordTexts,
    /,
    *,
    labels: Sequence[I64],
    lm: str,
    order: int,
    min_count: int,
) -> tuple[F64, F64]:
    """The score under models that are trained without each group of texts, and without each group of scored texts."""
    scores = _ngram_scores(candidate, reference, reference, order, min_count)
    retrained = _retrained(candidate, reference, reference, labels[0], order, min_count)
    return retrained, _scored_without_folds(scores, labels[1])


@metric(
    "reverse_lm_score",
    family="learned",
    aspect="diversity",
    better="lower",
    rise="reference less likely",
    bounds=(0.0, math.inf),
    interval="jackknife:fixed-vocabulary",
    test=None,
    why_no_test=_NO_TEST,
    paper="cai2020",
    undefined=_UNDEFINED,
    in_default=False,
    parts=reverse_parts,
    leave_out=reverse_leave_out,
    limits=_LIMITS,
    remarks=model_remarks,
)
def reverse_lm_score(
    candidate: WordTexts, reference: WordTexts, /, *, lm: LanguageModel = "ngram", order: int = 5, min_count: int = 2
) -> Value:
    r"""Reverse LM score: negative log-likelihood per token of the reference under a language model of the candidate.

    .. math:: \mathrm{LM}_{rev} = -\frac{\sum_{x \in R} \ln p_C(x)}{\sum_{x \in R} |x|}

    The language model is trained on the candidate, with the words of the reference. The length of a text includes its
    end. Words with fewer than `min_count` occurrences in the reference are unknown, and so are all other words of the
    candidate.

    - `lm=ngram`: an n-gram model with modified Kneser-Ney smoothing (`order`).
    - `lm=lstm`: an LSTM (extra `models`); a tenth of the reference chooses its epoch, and the rest is scored.
      `size=laptop` has one layer of 128, `size=paper` two of 512 and 80 epochs, as in the paper.

    It sees real words and phrases that the candidate does not have.

    Misleading as a measure of diversity alone: implausible texts make the model worse as well. It falls with the number
    of texts to train on, so only samples of the same size can be compared. An n-gram model gives a generator that
    recombines short phrases too good a value.

    It is undefined if a text has probability 0 under the model, or if more than half of the words that are scored are
    unknown. The part `share_unknown` is the share of texts with unknown words.
    """
    return _per_token(_ngram_scores(candidate, reference, reference, order, min_count))


def reverse_lstm_parts(
    candidate: WordTexts, reference: WordTexts, /, *, lm: str, size: Size, min_count: int
) -> Mapping[str, float]:
    """The perplexity, the number of texts with probability 0, and the shares of unknown words."""
    return _score_parts(_lstm_scores(candidate, reference, reference, size, min_count)[0])


def reverse_lstm_leave_out(
    candidate: WordTexts, reference: WordTexts, /, *, labels: Sequence[I64], lm: str, size: Size, min_count: int
) -> tuple[F64, F64]:
    """The score without each group of scored texts; the network stays."""
    found = _lstm_scores(candidate, reference, reference, size, min_count)
    scored, unchanged = _lstm_without_folds(found, labels[1], labels[0])
    return unchanged, scored


@variant(
    "reverse_lm_score",
    lm="lstm",
    interval="jackknife:fixed-model",
    test=None,
    why_no_test=_NO_TEST,
    parts=reverse_lstm_parts,
    leave_out=reverse_lstm_leave_out,
)
def reverse_lm_score_lstm(
    candidate: WordTexts,
    reference: WordTexts,
    /,
    *,
    lm: LanguageModel = "lstm",
    size: Size = "laptop",
    min_count: int = 2,
) -> Value:
    """Reverse LM score with an LSTM."""
    return _per_token(_lstm_scores(candidate, reference, reference, size, min_count)[0])
