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
        ("Interval level", level_text(comparison.level)),
        ("Resamples", _named("resamples", signatures)),
        ("Seed", _named("seed", signatures)),
        ("Version", _named("v", signatures)),
    ]
    return [(term, value) for term, value in found if value]


def _named(name: str, signatures: list[str]) -> str:
    """The values of a signature field, each once."""
    start = f"{name}:"
    values = {part[len(start) :]: None for text in signatures for part in text.split("|") if part.startswith(start)}
    return ", ".join(shortened(value, 60) for value in list(values)[:4])
