"""Probabilities from a file or an object, by the record reader of all studies."""

from collections import Counter

from textassay.corpus.ratings.columns import is_blank, number_of
from textassay.corpus.readers import no_field
from textassay.corpus.tables import AnySource, Expected, Table, open_source, read_tables
from textassay.studies.frontier.distribution import Distribution

# Names of a column with probabilities.
_FIELDS = ("probability", "prob", "p", "text")


def read_probabilities(
    source: AnySource, *, name: str | None = None, field: str | None = None, encoding: str = "utf-8"
) -> tuple[str, Distribution]:
    """A distribution and its name: one number per line, or a column of numbers.

    Without `field`, the column is called `probability`, `prob` or `p`, or it is the only one.
    """
    opened = open_source(
        source, Expected(texts=True), name=name, kind="distribution", encoding=encoding, notes=Counter()
    )
    numbers: list[float] = []
    for table in read_tables(opened, wanted="one probability per row"):
        chosen = _field(table, field)
        cells = list(table.column(chosen))
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
