"""Model folders: which files make up a model, the digest that fixes its vectors, and what is refused unread."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textassay.views.encoders.hub import PICKLED, UNREAD, bad_model, hub_folder


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model that was checked: all its weights are safetensors and all its parts lie inside."""

    asked: str
    path: Path
    parts: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The last component of the name that was asked for, fit for a signature."""
        name = self.asked.split(":", 1)[-1]
        last = os.path.basename(os.path.abspath(os.path.expanduser(name)))
        return re.sub(r"[^\w.+-]", "_", last) or "model"

    @property
    def files(self) -> list[Path]:
        """The files that decide the vectors, in a fixed order."""
        names = {file for part in self.parts for file in _files(part, deep=part != self.path)}
        return sorted(names, key=self._name)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix()

    @property
    def digest(self) -> str:
        """Digest (blake2b, 16 hex digits) of those files and their names."""
        whole = hashlib.blake2b(digest_size=8)
        for file in self.files:
            try:
                with file.open("rb") as stream:
                    content = hashlib.file_digest(stream, "blake2b").digest()
            except OSError as error:
                raise bad_model(self.asked, f"{file.name} cannot be read: {error.strerror}") from None
            whole.update(self._name(file).encode() + b"\0" + content)
        return whole.hexdigest()

    def settings(self, name: str) -> dict[str, Any]:
        """A JSON object of the folder; empty where the file is missing."""
        return _settings(self.asked, self.path / name)

    @property
    def modules(self) -> list[dict[str, Any]]:
        """The modules of a sentence-transformers model, in order; empty where it lists none."""
        return _modules(self.asked, self.path)


_OWN_MODULES = "sentence_transformers."
_ACTIVATIONS = "torch.nn."


def find_model(asked: str, *names: str, needs: str = "config.json") -> ModelFolder:
    """The model asked for as KIND:NAME_OR_PATH; `names` are what the hub may know it by, with a file it needs."""
    path = os.path.expanduser(asked.split(":", 1)[1])
    if os.path.isdir(path):
        return checked(asked, Path(path))
    if os.path.exists(path):
        raise bad_model(asked, "is a file; wanted a folder with a model, or the name of one")
    return checked(asked, hub_folder(asked, *names, needs=needs))


def checked(asked: str, path: Path) -> ModelFolder:
    """The model in a folder, or an error for what cannot be loaded safely."""
    if not any((path / name).is_file() for name in ("config.json", "modules.json")):
        raise bad_model(asked, "no model in this folder; wanted config.json or modules.json in it")
    if (path / "adapter_config.json").is_file():
        raise bad_model(asked, "is an adapter; wanted a whole model (merge it into its base model first)")
    folder = ModelFolder(asked, path, (path, *_module_folders(asked, path)))
    for part in folder.parts:
        _refuse_pickles(asked, part)
    if not any(file.suffix == ".safetensors" for file in folder.files):
        raise bad_model(asked, "no weights in this folder; wanted safetensors files")
    return folder


def _module_folders(asked: str, path: Path) -> Iterator[Path]:
    for module in _modules(asked, path):
        # Modules without settings, such as Normalize, need no folder.
        if module["path"].strip("./") and (path / module["path"]).is_dir():
            yield _inside(asked, path, module["path"])
    # A router at the top keeps its routes in folders of their own.
    for name in _settings(asked, path / "router_config.json").get("types", {}):
        if (path / name).is_dir():
            yield _inside(asked, path, name)


def _inside(asked: str, path: Path, name: str) -> Path:
    if os.path.isabs(name) or ".." in Path(name).parts:
        raise bad_model(asked, f"its module {name!r} lies outside of the folder")
    return path / name


def _modules(asked: str, path: Path) -> list[dict[str, Any]]:
    file = path / "modules.json"
    found = _read_json(asked, file) if file.is_file() else []
    if not isinstance(found, list) or not all(_is_module(module) for module in found):
        raise bad_model(asked, "modules.json wants a list of objects, each with a type and a path")
    for module in found:
        # Any other type names code of the model's own, which older releases of the library would import and run.
        if not module["type"].startswith(_OWN_MODULES):
            raise bad_model(asked, f"its module {module['type']!r} is code that comes with the model; it is never run")
        _refuse_foreign_function(asked, _inside(asked, path, module["path"]) / "config.json")
    return found


def _refuse_foreign_function(asked: str, file: Path) -> None:
    function = _settings(asked, file).get("activation_function", _ACTIVATIONS)
    if not str(function).startswith(_ACTIVATIONS):
        raise bad_model(asked, f"its activation {function!r} is none of torch's own; nothing else is imported")


def _is_module(module: object) -> bool:
    return isinstance(module, dict) and all(isinstance(module.get(key), str) for key in ("type", "path"))


def _refuse_pickles(asked: str, part: Path) -> None:
    """Pickled weights can run code when they are loaded, so a part that has no others cannot be used."""
    names = sorted(file.name for file in part.iterdir() if file.is_file())
    pickled = [name for name in names if name.endswith(PICKLED) and "model" in name]
    # What the libraries look for by name; any other safetensors file would be passed over for the pickled one.
    safe = {"model.safetensors", "model.safetensors.index.json"} & set(names)
    if pickled and not safe:
        raise bad_model(asked, f"only pickled weights ({pickled[0]}), which can run code; wanted safetensors files")


def _files(part: Path, *, deep: bool) -> Iterator[Path]:
    for file in part.rglob("*") if deep else part.iterdir():
        if file.is_file() and not file.name.startswith(".") and not file.name.endswith(UNREAD):
            yield file


def _settings(asked: str, file: Path) -> dict[str, Any]:
    found = _read_json(asked, file) if file.is_file() else {}
    if not isinstance(found, dict):
        raise bad_model(asked, f"{file.name} holds a {type(found).__name__}; wanted an object")
    return found


def _read_json(asked: str, file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise bad_model(asked, f"{file.name} cannot be read as JSON: {error}") from None
