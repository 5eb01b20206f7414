"""The conditional study: what comes out, what is undefined and why, and what must not change it."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import ToyEncoder
from tests.item_laws import around
from tests.laws import corpus
from textassay import Conditional, InputError, Item, ItemSet, conditional
from textassay.corpus.item_set import TextTable
from textassay.corpus.printable import printable
from textassay.engines.local import LocalEngine
from textassay.inference.items.labellings import labellings_of, measure_item
from textassay.inference.p_values import fisher, harmonic_mean, holm, is_significant
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.registry import parse_requests

FORMS = (("score", ""), ("trm", ""), ("trm", " variant=split"))


def items(count: int = 12, *, candidates: int = 8, references: int = 5) -> ItemSet:
    """Two systems: one writes as the references do, one from another vocabulary."""
    made = []
    for place in range(count):
        # The corpus has a copy and a short text among its first: they must not always be references.
        texts = np.random.default_rng(place).permutation(corpus(place, candidates + references)).tolist()
        far = corpus(1000 + place, candidates, words=[f"q{i}" for i in range(9)])
        systems = {"near": tuple(texts[references:]), "far": tuple(far)}
        made.append(Item(f"item-{place}", tuple(texts[:references]), systems, f"prompt {place}"))
    return ItemSet.of(made, name="made up")


@pytest.fixture(scope="module")
def outcome() -> Conditional:
    return conditional(items(), distances=["edit", "rouge_l"], n_resamples=199)


def test_a_system_from_another_source_is_found_and_one_from_the_same_is_not(outcome: Conditional) -> None:
    near, far = outcome.systems
    assert near.verdict is not None
    assert far.verdict is not None
    assert (near.verdict.decision, far.verdict.decision) == ("same", "differs")
    assert all(result.p_value is not None and result.p_value > 0.05 for result in near.results)
    assert min(result.p_value or 1.0 for result in far.results) < 0.05
    assert all(result.p_value is not None and result.p_value > 0.05 for result in outcome.human.results)


def test_results_over_items_are_means_and_combined_tests_of_the_items(outcome: Conditional) -> None:
    for column in (outcome.human, *outcome.systems):
        for place, result in enumerate(column.results):
            mine = [item.results[place] for item in column.items]
            assert result.estimate == pytest.approx(np.mean([r.estimate for r in mine]))
            p_values = [r.p_value or math.nan for r in mine]
            assert result.parts["harmonic_mean"] == pytest.approx(harmonic_mean(p_values))
            assert result.parts["fisher"] == pytest.approx(fisher(p_values))
            assert result.parts["mean_p"] == pytest.approx(np.mean(p_values))
            assert (result.parts["draws"], result.parts["units"]) == (9999, 12)
            if result.estimate:  # texts without a word in common all score 0, and nothing varies
                assert result.interval is not None
                assert result.estimate in result.interval
            assert result.parts["items"] == 12


def test_exact_p_values_are_multiples_of_one_over_the_ways(outcome: Conditional) -> None:
    steps = [r.p_value * 1287 for s in outcome.systems for i in s.items for r in i.results if r.p_value is not None]
    assert len(steps) == 12 * 2 * 6
    assert np.allclose(steps, np.round(steps))


def test_systems_and_people_are_compared_on_the_same_items_and_sizes(outcome: Conditional) -> None:
    pairs = {(contest.first, contest.second) for contest in outcome.contests}
    assert pairs == {("near", "far"), ("near", "human"), ("far", "human")}
    score = next(c for c in outcome.contests if (c.first, c.second, c.label) == ("far", "human", "score edit"))
    far = outcome.systems[1].at_baseline_size["score edit"].estimate
    assert score.estimate == pytest.approx(far - outcome.human.results[0].estimate)
    assert outcome.human_sizes == (2, 3)


def test_json_reads_back_equal_and_has_the_documented_keys(outcome: Conditional) -> None:
    text = outcome.to_json()
    assert Conditional.from_json(text) == outcome
    plain = json.loads(text)
    assert {"textassay", "items", "systems"} <= set(plain)
    assert plain["items"]["n"] == 12
    system = plain["systems"][0]
    assert {"name", "results", "items"} <= set(system)
    assert {"id", "results"} <= set(system["items"][0])
    assert system["results"][1]["metric"] == "trm"
    assert system["results"][1]["options"]["distance"] == "edit"


def test_neither_workers_nor_company_nor_order_change_a_number(outcome: Conditional) -> None:
    made = items()
    turned = [replace(item, references=item.references[::-1]) for item in made.items]
    other = conditional(
        ItemSet.of(turned, name="turned"), metrics=["trm:distance=edit"], n_resamples=199, engine=LocalEngine(3)
    )
    assert other.labels == ("trm edit",)
    for one, another in zip(outcome.systems, other.systems, strict=True):
        assert one.results[1].estimate == pytest.approx(another.results[0].estimate, rel=1e-12)
        assert one.results[1].p_value == another.results[0].p_value
        assert [i.results[1].p_value for i in one.items] == [i.results[0].p_value for i in another.items]


def test_two_results_of_one_signature_are_one_number(outcome: Conditional) -> None:
    seen: dict[str, float] = {}
    again = conditional(items(), metrics=["trm:distance=edit"], n_resamples=199)
    for column in (*outcome.systems, outcome.human, *again.systems, again.human):
        for result in (
            *column.results,
            *column.at_baseline_size.values(),
            *(r for i in column.items for r in i.results),
        ):
            assert seen.setdefault(result.signature, result.estimate) == result.estimate
    assert len(seen) == (12 + 1) * 3 * 6 + 2 * 6


def test_items_that_cannot_be_measured_are_undefined_with_a_reason_counted_and_listed() -> None:
    made = [
        *items(4).items,
        Item("alone", ("a b c",), {"near": ("a b", "b c"), "far": ("x y", "y z")}),
        Item("silent", ("a b c", "a b d"), {"near": ("a b", "b c")}),
        Item("single", ("a b c", "a b d", "b c d"), {"near": ("a b",), "far": ("x y",)}),
    ]
    found = conditional(ItemSet.of(made, name="odd"), distances=["edit"], n_resamples=99)
    near, far = found.systems
    reasons = {item.id: [r.undefined for r in item.results] for item in far.items}
    assert reasons["silent"] == ["no candidates"] * 3
    assert reasons["alone"][0] is None
    assert "1 reference" in (reasons["alone"][1] or "")
    assert "1 candidate and 3 references" in (reasons["single"][1] or "")
    assert all(math.isnan(r.estimate) == (r.undefined is not None) for i in near.items for r in i.results)
    assert near.results[1].parts["items"] == 5
    assert Conditional.from_json(found.to_json()) == found


def test_systems_with_other_numbers_of_candidates_are_compared_at_one_size() -> None:
    made = [
        replace(item, candidates={"all": item.candidates["near"], "few": item.candidates["near"][:3]})
        for item in items(12).items
    ]
    found = conditional(ItemSet.of(made, name="unequal"), metrics=["trm:distance=edit"], n_resamples=99)
    assert any("candidates" in note for note in found.notes)
    contest = next(c for c in found.contests if (c.first, c.second) == ("all", "few"))
    plain = found.systems[0].results[0].estimate - found.systems[1].results[0].estimate
    # A triangle statistic is larger with fewer texts, so the plain difference would say that less is worse.
    assert abs(contest.estimate) < abs(plain)
    assert contest.p_value > 0.05


def test_a_distance_of_ones_own_and_what_it_may_return() -> None:
    def by_length(a: str, b: str) -> float:
        return float(abs(len(a) - len(b)))

    found = conditional(items(6), distances={"length": by_length}, n_resamples=99)
    assert found.labels == ("score length", "trm length", "trm length variant=split")
    assert "dist:own:length" in found.systems[0].results[0].signature

    def sometimes(a: str, b: str) -> float:
        return math.nan if a != b and "w3" in a.split() else by_length(a, b)

    odd = conditional(items(6), distances={"odd": sometimes}, n_resamples=99)
    reason = "distance 'odd' is not a number for some of its texts"
    for column in (*odd.systems, odd.human):
        found_reasons = [tuple(result.undefined for result in item.results) for item in column.items]
        assert any(any(reasons) for reasons in found_reasons) or column.name == "far"
        assert {reason for reasons in found_reasons for reason in reasons} <= {None, reason}
        # Where one metric has no number, none on the same distances has one.
        assert all(len(set(reasons)) == 1 for reasons in found_reasons)
        assert all(math.isnan(r.estimate) == (r.undefined is not None) for i in column.items for r in i.results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["bleu"]}, "metric 'bleu' is measured on whole samples: use textassay compare"),
        ({"metrics": ["trn"]}, "no metric 'trn'; did you mean 'trm'?"),
        ({"metrics": ["score:distance=rouge_l,over=max"]}, "',' separates metrics, and ':' the options of one"),
        ({"metrics": ["score:distance=rouge_l", "over=max"]}, "'over=max' is an option, not a metric"),
        ({"metrics": ["trm:distance=metor"]}, "no distance 'metor'; did you mean 'meteor'?"),
        ({"distances": ["levenshtein"]}, "no distance 'levenshtein'"),
        ({"partitions": -1}, "partitions=-1"),
        ({"power": 1.0}, "power=1.0"),
        ({"null": "normal"}, "null='normal'; wanted permutation or asymptotic"),
        ({"level": 2}, "level=2"),
        ({"metrics": ["mmd"]}, "pip install"),
    ],
)
def test_bad_options_are_one_clear_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        conditional(items(2), **options)
    assert message in str(caught.value)
    assert printable(str(caught.value)).count("\n") == 0


def test_kernel_metrics_and_the_default_table_with_an_encoder() -> None:
    found = conditional(items(6), encoder=ToyEncoder(), n_resamples=99)
    expected = [f"{one} {name}{form}" for name in ("meteor", "cider", "bert") for one, form in FORMS]
    assert found.labels == (*expected, "mmd", "frechet")
    assert all(result.undefined is None for column in found.systems for result in column.results)
    assert "enc:" in found.systems[0].results[-1].signature


def test_without_an_encoder_the_default_table_says_what_is_left_out() -> None:
    found = conditional(items(3), n_resamples=0)
    assert found.labels == tuple(f"{one} {name}{form}" for name in ("meteor", "cider") for one, form in FORMS)
    assert any(note.startswith("left out: distance bert, mmd, frechet") for note in found.notes)


def test_without_resamples_there_are_estimates_only() -> None:
    found = conditional(items(3), distances=["edit"], n_resamples=0)
    assert all(r.p_value is None and r.interval is None for c in found.systems for r in c.results)
    assert found.contests == ()
    assert found.systems[0].verdict is not None
    assert found.systems[0].verdict.decision == "untested"
    assert not math.isnan(found.human.results[0].estimate)


def test_a_system_may_be_called_human() -> None:
    made = [replace(item, candidates={"human": item.candidates["near"]}) for item in items(12).items]
    found = conditional(ItemSet.of(made, name="named"), metrics=["score:distance=edit"], n_resamples=99)
    assert (found.human.name, found.systems[0].name) == ("human references", "human")
    assert {(c.first, c.second) for c in found.contests} == {("human", "human references")}


def test_misses_are_told_apart() -> None:
    made = []
    for place in range(12):
        rng = np.random.default_rng(place)
        wide = [" ".join(rng.permutation([f"w{i}" for i in range(40)])[:9]) for _ in range(8)]
        made.append(Item(str(place), tuple(wide[1:7]), {"narrow": (*(wide[0],) * 7, f"{wide[0]} again")}))
    found = conditional(ItemSet.of(made, name="misses"), metrics=["trm:distance=edit"], n_resamples=99)
    narrow = found.systems[0]
    assert narrow.count("too narrow") > 6
    assert narrow.verdict is not None
    assert "too narrow" in narrow.verdict.sentence
    turned = [Item(i.id, tuple(around("w", 6)), {"wide": i.references}) for i in made]
    (wide_system,) = conditional(ItemSet.of(turned, name="wide"), metrics=["trm:distance=edit"], n_resamples=99).systems
    assert wide_system.count("too wide") > 6


@pytest.mark.parametrize(("n", "m"), [(10, 5), (20, 4)])
def test_repeated_texts_are_too_narrow_however_often(n: int, m: int) -> None:
    """With more repeats than references, other labellings are full of ties; those must not hide the miss."""
    made = []
    for place in range(10):
        texts = corpus(place, m + 1)
        nearly_one = (texts[0],) * (n - 1) + (f"{texts[0]} too",)
        made.append(Item(str(place), tuple(texts[:m]), {"near": nearly_one, "wrong": ("no such words",) * n}))
    found = conditional(ItemSet.of(made, name="repeats"), distances=["edit"], n_resamples=199)
    near, wrong = found.systems
    assert near.count("too narrow") > 6 > near.count("elsewhere")
    assert wrong.count("collapsed") == 10
    decisions = [each.verdict.decision for each in found.systems if each.verdict]
    assert decisions == ["differs", "collapsed"]


@pytest.mark.parametrize("n_resamples", [0, 199])
@pytest.mark.parametrize(
    ("answers", "references", "expected"),
    [
        (["Rohan"] * 10, ["Emma", "Li", "Ada", "Max"], True),
        (["Rohan", " Rohan\n"] * 5, ["Emma", "Rohan", "Ada", "Max"], True),
        (["Rohan"] * 10, ["Emma", "Rohan"], True),
        (["Rohan"] * 2, ["Emma", "Li", "Ada"], True),
        # People give one answer as well, or nearly.
        (["Paris"] * 10, ["Paris"] * 10, False),
        (["London"] * 10, ["Paris"] * 10, False),
        (["Paris"] * 10, ["Paris"] * 9 + ["Rome"], False),
        (["Paris"] * 2, ["Paris", "Paris", "Rome"], False),
        (["Rohan"] * 9 + ["Emma"], ["Emma", "Li", "Ada", "Max"], False),
        (["Rohan"], ["Emma", "Li", "Ada", "Max"], False),
        (["Rohan"] * 10, ["Emma"], False),
    ],
)  # fmt: skip
def test_one_answer_is_named_before_all_tests(
    answers: list[str], references: list[str], expected: bool, n_resamples: int
) -> None:
    item = {"id": "baby", "references": references, "candidates": answers}
    found = conditional([item], metrics="trm:distance=edit", n_resamples=n_resamples)
    assert (found.systems[0].items[0].miss.kind == "collapsed") is expected


class ByLength:
    """A score that goes with the alphabet among texts that are runs of one letter."""

    name, signature, top = "length", "length", 0.0

    def __init__(self, table: TextTable) -> None:
        self.lengths = np.array([len(text) for text in table.texts], dtype=float)

    def scores(self, numbers: NDArray[np.int64], /) -> NDArray[np.float64]:
        return -np.add.outer(0 * self.lengths[numbers], self.lengths[numbers])

    def same(self, numbers: NDArray[np.int64], /) -> NDArray[np.int64]:
        return numbers


def test_sampled_labellings_have_nothing_to_do_with_the_alphabet() -> None:
    """Items share their labellings; were texts sorted, p-values of items would go together and Fisher would fail."""
    (request,) = parse_requests(["score:distance=length"], on="items")
    rejected = []
    for seed in range(12):
        chosen = labellings_of(12, 12, most=0, n_resamples=19, seed=seed)
        rng = np.random.default_rng(seed)
        texts = [[f"{'a' * n}{rng.integers(10**6)}" for n in rng.integers(1, 99, 24)] for _ in range(300)]
        table = TextTable.of([], others=[text for item in texts for text in item])
        pools = Pools(table, {"length": ByLength(table)})
        p_values = [measure_item(request, pools.pool(item[:12], item[12:]), chosen)[0].p_value for item in texts]
        rejected.append(fisher(p_values) <= 0.05)
    assert np.mean(rejected) <= 0.1, np.mean(rejected)


def test_a_third_system_changes_nothing_between_two_others() -> None:
    made = [
        replace(item, candidates={"a": item.candidates["near"][:4], "b": item.candidates["far"][:4]})
        for item in items(12).items
    ]
    third = [replace(i, candidates=i.candidates | {"c": i.candidates["a"][:1]}) for i in made]
    contests = []
    for some in (made, third):
        found = conditional(ItemSet.of(some, name="two or three"), metrics=["trm:distance=edit"], n_resamples=99)
        contests.append(next(c for c in found.contests if (c.first, c.second) == ("a", "b")))
    assert contests[0] == contests[1]


def test_differences_can_be_significant_however_many_there_are() -> None:
    made = [
        replace(i, candidates={n: i.candidates[o] for n, o in zip("abc", ("near", "far", "far"), strict=True)})
        for i in items(30).items
    ]
    found = conditional(ItemSet.of(made, name="three"), distances=["edit", "rouge_l", "chrf", "bleu"], n_resamples=99)
    adjusted = holm([contest.p_value for contest in found.contests])
    assert len(adjusted) == 12 * 6
    sure = {(c.first, c.second) for c, p in zip(found.contests, adjusted, strict=True) if p < 0.05}
    assert {("a", "b"), ("a", "c"), ("b", "human"), ("c", "human")} <= sure
    assert ("b", "c") not in sure


def test_what_is_not_a_study_is_refused() -> None:
    for text in ("", "{}", "[]", '{"details": 3, "systems": []}'):
        with pytest.raises(InputError, match="not the JSON of textassay conditional"):
            Conditional.from_json(text)


def test_the_human_row_does_not_depend_on_the_order_of_items() -> None:
    made = items(12).items
    one, other = (
        conditional(ItemSet.of(list(some), name="order"), metrics=["trm:distance=edit"], n_resamples=99).human
        for some in (made, made[::-1])
    )
    assert one.results[0].p_value == pytest.approx(other.results[0].p_value)


def test_too_few_sampled_labellings_are_called_untested() -> None:
    made = items(1, candidates=12, references=12)
    found = conditional(made, metrics=["trm:distance=edit"], n_resamples=19, partitions=100)
    assert {s.verdict.decision for s in found.systems if s.verdict} == {"untested"}


def test_one_candidate_an_item_is_called_untested_not_the_same() -> None:
    made = [replace(item, candidates={"one": item.candidates["near"][:1]}) for item in items(20).items]
    found = conditional(ItemSet.of(made, name="one"), distances=["edit"], n_resamples=99)
    verdict = found.systems[0].verdict
    assert verdict is not None
    assert verdict.decision == "untested"
    assert "needs two candidates and two references" in verdict.sentence


def test_items_are_judged_by_other_metrics_where_triangles_were_not_measured() -> None:
    """Each kind follows from the p-values of the item, corrected for the number of metrics."""
    items = [
        Item(str(place), tuple(around("w", 5, seed=place)), {"s": tuple(around(letter, 6, seed=50 + place))})
        for place, letter in enumerate("qqqqww")
    ]
    for metrics in (["mmd"], ["mmd", "score:distance=edit"]):
        (system,) = conditional(items, metrics=metrics, encoder=ToyEncoder(), n_resamples=99).systems
        for item in system.items:
            smallest = min(result.p_value for result in item.results if result.p_value is not None)
            assert item.miss.p_value == pytest.approx(min(1.0, len(metrics) * smallest))
            assert item.miss.kind == ("differs" if is_significant(item.miss.p_value, 0.95) else "same")
        assert system.count("differs") >= 4
    few = [Item("a", ("w1 w2", "w2 w3"), {"s": ("w1 w4", "w5")})]
    assert conditional(few, metrics=["mmd"], encoder=ToyEncoder()).systems[0].items[0].miss.kind == "untested"


def test_sensitivity_grows_with_candidates() -> None:
    found = conditional(
        items(20, candidates=6), metrics=["score:distance=edit", "trm:distance=edit"], n_resamples=99, sensitivity=True
    )
    near, far = found.sensitivity
    assert (near.system, far.system) == ("near", "far")
    curve = [p for p in far.points if p.label == "score edit" and p.references == 5]
    assert [point.candidates for point in curve] == [1, 2, 3, 4, 5, 6]
    assert curve[-1].p_value == 1 / 1000
    assert curve[-1].item_power > curve[0].item_power
    assert curve[-1].power == 1.0
    needed = far.needed["score edit"]["candidates"]
    assert needed is not None
    assert 1 <= needed <= 6
    assert near.needed["trm edit"]["candidates"] is None


def test_the_asymptotic_null_is_used_where_it_holds_and_said() -> None:
    made = items(3, candidates=30, references=30)
    options: dict[str, Any] = {"metrics": ["trm:distance=edit"], "n_resamples": 999}
    exact, quick = conditional(made, **options), conditional(made, **options, null="asymptotic")
    assert "test:asymptotic" in quick.systems[0].results[0].signature
    pairs = [
        (one.results[0].p_value, other.results[0].p_value)
        for a, b in zip(exact.systems, quick.systems, strict=True)
        for one, other in zip(a.items, b.items, strict=True)
    ]
    assert all(abs((one or 0) - (other or 0)) < 0.15 for one, other in pairs)
    assert any(one != other for one, other in pairs)
