"""Designs of exchanges: which labels may move, and that every allowed labelling is as likely as every other."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay import InputError, Sample
from textassay.corpus.sample import group_numbers
from textassay.inference.permutation import MOST_UNITS, Design, design_of, fewest_groups, independent


def sample(groups: list[str] | None, size: int = 0) -> Sample:
    """A sample of different texts with these groups."""
    count = len(groups) if groups is not None else size
    return Sample.of(
        [f"text {place}" for place in range(count)],
        groups=None if groups is None else pa.array(groups, type=pa.large_string()),
    )


def of_groups(mine: list[str], theirs: list[str]) -> Design:
    return design_of(sample(mine), sample(theirs), seed=0)


def by_text(design: Design, n_resamples: int = 200, seed: int = 0) -> np.ndarray:
    """Which texts are the candidate's, one row per labelling."""
    return design.labellings(n_resamples, seed)[:, design.units]


def test_the_first_labelling_is_what_was_observed() -> None:
    for design, n in ((independent((7, 9), 0), 7), (of_groups(["a", "a", "b"], ["c", "d", "d"]), 3)):
        assert by_text(design)[0].tolist() == [True] * n + [False] * (len(design.units) - n)


def test_few_labellings_are_listed_once_each() -> None:
    rows = by_text(independent((2, 3), 0))
    assert Counter(map(tuple, rows.tolist())) == Counter(
        tuple(place in chosen for place in range(5)) for chosen in combinations(range(5), 2)
    )


def test_whole_groups_move_where_no_group_is_shared() -> None:
    design = of_groups(["a", "a", "b", "c"], ["d", "d", "d", "e", "f"])
    assert design.kind == "grouped"
    assert design.n_groups == (3, 3)
    rows = by_text(design)
    assert len(rows) == 20
    for row in rows:
        assert row[0] == row[1]
        assert row[4] == row[5] == row[6]
        assert sum(row[[0, 2, 3, 4, 7, 8]]) == 3


def test_texts_move_within_groups_that_both_samples_have() -> None:
    design = of_groups(["a", "b", "b"], ["a", "a", "b"])
    assert design.kind == "paired"
    rows = by_text(design)
    expected = {
        tuple(place in {*one, *two} for place in range(6))
        for one, two in product(combinations((0, 3, 4), 1), combinations((1, 2, 5), 2))
    }
    assert {tuple(row) for row in rows.tolist()} == expected
    assert len(rows) == len(expected)


def test_shared_and_other_groups_move_each_in_their_way() -> None:
    design = of_groups(["a", "a", "x", "x", "y"], ["a", "a", "z", "v", "v"])
    assert design.kind == "paired+grouped"
    for row in by_text(design):
        assert row[[0, 1, 5, 6]].sum() == 2
        assert row[2] == row[3]
        assert row[8] == row[9]
        assert row[[2, 4, 7, 8]].sum() == 2


@given(
    st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=12),
    st.lists(st.sampled_from("efghijk"), min_size=2, max_size=12),
)
@settings(max_examples=60, deadline=None)
def test_any_groups_keep_their_shape_under_every_labelling(mine: list[str], theirs: list[str]) -> None:
    design = of_groups(mine, theirs)
    names = np.array(mine + theirs)
    shared = set(mine) & set(theirs)
    for row in by_text(design, 30):
        for name in set(names):
            labels = row[names == name]
            if name in shared:
                assert labels.sum() == mine.count(name)
            else:
                assert labels.all() or not labels.any()


def test_random_labellings_within_groups_are_all_equally_likely() -> None:
    design = of_groups(list("abcd") * 2, list("abcd") * 2)
    rows = design.labellings(50, 0)
    assert len(rows) == 51
    many = np.concatenate([design.labellings(50, seed)[1:] for seed in range(60)])[:, design.units]
    counts = Counter(map(tuple, many[:, [0, 4, 8, 12]].tolist()))
    assert len(counts) == 6
    assert max(counts.values()) < 1.3 * min(counts.values())


def test_many_pairs_are_joined_in_blocks_that_swap_together() -> None:
    names = [f"p{i}" for i in range(3000)]
    design = of_groups(names, names[::-1])
    assert design.block > 1
    assert design.n_units <= MOST_UNITS + 2
    row = by_text(design, 20)[5]
    mine, theirs = row[:3000], row[3000:][::-1]
    assert (mine != theirs).all()
    assert 0.3 < mine.mean() < 0.7


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (["p"] * 20_000, ["p"] * 20_000),
        ([f"p{i}" for i in range(50_000)], [f"p{i}" for i in range(1000)]),
        ([f"p{i % 40}" for i in range(9000)], [f"p{i % 40}" for i in range(9000)]),
    ],
    ids=["one large shared group", "groups of one side", "forty large shared groups"],
)
def test_the_number_of_units_is_bounded(mine: list[str], theirs: list[str]) -> None:
    design = of_groups(mine, theirs)
    assert design.n_units <= 1.5 * MOST_UNITS
    assert by_text(design, 20)[0].sum() == len(mine)
    names = np.array(mine + theirs)
    row = by_text(design, 20)[7]
    for name in {*mine[:3], *theirs[:3]} & set(mine) & set(theirs):
        assert abs(int(row[names == name].sum()) - mine.count(name)) == 0
    assert not np.array_equal(row, by_text(design, 20)[0])


def test_numbers_of_groups_that_a_test_needs() -> None:
    assert of_groups(list("abc"), list("def")).smallest_p(999) == pytest.approx(2 / 20)
    assert of_groups(list("abc"), list("defg")).smallest_p(999) == pytest.approx(1 / 35)
    assert of_groups(list("abcde"), list("abcde")).smallest_p(999) == pytest.approx(2 / 32)
    assert fewest_groups(0.99, paired=True) == 8
    assert fewest_groups(0.99, paired=False) == 5


def test_groups_on_one_side_only_are_refused() -> None:
    with pytest.raises(InputError, match="the reference has no groups"):
        design_of(sample(["a", "b"]), sample(None, 2), seed=0)


def test_groups_are_numbered_over_all_samples() -> None:
    count, numbers = group_numbers(pa.array(["x", "y"]), pa.array(["y", "z"]))
    assert count == 3
    assert numbers.tolist() == [0, 1, 1, 2]
