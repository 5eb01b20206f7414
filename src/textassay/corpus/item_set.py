"""ItemSet: items with references, candidates of one or more systems and an optional prompt; a table of their texts."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import I64
from textassay.corpus.files.reading import check_stdin_once, named_paths
from textassay.corpus.files.writing import AnyPath
from textassay.corpus.formats.by_prompt import read_records_or_items, united
from textassay.corpus.formats.record import TextKind, checked_kind
from textassay.corpus.formats.requests import read_requests
from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.item_files import ItemFile, Side, check_unique, joined, read_entries, system_of
from textassay.corpus.printable import many, quoted
from textassay.corpus.rows import Wanted
from textassay.corpus.tables import AnySource, listed_notes
from textassay.corpus.tokenizers import Tokenizer, Tokens, get_tokenizer
from textassay.errors import InputError

_LISTED = 12


class Written(Protocol):
    """An item, or an entry that is to become one."""

    @property
    def references(self) -> tuple[str, ...]: ...

    @property
    def candidates(self) -> Mapping[str, tuple[str, ...]]: ...


def has_candidates(item: Written) -> bool:
    """Whether any system wrote anything."""
    return any(item.candidates.values())


def odd_about(items: Sequence[Written]) -> Iterator[str]:
    """One sentence for each thing that is odd; none of them is an error."""
    yield from _missing(items)
    # Blank texts stay: a system that wrote nothing did answer, and leaving it out would flatter it.
    blank = sum(not text.strip() for item in items for texts in item.candidates.values() for text in texts)
    if blank:
        yield f"{many(blank, 'blank candidate')} kept"
    blank = sum(not text.strip() for item in items for text in item.references)
    if blank:
        yield f"{many(blank, 'blank reference')} kept"
    yield from _uneven(items)


def _missing(items: Sequence[Written]) -> Iterator[str]:
    counts = {
        "no candidates": sum(not has_candidates(item) for item in items),
        "no reference": sum(not item.references for item in items) if any(item.references for item in items) else 0,
        "one reference": sum(len(item.references) == 1 for item in items),
    }
    for what, count in counts.items():
        if count:
            yield f"{count:,} of {len(items):,} items {'has' if count == 1 else 'have'} {what}"


def _uneven(items: Sequence[Written]) -> Iterator[str]:
    """Systems that miss items which others have, and numbers of candidates that are not the same everywhere."""
    sizes: dict[str, list[int]] = {}
    for item in items:
        for system, texts in item.candidates.items():
            sizes.setdefault(system, []).extend([len(texts)] if texts else [])
    answered = sum(map(has_candidates, items))
    for system, counts in sizes.items():
        if len(counts) < answered:
            yield f"{quoted([system])} has candidates for {len(counts):,} of {many(len(items), 'item')}"
    spans = {system: _span(counts) for system, counts in sizes.items() if counts}
    if len(set(spans.values())) > 1:
        listed = [f"{quoted([system])} {span}" for system, span in spans.items()]
        rest = f" and {many(len(listed) - _LISTED, 'more system')}" if len(listed) > _LISTED else ""
        yield f"candidates per item: {', '.join(listed[:_LISTED])}{rest}"
    elif any(len(set(counts)) > 1 for counts in sizes.values()):
        system, span = next(iter(spans.items()))
        yield f"{quoted([system]) if len(spans) == 1 else 'each system'} has {span} candidates per item"


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


_BEHIND = "wanted a field 'candidates', or further files with candidates"
_FIELD = "wanted a field 'candidates'"


@dataclass(frozen=True, slots=True)
class Item:
    """One input with its references and the candidates of each system; either may be empty.

    `partitions` has the class of each candidate among those of its system, where the file has such classes.
    """

    id: str
    references: tuple[str, ...]
    candidates: dict[str, tuple[str, ...]]
    prompt: str | None = None
    partitions: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items with a name and a digest of their content; `notes` list what is unusual about them.

    Of items that were gathered from records, `lost` counts, by reason, the records that should have had a text.

    >>> item = Item("1", ("a cat", "the cat"), {"mle": ("a cat",), "gan": ("cat cat",)})
    >>> ItemSet.of([item], name="pets").systems
    ('mle', 'gan')
    """

    name: str
    digest: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    lost: tuple[tuple[str, int], ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order they appear."""
        return tuple(dict.fromkeys(system for item in self.items for system in item.candidates))

    @classmethod
    def of(cls, items: Sequence[Item], *, name: str = "items", notes: tuple[str, ...] = ()) -> Self:
        """Build a set of items, with notes on what is missing, on blank texts and on unequal numbers of candidates."""
        return cls(name, _digest(items), tuple(items), (*notes, *odd_about(items)))


def read_items(
    source: ItemSet | AnySource,
    *,
    candidates: Mapping[str, AnySource] | Sequence[AnyPath] | AnyPath = (),
    name: str | None = None,
    encoding: str = "utf-8",
    needs_candidates: bool = True,
    needs_references: bool = True,
    by: str | None = None,
    field: str | None = None,
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
) -> ItemSet:
    """Read items: references, and candidates of one or more systems, for each input.

    Parameters
    ----------
    source
        A path, a pattern, `-` for standard input, a list of `Item` or of dicts, a data frame, an Arrow table, a Hugging
        Face dataset, or an `ItemSet`, which is returned as it is. Files may be compressed (`.gz`, `.zst`). The content
        is one of

        - Records (`.jsonl`, `.json`, dicts) with `references` and `candidates`, and if known `prompt` and `id` (or
          `_id`). References are a list or one string. Candidates are too (of one system, called "candidate"), or an
          object with one list per system.
        - A table (`.csv`, `.tsv`, `.parquet`, a frame) with one row per item: the columns `references` and
          `candidates`, or `candidates.NAME` for each system, and if known `id` and `prompt`. A cell that begins with
          `[` is a JSON list of strings; any other is one text, also an empty one. Cells of Parquet files and frames may
          be lists.
        - A table or records with one row per text: `id`, `source` (`reference` or the name of a system) and `text`.
        - COCO caption annotations: an object with `annotations`, whose captions are references by image.
    candidates
        Further sources by the name of their system, or a list of files, which are named by their stems: any of these
        forms with candidates, a list of COCO results (`image_id` and `caption`), or `.txt` with one candidate per line.
        They are matched by id where both sources have ids, otherwise by order.
    name
        What to call the items; by default the stem of the file, or "items".
    encoding
        The encoding of text files.
    needs_candidates
        If False, items may have references alone, for a model that writes the candidates.
    needs_references
        If False, items may have candidates alone. The source, and further ones, may then also have records with one
        text each (`prompt` and `text`, or the files of known tools), whose texts are gathered by prompt.
    by, field
        The fields of the system and of the text in such records; by default `model`, if there is one, and as for
        `read_sample`.
    text, prompts_from
        The answer or the reasoning of a model, and the requests of a batch, as for `read_sample`.

    Returns
    -------
    ItemSet
        The items; those without an id are numbered from 1.

    Examples
    --------
    >>> read_items([{"references": ["a cat", "the cat"], "candidates": ["a dog"]}]).items[0].candidates
    {'candidate': ('a dog',)}
    """
    if isinstance(source, ItemSet) and not candidates:
        return source
    further = _systems(candidates)
    check_stdin_once([source, *further.values()])
    notes: Counter[str] = Counter()
    given = source.items if isinstance(source, ItemSet) else source
    read = partial(read_entries, encoding=encoding, notes=notes)
    if not needs_references:
        requests = None if prompts_from is None else read_requests(prompts_from)
        records = Wanted(field, None, by, checked_kind(text), requests)
        read = partial(read_records_or_items, encoding=encoding, notes=notes, records=records)
    base, called = read(given, side="references", name=name)
    side: Side = "references" if base.are_records else "candidates"
    systems = {system: read(value, side=side, name=system)[0] for system, value in further.items()}
    if base.are_records:
        entries = united(base, systems)
        found = _item_set(replace(base, entries=entries), {}, name=called, notes=notes, wanted="", bare=True)
        lost = Counter[str]()
        for reason, count in (each for file in (base, *systems.values()) for each in file.lost):
            lost[reason] += count
        return replace(found, lost=tuple(lost.items()))
    is_file = isinstance(source, str | os.PathLike)
    wanted = (_BEHIND if is_file else _FIELD) if needs_candidates else ""
    return _item_set(base, systems, name=called, notes=notes, wanted=wanted, bare=not needs_references)


def _systems(candidates: Mapping[str, AnySource] | Sequence[AnyPath] | AnyPath) -> dict[str, AnySource]:
    if isinstance(candidates, Mapping):
        return {system_of(name, "candidates"): source for name, source in candidates.items()}
    return dict(named_paths([candidates] if isinstance(candidates, str | os.PathLike) else candidates))


def _item_set(
    base: ItemFile, systems: Mapping[str, ItemFile], *, name: str, notes: Counter[str], wanted: str, bare: bool
) -> ItemSet:
    """The items of a first file and of candidates by system; without candidates an error that states `wanted`.

    `bare` items may have no references.
    """
    if not base.entries:
        raise InputError(f"{base.where}: no items; wanted 'references' and 'candidates' of at least one")
    if not bare and not any(entry.references for entry in base.entries):
        raise InputError(f"no references in {base.where}{base.seen_fields}; wanted a field 'references'")
    ids = [str(number) if entry.id is None else entry.id for number, entry in enumerate(base.entries, 1)]
    check_unique(ids, [entry.place for entry in base.entries])
    entries = joined(base, systems, notes)
    if wanted and not any(has_candidates(entry) for entry in entries):
        raise InputError(f"no candidates in {base.where}{base.seen_fields}; {wanted}")
    items = [
        Item(id_, entry.references, dict(entry.candidates), entry.prompt, dict(entry.partitions))
        for id_, entry in zip(ids, entries, strict=True)
    ]
    if not wanted and not bare:
        return ItemSet(name, _digest(items), tuple(items), listed_notes(notes))
    return ItemSet.of(items, name=name, notes=listed_notes(notes))


def _digest(items: Sequence[Item]) -> str:
    content = [[item.id, item.references, list(item.candidates.items()), item.prompt] for item in items]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class TextTable:
    """The different texts of a run, numbered; `documents` holds the numbers of each item's references.

    `alike` has for each text the number of the first text with the same tokens: equal texts for a distance on tokens.

    >>> table = TextTable.of([["a cat", "the cat"], ["a cat"]], others=["A cat."])
    >>> table.texts, [numbers.tolist() for numbers in table.documents]
    (('a cat', 'the cat', 'A cat.'), [[0, 1], [0]])
    >>> table.words(1)
    ['the', 'cat']
    """

    texts: tuple[str, ...]
    number_of: Mapping[str, int] = field(repr=False)
    documents: tuple[I64, ...] = field(repr=False)
    tokenizer: Tokenizer
    tokens: Tokens = field(repr=False)
    sequences: Sequences = field(repr=False)
    alike: I64 = field(repr=False)

    @classmethod
    def of(
        cls, references: Sequence[Sequence[str]], *, others: Iterable[str] = (), tokenizer: Tokenizer | None = None
    ) -> Self:
        """Number the texts, first those of each item's references, then all others; tokenise and hash them."""
        tokenizer = tokenizer or get_tokenizer()
        numbers: dict[str, int] = {}
        documents = tuple(
            np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64) for texts in references
        )
        for text in others:
            numbers.setdefault(text, len(numbers))
        texts = tuple(numbers)
        tokens = tokenizer(texts)
        first: dict[bytes, int] = {}
        alike = [
            first.setdefault(tokens.ids[start:stop].tobytes(), number)
            for number, (start, stop) in enumerate(pairwise(tokens.offsets.tolist()))
        ]
        sequences = Sequences.from_tokens(tokens)
        return cls(texts, numbers, documents, tokenizer, tokens, sequences, np.array(alike, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.texts)

    def ids(self, number: int) -> NDArray[np.int32]:
        """The token ids of a text."""
        return self.tokens.ids[self.tokens.offsets[number] : self.tokens.offsets[number + 1]]

    def words(self, number: int) -> list[str]:
        """The words of a text."""
        return self.tokens.words(*self.tokens.offsets[number : number + 2].tolist())


def table_of(items: ItemSet, tokenizer: Tokenizer) -> TextTable:
    """Every text of the items, numbered."""
    return TextTable.of(
        [item.references for item in items.items],
        others=(text for item in items.items for texts in item.candidates.values() for text in texts),
        tokenizer=tokenizer,
    )
