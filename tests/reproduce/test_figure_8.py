"""Figure 8 of the triangle-rank paper: mixtures of captions, and what two metrics make of them."""

import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from textassay.corpus.arrays import F64
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings, get_distance
from textassay.errors import InputError
from textassay.metrics.items.item_pool import Pools, item_values
from textassay.metrics.registry import parse_requests
from textassay.reproduce.catalogue import reproduce
from textassay.reproduce.result import Reproduction
from textassay.reproduce.triangles.mixtures import DESIGN, Captions, Findings, Mixtures

WORDS = "a the man dog cat red big runs sits on under near park snow ball hat two white"
COMMITTED = ROOT / "docs" / "reproductions" / "trm-figure-8.json"


def captions(n: int, *, each: int = 5, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[" ".join(rng.choice(WORDS.split(), size=7)) for _ in range(each)] for _ in range(n)]


def folder_of(path: Path, references: list[list[str]]) -> str:
    (path / "captions").mkdir()
    items = [{"_id": n, "references": texts, "candidates": ["a"]} for n, texts in enumerate(references)]
    (path / "captions" / "coco_val_sample.json").write_text(json.dumps(items), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def found(data: Path) -> Reproduction:
    return reproduce("trm-figure-8", data=str(data))


@pytest.mark.parametrize("design", [DESIGN, Mixtures(references=3, pool=2, candidates=5)])
def test_all_mixtures_at_once_are_each_mixture_by_itself(design: Mixtures) -> None:
    references, correct, incorrect = captions(1, each=design.references)[0], *captions(2, each=design.pool, seed=1)
    table = TextTable.of([[*references, *correct, *incorrect]])
    distance = get_distance("edit", Surroundings(table))
    numbers = [np.array([table.number_of[text] for text in texts]) for texts in (references, correct, incorrect)]
    whole = design.item(distance, design.texts(*numbers))
    for request in parse_requests(["trm:distance=edit", "score:distance=edit"], on="items"):
        together = item_values(request, whole, design.labels).reshape(design.shape)
        for row, k in enumerate(design.most_different):
            for m in design.correct:
                right = [correct[at % k] for at in range(m)]
                wrong = [incorrect[at % k] for at in range(design.candidates - m)]
                alone = Pools(table, {"edit": distance}).pool([*right, *wrong], references)
                expected = item_values(request, alone, alone.observed)[0]
                assert together[row, m] == pytest.approx(expected, abs=1e-12)


def test_incorrect_captions_come_from_other_items() -> None:
    references = captions(6)
    references[1][0] = references[0][0].upper()  # the same caption to a distance on tokens, if they are in lower case
    table = TextTable.of(references)
    pools = Captions.of(table)
    for place, own in enumerate(pools.own):
        mine, correct, incorrect = pools.drawn(place, np.random.default_rng(place))
        assert sorted([*mine, *correct]) == sorted(own)
        assert len(set(incorrect)) == DESIGN.pool
        assert not set(incorrect) & set(own)
        owners = Counter(int(pools.owner[list(pools.everyone).index(number)]) for number in incorrect)
        assert max(owners.values()) == 1


def test_items_with_too_few_different_captions_are_left_out() -> None:
    table = TextTable.of([["a b", "a b", "c", "d", "e"], ["f", "g", "h", "i", "j"]])
    assert [len(own) for own in Captions.of(table).own] == [5]


def test_the_published_claims_hold(found: Reproduction) -> None:
    assert [claim.agrees for claim in found.claims] == [True] * 4
    trm, meteor = (np.array([[cell.estimate for cell in row] for row in grid.cells]) for grid in found.grids)
    assert np.ptp(meteor, axis=0).max() < 0.05 * np.ptp(meteor, axis=1).min()
    assert (np.diff(meteor, axis=1) > 0).all()
    assert np.ptp(trm, axis=0).min() > 0.1 * np.ptp(trm, axis=1).max()
    assert (np.diff(trm, axis=0) < 0).all(), "TRM falls with every further caption, whatever m is"
    assert (trm[:, 0] > trm[:, -1]).all()
    for grid in found.grids:
        assert all(cell.interval and cell.estimate in cell.interval for row in grid.cells for cell in row)


@pytest.mark.slow
def test_figure_9_shows_the_same(data: Path) -> None:
    assert [claim.agrees for claim in reproduce("trm-figure-9", data=str(data), n_items=100).claims] == [True] * 4


def test_the_committed_result_has_these_numbers(found: Reproduction) -> None:
    committed = Reproduction.from_json(COMMITTED.read_text(encoding="utf-8"))
    made, now = (re.sub(r"\|v:.*", "", line) for line in (committed.signature, found.signature))
    if made != now:
        pytest.skip("made with another WordNet or other data")
    shown, expected = (
        [cell.estimate for grid in each.grids for row in grid.cells for cell in row] for each in (committed, found)
    )
    assert shown == pytest.approx(expected, rel=1e-6)
    assert [claim.decision for claim in committed.claims] == [claim.decision for claim in found.claims]


def findings(trm: F64, score: F64) -> Findings:
    rng = np.random.default_rng(0)
    noise = [rng.normal(scale=0.01, size=(50, *values.shape)) for values in (trm, score)]
    return Findings(DESIGN, trm + noise[0], score + noise[1], distance="meteor", draws=1, seed=0)


def agreed(trm: F64, score: F64) -> list[bool]:
    made = findings(trm, score).reproduction("x", options={}, signature="", notes=())
    return [claim.agrees for claim in made.claims]


def test_claims_are_refused_where_the_numbers_do_not_show_them() -> None:
    k, m = np.meshgrid(np.arange(3.0), np.arange(7.0), indexing="ij")
    both, right = 3 - 0.2 * k - 0.1 * m, 0.1 * m
    assert agreed(both, right) == [True, True, True, True]
    assert agreed(both, right + 0.1 * k) == [True, False, True, True], "a score that sees diversity"
    assert agreed(both, 0.1 * k + 0 * m) == [False, False, True, True], "a score that sees nothing else"
    assert agreed(3 - 0.1 * m, right) == [True, True, True, False], "a TRM that is blind to diversity"
    assert agreed(3 - 0.2 * k, right) == [True, True, False, True], "a TRM that is blind to correctness"


def test_a_lowest_cell_that_is_not_all_correct_is_remarked_on() -> None:
    k, m = np.meshgrid(np.arange(3.0), np.arange(7.0), indexing="ij")
    for trm, said in ((3 - 0.2 * k - 0.1 * m, False), (3 - 0.2 * k + (m - 4) ** 2, True)):
        notes = findings(trm, m).reproduction("x", options={}, signature="", notes=()).notes
        assert any("lowest at m = 4, k = 3" in note for note in notes) is said


def test_a_seed_fixes_every_number(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, captions(14))
    first, again, other = (reproduce("trm-figure-8", data=folder, n_items=12, seed=seed) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.grids != other.grids
    assert json.loads(first.to_json())["options"] == {"scale": "laptop", "items": 12, "seed": 1}
    assert all(math.isfinite(cell.estimate) for grid in first.grids for row in grid.cells for cell in row)


@pytest.mark.parametrize(
    ("references", "n_items", "message"),
    [
        (captions(9), 9, "9 items have 5 different references; wanted at least 10 such items"),
        (captions(20, each=4), 10, "0 items have 5 different references"),
        (captions(12), 13, "n_items=13; wanted 10 to 12"),
        (captions(12), 0, "n_items=0; wanted a whole number of 1 or more"),
        (captions(1) * 12, 10, "fewer than 3 other items have captions that differ from its own"),
    ],
)
def test_data_that_cannot_show_it_is_refused(
    tmp_path: Path, references: list[list[str]], n_items: int, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        reproduce("trm-figure-8", data=folder_of(tmp_path, references), n_items=n_items)
    assert "\n" not in str(refused.value)
