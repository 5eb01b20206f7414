"""Precomputed vectors: three equivalent layouts, and one clear line for each possible error."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textassay.corpus.sample import Sample
from textassay.encoders import precomputed as module
from textassay.encoders.precomputed import Precomputed, precomputed
from textassay.errors import InputError
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material, Settings

SAMPLES = {
    "real": Sample.of(["a cat sat", "", "a dog ran", "rain fell"], name="real"),
    "mle": Sample.of(["a cat sat", "a cat ran"], name="mle"),
}
TEXTS = ["a cat sat", "a dog ran", "rain fell", "a cat sat", "a cat ran"]
ROWS = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [0.8, 0.6]], np.float32)


def npy(folder: Path, rows: Any) -> Path:
    np.save(folder / "all.npy", rows)
    return folder / "all.npy"


def npz(folder: Path, arrays: dict[str, Any]) -> Path:
    np.savez(folder / "all.npz", **arrays)
    return folder / "all.npz"


def parquet(folder: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), folder / "all.parquet")
    return folder / "all.parquet"


LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "npy": lambda folder: npy(folder, ROWS),
    "npy, columns first": lambda folder: npy(folder, np.asfortranarray(ROWS)),
    "npy, big-endian doubles": lambda folder: npy(folder, ROWS.astype(">f8")),
    "npz": lambda folder: npz(folder, {"mle": ROWS[3:], "other": np.zeros(3), "real": ROWS[:3]}),
    "parquet, stacked": lambda folder: parquet(folder, {"vector": list(ROWS)}),
    "parquet, fixed size": lambda folder: parquet(
        folder, {"vector": pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 2)}
    ),
    "parquet, by text": lambda folder: parquet(folder, {"vector": list(ROWS), "text": TEXTS, "id": range(5)}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_layouts_are_equivalent(layout: str, tmp_path: Path) -> None:
    encoder = precomputed(LAYOUTS[layout](tmp_path), samples=SAMPLES)
    assert encoder.dimension == 2
    assert encoder.name == precomputed(npy(tmp_path, ROWS), samples=SAMPLES).name
    values = encoder.encode(["rain fell", "a cat sat", "rain fell"])
    assert type(values) is np.ndarray
    assert values.dtype == np.float32
    assert values.tolist() == ROWS[[2, 0, 2]].tolist()
    assert encoder.encode([]).shape == (0, 2)


def test_cuts_of_samples_find_their_vectors(tmp_path: Path) -> None:
    settings = Settings(encoder=precomputed(npy(tmp_path, ROWS), samples=SAMPLES))
    cut = SAMPLES["real"].take(np.array([2, 0]))
    assert Material(cut, settings).view(Vectors).values.tolist() == ROWS[[2, 0]].tolist()


def test_parquet_by_text_is_in_any_order_and_may_hold_more(tmp_path: Path) -> None:
    file = parquet(tmp_path, {"text": ["more", *TEXTS[:0:-1]], "vector": [np.zeros(2), *ROWS[:0:-1].astype("f8")]})
    encoder = precomputed(file, samples=SAMPLES)
    assert encoder.encode(TEXTS).tolist() == ROWS.tolist()


def test_a_large_array_stays_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 2)
    encoder = precomputed(npy(tmp_path, ROWS), samples=SAMPLES)
    assert isinstance(encoder.values, np.memmap)
    assert encoder.encode(TEXTS).tolist() == ROWS.tolist()


@pytest.mark.parametrize("kind", ["f2", "f8", "i4", "u1"])
def test_numbers_of_any_kind_become_floats(kind: str, tmp_path: Path) -> None:
    rows = (ROWS * 10).astype(kind)
    values = precomputed(npy(tmp_path, rows), samples=SAMPLES).encode(TEXTS)
    assert values.dtype == np.float32
    assert values.tolist() == rows.astype(np.float32).tolist()


def test_the_name_depends_on_which_text_has_which_vector(tmp_path: Path) -> None:
    file = npy(tmp_path, ROWS)
    name = precomputed(file, samples=SAMPLES).name
    assert re.fullmatch("vectors/[0-9a-f]{16}", name)
    other = SAMPLES | {"mle": Sample.of(["a cat sat", "another"])}
    assert precomputed(file, samples=other).name != name
    assert precomputed(npy(tmp_path, ROWS * [1, 2]), samples=SAMPLES).name != name


def test_rounding_differences_of_a_repeated_text_are_no_error(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[3] = [0.999, 0.01]
    assert precomputed(npy(tmp_path, rows), samples=SAMPLES).encode(["a cat sat"]).tolist() == [[1, 0]]


def with_value(value: float, row: int = 4) -> Any:
    rows = ROWS.astype(np.float64)
    rows[row, 1] = value
    return rows


BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing file": (lambda folder: folder / "none.npy", r"none\.npy: no such file$"),
    "directory": (lambda folder: folder, "a directory; wanted a file$"),
    "one dimension": (
        lambda folder: npy(folder, np.zeros(5)),
        r"shape \(5,\); wanted two dimensions, one row per text$",
    ),
    "no columns": (lambda folder: npy(folder, np.zeros((5, 0))), r"shape \(5, 0\); wanted at least one column$"),
    "too few rows": (
        lambda folder: npy(folder, ROWS[:4]),
        r"all\.npy: 4 rows; wanted 5, one per text: 3 of 'real' \+ 2 of 'mle' \(blank texts left out\)$",
    ),
    "a row for the blank text": (
        lambda folder: npz(folder, {"real": ROWS[:4], "mle": ROWS[3:]}),
        r"all\.npz, array 'real': 4 rows; wanted 3, one per text: 3 of 'real' \(blank texts left out\)$",
    ),
    "no rows": (lambda folder: npy(folder, np.zeros((0, 2))), r"all\.npy: .*"),
    "two dimensions of vectors": (
        lambda folder: npz(folder, {"real": ROWS[:3], "mle": np.zeros((2, 3))}),
        r"array 'mle': 3 columns; wanted 2, as in the first array$",
    ),
    "missing sample": (
        lambda folder: npz(folder, {"reference": ROWS[:3], "mle": ROWS[3:]}),
        r"no array named 'real'; arrays are 'reference', 'mle'; wanted one per sample$",
    ),
    "empty npz": (
        lambda folder: npz(folder, {}),
        "no array named 'real', 'mle'; arrays are none; wanted one per sample$",
    ),
    "strings": (lambda folder: npy(folder, ROWS.astype(str)), "values of type <U32; wanted numbers$"),
    "complex": (lambda folder: npy(folder, ROWS.astype(complex)), "values of type complex128; wanted numbers$"),
    "NaN": (lambda folder: npy(folder, with_value(np.nan)), r"all\.npy, row 5: nan in column 2; wanted finite"),
    "infinity in an npz": (
        lambda folder: npz(folder, {"real": with_value(-np.inf, 1)[:3], "mle": ROWS[3:]}),
        r"all\.npz, array 'real', row 2: -inf in column 2; wanted finite 32-bit numbers$",
    ),
    "too large for 32 bits": (lambda folder: npy(folder, with_value(1e300)), r"row 5: 1e\+300 in column 2"),
    "two vectors of a text": (
        lambda folder: npy(folder, np.concatenate((ROWS[:3], -ROWS[:1], ROWS[4:]))),
        "rows 1 and 4 have different vectors for the text 'a cat sat'; wanted one vector per text$",
    ),
    "no vector column": (
        lambda folder: parquet(folder, {"text": TEXTS, "embedding": list(ROWS)}),
        "no column 'vector'; columns are 'text', 'embedding'$",
    ),
    "not lists": (
        lambda folder: parquet(folder, {"vector": TEXTS}),
        "column 'vector' is of type string; wanted lists of numbers$",
    ),
    "lists of strings": (lambda folder: parquet(folder, {"vector": [["x"]] * 5}), "type object; wanted numbers$"),
    "ragged": (
        lambda folder: parquet(folder, {"vector": [[1.0, 2.0], [1.0, 2.0], [1.0]]}),
        "row 3: a vector of 1 numbers; wanted 2, as in the first row$",
    ),
    "no vector in a row": (
        lambda folder: parquet(folder, {"vector": [[1.0, 2.0], None]}),
        "row 2: no vector; wanted one in every row$",
    ),
    "a missing value in a vector": (
        lambda folder: parquet(folder, {"vector": [[1.0, 2.0], [1.0, None]]}),
        "row 2: a missing value in the vector; wanted finite numbers$",
    ),
    "stacked parquet too short": (lambda folder: parquet(folder, {"vector": list(ROWS[1:])}), "4 rows; wanted 5"),
    "empty parquet": (
        lambda folder: parquet(folder, {"vector": pa.array([], pa.list_(pa.float32()))}),
        r"shape \(0, 0\); wanted at least one column$",
    ),
    "text without a vector": (
        lambda folder: parquet(folder, {"vector": list(ROWS[:4]), "text": TEXTS[:4]}),
        "no vector for 1 of 2 texts of 'mle', the first is text 2, 'a cat ran'; wanted one for every text$",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_one_clear_line(case: str, tmp_path: Path) -> None:
    make, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        precomputed(make(tmp_path), samples=SAMPLES)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


class Exploding:
    """An object that records being unpickled."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("save", [np.save, np.savez])
