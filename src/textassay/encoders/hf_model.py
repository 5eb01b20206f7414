"""Hugging Face models: hidden states of the last layer pooled to one vector per text."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textassay.corpus.arrays import F32
from textassay.corpus.printable import shortened
from textassay.encoders.base import (
    HEAD_ROWS,
    POOLS,
    LoadedModel,
    Row,
    TransformerEncoder,
    encoder_name,
    quiet,
    require,
    stacked,
    weights_options,
)
from textassay.encoders.model_files import ModelFolder, bad_model, find_model
from textassay.encoders.windows import BEGINNING, DEFAULT_WINDOWS, TokenCounter, check_windows, library_counter
from textassay.errors import InputError

# The fields of config.json with the size of a hidden state; for other kinds of models it is known after loading.
_SIZES = {
    "albert": "hidden_size",
    "bert": "hidden_size",
    "camembert": "hidden_size",
    "distilbert": "dim",
    "electra": "hidden_size",
    "gpt2": "n_embd",
    "mpnet": "hidden_size",
    "roberta": "hidden_size",
    "xlm-roberta": "hidden_size",
}
# Kinds whose positions start after the number of the padding token.
_SHIFTED = ("camembert", "mpnet", "roberta", "xlm-roberta")
_LENGTHS = ("max_position_embeddings", "n_positions")


def hugging_face(
    name_or_path: str, *, pool: str = "mean", windows: int = DEFAULT_WINDOWS, workers: int | None = None
) -> TransformerEncoder:
    """Any Hugging Face text model: a folder, or a name on the hub.

    `pool` chooses the vector of a text: the mean over its tokens (`mean`), the state of the class token (`cls`), or the
    pooled output of the model (`pooler`), which the Frechet BERT distance was defined with.
    """
    if pool not in POOLS:
        raise InputError(f"pool is {pool!r}; there are: {', '.join(POOLS)}")
    require(torch="torch", transformers="transformers")
    folder = find_model(f"hf:{name_or_path}", name_or_path)
    most_tokens = maximum_length(folder)
    load = partial(load_hf, folder, pool=pool, most_tokens=most_tokens)
    count = partial(load_counter, folder, most_tokens=most_tokens) if most_tokens else None
    limit = windows if count else BEGINNING
    name = encoder_name("hf", folder, f"pool={pool}", label=True, most_tokens=most_tokens, windows=limit)
    return TransformerEncoder(name, known_dimension(folder), load, workers, check_windows(windows), count)


def known_dimension(folder: ModelFolder) -> int | None:
    """The length of the vectors, or None if the settings do not contain it."""
    config = folder.settings("config.json")
    return _whole_number(config.get(_SIZES.get(str(config.get("model_type")), "")))


def maximum_length(folder: ModelFolder, part: str = "") -> int | None:
    """The number of tokens after which a text is cut off: the tokenizer's limit, at most the number of positions."""
    prefix = f"{part}/" if part else ""
    config = folder.settings(f"{prefix}config.json")
    positions = next((number for key in _LENGTHS if (number := _whole_number(config.get(key)))), None)
    if positions and config.get("model_type") in _SHIFTED:
        positions -= (_whole_number(config.get("pad_token_id")) or 0) + 1
    limits = (positions, _whole_number(folder.settings(f"{prefix}tokenizer_config.json").get("model_max_length")))
    # A tokenizer without a limit is saved with a limit of 10 to the power of 30.
    return min((limit for limit in limits if limit and limit < 10**9), default=None)


def _whole_number(found: object) -> int | None:
    return int(found) if isinstance(found, int | float) and found > 0 else None


