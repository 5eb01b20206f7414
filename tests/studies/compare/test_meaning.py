"""What differs in meaning: planted topics and outliers are found, named and counted; nothing is found in a copy."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ToyEncoder, material
from textassay.corpus.printable import printable
from textassay.metrics.views import Material
from textassay.studies.compare.meaning import (
    FAR,
    FEWEST_TEXTS,
    MOST_POINTS,
    Meaning,
    Region,
    between,
    describe,
    nearest,
    plane,
    what_differs_in_meaning,
)
from textassay.studies.compare.result import Comparison
from textassay.studies.compare.study import compare

TOPICS = {
    "sea": "sea ship wave sailor",
    "kitchen": "kitchen stove spoon cook",
    "court": "court judge law verdict",
    "garden": "garden rose soil bee",
    "space": "space rocket orbit moon",
}
EVEN = dict.fromkeys(TOPICS, 60)


def texts(counts: dict[str, int], seed: int = 0) -> list[str]:
    """So many texts about each topic: three of its words and two that stand anywhere, shuffled."""
    rng = random.Random(seed)
    made = []
    for topic, count in counts.items():
        for _ in range(count):
            words = rng.sample(TOPICS[topic].split(), 3) + rng.choices(["the", "a", "of", "very", "old", "red"], k=2)
            made.append(" ".join(rng.sample(words, len(words))))
    rng.shuffle(made)
    return made


def side(found: Sequence[str]) -> Material:
    """A material with vectors wide enough that topics do not meet by chance."""
    plain = material(found)
    return replace(plain, settings=replace(plain.settings, encoder=ToyEncoder(dimension=48)))


def look(candidate: Sequence[str], reference: Sequence[str], seed: int = 0) -> Meaning:
    """What differs, which must be there."""
    found = what_differs_in_meaning(side(candidate), side(reference), seed=seed)
    assert found is not None
    return found


def topics(regions: Sequence[Region]) -> set[str]:
    """The topics whose words name these regions."""
    named = {word for region in regions for word in region.words}
    return {topic for topic, vocabulary in TOPICS.items() if named & set(vocabulary.split())}


def test_topics_with_too_much_and_too_little_are_found_and_named() -> None:
    # Many more clusters than topics, so that wherever k-means begins, no cluster has to hold two of them.
    planted = {"sea": 900, "court": 100, "garden": 500}
    found = look(texts(planted), texts(dict.fromkeys(planted, 500), seed=1))
    over, under = found.over(0.95), found.under(0.95)
    assert topics(over[:1]) == {"sea"}
    assert topics(under[:1]) == {"court"}
    assert "court" not in topics(over)
    assert "sea" not in topics(under)
    assert [region.surplus for region in over] == sorted((region.surplus for region in over), reverse=True)
    assert [region.surplus for region in under] == sorted(region.surplus for region in under)
    assert sum(region.candidate_count - region.reference_count for region in over) == pytest.approx(400, abs=120)
    assert sum(region.candidate_count for region in found.regions) == 1500
    for region in found.regions:
        assert region.candidate_share == pytest.approx(region.candidate_count / 1500)
        assert region.reference_share == pytest.approx(region.reference_count / 1500)
    assert len(set(over[0].candidate_examples)) == len(over[0].candidate_examples) == 3
    assert all(set(text.split()) & set(TOPICS["sea"].split()) for text in over[0].candidate_examples)


def test_a_topic_that_is_wholly_missing_in_a_small_sample_is_seen() -> None:
    sides = side(["sea ship"] * 30 + ["rose bee"] * 30), side(["sea ship"] * 22 + ["rose bee"] * 23 + ["moon"] * 15)
    labels = np.array([0] * 30 + [1] * 30 + [0] * 22 + [1] * 23 + [2] * 15)
    sea, garden, moon = describe(sides, labels, np.zeros(120), [(0.0, 0.0)] * 3)
    assert (moon.candidate_count, moon.reference_count) == (0, 15)
    # 15 of 120 texts, all from one side: 60! 105! / (45! 120!), twice for both tails, times three regions.
    assert moon.p_value == pytest.approx(6 * math.comb(60, 15) / math.comb(120, 15))
    assert sea.p_value == pytest.approx(0.3, abs=0.1)
    assert garden.p_value == sea.p_value
    assert (moon.words, moon.candidate_examples, moon.reference_examples) == (("moon",), (), ("moon",))


def test_nothing_is_found_in_a_copy_nor_in_a_second_sample() -> None:
    real = texts(EVEN)
    copy, second = look(real, real), look(texts(EVEN, seed=5), real)
    assert not copy.over(0.95) + copy.under(0.95) + second.over(0.99) + second.under(0.99)
    assert {region.p_value for region in copy.regions} == {1.0}
    assert copy.far == copy.missed == ()
    assert (copy.far_share, copy.missed_share) == (0, 0)
    assert second.far_share < 0.15


def test_real_text_is_far_in_about_five_of_a_hundred() -> None:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(40)]
    made, real = ([" ".join(rng.sample(words, 6)) for _ in range(600)] for _ in range(2))
    found = look(made, real)
    assert found.far_share == pytest.approx(1 - FAR, abs=0.03)
    assert found.missed_share == pytest.approx(1 - FAR, abs=0.03)


def test_planted_outliers_stand_first_with_their_nearest_text() -> None:
    odd, lost = "zxq kjw plv sea", "quark gluon muon spoon"
    real = [*texts(EVEN), lost, "sea sea sea sea"]
    found = look([*texts(EVEN, seed=1), odd, odd], real)
    assert found.far[0].text == odd
    assert found.far[0].nearest == "sea sea sea sea"
    assert odd not in [unmatched.text for unmatched in found.far[1:]]
    assert found.missed[0].text == lost
    ours, theirs = ToyEncoder(dimension=48).encode([odd, found.far[0].nearest])
    assert found.far[0].distance == pytest.approx(float(np.linalg.norm(ours - theirs)), abs=1e-6)
    distances = [unmatched.distance for unmatched in found.far]
    assert distances == sorted(distances, reverse=True)
    assert found.far_share >= 2 / 302


def test_json_gives_back_the_same() -> None:
    found = look(texts(EVEN | {"sea": 90}), [*texts(EVEN, seed=1), "lost word"])
    assert Meaning.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_the_same_seed_gives_the_same_and_order_does_not_matter() -> None:
    candidate, reference = texts(EVEN | {"sea": 100}), texts(EVEN, seed=1)
    found = look(candidate, reference)
    assert look(candidate, reference) == found
    shuffled = look(random.Random(9).sample(candidate, len(candidate)), reference[::-1])
    assert _counted(shuffled) == _counted(found)
    assert shuffled.far_share == found.far_share
    assert shuffled.missed_share == found.missed_share
    assert np.array(sorted(shuffled.candidate_points)) == pytest.approx(
        np.array(sorted(found.candidate_points)), abs=1e-3
    )


def _counted(found: Meaning) -> list[tuple[tuple[str, ...], int, int]]:
    return sorted((tuple(sorted(r.words)), r.candidate_count, r.reference_count) for r in found.regions)


def test_too_few_texts_have_no_regions() -> None:
    enough, few = side(texts(EVEN)[:FEWEST_TEXTS]), side(texts(EVEN)[: FEWEST_TEXTS - 1])
    assert what_differs_in_meaning(enough, enough, seed=0) is not None
    assert what_differs_in_meaning(few, enough, seed=0) is None
    assert what_differs_in_meaning(enough, few, seed=0) is None


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        (["one text"] * 30, ["one text"] * 30),
        (["one text"] * 30, ["another"] * 40),
        (["", " "] * 15, ["", " "] * 20),
        ([""] * 30, texts(EVEN)[:40]),
        (["."] * 25 + texts(EVEN)[:5], texts(EVEN)[:30] * 2),
        (["a"] * 20 + ["b"] * 20, ["a"] * 39 + ["c"]),
    ],
)
def test_poor_samples_give_an_honest_answer(candidate: list[str], reference: list[str]) -> None:
    found = look(candidate, reference)
    assert sum(region.candidate_count for region in found.regions) == len(candidate)
    assert sum(region.reference_count for region in found.regions) == len(reference)
    for region in found.regions:
        assert 0 <= region.p_value <= 1
        assert all(0 <= coordinate <= 1 for coordinate in region.place)
    points = np.array([*found.candidate_points, *found.reference_points])
    assert np.isfinite(points).all()
    assert points.min() >= 0
    assert points.max() <= 1
    assert Meaning.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_a_text_that_cannot_be_read_is_nobody_elses_neighbour() -> None:
    read = np.eye(3, dtype=np.float32)
    blank = np.zeros((1, 3), dtype=np.float32)
    found = nearest(np.concatenate((read[:2], blank)), np.concatenate((blank, read[2:])))
    assert found.places.tolist() == [1, 1, 0]
    assert found.distances == pytest.approx([2**0.5, 2**0.5, 0.0])
    assert nearest(read, blank).distances == pytest.approx([1.0] * 3)
    assert nearest(np.concatenate((blank, blank, read)), read, same=False).distances[:2] == pytest.approx([1.0, 1.0])


def test_most_texts_stand_by_their_own_region_on_the_map() -> None:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((8, 40))
    flat = plane(centres)
    own = rng.integers(0, 8, 500)
    made = (centres[own] + 0.8 * rng.standard_normal((500, 40))).astype(np.float32)
    places = between(made, centres, flat)
    nearest_place = ((places[:, None] - flat[None]) ** 2).sum(axis=-1).argmin(axis=1)
    assert (nearest_place == own).mean() > 0.8


def test_large_samples_are_thinned_on_the_map_only() -> None:
    found = look(texts(dict.fromkeys(TOPICS, 90)), texts(dict.fromkeys(TOPICS, 90), seed=1))
    assert len(found.candidate_points) == len(found.reference_points) == MOST_POINTS
    assert sum(region.reference_count for region in found.regions) == 450


def test_hostile_texts_come_out_printable_and_short() -> None:
    nasty = ["<script>alert(1)</script> \x1b[31m \u202egnp \x00", "{{ 7 * 7 }}\u2028 line", "long" * 500]
    found = look(nasty * 15, texts(EVEN)[:45])
    shown = [text for region in found.regions for text in (*region.words, *region.candidate_examples)]
    shown += [text for unmatched in found.far for text in (unmatched.text, unmatched.nearest)]
    assert any("<script>" in text for text in shown)
    for text in shown:
        assert text == printable(text)
        assert len(text) < 300


def test_regions_without_a_text_are_left_out() -> None:
    sides = side(["a b"] * 4), side(["a c"] * 4)
    labels = np.array([0, 0, 2, 2, 0, 0, 2, 2])
    found = describe(sides, labels, np.zeros(8), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
    assert [region.place for region in found] == [(0.0, 0.0), (1.0, 1.0)]


def test_a_comparison_carries_it_where_there_is_an_encoder() -> None:
    real, made = texts(EVEN), texts(EVEN | {"sea": 300}, seed=1)
    encoder = ToyEncoder(dimension=48)
    found = compare(real, {"made": made}, metrics=["mmd"], encoder=encoder, n_resamples=0, explain=True, size=300)
    meaning = found.candidates[0].meaning
    assert meaning is not None
    assert "sea" in topics(meaning.over(0.95))
    assert Comparison.from_json(found.to_json()) == found
    without = compare(real, {"made": made}, metrics=["distinct"], n_resamples=0)
    assert without.candidates[0].meaning is None
