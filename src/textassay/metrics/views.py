"""Material: one sample and the settings under which views are built from it, each view built once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import Bool
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import Tokenizer, get_tokenizer
from textassay.encoders.base import Encoder
from textassay.errors import InputError


class View(Protocol):
    """What a metric reads: `of` a part, and `merge`, such that any cut of a sample merges to the same view.

    A class with `shared = True` reads the texts and the settings only, and is built once for all materials of both.
    """

    @classmethod
    def of(cls, material: "Material", /) -> Self: ...

    def merge(self, other: Self, /) -> Self: ...


class ResampledView(View, Protocol):
    """A view that can be taken of parts of a pool: what intervals and tests by resampling need."""

    @classmethod
    def resample(cls, pool: "Pool", resamples: "Resamples", /) -> Iterator[tuple[Self, ...]]:
        """Views of parts of a pool: in order of the rows, a tuple with one view for each of the masks.

        A view may serve several rows at once with a leading axis on its arrays, if the metrics that read it return one
        value a row.
        """
        ...


@dataclass(frozen=True, eq=False)
class Resamples:
    """Which pooled texts go into which sample: `units` names the unit of each text, `masks` choose units.

    Each mask stands for one sample and has one row a resample and one column a unit. Texts of a unit move together.
    """

    units: NDArray[np.int64]
    masks: tuple[Bool, ...]

    @property
    def n_units(self) -> int:
        """Columns of the masks."""
        return self.masks[0].shape[1]


T = TypeVar("T")
V = TypeVar("V", bound=View)


@dataclass(frozen=True)
class Settings:
    """What the views of a run have in common; what a metric's views read of it stands in its signature."""

    tokenizer: Tokenizer = field(default_factory=get_tokenizer)
    encoder: Encoder | None = None
    _shared: WeakValueDictionary[tuple[type[Any], str], Any] = field(
        default_factory=WeakValueDictionary, init=False, repr=False, compare=False
    )

    @property
    def required_encoder(self) -> Encoder:
        """The encoder, or an error where none was chosen."""
        if self.encoder is None:
            raise InputError("no encoder chosen; metrics on sentence vectors need one, such as --encoder lsa")
        return self.encoder

    def signature(self, kinds: Iterable[type]) -> str:
        """The settings that views of these kinds read, as signature fields."""
        if any(needs_encoder(kind) for kind in kinds):
            return f"enc:{self.required_encoder.name}"
        return f"tok:{self.tokenizer.signature}"


def needs_encoder(kind: type) -> bool:
    """True for views on sentence vectors."""
    return getattr(kind, "reads", "tokenizer") == "encoder"


@dataclass(frozen=True, eq=False)
class Material:
    """A sample and its views, built on first use."""

    sample: Sample
    settings: Settings = field(default_factory=Settings)
    _views: dict[type[Any], Any] = field(default_factory=dict, repr=False)

    def view(self, kind: type[V], /) -> V:
        """The view of this kind, built once."""
        if kind not in self._views:
            self._views[kind] = self._shared(kind) if getattr(kind, "shared", False) else kind.of(self)
        view: V = self._views[kind]
        return view

    def _shared(self, kind: type[V]) -> V:
        """The view that another material of the same texts and settings has, as long as that one lives."""
        key = (kind, self.sample.digest)
        view: V | None = self.settings._shared.get(key)
        if view is None:
            view = self.settings._shared[key] = kind.of(self)
        return view

    def has(self, kind: type[Any], /) -> bool:
        """True when the view of this kind is there already."""
        return kind in self._views


@dataclass(frozen=True, eq=False)
class Pool:
    """Samples whose texts are thrown together for resampling, in this order."""

    parts: tuple[Material, ...]
    _made: dict[type[Any], Any] = field(default_factory=dict, repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Texts in each part."""
        return tuple(len(part.sample) for part in self.parts)

    def merged(self, kind: type[V], /) -> V:
        """The pooled view of this kind, merged once."""
        return self.once(kind, lambda: reduce(lambda a, b: a.merge(b), (part.view(kind) for part in self.parts)))

    def once(self, kind: type[T], make: Callable[[], T], /) -> T:
        """What `make` returns, made once and kept under its type."""
        if kind not in self._made:
            self._made[kind] = make()
        made: T = self._made[kind]
        return made
