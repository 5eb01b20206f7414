"""What every metric on items must obey, as functions that raise AssertionError; run over all and over broken ones."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.conftest import ToyEncoder
from tests.laws import corpus
from textassay import Item, ItemSet, conditional
from textassay.corpus.item_set import TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Surroundings, get_distance
from textassay.distances.bleu import JointCounts
from textassay.inference.items.labellings import Figures, labellings_of, measure_item, parts
from textassay.metrics.items.item_pool import ItemPool, Labels, Pools, item_values
from textassay.metrics.registry import Request


def pools_of(texts: Sequence[str], request: Request) -> Pools:
    """Everything that a request needs of these texts."""
    table = TextTable.of([list(texts)[:5], list(texts)[5:9]], others=texts, tokenizer=get_tokenizer())
    name = request.options.get("distance")
    distances = {} if name is None else {name: get_distance(name, Surroundings(table, ToyEncoder()))}
    return Pools(table, distances, ToyEncoder().encode(table.texts), shares=True, joint=True)


def pool_of(request: Request, candidates: Sequence[str], references: Sequence[str]) -> ItemPool:
    return pools_of([*references, *candidates], request).pool(candidates, references)


def figures(request: Request, candidates: Sequence[str], references: Sequence[str], *, most: int = 1000) -> Figures:
    chosen = labellings_of(len(candidates), len(references), most=most, n_resamples=99, seed=0)
    return measure_item(request, pool_of(request, candidates, references), chosen)[0]


def is_finite(values: Figures) -> bool:
    return math.isfinite(values.estimate) and math.isfinite(values.p_value)


def within_bounds(request: Request) -> None:
    low, high = request.metric.bounds_for(request.options)
    pairs = [
        (corpus(1, 6), corpus(2, 5)),
        (["a b c d e"] * 6, corpus(3, 5)),
        (corpus(4, 6), ["z y x w v"] * 5),
        (["same words"] * 4, ["same words"] * 4),
        (["", "a"], ["", ""]),
    ]
    for candidates, references in pairs:
        value = figures(request, candidates, references).estimate
        assert math.isnan(value) or low - 1e-9 <= value <= high + 1e-9, (value, low, high)


def order_does_not_matter(request: Request) -> None:
    """Neither for the value nor for the p-value, whether all labellings are listed or some are drawn."""
    candidates, references = corpus(1, 6), corpus(2, 5)
    for most in (1000, 0):
        one = figures(request, candidates, references, most=most)
        other = figures(request, candidates[::-1], references[2:] + references[:2], most=most)
        assert np.isclose(one.estimate, other.estimate, rtol=1e-9, atol=0), (one, other)
        assert one.p_value == other.p_value


def same_seed_same_result(request: Request) -> None:
    one, other = (figures(request, corpus(1, 6), corpus(2, 5), most=0) for _ in range(2))
    assert (one.estimate, one.p_value, one.chance) == (other.estimate, other.p_value, other.chance)


def a_copy_is_not_significant(request: Request) -> None:
    references = corpus(2, 5)
    found = figures(request, references, references)
    assert found.p_value > 0.05, found


def a_lone_labelling_is_certain(request: Request) -> None:
    """Texts that are all the same look the same under every labelling."""
    found = figures(request, ["a b c d"] * 4, ["a b c d"] * 3)
    assert found.p_value == 1.0, found


def labelling_is_measuring_anew(request: Request) -> None:
    """A row of labels gives what an item of just these texts gives, also where some texts are left out."""
    pool = pool_of(request, corpus(1, 6), corpus(2, 5))
    for labels in (labellings_of(6, 5, most=1000, n_resamples=0, seed=0).labels, parts((6, 5), (4, 3), seed=0)):
        values = item_values(request, pool, labels)
        assert len(values) == len(labels)
        for row in range(0, len(labels), len(labels) // 7):
            anew = item_values(request, part_of(pool, labels, row), part_of(pool, labels, row).observed)[0]
            assert np.isclose(values[row], anew, rtol=1e-9, atol=1e-12, equal_nan=True), (row, values[row], anew)


def part_of(pool: ItemPool, labels: Labels, row: int) -> ItemPool:
    """The texts that a row of labels uses, as an item of its own."""
    chosen = np.concatenate([np.flatnonzero(labels.candidate[row]), np.flatnonzero(labels.reference[row])])
    square = np.ix_(chosen, chosen)
    return ItemPool(
        labels.sizes,
        {name: scores[square] for name, scores in pool.scores.items()},
        {name: distances[square] for name, distances in pool.distances.items()},
        pool.vectors[chosen],
        {
            name: JointCounts(tuple(t[chosen] for t in counts.occurrences), counts.lengths[chosen], counts.smoothing)
            for name, counts in pool.joint.items()
        },
    )


def sees_another_source(request: Request) -> None:
    """Candidates of other words are found out: the smallest p-value that a test can give, or nearly so."""
    found = figures(request, around("q", 6), around("w", 5))
    assert found.p_value <= 0.05, found


def around(letter: str, size: int, *, seed: int | None = None) -> list[str]:
    """Texts that share most of their words: near to each other, and far from those of another letter."""
    rng = np.random.default_rng(size if seed is None else seed)
    texts = []
    for _ in range(size):
        words = [f"{letter}{place}" for place in range(9)]
        for place in rng.choice(9, rng.integers(1, 4), replace=False):
            words[place] = f"{letter}{rng.integers(10, 40)}"
        texts.append(" ".join(words))
    return texts


def better_values_are_never_judged_worse(request: Request) -> None:
    """Candidates of other words, the references' source, both, and near-copies: a better value, a milder verdict.

    The finding that candidates are distributed differently belongs to the value beside chance, the finding that they
    are worse than people to the difference from references against references. "Better" is what the metric declares.
    """
    judged = [_judged(request, kind) for kind in (_other_words, _half_and_half, _same_source, _near_copies)]
    assert any(judged[0].against.values()), "candidates of other words are not found"
    for value, findings in (("beside_chance", ("distributed differently",)), ("beside_people", _WORSE_THAN_PEOPLE)):
        falls = request.metric.better == "lower"
        from_worst = sorted(judged, key=lambda one: getattr(one, value), reverse=falls)
        found = [any(one.against[words] for words in findings) for one in from_worst]
        assert found == sorted(found, reverse=True), (value, from_worst)


_WORSE_THAN_PEOPLE = ("differ more", "lower than that of people")


@dataclass(frozen=True)
class _Judged:
    """A system: its value less that of chance, in deviations, and less that of people, and what is against it."""

    beside_chance: float
    beside_people: float
    against: dict[str, bool]


def _judged(request: Request, candidates: Callable[[int, list[str]], list[str]]) -> _Judged:
    items = []
    for place in range(11):
        references = around("w", 4, seed=place)
        items.append(Item(str(place), tuple(references), {"s": tuple(candidates(place, references))}))
    spec = ":".join([request.metric.name, *(f"{name}={value}" for name, value in request.options.items())])
    found = conditional(ItemSet.of(items), metrics=[spec], encoder=ToyEncoder(), n_resamples=99, partitions=130)
    (system,) = found.systems
    assert system.verdict is not None
    findings = ("distributed differently", *_WORSE_THAN_PEOPLE)
    against = {words: any(words in reason for reason in system.verdict.reasons) for words in findings}
    # A metric that needs more texts than half of the references is not compared with people.
    people = found.contests[0].estimate if found.contests else 0.0
    return _Judged(system.results[0].parts["z"], people, against)


def _other_words(place: int, _: list[str]) -> list[str]:
    return around("q", 3, seed=100 + place)


def _half_and_half(place: int, _: list[str]) -> list[str]:
    return [*around("q", 1, seed=100 + place), *around("w", 2, seed=200 + place)]


def _same_source(place: int, _: list[str]) -> list[str]:
    return around("w", 3, seed=200 + place)


def _near_copies(_: int, references: list[str]) -> list[str]:
    """Each with the words of a reference but one, at another place in each."""
    words = [text.split() for text in references[:3]]
    return [" ".join(text[:place] + text[place + 1 :]) for place, text in enumerate(words, start=2)]


LAWS = (
    better_values_are_never_judged_worse,
    within_bounds,
    order_does_not_matter,
    same_seed_same_result,
    a_copy_is_not_significant,
    a_lone_labelling_is_certain,
    labelling_is_measuring_anew,
    sees_another_source,
)
