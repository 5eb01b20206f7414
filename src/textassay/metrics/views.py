"""Views: what metrics read. A `Material` is one sample whose views are built once; a `Pool` joins several samples."""

from collections.abc import Callable, Hashable, Iterable, Iterator
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
from textassay.errors import InputError, Setting


class View(Protocol):
    """What a metric reads, built from a sample by `of`. Merging the views of any parts gives the view of the whole.

    A class with `reads = ("encoder",)` depends on the encoder, one with `reads = ("texts",)` on the texts only, one
    with `reads = ("tokenizer", "encoder")` on both, and any other on the tokenizer. A class with `shared = True`
    depends on the texts and the settings only. It is built once for all materials that have both in common. A view that
    intervals and tests resample also has a class method `resample(whole, resamples)`, where `whole` is the view of the
    pooled texts, of the class `source` if there is one and else of its own: it yields, in the order of the rows, a
    tuple with one view for each of the masks. Such a view may serve several rows at once, with a leading axis on its
    arrays, if the metrics that read it return one value per row.
    """

    @classmethod
    def of(cls, material: "Material", /) -> Self: ...

    def merge(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, eq=False)
class Resamples:
    """Which pooled texts go into which sample: `units` has the number of each text's unit, and `masks` choose units.

    There is one mask per sample, with one row per resample and one column per unit. Texts of one unit move together.
    """

    units: NDArray[np.int64]
    masks: tuple[Bool, ...]
    # Columns of the masks.
    n_units: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_units", self.masks[0].shape[1])


T = TypeVar("T")
V = TypeVar("V", bound=View)


class Memo:
    """Keeps what is expensive to compute; a subclass has the field `_made`."""

    _made: dict[Hashable, Any]

    def once(self, key: Hashable, make: Callable[[], T], /) -> T:
        """What `make` returns, computed once and kept under this key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


@dataclass(frozen=True)
class Settings:
    """What all views of a run share. A metric's signature names the settings that its views read."""

    tokenizer: Tokenizer = field(default_factory=get_tokenizer)
    encoder: Encoder | None = None
    # The markup that was taken out of the texts before any view was built.
    strip: str | None = None
    _shared: WeakValueDictionary[tuple[type[Any], str], Any] = field(
        default_factory=WeakValueDictionary, init=False, repr=False, compare=False
    )

    @property
    def required_encoder(self) -> Encoder:
        """The encoder, or an error if none was chosen."""
        if self.encoder is None:
            need = "no encoder chosen; metrics on sentence vectors need one, such as "
            raise InputError(need, Setting("encoder", "lsa"))
        return self.encoder


def read_by(kind: type) -> tuple[str, ...]:
    """What views of this class are built from: texts, the tokenizer, the encoder."""
    found: tuple[str, ...] = getattr(kind, "reads", ("tokenizer",))
    return found


def needs_encoder(kind: type) -> bool:
    """True for views on sentence vectors."""
    return "encoder" in read_by(kind)


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

    def build(self, kinds: Iterable[type[Any]], /) -> None:
        """Build the views of these kinds."""
        for kind in kinds:
            self.view(kind)

    def _shared(self, kind: type[V]) -> V:
        """The view of this kind, shared with every other material of the same texts and settings."""
        key = (kind, self.sample.digest)
        view: V | None = self.settings._shared.get(key)
        if view is None:
            view = self.settings._shared[key] = kind.of(self)
        return view

    def clear(self) -> None:
        """Free all views; they are built again when they are read again."""
        self._views.clear()

    def has(self, kind: type[Any], /) -> bool:
        """True if the view of this kind was built already."""
        return kind in self._views


@dataclass(frozen=True, eq=False)
class Pool(Memo):
    """Samples whose texts are pooled for resampling, in this order."""

    parts: tuple[Material, ...]
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def merged(self, kind: type[V], /) -> V:
        """The pooled view of this kind, merged once."""
        return self.once(kind, lambda: reduce(lambda a, b: a.merge(b), (part.view(kind) for part in self.parts)))

    def resample(self, kind: Any, resamples: Resamples, /) -> Iterator[tuple[Any, ...]]:
        """The views of this kind of the texts under each mask, in the order of the rows."""
        rows: Iterator[tuple[Any, ...]] = kind.resample(self.merged(getattr(kind, "source", kind)), resamples)
        return rows
