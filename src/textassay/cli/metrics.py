"""`textassay metrics`: the list of metrics, and the description of one."""

import inspect
import re
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textassay.metrics.registry import Metric

# A formula in a docstring: the rest of the line and the indented lines below it, with blank lines between them.
_INLINE = re.compile(r":math:`([^`]*)`")
_MATH = re.compile(r"^\.\. math::[ \t]*(.*(?:\n\s*^[ \t]+\S.*)*)", re.MULTILINE)


def metrics(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The metric to describe.")] = None,
) -> None:
    """List all metrics, or describe one of them.

    The description has the definition, the options, the interval, the test, and when the metric misleads.
    """
    from textassay.cli.outputs import output_console
    from textassay.metrics.registry import all_metrics, find_metric

    console = output_console()
    if name is not None:
        console.print(_page(find_metric(name)), soft_wrap=True)
        return
    from rich import box
    from rich.table import Table

    table = Table("name", "family", "aspect", "better", "what it is", box=box.SIMPLE_HEAD, pad_edge=False)
    for metric in all_metrics().values():
        table.add_row(metric.name, metric.family, metric.aspect, metric.better, metric.summary)
    console.print(table)


def _page(metric: "Metric") -> str:
    from textassay.metrics.registry import citation

    low, high = metric.bounds
    lines = [f"{metric.name}: {plain_formulas(inspect.getdoc(metric.function) or '')}", ""]
    lines.append(f"aspect: {metric.aspect}; better: {metric.better}; from {low:g} to {high:g}; family: {metric.family}")
    for option in metric.all_options.values():
        choices = f", one of {', '.join(option.choices)}" if option.choices else ""
        default = "needed: a model file, or a name such as oracle:DIR" if option.opens else f"default {option.default}"
        lines.append(f"option: {option.name} ({default}{choices})")
    lines.append(f"interval: {metric.interval or f'none: {metric.why_no_interval}'}")
    lines.append(f"test: {metric.test or f'none: {metric.why_no_test}'}")
    for (name, value), variant in metric.variants.items():
        test = variant.test or f"none: {variant.why_no_test}"
        lines.append(f"with {name}={value}: interval {variant.interval}; test {test}")
    lines.append(f"source: {citation(metric.paper)}")
    return "\n".join(lines)


def plain_formulas(docstring: str) -> str:
    r"""The docstring with each formula on one line, labelled as LaTeX.

    >>> print(plain_formulas(".. math:: H = -\\sum_g Q_g \\ln Q_g"))
    formula (LaTeX): H = -\sum_g Q_g \ln Q_g
    """
    blocks = _MATH.sub(lambda found: f"formula (LaTeX): {' '.join(found[1].split())}", docstring)
    return _INLINE.sub(r"`\1`", blocks)
