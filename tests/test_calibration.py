"""Tests hold their level and intervals cover, on real captions; slow, run with `pytest -m slow`."""

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.conftest import ROOT

SPLITS = 200


def calibration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibration", ROOT / "benchmarks" / "calibration" / "samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Worker processes, forked from here, find the functions by the name of their module.
    sys.modules["calibration"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(("family", "size"), [("ngram", 1000), ("embedding", 100), ("embedding", 1000)])
def test_tests_hold_their_level_and_intervals_cover(data: Path, family: str, size: int) -> None:
    rows = calibration().calibrate(SPLITS, size, family)
    tested = {row.label: row.rejected for row in rows if not np.isnan(row.rejected)}
    assert len(tested) >= 6
    assert {label: rate for label, rate in tested.items() if not 0.02 <= rate <= 0.08} == {}
    assert {row.label: row.covered for row in rows if row.covered < 0.9} == {}


def test_coverage_is_of_the_mean_over_all_draws() -> None:
    module = calibration()
    values = [(1.0, (0.5, 1.5)), (3.0, (2.5, 3.5)), (2.0, (1.0, 2.2)), (2.0, None)]
    draws = [module.Draw("real", 100, seed, "bleu-4", value, True, span) for seed, (value, span) in enumerate(values)]
    later = module.Draw("real", 100, 4, "bleu-4", 2.0, False, None)
    assert module.coverage([*draws, later]) == {("real", 100, "bleu-4"): 1 / 3}
    without = [module.Draw("real", 100, seed, "bleu-4", 1.0, True, None) for seed in range(4)]
    assert np.isnan(module.coverage([draws[0], *without])["real", 100, "bleu-4"])


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    """A line that was cut off is not read, and what was read is not measured again."""
    module = calibration()
    file = tmp_path / "draws.jsonl"
    draw = module.Draw("real", 100, 7, "bleu-4", 0.25, True, (0.2, 0.3))
    whole = json.dumps(dataclasses.asdict(draw))
    file.write_text(f"{whole}\n{whole[:-9]}")
    module.recorded(file)
    with file.open("a") as target:
        target.write(whole.replace('"seed": 7', '"seed": 8') + "\n")
    known = module.recorded(file)
    assert list(known) == [("real", 100, 7), ("real", 100, 8)]
    assert known["real", 100, 7]["bleu-4"].estimate == 0.25
    assert module.recorded(tmp_path / "none.jsonl") == {}
