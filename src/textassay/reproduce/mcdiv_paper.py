"""ConTest and McDiv nuggets (Tevet and Berant 2021): which metrics tell varied sets of responses from narrow ones?

People wrote sets of five responses to one context, either with many meanings or with few. The optimal classification
accuracy (OCA) of a metric is the largest share of sets that one threshold on its values puts on the right side.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.sample import stream
from textassay.corpus.tables import Expected, open_source, read_tables
from textassay.errors import InputError
from textassay.inference.plan import Progress
from textassay.inference.result import signature
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Reproduction, Row, Run
from textassay.studies.answers.study import answers
from textassay.studies.answers.verdict import gain

FILES = tuple(
    f"mcdiv/{data}_200_with_hds_{task}_gen.csv"
    for data in ("con_test", "mcdiv_nuggets")
    for task in ("prompt", "resp", "story")
)
_NAMES = tuple(f"{data} {task}" for data in ("ConTest", "nuggets") for task in ("prompts", "replies", "stories"))
_PROMPTS = ("ConTest prompts", "nuggets prompts")
_N_RESPONSES = 5
# The values of the authors' metrics, by column of the files; the first is that of people.
HUMAN, SENT_BERT, DISTINCT = "people (absHDS)", "sent-BERT", "distinct n-grams"
PUBLISHED = {
    HUMAN: "metric_abs_hds_mean",
    SENT_BERT: "metric_SentBert",
    "BERTScore": "metric_BertScore",
    DISTINCT: "metric_AveragedDistinctNgrams",
    "cosine of n-grams": "metric_AveragedCosineSimilarity",
}
VECTORS = ("dissimilarity", "vendi", "meanings")
WORDS = ("wordings", "repetition", "distinct:n=1-3", "self_bleu:n=2-4", "entropy:n=1-2", "nrr:n=1-2")
_OURS, _OUR_DISTINCT = "dissimilarity", "distinct-2"
_SYSTEM = "people"
_RESAMPLES = 2_000
# Half-way between chance and people.
_NEAR_CHANCE = 0.7
_BASIS = "95 % intervals by the bootstrap over contexts"


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of one file: their responses, whether they have many meanings, contexts and scores by metric."""

    items: ItemSet
    varied: Bool
    contexts: I64
    scores: Mapping[str, F64]

    @property
    def human(self) -> F64:
        """How varied people found each set, on average."""
        return self.scores[HUMAN]


def reproduce_mcdiv(files: Sequence[Path], run: Run) -> Reproduction:
    """OCA and rank correlation of the authors' metrics and of ours, on the sets with human scores."""
    read = [read_sets(path, name, run.n_items) for path, name in zip(files, _NAMES, strict=True)]
    run.progress.start("measuring", len(read))
    encoder = run.by_scale("lsa", "minilm", "minilm")
    measured = [_with_ours(sets, encoder, run.progress) for sets in read]
    digests = ",".join(f"{len(sets.items)}/{sets.items.digest}" for sets in read)
    return Reproduction(
        name=run.name,
        title="metrics of diversity on sets of responses that people wrote and rated",
        paper="tevet2021",
        design=(
            "Six files of ConTest and McDiv nuggets: sets of five responses to one context, written by people with many"
            " meanings or with few, and how varied others found them. OCA: the share of sets that the best threshold on"
            " a metric puts on the right side. The authors' values are those in the files; ours are those of textassay"
            f" answers, with vectors of {encoder} given the context."
        ),
        differs=_differs(measured),
        claims=tuple(_claims(measured, run.seed)),
        options=run.options,
        signature=signature(
            "mcdiv", {}, data={"sets": digests}, resampling={"resamples": _RESAMPLES, "seed": run.seed}
        ),
        tables=(
            _table("Optimal classification accuracy", measured, _oca),
            _table("Spearman's correlation with the human score", measured, _spearman),
        ),
    )


def read_sets(path: Path, name: str, n: int) -> Sets:
    """The first sets of a file."""
    opened = open_source(str(path), Expected(), name=None, kind="sets", encoding="utf-8", notes=Counter())
    (table,) = read_tables(opened, wanted="one set per row")
    rows = table.rows()[:n]
    needed = ["context", "label_value", *(f"resp_{at}" for at in range(_N_RESPONSES)), *PUBLISHED.values()]
    if missing := [field for field in needed if field not in table.fields]:
        raise InputError(f"{table.where}: no field {missing[0]!r}; wanted a file of ConTest or McDiv")
    items = [
        Item(
            str(number),
            (),
            {_SYSTEM: tuple(row[f"resp_{at}"] for at in range(_N_RESPONSES))},
            row["context"],
        )
        for number, row in enumerate(rows, 1)
    ]
    contexts = np.unique([row["context"] for row in rows], return_inverse=True)[1]
    scores = {label: np.array([float(row[field]) for row in rows]) for label, field in PUBLISHED.items()}
    return Sets(
        ItemSet.of(items, name=name), np.array([float(row["label_value"]) == 1 for row in rows]), contexts, scores
    )


def _with_ours(sets: Sets, encoder: str, progress: Progress) -> Sets:
    """The sets with the scores of our metrics, turned so that more is more varied."""
    alone = ItemSet.of([replace(item, prompt=None) for item in sets.items.items], name=sets.items.name)
    given = _values(sets.items, (*VECTORS, *WORDS), encoder)
    without = {f"{label} without context": values for label, values in _values(alone, VECTORS, encoder).items()}
    progress.step(1)
    return replace(sets, scores={**sets.scores, **given, **without})


