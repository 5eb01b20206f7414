"""The overall test: each member against its definition, exactness, level, and inputs at the edge."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tests.conftest import material
from textassay import Sample
from textassay.corpus.hashed_ngrams import Sequences
from textassay.inference.overall.bank import BANK, PARTS, Exchanged, bank_statistics
from textassay.inference.overall.pair_matrix import gram_counts, phrase_products, ridge, ridge_on_units, unit_sizes
from textassay.inference.overall.test import Overall, OverallPlan, combine, monte_carlo_error, overall_test, smooth_p
from textassay.inference.p_values import at_least
from textassay.inference.permutation import design_of, independent
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.overlap import TextEdges, text_traits
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material, Pool, Resamples

WORDS = [f"w{i}" for i in range(30)]


def texts(seed: int, size: int, *, words: list[str] = WORDS) -> list[str]:
    """Texts of Zipf-distributed words."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(words) + 1)
    return [" ".join(rng.choice(words, rng.integers(4, 10), p=weights / weights.sum())) for _ in range(size)]


def lexical(one: list[str], other: list[str], **settings: object) -> Overall:
    plan = OverallPlan(**({"n_resamples": 199} | settings))  # type: ignore[arg-type]
    return overall_test(material(one), material(other), plan=plan)


def relabelled(sizes: tuple[int, int], rows: int = 12) -> tuple[Resamples, NDArray[np.bool_]]:
    masks = independent(sizes, 0).labellings(rows, 0)
    return Resamples(independent(sizes, 0).units, (masks, ~masks)), masks[:, : sum(sizes)]


