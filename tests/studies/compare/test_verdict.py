"""Verdicts from hand-made results: each sentence needs its own evidence, and none contradicts another."""

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.laws import corpus
from textassay import compare
from textassay.inference.effect_size import Separable
from textassay.inference.overall.test import MemberResult, Overall, OverallPlan
from textassay.inference.result import Interval, Result
from textassay.metrics.registry import metric
from textassay.studies.compare.verdict import Row, Setting, Sight, judge
from textassay.studies.finding import NO_TEST, Finding, Verdict

SETTING = Setting(0.95)
MEMBERS = (MemberResult("words", "words", 0.001, 0.002), MemberResult("energy", "sentence vectors", 0.4, 0.6))


SHARE = Separable(0.31, 0.279, 0.95, "", "clear", 0.14, None, "")


def overall(p: float | None, **changes: Any) -> Overall:
    plain = Overall(
        p_value=p,
        adjusted=p,
        members=MEMBERS,
        design="independent",
        n=(500, 500),
        n_groups=(0, 0),
        n_resamples=999,
        floor=0.001,
        undefined=None,
        signature="",
        separable=SHARE,
        shared_pairs=0.6,
        shared_texts=0.0,
        copied=1.0,
        closer=0.5,
    )
    return replace(plain, **changes)


DIFFERS, SAME = overall(0.001), overall(0.4)


def result(metric: str, estimate: float, width: float | None = 0.02, **changes: Any) -> Result:
    interval = None if width is None else Interval(estimate - width, estimate + width, 0.95, "jackknife")
    plain = Result(
        metric=metric,
        options={},
        estimate=estimate,
        better="closer",
        aspect="",
        interval=interval,
        p_value=0.001,
        parts={},
        undefined=None,
        signature="",
        seconds=0.0,
        n=500,
    )
    return replace(plain, **changes)


def row(metric: str, mine: float, real: float, *, significant: bool = True, width: float | None = 0.02) -> Row:
    found = result(metric, mine, width)
    return Row(f"{metric}-2", found, result(metric, real, width), significant, found)


def untested(metric: str, mine: float, real: float) -> Row:
    """A metric that has an interval and no test."""
    made = row(metric, mine, real, significant=False)
    found = replace(made.result, p_value=None)
    return replace(made, result=found, like_real=found)


def repetition(mine: float, real: float, *, n: int = 500, at_baseline_size: tuple[float, int] | None = None) -> Row:
    def made(share: float, size: int) -> Result:
        parts = {"exact": share, "unique_texts": round(size * (1 - share)) or 1}
        return result("repetition", share, 0.01, parts=parts, n=size, p_value=None)

    found = made(mine, n)
    like_real = found if at_baseline_size is None else made(*at_baseline_size)
    return Row("repetition", found, made(real, like_real.n), False, like_real)


def said(rows: list[Row], found: Overall | None, **changes: Any) -> Verdict:
    setting = changes.pop("setting", SETTING)
    return judge(rows, found, setting=setting, **changes)


def test_a_metric_declares_a_known_effect_in_the_right_direction() -> None:
    declared: dict[str, Any] = {
        "family": "ngram", "aspect": "diversity", "bounds": (0, 1), "interval": "jackknife", "test": "permutation",
        "paper": "",
    }  # fmt: skip
    with pytest.raises(TypeError, match="new: rise='more happy' is no known effect; there are: closer, farther, "):
        metric("new", better="higher", rise="more happy", **declared)
    with pytest.raises(TypeError, match="new: a rise is 'more repeats', so it cannot be better='higher'"):
        metric("new", better="higher", rise="more repeats", **declared)


