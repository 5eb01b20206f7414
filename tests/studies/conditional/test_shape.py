"""The paper's shape on real captions: people are like people, one caption repeated is narrow, others are elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from textassay.corpus.item_set import Item, ItemSet
from textassay.inference.items.misses import kind_of
from textassay.inference.result import Result
from textassay.studies.conditional.result import Conditional, SystemColumn
from textassay.studies.conditional.study import conditional

ITEMS = 150
CAPTIONS = 5
Texts = list[str]
# What the captions of an image and those of another one become: references and candidates.
Make = Callable[[Texts, Texts], tuple[Texts, Texts]]


@pytest.fixture(scope="module")
def captions(data: Path) -> list[Texts]:
    items = json.loads((data / "captions" / "coco_val_sample.json").read_text(encoding="utf-8"))
    return [item["references"][:CAPTIONS] for item in items[: 2 * ITEMS]]


def study(captions: list[Texts], make: Make) -> Conditional:
    items = []
    for place, (own, other) in enumerate(zip(captions[:ITEMS], captions[ITEMS:], strict=True)):
        references, candidates = make(own, other)
        items.append(Item(str(place), tuple(references), {"system": tuple(candidates)}))
    return conditional(ItemSet.of(items), distances=["meteor", "edit"], encoder="minilm", seed=0)


def results(found: Conditional, column: SystemColumn) -> dict[str, Result]:
    return dict(zip(found.labels, column.results, strict=True))


def p_values(column: SystemColumn) -> list[float]:
    return [result.p_value for result in column.results if result.p_value is not None]


def reasons(column: SystemColumn) -> tuple[str, ...]:
    assert column.verdict is not None
    return (column.verdict.decision, *column.verdict.reasons)


@pytest.fixture(scope="module")
def people(captions: list[Texts]) -> Conditional:
    return study(captions, lambda own, _: (own[:3], own[3:]))


@pytest.fixture(scope="module")
def strangers(captions: list[Texts]) -> Conditional:
    """As many texts as in `people`, the candidates from another image."""
    return study(captions, lambda own, other: (own[:3], other[3:]))


@pytest.fixture(scope="module")
def repeated(captions: list[Texts]) -> Conditional:
    return study(captions, lambda own, _: (own[1:], own[:1] * 5))


@pytest.fixture(scope="module")
def elsewhere(captions: list[Texts]) -> Conditional:
    return study(captions, lambda own, other: (own, other))


def test_references_against_references_are_not_significant(people: Conditional, strangers: Conditional) -> None:
    (same,), (different,) = people.systems, strangers.systems
    assert len(p_values(same)) == len(people.labels) == 6
    assert min(p_values(same)) > 0.05
    assert reasons(same) == ("same", "no difference from the references found")
    # Ten labellings per item are too few for any item to be significant, but enough for all items together.
    assert same.count("untested") == different.count("untested") == ITEMS
    found = results(strangers, different)
    assert all((found[f"{metric} meteor"].p_value or 1.0) == 1e-4 for metric in ("score", "trm"))
    assert found["trm meteor"].parts["harmonic_mean"] > 0.2
    assert reasons(different)[0] == "differs"


def test_the_human_row_is_not_significant(people: Conditional, repeated: Conditional, elsewhere: Conditional) -> None:
    for found in (people, repeated, elsewhere):
        assert p_values(found.human)
        assert min(p_values(found.human)) > 0.05
    # Three references are too few to be split into two sides of triangles, and that is said.
    human = results(people, people.human)
    assert [human[label].undefined is not None for label in people.labels] == [
        label.startswith("trm") for label in people.labels
    ]


def test_one_reference_repeated_is_one_answer_and_too_narrow(repeated: Conditional) -> None:
    (system,) = repeated.systems
    found, human = results(repeated, system), results(repeated, repeated.human)
    assert all((found[f"trm {distance}"].p_value or 0.0) < 0.025 for distance in ("meteor", "edit"))
    assert system.count("collapsed") == ITEMS
    by_triangles = [kind_of(item.miss.spread, item.miss.place) for item in system.items]
    assert by_triangles.count("too narrow") > 0.6 * ITEMS
    level, first, second, *_ = reasons(system)
    assert level == "collapsed"
    assert first.startswith("one answer:")
    assert second.startswith("too narrow:")
    # The mean score sees nothing wrong: a caption is as near to the others as any caption is.
    assert found["score meteor"].estimate == pytest.approx(human["score meteor"].estimate, abs=0.02)


def test_references_of_another_image_are_elsewhere(elsewhere: Conditional) -> None:
    (system,) = elsewhere.systems
    assert max(p_values(system)) < 0.025
    assert system.count("elsewhere") > 0.8 * ITEMS
    level, first, *more = reasons(system)
    assert level == "differs"
    assert first == "off target: candidates and references form separate groups"
    assert any("lower than that of people" in reason for reason in more)
    found, human = results(elsewhere, system), results(elsewhere, elsewhere.human)
    assert found["score meteor"].estimate < human["score meteor"].estimate / 2


def test_the_profile_tells_narrow_from_elsewhere(repeated: Conditional, elsewhere: Conditional) -> None:
    narrow, away = (results(found, found.systems[0])["trm meteor"].parts for found in (repeated, elsewhere))
    assert narrow["candidates_shorter"] == 1.0
    assert narrow["references_shorter"] < 0.4
    assert away["candidates_shorter"] > 0.7
    assert away["references_shorter"] > 0.7