def test_weighted_distances_equal_their_definition() -> None:
    """The unbiased form of the sum over n-grams of c^(-1/2) times the squared difference of mean counts."""
    pooled = texts(1, 9) + texts(2, 7)
    resamples, labels = relabelled((9, 7))
    found = gram_counts(
        Pool((material(pooled[:9]), material(pooled[9:]))).merged(TextNgrams).order(1), resamples, power=0.5
    ).distances(resamples.masks[0])
    counts = [Counter(text.split()) for text in pooled]
    totals = Counter(word for text in pooled for word in text.split())
    kernel = np.array([[sum(a[w] * b[w] * totals[w] ** -0.5 for w in a) for b in counts] for a in counts])
    np.fill_diagonal(kernel, 0.0)
    for row, value in zip(labels, found, strict=True):
        mine, theirs = np.flatnonzero(row), np.flatnonzero(~row)
        plain = (
            kernel[np.ix_(mine, mine)].sum() / (9 * 8)
            + kernel[np.ix_(theirs, theirs)].sum() / (7 * 6)
            - 2 * kernel[np.ix_(mine, theirs)].mean()
        )
        assert value == pytest.approx(plain, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shape", [(14, 3), (14, 30)])
def test_ridge_equals_explicit_leave_one_out_refits(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=shape)
    sizes = (6, 8)
    resamples, labels = relabelled(sizes)
    found = ridge(features, resamples).agreements(resamples.masks[0])
    centred = features - features.mean(axis=0)
    penalty = (centred**2).sum() / min(shape)
    for row, value in zip(labels, found, strict=True):
        y = np.where(row, 1 / sizes[0], -1 / sizes[1])
        predictions = []
        for left in range(shape[0]):
            # The hat matrix has 1/N for the intercept: an unpenalised constant beside the centred features.
            stay = np.arange(shape[0]) != left
            design = np.column_stack((np.ones(shape[0]), centred))
            ridge_matrix = np.diag([0.0] + [penalty] * shape[1])
            beta = np.linalg.solve(design[stay].T @ design[stay] + ridge_matrix, design[stay].T @ y[stay])
            predictions.append(design[left] @ beta)
        assert value == pytest.approx(float(y @ predictions) / (1 / sizes[0] + 1 / sizes[1]), rel=1e-9, abs=1e-12)


def test_members_equal_plain_counts() -> None:
    pooled = texts(1, 10) + texts(2, 10)
    pooled[3] = pooled[1]
    pooled[12] = pooled[15] = pooled[1]
    pool = Pool((material(pooled[:10]), material(pooled[10:])))
    resamples, labels = relabelled((10, 10), rows=30)
    masks = resamples.masks[0]
    by_name = {m.name: m.finish(m.prepare(pool, resamples)(masks)) for m in BANK if not m.reads_vectors}

    def bigrams(chosen: list[str]) -> set[tuple[str, str]]:
        return {pair for text in chosen for pair in pairwise(text.split())}

    def tokens(chosen: list[str]) -> int:
        return sum(max(len(text.split()) - 1, 0) for text in chosen)

    def repeated(chosen: list[str]) -> float:
        counts = Counter(chosen)
        return sum(count for count in counts.values() if count > 1) / len(chosen)

    gaps, lengths, repeats = [], [], []
    for row in labels:
        mine, theirs = [[text for text, own in zip(pooled, side, strict=True) if own] for side in (row, ~row)]
        gaps.append(len(bigrams(mine)) - len(bigrams(theirs)))
        lengths.append(tokens(mine) - tokens(theirs))
        repeats.append(repeated(mine) - repeated(theirs))
    x, y = np.array(lengths, float), np.array(gaps, float)
    residual = y - np.polyval(np.polyfit(x, y, 1), x)
    assert by_name["different"] == pytest.approx((residual - residual.mean()) ** 2, abs=1e-6)
    assert by_name["repeats"] == pytest.approx((np.array(repeats) - np.mean(repeats)) ** 2, abs=1e-12)


def fourth_powers(features: NDArray[np.float64], labels: NDArray[np.bool_]) -> list[float]:
    """Roots of sums over features of the fourth power of the difference from what the candidate should have."""
    found = []
    for row in labels:
        total = 0.0
        for feature in features:
            spread = math.sqrt(((feature - feature.mean()) ** 2).sum())
            total += ((feature[row].sum() - feature.mean() * row.sum()) / spread) ** 4 if spread > 1e-9 else 0.0
        found.append(math.sqrt(total))
    return found


def statistic(name: str, pool: Pool, resamples: Resamples) -> NDArray[np.float64]:
    member = next(member for member in BANK if member.name == name)
    return member.finish(member.prepare(pool, resamples)(resamples.masks[0]))


def test_words_sum_fourth_powers_of_differences_in_texts_that_have_them() -> None:
    pooled = [f"always {text}" for text in texts(1, 9) + texts(2, 7)]
    resamples, labels = relabelled((9, 7))
    found = statistic("words", Pool((material(pooled[:9]), material(pooled[9:]))), resamples)
    has = [[float(word in text.split()) for text in pooled] for word in ["always", *WORDS]]
    frequent = np.array([row for row in has if sum(row) >= 4])
    assert found == pytest.approx(fourth_powers(frequent, labels), rel=1e-9)


def test_regions_sum_fourth_powers_over_the_neighbourhoods_of_texts() -> None:
    one, other = material(texts(1, 9)), material(texts(2, 7))
    pool = Pool((one, other))
    resamples, labels = relabelled((9, 7))
    found = statistic("regions", pool, resamples)
    points = np.concatenate((one.view(Vectors).values, other.view(Vectors).values)).astype(float)
    gaps = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    narrow = np.exp(-(gaps**2) / (2 * (0.3 * np.median(gaps[np.triu_indices(16, 1)])) ** 2))
    # A text is no neighbour of itself: it has the mean of the others, so that it moves nothing.
    np.fill_diagonal(narrow, 0.0)
    narrow += np.diag(narrow.sum(axis=1) / 15)
    assert found == pytest.approx(fourth_powers(narrow, labels), rel=1e-5)


def test_one_changed_word_is_found_among_many_words() -> None:
    """A word of a tenth of the texts becomes another one; squared distances of all words hardly see it."""
    rare = [f"{text} is" if place % 6 == 0 else text for place, text in enumerate(texts(5, 300))]
    other = [f"{text} is" if place % 6 == 0 else text for place, text in enumerate(texts(6, 300))]
    changed = [text.replace(" is", " was") if place % 12 == 0 else text for place, text in enumerate(rare)]
    assert "words" in {member.name for member in lexical(changed, other).found_by(0.95)}
    assert "words" not in {member.name for member in lexical(rare, other).found_by(0.95)}


def test_edges_are_first_and_last_words_without_punctuation() -> None:
    edges = material(["The cat sat .", "stop", "!", "a cat"]).view(TextEdges)
    assert edges.sizes(2).tolist() == [4, 2, 2, 4]
    one = edges.order(1)
    counts = np.bincount(one.texts, one.counts, 4)
    assert counts.tolist() == [2, 2, 2, 2]
    same_end = material(["a dog sat", "the cat sat", "sat here now"]).view(TextEdges).order(1)
    assert sorted(np.diff(same_end.starts).tolist()) == [1, 1, 1, 1, 2]


def test_traits_do_not_depend_on_labels_and_count_other_texts_only() -> None:
    pooled = ["a b c", "a b d", "e"]
    both = Pool((material(pooled[:1]), material(pooled[1:])))
    found = text_traits(both.merged(Sequences), both.merged(TextNgrams))
    first = [math.log(3), 2 * math.log(2) / 3, math.log(2) / 2, math.log(2), 0.0, 0.0]
    assert found[0] == pytest.approx(first)
    assert found[2] == pytest.approx([0.0] * 6)
    other = Pool((material(pooled[:2]), material(pooled[2:])))
    assert text_traits(other.merged(Sequences), other.merged(TextNgrams)) == pytest.approx(found)


def test_a_last_word_is_common_as_a_last_word_where_other_texts_end_with_it() -> None:
    pooled = ["a dog sat .", "the cat sat", "sat by a", "a sat", "!"]
    both = Pool((material(pooled[:2]), material(pooled[2:])))
    found = text_traits(both.merged(Sequences), both.merged(TextNgrams))[:, 5]
    assert found == pytest.approx([math.log(3), math.log(3), 0.0, math.log(3), 0.0])


def test_texts_without_a_last_word_are_found_by_traits() -> None:
    """The words that are left at the end are common words, but no text ends with them."""
    whole = [f"{text} end{place % 5}" for place, text in enumerate(texts(3, 200))]
    other = [f"{text} end{place % 5}" for place, text in enumerate(texts(4, 200))]
    cut = [text.rsplit(" ", 1)[0] if place % 10 == 0 else text for place, text in enumerate(whole)]
    found = lexical(cut, other)
    assert "traits" in {member.name for member in found.found_by(0.95)}


def test_smooth_p_values_go_on_beyond_the_largest_share() -> None:
    values = np.concatenate((np.random.default_rng(0).exponential(size=999), [40.0]))
    p = smooth_p(values)
    assert p[-1] < 1e-9
    assert np.all((p > 0) & (p <= 1))
    assert np.all(np.diff(p[np.argsort(values)]) <= 1e-12)
    assert smooth_p(np.array([1.0, 1.0, 1.0, 1.0])).tolist() == [1.0] * 4


def test_counts_of_few_different_values_have_a_modest_tail() -> None:
    """A few repeated texts: an exchange with one more of them is not far outside, one with thirty is."""
    values = np.zeros(200)
    values[:12] = 1.0
    values[3] = 2.0
    assert 1e-5 < smooth_p(values).min() < 1 / 100
    values[3] = 30.0
    assert smooth_p(values).min() < 1e-6


def test_one_extreme_exchange_does_not_hide_what_was_observed() -> None:
    members = [member for member in BANK if member.name in ("words", "bigrams")]
    rng = np.random.default_rng(0)
    found = rng.exponential(size=(2, 200))
    found[0, 0] = 40.0
    found[1, 7] = 4000.0
    assert at_least(combine(found, members=members))[0] <= 2
    found[0, 0] = 0.5
    assert at_least(combine(found, members=members))[0] < 190


def test_every_labelling_is_treated_alike() -> None:
    """Exchanging two columns of statistics exchanges their combined values: what makes the level exact."""
    members = [member for member in BANK if not member.reads_vectors]
    pool = Pool((material(texts(1, 30)), material(texts(2, 30))))
    design = independent((30, 30), 0)
    found = bank_statistics(pool, design, design.labellings(99, 0), members=members)
    order = np.random.default_rng(0).permutation(100)
    assert combine(found[:, order], members=members) == pytest.approx(combine(found, members=members)[order])


def test_the_combination_equals_its_definition() -> None:
    """Fisher's product within a term, half-Cauchy over terms, then over parts; what is missing is left out."""
    rng = np.random.default_rng(0)
    found = rng.exponential(size=(len(BANK), 400))
    found[[member.name for member in BANK].index("edges"), 5] = np.nan
    p = {member.name: smooth_p(row) for member, row in zip(BANK, found, strict=True) if member.name != "edges"}

    def evidence(p: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / np.tan(np.pi / 2 * p)

    total = np.zeros(400)
    for part in PARTS:
        inside = np.zeros(400)
        for term in part.terms:
            known = [p[name] for name in term.members if name in p]
            if known:
                joined = known[0] if len(known) == 1 else smooth_p(-np.log(known[0] * known[1]))
                inside += term.weight * evidence(joined)
        total += part.weight * evidence(smooth_p(np.log(inside)))
    assert combine(found, members=BANK) == pytest.approx(np.log(total))


def test_without_vectors_the_words_decide_alone() -> None:
    """A pair without one of its members is the other one, and a part without members of its own does not count."""
    members = [member for member in BANK if member.name in ("words", "traits")]
    found = np.random.default_rng(0).exponential(size=(2, 400))
    words, traits = (1 / np.tan(np.pi / 2 * smooth_p(row)) for row in found)
    assert combine(found, members=members) == pytest.approx(np.log(words + 2 * traits))


def test_classifier_on_phrases_equals_explicit_leave_one_out_refits() -> None:
    pooled = texts(1, 6) + texts(2, 8)
    pool, sizes = Pool((material(pooled[:6]), material(pooled[6:]))), (6, 8)
    resamples, labels = relabelled(sizes)
    ngrams = pool.merged(TextNgrams)
    products = phrase_products([ngrams.order(n) for n in (1, 2)], 14, resamples)
    grams = [Counter([*text.split(), *map(" ".join, pairwise(text.split()))]) for text in pooled]
    documents = Counter(gram for counts in grams for gram in counts)
    vectors = [
        {g: math.log1p(k) * (math.log(15 / (documents[g] + 1)) + 1) for g, k in counts.items() if documents[g] > 1}
        for counts in grams
    ]
    lengths = [math.sqrt(sum(value**2 for value in vector.values())) for vector in vectors]
    kernel = np.array(
        [
            [sum(a[g] * b.get(g, 0.0) for g in a) / (x * y) for b, y in zip(vectors, lengths, strict=True)]
            for a, x in zip(vectors, lengths, strict=True)
        ]
    )
    # The last two units are texts in no block: there are none here.
    assert products[:14, :14] == pytest.approx(kernel)
    found = ridge_on_units(products, unit_sizes(resamples)).agreements(resamples.masks[0])
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    penalty = np.trace(centred) / 14
    features = np.linalg.cholesky(centred + 1e-12 * np.eye(14))
    for row, value in zip(labels, found, strict=True):
        y = np.where(row, 1 / sizes[0], -1 / sizes[1])
        predictions = []
        for left in range(14):
            stay = np.arange(14) != left
            design = np.column_stack((np.ones(14), features))
            beta = np.linalg.solve(
                design[stay].T @ design[stay] + np.diag([0.0] + [penalty] * 14), design[stay].T @ y[stay]
            )
            predictions.append(design[left] @ beta)
        assert value == pytest.approx(float(y @ predictions) / (1 / 6 + 1 / 8), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("kind", ["one stratum", "many strata", "blocks"])
def test_added_exchanges_give_what_all_at_once_give(kind: str) -> None:
    n = 3000 if kind == "blocks" else 40
    one, other = texts(1, n), texts(2, n)
    if kind == "many strata":
        groups = [f"g{place // 4}" for place in range(n)]
        sides = [Sample.of(side, groups=groups) for side in (one, other)]
        design = design_of(*sides, seed=0)
    else:
        design = independent((n, n), 0)
    pool = Pool((material(one), material(other)))
    members = [member for member in BANK if not member.reads_vectors or kind != "blocks"]
    masks = design.labellings(700, 3)
    few = design.labellings(300, 3)
    assert np.array_equal(masks[: len(few)], few)
    whole = bank_statistics(pool, design, masks, members=members)
    parts = Exchanged.of(pool, design, members).add(few).add(masks[len(few) :]).statistics()
    assert parts == pytest.approx(whole, rel=1e-9, abs=1e-12)


def test_the_questions_beside_the_test_add_no_exchanges_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clear difference from five candidates: the p-values of copies and of closeness are at their floor."""
    drawn: list[int] = []
    add = Exchanged.add

    def counted(self: Exchanged, masks: NDArray[np.bool_]) -> Exchanged:
        drawn.append(len(masks) * len(self.members))
        return add(self, masks)

    monkeypatch.setattr(Exchanged, "add", counted)
    found = lexical([f"oh {text}" for text in texts(3, 160)], texts(4, 160), n_resamples=999, n_candidates=5)
    assert found.n_resamples == 999
    assert drawn == [1000 * len(BANK)]


@pytest.mark.parametrize("until", [400, 1600])
def test_the_questions_beside_the_test_go_on_from_its_exchanges(until: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all p-values are unsure, each question has more exchanges than the one before it, up to the most."""
    rows: dict[int, int] = {}
    add = Exchanged.add

    def counted(self: Exchanged, masks: NDArray[np.bool_]) -> Exchanged:
        rows[len(self.members)] = rows.get(len(self.members), 0) + len(masks)
        return add(self, masks)

    monkeypatch.setattr(Exchanged, "add", counted)
    monkeypatch.setattr("textassay.inference.plan.MOST_RAISED", 1600)
    monkeypatch.setattr(OverallPlan, "is_unsure", lambda plan, *_: plan.n_resamples < until)
    monkeypatch.setattr(OverallPlan, "is_unsure_beside", lambda *_: True)
    real = texts(1, 40)
    found = lexical(real[:20] + texts(2, 20), real, n_resamples=100)
    assert found.n_resamples == until
    assert found.copied is not None
    assert found.copied * 1601 == pytest.approx(round(found.copied * 1601))
    more_for_closer = {n: count for n, count in rows.items() if n < len(BANK)}
    assert sum(more_for_closer.values()) == 1600 - until


def test_the_level_is_kept_where_members_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    rejected = []
    for _ in range(1000):
        shared = rng.standard_normal(200)
        found = (shared + rng.standard_normal((len(BANK), 200))) ** 2
        rejected.append(at_least(combine(found, members=BANK))[0] / 200 <= 0.05)
    assert np.mean(rejected) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 1000))


def test_weak_evidence_of_two_members_adds_up() -> None:
    members = [member for member in BANK if member.name in ("traits", "different")]
    found = np.random.default_rng(0).exponential(size=(2, 1000))
    found[:, 0] = -math.log(0.02)
    both = at_least(combine(found, members=members))[0]
    found[1, 0] = -math.log(0.5)
    assert both < at_least(combine(found, members=members))[0] / 3


def test_small_samples_are_tested_exactly() -> None:
    found = lexical(["a b", "a c", "a d", "a e"], ["x y", "x z", "x v", "x w"], n_resamples=999)
    assert found.n_resamples == 69
    # A labelling and its opposite tie.
    assert found.floor == pytest.approx(2 / 70)
    assert found.p_value is not None
    assert found.p_value * 70 == pytest.approx(round(found.p_value * 70))


@pytest.mark.slow
def test_the_level_is_kept_on_drawn_texts() -> None:
    plan = OverallPlan(n_resamples=99)
    null = [overall_test(material(texts(i, 40)), material(texts(1000 + i, 40)), plan=plan).p_value for i in range(120)]
    rejected = np.mean([p is not None and p <= 0.05 for p in null])
    assert rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)


