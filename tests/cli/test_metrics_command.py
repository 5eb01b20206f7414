"""`textassay metrics NAME`: whole citations and readable formulas instead of keys and markup."""

import re

import pytest

from textassay.cli.main import run
from textassay.cli.metrics import plain_formulas
from textassay.metrics.registry import Metric, all_metrics, citation

METRICS = [m for m in all_metrics().values() if m.function.__module__.startswith("textassay.metrics.")]


def shown(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["metrics", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: str(metric.name))
def test_every_metric_shows_its_full_citation(metric: Metric, capsys: pytest.CaptureFixture[str]) -> None:
    whole = citation(metric.paper)
    assert re.fullmatch(r".+\. .+[.?] .+, \d{4}\.", whole), "papers.toml needs authors, title, place and year"
    page = shown(metric.name, capsys)
    assert page.endswith(f"source: {whole}\n")
    assert ".. math::" not in page


def test_a_source_that_is_not_listed_stands_for_itself() -> None:
    assert citation("nobody1999") == "nobody1999"


def test_a_formula_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown("nrr", capsys).splitlines()
    assert r"formula (LaTeX): \mathrm{NRR}_n = -\sum_g Q_g^2" in lines


@pytest.mark.parametrize(
    "block", [".. math:: a = b\n    + c", ".. math::\n\n    a = b\n    + c", ".. math::\n    a = b\n\n    + c"]
)
def test_a_formula_of_several_lines_becomes_one(block: str) -> None:
    assert plain_formulas(f"What.\n\n{block}\n\nMore.\n    Kept.") == (
        "What.\n\nformula (LaTeX): a = b + c\n\nMore.\n    Kept."
    )
