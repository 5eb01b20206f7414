"""Table 2 and Figure 2 of Li et al. (2020): quality-diversity pairs on real texts and their mixtures with noise."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.document.words import number
from textassay.errors import InputError, Setting
from textassay.inference.result import Result, signature
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.quality_diversity.synthetic import DIVERSITY, PAPER, QUALITY
from textassay.reproduce.result import CurveAt, Line, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import TOKENIZER, available, draw_texts
from textassay.studies.frontier.result import Analysis, SourceColumn
from textassay.studies.frontier.study import frontier

# Table 2: QDisc, DRate in per cent, Self-Ratio and Ref-Ratio.
TABLE_2 = {
    "MSCOCO": {
        "bs-2": (0.032, 3.2, 0.034, 0.314),
        "bs-3": (0.090, 9.0, 0.104, 0.814),
        "bs-4": (0.162, 16.2, 0.219, 1.46),
        "cn-2": (0.75e-6, 0.013, 0.0005, 0.006),
        "cn-3": (1.07e-6, 0.079, 0.0063, 0.087),
        "cn-4": (1.15e-6, 0.163, 0.0247, 0.421),
    },
    "WMT news": {
        "bs-2": (0.034, 3.4, 0.036, 0.26),
        "bs-3": (0.117, 11.7, 0.145, 0.88),
        "bs-4": (0.211, 21.1, 0.339, 1.59),
        "cn-2": (3.69e-7, 0.016, 0.0008, 0.025),
        "cn-3": (3.45e-7, 0.098, 0.0109, 0.358),
        "cn-4": (3.12e-7, 0.220, 0.0525, 2.092),
    },
}
DATA = {"MSCOCO": slice(0, 2), "WMT news": slice(2, 4)}
# Texts are split at random into real text and reference this many times, which gives every number its interval.
_SPLITS = 5


@dataclass(frozen=True, eq=False)
class Estimated:
    """The estimates of section 6.2 of one corpus, one per random split of its texts."""

    corpus: str
    n: int
    splits: tuple[SourceColumn, ...]
    digest: str

    def over(
        self, value: Callable[[SourceColumn], float], *, less: Callable[[SourceColumn], float] | None = None
    ) -> Measured:
        """The mean of a number over the splits, or of a difference of two."""
        return Measured.over([value(split) - (less(split) if less else 0.0) for split in self.splits])


def _estimated(files: Sequence[Path], run: Run, pairs: Sequence[str]) -> tuple[Estimated, ...]:
    """The estimates on both data sets, with as many texts per sample as there are."""
    found = []
    for corpus, part in DATA.items():
        size = available(files[part], run.n_items, 2)
        splits = []
        for seed in range(run.seed, run.seed + _SPLITS):
            drawn = draw_texts(files[part], (size, size), seed)
            real, reference = drawn.parts
            column = frontier(
                {corpus: real},
                reference=reference,
                pairs=list(pairs),
                tokenizer=TOKENIZER,
                n_seeds=1,
                seed=seed,
                progress=run.progress,
            ).sources[0]
            for name in pairs:
                _check_defined(column[name], name, corpus, run)
            splits.append(column)
        found.append(Estimated(corpus, size, tuple(splits), f"{size}-of-{drawn.digest}"))
    return tuple(found)


def _design_of(found: Sequence[Estimated]) -> str:
    sizes = " and ".join(f"{each.n:,} + {each.n:,} texts of {each.corpus}" for each in found)
    return f"{sizes}, words between blanks, split at random {_SPLITS} times"


def _signature_of(run: Run, found: Sequence[Estimated]) -> str:
    texts = "+".join(each.digest for each in found)
    return signature(
        run.name,
        {},
        settings={"tok": TOKENIZER},
        data={"texts": texts},
        resampling={"splits": _SPLITS, "seed": run.seed},
    )


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """QDisc, DRate, Self-Ratio and Ref-Ratio of BLEU and CR pairs on real texts."""
    names = list(TABLE_2["MSCOCO"])
    found = _estimated(files, run, names)
    return Reproduction(
        name=run.name,
        title="Table 2: QDisc, DRate, Self-Ratio and Ref-Ratio on real texts",
        paper=PAPER,
        design=f"{_design_of(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % random words give a "
        "curve; QDisc is its quality at the diversity of held-out real text, minus the quality of that text. Noise "
        "texts have 5 words or the largest length, and the larger QDisc counts, as in the paper. All "
        "numbers are means over the splits, with the interval of Student's t.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus, without rare words and long texts. Gaps shrink as "
            "samples grow.",
        ),
        claims=tuple(claim for each in found for claim in _table_2_claims(each)),
        options=run.options,
        signature=_signature_of(run, found),
        tables=tuple(
            Numbers(
                f"{each.corpus}, {each.n:,} texts per sample",
                _COLUMNS_2,
                tuple(_table_2_row(each, name) for name in names),
                None,
            )
            for each in found
        ),
    )


_COLUMNS_2 = tuple(
    f"{what}, {whose}" for whose in ("published", "ours") for what in ("QDisc", "DRate (%)", "Self-Ratio", "Ref-Ratio")
)


def _table_2_row(found: Estimated, name: str) -> Row:
    ours = (
        found.over(lambda split: split[name].estimate),
        found.over(lambda split: 100 * split[name].parts["drate"]),
        found.over(lambda split: split[name].parts.get("self_ratio", math.nan)),
        found.over(lambda split: split[name].parts.get("ref_ratio", math.nan)),
    )
    return Row(name.upper(), (*TABLE_2[found.corpus][name], *(each.estimate for each in ours)))


def _check_defined(result: Result, name: str, corpus: str, run: Run) -> None:
    if result.undefined is not None:
        reason = f"; {name} of {corpus} has no value ({result.undefined}); wanted more texts"
        raise InputError(Setting("n_items", run.n_items), reason)


def _table_2_claims(found: Estimated) -> list[Claim]:
    def gap(name: str) -> Callable[[SourceColumn], float]:
        return lambda split: split[name].estimate

    def rate(name: str, times: float = 1.0) -> Callable[[SourceColumn], float]:
        return lambda split: times * split[name].parts["drate"]

    printed = {name: values[0] for name, values in TABLE_2[found.corpus].items()}
    times = [TABLE_2[found.corpus][f"bs-{n}"][1] / TABLE_2[found.corpus][f"cn-{n}"][1] for n in _ORDERS]
    return [
        Claim(
            f"{found.corpus}: QDisc of BLEU is positive and grows with n",
            (
                Check("BS-2", found.over(gap("bs-2"))),
                Check("BS-3 less BS-2", found.over(gap("bs-3"), less=gap("bs-2"))),
                Check("BS-4 less BS-3", found.over(gap("bs-4"), less=gap("bs-3"))),
            ),
            "above",
            0.0,
            _OVER_SPLITS,
        ),
        Claim(
            f"{found.corpus}: QDisc of BLEU-2 to BLEU-4 is about {_listed(printed[f'bs-{n}'] for n in _ORDERS)}",
            tuple(
                Check(
                    f"BS-{n}, as a share of the printed", _share_of(found.over(gap(f"bs-{n}")), printed[f"bs-{n}"]), 1.0
                )
                for n in _ORDERS
            ),
            "within",
            0.5,
            f"half of the printed value, because the texts are others; {_OVER_SPLITS}",
        ),
        Claim(
            f"{found.corpus}: DRate of BLEU is many times that of CR and NRR ({_listed(times)} times)",
            tuple(
                Check(
                    f"DRate of BS-{n} less {_MANY} times that of CN-{n}",
                    found.over(rate(f"bs-{n}"), less=rate(f"cn-{n}", _MANY)),
                )
                for n in _ORDERS
            ),
            "above",
            0.0,
            f"{_MANY} times is about half of the smallest ratio that is printed; a difference is compared, because "
            f"DRate of CN can be 0; {_OVER_SPLITS}",
        ),
    ]


_ORDERS = (2, 3, 4)
_MANY = 50
_OVER_SPLITS = "intervals over random splits of the texts"


def _share_of(found: Measured, printed: float) -> Measured:
    return Measured(*(None if value is None else value / printed for value in (found.estimate, found.low, found.high)))


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(map(number, numbers))


def reproduce_figure_2(files: Sequence[Path], run: Run) -> Reproduction:
    """Mixtures with noise in the planes of BS-3 and CN-3, and real text."""
    found = _estimated(files, run, ("bs-3", "cn-3"))
    return Reproduction(
        name=run.name,
        title="Figure 2: real text and mixtures with noise, by BLEU and NSBLEU and by CR and NRR",
        paper=PAPER,
        design=f"{_design_of(found)}: mixtures of texts of the reference with 0, 20, 40 and 60 % texts of random words "
        "(from right to left), 3-grams. A gap is the quality of the curve with noise of 5 words at the diversity of "
        "real text, minus the quality of real text, as a share of the range of quality. The first split is drawn.",
        differs=(
            "The paper has 50,000 + 50,000 texts of each corpus, without rare words and long texts.",
            "The paper draws noise of 5 words only; noise of the largest length is drawn beside it.",
        ),
        claims=tuple(claim for each in found for claim in _mixture_claims(each)),
        options=run.options,
        signature=_signature_of(run, found),
        panels=tuple(_mixture_panel(each.corpus, analysis) for each in found for analysis in each.splits[0].analyses),
    )


def _mixture_claims(found: Estimated) -> list[Claim]:
    clear, basis = 0.01, f"1 % of the range of quality; {_OVER_SPLITS}"

    def gap(name: str) -> tuple[Check]:
        measured = found.over(lambda split: _gap_at_short_noise(split.analysis(name)))
        return (Check(f"gap of {name.upper()}", measured),)

    return [
        Claim(f"{found.corpus}: real text is clearly below the curve of BLEU", gap("bs-3"), "above", clear, basis),
        Claim(f"{found.corpus}: real text is close to the curve of CR and NRR", gap("cn-3"), "within", clear, basis),
    ]


def _gap_at_short_noise(analysis: Analysis) -> float:
    points = sorted((diversity, quality) for _, quality, diversity in analysis.curves[0].points)
    at = np.interp(analysis.diversity, [diversity for diversity, _ in points], [quality for _, quality in points])
    return (float(at) - analysis.quality) / analysis.result.parts["range"]


def _mixture_panel(corpus: str, analysis: Analysis) -> Panel:
    kind = analysis.pair[:2]
    lines = [
        Line(f"noise of {length}", tuple(CurveAt(x, y) for _, x, y in curve.points))
        for length, curve in zip(("5 words", "the largest length"), analysis.curves, strict=True)
    ]
    return Panel(
        f"{corpus}: {'BLEU-3 and NSBLEU-3' if kind == 'bs' else 'CR-3 and NRR-3'}",
        f"quality: {QUALITY[kind]}",
        f"diversity: {DIVERSITY[kind]}",
        tuple(lines),
        points=(NamedPoint("real text", analysis.quality, analysis.diversity),),
        tabled=False,
    )
