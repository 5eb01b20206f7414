"""The outcome of a comparison as CSV and as a data frame: one row per candidate and metric."""

from dataclasses import replace

import pytest

from tests.report.builders import compare_result, comparison
from textassay.studies.compare.result import Comparison


def smaller(found: Comparison, *places: int) -> Comparison:
    """The candidates at these places measured again at half their size."""
    again = {"cr-2": compare_result("cr", 0.777, n=250, p=0.5)}
    columns = [replace(c, at_baseline_size=again) if i in places else c for i, c in enumerate(found.candidates)]
    return replace(found, candidates=tuple(columns))


def test_results_at_the_size_of_the_baseline_follow_their_column() -> None:
    found = smaller(comparison(metrics=[("cr", 2), ("nrr", 2)], real_n=250), 0)
    listed = [(row["candidate"], row["label"], row["n"]) for row in found.csv_rows()]
    assert listed == [
        ("real v real", "cr-2", 250),
        ("real v real", "nrr-2", 250),
        ("small", "cr-2", 500),
        ("small", "nrr-2", 500),
        ("small", "cr-2", 250),
        ("large", "cr-2", 500),
        ("large", "nrr-2", 500),
    ]
    again = list(found.csv_rows())[4]
    assert (again["estimate"], again["p_value"], again["p_adjusted"]) == (0.777, None, None)
    assert "small,250,cr,cr-2,n=2,0.777," in found.to_csv()


def test_a_data_frame_has_one_row_per_candidate_and_metric() -> None:
    pytest.importorskip("pandas")
    found = smaller(comparison(metrics=[("cr", 2), ("nrr", 2)], real_n=250), 0)
    frame = found.to_frame()
    assert list(zip(frame["candidate"], frame["label"], strict=True)) == [
        ("small", "cr-2"),
        ("small", "nrr-2"),
        ("large", "cr-2"),
        ("large", "nrr-2"),
    ]
    assert frame["baseline"].tolist() == [result.estimate for result in found.real.results] * 2
    assert found.to_pandas().equals(frame)
