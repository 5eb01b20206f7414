"""Model files: one safetensors file per model, with a versioned header.

The metadata of the file have `format` ("textassay model"), `version`, `kind` and `config` (JSON). Nothing in a file is
executed. A kind of model is a line in `KINDS`: a module with the function `restored(config, tensors)`, whose models
have `kind`, `config()` and `tensors()`.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import I64, U8
from textassay.corpus.files.reading import open_regular
from textassay.corpus.files.writing import replace_file
from textassay.corpus.printable import quoted, shortened
from textassay.errors import InputError
from textassay.models.base import Generator

FORMAT, VERSION = "textassay model", "1"
EXTENSION = ".safetensors"
# The module of each kind of model file.
KINDS: dict[str, str] = {
    "gpt2": "textassay.models.neural.gpt2",
    "lstm": "textassay.models.neural.lstm",
    "ngram": "textassay.models.ngrams.ngram",
    "oracle": "textassay.models.oracle",
}
Tensors = dict[str, NDArray[Any]]


class Storable(Protocol):
    """A model that can be saved: everything that it needs is in `config` (JSON values) and `tensors`."""

    @property
    def kind(self) -> str: ...

    def config(self) -> dict[str, Any]:
        """Settings as JSON values."""
        ...

    def tensors(self) -> Tensors:
        """Arrays by name."""
        ...


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The content of a model file."""

    where: str
    kind: str
    config: dict[str, Any]
    tensors: Tensors

    def need(self, name: str, kind: str, dimensions: int = 1) -> NDArray[Any]:
        """The tensor of this name, or an error if it is missing or of another type (`int64`) or shape."""
        found = self.tensors.get(name)
        if found is None:
            raise damaged(self.where, f"no tensor {name!r}; tensors are {quoted(sorted(self.tensors))}")
        if found.dtype != np.dtype(kind) or found.ndim != dimensions:
            seen = f"{found.dtype} in {found.ndim} dimensions"
            raise damaged(self.where, f"tensor {name!r} is {seen}; wanted {kind} in {dimensions}")
        return found

    def setting(self, name: str, kind: type) -> Any:
        """The value of `config` of this name, or an error if it is missing or of another type."""
        value = self.config.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise damaged(self.where, f"setting {name!r} is {value!r:.40}; wanted {kind.__name__}")
        return value


def damaged(where: str, why: str) -> InputError:
    """The error for a model file whose content is not what its header promises."""
    return InputError(f"{where}: a damaged model file: {why}")


def save(model: Storable, path: str | os.PathLike[str]) -> None:
    """Save a model; the file is complete or not changed at all.

    Parameters
    ----------
    model
        A model that was trained or loaded.
    path
        The file, whose name ends in `.safetensors`.
    """
    from safetensors.numpy import save as packed

    target = check_target(path)
    header = {"format": FORMAT, "version": VERSION, "kind": model.kind, "config": json.dumps(model.config())}
    arrays = {name: np.ascontiguousarray(array) for name, array in model.tensors().items()}
    replace_file(target, packed(arrays, metadata=header))


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path of a file to save a model in, or an error if its name has another ending."""
    target = Path(os.path.expanduser(path))
    if target.suffix != EXTENSION:
        raise InputError(f"{shortened(str(target))}: not the name of a model file; wanted one that ends in {EXTENSION}")
    return target


def load(path: str | os.PathLike[str]) -> Generator:
    """Load a model that was saved with `save`.

    Parameters
    ----------
    path
        The model file.

    Returns
    -------
    Generator
        The model, of the kind that the file states.
    """
    file = read(path)
    module = import_module(KINDS[file.kind])
    model: Generator = module.restored(file)
    return model


def read(path: str | os.PathLike[str], *, kind: str | None = None) -> ModelFile:
    """The content of a model file, or an error if it is not one, damaged, of another version or of another kind."""
    from safetensors import SafetensorError, safe_open

    where = shortened(os.fsdecode(path))
    open_regular(path).close()  # one error for files that do not exist or cannot be read
    try:
        with safe_open(os.path.expanduser(path), framework="np") as file:
            header = file.metadata() or {}
            found, config = _checked(where, header, kind)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        why = shortened(" ".join(str(error).split()), 120)
        raise InputError(f"{where}: not a model file, or damaged or cut off ({why}); wanted {EXTENSION}") from None
    _check_finite(where, tensors)
    return ModelFile(where, found, config, tensors)


def _check_finite(where: str, tensors: Tensors) -> None:
    for name, array in tensors.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise damaged(where, f"tensor {shortened(repr(name), 60)} has values that are not finite numbers")


def _checked(where: str, header: Mapping[str, str], wanted: str | None) -> tuple[str, dict[str, Any]]:
    """The kind and the settings in a header."""
    if header.get("format") != FORMAT:
        seen = f"format {header['format']!r:.40}" if "format" in header else "no format in its header"
        raise InputError(f"{where}: a safetensors file with {seen}; wanted format {FORMAT!r}")
    if header.get("version") != VERSION:
        seen = f"{header.get('version')!r:.20}"
        raise InputError(f"{where}: a model file of version {seen}; this textassay reads version {VERSION!r}")
    kind = header.get("kind", "")
    known = [wanted] if wanted else sorted(KINDS)
    if kind not in known:
        raise InputError(f"{where}: a model of kind {kind!r:.40}; wanted {quoted(known)}")
    try:
        config = json.loads(header.get("config", ""))
    except (ValueError, RecursionError):
        raise damaged(where, "its settings are not JSON") from None
    if not isinstance(config, dict):
        raise damaged(where, f"its settings are a {type(config).__name__}; wanted an object")
    return kind, config


def packed_strings(strings: Sequence[str]) -> tuple[U8, I64]:
    """Strings as the bytes of their UTF-8 text and the places where each begins, with the end of the last.

    >>> content, offsets = packed_strings(["a", "", "né"])
    >>> offsets.tolist(), unpacked_strings(content, offsets, where="file")
    ([0, 1, 1, 4], ['a', '', 'né'])
    """
    encoded = [string.encode() for string in strings]
    offsets = np.concatenate(([0], np.cumsum([len(part) for part in encoded], dtype=np.int64)))
    return np.frombuffer(b"".join(encoded), np.uint8), offsets.astype(np.int64)


def unpacked_strings(content: U8, offsets: I64, *, where: str) -> list[str]:
    """The strings that were packed, or an error if bytes and places do not belong together."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(content) or (np.diff(offsets) < 0).any():
        raise damaged(where, "the places of its words do not fit their bytes")
    data, bounds = content.tobytes(), offsets.tolist()
    try:
        return [data[start:stop].decode() for start, stop in pairwise(bounds)]
    except UnicodeDecodeError:
        raise damaged(where, "a word is not UTF-8") from None
