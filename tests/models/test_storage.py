"""Model files: what is saved is loaded, and every other file is one clear error."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from textassay.errors import InputError
from textassay.models import storage
from textassay.models.storage import ModelFile, Tensors, packed_strings, read, save, unpacked_strings


@dataclass(frozen=True)
class Toy:
    """A model with one number and one array."""

    size: int
    kind: str = "toy"

    def config(self) -> dict[str, Any]:
        return {"size": self.size}

    def tensors(self) -> Tensors:
        return {"values": np.arange(self.size)}


def restored(file: ModelFile) -> Any:
    assert file.need("values", "int64").tolist() == list(range(file.setting("size", int)))
    return Toy(file.setting("size", int))


def load(path: Path) -> Any:
    return storage.load(path)


@pytest.fixture(autouse=True)
def toy_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("toy_models")
    module.restored = restored  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy_models", module)
    monkeypatch.setitem(storage.KINDS, "toy", "toy_models")


def test_a_saved_model_is_loaded(tmp_path: Path) -> None:
    save(Toy(3), tmp_path / "toy.safetensors")
    assert load(tmp_path / "toy.safetensors") == Toy(3)
    assert [file.name for file in tmp_path.iterdir()] == ["toy.safetensors"]


def header(**changes: str) -> dict[str, str]:
    known = {"format": "textassay model", "version": "1", "kind": "toy", "config": json.dumps({"size": 2})}
    return {**known, **changes}


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({}, "a safetensors file with no format in its header; wanted format 'textassay model'"),
        (header(format="pt"), "a safetensors file with format 'pt'"),
        (header(version="2"), "a model file of version '2'; this textassay reads version '1'"),
        (header(kind="tree"), "a model of kind 'tree'; wanted 'ngram', 'toy'"),
        (header(config="{"), "its settings are not JSON"),
        (header(config="[1]"), "its settings are a list; wanted an object"),
        (header(config="{}"), "setting 'size' is None; wanted int"),
    ],
)
def test_other_files_are_errors(
    tmp_path: Path, metadata: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "KINDS", {"ngram": "none", "toy": "toy_models"})
    path = tmp_path / "model.safetensors"
    save_file({"values": np.arange(2)}, path, metadata=metadata or None)
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(str(path)[:100])
    assert problem in str(error.value)


def test_missing_and_wrong_tensors_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"other": np.arange(2)}, path, metadata=header())
    with pytest.raises(InputError, match="no tensor 'values'; tensors are 'other'"):
        load(path)
    save_file({"values": np.arange(2.0)}, path, metadata=header())
    with pytest.raises(InputError, match="tensor 'values' is float64 in 1 dimensions; wanted int64 in 1"):
        load(path)


@pytest.mark.parametrize("size", [0, 1, 7, 40, -1, -8])
def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path, size: int) -> None:
    path = tmp_path / "model.safetensors"
    save(Toy(300), path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match="not a model file, or damaged or cut off"):
        load(path)


def test_a_text_file_and_a_missing_file_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(InputError, match="no such file"):
        load(path)
    path.write_text("a cat sat\n" * 50)
    with pytest.raises(InputError, match="not a model file"):
        load(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="a directory; wanted a file"):
        load(path)


def test_another_kind_than_wanted_is_an_error(tmp_path: Path) -> None:
    save(Toy(3), tmp_path / "toy.safetensors")
    with pytest.raises(InputError, match="a model of kind 'toy'; wanted 'lstm'"):
        read(tmp_path / "toy.safetensors", kind="lstm")


def test_saving_replaces_the_whole_file_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "toy.safetensors"
    save(Toy(3), path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(Toy(4), path)
    assert load(path) == Toy(3)
    assert [file.name for file in tmp_path.iterdir()] == ["toy.safetensors"]


def test_the_name_of_a_model_file_has_its_ending(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"wanted one that ends in \.safetensors"):
        save(Toy(3), tmp_path / "toy.bin")


def test_strings_that_do_not_fit_are_errors() -> None:
    content, offsets = packed_strings(["né", "", "a"])
    assert unpacked_strings(content, offsets, where="file") == ["né", "", "a"]
    for wrong in (offsets[:-1], offsets[::-1], np.zeros(0, np.int64)):
        with pytest.raises(InputError, match="do not fit"):
            unpacked_strings(content, wrong, where="file")
    with pytest.raises(InputError, match="not UTF-8"):
        unpacked_strings(content, np.array([0, 2, 4]), where="file")
