"""The choice of models: specs of files and names, and options of training."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from textassay.errors import InputError
from textassay.models import choose
from textassay.models.choose import get_model


def train(texts: Any, *, size: int = 3, rate: float = 0.1, cap: int | None = 5, wide: bool = False, seed: int) -> Any:
    return list(texts), size, rate, cap, wide, seed


def train_model(spec: str, texts: list[str], **settings: Any) -> Any:
    return choose.train_model(spec, texts, **settings)


@pytest.fixture(autouse=True)
def toy_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("toy_kinds")
    module.train = train  # type: ignore[attr-defined]
    module.opened = lambda rest: f"opened {rest}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy_kinds", module)
    monkeypatch.setattr(choose, "TRAINED", {"toy": "toy_kinds"})
    monkeypatch.setattr(choose, "OPENED", {"oracle": "toy_kinds"})


def test_options_are_read_by_their_types() -> None:
    assert train_model("toy", ["a"]) == (["a"], 3, 0.1, 5, False, 0)
    made = train_model("toy:size=4:rate=1e-3:cap=none:wide=true", ["a"], seed=7)
    assert made == (["a"], 4, 0.001, None, True, 7)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("tree", "no kind of model to train 'tree'; there are: 'toy'"),
        ("toys", "did you mean 'toy'?"),
        ("toy:depth=3", "no option of model 'toy' 'depth'; there are: 'size', 'rate', 'cap', 'wide'"),
        ("toy:seed=3", "no option of model 'toy' 'seed'"),
        ("toy:size=big", "model 'toy': option 'size' is 'big'; wanted a whole number"),
        ("toy:cap=x", "option 'cap' is 'x'; wanted a whole number or none"),
        ("toy:wide=1", "option 'wide' is '1'; wanted true or false"),
        ("toy:size", "'size'; wanted option=value"),
        ("toy:size=1:size=2", "option 'size' is given twice"),
    ],
)
def test_bad_specs_are_errors(spec: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        train_model(spec, ["a"])
    assert problem in str(error.value)


def test_what_a_kind_does_not_use_is_an_error() -> None:
    with pytest.raises(InputError, match="model 'toy' uses no validation"):
        train_model("toy", ["a"], validation=["b"])


def test_models_are_opened_by_name_or_file(tmp_path: Path) -> None:
    assert str(get_model("oracle:weights")) == "opened weights"
    with pytest.raises(InputError, match=r"no such model; wanted a \.safetensors file or oracle:DIR"):
        get_model("tree:weights")
    with pytest.raises(InputError, match="no such file"):
        get_model(tmp_path / "model.safetensors")