def _values(items: ItemSet, metrics: Sequence[str], encoder: str) -> dict[str, F64]:
    (system,) = (found := answers(items, metrics=metrics, encoder=encoder, n_resamples=0)).systems
    values = np.array([prompt.values for prompt in system.prompts])
    # A set without a value, such as distinct trigrams of responses of two words, is as narrow as can be.
    signs = [gain(result) for result in system.results]
    return {
        label: np.nan_to_num(sign * values[:, at], nan=-np.inf)
        for at, (label, sign) in enumerate(zip(found.labels, signs, strict=True))
    }


def oca(scores: F64, varied: Bool, weights: F64 | None = None) -> F64:
    """The largest share of sets on the right side of one threshold, per row of weights.

    >>> oca(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, False, True, True])).tolist()
    [0.75]
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    order = np.argsort(scores, kind="stable")
    right_if_below = np.where(varied[order], -1.0, 1.0) * weights[:, order]
    # A threshold lies below all scores or behind the last of equal ones, of which some are infinite.
    ends = np.flatnonzero(np.append(scores[order][1:] != scores[order][:-1], True))
    gained = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(right_if_below, axis=1)[:, ends]], axis=1)
    return ((weights @ varied) + gained.max(axis=1)) / weights.sum(axis=1)


def _oca(sets: Sets, label: str) -> float:
    return float(oca(sets.scores[label], sets.varied)[0])


def _spearman(sets: Sets, label: str) -> float | None:
    """The rank correlation with the human score; None for that score itself and for a constant."""
    values = sets.scores[label]
    if label == HUMAN or len(np.unique(values)) == 1:
        return None
    return float(spearmanr(values, sets.human).statistic)


def _table(title: str, measured: Sequence[Sets], value: Callable[[Sets, str], float | None]) -> Numbers:
    """One row per metric: those of the authors, then ours."""
    rows = []
    for label in measured[0].scores:
        name = f"published: {label}" if label in PUBLISHED else label
        rows.append(Row(name, tuple(value(sets, label) for sets in measured)))
    return Numbers(title, _NAMES, tuple(rows), digits=3)


def _claims(measured: Sequence[Sets], seed: int) -> Iterator[Claim]:
    """What the paper states about people, vectors and n-grams, from the authors' values and from ours."""

    def ahead(first: str, second: str) -> tuple[Check, ...]:
        return tuple(Check(f"OCA on {sets.items.name}", _resampled(sets, seed, first, second)) for sets in measured)

    nuggets = [sets for sets in measured if sets.items.name.startswith("nuggets")]
    yield Claim(
        "distinct n-grams are close to chance where sets were made to have varied words",
        tuple(Check(f"OCA on {sets.items.name}", _resampled(sets, seed, DISTINCT), _NEAR_CHANCE) for sets in nuggets),
        "below",
        0.0,
        f"chance is 0.5 and people reach about 0.9: the limit between them was chosen here; {_BASIS}",
    )
    yield Claim("sent-BERT is more accurate than distinct n-grams", ahead(SENT_BERT, DISTINCT), "above", 0.0, _BASIS)
    yield Claim("people are more accurate than sent-BERT", ahead(HUMAN, SENT_BERT), "above", 0.0, _BASIS)
    yield Claim(
        "the distance of sentence vectors is more accurate than distinct n-grams, by other vectors and other n-grams",
        ahead(_OURS, _OUR_DISTINCT),
        "above",
        0.0,
        f"dissimilarity given the context less distinct-2, both of textassay; {_BASIS}",
    )


def _resampled(sets: Sets, seed: int, first: str, second: str | None = None) -> Measured:
    """The OCA of a metric, or by how much it is higher than that of another, with a bootstrap over contexts."""
    n = int(sets.contexts.max()) + 1
    drawn = stream(seed, "mcdiv", sets.items.name).integers(n, size=(_RESAMPLES, n))
    counts = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)
    weights = np.concatenate([np.ones((1, len(sets.varied))), counts[:, sets.contexts]])
    found = oca(sets.scores[first], sets.varied, weights)
    if second is not None:
        found = found - oca(sets.scores[second], sets.varied, weights)
    low, high = np.quantile(found[1:], (0.025, 0.975))
    return Measured.between(float(found[0]), min(float(low), float(found[0])), max(float(high), float(found[0])))


def _differs(measured: Sequence[Sets]) -> tuple[str, ...]:
    """How this departs from the paper, and which of our metrics comes closest."""
    prompts = {sets.items.name: sets for sets in measured}
    known = [f"{_oca(prompts[name], label):.3f} ({name})" for label in (DISTINCT, SENT_BERT) for name in _PROMPTS]
    ours = [label for label in measured[0].scores if label not in PUBLISHED]
    best = max(ours, key=lambda label: sum(_oca(sets, label) for sets in measured))
    means = [sum(_oca(sets, label) for sets in measured) / len(measured) for label in (best, SENT_BERT)]
    return (
        "The files have about 200 sets each, those with human scores. On prompts, 0.746 is published for distinct"
        " n-grams and 0.897 for sent-BERT; the authors' own values in these files give"
        f" {known[0]} and {known[1]} for distinct n-grams, {known[2]} and {known[3]} for sent-BERT.",
        "The columns SD, SSD and TSD of the files are not described in the paper and are left out.",
        "Vectors given the context were chosen among several ways to use it by their OCA on ConTest.",
        f"Of our metrics, {best} has the largest mean OCA over the six files, {means[0]:.3f}; sent-BERT has"
        f" {means[1]:.3f}.",
    )
