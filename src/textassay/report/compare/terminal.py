"""The terminal view of a comparison."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.compare.content import format_findings, legend, missing_lines, table_lines
from textassay.report.compare.meaning import meaning_lines
from textassay.report.terminal import MOST_NAME, dim, fitted_names, heading, joined, metric_tables, notes, verdict_lines
from textassay.studies.compare.result import Comparison

_MOST_PHRASES = 4


def render_terminal(comparison: Comparison, *, width: int, why: bool = False) -> RenderableType:
    """Format findings first, then the table, verdicts, differences and notes; with `why` also missing numbers."""
    lines, explained = table_lines(comparison), legend(comparison)
    missing = missing_lines(comparison) if why else []
    names = fitted_names([printable(column.name) for column in comparison.candidates], MOST_NAME)
    findings, differences = list(_findings(comparison, names)), list(_differences(comparison, names))
    columns = [comparison.real.name, *(column.name for column in comparison.candidates)]
    tables, _ = metric_tables(lines, columns, width)
    texts = f" ({comparison.reference.n:,} texts)"
    title = heading(
        comparison.reference.name, texts, before="" if comparison.reference.name == "reference" else "reference "
    )
    verdicts = [(name, column.verdict, ()) for column, name in zip(comparison.candidates, names, strict=True)]
    return joined(
        [
            findings,
            [title, *tables, *map(dim, explained)],
            list(verdict_lines(verdicts)),
            differences,
            notes(comparison.notes),
            [dim(line) for line in missing],
        ]
    )


def _findings(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    """Format differences that change the metrics, one per line; those that the tokenizer removes, in one line."""
    harmless: dict[str, None] = {}
    for column, name in zip(comparison.candidates, names, strict=True):
        for finding in format_findings(column, harmless=False):
            line = Text.assemble(("format ", "bold yellow"), (name, "bold"), f": {printable(finding.message)}")
            yield line.append(f"; {printable(finding.fix)}", style="dim")
        kinds = [printable(finding.kind).replace("_", " ") for finding in format_findings(column, harmless=True)]
        harmless |= dict.fromkeys(f"{name}: {kind}" for kind in kinds)
    if harmless:
        yield Text(f"format differences that this tokenizer removes: {'; '.join(harmless)}", style="dim")


def _differences(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    for column, name in zip(comparison.candidates, names, strict=True):
        for word, phrases in (("too often", column.over), ("too rarely", column.under)):
            if phrases:
                shown = ", ".join(
                    f"“{printable(phrase.text)}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
                    for phrase in phrases[:_MOST_PHRASES]
                )
                yield Text.assemble((name, "bold"), (f" {word}: ", "dim"), shown)
        for word, regions in meaning_lines(column, comparison.level):
            yield Text.assemble((name, "bold"), (f" {word}: ", "dim"), printable(regions))
