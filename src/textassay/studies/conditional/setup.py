"""The setup of a conditional study: requests, distances and vectors, checked before anything is measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.printable import quoted
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import Tokenizer
from textassay.distances.base import NEEDS_ENCODER, Surroundings, TextTable, check_distance, get_distance
from textassay.distances.custom import check_own, own_distance
from textassay.encoders.base import DEFAULT, Encoder, can_encode
from textassay.encoders.remembered import Remembered, show_all
from textassay.errors import InputError
from textassay.inference.engine import Progress
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.registry import Request, listed, parse_requests
from textassay.studies.encoding import left_out, no_encoder
from textassay.studies.format_check import check_format

Own = Mapping[str, Callable[[str, str], float]]

# The distances measured by default; those on vectors need an encoder.
_DISTANCES = ("meteor", "cider", "bert")
# The triangle statistic of the paper, and with ties in equal parts: if texts repeat, only the latter is a valid test.
_BY_DISTANCE = ("score", "trm", "trm:variant=split")
_BY_VECTORS = ("mmd", "frechet")
# Ways to combine references that are defined for one distance.
_ONLY = {"coco": "rouge_l", "joint": "bleu"}


@dataclass(frozen=True, eq=False)
class Setup:
    """What to measure, and everything it is measured with."""

    requests: list[Request]
    pools: Pools
    signatures: Mapping[str, str]
    encoder_name: str | None
    notes: tuple[str, ...]
    encoder: Remembered | None = None


def set_up(
    items: ItemSet,
    *,
    metrics: str | Sequence[str],
    distances: str | Sequence[str] | Own,
    tokenizer: Tokenizer,
    encoder: str | Encoder | None,
    document_frequencies: str | None,
    progress: Progress,
) -> Setup:
    """Choose the requests, make the distances, encode the texts."""
    encodes = can_encode(encoder)
    own = distances if isinstance(distances, Mapping) else {}
    for name, function in own.items():
        check_own(name, function)
    requests, unmeasured = _choose(metrics, distances, own, encodes=encodes)
    needs = any(_needs_encoder(request) for request in requests)
    table = table_of(items, tokenizer)
    _check_lengths(items, table, [request.options.get("distance") for request in requests])
    seen = None
    if needs:
        seen = _encoded(items, DEFAULT if encoder is None else encoder, progress)
    on_vectors = any(request.metric.reads_vectors for request in requests)
    values = seen.encode(table.texts) if seen is not None and on_vectors else None
    encoder_name = seen.name if seen is not None else None
    surroundings = Surroundings(table, seen, document_frequencies)
    progress.start("preparing distances", 0)
    used = dict.fromkeys(request.options["distance"] for request in requests if "distance" in request.options)
    made = {n: own_distance(n, own[n], table) if n in own else get_distance(n, surroundings) for n in used}
    signatures = {name: distance.signature for name, distance in made.items()}
    # Such as that WordNet is missing.
    missing = [note for distance in made.values() for note in getattr(distance, "notes", ())]
    notes = [*unmeasured, *(seen.notes if seen else ()), *missing, *_format(items, tokenizer)]
    shares = any(request.options.get("over") == "coco" for request in requests)
    joint = any(request.options.get("over") == "joint" for request in requests)
    pools = Pools(table, made, values, shares, joint)
    return Setup(requests, pools, signatures, encoder_name, tuple(notes), seen)


# Distances that compare each word of a text with each word of another one, and the work (pairs of words, about ten
# minutes) and memory that they may take. The memory is that of one item.
_QUADRATIC = ("rouge_l", "edit")
_MOST_PAIRS, _MOST_BYTES = 10**12, 2**30


def _check_lengths(items: ItemSet, table: TextTable, distances: Sequence[object]) -> None:
    """Refuse texts that are too long for a distance whose time grows with the square of their length."""
    names = [name for name in _QUADRATIC if name in distances]
    if not names:
        return
    wanted = f"; wanted shorter texts, or another distance than {' and '.join(names)}"
    pairs = 0
    for item in items.items:
        for texts in item.candidates.values():
            numbers = [table.number_of[text] for text in (*item.references, *texts)]
            words = int(table.tokens.lengths[numbers].sum())
            pairs += words**2
            if words**2 > 8 * _MOST_BYTES:
                different = len(np.unique(np.concatenate([table.ids(number) for number in numbers])))
                if different * words > 8 * _MOST_BYTES:
                    seen = f"item {quoted([item.id])}: {words:,} words, {different:,} of them different"
                    raise InputError(f"{seen}, which takes more than 1 GiB of memory{wanted}")
    if pairs > _MOST_PAIRS:
        raise InputError(f"items: {pairs:.0e} pairs of words in the texts of each item, which takes hours{wanted}")


def _choose(
    metrics: str | Sequence[str], distances: str | Sequence[str] | Own, own: Own, *, encodes: bool
) -> tuple[list[Request], list[str]]:
    """The requests, and a note on what was left out because no encoder is installed."""
    metrics, distances = listed(metrics), listed(distances) if isinstance(distances, str) else list(distances)
    for name in distances:
        check_distance(name, list(own))
    specs, notes = list(metrics), []
    if not metrics:
        wanted = list(distances) or [name for name in _DISTANCES if encodes or name not in NEEDS_ENCODER]
        specs = [f"{metric}:distance={name}" for name in wanted for metric in _BY_DISTANCE]
        if not distances and encodes:
            specs += _BY_VECTORS
        elif not distances:
            missing = ", ".join([*(f"distance {name}" for name in NEEDS_ENCODER), *_BY_VECTORS])
            notes = [left_out(missing)]
    elif distances:
        specs = [spec for metric in metrics for spec in _with_distances(metric, distances)]
    requests = parse_requests(specs, on="items")
    for request in requests:
        if "distance" in request.options:
            check_distance(request.options["distance"], list(own))
        over = str(request.options.get("over"))
        if over in _ONLY and request.options["distance"] != _ONLY[over]:
            seen = request.options["distance"]
            raise InputError(f"over={over} is for distance={_ONLY[over]}; the distance is {seen!r}")
        if _needs_encoder(request) and not encodes:
            raise no_encoder()
    return requests, notes


def _with_distances(spec: str, distances: Sequence[str]) -> list[str]:
    """A metric with each of the distances, unless it names its own or has none."""
    (first, *_) = parse_requests([spec], on="items")
    if "distance" not in first.options or ":distance=" in spec.replace(" ", ""):
        return [spec]
    return [f"{spec}:distance={name}" for name in distances]


def _needs_encoder(request: Request) -> bool:
    return request.metric.reads_vectors or request.options.get("distance") in NEEDS_ENCODER


def _encoded(items: ItemSet, encoder: str | Encoder, progress: Progress) -> Remembered:
    reference = Sample.of(list(dict.fromkeys(all_texts(items.items))), name="references")
    candidates = {
        system: Sample.of(list(dict.fromkeys(all_texts(items.items, system))), name=system) for system in items.systems
    }
    used = [reference, *candidates.values()]
    return show_all(
        encoder,
        reference=reference,
        candidates=candidates,
        used=used,
        start=partial(progress.start, "encoding"),
        step=progress.step,
    )


def _format(items: ItemSet, tokenizer: Tokenizer) -> Iterable[str]:
    """Notes on differences in format."""
    reference = Sample.of(all_texts(items.items), name="references")
    for system in items.systems:
        candidate = Sample.of(all_texts(items.items, system), name=system)
        for finding in check_format(candidate, reference, tokenizer=tokenizer):
            if not finding.harmless:
                yield f"format of {system!r}: {finding.message}: {finding.fix}"


def table_of(items: ItemSet, tokenizer: Tokenizer) -> TextTable:
    """Every text of the items, numbered."""
    return TextTable.of(
        [item.references for item in items.items],
        others=(text for item in items.items for texts in item.candidates.values() for text in texts),
        tokenizer=tokenizer,
    )


def all_texts(items: Iterable[Item], system: str | None = None) -> list[str]:
    """All references, or all candidates of a system, in order."""
    if system is None:
        return [text for item in items for text in item.references]
    return [text for item in items for text in item.candidates.get(system, ())]