class TestLevels:
    def test_the_overall_test_alone_decides(self) -> None:
        far = [row("cnd", 0.9, 0.1), row("distinct", 0.1, 0.6)]
        assert said([], DIFFERS).decision == "differs"
        assert said(far, SAME).decision == "same"
        assert said(far, SAME).reasons == said([], SAME).reasons

    def test_a_limit_is_where_p_is_the_level(self) -> None:
        assert said([], overall(0.05)).decision == "differs"
        assert said([], overall(0.0501)).decision == "same"

    def test_without_a_test_there_is_no_claim(self) -> None:
        assert said([row("cnd", 0.9, 0.1)], None) == Verdict.of("untested", NO_TEST)
        impossible = overall(None, undefined="2 and 2 groups are too few")
        assert said([], impossible) == Verdict.of("untested", Finding("not tested", text="2 and 2 groups are too few"))

    @pytest.mark.parametrize(("detectable", "level"), [(0.49, "same"), (0.5, "untested"), (None, "untested")])
    def test_few_texts_are_not_called_the_same(self, detectable: float | None, level: str) -> None:
        verdict = said([], overall(0.4, separable=replace(SHARE, detectable=detectable)))
        assert verdict.decision == level
        assert ("too few texts" in verdict.sentence) == (level == "untested")

    def test_half_repeated_texts_beyond_real_text_are_a_collapse(self) -> None:
        assert said([repetition(0.9, 0.1)], DIFFERS).decision == "collapsed"
        assert said([repetition(0.9, 0.9)], DIFFERS).decision == "differs"
        assert said([repetition(0.9, 0.1)], SAME).decision == "same"

    def test_warnings_are_in_every_verdict(self) -> None:
        for found in (DIFFERS, SAME, overall(0.4, separable=None), overall(None), overall(1.0, shared_texts=0.5)):
            assert said([], found, warnings=["texts are sorted"]).reasons[-1] == "texts are sorted"


class TestSentences:
    def test_a_difference_of_texts_that_may_be_dependent_is_claimed_under_a_condition(self) -> None:
        sentence = said([], DIFFERS, warnings=["neighbouring texts are alike"]).sentence
        assert "differs from the reference, if the texts are independent (overall test" in sentence
        assert "difference, under the same condition: " in sentence
        assert "independent" not in said([], DIFFERS).sentence
        assert "under the same condition" not in said([], DIFFERS).sentence

    def test_p_values_and_sizes(self) -> None:
        assert "(overall test: p ≤ 0.001, 500 and 500 texts; found by words)" in said([], DIFFERS).sentence
        assert "(overall test: p = 0.40, 500 and 500 texts)" in said([], SAME).sentence
        grouped = overall(0.4, design="grouped", n_groups=(50, 40))
        assert "500 and 500 texts in 50 and 40 groups" in said([], grouped).sentence
        corrected = overall(0.001, adjusted=0.006)
        assert "p ≤ 0.006" in said([], corrected).sentence

    def test_no_difference_has_the_smallest_one_that_would_have_been_found(self) -> None:
        assert "14 % or more of texts that a classifier recognises would probably" in said([], SAME).sentence

    def test_the_share_that_would_have_been_found_is_above_the_one_that_was_not(self) -> None:
        found = replace(SHARE, estimate=0.16, low=0.0, detectable=0.14).judged(differs=False)
        # 0.16, and the standard error of 0.14 / (1.22 * 1.64 + 0.84) times 0.84.
        assert found.detectable == pytest.approx(0.201, abs=0.001)
        assert replace(found, estimate=0.09, detectable=0.14).judged(differs=False).detectable == 0.14
        assert "20 % or more of texts" in said([], overall(0.4, separable=found)).sentence

    def test_repeats_are_counted_on_as_many_texts_as_real_text_has(self) -> None:
        made = repetition(0.4, 0.02, n=3000, at_baseline_size=(0.2, 200))
        assert "repeats itself: 20 % of texts repeat another one, 20 % word for word (160 different texts of 200)" in (
            said([made], DIFFERS).sentence
        )

    @pytest.mark.parametrize("low", [0.0, 0.07, 0.279, 0.8])
    def test_the_size_is_the_separable_share(self, low: float) -> None:
        found = replace(SHARE, low=low).judged(differs=True)
        sentence = said([], overall(0.001, separable=found)).sentence
        expected = {0.0: "slight", 0.07: "slight", 0.279: "clear", 0.8: "large"}[low]
        assert f"{expected} difference: " in sentence
        assert ("no share of its texts is surely unlike" in sentence) == (low == 0)
        assert {0.07: "at least 7.0 % of", 0.279: "at least 27 % of", 0.8: "at least 80 % of"}.get(low, "") in sentence

    def test_a_share_without_a_number_has_its_reason(self) -> None:
        none = Separable(None, None, 0.95, "", None, None, "too few groups", "")
        assert "is not known: too few groups" in said([], overall(0.001, separable=none)).sentence

    def test_an_encoder_that_cannot_read_the_texts_has_no_sentence(self) -> None:
        rows = [row("energy", 0.9, 0.1), row("precision", 0.1, 0.9), row("vendi", 0.1, 0.9)]
        blind = Setting(0.95, Sight(reliable=False))
        assert said(rows, DIFFERS, setting=blind) == said([], DIFFERS)
        words = Setting(0.95, Sight("word patterns"))
        assert "diverse in word patterns" in said(rows, DIFFERS, setting=words).sentence

    def test_a_difference_in_format_is_named_beside_a_difference_only(self) -> None:
        assert "the format differs as well" in said([], DIFFERS, format_differs=True).reasons[2]
        assert "format" not in said([], SAME, format_differs=True).sentence

    def test_reach_needs_a_test_and_a_value_below_real_text(self) -> None:
        assert "unlike any in the reference" in said([row("precision", 0.5, 0.9)], DIFFERS).sentence
        for made in (
            row("precision", 0.9, 0.5),
            row("precision", 0.88, 0.9),
            row("precision", 0.5, 0.9, significant=False),
        ):
            assert said([made], DIFFERS) == said([], DIFFERS)

    def test_uncovered_parts_may_be_shown_by_reverse_bleu(self) -> None:
        assert "leaves parts of the reference uncovered" in said([untested("reverse_bleu", 0.1, 0.3)], DIFFERS).sentence
        assert "diverse" not in said([untested("reverse_bleu", 0.1, 0.3)], DIFFERS).sentence

    def test_phrases_are_named_by_what_the_metric_counts(self) -> None:
        assert "uses the reference's common phrases less often (cr-2" in said([row("cr", 0.1, 0.3)], DIFFERS).sentence
        assert (
            "fewer of its phrases are in the reference (bleu-2" in said([untested("bleu", 0.1, 0.3)], DIFFERS).sentence
        )
        assert said([row("cr", 0.3, 0.1), untested("bleu", 0.3, 0.1)], DIFFERS) == said([], DIFFERS)

    def test_an_undefined_metric_says_nothing(self) -> None:
        made = row("distinct", 0.1, 0.6)
        gone = replace(made, result=replace(made.result, undefined="no text has n tokens", estimate=math.nan))
        assert said([gone], DIFFERS).reasons == said([], DIFFERS).reasons


