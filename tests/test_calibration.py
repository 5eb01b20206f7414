"""Tests hold their level and intervals cover, on real captions; slow, run with `pytest -m slow`."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.conftest import ROOT

SPLITS = 200


def calibration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibration", ROOT / "benchmarks" / "calibration.py")
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


@pytest.mark.parametrize("page", ["calibration.md", "calibration-embedding.md"])
def test_the_committed_table_says_the_same(page: str) -> None:
    """The table in the docs was made by the same command and keeps the promise."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|") and "%" in line]
    assert len(rows) >= 10
    for label, *cells in rows:
        for rejected, covered in (cells[:2], cells[2:]):
            assert rejected == "no test" or 0.02 <= float(rejected.rstrip("%")) / 100 <= 0.08, label
            assert covered == "no interval" or float(covered.rstrip("%")) / 100 >= 0.9, label


def test_the_committed_table_of_items_keeps_the_promise() -> None:
    """Combined p-values reject a true null in at most 7 % of sets, and intervals cover in at least 90 %."""
    lines = (ROOT / "docs" / "calibration-conditional.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    assert len(rows) >= 10
    for label, sets, *shares in rows:
        values = [float(share.removesuffix("%")) / 100 for share in shares]
        assert int(sets) >= 400, label
        assert values[4] <= 0.07, label
        assert values[-1] >= 0.9, label
        assert all(share <= level + 0.035 for share, level in zip(values[:4], (0.01, 0.05, 0.2, 0.5), strict=True)), (
            label
        )