def test_a_word_that_is_replaced_is_found() -> None:
    other = lexical(texts(1, 60), [text.replace("w0 ", "v ") for text in texts(2, 60)])
    assert other.p_value is not None
    assert other.p_value <= 0.05


@pytest.mark.parametrize(
    ("damage", "finder"),
    [
        (lambda many: [text.rsplit(" ", 2)[0] for text in many], "traits"),
        (lambda many: many[:40] * 4, "repeats"),
        (lambda many: [f"well {text}" for text in many], "edges"),
        (lambda many: [text.replace("w1", "v1") for text in many], "words"),
    ],
    ids=["cut", "repeated", "opening", "word"],
)
def test_what_differs_is_named(damage: object, finder: str) -> None:
    found = lexical(damage(texts(3, 160)), texts(4, 160))  # type: ignore[operator]
    assert found.p_value is not None
    assert found.p_value <= 0.05
    assert finder in {member.name for member in found.found_by(0.95)}


def test_more_resamples_near_the_limit() -> None:
    plan = OverallPlan(level=0.95, n_candidates=3)
    assert plan.is_unsure(0.05, 0.007)
    assert plan.is_unsure(0.05 / 3, 0.004)
    assert not plan.is_unsure(0.2, 0.013)
    assert not plan.is_unsure(0.001, 0.001)


