"""Data frames of any make as columns: pandas, polars and Arrow tables, and Parquet files."""

from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.sources import Source
from textassay.corpus.tables import open_parquet

_MISSING = ("NAType", "NaTType")


def is_frame(value: Any) -> bool:
    """Whether a value has columns to take."""
    is_arrow = isinstance(value, pa.Table | pa.RecordBatch | pa.RecordBatchReader)
    return is_arrow or all(hasattr(value, name) for name in ("columns", "head", "__getitem__"))


def frame_columns(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of a frame's columns and their cells."""
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.schema.names, [column.to_pylist() for column in frame.columns]
    header = [str(label) for label in frame.columns]
    # By place, as two columns may share a name; which is refused further on, where it matters.
    columns = [
        (frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place]).to_list() for place in range(len(header))
    ]
    return header, columns


def parquet_columns(source: Source) -> tuple[list[str], list[list[Any]]]:
    """The names of a Parquet file's columns and their cells."""
    with open_parquet(source) as file:
        return frame_columns(file.read())


def plain_cell(cell: Any) -> Any:
    """A cell without the types of other libraries; their marks of missing values and NaN become None."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    is_nan = isinstance(cell, float) and cell != cell  # noqa: PLR0124 - only NaN differs from itself
    return None if is_nan or type(cell).__name__ in _MISSING else cell
