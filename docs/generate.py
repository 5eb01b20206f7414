"""The reference pages, generated from the declarations: one per metric and one per command."""

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

import textassay
from textassay.cli.app import app
from textassay.distances.base import BUILT_IN
from textassay.metrics.registry import Metric, Option, all_metrics, citation, citations

CITATIONS = citations()

BETTER = {
    "higher": "higher",
    "lower": "lower",
    "closer": "closer to real text's own value (neither high nor low is good by itself)",
}
INTERVALS = {
    "jackknife": "delete-a-group jackknife ([why](../statistics.md#intervals-the-delete-a-group-jackknife))",
    "wilson:modified": "Wilson's interval for a share of texts, with wider limits for one to three hits "
    "([why](../statistics.md#intervals-the-delete-a-group-jackknife))",
    "jackknife:different-texts": "delete-a-group jackknife, for 20 or more different texts "
    "([why](../statistics.md#texts-that-repeat))",
    "jackknife+wilson": "the union of the delete-a-group jackknife's and Wilson's "
    "([why](../statistics.md#intervals-the-delete-a-group-jackknife))",
    "jackknife:bandwidth": "delete-a-group jackknife, at the bandwidth of all texts "
    "([why](../statistics.md#what-is-held-fixed))",
    "jackknife+wilson:different-texts": "the union of the delete-a-group jackknife's and Wilson's, for 20 or more "
    "different texts ([why](../statistics.md#texts-that-repeat))",
    "jackknife+wilson:wide-balls": "the union of the delete-a-group jackknife's, a fifth wider, and Wilson's, "
    "for 20 or more different texts ([why](../statistics.md#texts-that-repeat))",
    "jackknife:wide-balls": "delete-a-group jackknife, a fifth wider, for 20 or more different texts "
    "([why](../statistics.md#texts-that-repeat))",
    "jackknife:fixed-clusters:logit": "delete-a-group jackknife on the logit scale, with fixed clusters of all texts "
    "([why](../statistics.md#what-is-held-fixed))",
}
INTERVALS["jackknife:fixed-classifier"] = (
    "delete-a-group jackknife of the classified texts, wider by the root of 2 "
    "([why](../dd.md#every-text-by-all-other-texts))"
)
INTERVALS["binomial:held-out"] = "exact binomial, of the accuracy on the held-out part ([how](../dd.md#held-out-texts))"
INTERVALS["cross-fitted:newcombe"] = (
    "one-sided limit of a difference of two shares of held-out texts "
    "([why](../statistics.md#how-large-the-difference-is-the-separable-share))"
)
INTERVALS["jackknife:fixed-vocabulary"] = (
    "delete-a-group jackknife with a new model without each group, and fixed words "
    "([why](../language-models.md#intervals-and-tests))"
)
INTERVALS["jackknife:fixed-model"] = (
    "delete-a-group jackknife of the scored texts, with a fixed model "
    "([why](../language-models.md#intervals-and-tests))"
)
INTERVALS["bootstrap:items"] = "bootstrap over items ([how](../conditional.md#over-all-items))"
INTERVALS["bootstrap:ratings"] = "bootstrap over contexts and, within items, over ratings ([how](../huse.md#intervals))"
TESTS = {
    "permutation": "permutation of texts between the samples ([how](../statistics.md#tests-exchanging-texts))",
    "binomial:held-out": "exact binomial, of the accuracy on the held-out part ([how](../dd.md#held-out-texts))",
    "permutation:first-order": "permutation of texts between the samples; in all but small samples, of the value's "
    "first-order change ([how](../statistics.md#tests-of-an-expansion))",
    "permutation:second-order": "permutation of texts between the samples; in all but small samples, of the value's "
    "second-order change ([how](../statistics.md#tests-of-an-expansion))",
}

MODEL_FILE = "FILE.safetensors"
EXIT_CODES = "Exit codes: 0 done, 1 a gate failed, 2 bad input or usage (with one line on standard error)."


def pages() -> dict[str, str]:
    """Every generated page by its path in the documentation."""
    metrics, commands = declared_metrics(), all_commands(typer.main.get_command(app))
    made = {"metrics/index.md": metric_index(metrics), "commands/index.md": command_index(commands)}
    made |= {f"metrics/{metric.name}.md": metric_page(metric) for metric in metrics}
    made["functions.md"] = functions_page(public_functions())
    return made | {f"commands/{slug(name)}.md": command_page(name, command) for name, command in commands.items()}


def declared_metrics() -> list[Metric]:
    """The metrics of the package, without those that tests declare."""
    return [m for m in all_metrics().values() if m.function.__module__.startswith("textassay.metrics.")]


