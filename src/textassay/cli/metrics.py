"""`textassay metrics`: what there is, what each means, when it misleads."""

import inspect
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textassay.metrics.declare import Metric


def metrics(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One metric, in full.")] = None,
) -> None:
    """List the metrics, or describe one: definition, options, interval, test, and when it misleads."""
    from textassay.cli.screen import output_console
    from textassay.inference.request import parse_requests
    from textassay.metrics.declare import all_metrics

    console = output_console()
    if name is not None:
        console.print(_page(parse_requests([name])[0].metric), soft_wrap=True)
        return
    from rich import box
    from rich.table import Table

    table = Table("name", "family", "aspect", "better", "what it is", box=box.SIMPLE_HEAD, pad_edge=False)
    for metric in all_metrics().values():
        table.add_row(metric.name, metric.family, metric.aspect, metric.better, metric.summary)
    console.print(table)


def _page(metric: "Metric") -> str:
    low, high = metric.bounds
    lines = [f"{metric.name}: {inspect.getdoc(metric.function)}", ""]
    lines.append(f"aspect: {metric.aspect}; better: {metric.better}; from {low:g} to {high:g}; family: {metric.family}")
    for option in metric.options.values():
        choices = f", one of {', '.join(option.choices)}" if option.choices else ""
        lines.append(f"option: {option.name} (default {option.default}{choices})")
    lines.append(f"interval: {metric.interval or f'none: {metric.why_no_interval}'}")
    lines.append(f"test: {metric.test or f'none: {metric.why_no_test}'}")
    lines.append(f"source: {metric.paper}")
    return "\n".join(lines)