class TestDiversity:
    def test_the_direction_needs_a_test_and_values_apart(self) -> None:
        assert (
            "less diverse than the reference (distinct-2 0.400" in said([row("distinct", 0.4, 0.6)], DIFFERS).sentence
        )
        assert "more diverse than the reference" in said([row("self_bleu", 0.2, 0.4)], DIFFERS).sentence
        for made in (row("distinct", 0.4, 0.6, significant=False), row("distinct", 0.59, 0.6)):
            assert "diverse" not in said([made], DIFFERS).sentence

    def test_a_value_without_interval_counts_outside_the_other_interval_only(self) -> None:
        for mine, real, claimed in ((0.924, 0.94, False), (0.5, 0.94, True)):
            made = row("precision", mine, real)
            bare = replace(made, like_real=replace(made.like_real, interval=None))
            assert ("unlike any" in said([bare], DIFFERS).sentence) == claimed
        neither = row("precision", 0.5, 0.9, width=None)
        assert "unlike any" not in said([neither], DIFFERS).sentence

    def test_what_the_length_moves_is_read_at_equal_lengths(self) -> None:
        moved = row("distinct", 0.8, 0.6)
        assert "divers" not in said([replace(moved, only_length=True)], DIFFERS).sentence
        equal = said([replace(moved, equal_lengths=True)], DIFFERS).sentence
        assert "(distinct-2 0.800, real 0.600 ± 0.020 in 500 texts of each cut to equal lengths)" in equal

    def test_measures_that_disagree_give_no_direction(self) -> None:
        sentence = said([row("distinct", 0.7, 0.6), row("vendi", 70.0, 90.0)], DIFFERS).sentence
        assert "diversity measures disagree: lower by vendi-2 70.0" in sentence
        assert "less diverse" not in sentence
        assert "more diverse" not in sentence

    def test_vectors_alone_show_diversity_of_what_the_encoder_sees(self) -> None:
        sentence = said([row("vendi", 19.0, 90.0)], DIFFERS).sentence
        assert "less diverse in meaning as the encoder measures it (vendi-2 19.0" in sentence

    def test_samples_without_a_common_word_pair_do_not_compare_in_words(self) -> None:
        """The words of one may be characters and those of the other not."""
        rows = [row("distinct", 0.38, 0.6), row("entropy", 7.0, 7.5)]
        assert "less diverse" in said(rows, overall(0.001, shared_pairs=0.2)).sentence
        assert "diverse" not in said(rows, overall(0.001, shared_pairs=0.0)).sentence

    def test_swapped_samples_are_not_both_less_diverse(self) -> None:
        for name, low, high in (("distinct", 0.3, 0.6), ("vendi", 20.0, 90.0), ("self_bleu", 0.3, 0.6)):
            one = said([row(name, low, high)], DIFFERS).sentence
            other = said([row(name, high, low)], DIFFERS).sentence
            assert sorted(("less" in one, "less" in other)) == [False, True]


