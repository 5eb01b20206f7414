"""Training texts: vocabulary limits, unknown words, length limits and splits, as in data sections of papers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import I64, Bool
from textassay.corpus.printable import many
from textassay.corpus.tokenizers import lower
from textassay.corpus.values import is_number, is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import Texts, texts_of
from textassay.models.vocabulary import UNK, UNKNOWN, Vocabulary

UNKNOWN_RULES = ("replace", "drop")


@dataclass(frozen=True, eq=False)
class TrainingTexts:
    """The kept texts, in their order, with what was left out and why.

    `vocabulary` has the words of all texts that were read, with their counts.
    """

    texts: pa.Array
    vocabulary: Vocabulary
    notes: tuple[str, ...]


def prepare_texts(
    texts: Texts,
    *,
    tokenizer: str = "words",
    lowercase: bool = False,
    min_count: int = 1,
    max_words: int | None = None,
    unknown: str = "replace",
    max_unknown: int | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    unique: bool = False,
) -> TrainingTexts:
    """Limit the vocabulary and the lengths of texts.

    Parameters
    ----------
    texts
        The texts; blank ones are left out.
    tokenizer, lowercase
        How texts are split into words, and whether they become lower case first.
    min_count, max_words
        A word is known if it occurs at least `min_count` times and is among the `max_words` most common ones. Counts
        are over all texts.
    unknown
        "replace": unknown words become `<unk>`; "drop": texts with unknown words are left out.
    max_unknown
        With `unknown="replace"`, texts with more unknown words than this are left out.
    min_length, max_length
        The fewest and the most words of a text, punctuation included.
    unique
        Whether repeated texts are left out.

    Examples
    --------
    >>> made = prepare_texts(["a cat sat", "a dog sat", "a cat", "a cat sat"], min_count=2, min_length=3, unique=True)
    >>> made.texts.to_pylist()
    ['a cat sat', 'a <unk> sat']
    >>> made.notes
    ('1 word was unknown and replaced by <unk>', '1 text with less than 3 words left out', '1 repeated text left out')
    """
    if unknown not in UNKNOWN_RULES:
        raise InputError(Setting("unknown", unknown), f"; wanted one of {', '.join(UNKNOWN_RULES)}")
    for name, limit in (("max_unknown", max_unknown), ("min_length", min_length), ("max_length", max_length)):
        if limit is not None and (not is_whole(limit) or limit < 0):
            raise InputError(Setting(name, limit), "; wanted a whole number of 0 or more")
    array = texts_of(texts, "texts")
    vocabulary = Vocabulary.learn(
        array, tokenizer=tokenizer, lowercase=lowercase, min_count=min_count, max_words=max_words
    )
    ids, offsets = vocabulary.encode(array)
    n_unknown = np.diff(np.concatenate(([0], np.cumsum(ids == UNK)))[offsets])
    most = 0 if unknown == "drop" else max_unknown
    kept, notes = _kept(_rules(np.diff(offsets), n_unknown, most, min_length, max_length), len(array))
    array = (lower(array) if lowercase else array).take(pa.array(kept))
    if count := int(n_unknown[kept].sum()):
        notes.insert(0, f"{many(count, 'word was', 'words were')} unknown and replaced by {UNKNOWN}")
        array = _replaced(array, vocabulary)
    if unique:
        array = _different(array, notes)
    if not len(array):
        raise InputError(f"no text is left ({'; '.join(notes)}); wanted limits that keep some")
    return TrainingTexts(array, vocabulary, tuple(notes))


def _rules(
    lengths: I64, n_unknown: I64, most_unknown: int | None, shortest: int | None, longest: int | None
) -> list[tuple[str, Bool]]:
    """What is left out, and for each text whether it is."""
    rules: list[tuple[str, Bool]] = [("blank text", lengths == 0)]
    if most_unknown is not None:
        more = f"more than {many(most_unknown, 'unknown word')}" if most_unknown else "unknown words"
        rules.append((f"text with {more}", n_unknown > most_unknown))
    if shortest is not None:
        rules.append((f"text with less than {many(shortest, 'word')}", lengths < shortest))
    if longest is not None:
        rules.append((f"text with more than {many(longest, 'word')}", lengths > longest))
    return rules


def _kept(rules: list[tuple[str, Bool]], size: int) -> tuple[I64, list[str]]:
    """The places of texts that no rule leaves out, and a note per rule; a text counts for the first rule only."""
    left_out = np.zeros(size, np.bool_)
    notes = []
    for what, refused in rules:
        count = int((refused & ~left_out).sum())
        left_out |= refused
        if count:
            one, _, rest = what.partition(" with ")
            notes.append(f"{many(count, one)}{f' with {rest}' if rest else ''} left out")
    return np.flatnonzero(~left_out), notes


def _replaced(texts: pa.Array, vocabulary: Vocabulary) -> pa.Array:
    """The texts with `<unk>` for each unknown word; white space stays as it is."""
    tokens = vocabulary.tokenizer(texts)
    words = tokens.vocabulary.to_pylist()
    unknown = np.array([vocabulary.id(word) == UNK for word in words], np.bool_)[tokens.ids]
    made = texts.to_pylist()
    for row in np.unique(np.searchsorted(tokens.offsets, np.flatnonzero(unknown), side="right") - 1):
        made[row] = _with_unknown(made[row], tokens.words(*tokens.offsets[row : row + 2]), vocabulary)
    return pa.array(made, pa.large_string())


def _with_unknown(text: str, words: list[str], vocabulary: Vocabulary) -> str:
    if UNKNOWN in text:  # the parts of an existing symbol are not words
        pieces = text.split(UNKNOWN)
        return UNKNOWN.join(_with_unknown(piece, _words(piece, vocabulary), vocabulary) for piece in pieces)
    parts, at = [], 0
    for word in words:
        start = text.index(word, at)
        parts += [text[at:start], word if vocabulary.id(word) != UNK else UNKNOWN]
        at = start + len(word)
    return "".join([*parts, text[at:]])


def _words(text: str, vocabulary: Vocabulary) -> list[str]:
    tokens = vocabulary.tokenizer([text])
    return tokens.words(0, len(tokens.ids))


def _different(texts: pa.Array, notes: list[str]) -> pa.Array:
    found = texts.unique()
    if len(found) < len(texts):
        notes.append(f"{many(len(texts) - len(found), 'repeated text')} left out")
    return found


def split_texts(texts: pa.Array, parts: Mapping[str, float], *, rng: np.random.Generator | None) -> dict[str, pa.Array]:
    """Divide texts into named parts that do not overlap; each keeps the order of the texts.

    Parameters
    ----------
    texts
        The texts.
    parts
        The size of each part: a number of texts, or a share below 1.
    rng
        For a random division; None takes the parts one after the other.

    Examples
    --------
    >>> made = split_texts(pa.array(["a", "b", "c", "d"]), {"train": 0.5, "test": 1}, rng=None)
    >>> {name: part.to_pylist() for name, part in made.items()}
    {'train': ['a', 'b'], 'test': ['c']}
    """
    sizes = {name: _size(name, wanted, len(texts)) for name, wanted in parts.items()}
    total = sum(sizes.values())
    if total > len(texts):
        raise InputError(f"split: parts of {total:,} texts in all, but there are {len(texts):,}; wanted fewer")
    order = np.arange(len(texts)) if rng is None else rng.permutation(len(texts))
    made, at = {}, 0
    for name, size in sizes.items():
        made[name] = texts.take(pa.array(np.sort(order[at : at + size])))
        at += size
    return made


def _size(name: str, wanted: Any, n_texts: int) -> int:
    if not is_number(wanted) or not (0 < wanted < 1 or (wanted >= 1 and wanted == int(wanted))):
        raise InputError(f"split: part {name!r} has size {wanted!r}; wanted a number of texts, or a share below 1")
    size = round(wanted * n_texts) if wanted < 1 else int(wanted)
    if size < 1:
        raise InputError(f"split: part {name!r} would be empty; wanted at least one text")
    return size


def repeated_across(parts: Mapping[str, pa.Array]) -> list[str]:
    """A note for each two parts that share texts."""
    names = list(parts)
    sets = {name: set(part.to_pylist()) for name, part in parts.items()}
    notes = []
    for number, one in enumerate(names):
        for other in names[number + 1 :]:
            if shared := len(sets[one] & sets[other]):
                notes.append(f"{many(shared, 'text')} in both {one} and {other}; --unique leaves out repeated texts")
    return notes