def all_commands(group: Any, prefix: str = "") -> dict[str, Any]:
    """Commands by the words that a user types, including those of groups."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        nested = hasattr(command, "commands")
        found |= all_commands(command, f"{prefix}{name} ") if nested else {f"{prefix}{name}": command}
    return found


def slug(name: str) -> str:
    """A command's file name."""
    return name.replace(" ", "-")


def metric_index(metrics: Sequence[Metric]) -> str:
    """A table with one row per metric."""
    rows = [(f"[`{m.name}`]({m.name}.md)", m.aspect, m.better, m.summary) for m in metrics]
    intro = "Read a quality metric and a diversity metric together, or one that measures both, and always compare\n"
    intro += "with the column `real v real`. `textassay metrics NAME` prints the same pages in the terminal."
    return f"# Metrics\n\n{intro}\n\n" + table(["metric", "aspect", "better", "what it is"], rows)


def metric_page(metric: Metric) -> str:
    """Definition, facts, options and source of one metric."""
    facts = [
        ("measures", f"{metric.aspect if metric.aspect != 'both' else 'quality and diversity at once'}"),
        ("reads", _roles(metric)),
        ("better", BETTER[metric.better]),
        ("range", _range(metric)),
        ("interval", _method(metric.interval, INTERVALS, metric.why_no_interval)),
        ("test", _test(metric)),
        ("fewest texts", str(metric.minimum_for({name: option.default for name, option in metric.options.items()}))),
        ("no number when", metric.undefined),
    ]
    if metric.parts is not None:
        facts.append(("parts", (inspect.getdoc(metric.parts) or "").partition("\n")[0]))
    facts += [fact for (option, value), variant in metric.variants.items() for fact in _variant(option, value, variant)]
    body = [f"# {metric.name}", markdown(inspect.getdoc(metric.function) or ""), table(["at a glance", ""], facts)]
    body += ["## Options", _options(metric), "## Source", citation(metric.paper)]
    return "\n\n".join(body) + "\n"


def _variant(option: str, value: str, variant: Metric) -> Iterator[tuple[str, str]]:
    """What differs under one value of an option."""
    yield f"interval with `{option}={value}`", _method(variant.interval, INTERVALS, variant.why_no_interval)
    yield f"test with `{option}={value}`", _test(variant)


def _method(name: str | None, described: dict[str, str], why_none: str) -> str:
    return described.get(name, name) if name else f"none: {why_none}"


def _test(metric: Metric) -> str:
    if metric.on_ratings:
        exchange = "exchange of the sources within contexts ([how](../huse.md#is-it-chance))"
        return exchange if metric.test else f"none: {metric.why_no_test}"
    if not metric.on_samples:
        return "every labelling of the item's texts ([how](../conditional.md#p-values))"
    return _method(metric.test, TESTS, metric.why_no_test)


def _roles(metric: Metric) -> str:
    if metric.on_ratings:
        return "texts of people and of a model, their ratings and log-probabilities (`textassay huse`)"
    if not metric.on_samples:
        return "the candidates and the references of one item (`textassay conditional`)"
    if metric.compares and metric.on_items:
        return "the candidate and the reference, or those of one item (`textassay conditional`)"
    if metric.compares:
        return "the candidate and the reference"
    return "the candidate and its training texts (`--train`)" if "train" in metric.roles else "the candidate alone"


def _range(metric: Metric) -> str:
    low, high = metric.bounds
    others = [f"{a:g} to {b:g} with `variant={name}`" for name, (a, b) in metric.variant_bounds.items()]
    return ", ".join([f"{low:g} to {high:g}", *others]).replace("inf", "∞")


def _options(metric: Metric) -> str:
    if not metric.options:
        return "None."
    options = metric.all_options.values()
    rows = [(f"`{o.name}`", _kind(o), "needed" if o.opens else f"`{o.default}`") for o in options]
    settings = ":".join(f"{o.name}={MODEL_FILE if o.opens else o.default}" for o in metric.options.values())
    train = " --train train.txt" if "train" in metric.roles else ""
    files = "compare real.txt model.txt" if metric.on_samples else "conditional items.jsonl"
    files = "huse ratings.csv" if metric.on_ratings else files
    example = f"textassay {files} --metrics {metric.name}:{settings}{train}"
    return table(["option", "values", "default"], rows) + f"\n\n```sh\n{example}\n```"


def _kind(option: Option) -> str:
    if option.choices:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    if option.name == "distance":
        return ", ".join(f"`{name}`" for name in BUILT_IN)
    if option.opens:
        return "a model file, or a name such as `oracle:DIR` ([models](../models.md))"
    return "a whole number, or a range such as 2-5" if option.kind is int else "a number"