def load_counter(folder: ModelFolder, *, most_tokens: int, part: str = "", prompt: str = "") -> TokenCounter:
    """A counter with the tokenizer of a folder or of a part of it; only the tokenizer is loaded."""
    with quiet():
        from transformers import AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(
                folder.path / part, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # the package passes on any exception of its parts
            raise bad_model(folder.asked, f"its tokenizer cannot be loaded: {error}") from error
    check_vocabulary(folder, tokenizer)
    return library_counter(tokenizer, most_tokens=most_tokens, prompt=prompt)


def load_hf(folder: ModelFolder, *, pool: str, most_tokens: int | None, normalise: bool = False) -> LoadedModel:
    """Load the model of a folder in single precision, without running code from the folder."""
    with quiet():
        from transformers import AutoModel, AutoTokenizer

        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder.path, **options)
            model, report = AutoModel.from_pretrained(
                folder.path, output_loading_info=True, **options, **weights_options()
            )
        except Exception as error:  # the package passes on any exception of its parts
            raise bad_model(folder.asked, f"cannot be loaded: {error}") from error
    check_vocabulary(folder, tokenizer)
    _check(folder, tokenizer, sorted(report["missing_keys"]), pool)
    check_finite(folder, model)
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    tokenise = partial(_tokenise, tokenizer, most_tokens)
    forward = partial(_forward, model.eval(), _pooling(folder, pool), normalise)
    return LoadedModel(
        tokenise,
        forward,
        dimension=_tried_dimension(folder, tokenise, forward),
        of_length_1=normalise,
        least_texts=HEAD_ROWS if pool == "pooler" else 1,
    )


def _tried_dimension(
    folder: ModelFolder,
    tokenise: Callable[[list[str]], tuple[list[Row], list[int]]],
    forward: Callable[[Sequence[Row]], F32],
) -> int:
    """The length of the vectors, found by encoding one text: not all kinds of models have it in their settings."""
    try:
        return forward(tokenise(["a"])[0]).shape[1]
    except InputError:
        raise
    except Exception as error:  # such as a model of images
        raise bad_model(folder.asked, f"cannot encode a text: {error}") from error


def _check(folder: ModelFolder, tokenizer: Any, missing: list[str], pool: str) -> None:
    """Raise an error if vectors would be meaningless: from random weights, or from a token that does not exist."""
    pooler = [name for name in missing if "pooler" in name]
    if pool == "pooler" and pooler:
        raise bad_model(folder.asked, "its weights have no pooler; wanted pool=cls or pool=mean")
    if len(missing) > len(pooler):
        first = next(name for name in missing if name not in pooler)
        raise bad_model(folder.asked, f"its weights lack {len(missing) - len(pooler)} arrays, the first {first}")
    if pool == "cls" and tokenizer.cls_token_id is None:
        raise bad_model(folder.asked, "its tokenizer has no class token; wanted pool=mean")


def _tokenise(tokenizer: Any, most_tokens: int | None, texts: list[str]) -> tuple[list[Row], list[int]]:
    columns = tokenizer(texts, truncation=most_tokens is not None, max_length=most_tokens, padding=False, verbose=False)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return rows, [len(numbers) for numbers in columns["input_ids"]]


def check_vocabulary(folder: ModelFolder, tokenizer: Any) -> None:
    """Raise an error for an empty tokenizer, which the library creates if the files are missing."""
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise bad_model(folder.asked, "no vocabulary in this folder; wanted the files of its tokenizer as well")


def check_finite(folder: ModelFolder, model: Any) -> None:
    """Raise an error for weights that are not finite numbers: all vectors and probabilities would be NaN."""
    for name, weights in model.named_parameters():
        if not weights.isfinite().all():
            raise bad_model(folder.asked, f"its weights {shortened(name, 60)} are not all finite numbers")


def _pooling(folder: ModelFolder, pool: str) -> Callable[[Any], Any]:
    def pooled(output: Any) -> Any:
        if pool == "pooler":
            if getattr(output, "pooler_output", None) is None:
                raise bad_model(folder.asked, "this model has no pooler; wanted pool=cls or pool=mean")
            return output.pooler_output
        states = output.last_hidden_state
        return states[:, 0] if pool == "cls" else states.mean(dim=1)

    return pooled


def _forward(model: Any, pooled: Callable[[Any], Any], normalise: bool, rows: Sequence[Row]) -> F32:
    import torch

    with torch.inference_mode():
        vectors = pooled(model(**stacked(rows)))
        vectors = torch.nn.functional.normalize(vectors, dim=1) if normalise else vectors
        return vectors.numpy()
