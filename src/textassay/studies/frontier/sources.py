"""Sources of a frontier study: files of probabilities, synthetic distributions, and texts."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.printable import quoted
from textassay.corpus.ratings.columns import is_blank, number_of
from textassay.corpus.readers import named_candidates, read_sample
from textassay.corpus.rows import no_field
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tables import AnySource, Expected, Table, open_source, read_tables
from textassay.corpus.values import is_number
from textassay.errors import InputError, Setting
from textassay.metrics.views import Material, Settings
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.small_space import oracle_distribution

DISTRIBUTION, TOY, ORACLE, TEXTS = "distribution", "toy", "oracle", "texts"
_SYNTHETIC = re.compile(r"(toy|oracle):([+-]?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan))", flags=re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Source:
    """A source before it is analysed.

    `distribution` is known for all but texts, and `probabilities` are those of all texts of the small space, in order.
    Texts have all their words in `whole`; `real` and `reference` are the samples that mixtures are compared on, and
    `halves` gives those of any seed.
    """

    name: str
    kind: str
    n: int
    digest: str
    distribution: Distribution | None = None
    probabilities: F64 | None = None
    whole: Sequences | None = None
    real: Sequences | None = None
    reference: Sequences | None = None
    halves: Callable[[int], tuple[Sequences, Sequences]] | None = None

    def shares(self, *, space: str, n: int) -> Distribution:
        """The distribution; that of texts is the empirical one of their n-grams, or of the texts."""
        if self.distribution is not None:
            return self.distribution
        assert self.whole is not None
        counts = _text_counts(self.whole) if space == "texts" else _ngram_counts(self.whole, n)
        if len(counts) < 2:
            seen = "all texts are the same" if space == "texts" else f"fewer than two different {n}-grams"
            raise InputError(f"{self.name}: {seen}; wanted more texts or a smaller ", Setting("n"))
        return Distribution.of_counts(counts)


def _ngram_counts(texts: Sequences, n: int) -> list[int]:
    found: list[int] = np.unique(texts.ngrams(n)[0], return_counts=True)[1].tolist()
    return found


def _text_counts(texts: Sequences) -> list[int]:
    bounds = texts.offsets.tolist()
    pieces = (texts.words[start:end].tobytes() for start, end in pairwise(bounds))
    return list(Counter(pieces).values())


def is_synthetic(source: object) -> bool:
    """Whether a source is `toy:N` or `oracle:SIGMA`."""
    return isinstance(source, str) and _SYNTHETIC.fullmatch(source) is not None


def open_sources(
    source: Any, *, reference: Any, settings: Settings, seed: int, probabilities: bool = False
) -> list[Source]:
    """Every source that is given, by name if it is a dict; with `probabilities`, files hold these and not texts."""
    named = _named(source)
    if probabilities:
        named = {name: _as_distribution(name, given) for name, given in named.items()}
    return [_opened(name, given, reference=reference, settings=settings, seed=seed) for name, given in named.items()]


def _as_distribution(name: str, given: Any) -> Any:
    known = isinstance(given, Distribution) or _is_numbers(given) or is_synthetic(given)
    return given if known else read_probabilities(given, name=name)[1]


def _named(source: Any) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return {str(name): given for name, given in source.items()}
    if isinstance(source, Distribution) or _is_numbers(source):
        return {DISTRIBUTION: source}
    given = source if isinstance(source, list | tuple) and source else [source]
    if all(map(is_synthetic, given)):
        return {each: each for each in given}
    return named_candidates(source)


def _is_numbers(source: Any) -> bool:
    if isinstance(source, np.ndarray):
        return source.dtype.kind in "fiu"
    return isinstance(source, list | tuple) and bool(source) and is_number(source[0])


def _opened(name: str, given: Any, *, reference: Any, settings: Settings, seed: int) -> Source:
    if isinstance(given, Distribution):
        return _distribution(name, DISTRIBUTION, given)
    if _is_numbers(given):
        return _distribution(name, DISTRIBUTION, Distribution.of(given, name=name))
    found = _SYNTHETIC.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return _texts(name, given, reference=reference, settings=settings, seed=seed)
    return _toy(name, found[2], seed) if found[1] == TOY else _oracle(name, found[2], seed)


def _distribution(name: str, kind: str, found: Distribution, probabilities: F64 | None = None) -> Source:
    digest = hashlib.blake2b(found.values.tobytes() + found.counts.tobytes(), digest_size=8).hexdigest()
    return Source(name, kind, found.n, digest, found, probabilities)


def _toy(name: str, size: str, seed: int) -> Source:
    """The toy distribution of Figure 1: uniform numbers, divided by their sum."""
    if not size.isdecimal() or len(size) > 9 or not 2 <= int(size) <= 100_000:
        raise InputError(f"source {quoted([name])}; wanted toy:N with N from 2 to 100,000")
    numbers = stream(seed, "toy").random(int(size))
    return _distribution(name, TOY, Distribution.of(numbers / numbers.sum()))


def _oracle(name: str, sigma: str, seed: int) -> Source:
    try:
        number = float(sigma)
    except ValueError:
        number = math.nan
    if not 0 < number <= 100:
        raise InputError(f"source {quoted([name])}; wanted oracle:SIGMA with SIGMA above 0 and up to 100")
    probabilities = oracle_distribution(number, seed)
    return _distribution(name, ORACLE, Distribution.of(probabilities), probabilities)


def _texts(name: str, given: Any, *, reference: Any, settings: Settings, seed: int) -> Source:
    """Texts and their reference; without one, two halves of the texts."""
    sample = given if isinstance(given, Sample) else read_sample(given, name=name)
    _check_no_numbers(name, sample)
    if reference is None:
        real, other = _split(sample, seed)
    else:
        real, other = sample, reference if isinstance(reference, Sample) else read_sample(reference, name="reference")
    views = [Material(each, settings).view(Sequences) for each in (sample, real, other)]

    def halves(other_seed: int) -> tuple[Sequences, Sequences]:
        if reference is not None or other_seed == seed:
            return views[1], views[2]
        first, second = (Material(each, settings).view(Sequences) for each in _split(sample, other_seed))
        return first, second

    return Source(
        name,
        TEXTS,
        len(real),
        f"{real.digest}/{other.digest}",
        whole=views[0],
        real=views[1],
        reference=views[2],
        halves=halves,
    )


def _split(sample: Sample, seed: int) -> tuple[Sample, Sample]:
    return sample.split(len(sample) // 2, stream(seed, "halves", sample.digest))


def _check_no_numbers(name: str, sample: Sample) -> None:
    """Refuse texts that are all numbers: they are probabilities that were read as texts."""
    if len(sample) and all(map(_is_number, sample.texts.to_pylist())):
        seen = f"{name}: all {len(sample):,} texts are numbers; wanted texts, or "
        raise InputError(seen, Setting("probabilities"), " if these are probabilities")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# Names of a column with probabilities.
_FIELDS = ("probability", "prob", "p", "text")


def read_probabilities(
    source: AnySource, *, name: str | None = None, field: str | None = None, encoding: str = "utf-8"
) -> tuple[str, Distribution]:
    """A distribution and its name: one number per line, or a column of numbers.

    Without `field`, the column is called `probability`, `prob` or `p`, or it is the only one. A CSV file of one column
    needs no header: one that is a number is the first probability.
    """
    opened = open_source(
        source, Expected(texts=True), name=name, kind="distribution", encoding=encoding, notes=Counter()
    )
    numbers: list[float] = []
    heads: set[str] = set()
    for table in read_tables(opened, wanted="one probability per row"):
        chosen = _field(table, field)
        cells = list(table.column(chosen))
        if field is None and table.head not in heads and len(table.fields) == 1 and _is_number(chosen):
            numbers.append(number_of(chosen, table.head, "probability"))
        heads.add(table.head)
        numbers += [number_of(cell, table.place(row), chosen) for row, cell in enumerate(cells) if not is_blank(cell)]
    return opened.name, Distribution.of(numbers, name=opened.where)


def _field(table: Table, field: str | None) -> str:
    names = list(table.fields)
    if field is None:
        known = [name for name in names if name.lower() in _FIELDS] or names
        field = known[0] if len(known) == 1 else _FIELDS[0]
    if field not in names:
        raise no_field(names, table.head, field=field)
    return field
