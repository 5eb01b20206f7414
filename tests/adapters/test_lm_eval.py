"""Metrics in a task of lm-evaluation-harness, run by the package itself with a model that answers from a list."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.laws import corpus
from textassay import compare
from textassay.adapters.lm_eval import aggregation, collector

pytestmark = pytest.mark.filterwarnings("ignore")

TASK = """
task: stories
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{text}}}}"
generation_kwargs: {{until: ["###"]}}
metric_list:
  - metric: !function texts.collect_cnd
    aggregation: !function texts.cnd
    higher_is_better: false
  - metric: !function texts.collect_repetition
    aggregation: !function texts.repetition
    higher_is_better: false
"""
FUNCTIONS = """
from textassay.adapters.lm_eval import aggregation, collector

collect_cnd, cnd = collector("cnd"), aggregation("cnd")
collect_repetition, repetition = collector("repetition"), aggregation("repetition")
"""


def test_a_task_with_metrics_on_all_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="needs lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    real, model = corpus(1, 40), corpus(2, 40)
    rows = [{"prompt": f"story {number}:", "text": text} for number, text in enumerate(real)]
    data = tmp_path / "stories.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "stories.yaml").write_text(TASK.format(data=data), encoding="utf-8")
    (tmp_path / "tasks" / "texts.py").write_text(FUNCTIONS, encoding="utf-8")

    class Answers(LM):  # type: ignore[misc, unused-ignore]
        def generate_until(self, requests: Any) -> list[str]:
            return [model[request.doc_id] for request in requests]

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    found = lm_eval.simple_evaluate(Answers(), tasks=["stories"], task_manager=manager, log_samples=True)
    values = {name.partition(",")[0]: value for name, value in found["results"]["stories"].items()}
    (column,) = compare(real, {"model": model}, metrics="cnd,repetition", n_resamples=0).candidates
    assert values["cnd"] == column["cnd"].estimate
    assert values["repetition"] == column["repetition"].estimate
    assert found["samples"]["stories"][0]["cnd"] == (real[0], model[0])


def test_an_aggregation_is_one_metric() -> None:
    pairs = list(zip(corpus(1, 30), corpus(2, 30), strict=True))
    assert 0 < aggregation("distinct:n=2")(pairs) < 1
    assert aggregation("distinct:n=2").__name__ == "distinct:n=2"
    with pytest.raises(ValueError, match="names 2 metrics; wanted one"):
        aggregation("distinct:n=1-2")(pairs)


def test_several_references_of_a_document_are_an_error() -> None:
    with pytest.raises(ValueError, match="2 references and 1 predictions of one document; wanted one of each"):
        collector("cnd")(references=["a", "b"], predictions=["c"])
    with pytest.raises(ValueError, match="several references per document; wanted one"):
        aggregation("cnd")([1.0, 0.0])  # type: ignore[list-item]
