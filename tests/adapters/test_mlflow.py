"""Outcomes in MLflow, and metrics in its evaluation, run by the package itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.laws import corpus
from textassay import GateRules, compare, read_results
from textassay.adapters.mlflow import _decisions, _numbers, log, metric

pytestmark = pytest.mark.filterwarnings("ignore")


def test_candidates_with_names_that_mlflow_does_not_take_keep_their_numbers() -> None:
    samples = {"a=b": corpus(2, 30), "a<b": corpus(3, 6) * 5, "a_b": corpus(4, 30), "x" * 300: corpus(5, 30)}
    found = compare(corpus(1, 30), samples, metrics="distinct:n=1,repetition", n_resamples=0)
    numbers = _numbers(found, "p")
    names = ["a_b", "a_b_2", "a_b_3", "x" * 110]
    assert {name for name in numbers if name.endswith("repetition")} == {f"p/{name}/repetition" for name in names}
    assert len(numbers) == 8
    assert [numbers[f"p/{name}/repetition"] for name in names] == [
        column["repetition"].estimate for column in found.candidates
    ]
    assert set(_decisions(found, "p")) <= {f"p/{name}/decision" for name in names}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A run of MLflow in a database of its own."""
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("texts", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("texts")
    with mlflow.start_run() as started:
        yield started


def test_an_outcome_is_logged(run: Any, tmp_path: Path) -> None:
    import mlflow

    real = corpus(1, 60)
    samples = {"model": corpus(2, 60), "a=b <b>|c": corpus(3, 6) * 10}
    found = compare(real, samples, metrics="cnd,repetition", n_resamples=99, gate=GateRules(fail_on="collapsed"))
    log(found, step=7)
    logged = mlflow.get_run(run.info.run_id).data
    assert logged.metrics["textassay/model/cnd-2"] == pytest.approx(found["model"]["cnd"].estimate)
    assert logged.metrics["textassay/model/cnd-2/low"] <= logged.metrics["textassay/model/cnd-2/high"]
    assert logged.metrics["textassay/a_b _b__c/repetition"] == 1.0
    assert logged.tags["textassay/gate"] == "fail"
    assert logged.tags["textassay/a_b _b__c/decision"] == "collapsed"
    (path,) = tmp_path.rglob("compare.json")
    assert read_results(path) == found
    assert list(tmp_path.rglob("compare.html"))


def test_a_metric_of_an_evaluation(run: Any) -> None:
    import mlflow

    pandas = pytest.importorskip("pandas")
    real, model = corpus(1, 60), corpus(2, 60)
    table = pandas.DataFrame({"prediction": model, "target": real})
    evaluated = mlflow.models.evaluate(
        data=table,
        predictions="prediction",
        targets="target",
        model_type=None,
        extra_metrics=[metric("cnd", n_resamples=19), metric("repetition")],
    )
    (column,) = compare(real, {"model": model}, metrics="cnd,repetition", n_resamples=19).candidates
    values = {name.replace("/v1", ""): value for name, value in evaluated.metrics.items()}
    assert values["cnd_2/value"] == column["cnd"].estimate
    assert column["cnd"].interval is not None
    assert values["cnd_2/low"] == column["cnd"].interval.low
    assert values["repetition/value"] == column["repetition"].estimate


def test_a_metric_states_what_is_better() -> None:
    """Of distinct words neither more nor fewer are better: real text's own value is."""
    pytest.importorskip("mlflow", reason="needs mlflow")
    stated = {spec: metric(spec).greater_is_better for spec in ("cnd", "ms_jaccard", "distinct", "repetition")}
    assert stated == {"cnd": False, "ms_jaccard": True, "distinct": None, "repetition": None}
    assert metric("distinct").metric_details == "the value of the targets is the best one"
