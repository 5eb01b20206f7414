"""The hub: the folder of a model known by name, from the local cache where it is whole, else downloaded."""

import json
import re
import sys
from pathlib import Path

from textassay.corpus.errors import InputError, MissingExtra
from textassay.corpus.printable import shortened

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
# What no loader here reads: weights for other programs, and what is written about a model.
UNREAD = (*PICKLED, ".h5", ".msgpack", ".onnx", ".ot", ".gguf", ".tflite", ".mlmodel", ".md", ".png", ".jpg", ".pdf")
_FOREIGN = ("onnx/*", "openvino/*", "coreml/*", "original/*")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_SECONDS = 5.0


def bad_model(asked: str, why: object) -> InputError:
    """The error about a model, on one line whatever a library had to say."""
    return InputError(f"encoder '{shortened(asked, 120)}': {shortened(' '.join(str(why).split()), 300)}")


def hub_folder(asked: str, *names: str, needs: str = "config.json") -> Path:
    """The folder of the first of these names that is cached whole, else of the first that the hub knows.

    `needs` is a file without which what is cached does not count: a model that was cached for another use may lack it.
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
            raise bad_model(asked, "no such folder, and not a name that a model can have") from None
        if isinstance(found, str) and _is_whole(Path(found).parent):
            return Path(found).parent
    return _downloaded(asked, names)


def _is_whole(folder: Path) -> bool:
    """True when all weights and modules are there: a cache may hold a tokenizer only, or half of a download."""
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
            # One quick question first: a download would try again and again where there is no network.
            huggingface_hub.HfApi().model_info(name, timeout=_SECONDS)
        except GatedRepoError:
            raise bad_model(asked, "this model is gated: its owner must grant access first") from None
        except RepositoryNotFoundError:
            continue
        except Exception as error:
            why = "no such folder, not whole in the local model cache, and the model hub cannot be reached"
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
