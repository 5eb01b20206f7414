"""The encoder of a study: chosen and checked first, then applied to every text once."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from textassay.corpus.printable import shortened
from textassay.corpus.sample import Sample
from textassay.encoders.base import Encoder
from textassay.encoders.choose import DEFAULT, check_name, default_is_installed, get_encoder, missing_default
from textassay.encoders.remembered import MOST_SAME, MOST_UNKNOWN, Reading, Remembered, read, remember
from textassay.encoders.vector_store import open_store
from textassay.errors import InputError, Setting
from textassay.inference.progress import Progress
from textassay.metrics.registry import Request

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
    check_encoder(encoder)
    needing = [request for request in requests if request.metric.reads_vectors]
    if not needing:
        return Choice(list(requests), None)
    if encoder is not None or default_is_installed():
        return Choice(list(requests), DEFAULT if encoder is None else encoder)
    asked = {*named}
    if FAMILY in families or any(request.metric.name in asked for request in needing):
        raise no_encoder()
    names = ", ".join(dict.fromkeys(request.metric.name for request in needing))
    return Choice([request for request in requests if request not in needing], None, (left_out(names),))


def measurable(requests: Sequence[Request], named: Collection[str], train: Setting, *, given: bool) -> list[Request]:
    """The metrics that can be measured: without training texts, those that need them are left out.

    A metric that was asked for by name is an error then; `train` is the setting that gives the texts.
    """
    needing = [request for request in requests if not given and "train" in request.metric.roles]
    for request in needing:
        if request.metric.name in named:
            raise InputError(f"the metric {request.label!r} needs training texts; give them with ", train)
    return [request for request in requests if request not in needing]


def check_encoder(encoder: object) -> None:
    """Refuse the name of no encoder, and an object that is none."""
    if isinstance(encoder, str):
        check_name(encoder)
    elif encoder is not None and not callable(getattr(encoder, "encode", None)):
        raise InputError(Setting("encoder", encoder), "; wanted a name such as 'lsa', or an encoder")


def no_encoder() -> InputError:
    """The error for metrics on vectors without an encoder."""
    return InputError(f"{missing_default()}, or choose ", Setting("encoder", "lsa"), ", which needs no model")


def left_out(names: str) -> str:
    """The note on metrics that are not measured because no encoder is installed."""
    return f"left out: {names}: {missing_default()}, or choose the encoder lsa, which needs no model"


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
    A user's own encoder object is not cached on disk: its name need not change when its vectors do.
    """
    chosen = get_encoder(encoder, reference=reference, candidates=candidates) if isinstance(encoder, str) else encoder
    samples = [(sample.name, sample.texts.to_pylist()) for sample in used]
    store = open_store(chosen) if isinstance(encoder, str) and _worth_keeping(chosen) else None
    tokens = read(chosen, samples, store=store)
    seen = remember(
        chosen,
        (text for _, texts in samples for text in texts),
        store=store,
        start=lambda steps: progress.start("encoding", steps),
        step=progress.step,
        windows=tokens.windows,
    )
    reading = tokens.reading(samples)
    return replace(seen, reading=reading, notes=(*seen.notes, *_limits_of(seen, reading)))


def _limits_of(seen: Remembered, reading: Reading) -> Iterator[str]:
    """What the encoder could not see: words that it does not know, and parts of long texts."""
    distinct, shared = len(seen.values), seen.same_vector
    if shared > MOST_SAME * distinct:
        yield (
            f"the encoder gives {shared:,} of {distinct:,} different texts the vector of another one: it does not know "
            "their words (MiniLM is made for English), and metrics on vectors mean little here"
        )
    if seen.zero_vectors:
        of = f"{seen.zero_vectors:,} of {distinct:,} different texts"
        yield f"vectors of zeros: {of}; the encoder finds nothing in them"
    yield from _unknown(reading)
    yield from _unread(reading)


def _unknown(reading: Reading) -> Iterator[str]:
    """Samples whose words the encoder does not know."""
    many = {name: share for name, share in reading.unknown.items() if share > MOST_UNKNOWN}
    if many:
        shares = ", ".join(f"{share:.0%} in {shortened(name, 60)!r}" for name, share in many.items())
        yield (
            f"tokens that the encoder does not know: {shares} (more than {MOST_UNKNOWN:.0%}): metrics on vectors do "
            "not see these words, and there is no verdict about meaning; choose an encoder for this language"
        )


def _unread(reading: Reading) -> Iterator[str]:
    """Texts of which a part is not read."""
    if not reading.cut_texts:
        return
    of = f"{reading.cut_texts:,} of {reading.n_texts:,} different texts"
    if reading.beginnings_only:
        yield (
            f"longer than the {reading.window} tokens that the encoder reads with windows=first: {of}; only the "
            "beginning of such a text counts, and there is no verdict about meaning"
        )
    else:
        yield (
            f"longer than {reading.most_windows} windows of {reading.window} tokens: {of}; of such a text that many "
            f"windows are read, spread evenly over it, about {reading.read_share:.0%} of the tokens "
            "(windows=N reads more)"
        )


def _worth_keeping(encoder: Encoder) -> bool:
    """Vectors that come from a file or from a quick fit need no cache."""
    return not encoder.name.startswith(("lsa", "bow", "vectors"))
