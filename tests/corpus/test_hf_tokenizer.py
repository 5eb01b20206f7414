"""Tokenizer files of Hugging Face tokenizers, made here, against the package itself."""

import hashlib
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tokenizers import Tokenizer as HfTokenizer
from tokenizers.models import BPE, WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer, WordLevelTrainer

from textassay.corpus.tokenizers import Tokens, get_tokenizer
from textassay.errors import InputError, MissingExtra

SENTENCES = ["a cat sat on the mat", "the cat ate a fat rat", "a dog sat"]


def split(tokens: Tokens) -> list[list[str]]:
    return [tokens.words(start, stop) for start, stop in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def tokenized(path: str, texts: Sequence[str], *, lowercase: bool = False) -> list[list[str]]:
    return split(get_tokenizer(path, lowercase=lowercase)(texts))


def saved(tokenizer: HfTokenizer, path: Path) -> str:
    tokenizer.save(str(path))
    return str(path)


def word_level() -> HfTokenizer:
    tokenizer = HfTokenizer(WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.train_from_iterator(SENTENCES, WordLevelTrainer(special_tokens=["[UNK]", "[CLS]"], show_progress=False))
    return tokenizer


def test_hugging_face_word_level_without_special_tokens_padding_or_truncation(tmp_path: Path) -> None:
    plain = word_level()
    tokenizer = word_level()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer.enable_truncation(max_length=3)
    tokenizer.enable_padding(length=12)
    path = saved(tokenizer, tmp_path / "tokenizer.json")
    texts = ["the cat sat on the mat", "", "a zebra", "Dog"]
    assert tokenized(path, texts) == [plain.encode(text).tokens for text in texts]
    assert tokenized(path, ["The Dog"], lowercase=True) == [["the", "dog"]]
    digest = hashlib.blake2b(Path(path).read_bytes(), digest_size=4).hexdigest()
    assert get_tokenizer(path).signature == f"hf:{digest}"
    assert get_tokenizer(path, lowercase=True).signature == f"hf:{digest}+lower"


def test_hugging_face_bpe_is_not_random_and_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = HfTokenizer(BPE(unk_token="[UNK]", dropout=0.5))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.train_from_iterator(SENTENCES, BpeTrainer(special_tokens=["[UNK]"], show_progress=False))
    path = saved(tokenizer, tmp_path / "bpe.json")
    tokenizer.model.dropout = None
    texts = [*SENTENCES, "", "cats!"] * 20
    wanted = [tokenizer.encode(text).tokens for text in texts]
    monkeypatch.setattr("textassay.corpus.tokenizers.BATCH_TEXTS", 7)
    assert tokenized(path, texts) == wanted
    assert split(pickle.loads(pickle.dumps(get_tokenizer(path)))(texts)) == wanted
    assert get_tokenizer(path)([]).offsets.tolist() == [0]


def test_hugging_face_files_that_do_not_work_are_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"hello": \n "world"}')
    with pytest.raises(InputError, match="not a Hugging Face tokenizer"):
        get_tokenizer(str(bad))
    without_unknown = HfTokenizer(WordLevel({"a": 0}, unk_token="?"))
    with pytest.raises(InputError, match="cannot encode the texts") as caught:
        get_tokenizer(saved(without_unknown, tmp_path / "a.json"))(["b"])
    assert "\n" not in str(caught.value)


def test_hugging_face_files_need_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(word_level(), tmp_path / "tokenizer.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"textassay\[tokenizers\]"):
        get_tokenizer(path)
