"""Table 1 and Figure 5 of the HUSE paper made again."""

from pathlib import Path

import pytest

from textassay.cli.reproduce import figure
from textassay.errors import InputError
from textassay.report import markdown
from textassay.reproduce.catalogue import reproduce
from textassay.reproduce.document import document
from textassay.studies.huse.study import huse


def test_table_1(data: Path) -> None:
    """The scales differ in the number of resamples only."""
    table = reproduce("huse-table-1", data=str(data), scale="smoke")
    assert [claim.agrees for claim in table.claims] == [True]
    assert [row.numbers[0] for row in table.tables[0].rows] == [0.53, 0.58, 0.95]
    for row in table.tables[0].rows:
        published, ours, low, high, items, _ = row.numbers
        assert round(float(ours or 0), 2) == round(float(items or 0), 2) == published
        assert (low or 9) < (ours or 0) < (high or 0)
    assert "| HUSE-Q | 0.58 | 0.58 |" in markdown.text(document(table))
    with pytest.raises(InputError, match="huse-table-1 is a table and has no figure"):
        figure(table)


@pytest.mark.slow
def test_the_table_has_the_intervals_of_the_command(data: Path) -> None:
    """One signature, one number: both ways must draw the same resamples."""
    table = reproduce("huse-table-1", data=str(data))
    found = huse(str(data / "huse" / "summarization_ratings.csv"), n_resamples=999, stability=False)
    assert table.signature == found.results[0].signature
    for row, result in zip(table.tables[0].rows, found.results, strict=True):
        assert result.interval is not None
        assert row.numbers[2:4] == (result.interval.low, result.interval.high)


def test_table_2_has_the_ratings_of_the_paper(data: Path) -> None:
    table = reproduce("huse-table-2", data=str(data), scale="smoke")
    assert [claim.agrees for claim in table.claims] == [True, True]
    ratings = [row.numbers[1] for row in table.tables[0].rows]
    assert ratings == pytest.approx([2.6, 4.25, 4.25, 4.3, 5.25, 4.9])


@pytest.mark.slow
def test_figure_5(data: Path) -> None:
    found = reproduce("huse-figure-5", data=str(data))
    items, ratings = found.panels
    assert (items.lines[0].points[-1].x, ratings.lines[0].points[-1].x) == (200, 20)
    assert round(ratings.lines[0].points[-1].mean, 2) == 0.53
    means = [point.mean for point in ratings.lines[0].points]
    assert means == sorted(means, reverse=True)
    # Single parts of 50 items vary by more than 0.1.
    assert [claim.decision for claim in found.claims] == ["undecided", "holds"]
    assert figure(found).count('class="curve') == 4


def test_only_the_whole_table_is_the_published_one(data: Path) -> None:
    with pytest.raises(InputError, match="n_items=50; wanted 200"):
        reproduce("huse-table-1", data=str(data), n_items=50)
