"""Benchmarks run on few texts, so that a change of the package cannot break them unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_ngrams(data: Path) -> None:
    pytest.importorskip("fast_bleu")
    found = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "ngrams.py"), "small"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "TEXTASSAY_DATA": str(data)},
    )
    assert found.returncode == 0, found.stderr
    assert "times faster than FastBLEU" in found.stdout
    assert "2 times the texts take" in found.stdout
