"""The rows of a conditional study for spreadsheets and data frames."""

import csv
import io
import re
from dataclasses import replace

import pytest

from tests.report.builders import HOSTILE_MARKUP, ONE_REFERENCE, conditional, hostile_conditional
from textassay.studies.conditional.result import CSV_FIELDS
from textassay.studies.outcome import FRAME_COLUMNS

# A terminal obeys these.
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_csv_cells_are_no_formulas() -> None:
    found = hostile_conditional([*HOSTILE_MARKUP[:2], "=cmd|' /C calc'!A0", "+1", "-2", "@x", "\tx", "\rx", "safe"])
    renamed = [replace(s, name=n) for s, n in zip(found.systems, ("=HYPERLINK(1)", "-x"), strict=True)]
    text = replace(found, systems=tuple(renamed)).to_csv()
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(read) == len(list(found.csv_rows()))
    assert {row["system"] for row in read} == {"human", "'=HYPERLINK(1)", "'-x"}
    assert {row["undefined"] for row in read} >= {"'=cmd|' /C calc'!A0", "'+1", "'-2", "'@x", "\\tx", "\\rx"}
    words = ("system", "item", "at", "label", "options", "miss", "undefined", "signature")
    assert not any(row[word][:1] in tuple("=+-@\t\r") for row in read for word in words)
    assert not STEERING.search(text)


def test_csv_has_people_first_and_a_row_a_result() -> None:
    found = conditional()
    listed = list(found.csv_rows())
    assert set(listed[0]) == set(CSV_FIELDS)
    assert [row["system"] for row in listed[:4]] == ["human"] * 4
    per_human, per_system = 4 + 12 * 4, 4 + 4 + 12 * 4
    assert len(listed) == per_human + 2 * per_system
    over = [row for row in listed if row["system"] == "beam" and row["item"] == "" and row["at"] == ""]
    assert [(row["label"], row["estimate"], row["n"]) for row in over][1] == ("trm meteor", 1.31, 12)
    assert (over[1]["p_value"], over[1]["fisher"], over[1]["simes"], over[1]["chance"]) == (
        0.0004,
        0.03,
        0.002,
        0.61,
    )
    small = [row for row in listed if row["system"] == "beam" and row["at"]]
    assert [row["at"] for row in small] == ["1 v 4", "2 v 3", "2 v 3", "2 v 3"]
    assert all(row["p_value"] is None for row in small)
    item = next(
        row for row in listed if row["system"] == "beam" and row["item"] == "img-0006" and row["metric"] == "trm"
    )
    assert (item["estimate"], item["undefined"], item["miss"]) == (None, ONE_REFERENCE, "untested")


def test_pandas_reads_the_rows() -> None:
    pytest.importorskip("pandas")
    found = conditional()
    tidy = found.to_frame()
    assert list(tidy.columns) == list(FRAME_COLUMNS)
    assert tidy["candidate"].tolist() == [name for name in found.names for _ in found.labels]
    frame = found.items_frame()
    assert list(frame.columns) == list(CSV_FIELDS)
    assert len(frame) == 2 * 12 * 4
    assert frame.loc[frame["item"] == "img-0000", "miss"].tolist()[-1] == "too narrow"