def test_the_error_of_a_combined_p_value_is_its_spread_over_seeds() -> None:
    """The members' p-values are taken among the same exchanges, so the binomial error is too small."""
    pool = Pool((material(texts(5, 80)), material([*texts(6, 68), *texts(7, 12, words=WORDS[:6])])))
    members = [member for member in BANK if not member.reads_vectors]
    design, found, errors = independent((80, 80), 0), [], []
    bank = Exchanged.of(pool, design, members)
    for seed in range(40):
        statistics = bank.add(design.labellings(399, seed)).statistics()
        found.append(at_least(combine(statistics, members=members))[0] / 400)
        errors.append(monte_carlo_error(statistics, found[-1], members=members))
    assert 0.01 < np.mean(found) < 0.6
    assert 0.7 < np.sqrt(np.mean(np.square(errors))) / np.std(found, ddof=1) < 2.0


def test_the_effect_size_is_the_separable_share() -> None:
    far = [f"v{i}" for i in range(30)]

    def mixed(seed: int, size: int) -> list[str]:
        return texts(seed, size - size // 4) + texts(seed + 1, size // 4, words=far)

    found = [lexical(mixed(1, n), texts(9, n), n_resamples=99) for n in (200, 800)]
    shares = [each.separable for each in found if each.separable is not None]
    assert [each.estimate for each in shares] == pytest.approx([0.25] * 2, abs=0.05)
    assert [each.grade for each in shares] == ["clear"] * 2
    lows = [each.low for each in shares if each.low is not None]
    assert 0.1 < lows[0] < lows[1] <= 0.25
    limits = [each.detectable for each in shares if each.detectable is not None]
    assert limits[1] < limits[0]
    whole = lexical(texts(1, 100, words=far), texts(2, 100), n_resamples=99)
    assert whole.shared_pairs == 0.0
    assert whole.separable is not None
    assert whole.separable.grade == "large"


def test_without_a_difference_the_share_has_no_grade_and_its_bound_is_0() -> None:
    """A bound above 0 that the overall test does not confirm is not shown, and Holm's correction may take one away."""
    same = lexical(texts(1, 60), texts(2, 60)).separable
    assert same is not None
    assert (same.low, same.grade) == (0.0, None)
    found = lexical(texts(1, 60, words=[f"v{i}" for i in range(30)]), texts(2, 60))
    assert found.separable is not None
    for p, expected in ((0.01, (found.separable.low, "large")), (0.2, (0.0, None))):
        corrected = found.corrected(p, differs=p < 0.05).separable
        assert corrected is not None
        assert (corrected.low, corrected.grade) == expected


def test_copies_are_counted_and_are_no_difference() -> None:
    real = texts(1, 100)
    found = lexical(real[:90] + texts(2, 10), real)
    assert found.shared_texts == pytest.approx(0.9, abs=0.02)
    assert found.copied is not None
    assert found.copied <= 0.005
    assert found.closer is not None
    assert found.closer <= 0.03
    assert found.p_value is not None
    assert found.p_value > 0.5


def test_no_exchanges_are_added_for_too_few_copies() -> None:
    """Below 5 % of the texts nothing is said about copies, so their p-value is not refined beside the test's own."""
    real = texts(1, 200)
    few, more = (lexical(real[:copies] + texts(2, 200 - copies), real, n_resamples=99) for copies in (9, 14))
    assert few.shared_texts == pytest.approx(0.045)
    assert few.copied == 1 / 100
    assert more.copied is not None
    assert more.copied < 1 / 100


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (["a b"] * 30, ["a b"] * 30, False),
        (["a b"] * 30, texts(1, 30), True),
        (["yes", "no", "maybe"] * 10, ["no", "yes", "maybe"] * 10, False),
        (["yes"] * 30, ["no"] * 30, True),
        (["!"] * 20, ["?"] * 20, True),
        (texts(1, 2), texts(2, 2), None),
        (texts(1, 3), texts(2, 4), False),
    ],
    ids=["identical", "one side identical", "one word", "two words", "marks", "two texts", "few"],
)
def test_inputs_at_the_edge(one: list[str], other: list[str], differs: bool | None) -> None:
    found = lexical(one, other)
    if differs is None:
        assert found.p_value is None
        assert "too few" in (found.undefined or "")
    else:
        assert found.p_value is not None
        assert (found.p_value <= 0.05) == differs