def test_pickles_are_never_loaded(save: Any, tmp_path: Path) -> None:
    rows = np.empty((5, 1), object)
    rows[:] = Exploding()
    file = tmp_path / ("all.npy" if save is np.save else "all.npz")
    save(file, **({"arr": rows} if save is np.save else {"real": rows, "mle": rows}), allow_pickle=True)
    with pytest.raises(InputError, match=r"cannot be read.*(objects|Object)"):
        precomputed(file, samples=SAMPLES)


@pytest.mark.parametrize("layout", ["npy", "npz", "parquet, by text"])
def test_damaged_files_are_an_error(layout: str, tmp_path: Path) -> None:
    file = LAYOUTS[layout](tmp_path)
    whole = file.read_bytes()
    expected = precomputed(file, samples=SAMPLES).encode(TEXTS)
    for size in [0, 3, 8, *range(16, len(whole), 41), len(whole) - 1]:
        file.write_bytes(whole[:size])
        with pytest.raises(InputError) as caught:
            precomputed(file, samples=SAMPLES)
        assert "\n" not in str(caught.value)
    file.write_bytes(whole)
    assert np.array_equal(precomputed(file, samples=SAMPLES).encode(TEXTS), expected)


def test_files_of_another_kind_are_named(tmp_path: Path) -> None:
    file = tmp_path / "vectors.npy"
    file.write_text("0.1 0.2\n")
    with pytest.raises(InputError, match=r"vectors\.npy: begins with b'0\.1 ', unlike any array file; wanted"):
        precomputed(file, samples=SAMPLES)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("real", "words")
        archive.writestr("mle", "words")
    with pytest.raises(InputError, match="array 'real': not an array; wanted"):
        precomputed(file, samples=SAMPLES)


def test_a_text_that_was_not_there_is_an_error(tmp_path: Path) -> None:
    encoder: Precomputed = precomputed(npy(tmp_path, ROWS), samples=SAMPLES)
    with pytest.raises(InputError, match=r"all\.npy: no vector for the text 'unseen\\ntext'"):
        encoder.encode(["a cat sat", "unseen\ntext"])
