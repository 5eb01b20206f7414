"""Items that share texts: which are linked, how their texts are dealt, and that the combined test keeps its level."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.laws import corpus
from textassay import Conditional, Item, ItemSet, conditional
from textassay.engines.local import LocalEngine
from textassay.inference.items.means import bootstrap_interval, paired
from textassay.inference.items.shared_texts import MOST_TEXTS, Clusters, clusters, cut, places_of
from textassay.inference.p_values import is_significant

F64 = NDArray[np.float64]
LONG = tuple(f"a long reference text number {number}" for number in range(9))


def item(name: str, references: tuple[str, ...], candidates: tuple[str, ...] = (), prompt: str | None = None) -> Item:
    return Item(name, references, {"s": candidates} if candidates else {}, prompt)


@pytest.mark.parametrize(
    ("one", "other", "linked"),
    [
        (item("a", LONG[:4]), item("b", LONG[:4]), True),
        (item("a", LONG[:4]), item("b", LONG[2:6]), True),
        (item("a", LONG[:5]), item("b", LONG[3:8]), False),  # two of five
        (item("a", LONG[:1]), item("b", LONG[:1]), False),  # one text may meet another by chance
        (item("a", ("yes", "no", "maybe")), item("b", ("yes", "no", "maybe")), False),  # and so may short ones
        (item("a", ("yes", "no"), prompt="is it?"), item("b", ("no", "yes"), prompt="is it?"), True),
        (item("a", ("yes", "no"), prompt="is it?"), item("b", ("no", "yes"), prompt="was it?"), False),
        (item("a", LONG[:2], LONG[4:6]), item("b", LONG[2:4], LONG[5:3:-1]), True),
        (item("a", LONG[:2], LONG[4:5]), item("b", LONG[2:4], LONG[4:5]), False),  # a system repeats itself
        (item("a", LONG[:2], LONG[4:5], "p"), item("b", LONG[2:4], LONG[4:5], "p"), True),
        (item("a", (), ()), item("b", (), ()), False),
    ],
)
def test_which_items_are_linked(one: Item, other: Item, linked: bool) -> None:
    assert clusters([one, item("c", (LONG[8], "and another long text")), other], ["s"]) == ([[0, 2]] if linked else [])


def test_candidates_of_other_systems_link_nothing() -> None:
    items = [item("a", LONG[:2], LONG[4:6]), item("b", LONG[2:4], LONG[4:6])]
    assert clusters(items) == clusters(items, ["other"]) == []


def test_stock_replies_link_nothing() -> None:
    """A text that an item has twice is written again and again: items that have it share nothing."""
    items = [item("a", LONG[:2], LONG[4:6]), item("b", LONG[:2], LONG[4:6]), item("c", LONG[6:8])]
    assert clusters(items) == clusters(items, ["s"]) == [[0, 1]]
    twice = [item("d", (LONG[0], LONG[0])), item("e", LONG[1:2] * 2)]
    assert clusters([*items, *twice]) == []
    assert clusters([*items, *twice], ["s"]) == [[0, 1]]
    # One of two may be.
    assert clusters([*items, twice[0]]) == [[0, 1]]
    assert clusters([*items, *twice, item("f", LONG[4:6])], ["s"]) == []


@pytest.mark.slow
def test_stock_replies_on_both_sides_keep_the_level() -> None:
    rng = np.random.default_rng(8)
    rejected = []
    for seed in range(60):
        made = []
        for place in range(10):
            texts = corpus(100 * seed + place, 11)[2:]
            stock = rng.integers(3, size=9)
            texts = [LONG[s] if rng.random() < 0.5 else text for s, text in zip(stock, texts, strict=True)]
            made.append(item(str(place), tuple(texts[:4]), tuple(texts[4:])))
        found = conditional(ItemSet.of(made), metrics=["trm:distance=edit"], n_resamples=99, seed=seed)
        assert found.systems[0].results[0].parts["units"] == 10
        rejected.append(is_significant(found.systems[0].results[0].p_value, 0.95))
    assert np.mean(rejected) <= 0.11, np.mean(rejected)


def test_links_are_followed() -> None:
    chain = [item(str(at), (LONG[at], LONG[at + 1], f"{LONG[at]} of its own")) for at in range(8)]
    assert clusters(chain) == []
    rings = [item(str(at), LONG[at : at + 3]) for at in range(7)]
    assert clusters(rings) == [list(range(7))]
    many = [item(str(at), LONG[:3]) for at in range(500)]
    assert clusters(many) == [list(range(500))]


def test_a_shared_text_has_one_place_and_whatever_is_dealt_there_is_shared() -> None:
    items = [item("a", LONG[:3], LONG[3:5]), item("b", (*LONG[:2], LONG[0]), LONG[3:5]), item("c", LONG[:2], LONG[5:6])]
    places = places_of(items, "s")
    assert [[places.texts[at] for at in each] for each in places.references] == [list(i.references) for i in items]
    assert [[places.texts[at] for at in each] for each in places.candidates] == [list(i.candidates["s"]) for i in items]
    # A copy within an item has a place of its own; the same list of candidates is dealt once.
    assert len(places.texts) == 4 + 2 + 1
    dealt = places.dealt(200, seed=0, key="a")
    assert dealt[0].tolist() == list(range(7))
    assert (np.sort(dealt, axis=1) == np.arange(7)).all()
    assert abs(dealt[1:].mean(axis=0) - 3).max() < 0.7


def test_large_clusters_are_cut_to_what_can_be_measured() -> None:
    items = [item(str(at), LONG[:4], (f"candidate number {at} of many",)) for at in range(300)]
    kept = cut(items, "s", seed=0)
    assert len(kept) == MOST_TEXTS - 4
    assert kept != items[: len(kept)]
    assert cut(items[:10], "s", seed=0) == items[:10]


def shared(seed: int, *, count: int = 8, share: int = 4) -> ItemSet:
    """One source; `share` items with one candidate each have the same references."""
    made = []
    for cluster in range(count):
        texts = [f"text {number}: {text}" for number, text in enumerate(corpus(1000 * seed + cluster, 5 + share)[2:])]
        texts = np.random.default_rng([seed, cluster]).permutation(texts).tolist()
        made += [item(f"{cluster}-{at}", tuple(texts[:3]), (texts[3 + at],)) for at in range(share)]
    return ItemSet.of(made)


def study(items: ItemSet, **options: object) -> Conditional:
    return conditional(items, metrics=["score:distance=edit"], n_resamples=199, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_shared_references_do_not_make_false_differences() -> None:
    found = [study(shared(seed), seed=seed).systems[0].results[0].p_value for seed in range(60)]
    rejected = np.mean([is_significant(p, 0.95) for p in found])
    # 5 % and two standard errors; with each item by itself 15 % of these sets are.
    assert rejected <= 0.11, rejected


def test_clusters_are_said_counted_and_do_not_depend_on_workers() -> None:
    items = shared(3)
    one, other = (study(items, engine=LocalEngine(n)) for n in (1, 3))
    assert one.systems[0].results[0].parts == other.systems[0].results[0].parts
    assert one.systems[0].results[0].parts["units"] == 8
    assert any(note.startswith("32 items share references or candidates") for note in one.notes)
    assert Conditional.from_json(one.to_json()) == one


def test_items_listed_twice_are_no_further_evidence() -> None:
    """Every item four times: a p-value that took copies for new items would be far smaller."""
    made = [
        item(f"{at}", tuple(f"reference {n}: {t}" for n, t in enumerate(corpus(at, 5)[1:])), (f"candidate {at} a b",))
        for at in range(10)
    ]
    copies = [Item(f"{i.id}-{copy}", i.references, i.candidates) for i in made for copy in range(4)]
    once, often = (study(ItemSet.of(some)).systems[0].results[0] for some in (made, copies))
    assert often.parts["units"] == once.parts["units"] == 10
    assert often.parts["z"] == pytest.approx(once.parts["z"], rel=0.05)
    assert often.estimate == pytest.approx(once.estimate)


def test_intervals_and_signs_are_drawn_by_cluster() -> None:
    rng = np.random.default_rng(5)
    values = np.repeat(rng.normal(size=15), 6)
    groups = Clusters.of(90, [list(range(at, at + 6)) for at in range(0, 90, 6)])

    def interval(some: F64, clusters: Clusters | None = None) -> tuple[float, float]:
        found = bootstrap_interval(some, level=0.95, n_resamples=999, seed=0, clusters=clusters)
        assert found is not None
        return found

    def p_value(some: F64, clusters: Clusters | None = None) -> float:
        return paired(some, 0 * some, level=0.95, n_resamples=0, seed=0, clusters=clusters).p_value

    alone, naive = interval(values[::6]), interval(values)
    assert interval(values, groups) == pytest.approx(alone)
    assert naive[1] - naive[0] < 0.6 * (alone[1] - alone[0])
    assert p_value(values, groups) == pytest.approx(p_value(values[::6]), abs=0.02)


def test_clusters_of_two_systems_are_joined() -> None:
    joined = Clusters.of(6, [[0, 2], [3, 4]]).joined(Clusters.of(6, [[2, 3]]))
    numbers = joined.numbers
    assert len({int(numbers[at]) for at in (0, 2, 3, 4)}) == 1
    assert len(set(numbers.tolist())) == 3
