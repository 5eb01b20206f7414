"""Model files: the folder of a model, its digest, and the lookup of a model by its hub name."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textassay.corpus.printable import shortened
from textassay.errors import InputError, MissingExtra

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
# Files that no loader reads: weights for other programs, and documentation.
UNREAD = (*PICKLED, ".h5", ".msgpack", ".onnx", ".ot", ".gguf", ".tflite", ".mlmodel", ".md", ".png", ".jpg", ".pdf")
_FOREIGN = ("onnx/*", "openvino/*", "coreml/*", "original/*")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_SECONDS = 5.0


def bad_model(asked: str, why: object) -> InputError:
    """The error about a model; a message of a library is shortened to one line."""
    return InputError(f"encoder '{shortened(asked, 120)}': {shortened(' '.join(str(why).split()), 300)}")


def hub_folder(asked: str, *names: str, needs: str = "config.json") -> Path:
    """The folder of the first of these names that is cached completely, otherwise of the first name on the hub.

    `needs` is a required file: a model that was cached for another purpose may lack it.
    """
    if not all(_NAME.fullmatch(name) for name in names):
        raise bad_model(asked, "no such folder")
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtra("sentence-transformers", "embed") from None
    for name in names:
        try:
            found = huggingface_hub.try_to_load_from_cache(name, needs)
        except ValueError:
            raise bad_model(asked, "no such folder, and not a valid name of a model") from None
        if isinstance(found, str) and _is_whole(Path(found).parent):
            return Path(found).parent
    return _downloaded(asked, names)


def _is_whole(folder: Path) -> bool:
    """True if all weights and modules exist: the cache may contain only a tokenizer or a partial download."""
    weights = {file.relative_to(folder).as_posix() for file in folder.rglob("*.safetensors") if file.is_file()}
    try:
        modules = json.loads((folder / "modules.json").read_bytes()) if (folder / "modules.json").is_file() else []
        indexes = [json.loads(file.read_bytes()) for file in folder.glob("*.safetensors.index.json")]
        shards = {shard for index in indexes for shard in index["weight_map"].values()}
        paths = [module["path"] for module in modules if not module["type"].endswith("Normalize")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(weights) and weights >= shards and all((folder / path).is_dir() for path in paths)


def _downloaded(asked: str, names: tuple[str, ...]) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    for name in names:
        try:
            # One quick request first: without a network, a download would retry many times.
            huggingface_hub.HfApi().model_info(name, timeout=_SECONDS)
        except GatedRepoError:
            raise bad_model(asked, "this model is gated: its owner must grant access first") from None
        except RepositoryNotFoundError:
            continue
        except Exception as error:
            why = "no such folder, not complete in the local model cache, and the model hub cannot be reached"
            raise bad_model(asked, f"{why} ({type(error).__name__})") from None
        return _fetched(asked, name)
    raise bad_model(asked, "no such folder, and the model hub has no model of this name")


def _fetched(asked: str, name: str) -> Path:
    import huggingface_hub
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    unread = [*(f"*{ending}" for ending in UNREAD), *_FOREIGN]
    hide = not sys.stderr.isatty() and not are_progress_bars_disabled()
    if hide:
        disable_progress_bars()
    try:
        return Path(huggingface_hub.snapshot_download(name, ignore_patterns=unread))
    except Exception as error:
        raise bad_model(asked, f"could not be downloaded: {error}") from None
    finally:
        if hide:
            enable_progress_bars()


@dataclass(frozen=True)
class ModelFolder:
    """A checked model folder: all its weights are safetensors and all its parts are inside of it."""

    asked: str
    path: Path
    parts: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The last component of the requested name, in a form for signatures."""
        name = self.asked.split(":", 1)[-1]
        last = os.path.basename(os.path.abspath(os.path.expanduser(name)))
        return re.sub(r"[^\w.+-]", "_", last) or "model"

    @property
    def files(self) -> list[Path]:
        """The files that determine the vectors, in a fixed order."""
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
        """A JSON object of the folder; empty if the file is missing."""
        return _settings(self.asked, self.path / name)

    @property
    def modules(self) -> list[dict[str, Any]]:
        """The modules of a sentence-transformers model, in order; empty if it lists none."""
        return _modules(self.asked, self.path)

    @property
    def first_part(self) -> str:
        """The folder of the first module of a sentence-transformers model; empty if it lists none."""
        modules = self.modules
        return modules[0]["path"] if modules else ""

    @property
    def maximum_length(self) -> int | None:
        """The number of tokens after which a sentence-transformers model cuts off a text, if it sets one."""
        first = self.first_part
        return self.settings(f"{first}/sentence_bert_config.json" if first else "sentence_bert_config.json").get(
            "max_seq_length"
        )


_OWN_MODULES = "sentence_transformers."
_ACTIVATIONS = "torch.nn."


def find_model(asked: str, *names: str, needs: str = "config.json") -> ModelFolder:
    """The model requested as KIND:NAME_OR_PATH; `names` are its possible names on the hub, `needs` a required file."""
    path = os.path.expanduser(asked.split(":", 1)[1])
    if os.path.isdir(path):
        return checked(asked, Path(path))
    if os.path.exists(path):
        raise bad_model(asked, "is a file; wanted a folder with a model, or the name of a model")
    return checked(asked, hub_folder(asked, *names, needs=needs))


def checked(asked: str, path: Path) -> ModelFolder:
    """The model in a folder, or an error if it cannot be loaded safely."""
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
    # A router at the top level has one folder per route.
    for name in _settings(asked, path / "router_config.json").get("types", {}):
        if (path / name).is_dir():
            yield _inside(asked, path, name)


def _inside(asked: str, path: Path, name: str) -> Path:
    if os.path.isabs(name) or ".." in Path(name).parts:
        raise bad_model(asked, f"its module {name!r} is outside of the folder")
    return path / name


def _modules(asked: str, path: Path) -> list[dict[str, Any]]:
    file = path / "modules.json"
    found = _read_json(asked, file) if file.is_file() else []
    if not isinstance(found, list) or not all(_is_module(module) for module in found):
        raise bad_model(asked, "modules.json is not a list of objects, each with a type and a path")
    for module in found:
        # Any other type names code that comes with the model, which older releases of the library would import and run.
        if not module["type"].startswith(_OWN_MODULES):
            raise bad_model(asked, f"its module {module['type']!r} is code that comes with the model; it is never run")
        _refuse_foreign_function(asked, _inside(asked, path, module["path"]) / "config.json")
    return found


def _refuse_foreign_function(asked: str, file: Path) -> None:
    function = _settings(asked, file).get("activation_function", _ACTIVATIONS)
    if not str(function).startswith(_ACTIVATIONS):
        raise bad_model(asked, f"its activation {function!r} is not one of torch; nothing else is imported")


def _is_module(module: object) -> bool:
    return isinstance(module, dict) and all(isinstance(module.get(key), str) for key in ("type", "path"))


def _refuse_pickles(asked: str, part: Path) -> None:
    """Raise an error if a part has only pickled weights, which can run code when they are loaded."""
    names = sorted(file.name for file in part.iterdir() if file.is_file())
    pickled = [name for name in names if name.endswith(PICKLED) and "model" in name]
    # The names that the libraries look for; they would load the pickled file instead of any other safetensors file.
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
