"""Words of a conditional study that its terminal view, Markdown and notebook view share; none of them escaped."""

import math
from collections.abc import Iterable, Iterator, Mapping

from textassay.corpus.printable import many
from textassay.inference.result import Result
from textassay.report.table import ARROWS, MARK, level_text
from textassay.studies.conditional.result import KIND_WORDS, Conditional, Sensitivity, SystemColumn, chance_of
from textassay.studies.conditional.verdict import p_at_most
from textassay.studies.wording import number, p_text, share

# Other ways to combine the items' p-values, which decide nothing.
OTHER_TESTS = {"harmonic_mean": "harmonic mean", "fisher": "Fisher", "simes": "Simes"}


def heading(conditional: Conditional) -> str:
    """How many items and systems there are, and how many texts an item has."""
    items = conditional.items.items
    references = _count((len(item.references) for item in items), "reference")
    written = (len(item.candidates.get(column.name, ())) for item in items for column in conditional.systems)
    candidates = _count(written, "candidate")
    systems = _count([len(conditional.systems)], "system")
    return f"{_count([len(items)], 'item')}, {systems}, {references}, {candidates}"


def all_notes(conditional: Conditional) -> list[str]:
    """What is odd about the items and what the study says of itself, each once."""
    return list(dict.fromkeys((*conditional.items.notes, *conditional.notes)))


def _count(numbers: Iterable[int], what: str) -> str:
    """A number or its range with the thing counted: `5-6 references`."""
    known = list(numbers)
    low, high = min(known, default=0), max(known, default=0)
    return f"{low:,}{f'-{high:,}' if high > low else ''} {what}{'' if low == high == 1 else 's'}"


def sizes_text(candidates: float, references: float) -> str:
    """Sizes of two sides; means of them are rounded to a decimal.

    >>> sizes_text(2, 3), sizes_text(1.0, 4.003), sizes_text(1.5, 3)
    ('2 v 3', '1 v 4', '1.5 v 3')
    """
    return " v ".join(f"{size:.1f}".removesuffix(".0") for size in (candidates, references))


def part_sizes(human: Result, sizes: tuple[int, int]) -> str:
    """The sizes of the parts a human result was measured on: its own where it says so, else those of most items."""
    own = [human.parts.get(name, math.nan) for name in ("candidates", "references")]
    return sizes_text(*sizes) if any(map(math.isnan, own)) else sizes_text(*own)


def human_title(conditional: Conditional) -> str:
    """The head of the human column: its name and, where there is anything to compare, the sizes of its parts."""
    name, sizes = conditional.human.name, conditional.human_sizes
    return f"{name} {sizes_text(*sizes)}" if all(sizes) else name


def counts(column: SystemColumn) -> str:
    """How many items miss in which way; ways that no item misses in are left out."""
    counted = {words: column.count(kind) for kind, words in KIND_WORDS.items()}
    return " · ".join(f"{words} {count:,}" for words, count in counted.items() if count)


def combined(label: str, column: SystemColumn, place: int, adjusted: float) -> str:
    """The numbers behind a cell: every combined p-value, the items with a number, and chance; empty where none."""
    result = column.results[place]
    parts = result.parts
    said = []
    if result.p_value is not None:
        said.append(f"p {p_at_most(result)}")
        said += [] if math.isnan(adjusted) else [f"adjusted {p_text(adjusted)}"]
        said += [f"z {parts['z']:.1f}"] if not math.isnan(parts.get("z", math.nan)) else []
        said += [f"{words} {p_text(parts[name])}" for name, words in OTHER_TESTS.items() if name in parts]
    if "items" in parts and not math.isnan(parts["items"]):
        said.append(f"{parts['items']:,.0f} of {many(len(column.items), 'item')}")
    if not math.isnan(chance_of(result)):
        said.append(f"chance {number(chance_of(result))}")
    return f"{label}, {column.name}: {', '.join(said)}" if said and result.undefined is None else ""


def power_lines(conditional: Conditional) -> list[str]:
    """What the wanted power needs, a line for each system and metric that was looked at."""
    return [line for curve in conditional.sensitivity for line in _needed(curve)]


def _needed(curve: Sensitivity) -> Iterator[str]:
    for label, fewest in curve.needed.items():
        points = [point for point in curve.points if point.label == label]
        if points:
            most = max(point.candidates for point in points), max(point.references for point in points)
            yield f"{curve.system}: {label}: {_power(f'{share(curve.power)} power', fewest, most)}"
        else:
            yield f"{curve.system}: {label}: power not known, no item could be tested"


def _power(power: str, fewest: Mapping[str, int | None], most: tuple[int, int]) -> str:
    """From how many texts of one side, given all of the other."""
    candidates, references = _count([most[0]], "candidate"), _count([most[1]], "reference")
    ways = [
        f"from {_count([least], side)} ({others})"
        for side, others in (("candidate", references), ("reference", candidates))
        if (least := fewest.get(f"{side}s")) is not None
    ]
    return f"{power} {' and '.join(ways)}" if ways else f"no {power} even with {candidates} and {references}"


def _part_sizes(conditional: Conditional) -> str:
    """The sizes in the rows of smaller parts, each once."""
    rows = zip(conditional.labels, conditional.human.results, strict=True)
    again = {label for column in conditional.systems for label in column.at_baseline_size}
    sizes = dict.fromkeys(part_sizes(human, conditional.human_sizes) for label, human in rows if label in again)
    return " and ".join(sizes)


def legend(conditional: Conditional, *, chance: bool) -> list[str]:
    """How to read the table; `chance` when it stands in the cells."""
    results = [result for column in conditional.systems for result in column.results]
    lines = []
    if any(result.interval for result in results):
        lines.append(
            f"± half of the {level_text(conditional.level)} interval of the mean over items,"
            " [low, high] its bounds where the estimate is not in the middle"
        )
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the references (labels exchanged within items, adjusted over the whole table,"
            f" p <= {1 - conditional.level:g})"
        )
    if any(column.at_baseline_size for column in conditional.systems):
        lines.append(
            f"at {_part_sizes(conditional)}: on parts of the items with so many candidates v references,"
            " as small as the human ones; only these rows compare with people"
        )
    if chance and not all(math.isnan(chance_of(result)) for result in results):
        lines.append("chance: the mean over all labellings of the same texts as candidates and references")
    higher, lower, closer = (ARROWS[better] for better in ("higher", "lower", "closer"))
    signs = {
        "higher": f"{higher} higher is better",
        "lower": f"{lower} lower is better",
        "closer": f"{closer} closer to the human value is better",
    }
    used = {result.better for result in results}
    return [*lines, ", ".join(text for better, text in signs.items() if better in used)]
