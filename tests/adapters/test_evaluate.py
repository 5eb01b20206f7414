"""The module of Hugging Face `evaluate`, run by the package itself."""

from pathlib import Path
from typing import Any

import pytest

from tests.laws import corpus
from textassay import compare

evaluate = pytest.importorskip("evaluate", reason="needs evaluate")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """The script, loaded as users load it."""
    import textassay.adapters.evaluate as script

    return evaluate.load(script.__file__, "cnd,repetition", cache_dir=str(tmp_path), keep_in_memory=True)


def test_the_module_measures_what_compare_measures(module: Any) -> None:
    real, model = corpus(1, 60), corpus(2, 60)
    values = module.compute(predictions=model, references=real, n_resamples=99)
    found = compare(real, {"predictions": model}, metrics="cnd,repetition", n_resamples=99)
    (column,) = found.candidates
    assert values["cnd-2"] == column["cnd"].estimate
    assert column["cnd"].interval is not None
    assert (values["cnd-2_low"], values["cnd-2_high"]) == (column["cnd"].interval.low, column["cnd"].interval.high)
    assert column.verdict is not None
    assert values["decision"] == column.verdict.decision
    assert 0 <= values["separable_low"] <= values["separable"] <= 1


def test_batches_and_combinations(module: Any, tmp_path: Path) -> None:
    import textassay.adapters.evaluate as script

    real, model = corpus(1, 40), corpus(2, 40)
    for begin in (0, 20):
        module.add_batch(predictions=model[begin : begin + 20], references=real[begin : begin + 20])
    values = module.compute(n_resamples=0)
    assert values["repetition"] is not None
    assert "decision" not in values
    other = script.Textassay("self_bleu", cache_dir=str(tmp_path), keep_in_memory=True)
    both = evaluate.combine([module, other]).compute(predictions=model, references=real)
    assert {"cnd-2", "repetition", "self_bleu-4"} <= set(both)
