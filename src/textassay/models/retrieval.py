r"""Retrieval: the human text whose input is most similar to a prompt by BM25 (the baseline of Hashimoto et al. 2019).

The relevance of a document `d` for a query `q` is, with :math:`f` the number of occurrences of a word in the document,
:math:`|d|` the length of the document, :math:`\bar d` the mean length, :math:`n` the number of documents with the word
and :math:`N` the number of documents,

.. math::
    \sum_{w \in q} \ln\Big(1 + \frac{N - n_w + 0.5}{n_w + 0.5}\Big)
    \frac{f_w}{f_w + k_1 (1 - b + b\,|d| / \bar d)},

with :math:`k_1 = 1.2` and :math:`b = 0.75`, the definition and the defaults of Lucene and Solr.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import shortened
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import GeneratedTexts, Sample, digest_of
from textassay.corpus.tokenizers import Tokens, get_tokenizer
from textassay.errors import InputError
from textassay.models.base import Decoding, Scores, Texts, check_prompts, decoded_log_probs, texts_of

K1, B = 1.2, 0.75
# The number of relevances that are computed at a time.
_MOST_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class RetrievalModel:
    """Human texts, found by their inputs; `opened` makes a model from a file.

    With prompts, the text is the one whose input is most relevant for the prompt (of equal ones the first), and has
    probability 1; a prompt that shares no word with any input is an error. The inputs are the contexts of the sample
    (the fields `prompt`, `question`, ...); a sample without contexts is searched by its texts. Without prompts, texts
    are drawn from the sample: the probability of a text is its share of the sample, and a whole text is one token for
    the decoding setting.

    Examples
    --------
    >>> import pyarrow as pa
    >>> replies = Sample.of(["I like cats.", "It rains."], contexts=pa.array(["Which pet?", "How is the weather?"]))
    >>> model = RetrievalModel(replies)
    >>> model.sample(1, prompts=["Is the weather good?"], rng=np.random.default_rng(0))
    ['It rains.']
    >>> model.log_prob(["It rains.", "It pours."]).log_probs.round(3).tolist()
    [-0.693, -inf]
    """

    texts: Sample
    _tokenizer: Any = field(repr=False, default_factory=lambda: get_tokenizer("plain"))

    @cached_property
    def name(self) -> str:
        """The kind and a digest of texts and inputs."""
        inputs = "" if self.texts.contexts is None else f"-{digest_of(self._inputs)}"
        return f"retrieval:{self.texts.digest}{inputs}"

    @property
    def _inputs(self) -> Any:
        return self.texts.texts if self.texts.contexts is None else texts_of(self.texts.contexts, "inputs")

    def sample(
        self,
        n: int,
        /,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        prompts: Sequence[str] | None = None,
        rng: np.random.Generator,
    ) -> GeneratedTexts:
        """The most relevant text for each prompt, or texts drawn from the sample; prompts allow no decoding setting."""
        decoding = Decoding(temperature, top_k, top_p)
        if check_prompts(prompts, n) is None:
            texts, logs = self._distribution(decoding)
            return GeneratedTexts(texts[index] for index in rng.choice(len(texts), n, p=np.exp(logs)))
        return GeneratedTexts(self._answers(prompts or [], decoding))

    def log_prob(
        self,
        sample: Texts,
        /,
        *,
        prompts: Sequence[str] | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Scores:
        """Log-probabilities of texts drawn without prompts; minus infinity for a text that is not in the sample.

        With prompts, the most relevant text has probability 1, and all others have probability 0.
        """
        decoding, scored = Decoding(temperature, top_k, top_p), texts_of(sample, "texts to score").to_pylist()
        if check_prompts(prompts, len(scored)) is None:
            texts, logs = self._distribution(decoding)
            known = dict(zip(texts, logs.tolist(), strict=True))
            found = [known.get(text, -np.inf) for text in scored]
        else:
            answers = self._answers(prompts or [], decoding)
            found = [0.0 if text == answer else -np.inf for text, answer in zip(scored, answers, strict=True)]
        return Scores(np.array(found, np.float64), np.ones(len(found), np.int64))

    def _answers(self, prompts: Sequence[str], decoding: Decoding) -> list[str]:
        """The most relevant text for each prompt."""
        if decoding != Decoding():
            raise InputError(
                f"retrieval with prompts at {decoding}; wanted no decoding setting: one text is the nearest"
            )
        return list(self.texts.texts.take(pa.array(self.nearest(prompts))).to_pylist())

    def nearest(self, prompts: Sequence[str]) -> I64:
        """The index of the most relevant text for each prompt."""
        weights, index = self._weights
        queries = _counted(self._tokenizer(list(prompts)), index)
        step = max(1, _MOST_ENTRIES // weights.shape[0])
        places = np.zeros(len(prompts), np.int64)
        for start in range(0, len(prompts), step):
            relevance = (queries[start : start + step] @ weights.T).toarray()
            best = relevance.argmax(axis=1)
            unlike = np.flatnonzero(relevance.max(axis=1) == 0)
            if len(unlike):
                first = start + int(unlike[0])
                seen = f"prompt {first + 1:,} ('{shortened(prompts[first], 60)}') shares no word with any input"
                raise InputError(f"retrieval: {seen} of {self.texts.name}; wanted prompts of the same kind")
            places[start : start + step] = best
        return places

    @cached_property
    def _weights(self) -> tuple[Any, dict[str, int]]:
        """The weight of each word in each input, and the columns of the words."""
        tokens = self._tokenizer(self._inputs)
        index = {word: number for number, word in enumerate(tokens.vocabulary.to_pylist())}
        counts = _counted(tokens, index)
        n_with = np.bincount(counts.indices, minlength=len(index))
        rarity = np.log1p((counts.shape[0] - n_with + 0.5) / (n_with + 0.5))
        mean = max(float(tokens.lengths.mean()), 1.0)
        lengths = np.repeat(K1 * (1 - B + B * tokens.lengths / mean), np.diff(counts.indptr))
        counts.data = rarity[counts.indices] * counts.data / (counts.data + lengths)
        return counts, index

    def _distribution(self, decoding: Decoding) -> tuple[list[str], F64]:
        """The different texts, the most frequent first, and their log-probabilities."""
        found = self.texts.texts.value_counts()
        counts = np.asarray(found.field("counts"), np.float64)
        order = np.argsort(-counts, kind="stable")
        logs = decoded_log_probs(np.log(counts[order])[None], decoding)[0]
        return found.field("values").take(order).to_pylist(), logs


def _counted(tokens: Tokens, index: dict[str, int]) -> Any:
    """A sparse matrix with one row per text and the number of occurrences of each known word."""
    from scipy.sparse import csr_matrix

    columns = np.array([index.get(word, -1) for word in tokens.vocabulary.to_pylist()], np.int64)[tokens.ids]
    rows = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)[columns >= 0]
    values = np.ones(len(rows))
    counted = csr_matrix((values, (rows, columns[columns >= 0])), shape=(len(tokens.lengths), len(index)))
    counted.sum_duplicates()
    return counted


def opened(rest: str) -> RetrievalModel:
    """The model of `retrieval:FILE`."""
    return RetrievalModel(read_sample(rest))
