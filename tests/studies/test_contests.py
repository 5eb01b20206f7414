"""Differences between two candidates: which one is better, and the table of all differences."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.report.builders import comparison
from textassay.studies.compare.result import Comparison
from textassay.studies.contests import Contest, contest_table, paired


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
    return [row.ahead for row in paired(found, found.contests)]


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


def test_the_table_has_the_clearest_differences_first_and_no_empty_cell() -> None:
    found = two(0.4, 0.6, better="closer")
    contests = [Contest("a", "b", f"m-{at}", 0.01 * at, 0.01 * at - 1, 0.01 * at + 1, 0.5) for at in range(100)]
    table = contest_table(found, [*contests, *found.contests], title="Differences")
    assert table is not None
    assert (len(table.rows), table.total) == (60, 101)
    assert [[cell.text for cell in row.cells] for row in table.rows[:2]] == [
        ["a", "b", "nrr-2", "-0.200", "0.10", "–"],
        ["a", "b", "m-99", "0.990", "1.00", "–"],
    ]
    assert [cell.candidate for cell in table.rows[0].cells[:2]] == [0, 1]
    assert contest_table(found, (), title="Differences") is None
