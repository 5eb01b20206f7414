"""The grid of a sweep: ranges, lists, names and errors."""

from pathlib import Path

import pytest

from textassay import InputError
from textassay.studies.sweep.grid import MOST_SETTINGS, checkpoint_files, grid_points, grid_values


def test_ranges_have_exact_ends_and_no_rounding_noise() -> None:
    assert grid_values("temperature", "0.5:1.5:0.1") == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    assert grid_values("temperature", "0.5:1:0.3") == [0.5, 0.8]
    assert grid_values("temperature", "1:1:1") == [1.0]


def test_a_range_by_a_factor_has_equal_ratios() -> None:
    values = grid_values("temperature", f"{1.5**-3}:{1.5**4}:x1.5")
    assert values == pytest.approx([1.5**power for power in range(-3, 5)], rel=1e-9)
    assert grid_values("top_k", "1:10:x1.5") == [1, 2, 3, 5, 8]


def test_lists_are_sorted_without_repetitions_and_may_mix_with_ranges() -> None:
    assert grid_values("temperature", "2, 0.5,1:1.5:0.25,1") == [0.5, 1.0, 1.25, 1.5, 2.0]
    assert grid_values("top_k", [40, None, 10, 10]) == [10, 40, None]
    assert grid_values("top_p", "0.9,none") == [0.9, None]


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("temperature", "0:1:0.5", "temperature=0.0; wanted a finite number above 0; greedy decoding is top_k=1"),
        ("temperature", -1, "temperature=-1.0; wanted a finite number above 0"),
        ("temperature", "", "wanted numbers such as"),
        ("temperature", [], "wanted numbers such as"),
        ("temperature", "warm", "temperature='warm'; wanted numbers such as"),
        ("temperature", "0.5:1", "wanted numbers such as"),
        ("temperature", "nan", "wanted numbers such as"),
        ("temperature", "1.5:0.5:0.1", "wanted the start below the end, and a step above 0"),
        ("temperature", "0.5:1.5:0", "wanted the start below the end, and a step above 0"),
        ("temperature", "0.5:1.5:x1", "wanted the start below the end, and a start above 0 and a factor above 1"),
        ("temperature", "0.5:1.5:1e-9", "1,000,000,001 values; wanted at most 200 settings"),
        ("temperature", "0.5:1e308:1e-308", "temperature='0.5:1e308:1e-308'; wanted at most 200 settings"),
        ("temperature", "1e-320:1e308:x1.1", ": 15,172 values; wanted at most 200 settings"),
        ("top_k", 2.5, "top_k=2.5; wanted a whole number of 1 or more"),
        ("top_k", "0,1", "top_k=0; wanted a whole number of 1 or more"),
        ("top_p", "0.5,1.5", "top_p=1.5; wanted a number above 0, at most 1"),
    ],
)
def test_bad_grids_are_refused(name: str, given: object, wanted: str) -> None:
    with pytest.raises(InputError) as caught:
        grid_values(name, given)
    assert wanted in str(caught.value)


def test_settings_are_all_combinations_and_named_by_what_varies() -> None:
    assert [point.name for point in grid_points(None, None, None, models=["m"])][:2] == ["t=0.5", "t=0.6"]
    assert [point.name for point in grid_points("0.7,1", None, "0.9,none", models=["m"])] == [
        "t=0.7,p=0.9",
        "t=0.7,p=none",
        "t=1,p=0.9",
        "t=1,p=none",
    ]
    assert [point.name for point in grid_points(None, "1,2", None, models=["m"])] == ["k=1", "k=2"]
    assert [point.name for point in grid_points(None, None, None, models=["a", "b"])] == ["a t=1", "b t=1"]


def test_close_values_have_different_names() -> None:
    assert [point.name for point in grid_points("0.1234567,0.1234568", "1234567,1234568", None, models=["m"])] == [
        "t=0.1234567,k=1234567",
        "t=0.1234567,k=1234568",
        "t=0.1234568,k=1234567",
        "t=0.1234568,k=1234568",
    ]


def test_a_grid_of_too_many_combinations_is_refused() -> None:
    with pytest.raises(InputError, match=f"a grid of 220 settings; wanted at most {MOST_SETTINGS}"):
        grid_points("0.5:1.5:0.1", "1:20:1", None, models=["m"])


def test_checkpoints_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        (tmp_path / f"epoch-{number}.safetensors").touch()
    assert list(checkpoint_files(str(tmp_path / "*.safetensors"))) == ["epoch-1", "epoch-2", "epoch-10"]
    with pytest.raises(InputError, match="no file matches"):
        checkpoint_files(str(tmp_path / "step-*.safetensors"))
