"""The calibration over designs: its draws are what they claim, and the committed page keeps what is promised.

The full run is `benchmarks/calibration/designs.py`.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.conftest import ROOT

PAGE, FOLDER = ROOT / "docs" / "calibration-designs.md", ROOT / "benchmarks" / "calibration"


@pytest.fixture(scope="module")
def benchmark_module(data: Path) -> ModuleType:
    """The benchmark as a module; it imports `design_texts` from its own folder."""
    spec = importlib.util.spec_from_file_location("designs", FOLDER / "designs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    try:
        sys.modules["designs"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


@pytest.mark.slow
def test_draws_are_repeatable_and_their_groups_are_as_described(benchmark_module: ModuleType) -> None:
    for design in (*benchmark_module.INDEPENDENT, *benchmark_module.GROUPED, *benchmark_module.SHARED):
        candidate, reference, _ = benchmark_module.drawn(design, 3)
        again = benchmark_module.drawn(design, 3)
        assert (candidate.digest, reference.digest) == (again[0].digest, again[1].digest)
        assert candidate.digest != benchmark_module.drawn(design, 4)[0].digest
        if design.use is None:
            assert candidate.groups is None
            continue
        mine, theirs = (set(sample.groups.to_pylist()) for sample in (candidate, reference))
        assert (mine == theirs) if design.use == "pair" else not mine & theirs, design.name


def test_the_prefix_is_in_its_share_of_the_texts(benchmark_module: ModuleType) -> None:
    design = next(design for design in benchmark_module.SHARED if design.name == "same images")
    candidate, _, rng = benchmark_module.drawn(design, 0)
    texts = benchmark_module.with_prefix(candidate, rng, 0.15).texts.to_pylist()
    assert sum(text.startswith("Sure , here") for text in texts) == round(0.15 * len(candidate))


@pytest.mark.slow
def test_one_draw_of_each_kind_is_tested(benchmark_module: ModuleType) -> None:
    """Groups that are left out make the test reject where it must not; with them, and with few draws, it does not."""
    speeches = next(design for design in benchmark_module.GROUPED if design.name == "speeches")
    assert all(benchmark_module.plain(speeches, seed) <= 0.05 for seed in range(3))
    assert min(benchmark_module.by_design(speeches, seed) for seed in range(3)) > 0.01
    assert benchmark_module.warned(speeches, 0) == ["order"]
    prompts = benchmark_module.SHARED[0]
    assert np.median([benchmark_module.plain(prompts, seed) for seed in range(3)]) > 0.5
    assert benchmark_module.prefixed(0.15, grouped=True)(prompts, 0) <= 0.05


def _tables() -> dict[str, list[list[str]]]:
    """The rows of the page's tables by heading; a second table under one heading goes by its first column."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("With sentence vectors"):
            heading = "Level with vectors"
        elif line.startswith("| ") and not line.startswith(("| ---", "| design", "| texts")):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found
