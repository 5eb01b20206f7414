"""Sentence-transformers models: their own modules, pooling and prompts, on batches without padding."""

from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from textassay.corpus.arrays import F32
from textassay.encoders import hf_model
from textassay.encoders.base import (
    HEAD_ROWS,
    LoadedModel,
    Row,
    TransformerEncoder,
    encoder_name,
    quiet,
    require,
    stacked,
    weights_options,
)
from textassay.encoders.hf_model import check_finite, check_vocabulary, load_counter
from textassay.encoders.model_files import ModelFolder, bad_model, find_model
from textassay.encoders.windows import BEGINNING, DEFAULT_WINDOWS, TokenCounter, check_windows
from textassay.errors import InputError

# Texts tokenised at once. The library pads them to the longest one; the padding is removed again.
_TEXTS = 64
_VECTOR = "sentence_embedding"
# Of these modules only the first multiplies matrices, with one row per token.
_PLAIN = {"Transformer", "Pooling", "Normalize"}


def sentence_transformer(
    name_or_path: str, *, windows: int = DEFAULT_WINDOWS, workers: int | None = None
) -> TransformerEncoder:
    """Any sentence-transformers model, with its own pooling and prompts: a folder, or a name on the hub."""
    require(torch="torch", transformers="transformers", sentence_transformers="sentence-transformers")
    # As in the library, a name without an owner belongs to sentence-transformers.
    names = (name_or_path,) if "/" in name_or_path else (f"sentence-transformers/{name_or_path}", name_or_path)
    folder = find_model(f"st:{name_or_path}", *names, needs="modules.json")
    most_tokens = transformer_length(folder)
    count = partial(load_st_counter, folder, most_tokens=most_tokens) if most_tokens else None
    shown = (most_tokens if windows > BEGINNING else None) or folder.maximum_length
    name = encoder_name("st", folder, label=True, most_tokens=shown, windows=windows if count else BEGINNING)
    dimension = known_dimension(folder)
    return TransformerEncoder(name, dimension, partial(load_st, folder), workers, check_windows(windows), count)


def known_dimension(folder: ModelFolder) -> int | None:
    """The length of the vectors, or None if the settings do not contain it."""
    if folder.settings("config_sentence_transformers.json").get("truncate_dim"):
        return None
    kinds = [module["type"].rsplit(".", 1)[-1] for module in folder.modules]
    for module, kind in reversed(list(zip(folder.modules, kinds, strict=True))):
        settings = folder.settings(f"{module['path']}/config.json") if module["path"] else {}
        if kind == "Dense":
            return settings.get("out_features") if settings.get("module_output_name", _VECTOR) == _VECTOR else None
        if kind == "Pooling":
            return _pooled_dimension(settings)
        if kind != "Normalize":
            return None
    return None


def _pooled_dimension(settings: dict[str, Any]) -> int | None:
    modes = settings.get("pooling_mode")
    if isinstance(modes, str):
        count = 1
    elif isinstance(modes, list):
        count = len(modes)
    else:
        count = sum(value is True for key, value in settings.items() if key.startswith("pooling_mode_"))
    size = settings.get("embedding_dimension", settings.get("word_embedding_dimension"))
    return count * size if isinstance(size, int) and count else None


def transformer_length(folder: ModelFolder) -> int | None:
    """The maximum length, by default from the settings of the transformer; None for other kinds of models."""
    if folder.modules and folder.modules[0]["type"].rsplit(".", 1)[-1] != "Transformer":
        return None
    return folder.maximum_length or hf_model.maximum_length(folder, folder.first_part)


def load_st_counter(folder: ModelFolder, *, most_tokens: int) -> TokenCounter:
    """A counter with the tokenizer of the first module; the prompt of each text counts towards the limit."""
    settings = folder.settings("config_sentence_transformers.json")
    prompts = settings.get("prompts")
    prompt = prompts.get(settings.get("default_prompt_name")) if isinstance(prompts, dict) else None
    words = prompt if isinstance(prompt, str) else ""
    return load_counter(folder, most_tokens=most_tokens, part=folder.first_part, prompt=words)


def load_st(folder: ModelFolder) -> LoadedModel:
    """Load the model of a folder in single precision, without running code from the folder."""
    with quiet():
        try:
            from sentence_transformers import SentenceTransformer

            model = SentenceTransformer(
                str(folder.path),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs=weights_options(),
            )
            model = model.float().eval()
            check_finite(folder, model)
            dimension = int(model.encode(["a"], show_progress_bar=False).shape[1])
        except InputError:
            raise
        except Exception as error:  # the package passes on any exception of its parts
            raise bad_model(folder.asked, f"cannot be loaded: {error}") from error
        mask = _features(model, ["a"]).get("attention_mask")
    if getattr(mask, "ndim", 0) != 2:
        return _one_by_one(model, dimension)
    check_vocabulary(folder, model.tokenizer)
    kinds = {type(module).__name__ for module in model}
    return LoadedModel(
        tokenise=partial(_tokenise, model),
        forward=partial(_forward, model),
        dimension=dimension,
        of_length_1=type(model[-1]).__name__ == "Normalize",
        least_texts=1 if "Pooling" in kinds and kinds <= _PLAIN else HEAD_ROWS,
    )


def _one_by_one(model: Any, dimension: int) -> LoadedModel:
    """A model whose inputs are not tokens with a mask, such as word vectors: each text is encoded separately."""
    turn = Lock()

    def tokenise(texts: list[str]) -> tuple[list[Row], list[int]]:
        return [{"text": text} for text in texts], [1] * len(texts)

    def forward(rows: Sequence[Row]) -> F32:
        with turn:
            return np.asarray(model.encode([rows[0]["text"]], show_progress_bar=False), np.float32)

    return LoadedModel(tokenise, forward, dimension, most_texts=1)


def _prompt(model: Any) -> str:
    """The default prompt, which the model puts before each text."""
    return model.prompts.get(model.default_prompt_name, "") or ""


def _features(model: Any, texts: list[str]) -> dict[str, Any]:
    prompt = _prompt(model)
    if hasattr(model, "preprocess"):
        return model.preprocess(texts, prompt=prompt or None)
    features = model.tokenize([prompt + text for text in texts])
    if prompt:
        # Some models exclude the prompt from pooling; its closing token is not part of it.
        features["prompt_length"] = model.tokenize([prompt])["input_ids"].shape[-1] - 1
    return features


def _tokenise(model: Any, texts: list[str]) -> tuple[list[Row], list[int]]:
    rows: list[Row] = []
    lengths: list[int] = []
    # Sorted by length, so that little padding is added.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for start in range(0, len(order), _TEXTS):
        features = _features(model, [texts[index] for index in order[start : start + _TEXTS]])
        kept = features["attention_mask"].bool()
        lengths += kept.sum(dim=1).tolist()
        rows += [
            {key: value[row][mask].tolist() if _is_column(value) else value for key, value in features.items()}
            for row, mask in enumerate(kept)
        ]
    back = np.argsort(order)
    return [rows[index] for index in back], [lengths[index] for index in back]


def _is_column(value: object) -> bool:
    return getattr(value, "ndim", 0) == 2


def _forward(model: Any, rows: Sequence[Row]) -> F32:
    import torch

    with torch.inference_mode():
        vectors = model.forward(stacked(rows))[_VECTOR]
        return vectors[:, : getattr(model, "truncate_dim", None)].numpy()