def markdown(docstring: str) -> str:
    """A docstring as Markdown: formulas and examples become fenced blocks."""
    text = re.sub(r"^\.\. math:: *((?:.+\n?)(?: +.+\n?)*)", r"```math\n\1\n```\n", docstring, flags=re.MULTILINE)
    text = re.sub(r"(?:^>>> (?:.+\n?)+)+", lambda m: f"```pycon\n{m[0].rstrip()}\n```\n", text, flags=re.MULTILINE)
    return re.sub(r"\n+```\n+", "\n```\n\n", text).strip()


def public_functions() -> dict[str, Any]:
    """The public functions of the package by name."""
    found = {name: getattr(textassay, name) for name in textassay.__all__}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


def functions_page(functions: dict[str, Any]) -> str:
    """Every public function: signature, parameters, what it returns, and examples."""
    intro = (
        "Every public function with its parameters. [Python API](api.md) introduces them and the objects they return."
    )
    return "\n\n".join(["# Functions", intro, *(function_part(*item) for item in functions.items())]) + "\n"


_SECTION = re.compile(r"^([A-Z][a-z]+)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*)\n((?:(?: {4}.*)?\n?)+)", re.MULTILINE)


def function_part(name: str, function: Any) -> str:
    """The docstring of a function, whose sections are in the form of numpydoc, as Markdown."""
    first, *sections = _SECTION.split(inspect.getdoc(function) or "")
    parts = [f"## {name}", f"```python\n{_signature(name, function)}\n```", markdown(first)]
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        parts.append(f"**{title}**")
        parts.append(markdown(text) if title == "Examples" else _entries(text))
    return "\n\n".join(parts)


def _entries(text: str) -> str:
    """Parameters or returned values as a list of terms and descriptions."""
    return "\n".join(f"- `{term}`: {' '.join(what.split())}" for term, what in _ENTRY.findall(text + "\n"))


def _signature(name: str, function: Any) -> str:
    """The parameters of a function with their defaults, one per line."""
    lines = []
    kinds = inspect.Parameter
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind == kinds.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        lines.append(parameter.name if parameter.default is kinds.empty else f"{parameter.name}={parameter.default!r}")
    return (
        f"{name}({', '.join(lines)})" if len(lines) < 4 else "\n".join([f"{name}(", *(f"    {x}," for x in lines), ")"])
    )


def command_index(commands: dict[str, Any]) -> str:
    """A table with one row per command."""
    rows = [(f"[`textassay {name}`]({slug(name)}.md)", first_line(c.help)) for name, c in commands.items()]
    common = list(parameters(typer.main.get_command(app)))
    body = [
        "# Commands",
        table(["command", "what it does"], rows),
        EXIT_CODES,
        "Before any command:",
        option_table(common),
    ]
    return "\n\n".join(body) + "\n"


def command_page(name: str, command: Any) -> str:
    """Usage, arguments and options of one command."""
    arguments = [p for p in parameters(command) if p.param_type_name == "argument"]
    options = [p for p in parameters(command) if p.param_type_name == "option"]
    words = ["textassay", name, *(["[OPTIONS]"] if options else []), *(shown_name(p) for p in arguments)]
    body = [f"# textassay {name}", f"```text\n{' '.join(words)}\n```", inspect.cleandoc(command.help or "")]
    if arguments:
        body.append(table(["argument", ""], [(f"`{shown_name(p)}`", p.help or "") for p in arguments]))
    if options:
        body += ["## Options", option_table(options)]
    return "\n\n".join([*body, EXIT_CODES]) + "\n"


def parameters(command: Any) -> Iterator[Any]:
    """The visible parameters of a command."""
    return (p for p in command.params if not getattr(p, "hidden", False))


def shown_name(argument: Any) -> str:
    """An argument as in the usage line."""
    name = str(argument.metavar or argument.name.upper())
    return f"{name}..." if argument.nargs == -1 else name


def option_table(options: Iterable[Any]) -> str:
    """A table with one row per option: names, default and help."""
    rows = [(", ".join(f"`{o}`" for o in p.opts), _default(p), _help(p)) for p in options]
    return table(["option", "default", ""], rows)


def _help(option: Any) -> str:
    return f"{option.help or ''} ({option.metavar})" if option.metavar else option.help or ""


def _default(option: Any) -> str:
    unset = option.default is None or option.is_flag or callable(option.default)
    return "" if unset else f"`{option.default}`"


def first_line(text: str | None) -> str:
    """The first line of a help text."""
    return inspect.cleandoc(text or "").partition("\n")[0]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
