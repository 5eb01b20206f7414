"""The encoder of a study: chosen, checked before any time is spent, and shown every text once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textassay.corpus.sample import Sample
from textassay.inference.progress import Progress
from textassay.inference.request import Request
from textassay.views.encoders.base import Encoder
from textassay.views.encoders.choose import DEFAULT, default_is_installed, get_encoder, missing_default
from textassay.views.encoders.remember import Remembered, remember
from textassay.views.encoders.store import open_store
from textassay.views.material import needs_encoder

FAMILY = "embedding"


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
    needing = [request for request in requests if reads_vectors(request)]
    if not needing:
        return Choice(list(requests), None)
    if encoder is not None or default_is_installed():
        return Choice(list(requests), DEFAULT if encoder is None else encoder)
    asked = {*named}
    if FAMILY in families or any(request.metric.name in asked for request in needing):
        raise missing_default()
    names = ", ".join(dict.fromkeys(request.metric.name for request in needing))
    note = f"left out: {names}: {missing_default()}, or choose --encoder lsa, which needs no model"
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
    """
    chosen = get_encoder(encoder, reference=reference, candidates=candidates) if isinstance(encoder, str) else encoder
    texts = [text for sample in used for text in sample.texts.to_pylist()]
    return remember(
        chosen,
        texts,
        store=open_store(chosen) if _worth_keeping(chosen) else None,
        start=lambda steps: progress.start("encoding", steps),
        step=progress.step,
    )


def _worth_keeping(encoder: Encoder) -> bool:
    """Vectors that come from a file or from a quick fit need no cache."""
    return not encoder.name.startswith(("lsa", "vectors"))
