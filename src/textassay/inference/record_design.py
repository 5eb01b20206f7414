"""The design that follows from records: pairs where samples have the same prompts, groups where prompts repeat.

Texts of one prompt are not independent. The choice reads prompts and ids only, never a text, so the tests that follow
keep their level whatever is chosen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.printable import many, quoted
from textassay.corpus.sample import TEXT, Sample, is_not_blank
from textassay.corpus.sizes import Cut, cut_pairs, cut_samples
from textassay.errors import InputError

# Smaller shares of texts with a shared or repeated prompt are accidents.
SHARED_SHARE = 0.1
# Pairs leave out all prompts that not every sample has, so most texts of every sample must have one that all have.
_MOST = 0.5
# Lists of row numbers may have gaps where blank texts were left out.
_GAPS = 1.1
# The field of ids in the files of known tools, where an id is that of the prompt.
_PROMPT_ID = "prompt_id"

Kind = Literal["independent", "grouped", "paired"]


@dataclass(frozen=True, eq=False)
class RecordDesign:
    """The samples of a comparison with the groups of their texts, where there are any.

    `field` is the field that the groups are values of, None where nobody named it. `notes` state what follows from the
    records. `undeclared` are the samples whose texts have no prompt, in a design that follows from the prompts of
    others.
    """

    kind: Kind
    reference: Sample
    candidates: Mapping[str, Sample]
    field: str | None = None
    notes: tuple[str, ...] = ()
    undeclared: tuple[Sample, ...] = ()

    def cut(self, *, size: str | int, seed: int, baseline: bool) -> Cut:
        """The samples cut to one size, or to the groups that all of them have."""
        cut = cut_pairs if self.kind == "paired" else cut_samples
        return cut(self.reference, self.candidates, size=size, seed=seed, baseline=baseline)


def record_design(
    reference: Sample, candidates: Mapping[str, Sample], *, pair: str | bool | None = None, group: str | None = None
) -> RecordDesign:
    """The design asked for by `pair` and `group`; without either, the one that follows from prompts and ids.

    With `pair=False` nothing follows from them. Samples that have groups keep them.

    >>> prompts = pa.array([f"prompt {number}" for number in range(9)])
    >>> one, other = (Sample.of([f"{name} {n}" for n in range(9)], contexts=prompts) for name in ("a", "b"))
    >>> record_design(one, {"b": other}).kind, record_design(one, {"b": other}, pair=False).kind
    ('paired', 'independent')
    """
    if isinstance(pair, str):
        return RecordDesign("paired", reference, candidates, pair)
    if group is not None or any(sample.groups is not None for sample in (reference, *candidates.values())):
        return RecordDesign("grouped", reference, candidates, group)
    if pair is False:
        return RecordDesign("independent", reference, candidates)
    return _following(reference, candidates)


def check_design(pair: object, group: object) -> None:
    """Refuse two designs at once, and a pair that is neither a field, nor a column, nor False."""
    if pair is not False and not isinstance(pair, str | Iterable | None):
        wanted = "the name of a field, a column with the prompt of each text, or False for independent texts"
        raise InputError(f"pair={pair!r}; wanted {wanted}")
    if pair is not None and group is not None:
        raise InputError("both pair and group given; wanted one of them")


def grouped_design(reference: Sample, candidates: Mapping[str, Sample]) -> RecordDesign:
    """The samples with the groups that they have, or with a group per prompt or id that repeats."""
    if any(sample.groups is not None for sample in (reference, *candidates.values())):
        return RecordDesign("grouped", reference, candidates)
    for keys in _all_keys(reference, candidates):
        if keys.are_repeated:
            return _designed("grouped", keys, reference, candidates, (_grouped_note(keys, reference, candidates),))
    return RecordDesign("independent", reference, candidates)


def _following(reference: Sample, candidates: Mapping[str, Sample]) -> RecordDesign:
    prompts, ids = _all_keys(reference, candidates)
    for keys in (prompts,) if prompts.in_all else (prompts, ids):
        if keys.are_shared:
            return _designed("paired", keys, reference, candidates, (_paired_note(keys),))
    for keys in (prompts, ids):
        # Equal ids of different prompts need not have anything in common.
        if keys.are_repeated or (keys.are_in_both and (keys is prompts or not prompts.in_all)):
            note = f"{_grouped_note(keys, reference, candidates)}; {_TURNED_OFF}"
            return _designed("grouped", keys, reference, candidates, (note,))
    return RecordDesign("independent", reference, candidates)


def _all_keys(reference: Sample, candidates: Mapping[str, Sample]) -> "tuple[_Keys, _Keys]":
    """The prompts and the ids of all samples."""
    everyone = [reference, *candidates.values()]
    return (
        _Keys("prompt", [prompts_of(s) for s in everyone], _common([s.prompt_field for s in everyone])),
        _Keys("id", [ids_of(s) for s in everyone], _common([s.id_field for s in everyone])),
    )


def prompts_of(sample: Sample) -> pa.Array | None:
    """The prompt of each text, null where it has none; None where no text has one."""
    return None if sample.contexts is None else _strings(sample.contexts)


def ids_of(sample: Sample) -> pa.Array | None:
    """The id of each text, null where it has none; None where they only count the rows."""
    ids = None if sample.ids is None else _strings(sample.ids)
    return None if ids is None or (sample.id_field != _PROMPT_ID and _is_row_numbers(ids)) else ids


def _strings(column: pa.Array) -> pa.Array:
    """The values as strings; blank ones are null, since an empty field names no prompt."""
    try:
        values = column.cast(TEXT)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        listed = column.to_pylist()
        values = pa.array([None if value is None else repr(value) for value in listed], type=TEXT)
    return pc.if_else(is_not_blank(values), values, pa.scalar(None, TEXT))


def _is_row_numbers(values: pa.Array) -> bool:
    """Whether values only count the rows, so that equal ones on two sides need not have anything in common."""
    try:
        numbers = values.drop_null().cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return False
    span = numbers[-1] - numbers[0] if len(numbers) else 0
    return bool((numbers[1:] > numbers[:-1]).all() and span < _GAPS * len(numbers) + 1)


def shared_share(candidate: pa.Array, reference: pa.Array) -> float:
    """Share of all texts whose value occurs on both sides; 0 where only one value does, since it divides nothing."""
    found = [
        pc.is_in(one, value_set=other.drop_null()) for one, other in ((candidate, reference), (reference, candidate))
    ]
    if len(candidate.filter(found[0]).drop_null().unique()) < 2:
        return 0.0
    return sum(pc.sum(side).as_py() or 0 for side in found) / (len(candidate) + len(reference))


def repeated_share(values: pa.Array) -> float:
    """Share of texts whose value occurs more than once in the sample; 0 where there is one value only."""
    counts = values.drop_null().value_counts().field("counts").to_numpy(zero_copy_only=False)
    return float(counts[counts > 1].sum() / len(values)) if len(counts) > 1 else 0.0


def _common(fields: Sequence[str | None]) -> str | None:
    """The field of all samples; None if they have none, or several."""
    return fields[0] if len(set(fields)) == 1 else None


@dataclass(frozen=True, eq=False)
class _Keys:
    """What names the prompt of each text: the prompts or the ids of all samples, the reference first."""

    noun: str
    values: Sequence[pa.Array | None]
    field: str | None

    @property
    def in_all(self) -> bool:
        """Whether every sample has them, and they are not all the same."""
        there = [values for values in self.values if values is not None]
        return len(there) == len(self.values) and len(pa.concat_arrays(there).drop_null().unique()) > 1

    @property
    def shared(self) -> pa.Array:
        """The values that every sample has."""
        first, *others = (pa.nulls(0, TEXT) if values is None else values.unique() for values in self.values)
        for values in others:
            first = first.filter(pc.is_in(first, value_set=values.drop_null()))
        return first.drop_null()

    @property
    def are_shared(self) -> bool:
        """Whether most texts of every sample have a value that all samples have, and there is more than one."""
        shared = self.shared if self.in_all else ()
        return len(shared) > 1 and all(_share_in(values, shared) >= _MOST for values in self.values)

    @property
    def are_repeated(self) -> bool:
        """Whether values repeat within a sample."""
        return any(repeated_share(values) >= SHARED_SHARE for values in self.values if values is not None)

    @property
    def are_in_both(self) -> bool:
        """Whether values occur in the reference and in a candidate."""
        real, *others = self.values
        return real is not None and any(
            shared_share(real, other) >= SHARED_SHARE for other in others if other is not None
        )


def _share_in(values: pa.Array | None, shared: pa.Array) -> float:
    return 0.0 if values is None else pc.mean(pc.is_in(values, value_set=shared).cast("int8")).as_py() or 0.0


def _designed(
    kind: Kind, keys: _Keys, reference: Sample, candidates: Mapping[str, Sample], notes: tuple[str, ...]
) -> RecordDesign:
    """The samples with a group per value; a text without a value is a group of its own."""
    names = _names(candidates)
    samples = [
        replace(sample, groups=_groups(values, name, len(sample), keys.noun))
        for name, sample, values in zip(names, (reference, *candidates.values()), keys.values, strict=True)
    ]
    undeclared = tuple(sample for sample, values in zip(samples, keys.values, strict=True) if values is None)
    field = keys.field or keys.noun
    return RecordDesign(kind, samples[0], dict(zip(candidates, samples[1:], strict=True)), field, notes, undeclared)


def _names(candidates: Mapping[str, Sample]) -> list[str]:
    """What messages call the samples; a candidate may be called "reference"."""
    return ["the reference", *(f"candidate {quoted([name])}" for name in candidates)]


def _groups(values: pa.Array | None, name: str, size: int, noun: str) -> pa.Array:
    if values is not None and not values.null_count:
        return values
    own = pa.array([f"text {number} of {name}, without {noun}" for number in range(1, size + 1)], type=TEXT)
    return own if values is None else pc.coalesce(values, own)


_TURNED_OFF = "--no-pair (in Python pair=False) treats all texts as independent"


def _named(keys: _Keys) -> str:
    return keys.noun if keys.field in (None, keys.noun) else f"{keys.noun} ({quoted([keys.field or ''])})"


def _paired_note(keys: _Keys) -> str:
    shared = f"{many(len(keys.shared), keys.noun)} {'is' if len(keys.shared) == 1 else 'are'}"
    return (
        f"paired by {_named(keys)}: {shared} in all samples, and tests compare texts of one {keys.noun} with "
        f"each other; {_TURNED_OFF}"
    )


def _grouped_note(keys: _Keys, reference: Sample, candidates: Mapping[str, Sample]) -> str:
    samples = (reference, *candidates.values())
    parts = [
        f"{name} has {many(len(sample), 'text')} {_of(values, keys.noun)}"
        for name, sample, values in zip(_names(candidates), samples, keys.values, strict=True)
    ]
    return (
        f"grouped by {_named(keys)}: texts of one {keys.noun} are not independent and count as one group "
        f"({', '.join(parts)})"
    )


def _of(values: pa.Array | None, noun: str) -> str:
    return f"without {noun}s" if values is None else f"of {many(len(values.drop_null().unique()), noun)}"
