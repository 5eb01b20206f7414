"""The captions of single images, and exact p-values of metrics on them.

The labels of the captions of a model and of the references of an image are exchanged in all labellings. The p-value of
a metric is the share of labellings with a value at least as extreme as observed: towards worse values, or towards
larger ones whatever they mean (the upper tail of the raw statistic).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import Item, TextTable, read_items
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Surroundings, base_name, get_distance, with_distance_options
from textassay.encoders.base import get_encoder
from textassay.errors import InputError, Setting
from textassay.inference.items.labellings import labellings_of, measure_item
from textassay.inference.p_values import p_value
from textassay.inference.result import signature
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.claims import Measured
from textassay.reproduce.result import Run

PAPER = "chan2022"
_FEWEST, REFERENCES = 10, 5
_SPECS = {
    "METEOR": "score:distance=meteor",
    "TRM-METEOR": "trm:distance=meteor",
    "CIDEr-D": "score:distance=cider",
    "TRM-CIDEr-D": "trm:distance=cider",
    "BERT": "score:distance=bert",
    "TRM-BERT": "trm:distance=bert",
    "MMD-BERT": "mmd",
    "MAUVE-BERT": "mauve",
}
_DISTANCES = ("BERT", "MMD-BERT")
# Towards worse values, as tests have it, or towards larger values of the raw statistic.
Tail = Literal["worse", "upper"]
# The candidates and the references of an image.
Sides = tuple[Sequence[str], Sequence[str]]
OVER_IMAGES = "intervals over images"


@dataclass(frozen=True, eq=False)
class Images:
    """Images with five or more different references each, those that were drawn from all, and what metrics need."""

    items: tuple[Item, ...]
    everyone: tuple[Item, ...]
    requests: Mapping[str, Request]
    pools: Pools
    encoder: str
    digest: str
    notes: tuple[str, ...]

    def p_values(self, metric: str, sides: Sequence[Sides], seed: int, *, tail: Tail = "worse") -> F64:
        """The p-value of a metric for the candidates and references of each image."""
        request = self.requests[metric]
        found = []
        for candidates, references in sides:
            pool = self.pools.pool(candidates, references)
            every = labellings_of(len(candidates), len(references), most=1000, n_resamples=0, seed=seed)
            figures, values = measure_item(request, pool, every)
            # BERT is printed as a distance: its larger values are the worse ones.
            upper = tail == "upper" and metric not in _DISTANCES
            found.append(p_value(values[0], values, exact=every.exact) if upper else figures.p_value)
        return np.array(found)

    def log_p(self, metric: str, sides: Sequence[Sides], seed: int, *, tail: Tail = "worse") -> F64:
        """The natural logarithms of the p-values; NaN for an image where the metric has no value."""
        return np.log(self.p_values(metric, sides, seed, tail=tail))


def open_images(
    files: Sequence[Path],
    run: Run,
    metrics: Sequence[str],
    encoder: str | None = None,
    specs: Mapping[str, str] = _SPECS,
) -> Images:
    """Images drawn at random, with the distances that the metrics need."""
    requests = dict(
        zip(metrics, parse_requests([with_distance_options(specs[name]) for name in metrics], on="items"), strict=True)
    )
    everything = read_items(files[0])
    enough = [item for item in everything.items if len(set(item.references)) >= REFERENCES]
    if not _FEWEST <= run.n_items <= len(enough):
        raise InputError(Setting("n_items", run.n_items), f"; wanted {_FEWEST} to {len(enough)} images")
    chosen = stream(run.seed, "captions", everything.digest).choice(len(enough), size=run.n_items, replace=False)
    items = tuple(enough[index] for index in sorted(chosen.tolist()))
    texts = [text for item in items for own in item.candidates.values() for text in own]
    table = TextTable.of([item.references for item in everything.items], others=texts, tokenizer=get_tokenizer("plain"))
    encoder = encoder or run.by_scale("lsa", "minilm", "minilm")
    sample = Sample.of(table.texts, name="captions")
    seen = get_encoder(encoder, reference=sample, candidates={}) if any("BERT" in name for name in metrics) else None
    surroundings = Surroundings(table, seen)
    names = {request.options["distance"] for request in requests.values() if "distance" in request.options}
    distances = {name: get_distance(name, surroundings) for name in sorted(names)}
    values = seen.encode(table.texts) if seen is not None else None
    notes = tuple(note for distance in distances.values() for note in getattr(distance, "notes", ()))
    pools = Pools(table, distances, values, joint=any(base_name(name) == "bleu" for name in distances))
    return Images(items, tuple(enough), requests, pools, encoder, everything.digest, notes)


def signature_of(run: Run, images: Images) -> str:
    return signature(
        run.name,
        {},
        settings={"enc": images.encoder},
        data={"items": f"{len(images.items)}/{images.digest}"},
        resampling={"seed": run.seed},
    )


_VECTORS = "BERT means vectors of {encoder} here; the paper's are of MiniLM, which larger scales use."


def vector_note(images: Images) -> tuple[str, ...]:
    return () if images.encoder == "minilm" else (_VECTORS.format(encoder=images.encoder),)


def known_mean(values: F64) -> float | None:
    return Measured.over(values).estimate


def last_out(images: Images) -> list[Sides]:
    """The fifth reference of each image as the candidate, against the first four."""
    last = REFERENCES - 1
    return [(item.references[last:REFERENCES], item.references[:last]) for item in images.items]


def stand_ins(images: Images) -> list[tuple[str, ...]]:
    """For each image the captions of another image, the most similar one by the words of all its captions."""
    rows = TfidfVectorizer().fit_transform([" ".join(item.references) for item in images.everyone])
    place_of = {item.id: index for index, item in enumerate(images.everyone)}
    own = [place_of[item.id] for item in images.items]
    likeness = np.asarray((rows[own] @ rows.T).todense())
    likeness[np.arange(len(own)), own] = -1.0
    return [images.everyone[index].references[:REFERENCES] for index in likeness.argmax(axis=1).tolist()]


NO_MODEL = (
    "No captioning model that writes several captions per image is available here. People's captions of the most "
    "similar other image, which are fluent and almost right, are used instead."
)
SCORES = ("METEOR", "CIDEr-D", "BERT")


def halves(images: Images) -> list[Sides]:
    """Two of the references of each image against three others."""
    return [(item.references[:2], item.references[2:REFERENCES]) for item in images.items]
