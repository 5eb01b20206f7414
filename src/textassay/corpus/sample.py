"""Sample: an immutable, named set of texts, known by the digest of its content, and random streams to draw from it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, SupportsIndex, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.printable import many, shortened
from textassay.errors import InputError

TEXT = pa.large_string()


def stream(seed: int, *keys: str | int) -> np.random.Generator:
    """A random generator for one purpose, which the keys name. The same seed and keys give the same numbers anywhere.

    So neither the order of the work nor the number of workers changes a result.

    >>> int(stream(0, "cut", "mle").integers(1000)) == int(stream(0, "cut", "mle").integers(1000))
    True
    """
    words = hashlib.blake2b(repr((seed, *keys)).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(words, "little")))


def digest_of(texts: pa.Array) -> str:
    """Digest of the texts and their order: lengths and bytes, so that ["ab"] and ["a", "b"] differ."""
    lengths = np.asarray(pc.binary_length(texts), dtype="<i8")
    hasher = hashlib.blake2b(digest_size=8)
    hasher.update(lengths.tobytes())
    _, offsets, data = texts.buffers()
    if data is not None and len(texts):
        bounds = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        hasher.update(memoryview(data)[bounds[0] : bounds[-1]])
    return hasher.hexdigest()


class GeneratedTexts(list[str]):
    """Generated texts: a list that also has `cut_off`, which of them ended at a limit of the length.

    >>> texts = GeneratedTexts(["a cat", "a dog ran"], np.array([False, True]))
    >>> texts[1:].cut_off.tolist(), texts == ["a cat", "a dog ran"]
    ([True], True)
    """

    cut_off: NDArray[np.bool_]

    def __init__(self, texts: Iterable[str] = (), cut_off: NDArray[np.bool_] | None = None) -> None:
        super().__init__(texts)
        if cut_off is None:
            cut_off = texts.cut_off if isinstance(texts, GeneratedTexts) else np.zeros(len(self), np.bool_)
        self.cut_off = np.asarray(cut_off, np.bool_)

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> str: ...
    @overload
    def __getitem__(self, index: slice, /) -> "GeneratedTexts": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "str | GeneratedTexts":
        if isinstance(index, slice):
            return GeneratedTexts(super().__getitem__(index), self.cut_off[index])
        return super().__getitem__(index)

    @classmethod
    def concat(cls, parts: Sequence["GeneratedTexts"]) -> "GeneratedTexts":
        """The texts of several runs as one list."""
        marks = [np.zeros(0, np.bool_), *(part.cut_off for part in parts)]
        return cls((text for part in parts for text in part), np.concatenate(marks))


# A smaller share of records without a text is in notes alone, not in an answer.
FEW_LOST = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Texts with a name and a digest; `notes` list what the reader left out.

    `groups` names the group of each text (its prompt, document or author) where texts are not independent. `cut_off`
    is true for a generated text that a limit of the length ended. `prompt_field` and `id_field` name the fields of the
    file that `contexts` and `ids` come from. `lost` counts, by reason, the records that should have had a text.
    `is_broken` is true for lines that look like parts of longer texts. `n_blank` is the number of blank texts left out.

    >>> sample = Sample.of(["a cat sat", "", "a dog ran"], name="pets")
    >>> len(sample), sample.notes
    (2, ('1 blank text left out',))
    """

    texts: pa.Array
    name: str
    digest: str
    ids: pa.Array | None = None
    contexts: pa.Array | None = None
    notes: tuple[str, ...] = ()
    groups: pa.Array | None = None
    cut_off: pa.Array | None = None
    prompt_field: str | None = None
    id_field: str | None = None
    lost: tuple[tuple[str, int], ...] = ()
    is_broken: bool = False
    n_blank: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and (self.digest, self.name) == (other.digest, other.name)

    def __hash__(self) -> int:
        return hash((self.digest, self.name))

    @classmethod
    def of(
        cls,
        texts: Iterable[str] | pa.Array,
        *,
        name: str = "sample",
        ids: pa.Array | None = None,
        contexts: pa.Array | None = None,
        notes: tuple[str, ...] = (),
        groups: Iterable[Any] | pa.Array | None = None,
        cut_off: pa.Array | None = None,
    ) -> Self:
        """Build a sample; blank texts are left out, counted and noted, never dropped silently.

        `groups` names the group of each text: one value per text, none of them missing. Without `cut_off`, it is that
        of `GeneratedTexts`.
        """
        if cut_off is None and isinstance(texts, GeneratedTexts):
            cut_off = pa.array(texts.cut_off)
        array = as_text_array(texts, name)
        groups = None if groups is None else _group_array(groups, len(array), name)
        kept = np.flatnonzero(np.asarray(is_not_blank(array)))
        blank = len(array) - len(kept)
        if blank:
            array, ids, contexts, groups, cut_off = _taken(pa.array(kept), array, ids, contexts, groups, cut_off)
            notes = (*notes, f"{many(blank, 'blank text')} left out")
        if groups is not None and groups.null_count:
            index = pc.index(pc.is_null(groups), True).as_py() + 1
            raise InputError(f"{name}: text {index} has no group; wanted one group per text")
        lost = (("blank text|blank texts", blank),) if blank else ()
        return cls(array, name, digest_of(array), ids, contexts, notes, groups, cut_off, lost=lost, n_blank=blank)

    def take(self, indices: NDArray[np.int64]) -> Self:
        """The texts at these indices, in this order."""
        chosen = pa.array(indices)
        columns = (self.texts, self.ids, self.contexts, self.groups, self.cut_off)
        texts, ids, contexts, groups, cut_off = _taken(chosen, *columns)
        fields = self.prompt_field, self.id_field, self.lost, self.is_broken, self.n_blank
        return type(self)(texts, self.name, digest_of(texts), ids, contexts, self.notes, groups, cut_off, *fields)

    def count_independent(self) -> int:
        """How many independent things there are: the groups, or the texts where there are no groups."""
        return len(self) if self.groups is None else group_numbers(self.groups)[0]

    def cut(self, size: int, rng: np.random.Generator, *, groups: int | None = None) -> Self:
        """At most about `size` random texts in their original order; the sample itself if it is not larger.

        If there are groups, whole ones are kept, and at most `groups` of them.
        """
        if self.groups is not None and groups is not None:
            count, numbers = group_numbers(self.groups)
            if count > groups:
                chosen = np.zeros(count, dtype=bool)
                chosen[rng.permutation(count)[:groups]] = True
                return self.take(np.flatnonzero(chosen[numbers])).cut(size, rng)
        return self if size >= len(self) else self.split(size, rng)[0]

    def split(self, size: int, rng: np.random.Generator) -> tuple[Self, Self]:
        """About `size` random texts and the rest, each in the original order.

        No group is divided, so with groups the size is the nearest possible; without groups it is exact.
        """
        if self.groups is None:
            order = rng.permutation(len(self))
            return self.take(np.sort(order[:size])), self.take(np.sort(order[size:]))
        count, groups = group_numbers(self.groups)
        order = rng.permutation(count)
        reached = np.cumsum(np.bincount(groups, minlength=count)[order])
        inside = np.zeros(count, dtype=bool)
        inside[order[: int(np.argmin(np.abs(reached - size))) + 1]] = True
        return self.take(np.flatnonzero(inside[groups])), self.take(np.flatnonzero(~inside[groups]))