class TestRepeats:
    def test_bleu_is_not_held_against_real_text_that_repeats(self) -> None:
        rows = [untested("bleu", 0.19, 0.38), untested("reverse_bleu", 0.2, 0.38)]
        assert len(said(rows, DIFFERS).reasons) == 4
        assert said(rows, DIFFERS, setting=Setting(0.95, real_overlap=0.2)) == said([], DIFFERS)


class TestCopies:
    COPIED = overall(1.0, shared_texts=0.3, copied=0.001, closer=0.001)

    def test_copies_and_closeness_are_said(self) -> None:
        verdict = said([], self.COPIED)
        assert verdict.decision == "copied"
        assert "30 % of its texts are in the reference word for word (real text 0 %)" in verdict.reasons[0]
        assert "closer to the reference than two independent samples" in verdict.sentence
        assert "compare again without" in verdict.sentence

    @pytest.mark.parametrize(
        "found",
        [
            replace(COPIED, copied=0.01),
            replace(COPIED, shared_texts=0.04),
            replace(COPIED, shared_texts=0.01),
        ],
    )
    def test_a_few_texts_in_both_samples_are_no_copies(self, found: Overall) -> None:
        verdict = said([], found)
        assert verdict.decision == "same"
        assert "word for word" not in verdict.sentence

    def test_real_text_that_repeats_stock_replies_is_not_called_copied(self) -> None:
        assert said([], self.COPIED, setting=Setting(0.95, real_overlap=0.35)).decision == "same"

    def test_several_candidates_share_the_error_rate(self) -> None:
        six = Setting(0.95, n_candidates=6)
        assert said([], self.COPIED, setting=six).decision == "same"
        assert "closer" not in said([], self.COPIED, setting=six).sentence
        sure = replace(self.COPIED, copied=1 / 3000, closer=1 / 3000)
        assert said([], sure, setting=six).decision == "copied"
        assert "closer" in said([], sure, setting=six).sentence

    def test_a_sample_may_copy_and_differ(self) -> None:
        verdict = said([], overall(0.001, shared_texts=0.3, copied=0.001))
        assert verdict.decision == "differs"
        assert "word for word" in verdict.sentence
        assert "no difference" not in verdict.sentence


class TestComparisons:
    """Whole comparisons, where the tests behind the sentences must be able to decide."""

    def test_copies_by_several_candidates_are_found_with_few_resamples(self) -> None:
        """199 resamples cannot give a p-value below 0.005, and six candidates share that: more are drawn."""
        real = corpus(1, 100)
        candidates = {f"x{seed}": [*real[:40], *corpus(seed, 63)[3:]] for seed in range(2, 8)}
        found = compare(real, candidates, metrics=["repetition"], tokenizer="whitespace", n_resamples=199)
        for column in found.candidates:
            assert column.verdict is not None
            assert column.verdict.decision == "copied", column.verdict
            assert column.overall is not None
            assert column.overall.copied is not None
            assert column.overall.copied < 0.005 / 6
            assert column.overall.n_resamples == 199

    @pytest.mark.parametrize(
        ("hits", "rows", "n_candidates", "unsure"),
        [
            (1, 200, 1, True),
            (3, 200, 1, True),
            (10, 200, 1, False),
            (100, 200, 1, False),
            (1, 1000, 1, False),
            (1, 1000, 6, True),
            (1, 4000, 6, False),
        ],
    )
    def test_more_resamples_are_drawn_only_near_the_limit(
        self, hits: int, rows: int, n_candidates: int, unsure: bool
    ) -> None:
        assert OverallPlan(0.95, rows - 1, 0, n_candidates).is_unsure_beside(hits / rows, rows) == unsure
