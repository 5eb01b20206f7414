"""Small models with random weights, saved like real ones, for the encoder tests to load without a download."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

_LINE = "a man woman dog cat rides walks the red blue bus on in street two people stand near ##s ##ing . ,"
WORDS = _LINE.split()
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)
LONGEST = 24


def need(*names: str) -> None:
    """Import libraries without their warnings; skip the test if one is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            pytest.importorskip(name)


def save_bert(folder: Path, *, pooler: bool = True, dtype: str = "float32") -> Path:
    """A BERT model of two layers and width 32 with a limit of 24 tokens."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        initializer_range=0.3,
    )
    BertModel(config, add_pooling_layer=pooler).to(getattr(torch, dtype)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": LONGEST}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def save_sentence_model(folder: Path, bert: Path) -> Path:
    """The same BERT model, mean pooled and projected to 16 numbers, with a prompt before each text."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(1)
    modules: list[Any] = [Transformer(str(bert)), Pooling(32, pooling_mode="mean"), Dense(32, 16), Normalize()]
    model = SentenceTransformer(modules=modules, prompts={"say": "the red "}, default_prompt_name="say", device="cpu")
    model.save(str(folder))
    return folder


def save_gpt2(folder: Path) -> Path:
    """A GPT-2 model whose tokenizer has no special tokens: an empty text has no tokens."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(folder)
    size = len(VOCABULARY)
    config = GPT2Config(vocab_size=size, n_embd=24, n_layer=1, n_head=2, n_positions=16, bos_token_id=2, eos_token_id=3)
    GPT2Model(config).save_pretrained(folder)
    return folder


def copy(folder: Path, to: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(folder, to))
