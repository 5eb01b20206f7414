"""The rows of a HUSE study for spreadsheets and data frames."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest

from tests.report.builders import huse_study
from textassay.inference.p_values import holm
from textassay.studies.huse.result import CSV_FIELDS

# A terminal obeys these.
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_csv_cells_are_no_formulas() -> None:
    text = huse_study(hostile=True).to_csv()
    cells = [cell for row in csv.DictReader(io.StringIO(text)) for cell in row.values()]
    numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    assert any(cell.startswith("'=cmd") for cell in cells)
    assert any(cell.startswith("'+1 |") for cell in cells)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@") and not numbers.fullmatch(cell)]
    assert not STEERING.search(text)
    assert len(text.splitlines()) == 1 + len(huse_study().items)


def test_csv_has_a_row_an_item() -> None:
    found = huse_study()
    listed = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert tuple(listed[0]) == CSV_FIELDS
    for row, each in zip(listed, found.items, strict=True):
        assert (row["item"], row["kind"], row["text"]) == (each.item.id, each.kind, each.item.text)
        assert row["source"] == ("pointer net" if each.item.is_model else "human")
        assert float(row["rating"]) == each.rating
        assert float(row["log_prob_per_token"]) == each.log_prob
        assert (float(row["votes"]), row["told"]) == (each.votes, str(each.told))


def test_what_is_not_known_is_empty() -> None:
    found = huse_study()
    first = replace(found.items[0], votes=math.nan, item=replace(found.items[0].item, context=None))
    row = next(csv.DictReader(io.StringIO(replace(found, items=(first,)).to_csv())))
    assert (row["votes"], row["context"]) == ("", "")


def test_pandas_reads_the_rows() -> None:
    pytest.importorskip("pandas")
    tidy = huse_study().to_frame()
    assert tidy["metric"].tolist() == ["huse", "huse_q", "huse_d"]
    assert set(tidy["candidate"]) == {huse_study().rated.model}
    first, second, third = (result.p_value for result in huse_study().results)
    assert first is not None
    assert second is not None
    assert third is None
    assert tidy["p_adjusted"].tolist()[:2] == holm([first, second])
    frame = huse_study().items_frame()
    assert list(frame.columns) == list(CSV_FIELDS)
    assert frame["kind"].tolist() == [row["kind"] for row in huse_study().csv_rows()]
