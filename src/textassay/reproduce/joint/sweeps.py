"""Figures 1 and 4 of Montahaei et al. (2019): quality, diversity and their joint metrics over temperatures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.result import finite_or_none, signature
from textassay.models.choose import train_model
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import CurveAt, Line, Matrix, NamedPoint, Panel, Reproduction, Run
from textassay.reproduce.sweeps import N_PARTS, available, draw_texts, generate, measure_parts
from textassay.studies.agreement.correlation import correlation_matrix
from textassay.studies.agreement.study import dominated_shares

_PAPER = "montahaei2019"
_ORDERS = (2, 3, 4, 5)

# Temperatures from 1.5^-3 to 1.5^4, as in the paper.
TEMPERATURES = tuple(1.5**power for power in range(-3, 5))
_GENERATORS = ("ngram:order=2", "ngram:order=3", "ngram:order=5")
_CORPORA = {"COCO": slice(0, 2), "WMT news": slice(2, 4)}
_METRICS = "bleu:n=2-5,self_bleu:n=2-5,ms_jaccard:n=2-5"


@dataclass(frozen=True, eq=False)
class Swept:
    """Generators of a corpus at all temperatures: each metric as an array of parts by generators by temperatures.

    `real` has the metrics of further real text, as means over parts.
    """

    metrics: Mapping[str, F64]
    real: Mapping[str, float]
    digest: str

    def mean(self, label: str) -> F64:
        """A metric by generators and temperatures."""
        found: F64 = self.metrics[label].mean(axis=0)
        return found


def _sweep(files: Sequence[Path], run: Run, *, metrics: str, encoder: str | None = None) -> Swept:
    size = available(files, run.n_items, 4)
    drawn = draw_texts(files, (2 * size, size, size), run.seed)
    training, reference, real = drawn.parts
    models = [train_model(f"{spec}:tokenizer=whitespace", training) for spec in _GENERATORS]
    texts = {
        f"{at}/{index}": texts
        for at, model in enumerate(models)
        for index, texts in enumerate(generate(model, size, TEMPERATURES, run.seed).values())
    }
    found = measure_parts(reference, {**texts, "real": real}, metrics, run, encoder=encoder)
    shape = len(models), len(TEMPERATURES), N_PARTS
    swept = {
        label: np.moveaxis(np.array([by_name[name] for name in texts]).reshape(shape), -1, 0)
        for label, by_name in found.items()
    }
    # With one unknown word in place of all that the training texts lack; the models have the same words.
    log_probs = np.array(
        [[model.log_prob(reference, temperature=t).class_log_probs for t in TEMPERATURES] for model in models]
    )
    swept["NLL"] = np.array([-log_probs[:, :, part::N_PARTS].mean(axis=-1) for part in range(N_PARTS)])
    return Swept(swept, {label: float(np.mean(by_name["real"])) for label, by_name in found.items()}, drawn.digest)


def _generator_names() -> list[str]:
    return [f"{spec[-1]}-gram model" for spec in _GENERATORS]


def reproduce_figure_1(files: Sequence[Path], run: Run) -> Reproduction:
    """Quality against diversity of generators over temperatures, and what MS-Jaccard shows without them."""
    swept = {
        corpus: _sweep(files[part], run, metrics="bleu:n=4,self_bleu:n=4,ms_jaccard:n=4")
        for corpus, part in _CORPORA.items()
    }
    return Reproduction(
        name=run.name,
        title="Figure 1: diversity against quality of generators over temperatures",
        paper=_PAPER,
        design=f"Three n-gram models per corpus generate {_largest(files, run):,} texts or fewer at each temperature "
        "from 1.5^-3 to 1.5^4; 1 - BLEU-4 against as many real texts and Self-BLEU-4, means over "
        f"{N_PARTS} parts of the texts. Lower is better on both axes. A "
        "model dominates a point if one of its own points is better on both axes.",
        differs=(
            "The paper's models are an LSTM and three GANs, trained on 40,000 texts; here they are n-gram models of "
            "order 2, 3 and 5. No curve is fitted to the points.",
            "The IMDB reviews are not available here. Figure 1d, of the oracle, is in msj-table-4.",
        ),
        claims=tuple(_rank_claim(corpus, each) for corpus, each in swept.items()),
        options=run.options,
        signature=_sweep_signature(run, swept.values()),
        panels=tuple(_plane(corpus, each) for corpus, each in swept.items()),
    )


def _largest(files: Sequence[Path], run: Run) -> int:
    return max(available(files[part], run.n_items, 4) for part in _CORPORA.values())


def _sweep_signature(run: Run, swept: Iterable[Swept], encoder: str = "none") -> str:
    digests = "+".join(each.digest for each in swept)
    return signature(
        run.name,
        {},
        settings={"models": ",".join(_GENERATORS), "enc": encoder},
        data={"texts": digests},
        resampling={"items": run.n_items, "seed": run.seed},
    )


def _rank_claim(corpus: str, swept: Swept) -> Claim:
    names = [f"{spec[-1]}-gram" for spec in _GENERATORS]
    at_one = swept.metrics["ms_jaccard-4"][:, :, TEMPERATURES.index(1.0)]
    checks = dominance_checks(
        names,
        np.stack((swept.metrics["bleu-4"], -swept.metrics["self_bleu-4"]), axis=-1),
        lambda first, second: Check(
            f"MS-Jaccard-4 of {names[first]} less that of {names[second]}",
            Measured.over(at_one[:, first] - at_one[:, second]),
        ),
    )
    return Claim(
        f"{corpus}: MS-Jaccard-4 at t = 1 ranks the models as their dominance over temperatures does",
        checks,
        "above",
        0.0,
        f"every two models; intervals over {N_PARTS} parts of the generated texts",
    )


def dominance_checks(names: Sequence[str], sides: F64, better: Callable[[int, int], Check]) -> tuple[Check, ...]:
    """Of every two models the one that dominates the other more over temperatures, and that it is also the better one.

    `sides` are quality and diversity, higher is better, by part, model and temperature; `better` is the check that
    the first model is better than the second by another metric.
    """
    shares = np.array([dominated_shares(list(part)) for part in sides])
    net = shares - shares.swapaxes(1, 2)
    checks = []
    for pair in combinations(range(len(names)), 2):
        more, less = pair if net[:, pair[0], pair[1]].mean() >= 0 else pair[::-1]
        what = f"points of {names[less]} that {names[more]} dominates, less the reverse"
        checks += [Check(what, Measured.over(net[:, more, less])), better(more, less)]
    return tuple(checks)


def _plane(corpus: str, swept: Swept) -> Panel:
    lines = [
        Line(name, tuple(CurveAt(float(x), float(y)) for x, y in zip(own, 1 - bleu, strict=True)))
        for name, own, bleu in zip(_generator_names(), swept.mean("self_bleu-4"), swept.mean("bleu-4"), strict=True)
    ]
    real = NamedPoint("real text", swept.real["self_bleu-4"], 1 - swept.real["bleu-4"])
    return Panel(corpus, "Self-BLEU-4", "1 - BLEU-4", tuple(lines), points=(real,), tabled=False)


def reproduce_figure_4(files: Sequence[Path], run: Run) -> Reproduction:
    """The correlation of every two metrics over generators, temperatures and corpora."""
    encoder = run.by_scale("lsa", "lsa", "minilm")
    swept = [_sweep(files[part], run, metrics=f"{_METRICS},frechet", encoder=encoder) for part in _CORPORA.values()]
    names, rows = _turned(swept)
    matrix = correlation_matrix(rows)
    return Reproduction(
        name=run.name,
        title="Figure 4: Pearson correlation of metrics over generators, temperatures and corpora",
        paper=_PAPER,
        design=f"Three n-gram models on each of two corpora at eight temperatures from 1.5^-3 to 1.5^4, "
        f"{rows.shape[1]} samples of up to {_largest(files, run):,} texts; BLEU and MS-Jaccard are turned so that "
        f"lower is better. The Frechet distance (FBD) is on vectors of {encoder}.",
        differs=(
            "The paper has four models (LSTM and GANs) on three corpora, and vectors of BERT.",
            "Each metric is taken as it is on all corpora, as in the paper; differences between corpora count too.",
        ),
        claims=_matrix_claims(names, rows),
        options=run.options,
        signature=_sweep_signature(run, swept, encoder),
        matrices=(
            Matrix("Pearson correlation", names, tuple(tuple(map(finite_or_none, row)) for row in matrix.tolist())),
        ),
    )


def _turned(swept: Sequence[Swept]) -> tuple[tuple[str, ...], F64]:
    """All metrics with lower as better, one row per metric and one column per sample."""
    forms = {
        "NLL": ("NLL", False),
        **{f"1-MSJ{n}": (f"ms_jaccard-{n}", True) for n in _ORDERS},
        "FBD": ("frechet", False),
        **{f"1-BL{n}": (f"bleu-{n}", True) for n in _ORDERS},
        **{f"SBL{n}": (f"self_bleu-{n}", False) for n in _ORDERS},
    }
    rows = []
    for label, turn in forms.values():
        together = np.concatenate([each.mean(label).ravel() for each in swept])
        rows.append(1 - together if turn else together)
    return tuple(forms), np.array(rows)


def _matrix_claims(names: Sequence[str], rows: F64) -> tuple[Claim, ...]:
    """Correlations of the whole, and without the samples of each generator on each corpus."""
    place = {name: at for at, name in enumerate(names)}
    generator = np.arange(rows.shape[1]) // len(TEMPERATURES)
    whole, *without = (
        correlation_matrix(rows[:, generator != left_out]) for left_out in (-1, *range(int(generator.max()) + 1))
    )
    basis = "interval by the jackknife over generators and corpora"
    proposed = ["FBD", *(f"1-MSJ{n}" for n in _ORDERS)]

    def found(value: Callable[[F64], float]) -> Measured:
        return Measured.jackknife(value(whole), [value(each) for each in without])

    def of(first: str, second: str) -> Callable[[F64], float]:
        return lambda matrix: float(matrix[place[first], place[second]])

    def lead(other: str) -> Callable[[F64], float]:
        return lambda matrix: min(of("NLL", name)(matrix) for name in proposed) - of("NLL", other)(matrix)

    return (
        Claim(
            "1 - MS-Jaccard and the Frechet distance are highly correlated",
            tuple(Check(f"FBD with 1-MSJ{n}", found(of("FBD", f"1-MSJ{n}")), 0.7) for n in _ORDERS),
            "above",
            0.0,
            f"0.7 is high; {basis}",
        ),
        Claim(
            "of all metrics 1 - MS-Jaccard and the Frechet distance are the most correlated with NLL",
            tuple(
                Check(f"the least of their correlations less that of {other}", found(lead(other)))
                for other in names
                if other not in ("NLL", *proposed)
            ),
            "above",
            0.0,
            basis,
        ),
    )
