"""Model files: the folder of a model, its checks and digest, and the lookup of a model by its hub name.

Everything that is loaded is a file of the folder, is not pickled and is in the digest. For this, the digest covers all
files below the folder except those that no loader reads, links may not lead out of the folder, and every file that the
settings name has to be one of the files of the digest. All of this is checked before a library opens the folder.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textassay.corpus.files.reading import open_regular
from textassay.corpus.printable import shortened
from textassay.corpus.values import read_json
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
        modules = read_json(folder / "modules.json") if (folder / "modules.json").is_file() else []
        indexes = [read_json(file) for file in folder.glob("*.safetensors.index.json")]
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
    """A checked model folder: all weights that are loaded are safetensors files inside of it."""

    asked: str
    path: Path

    @property
    def label(self) -> str:
        """The last component of the requested name, in a form for signatures."""
        name = self.asked.split(":", 1)[-1]
        last = os.path.basename(os.path.abspath(os.path.expanduser(name)))
        return re.sub(r"[^\w.+-]", "_", last) or "model"

    @property
    def files(self) -> list[Path]:
        """All files that a loader may read, in a fixed order."""
        return sorted(_files(self.asked, self.path), key=self._name)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix()

    @property
    def digest(self) -> str:
        """Digest (blake2b, 16 hex digits) of those files and their names."""
        whole = hashlib.blake2b(digest_size=8)
        for file in self.files:
            try:
                with open_regular(file) as stream:
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
    folder = ModelFolder(asked, path)
    for module in _all_modules(asked, path):
        _check_module(asked, path / module.path, module.kind)
    files = folder.files
    if not any(file.suffix == ".safetensors" for file in files):
        raise bad_model(asked, "no weights in this folder; wanted safetensors files")
    for file in files:
        _check_named(asked, file, frozenset(files))
    return folder


class _Module(NamedTuple):
    """A module: its folder, relative to that of the model, and the last part of its type."""

    path: str
    kind: str


_OWN_MODULES = "sentence_transformers."
_ACTIVATIONS = "torch.nn."
_TRANSFORMERS = ("Transformer", "MLMTransformer", "CLIPModel")
_ROUTERS = ("Router", "Asym")


def _modules(asked: str, path: Path) -> list[dict[str, Any]]:
    """The modules in `modules.json`; none if there is no such file."""
    file = path / "modules.json"
    found = _read_json(asked, file) if file.is_file() else []
    if not isinstance(found, list) or not all(_is_module(module) for module in found):
        raise bad_model(asked, "modules.json is not a list of objects, each with a type and a path")
    return found


def _is_module(module: object) -> bool:
    return isinstance(module, dict) and all(isinstance(module.get(key), str) for key in ("type", "path"))


def _all_modules(asked: str, root: Path) -> list[_Module]:
    """The modules of a model and of its routers; a folder with `config.json` is a transformer as well."""
    waiting = [(module["path"], module["type"]) for module in _modules(asked, root)]
    found = [_Module("", "Transformer")] if (root / "config.json").is_file() else []
    while waiting:
        path, kind = waiting.pop()
        # Any other type names code that comes with the model, which older releases of the library would import and run.
        if not str(kind).startswith(_OWN_MODULES):
            raise bad_model(asked, f"its module {kind!r} is code that comes with the model; it is never run")
        if os.path.isabs(path) or ".." in Path(path).parts:
            raise bad_model(asked, f"its module {path!r} is outside of the folder")
        module = _Module(Path(path).as_posix(), kind.rsplit(".", 1)[-1])
        if module not in found:
            found.append(module)
            waiting += [(f"{path}/{name}", kind) for name, kind in _routes(asked, root / path, module.kind).items()]
    return found


def _routes(asked: str, part: Path, kind: str) -> dict[str, Any]:
    """The types of the modules of a router, by folder."""
    if kind not in _ROUTERS:
        return {}
    routes = (_settings(asked, part / "router_config.json") or _settings(asked, part / "config.json")).get("types", {})
    if not isinstance(routes, dict):
        raise bad_model(asked, "the types of its router are not an object")
    for name in routes:
        if os.path.isabs(name):
            raise bad_model(asked, f"its module {name!r} is outside of the folder")
    return routes


def _check_module(asked: str, part: Path, kind: str) -> None:
    """Raise an error for a module that would import code, another model, or pickled weights."""
    if not part.is_dir():
        return  # Modules without settings, such as Normalize, need no folder.
    if (part / "adapter_config.json").is_file():
        raise bad_model(asked, "is an adapter; wanted a whole model (merge it into its base model first)")
    _refuse_pickles(asked, part, kind)
    function = _settings(asked, part / "config.json").get("activation_function", _ACTIVATIONS)
    if kind == "Dense" and not str(function).startswith(_ACTIVATIONS):
        raise bad_model(asked, f"its activation {function!r} is not one of torch; nothing else is imported")
    tokenizer = _settings(asked, part / "wordembedding_config.json").get("tokenizer_class", _OWN_MODULES)
    if not str(tokenizer).startswith(_OWN_MODULES):
        raise bad_model(asked, f"its tokenizer {tokenizer!r} is code that comes with the model; it is never run")


def _refuse_pickles(asked: str, part: Path, kind: str) -> None:
    """Raise an error if a part has only pickled weights, which can run code when they are loaded."""
    names = sorted(file.name for file in part.iterdir() if file.is_file())
    pickled = [name for name in names if name.endswith(PICKLED) and "model" in name]
    # The names that the libraries look for; they would load the pickled file instead of any other safetensors file.
    # Only transformers read an index.
    wanted = {"model.safetensors", *(["model.safetensors.index.json"] if kind in _TRANSFORMERS else [])}
    if pickled and not wanted & set(names):
        raise bad_model(asked, f"only pickled weights ({pickled[0]}), which can run code; wanted safetensors files")


def _files(asked: str, folder: Path) -> Iterator[Path]:
    """The files below a folder that a loader may read, or an error for one that lies elsewhere."""
    root = folder.resolve()
    # In the cache of the hub's library, the files of a model are links to the folder of its contents.
    roots = (root, root.parents[1] / "blobs") if root.parent.name == "snapshots" else (root,)
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        read = [name for name in names if not name.startswith(".") and not name.endswith(UNREAD)]
        for file in (Path(place, name) for name in (*folders, *read)):
            if file.is_symlink() and (file.name in folders or not any(map(file.resolve().is_relative_to, roots))):
                raise bad_model(
                    asked, f"{file.name} is a link to a folder, or to what lies outside; wanted the content"
                )
            if file.name in read and not file.is_file():
                raise bad_model(asked, f"{file.name} is not a regular file")
        yield from (Path(place, name) for name in read)


_INDEX = ".safetensors.index.json"
# Options that sentence-transformers passes on to the loaders; their text values could name other files or models.
_LOADER_OPTIONS = ("model_args", "tokenizer_args", "config_args", "model_kwargs", "processor_kwargs", "config_kwargs")
_HARMLESS = ("attn_implementation", "dtype", "torch_dtype", "padding", "padding_side", "truncation", "truncation_side")


def _check_named(asked: str, file: Path, known: frozenset[Path]) -> None:
    """Raise an error if a settings file names weights, or another file, that are not among the known files."""
    names: Sequence[object] = []
    ending = ""
    if file.name.endswith(_INDEX):
        names, ending = _weight_names(asked, file), ".safetensors"
    elif file.name == "config.json":
        _check_counts(asked, _settings(asked, file))
        weights = _settings(asked, file).get("transformers_weights")
        names, ending = [] if weights is None else [weights], ".safetensors"
    elif file.name == "tokenizer_config.json":
        names = _tokenizer_names(_settings(asked, file), file.parent)
    elif file.name.startswith("sentence_") and file.name.endswith("_config.json"):
        _refuse_other_models(asked, file)
    for name in names:
        inside = isinstance(name, str) and Path(os.path.normpath(file.parent / name)) in known
        if not inside or not str(name).removesuffix(".index.json").endswith(ending):
            wanted = f"wanted {ending[1:]} files of this folder" if ending else "wanted files of this folder"
            raise bad_model(asked, f"{file.name} names {shortened(str(name), 80)!r}; {wanted}")


# The most parts of a network that are made one by one before any weight is read.
_MOST_PARTS = {"layer": 1000, "expert": 10_000, "head": 100_000, "label": 100_000, "position": 10**8}


def _check_counts(asked: str, settings: dict[str, Any]) -> None:
    """Raise an error for numbers of layers and other parts that no model has: making them would not end."""
    for key, value in settings.items():
        if isinstance(value, dict):
            _check_counts(asked, value)
        most = next((most for part, most in _MOST_PARTS.items() if part in key), None)
        if most is not None and isinstance(value, int | float) and value > most:
            raise bad_model(asked, f"config.json sets {key} to {shortened(str(value), 40)}; wanted at most {most:,}")


def _weight_names(asked: str, file: Path) -> list[object]:
    """The files that an index names."""
    found = _settings(asked, file).get("weight_map")
    if not isinstance(found, dict):
        raise bad_model(asked, f"{file.name} has no weight_map")
    return list(dict.fromkeys(map(str, found.values())))


def _tokenizer_names(settings: dict[str, Any], part: Path) -> list[object]:
    """The existing files that the settings of a tokenizer name; old models have paths of their authors' machines."""
    versions = settings.get("fast_tokenizer_files")
    files = [value for key, value in settings.items() if key.endswith(("_file", "_spm")) and isinstance(value, str)]
    files += [str(name) for name in versions] if isinstance(versions, list) else []
    return [name for name in files if name and os.path.exists(part / name)]


def _refuse_other_models(asked: str, file: Path) -> None:
    settings = _settings(asked, file)
    options = [options for key in _LOADER_OPTIONS if isinstance(options := settings.get(key), dict)]
    words = {key: value for option in options for key, value in option.items() if isinstance(value, str)}
    words |= {"tokenizer_name_or_path": name} if (name := settings.get("tokenizer_name_or_path")) else {}
    for key, value in words.items():
        if key not in _HARMLESS:
            raise bad_model(asked, f"{file.name} sets {key} to {shortened(str(value), 80)!r}; nothing else is loaded")


def _settings(asked: str, file: Path) -> dict[str, Any]:
    found = _read_json(asked, file) if file.is_file() else {}
    if not isinstance(found, dict):
        raise bad_model(asked, f"{file.name} holds a {type(found).__name__}; wanted an object")
    return found


def _read_json(asked: str, file: Path) -> Any:
    try:
        return read_json(file)
    except InputError as error:
        raise bad_model(asked, f"{file.name} cannot be read as JSON: {error}") from None