def grouped(many: list[str], groups: list[str]) -> Material:
    return Material(Sample.of(many, groups=pa.array(groups, type=pa.large_string())))


def test_texts_of_one_prompt_are_no_evidence_by_themselves() -> None:
    """Ten texts per prompt about the prompt's own word: plain tests are sure of a difference, whole groups are not."""

    def prompted(seed: int) -> list[str]:
        subjects = np.random.default_rng(seed).permutation(200)[:12]
        return [f"{text} subject{s}" for s in subjects for text in texts(seed * 100 + int(s), 10)]

    names = [f"p{i // 10}" for i in range(120)]
    plain = lexical(prompted(1), prompted(2))
    assert plain.p_value is not None
    assert plain.p_value <= 0.01
    plan = OverallPlan(n_resamples=199)
    found = overall_test(grouped(prompted(1), names), grouped(prompted(2), [f"q{name}" for name in names]), plan=plan)
    assert found.design == "grouped"
    assert found.n_groups == (12, 12)
    assert found.p_value is not None
    assert found.p_value > 0.05


def test_pairs_find_what_prompts_hide() -> None:
    def answered(seed: int, *, prefix: bool) -> list[str]:
        rng = np.random.default_rng(seed)
        many = [f"{' '.join([f'topic{i}'] * 6)} {rng.choice(WORDS)}" for i in range(80)]
        return [f"well {text}" if prefix and place % 6 == 0 else text for place, text in enumerate(many)]

    names = [f"p{i}" for i in range(80)]
    plan = OverallPlan(n_resamples=199)
    found = overall_test(grouped(answered(1, prefix=True), names), grouped(answered(2, prefix=False), names), plan=plan)
    assert found.design == "paired"
    assert found.p_value is not None
    assert found.p_value <= 0.05


