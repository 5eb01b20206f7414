"""The document of a sweep: which setting is closest to the reference, the best ones of each metric, and all values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from textassay.corpus.printable import many, shortened
from textassay.document.blocks import (
    REAL,
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Notes,
    Row,
    Section,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Plot
from textassay.document.results import (
    ARROWS,
    ASPECTS,
    COMMON_SETTINGS,
    Unit,
    better_legend,
    better_words,
    cell_text,
    interval_legend,
    metric_guide,
    result_cell,
    setting_pairs,
    signature_section,
    unit_of,
)
from textassay.document.words import level_text, listed, listed_some, number, p_text, sentence
from textassay.inference.items.means import METHOD
from textassay.inference.result import Result
from textassay.studies.finding import Finding
from textassay.studies.planes import falls, plane_indexes
from textassay.studies.sentences import brief, sentence_of
from textassay.studies.sweep.best import Best
from textassay.studies.sweep.plots import REAL_NAME, beside_real, drawable, metric_plot, plane_chart
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.verdict import COMBINED, decision_of, decisive, mean_places, settings_text

# Behind the values of settings that cannot be distinguished from the best one.
AMONG = "•"
_SETTINGS = {"model": "Model", "oracle": "Oracle", "prompts": "Prompts", "tokenizer": "Tokenizer", "encoder": "Encoder"}


def document(found: Sweep) -> Document:
    """What a sweep states."""
    plane = plane_chart(found)
    guide = metric_guide(found.real.results, target="real text")
    return Document(
        kind="sweep",
        title=f"Sweep against {shortened(found.reference.name, 40)}",
        summary=_summary(found),
        sections=sections_of(
            Section("best", "Best settings", (Notes(found.verdict.reasons), _best_table(found)), "table"),
            Section("plane", "Quality and diversity", (Text((_PLANE,)), plane)) if plane else None,
            Section("metrics", "Metric by metric", (Text((_METRICS,)), *_metric_charts(found))),
            Section("values", "All settings", (_value_table(found),), "table"),
            Section(
                "reading",
                "How to read this",
                (Text(_reading(found)), guide),
            ),
            Section("settings", "Settings", (_facts(found),)),
            signature_section(
                (column.name, result.signature) for column in (found.real, *found.swept) for result in column.results
            ),
        ),
        names=found.names,
        real=REAL_NAME,
        level=found.level,
        notes=found.notes,
    )


def _summary(found: Sweep) -> Summary:
    what = "checkpoint" if 1 < len(found.models) == len(found.swept) else "decoding setting"
    name = shortened(found.reference.name, 60)
    reference = "the reference" if name == "reference" else name if name == "references" else f"“{name}”"
    models = shortened(found.models[0], 60) if len(found.models) == 1 else many(len(found.models), "model")
    sizes = f"{many(len(found.swept), 'setting')}, {found.swept[0].n:,} texts each"
    metrics = _shown_metrics(found)
    return Summary(
        question=f"Which {what} is closest to {reference}?",
        context=f"{models}; {sizes}",
        reading="".join(_axes(metrics)),
        sentence=sentence("; ".join(map(brief, _found(found, *_ANSWER))) or found.verdict.reasons[0]),
        columns=("among best", *(metric.title for metric in metrics)),
        rows=tuple(_ranked_rows(found, metrics)),
        # One setting alone among the best is the best one, which the sentence names.
        ties=tuple(sentence(sentence_of(each)) for each in _found(found, *_TIES) if len(each.names) != 1),
        caveats=tuple(sentence(sentence_of(each)) for each in _found(found, "best at an end")),
        hints=("All settings and metrics: --table", "Report: --report FILE.html"),
        picture=_picture(found),
        noun="setting",
    )


# The findings of the summary's sentence, and those below its rows.
_ANSWER = ("closest settings", "alike settings", "every setting differs", *COMBINED, "some untested", "no test")
_TIES = ("among the best", "different best settings")


def _found(found: Sweep, *kinds: str) -> tuple[Finding, ...]:
    """The findings of these kinds."""
    return tuple(finding for finding in found.verdict.findings if finding.kind in kinds)


@dataclass(frozen=True)
class _Shown:
    """A metric of the summary: its place, label and unit. One of an `aspect` is shown beside real text."""

    place: int
    label: str
    unit: Unit
    aspect: str

    @property
    def title(self) -> str:
        """The head of its column."""
        return self.aspect or self.unit.behind(self.label)


def _axes(metrics: Sequence[_Shown]) -> Iterator[str]:
    """What the columns of quality and diversity are."""
    axes = [f"{metric.aspect} is {metric.unit.behind(metric.label)}" for metric in metrics if metric.aspect]
    if axes:
        yield f"{listed(axes)}, beside real text"


def _shown_metrics(found: Sweep) -> list[_Shown]:
    """At most three metrics: the first of both aspects, and the axes of the plane."""
    results = drawable(found)
    both = [("", index) for index, result in results.items() if result.aspect == "both"][:1]
    axes = zip(("quality", "diversity"), plane_indexes(results) or (), strict=False)
    shown = []
    for aspect, index in (*both, *axes):
        shown.append(_Shown(index, shortened(found.labels[index], 24), _unit(found, index), aspect))
    return shown


def _unit(found: Sweep, place: int) -> Unit:
    """The unit of a metric: the same for all settings and real text."""
    return unit_of(column.results[place].estimate for column in (found.real, *found.swept))


def _ranked_rows(found: Sweep, metrics: Sequence[_Shown]) -> Iterator[SummaryRow]:
    """The settings, those with the best mean place by the metrics that decide first."""
    places = mean_places(found.swept, found.best)
    order = sorted(found.swept, key=lambda column: places.get(column.name, math.inf))
    counted = decisive(found.swept, found.best)
    for column in order:
        among = [best for best in counted if column.name in best.among]
        yield SummaryRow(
            column.name,
            found.names.index(column.name),
            decision_of(found, column),
            rank=_rank(places, column.name),
            cells=(
                Cell(f"{len(among)} of {len(counted)}", len(among)),
                *(_summary_cell(found, column, metric) for metric in metrics),
            ),
            stands_out="; ".join(_best_at(found, column)),
        )


def _rank(places: Mapping[str, float], name: str) -> int | None:
    """The rank by mean place; equal ones share it."""
    return 1 + sum(place < places[name] for place in places.values()) if name in places else None


_BEST_AT = {"both": "closest by", "quality": "best quality by", "diversity": "best diversity by"}


def _best_at(found: Sweep, column: SettingColumn) -> Iterator[str]:
    """What a setting is best at, one phrase per aspect."""
    for aspect, words in _BEST_AT.items():
        both = zip(found.best, found.real.results, strict=True)
        labels = [best.label for best, real in both if real.aspect == aspect and best.setting == column.name]
        if labels:
            yield f"{words} {listed_some([shortened(label, 30) for label in labels], 2)}"


def _summary_cell(found: Sweep, column: SettingColumn, metric: _Shown) -> Cell:
    """The value of a metric of both aspects; of one aspect, how much more there is than in real text."""
    real, result = found.real.results[metric.place], beside_real(found, column, metric.place)
    cell = result_cell(result, level=found.level, unit=metric.unit)
    gap = result.estimate - real.estimate
    if not metric.aspect or not math.isfinite(gap):
        return cell
    gap *= -metric.unit.factor if falls(real) else metric.unit.factor
    target = cell_text(result_cell(real, level=found.level, unit=metric.unit))
    sign = "+" if gap > 0 else ""
    return Cell(f"{sign}{number(gap)}", gap, detail=f"{cell_text(cell)}; {REAL_NAME} {target}")


def _best_table(found: Sweep) -> Table:
    heads = ("best", "value", REAL_NAME, "not distinguishable from the best")
    return Table(
        (Head("metric"), *(Head(head, numeric=at in (1, 2)) for at, head in enumerate(heads))),
        tuple(_best_row(found, best, index) for index, best in enumerate(found.best)),
    )


def _best_row(found: Sweep, best: Best, place: int) -> Row:
    real = found.real.results[place]
    unit = _unit(found, place)
    at_best = found[best.setting].results[place] if best.setting else None
    candidate = found.names.index(best.setting) if best.setting else None
    return Row(
        (
            Cell(unit.behind(f"{shortened(best.label, 60)} {ARROWS[real.better]}")),
            Cell(best.setting or "–", candidate=candidate),
            result_cell(at_best, level=found.level, unit=unit) if at_best else Cell("–"),
            result_cell(real, level=found.level, unit=unit),
            Cell(among_text(found, best)),
        ),
        section=ASPECTS[real.aspect],
    )


def among_text(found: Sweep, best: Best) -> str:
    """The other settings that cannot be distinguished from the best one, and those that were not compared, in words."""
    names = list(found.names)
    if not best.setting:
        return "–"
    if best.unknown and len(best.among) == 1:
        return "not compared: no interval"
    others = [name for name in best.among if name != best.setting]
    shown = settings_text(others, names) if others else "none"
    return f"{shown}; without interval: {settings_text(best.unknown, names)}" if best.unknown else shown


def _value_table(found: Sweep) -> Table:
    tested = any(_overall_text(found, column) for column in found.swept)
    units = [_unit(found, index) for index in range(len(found.labels))]
    labels = [unit.behind(shortened(label, 60)) for unit, label in zip(units, found.labels, strict=True)]
    heads = [Head("setting"), *(Head(label, numeric=True) for label in labels)]
    rows = [_value_row(found, index, units, tested=tested) for index in range(len(found.swept))]
    real = (Cell(REAL_NAME, candidate=REAL), *_cells(found, found.real.results, units))
    return Table(
        (*heads, *([Head("overall p", numeric=True)] if tested else [])),
        (*rows, Row((*real, *([Cell("")] if tested else [])))),
        footnotes=tuple(_legend(found, tested=tested)),
    )


def _cells(found: Sweep, results: Sequence[Result], units: Sequence[Unit]) -> list[Cell]:
    both = zip(results, units, strict=True)
    return [result_cell(result, level=found.level, unit=unit) for result, unit in both]


def _value_row(found: Sweep, place: int, units: Sequence[Unit], *, tested: bool) -> Row:
    column = found.swept[place]
    cells = zip(found.best, _cells(found, column.results, units), strict=True)
    shown = [replace(c, text=f"{c.text}{AMONG}") if column.name in best.among else c for best, c in cells]
    overall = [Cell(_overall_text(found, column), _overall_p(column))] if tested else []
    return Row((Cell(column.name, candidate=place), *shown, *overall))


def _overall_p(column: SettingColumn) -> float:
    return math.nan if column.overall is None or column.overall.adjusted is None else column.overall.adjusted


def _overall_text(found: Sweep, column: SettingColumn) -> str:
    """The adjusted p-value of the overall test; empty without one."""
    resamples, adjusted = found.settings.get("resamples", 0), _overall_p(column)
    floor = 1 / (resamples + 1) if isinstance(resamples, int) and resamples else 0.0
    return "" if math.isnan(adjusted) else p_text(adjusted, floor=floor)


def _legend(found: Sweep, *, tested: bool) -> Iterator[str]:
    results = [result for column in found.swept for result in column.results]
    over_items = any(result.interval is not None and result.interval.method == METHOD for result in results)
    of = "the mean over items" if over_items else "the expected value at this sample size"
    yield from interval_legend(results, found.level, of=of)
    if any(len(best.among) > 1 for best in found.best):
        yield (
            f"{AMONG} not distinguishable from the best setting: with at least {level_text(found.level)} probability"
            " the truly best one is among these (each metric by itself)"
        )
    if tested:
        yield (
            "overall p: the overall test of a difference from the reference, adjusted for"
            f" {many(len(found.swept), 'setting')}"
        )
    yield better_legend(results, target="the value of real text")


def _facts(found: Sweep) -> Facts:
    sizes = [
        ("Reference", f"{shortened(found.reference.name, 60)}, {found.reference.n:,} texts"),
        ("Texts per setting", f"{found.swept[0].n:,}"),
    ]
    return Facts((*sizes, *setting_pairs(found.settings, _SETTINGS | COMMON_SETTINGS)))


def _metric_charts(found: Sweep) -> Iterator[Block]:
    """One chart per metric under the title of its aspect."""
    for aspect, title in ASPECTS.items():
        places = [index for index, real in enumerate(found.real.results) if real.aspect == aspect]
        if places:
            yield Text((f"{title}:",))
            yield from (_metric_chart(found, index) for index in places)


def _metric_chart(found: Sweep, place: int) -> Chart:
    real = found.real.results[place]
    better = better_words(real.better, target="real text")
    return Chart(
        metric_plot(found, place), f"{ARROWS[real.better]} {better}", tuple(map(sentence, _remarks(found, place)))
    )


def _remarks(found: Sweep, place: int) -> Iterator[str]:
    best, real, whole = found.best[place], found.real.results[place], found.swept[0].n
    among = among_text(found, best)
    if best.setting and any(column.results[place].interval for column in found.swept):
        shown = "no other setting" if among == "none" else among
        yield f"Best: {best.setting}; not distinguishable from it: {shown}"
    drawn = beside_real(found, found.swept[0], place).n
    if drawn != whole:
        yield f"All drawn at n = {drawn:,}, the largest size of {REAL_NAME}; the table has n = {whole:,}"
    elif math.isfinite(real.estimate) and real.n != whole:
        yield f"Real text has n = {real.n:,}, settings n = {whole:,}; the value may depend on the size"
    missing = [c.name for c in found.swept if not math.isfinite(beside_real(found, c, place).estimate)]
    if missing:
        yield f"No value at {', '.join(missing[:6])}{' and others' if len(missing) > 6 else ''}"


def _picture(found: Sweep) -> Plot | None:
    """The first metric of both aspects over the settings: its best setting is the answer."""
    results = drawable(found)
    both = [place for place, result in results.items() if result.aspect == "both"]
    return metric_plot(found, next(iter(both or results))) if results else None


_PLANE = (
    "The line joins the settings. A setting that is as good as real text in both respects would be inside the ring,"
    " where the lines of real text cross. A low temperature exchanges diversity for quality."
)
_METRICS = (
    "The star is the best setting. The band around the line is the interval at each setting. The dashed line is real"
    " text: against real text for metrics that compare two samples, and by itself for metrics that describe one."
)


def _reading(found: Sweep) -> tuple[str, ...]:
    return (
        "Ranking: by the mean place of a setting among all settings, over the metrics of quality and diversity at once"
        " (over all metrics if there is none). Quality and diversity in the first table are how much more a setting has"
        " than real text: 0 is as real text. Among best: by how many of these metrics a setting is not distinguishable"
        " from the best.",
        "Not distinguishable from the best: the setting with the best value need not be the best setting, because each"
        " value is measured on a sample. A setting is left out only if another one is better than it by more than"
        " chance explains. The settings that remain contain the truly best one with a probability of at least"
        f" {level_text(found.level)}, for each metric by itself (multiple comparisons with the best, with Bonferroni's"
        " correction; standard errors by the jackknife, with the same reference texts for all settings).",
        "Which metric decides: quality alone is best for a model that repeats its safest texts, and diversity alone"
        " for noise. Metrics of both at once compare whole distributions. They may still prefer different settings; at"
        " small sample sizes, metrics that count common phrases, such as MS-Jaccard, prefer lower temperatures than"
        " metrics that estimate a distance.",
        "Real v real is what real text scores against real text at this sample size, or by itself. No setting should"
        " be expected to be better.",
    )
