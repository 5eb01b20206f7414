"""Process-wide settings are the same for overlapping work and restored when the last of it ends."""

import csv
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from textassay import compare
from textassay.corpus import tables
from textassay.corpus.process_settings import LONGEST_FIELD, long_csv_fields, single_threaded_products
from textassay.corpus.readers import read_sample
from textassay.errors import InputError


def product_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_overlapping_work_keeps_the_limit_until_the_last_ends() -> None:
    """The first to begin is the first to end: the one still running must not see the limit lifted."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        before = product_threads()
        first, second = single_threaded_products(), single_threaded_products()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert product_threads() == {1}
        second.__exit__(None, None, None)
        assert product_threads() == before


def test_a_failure_restores_the_setting() -> None:
    before, inside = csv.field_size_limit(), []

    def fail() -> None:
        with long_csv_fields():
            inside.append(csv.field_size_limit())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert inside == [max(LONGEST_FIELD, before)]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("rows", ["a,b\n", 'a,"never closed\n'])
def test_reading_a_csv_file_leaves_the_limit_unchanged(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a field above the limit, with several chunks of rows, and after an error."""
    monkeypatch.setattr(tables, "_ROWS", 2)
    before = csv.field_size_limit()
    path = tmp_path / "texts.csv"
    path.write_text("text,other\n" + f"{'x' * (before + 1)},y\n" * 5 + rows)
    with nullcontext() if rows == "a,b\n" else pytest.raises(InputError, match="broken row"):
        assert len(read_sample(path, field="text")) == 6
    assert csv.field_size_limit() == before


def test_threads_that_compare_at_once_get_the_same_numbers() -> None:
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(60)]
    samples = [[" ".join(rng.choice(words, 8)) for _ in range(40)] for _ in range(2)]
    barrier = Barrier(6)

    def job(_: int) -> list[float]:
        barrier.wait()
        found = compare(*samples, metrics="energy,frechet,vendi", encoder="lsa", n_resamples=0)
        return [result.estimate for result in found["candidate"].results]

    with threadpool_limits(2), ThreadPoolExecutor(6) as pool:
        before = product_threads()
        found = list(pool.map(job, range(6)))
        assert product_threads() == before
    assert all(numbers == found[0] for numbers in found)
