"""The encoder of a study: chosen, checked before any time is spent, and shown every text once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textassay.corpus.errors import InputError
from textassay.corpus.sample import Sample
from textassay.inference.progress import Progress
from textassay.inference.request import Request
from textassay.views.encoders.base import Encoder
from textassay.views.encoders.choose import (
    DEFAULT,
    check_name,
    default_is_installed,
    get_encoder,
    missing_default,
)
from textassay.views.encoders.remember import Remembered, remember
from textassay.views.encoders.store import open_store
from textassay.views.material import needs_encoder

FAMILY = "embedding"
_WITHOUT_MODEL = "choose --encoder lsa, which needs no model"
# From this share of different texts without a vector of their own, the encoder cannot read them.
_BLIND = 0.1


@dataclass(frozen=True)
class Choice:
    """What can be measured, with which encoder (None where nothing needs one), and what was left out, in words."""

    requests: list[Request]
    encoder: str | Encoder | None
    notes: tuple[str, ...] = ()


def choose(
    requests: Sequence[Request], encoder: str | Encoder | None, *, named: Iterable[str], families: Iterable[str]
) -> Choice:
    """Keep what the encoder can serve.

    Without a chosen encoder the default one is taken; where that is not installed, metrics that nobody asked for by
    name are left out with a note, and metrics that somebody did ask for are an error.
    """
    if isinstance(encoder, str):
        check_name(encoder)
    needing = [request for request in requests if reads_vectors(request)]
    if not needing:
        return Choice(list(requests), None)
    if encoder is not None or default_is_installed():
        return Choice(list(requests), DEFAULT if encoder is None else encoder)
    asked = {*named}
    if FAMILY in families or any(request.metric.name in asked for request in needing):
        raise InputError(f"{missing_default()}, or {_WITHOUT_MODEL}")
    names = ", ".join(dict.fromkeys(request.metric.name for request in needing))
    note = f"left out: {names}: {missing_default()}, or {_WITHOUT_MODEL}"
    return Choice([request for request in requests if request not in needing], None, (note,))


def reads_vectors(request: Request) -> bool:
    """True for metrics on sentence vectors."""
    return any(needs_encoder(kind) for kind in request.metric.views)


def show_all(
    encoder: str | Encoder,
    *,
    reference: Sample,
    candidates: Mapping[str, Sample],
    used: Iterable[Sample],
    progress: Progress,
) -> Remembered:
    """An encoder that has seen the texts of the samples in use; whatever the cache on disk knows is not encoded again.

    `reference` and `candidates` are whole: an encoder may be fitted on them, or have vectors for all of their texts.
    A user's own encoder object is not cached on disk: nothing says that its name changes when its vectors do.
    """
    chosen = get_encoder(encoder, reference=reference, candidates=candidates) if isinstance(encoder, str) else encoder
    texts = [text for sample in used for text in sample.texts.to_pylist()]
    seen = remember(
        chosen,
        texts,
        store=open_store(chosen) if isinstance(encoder, str) and _worth_keeping(chosen) else None,
        start=lambda steps: progress.start("encoding", steps),
        step=progress.step,
    )
    return replace(seen, notes=(*seen.notes, *_limits_of(seen, texts)))


def _limits_of(seen: Remembered, texts: Iterable[str]) -> Iterable[str]:
    """What the encoder could not see: words it does not know, and the ends of long texts."""
    distinct = len(seen.values)
    rows = np.ascontiguousarray(seen.values).view(f"V{seen.values.itemsize * seen.dimension}")
    shared = distinct - len(np.unique(rows))
    if shared > _BLIND * distinct:
        yield (
            f"the encoder gives {shared:,} of {distinct:,} different texts the vector of another one: it does not know "
            "their words (MiniLM is made for English), and metrics on vectors say little here"
        )
    limit = re.search(r"/max=(\d+)/", seen.name)
    if limit is None:
        return
    most = int(limit[1])
    # A word has one token at least, so these are cut off for certain; the quick look at the length spares the split.
    long = sum(len(text) > 2 * most and len(text.split()) > most for text in set(texts))
    if long:
        yield f"{long:,} texts or more are longer than the {most} tokens the encoder reads: only their beginnings count"


def _worth_keeping(encoder: Encoder) -> bool:
    """Vectors that come from a file or from a quick fit need no cache."""
    return not encoder.name.startswith(("lsa", "vectors"))
