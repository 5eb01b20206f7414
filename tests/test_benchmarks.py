"""Every benchmark runs on very small inputs, so that a change of the package cannot break one unnoticed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

BENCHMARKS = ROOT / "benchmarks"


def run_all() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_all", BENCHMARKS / "run_all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = (*run_all().SPEED, *run_all().STATISTICS)
NEEDS = {
    "models/adversarial": ("torch",),
    "digests": ("sentence_transformers",),
    "scale": ("duckdb", "polars"),
    "ngrams": ("fast_bleu",),
    "long_texts": ("mauve", "sentence_transformers", "onnxruntime"),
    "embeddings": ("hyppo", "prdc", "mauve", "sentence_transformers", "onnxruntime"),
}


@pytest.mark.parametrize("name", NAMES)
def test_smoke(name: str, data: Path) -> None:
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package)
    found = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), "--smoke"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "TEXTASSAY_DATA": str(data), "HF_HUB_OFFLINE": "1"},
    )
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]
    assert found.stdout


def test_every_benchmark_is_run() -> None:
    """A file with a main part belongs to the list, or is run by one of the list."""
    parts = {"quantised", "neighbours", "encoding", "power/old", "survey/servers"}
    parts |= {"calibration/earlier_version", "calibration/earlier_worker"}
    mains = [path for path in BENCHMARKS.rglob("*.py") if '__name__ == "__main__"' in path.read_text("utf-8")]
    files = {path.relative_to(BENCHMARKS).with_suffix("").as_posix() for path in mains}
    assert files - parts - {"run_all"} == set(NAMES)