def group_numbers(*groups: pa.Array) -> tuple[int, NDArray[np.int64]]:
    """How many different groups there are, and the number of each text's group over all samples."""
    pooled = pa.concat_arrays([part.cast(TEXT) for part in groups]).dictionary_encode()
    return len(pooled.dictionary), np.asarray(pooled.indices, dtype=np.int64)


def _taken(places: pa.Array, *columns: pa.Array | None) -> tuple[pa.Array | None, ...]:
    return tuple(None if column is None else column.take(places) for column in columns)


def _group_array(groups: Iterable[Any] | pa.Array, size: int, name: str) -> pa.Array:
    """The group of each text as strings; blank texts, which are left out, need none."""
    if isinstance(groups, pa.ChunkedArray):
        groups = groups.combine_chunks()
    if not isinstance(groups, pa.Array):
        groups = pa.array([None if group is None else str(group) for group in groups], type=TEXT)
    if len(groups) != size:
        raise InputError(f"{name}: {len(groups):,} groups for {size:,} texts; wanted one group per text")
    return groups.cast(TEXT)


# Trimmed texts are copies, so only so many are trimmed at a time.
_TRIMMED = 10_000


def is_not_blank(texts: pa.Array) -> pa.Array:
    """True where a text holds anything but white space."""
    parts = [texts.slice(start, _TRIMMED) for start in range(0, max(len(texts), 1), _TRIMMED)]
    filled = [pc.greater(pc.binary_length(pc.utf8_trim_whitespace(part)), 0) for part in parts]
    return pc.fill_null(pa.concat_arrays(filled), False)


def as_text_array(texts: Iterable[str] | pa.Array, name: str) -> pa.Array:
    """One contiguous Arrow string array from any iterable of strings, or an error that names the odd one out."""
    if isinstance(texts, str):
        raise InputError(f"{name}: one string given; wanted a list of texts")
    if isinstance(texts, Mapping):
        keys = ", ".join(repr(str(key)) for key in list(texts)[:3])
        raise InputError(f"{name}: a dict ({shortened(keys)}); wanted a list of texts, such as one of its values")
    if hasattr(texts, "columns") and hasattr(texts, "head"):
        raise InputError(f"{name}: a data frame; wanted one of its columns, or read_sample(frame, field=...)")
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if isinstance(texts, pa.Array):
        return _from_arrow(texts, name)
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputError(f"{name}: {type(texts).__name__}; wanted a list of texts")
    values = list(texts)
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(f"{name}: text {index + 1} is {type(value).__name__} ({value!r:.40}); wanted a string")
    try:
        return pa.array(values, type=TEXT)
    except (UnicodeEncodeError, pa.ArrowInvalid) as error:
        raise InputError(f"{name}: a text cannot be written as UTF-8: {error}") from None


def _from_arrow(texts: pa.Array, name: str) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    is_text = pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)
    if not (is_text or str(texts.type) == "string_view" or pa.types.is_null(texts.type)):
        raise InputError(f"{name}: a column of type {texts.type}; wanted strings")
    return texts.cast(TEXT)
