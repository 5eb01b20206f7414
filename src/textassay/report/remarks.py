"""What is drawn beside real text, and the remarks that stand beside a chart."""

from textassay.inference.result import Result
from textassay.report.axis import drawable
from textassay.studies.comparison import Column, Comparison

STRETCHED = "axis stretched around real text"


def beside_real(comparison: Comparison, column: Column, place: int) -> Result:
    """The result of a column that compares with real text: of the same size wherever there is one."""
    return column.beside_real(comparison.labels[place], column.results[place])


def size_remark(comparison: Comparison, place: int) -> str:
    """Which size is drawn, where it is not the candidates' own, and a warning where sizes could not be made equal."""
    real = comparison.real.results[place]
    whole = {column.results[place].n for column in comparison.candidates}
    drawn = {beside_real(comparison, column, place).n for column in comparison.candidates}
    if not drawable(real) or not drawn or whole == {real.n}:
        return ""
    if drawn == {real.n}:
        return f"all drawn at n = {real.n:,}, the most that real text allows; the table also has n = {_spoken(whole)}"
    return f"real text is measured at n = {real.n:,}, candidates at n = {_spoken(drawn)}; the value may move with size"


def _spoken(sizes: set[int]) -> str:
    return f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")
