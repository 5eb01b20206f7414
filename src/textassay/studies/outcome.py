"""What the outcomes of all studies share: settings, results by name, verdicts, their wording, JSON, frames and reports.

A study returns a frozen subclass of `Outcome`. The subclass has the data and two functions for JSON, `to_dict` and
`_from_dict`; everything else is here. What an outcome states is its document, which the module `document` in the folder
of the study makes. Each form of a report is rendered by one module in `textassay.report`; the import in
`_renderers` is the only one from a study to a report.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Self

from textassay.corpus.printable import printable_lines, shortened
from textassay.corpus.values import decode_json
from textassay.document.blocks import Chart, Document, walk
from textassay.document.plot import Plot
from textassay.errors import InputError
from textassay.inference.plan import Plan
from textassay.inference.result import Result, setting_fields
from textassay.metrics.registry import Request, all_metrics, label_under
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.codec import from_fields, to_fields
from textassay.studies.shape import check_shape
from textassay.version import __version__

# Characters that steer a terminal: DEL, C1 controls, and marks and overrides of the text direction.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_READ_ERRORS = (ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError)
FRAME_COLUMNS = (
    "candidate", "metric", "label", "options", "n", "estimate", "low", "high", "level", "method", "p_value",
    "p_adjusted", "baseline", "better", "aspect", "undefined", "signature",
)  # fmt: skip


# Settings of an outcome by name: tokenizer, encoder, distances, interval, test, resamples, seed, version.
Settings = Mapping[str, str | int | tuple[str, ...]]


def settings_of(plan: Plan, **values: str | int | Iterable[str] | None) -> Settings:
    """The settings of an outcome: the values that apply, the plan's resamples and seed, and the version.

    Equal values are listed once, and one value alone is no tuple.

    >>> known = settings_of(Plan(n_resamples=99), tokenizer="words", encoder=None, test=["permutation", "permutation"])
    >>> {name: value for name, value in known.items() if name != "version"}
    {'tokenizer': 'words', 'test': 'permutation', 'resamples': 99, 'seed': 0}
    """
    found: dict[str, str | int | tuple[str, ...]] = {}
    resampling = {"resamples": plan.n_resamples} | ({"seed": plan.seed} if plan.n_resamples else {})
    for name, value in (values | resampling | {"version": __version__}).items():
        several = (value,) if isinstance(value, str | int) else tuple(dict.fromkeys(value or ()))
        if several:
            found[name] = several if len(several) > 1 else several[0]
    return found


def settings_of_metrics(
    plan: Plan, requests: Sequence[Request], views: ViewSettings, *, tested: bool = True, **values: Any
) -> Settings:
    """The settings of an outcome that measured these metrics on samples: `values`, then what the metrics use."""
    read = {name: value for request in requests for name, value in setting_fields(views, request.metric.views).items()}
    resampled = [request.metric for request in requests] if plan.n_resamples else []
    return settings_of(
        plan,
        **values,
        tokenizer=read.get("tok"),
        encoder=read.get("enc"),
        strip=views.strip,
        interval=[metric.interval for metric in resampled if metric.interval],
        test=[metric.test for metric in resampled if metric.test and tested],
    )


def plain_settings(settings: Settings) -> dict[str, Any]:
    """The settings as plain values for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


def read_settings(details: Mapping[str, Any]) -> Settings:
    """The settings among the details of a JSON file."""
    plain = details.get("settings", {})
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


def label_of(result: Result) -> str:
    """The label of a result as tables print it: metric, order of n-grams, and options other than the default."""
    metric = all_metrics().get(result.metric)
    return result.metric if metric is None else label_under(metric.under(result.options), result.options)


# A representation with more characters is cut.
_LONGEST_REPR = 160


class ResultColumn:
    """Results of one candidate, looked up by metric: `column["mauve"]`, or by label: `column["bleu-4"]`."""

    name: str
    results: tuple[Result, ...]
    # Results at the size at which the baseline could be measured, by label; empty if nothing was measured again.
    at_baseline_size: Mapping[str, Result] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass keeps the representation that its class has: all fields would fill pages.
        if "__repr__" not in vars(cls):
            cls.__repr__ = ResultColumn.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        values = ", ".join(f"{label_of(result)} {result.estimate:.4g}" for result in self.results)
        return shortened(f"{type(self).__name__}({self.name}: {values})", _LONGEST_REPR)

    def beside_real(self, label: str, result: Result) -> Result:
        """The result to set beside the baseline: of the same size if there is one."""
        return self.at_baseline_size.get(label, result)

    def __getitem__(self, metric: str) -> Result:
        """The result of a metric, by its name or, where it was measured with several options, by its label."""
        by_label = [result for result in self.results if label_of(result) == metric]
        found = by_label or [result for result in self.results if result.metric == metric]
        if len(found) != 1:
            names = ", ".join(label_of(result) for result in self.results)
            raise KeyError(f"{metric!r} names {len(found)} results; there are: {names}")
        return found[0]


# The function of `textassay.report` that renders a document, by form: its module and its name.
_RENDERERS = {"html": "page", "markdown": "text", "notebook": "fragment", "terminal": "render"}


