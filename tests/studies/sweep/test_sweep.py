"""Sweeps of small n-gram models: values, best settings, verdicts, JSON and bad input."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.laws import corpus
from textassay import InputError, Sample, Sweep, agree, save_model, sweep, train_model
from textassay.models.base import Generator

TEMPERATURES = "0.25,1,4"


@cache
def model(number: int = 0) -> Generator:
    return train_model("ngram:order=2", corpus(number, 300))


@cache
def found() -> Sweep:
    return sweep(model(), corpus(7, 200), temperature=TEMPERATURES, n=80, n_resamples=19)


def values(study: Sweep, label: str) -> list[float]:
    return [study[name][label].estimate for name in study.names]


def test_quality_falls_and_diversity_rises_with_the_temperature() -> None:
    assert found().names == ("t=0.25", "t=1", "t=4")
    for label, sign in (("cr-2", -1), ("bleu-4", -1), ("entropy-2", 1), ("nrr-2", 1), ("self_bleu-4", -1)):
        low, middle, high = (sign * value for value in values(found(), label))
        assert low < middle < high, label


def test_the_best_temperature_is_that_of_the_training_texts() -> None:
    best = {each.label: each for each in found().best}
    assert {label: best[label].setting for label in ("cnd-2", "entropy-2", "dd")} == {
        "cnd-2": "t=1",
        "entropy-2": "t=1",
        "dd": "t=1",
    }
    assert best["cr-2"].setting == "t=0.25"
    assert "t=0.25" not in best["cnd-2"].among
    assert best["entropy-2"].target == found().real.results[found().labels.index("entropy-2")].estimate


def test_the_verdict_names_settings_and_the_overall_test() -> None:
    reasons = found().verdict.reasons
    assert reasons[0].startswith("closest to the reference: t=1 by cnd-2")
    assert "quality alone is best at t=0.25 by cr-2 and bleu-4" in reasons
    assert any("overall test" in reason for reason in reasons)


def test_a_best_setting_at_the_end_of_the_grid_is_reported() -> None:
    study = sweep(model(), corpus(7, 200), temperature="2,3,4", n=80, metrics="cnd", n_resamples=19)
    assert study.verdict.reasons[-1] == "cnd-2 is best at an end of the grid: try a wider one"
    assert study.notes[-1] == "raised to 71 resamples, because correcting for 3 settings at level 0.95 needs them"


def test_the_same_seed_gives_the_same_bytes_and_json_is_read_back() -> None:
    studies = [
        sweep(model(), corpus(7, 200), temperature="0.5,1", n=60, metrics="cnd,entropy", n_resamples=19, seed=seed)
        for seed in (0, 0, 1)
    ]
    first, again, other = (study.to_json(timings=False) for study in studies)
    assert first == again != other
    assert studies[0].samples["t=1"].digest == studies[1].samples["t=1"].digest
    assert Sweep.from_json(found().to_json()) == found()


def test_the_json_has_one_object_per_setting() -> None:
    plain = json.loads(found().to_json())
    first = plain["settings"][0]
    assert (first["name"], first["temperature"], first["top_k"], first["n"]) == ("t=0.25", 0.25, None, 80)
    assert [result["metric"] for result in first["results"]][:2] == ["cr", "bleu"]
    assert plain["best"][0]["label"] == "cr-2"
    assert plain["models"] == [model().name]


def test_several_parameters_and_checkpoints(tmp_path: Path) -> None:
    for number in (1, 2):
        save_model(model(number), tmp_path / f"epoch-{number}.safetensors")
    study = sweep(
        None, corpus(7, 200), checkpoints=str(tmp_path / "epoch-*"), top_k="1,none", n=60, metrics="cnd", n_resamples=0
    )
    assert study.names == ("epoch-1 k=1", "epoch-1 k=none", "epoch-2 k=1", "epoch-2 k=none")
    assert study.verdict.decision == "untested"
    assert len(set(study.models)) == 2
    assert study["epoch-1 k=1"].decoding.top_k == 1
    assert len(set(study.samples["epoch-1 k=1"].texts.to_pylist())) == 1


def test_long_names_of_checkpoints_are_cut_and_stay_different(tmp_path: Path) -> None:
    for number in (1, 2):
        save_model(model(number), tmp_path / f"{'x' * 80}{number}.safetensors")
    study = sweep(
        None, corpus(7, 200), checkpoints=str(tmp_path / "x*"), temperature=1, n=60, metrics="cnd", n_resamples=0
    )
    label = f"{'x' * 57}..."
    assert study.names == (f"{label} t=1", f"{label} (2) t=1")
    assert study.models == (model(1).name, model(2).name)
    assert study.samples[study.names[0]].digest != study.samples[study.names[1]].digest


def test_distances_from_an_oracle_are_least_at_its_own_temperature() -> None:
    study = sweep(model(), corpus(7, 200), temperature="0.25,1,4", n=100, metrics="cnd", n_resamples=19, oracle=model())
    assert study.labels[-4:] == ("oracle_nll", "model_entropy", "nll", "bhattacharyya")
    assert study["t=1"]["bhattacharyya"].estimate == pytest.approx(0.0, abs=1e-9)
    assert min(study["t=0.25"]["bhattacharyya"].estimate, study["t=4"]["bhattacharyya"].estimate) > 1
    assert values(study, "model_entropy") == sorted(values(study, "model_entropy"))
    assert values(study, "oracle_nll") == sorted(values(study, "oracle_nll"))
    best = {each.label: each for each in study.best}
    assert {name: best[name].setting for name in ("model_entropy", "nll", "bhattacharyya")} == {
        "model_entropy": "t=1",
        "nll": "t=1",
        "bhattacharyya": "t=1",
    }
    assert best["bhattacharyya"].among == ("t=1",)
    # The sample of the oracle is not that of the setting with the same model and temperature.
    assert study["t=1"]["model_entropy"].estimate != best["model_entropy"].target
    assert study.settings["oracle"] == model().name
    assert Sweep.from_json(study.to_json()) == study


def test_prompts_give_one_text_each() -> None:
    prompts = [text.split()[0] for text in corpus(3, 60)]
    study = sweep(model(), corpus(7, 200), prompts=prompts, temperature="0.5,1", metrics="cnd", n_resamples=19)
    sizes = [len(sample) for sample in study.samples.values()]
    assert study["t=1"].n == study["t=0.5"].n == min(sizes) < 60
    assert f"t=1: {60 - sizes[1]} blank texts left out" in study.notes
    assert study.settings["prompts"] == Sample.of(prompts).digest


def test_agree_reads_sweeps(tmp_path: Path) -> None:
    file = tmp_path / "sweep.json"
    file.write_text(found().to_json())
    for source in (str(file), found()):
        agreement = agree(source, gold="t=1>t=4>t=0.25")
        assert agreement.systems == ("t=0.25", "t=1", "t=4")
        assert agreement["cnd-2"]["kendall"].estimate == 1.0


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"reference": corpus(7, 39)}, "39 texts; a sweep needs at least 40"),
        ({"n": 500}, "n=500; the reference has 200 texts, wanted at most as many texts per setting"),
        ({"n": 5}, "n=5; wanted a whole number of texts, 20 or more"),
        ({"prompts": ["a"] * 30, "n": 60}, "n=60; there are 30 prompts"),
        ({"model": None}, "no model given; wanted a model, or checkpoints=..."),
        ({"model": 3}, "model: int; wanted a model"),
        ({"model": "nothing.safetensors"}, "nothing.safetensors: no such file"),
        ({"metrics": "huse"}, "metric 'huse' is measured on ratings"),
        ({"temperature": 0}, "temperature=0.0; wanted a finite number above 0"),
        ({"level": 95}, "level=95"),
    ],
)
def test_bad_input_is_refused_before_sampling(changes: dict[str, object], wanted: str) -> None:
    given = {"model": model(), "reference": corpus(7, 200), **changes}
    with pytest.raises(InputError) as caught:
        sweep(given.pop("model"), given.pop("reference"), **given)  # type: ignore[arg-type]
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)


class Silent:
    """A model whose texts are mostly blank."""

    name = "silent"

    def sample(self, n: int, /, **_: object) -> list[str]:
        return ["one text"] * 3 + [""] * (n - 3)


def test_blank_texts_are_counted_and_too_many_are_refused() -> None:
    with pytest.raises(InputError, match="t=1: 3 texts are not blank; a sweep needs at least 20 per setting"):
        sweep(Silent(), corpus(7, 200), temperature=1, n=50)  # type: ignore[arg-type]
