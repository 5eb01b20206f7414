"""What was compared and how, read from the comparison and the signatures of its results."""

from textassay.corpus.printable import shortened
from textassay.report.cells import level_text
from textassay.studies.comparison import Comparison


def facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    signatures = [result.signature for column in comparison.candidates for result in column.results]
    found = [
        ("Tokenizer", _named("tok", signatures)),
        ("Encoder", _named("enc", signatures)),
        ("Texts", _design(comparison)),
        ("Interval level", level_text(comparison.level)),
        ("Resamples", _named("resamples", signatures)),
        ("Seed", _named("seed", signatures)),
        ("Version", _named("v", signatures)),
    ]
    return [(term, value) for term, value in found if value]


_DESIGNS = {
    "grouped": "in groups, exchanged as a whole",
    "paired": "in groups, exchanged within them",
    "paired+grouped": "in groups, exchanged within shared ones, others as a whole",
}


def _design(comparison: Comparison) -> str:
    """How labels were exchanged, where texts are not taken for independent."""
    kinds = {column.overall.design for column in comparison.candidates if column.overall is not None}
    return "; ".join(_DESIGNS[kind] for kind in sorted(kinds & set(_DESIGNS)))


def _named(name: str, signatures: list[str]) -> str:
    """The values of a signature field, each once."""
    start = f"{name}:"
    values = {part[len(start) :]: None for text in signatures for part in text.split("|") if part.startswith(start)}
    return ", ".join(shortened(value, 60) for value in list(values)[:4])