class Outcome(ABC):
    """The outcome of a study.

    `kind` is the name of the study, `document_module` the module beside it that makes its document. `labels` are the
    names of the metrics as tables print them, one per result of a column. `settings` are what the numbers were measured
    with; what does not apply to a study is left out, and older files have none.
    """

    kind: ClassVar[str]
    document_module: ClassVar[str] = "document"
    csv_fields: ClassVar[Sequence[str]] = FRAME_COLUMNS
    labels: tuple[str, ...]
    level: float
    notes: tuple[str, ...]
    settings: Settings

    @property
    @abstractmethod
    def columns(self) -> Sequence[ResultColumn]:
        """The candidates with their results, in order."""

    @property
    def baseline(self) -> Sequence[Result]:
        """What real text scores on each metric, in the order of the results; empty if it was not measured."""
        return ()

    def adjusted_p_values(self, column: ResultColumn) -> Sequence[float]:
        """The adjusted p-values of a column's results, in order; NaN without a test."""
        return [math.nan] * len(column.results)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the candidates."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Any:
        """A candidate by name, as in `found["a"]["mauve"].estimate`."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"no candidate {name!r}; there are: {', '.join(self.names)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form as plain values: every field by its name, unless a study has a form of its own."""
        return {"textassay": __version__, **to_fields(self)}

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        return from_fields(cls, plain)

    def to_json(self, *, indent: int | None = 2, timings: bool = True) -> str:
        """JSON text without NaN or Infinity; without `timings`, the same run gives the same bytes."""
        plain = self.to_dict()
        if not timings:
            _clear_timings(plain)
        text = json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)
        # They occur in strings only, where JSON has an escape for them.
        return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through JSON, so that a copy equals its original: unpickling alone would make new NaN objects.
        return type(self).from_json, (self.to_json(indent=None),)

    def __hash__(self) -> int:
        return hash((self.kind, *(result for column in self.columns for result in column.results)))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` returned."""
        try:
            found = cls._from_dict(plain)
            check_shape(found, cls)
        except _READ_ERRORS as error:
            raise cls._unreadable(error) from None
        return found

    def check_fields(self) -> None:
        """Raise an error unless there is a column, and every column and the baseline have a result for every label."""
        columns = self.columns
        results = [len(column.results) for column in columns]
        tests = [len(self.adjusted_p_values(column)) for column in columns]
        for n in {*results, *tests, len(self.baseline) or len(self.labels)}:
            if n != len(self.labels):
                raise ValueError(f"{n} results for {len(self.labels)} labels")
        if len(set(self.names)) < max(len(columns), 1):
            raise ValueError("no column, or two of one name")
        resamples = self.settings.get("resamples", 0)
        if isinstance(resamples, int) and resamples < 0:
            raise ValueError("a negative number of resamples")

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote; equal to what was written."""
        try:
            plain = decode_json(text, "the text")
        except _READ_ERRORS as error:
            raise cls._unreadable(error) from None
        return cls.from_dict(plain)

    @classmethod
    def _unreadable(cls, error: Exception) -> InputError:
        reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return InputError(f"not the JSON of textassay {cls.kind} ({shortened(reason)}); wanted what to_json wrote")

    def document(self) -> Document:
        """What the outcome states, as data that every form of a report renders."""
        home = type(self).__module__.rpartition(".")[0]
        found: Document = import_module(f"{home}.{self.document_module}").document(self)
        return found

    @property
    def summary(self) -> Any:
        """The answer as a pandas data frame: one row per candidate (or system, setting, metric), the best first.

        Columns are the rank, the name, the decision and its grade, the columns of the answer as a terminal prints them,
        and what stands out. `to_frame` has all numbers.
        """
        answer = self.document().summary
        fields = ("rank", answer.noun, "decision", "grade", *answer.columns, "stands_out")
        rows = (
            {"rank": row.rank, answer.noun: row.name, "decision": row.decision, "grade": row.grade}
            | {
                head: f"{cell.text} {cell.spread}".strip()
                for head, cell in zip(answer.columns, row.cells, strict=False)
            }
            | {"stands_out": row.stands_out}
            for row in answer.rows
        )
        return data_frame(rows, fields)

    def to_html(self) -> str:
        """The report as one self-contained HTML page."""
        return str(self._rendered("html"))

    def to_markdown(self, *, top: int = 5) -> str:
        """The answer, tables and notes as Markdown; of a list of items the first `top`."""
        return str(self._rendered("markdown", top=top))

    def plot(self, section: str = "") -> Any:
        """The picture of the answer, or the charts of a section of the report, which a notebook shows.

        Parameters
        ----------
        section : str
            The title of a section that has charts. Without it, the picture of the answer.

        Returns
        -------
        Picture
            `svg` is the drawing as text, `save(path)` writes it to a file.
        """
        title, plots = chosen_plots(self.document(), section)
        return _renderers("picture").picture(plots, title=title)

    def to_csv(self) -> str:
        """All numbers as CSV with a header."""
        return str(_renderers("tables").csv_text(self.csv_fields, self.csv_rows()))

    def to_latex(self) -> str:
        """The tables of metrics and candidates with their intervals, in the style of booktabs, for a paper."""
        return str(_renderers("tables").latex(self.document(), self.metrics_used))

    def to_bibtex(self) -> str:
        """The sources of the metrics, as BibTeX entries."""
        return str(_renderers("tables").bibtex(self.metrics_used))

    @property
    def metrics_used(self) -> tuple[str, ...]:
        """The names of the metrics that were measured."""
        results = [*self.baseline, *(result for column in self.columns for result in column.results)]
        return tuple(dict.fromkeys(result.metric for result in results))

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_csv` as plain values, with None for what is not a number; `csv_fields` are their names."""
        return self._frame_rows()

    def to_frame(self) -> Any:
        """A pandas data frame with one row per candidate and metric.

        `baseline` is what real text scores on the same metric, `p_adjusted` the p-value after correction for all tests
        of the table.
        """
        return data_frame(self._frame_rows(), FRAME_COLUMNS)

    def to_pandas(self) -> Any:
        """The same as `to_frame`."""
        return self.to_frame()

    def _frame_rows(self) -> Iterator[dict[str, Any]]:
        baseline = self.baseline
        for column in self.columns:
            adjusted = self.adjusted_p_values(column)
            for index, (label, result, p) in enumerate(zip(self.labels, column.results, adjusted, strict=True)):
                real = baseline[index].estimate if baseline else math.nan
                own = {"candidate": column.name, "label": label, "p_adjusted": known(p), "baseline": known(real)}
                yield plain_row(result) | own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.names)}: {', '.join(self.labels)})"

    def _repr_html_(self) -> str:
        return str(self._rendered("notebook"))

    def __str__(self) -> str:
        document = self.document()
        summary = replace(document.summary, hints=_PYTHON_HINTS if document.summary.hints else ())
        in_python = replace(document, summary=summary)
        return plain_text(_renderers("terminal").render(in_python, width=_PLAIN_WIDTH))

    def in_terminal(self, *, width: int, height: int | None = None, **view: Any) -> Any:
        """What a terminal shows, for Rich: the answer, and what `table`, `why` and `top` add to it."""
        return self._rendered("terminal", width=width, height=height, **view)

    def _rendered(self, form: str, **view: Any) -> Any:
        """The outcome in this form of a report."""
        return getattr(_renderers(form), _RENDERERS[form])(self.document(), **view)


def chosen_plots(document: Document, section: str = "") -> tuple[str, list[Plot]]:
    """The plots of a section, by its title or id, or else the picture of the answer; with their title."""
    charts = {
        each: [block.plot for block in walk(each.blocks) if isinstance(block, Chart)] for each in document.sections
    }
    for each, plots in charts.items():
        if plots and section.lower() in (each.title.lower(), each.id):
            return each.title, plots
    picture = document.summary.picture
    if not section and picture is not None:
        return picture.title, [picture]
    names = [f"'{each.title}'" for each, plots in charts.items() if plots]
    wanted = ", ".join(names) or "no section: none has charts"
    raise InputError(f"section={shortened(section)!r}: no charts; wanted {wanted}")


def _renderers(form: str) -> Any:
    """The module of `textassay.report` for this form: the one step from an outcome to its rendering."""
    return import_module(f"textassay.report.{form}")


_PLAIN_WIDTH = 100
# Where the rest is, in place of the options of a command.
_PYTHON_HINTS = ("All numbers: to_frame()", "Charts: plot()", "Report: to_html()")


def plain_text(rendered: Any) -> str:
    """What a terminal without colours would show, without trailing spaces."""
    from io import StringIO

    from rich.console import Console

    # In a notebook, Rich would also display what is captured here.
    console = Console(
        file=StringIO(), width=_PLAIN_WIDTH, color_system=None, highlight=False, emoji=False, markup=False,
        force_jupyter=False,
    )  # fmt: skip
    with console.capture() as capture:
        console.print(rendered)
    return "\n".join(line.rstrip() for line in printable_lines(capture.get()).splitlines())


def plain_row(result: Result) -> dict[str, Any]:
    """A result as plain values for a row of a table, with None for what is not a number."""
    interval = result.interval
    return {
        "n": result.n,
        "metric": result.metric,
        "options": " ".join(f"{name}={value}" for name, value in result.options.items()),
        "estimate": known(result.estimate),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "method": interval.method if interval else None,
        "p_value": result.p_value,
        "better": result.better,
        "aspect": result.aspect,
        "undefined": result.undefined,
        "signature": result.signature,
    }


def known(value: float) -> float | None:
    """The value, or None for NaN."""
    return None if math.isnan(value) else value


def _clear_timings(plain: Any) -> None:
    """Set the seconds of all results to None."""
    if isinstance(plain, dict):
        if "seconds" in plain and "signature" in plain:
            plain["seconds"] = None
        plain = list(plain.values())
    if isinstance(plain, list):
        for value in plain:
            _clear_timings(value)


def data_frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """A pandas data frame of these rows."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("pandas is not installed; get it with: pip install pandas") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