def test_too_few_groups_is_undefined_with_the_number_needed() -> None:
    found = overall_test(
        grouped(texts(1, 20), ["a"] * 10 + ["b"] * 10),
        grouped(texts(2, 20), ["c"] * 10 + ["d"] * 10),
        plan=OverallPlan(),
    )
    assert found.p_value is None
    assert found.undefined == (
        "2 and 2 groups are too few for any test to find a difference; needs at least 4 groups per sample"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["the cat sat on the mat the cat"] * 101, ["the cat sat on the mat the cat"] * 100),
        (["same words here"] * 7, ["same words here"] * 13),
    ],
)
def test_rounding_never_decides(one: list[str], other: list[str]) -> None:
    """Where all labellings give one value, sums of another order differ in their last digits only."""
    found = lexical(one, other)
    assert found.p_value == 1.0
    assert found.closer == 1.0
    assert all(member.p_value == 1.0 for member in found.members)


def test_constant_openings_and_endings_are_no_evidence() -> None:
    rejected = 0
    for seed in range(12):
        one, other = ([f"Review {text} end" for text in texts(seed + shift, 60)] for shift in (0, 500))
        found = lexical([*one, one[0] + " x"][:60], [*other, texts(seed, 1)[0]][:60], n_resamples=99)
        edges = next(member for member in found.members if member.name == "edges")
        assert edges.p_value == 1.0
        rejected += found.p_value is not None and found.p_value <= 0.05
    assert rejected <= 3


def test_the_signature_names_level_and_candidates() -> None:
    assert "level:0.95|candidates:1|resamples:999" in lexical(texts(1, 80), texts(2, 80), n_resamples=999).signature


def test_ranks_of_members_are_plain_p_values() -> None:
    found = lexical(texts(1, 40), texts(2, 40))
    for member in found.members:
        assert 1 / 200 <= member.p_value <= member.adjusted <= 1
    assert at_least(np.array([3.0, 1.0, 3.0])).tolist() == [2, 3, 2]
