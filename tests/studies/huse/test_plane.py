"""Several models in one plane: what dominates what, how models are read, and what is refused."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.rating_laws import rated_items
from tests.report.builders import assert_harmless
from tests.studies.huse.test_input import rows_of
from textassay import HusePlane, InputError, huse, huse_plane
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.studies.huse.plane import Point, boundary, dominates

FAST: dict[str, Any] = {"k": 4, "n_resamples": 39}


def models() -> dict[str, RatedItems]:
    """Models whose texts are rated lower and lower."""
    found = {}
    for apart in (0.0, 0.8, 3.0):
        rated = rated_items(60, seed=1, apart=apart)
        items = tuple(replace(item, log_prob=item.log_prob - 9 * item.length) for item in rated.items)
        found[f"t={apart:g}"] = replace(rated, items=items)
    return found


@pytest.fixture(scope="module")
def plane() -> HusePlane:
    return huse_plane(models(), **FAST)


def test_each_model_has_its_own_scores_and_all_tests_are_corrected_together(plane: HusePlane) -> None:
    for name, rated in models().items():
        alone = huse(rated, stability=False, **FAST)
        for ours, own in zip(plane[name].results, alone.results, strict=True):
            assert (ours.estimate, ours.interval, ours.p_value) == (own.estimate, own.interval, own.p_value)
    adjusted = [p for model in plane.models for p in plane.adjusted_p_values(model) if not math.isnan(p)]
    raw = [r.p_value for model in plane.models for r in model.results if r.p_value is not None]
    assert len(adjusted) == len(raw) == 6
    assert min(adjusted) == pytest.approx(min(1.0, 6 * min(raw)))


@pytest.mark.parametrize("seed", range(8))
def test_the_region_is_what_models_dominate(seed: int) -> None:
    """Every model lies under the boundary or on it, and on it are those that none dominates."""
    rng = np.random.default_rng(seed)
    points: list[Point] = [(float(d), float(q)) for d, q in rng.uniform(0, 1.2, (7, 2)).round(1)]
    edge = boundary(points)
    assert list(edge) == sorted(edge, key=lambda point: (point[0], -point[1]))
    for point in points:
        beaten = any(dominates(other, point) for other in points)
        assert (point in edge[1:-1]) == (not beaten)
        highest = np.interp(point[0], [d for d, _ in edge[:-1]], [q for _, q in edge[:-1]])
        assert point[1] <= highest + 1e-12
        if beaten:
            # On the boundary there is more HUSE at the same proportion.
            grown = max(t for t in np.linspace(1, 50, 5000) if _under(t * np.array(point), edge))
            assert grown > 1 or point[0] == edge[-1][0] or point[1] == edge[0][1]


def _under(point: np.ndarray, edge: tuple[Point, ...]) -> bool:
    across, up = zip(*edge[:-1], strict=True)
    return bool(point[0] <= edge[-1][0] + 1e-12 and point[1] <= np.interp(point[0], across, up) + 1e-12)


def test_all_forms_have_every_model(plane: HusePlane) -> None:
    assert HusePlane.from_json(plane.to_json()) == plane
    evil = replace(plane.models[0], name="<script>alert(1)</script>\x1b[31m")
    hostile = replace(plane, models=(evil, *plane.models[1:]))
    assert_harmless(hostile)
    for text in (plane.to_html(), plane.to_markdown(), str(plane), plane.to_csv()):
        assert all(name in text for name in plane.names)
    assert len(plane.to_frame()) == 9
    assert {point["huse_d"] for point in plane.to_dict()["boundary"]} >= {0.0}


def test_files_tables_and_a_column_are_the_same_models(tmp_path: Path, plane: HusePlane) -> None:
    paths, joined = [], []
    for name, rated in models().items():
        rows = [row | {"context": rated.items[int(str(row["item"])[1:])].context} for row in rows_of(rated)]
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        paths.append(str(path))
        joined += [row | {"model": name} for row in rows]
    for given in (paths, list(map(Path, paths)), joined):
        found = huse_plane(given, **FAST)
        assert [r.estimate for m in found.models for r in m.results] == [
            r.estimate for m in plane.models for r in m.results
        ]
        assert found.names == plane.names
    assert huse(joined, model="t=0.8", **FAST).results[0].estimate == plane["t=0.8"]["huse"].estimate
    with pytest.raises(InputError, match=r"'model' has 3 models: 't=0', 't=0.8', 't=3'; wanted one"):
        huse(joined)
    with pytest.raises(InputError, match="'model' has no model 'gone'"):
        huse(joined, model="gone")
    with pytest.raises(InputError, match="1 model; a plane needs two or more"):
        huse_plane({"a": joined[:300]}, **FAST)


def test_a_file_without_one_of_the_scores_is_refused(plane: HusePlane) -> None:
    with pytest.raises(InputError, match="a model without one of huse, huse_q, huse_d"):
        HusePlane.from_json(plane.to_json().replace('"metric": "huse_d"', '"metric": "x"', 1))


@pytest.mark.parametrize(("kept", "message"), [(10, "10 common contexts of 50"), (0, "have no common context")])
def test_other_contexts_are_noted_or_refused(kept: int, message: str) -> None:
    one = rated_items(60, seed=1)
    moved = tuple(
        item if int(str(item.context).split()[1]) < kept else replace(item, context=f"other {item.context}")
        for item in one.items
    )
    given = {"a": one, "b": replace(one, items=moved)}
    if not kept:
        with pytest.raises(InputError, match=message):
            huse_plane(given, **FAST)
        return
    assert sum(message in note for note in huse_plane(given, **FAST).notes) == 1


def test_what_is_true_of_all_models_is_said_once(plane: HusePlane) -> None:
    summary = plane.document().summary
    assert [row.why for row in summary.rows] == [(), (), ()]
    assert len(summary.caveats) == 1
    assert "resamples are too few" in summary.caveats[0]
    assert summary.sentence.startswith("Ahead: ")
