"""Data frames of any make as columns: pandas, polars and Arrow tables."""

from typing import Any

import pyarrow as pa


def is_frame(value: Any) -> bool:
    """Whether a value has columns to take."""
    return isinstance(value, pa.Table) or all(hasattr(value, name) for name in ("columns", "head", "__getitem__"))


def frame_columns(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of a frame's columns and their cells."""
    if isinstance(frame, pa.Table):
        return frame.column_names, [column.to_pylist() for column in frame.columns]
    header = [str(label) for label in frame.columns]
    # By place, as two columns may share a name; which is refused further on, where it matters.
    columns = [
        (frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place]).to_list() for place in range(len(header))
    ]
    return header, columns
