"""The table that all reports share: which of two columns is better."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.report.builders import comparison
from textassay.report.former.compare import render_html
from textassay.report.former.table import paired_rows
from textassay.studies.compare.result import Comparison
from textassay.studies.outcome import Contest


def two(first: float, second: float, *, better: str, n: int = 500, interval: bool = True) -> Comparison:
    """Two candidates with these values, and real text with 0.5 and an interval from 0.4 to 0.6."""
    found = comparison(("a", "b"), metrics=(("nrr", 2),), half=0.1 if interval else None)
    real = replace(found.real.results[0], estimate=0.5, better=better)
    if real.interval:
        real = replace(real, interval=replace(real.interval, low=0.4, high=0.6))
    columns = [
        replace(column, results=(replace(column.results[0], estimate=value, better=better, n=n),))
        for column, value in zip(found.candidates, (first, second), strict=True)
    ]
    contest = Contest("a", "b", "nrr-2", first - second, first - second - 0.01, first - second + 0.01, 0.001)
    return replace(found, real=replace(found.real, results=(real,)), candidates=tuple(columns), contests=(contest,))


def ahead(found: Comparison) -> Sequence[str]:
    """The better candidate of each difference."""
    return [row.ahead for row in paired_rows(found, found.contests)]


@pytest.mark.parametrize(
    ("first", "second", "better", "expected"),
    [
        (0.3, 0.2, "higher", "a"),
        (0.3, 0.2, "lower", "b"),
        (0.3, 0.2, "closer", "a"),
        (0.9, 0.7, "closer", "b"),
        (0.45, 0.9, "closer", "a"),
        # Which is nearer depends on where in its interval real text is.
        (0.45, 0.6, "closer", ""),
        (0.4, 0.6, "closer", ""),
    ],
)
def test_the_better_of_two_columns(first: float, second: float, better: str, expected: str) -> None:
    assert ahead(two(first, second, better=better)) == [expected]


def test_values_of_another_sample_size_do_not_show_which_is_nearer() -> None:
    assert ahead(two(0.3, 0.2, better="closer", n=400)) == [""]
    assert ahead(two(0.3, 0.2, better="closer", interval=False)) == ["a"]


def test_no_cell_of_the_column_is_empty() -> None:
    page = render_html(two(0.4, 0.6, better="closer"))
    assert "<td><bdi>–</bdi></td></tr>" in page
    assert "<td><bdi></bdi></td></tr>" not in page
