"""What can be measured: with the encoder that is chosen or installed, and with the training texts given."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from textassay.encoders.base import DEFAULT, Encoder, can_encode, check_encoder, missing_default
from textassay.errors import InputError, Setting
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
    if encoder is not None:
        check_encoder(encoder)
    needing = [request for request in requests if request.metric.reads_vectors]
    if not needing:
        return Choice(list(requests), None)
    if can_encode(encoder):
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
            raise _without_training(request, train)
    return [request for request in requests if request not in needing]


def answerable(
    requests: Sequence[Request], named: Collection[str], *, trained: bool
) -> tuple[list[Request], tuple[str, ...]]:
    """The metrics of a table and notes: without training texts, those that need them are left out.

    The row of a metric that was asked for by name stays, with a note; a table of such rows alone is an error.
    """
    needing = [request for request in requests if not trained and "train" in request.metric.roles]
    chosen = [request for request in requests if request not in needing or request.metric.name in named]
    empty = [request for request in chosen if request in needing]
    if empty and len(empty) == len(chosen):
        raise _without_training(empty[0], Setting("train"))
    notes = [f"{request.label} has no value: it needs training texts (the option train)" for request in empty]
    return chosen, tuple(notes)


def _without_training(request: Request, train: Setting) -> InputError:
    return InputError(f"the metric {request.label!r} needs training texts; give them with ", train)


def no_encoder() -> InputError:
    """The error for metrics on vectors without an encoder."""
    return InputError(f"{missing_default()}, or choose ", Setting("encoder", "lsa"), ", which needs no model")


def left_out(names: str) -> str:
    """The note on metrics that are not measured because no encoder is installed."""
    return f"left out: {names}: {missing_default()}, or choose the encoder lsa, which needs no model"
