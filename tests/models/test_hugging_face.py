"""Hugging Face models made here: scores against the library, sampling, prompts, and folders that are refused."""

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from textassay.errors import InputError
from textassay.models.choose import get_model
from textassay.models.neural.hugging_face import HuggingFaceModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["a", "b", "c", "d"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tokenizer(folder: Path, *, begin: bool) -> None:
    """A tokenizer of whole words, with an end token and, like that of Llama, a begin token."""
    special = ["<end>", "<unk>", *(["<s>"] if begin else [])]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    # Not a special token, which would be left out of a decoded text.
    marks = {"eos_token": "<end>", **({"bos_token": "<s>"} if begin else {})}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **marks).save_pretrained(folder)


def gpt2(folder: Path) -> Path:
    """GPT-2 with two numbers more than its tokenizer has tokens."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=8,
        n_positions=9,
        n_embd=8,
        n_layer=2,
        n_head=2,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer(folder, begin=False)
    return folder


def llama(folder: Path) -> Path:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=7, hidden_size=8, intermediate_size=8, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=32, initializer_range=1.0, bos_token_id=2, eos_token_id=0,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer(folder, begin=True)
    return folder


MAKERS = {"gpt2": gpt2, "llama": llama}


@pytest.fixture(scope="module", params=MAKERS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MAKERS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def model(folder: Path) -> HuggingFaceModel:
    found = get_model(f"hf:{folder}:max_tokens=6")
    assert isinstance(found, HuggingFaceModel)
    return found


def test_scores_equal_the_library(model: HuggingFaceModel, folder: Path) -> None:
    """The loss of the library for one text at a time, and without the tokens of a prompt."""
    library = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    begin = 2 if library.config.model_type == "llama" else 0
    first = 3 if begin else 2
    texts = {"a b c": [0, 1, 2], "d": [3], "b a b a d": [1, 0, 1, 0, 3]}
    scores = model.log_prob(list(texts))
    assert scores.n_tokens.tolist() == [4, 2, 6]
    for place, words in enumerate(texts.values()):
        ids = torch.tensor([[begin, *(word + first for word in words), 0]])
        with torch.no_grad():
            logits = library(input_ids=ids).logits[0].double()
        logits[:, [2] if begin else [6, 7]] = -np.inf
        logs = torch.log_softmax(logits, 1)[np.arange(ids.shape[1] - 1), ids[0, 1:]]
        assert scores.log_probs[place] == pytest.approx(float(logs.sum()), abs=1e-4)


def test_prompts_are_conditions(model: HuggingFaceModel) -> None:
    """P(prompt, text) = P(prompt begins) P(text | prompt): the ratio is the same for all texts after one prompt."""
    texts = ["a", "b c", "d d a"]
    joint = model.log_prob([f"a b {text}" for text in texts]).log_probs
    conditional = model.log_prob(texts, prompts=["a b"] * 3)
    ratios = joint - conditional.log_probs
    assert ratios == pytest.approx([ratios[0]] * 3, abs=1e-4)
    assert conditional.n_tokens.tolist() == [2, 3, 4]


SETTINGS = [{}, {"temperature": 0.6}, {"top_k": 2}, {"temperature": 1.4, "top_p": 0.8}]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_samples_follow_the_scores(model: HuggingFaceModel, setting: dict[str, Any]) -> None:
    words = ["<unk>", *WORDS]
    texts = ["", *(" ".join(chosen) for length in (1, 2) for chosen in product(words, repeat=length))]
    expected = 2000 * np.exp(model.log_prob(texts, **setting).log_probs)
    counts = Counter(model.sample(2000, **setting, rng=rng(1)))
    groups = expected >= 5
    seen = np.array([counts[text] for text in texts])
    observed, wanted = [*seen[groups], 2000 - seen[groups].sum()], [*expected[groups], 2000 - expected[groups].sum()]
    assert seen[expected == 0].sum() == 0
    assert chisquare(observed, wanted).pvalue > 1e-4


def test_prompts_are_continued(model: HuggingFaceModel) -> None:
    """Each prompt is continued as if it were alone, whatever the lengths of the others."""
    prompts = ["a b", "", "c", "d a b"]
    alone = [model.sample(1, top_k=1, prompts=[prompt], rng=rng())[0] for prompt in prompts]
    assert model.sample(4, top_k=1, prompts=prompts, rng=rng()) == alone
    best = model.beam(width=4, prompts=prompts)
    scores, greedy = (model.log_prob(texts, prompts=prompts).log_probs for texts in (best, alone))
    assert (scores >= greedy - 1e-4).all()
    assert all(len(text.split()) <= 2 for text in model.sample(20, max_tokens=2, rng=rng()))


def test_the_name_has_the_digest(model: HuggingFaceModel, folder: Path) -> None:
    assert model.name == f"hf/{folder.name}/{model.folder.digest}"
    assert get_model(f"hf:{folder}").name == model.name


def test_texts_that_are_too_long(tmp_path: Path) -> None:
    model = get_model(f"hf:{gpt2(tmp_path)}")
    scores = model.log_prob(["a " * 8, "a " * 9])
    assert np.isneginf(scores.log_probs).tolist() == [False, True]
    with pytest.raises(InputError, match="a prompt of 9 tokens; the model reads at most 9"):
        model.sample(1, prompts=["a " * 9], rng=rng())
    with pytest.raises(InputError, match="max_tokens=0; wanted"):
        get_model(f"hf:{tmp_path}:max_tokens=0")
    with pytest.raises(InputError, match="max_tokens='many'; wanted"):
        get_model(f"hf:{tmp_path}:max_tokens=many")


def test_folders_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^model 'hf:.*nowhere.*no such folder"):
        get_model(f"hf:{tmp_path}/nowhere")
    folder = gpt2(tmp_path / "model")
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-50])
    with pytest.raises(InputError, match=r"^model 'hf:.*cannot be loaded"):
        get_model(f"hf:{folder}").log_prob(["a"])
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model.bin\), which can run code"):
        get_model(f"hf:{folder}")


def test_models_that_do_not_predict_the_next_token(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        initializer_range=1.0,
    )
    transformers.BertLMHeadModel(config).save_pretrained(tmp_path)
    tokenizer(tmp_path, begin=False)
    with pytest.raises(InputError, match="its predictions depend on later tokens; wanted a causal language model"):
        get_model(f"hf:{tmp_path}").log_prob(["a"])
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**settings, "is_encoder_decoder": True}))
    with pytest.raises(InputError, match="has an encoder and a decoder"):
        get_model(f"hf:{tmp_path}").log_prob(["a"])


def test_a_text_without_tokens_of_its_own_has_probability_0(model: HuggingFaceModel) -> None:
    """The tokenizer has one token for all unknown words, which this model writes as `<unk>`."""
    scores = model.log_prob(["a b", "a zebra", "a <unk>"])
    assert np.isneginf(scores.log_probs).tolist() == [False, True, False]
    assert scores.class_log_probs[1] == pytest.approx(scores.log_probs[2])
    assert scores.n_unknown.tolist() == [0, 1, 1]
