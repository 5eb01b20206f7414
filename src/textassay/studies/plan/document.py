"""The document of a plan: the number of texts, the predicted shares of decisions by size, and the trials."""

from textassay.corpus.printable import many, share, shortened
from textassay.document.blocks import (
    Cell,
    Chart,
    Document,
    Facts,
    Head,
    Row,
    Section,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Line, Marks, Plot, Point, Scale, rule
from textassay.document.results import COMMON_SETTINGS, setting_pairs
from textassay.document.words import level_text, sentence
from textassay.studies.plan.result import SizePlan
from textassay.studies.sentences import DEFAULT_CONTAMINANT, sentence_of

_CAUTIONS = ("extrapolated size", "margin below spread")


def document(found: SizePlan) -> Document:
    """What a plan states."""
    return Document(
        kind="plan",
        title=f"Texts for a gate at {share(found.margin)}",
        summary=_summary(found),
        sections=sections_of(
            Section("trials", "Trials", (_trials(found),), "table"),
            Section("curve", "Decisions by number of texts", (_chart(found),)),
            Section("reading", "How to read this", (Text(_READING),), "why"),
            Section("settings", "Settings", (Facts(_facts(found)),)),
        ),
        names=found.names,
        level=found.level,
        notes=found.notes,
    )


_READING = (
    "A trial draws two samples of texts and decides as a gate would. The sizes of the trials approach the planned"
    " number; shares at other sizes follow from the spread of the trials and the learning curve of the classifier.",
    "The plan holds for texts like these. A gate on other texts may need more, or fewer.",
)


def _summary(found: SizePlan) -> Summary:
    plural = f"{found.unit}s"
    name = shortened(found.reference, 60)
    between = f"two samples of “{name}”" if not found.pilot else f"“{shortened(found.pilot, 60)}” and “{name}”"
    said = [finding for finding in found.verdict.findings if finding.kind not in _CAUTIONS]
    cells = (
        Cell("–" if found.needed is None else f"{found.needed:,}", found.needed),
        Cell(f"{found.available:,}", found.available),
    )
    return Summary(
        question=f"How many {plural} does a gate at {share(found.margin)} need?",
        context=f"{between}, power {share(found.power)}",
        sentence=sentence(sentence_of(said[0])),
        columns=(f"{plural} per sample", "drawn at most"),
        rows=(SummaryRow(found.columns[0].name, 0, found.verdict.decision, cells=cells),),
        caveats=tuple(sentence(sentence_of(one)) for one in found.verdict.findings if one.kind in _CAUTIONS),
        ties=tuple(sentence(sentence_of(one)) for one in said[1:]),
        hints=("Trials: --table", "Report: --report FILE.html"),
        picture=_chart(found).plot,
        noun="claim",
    )


def _trials(found: SizePlan) -> Table:
    heads = tuple(
        Head(text, numeric=True)
        for text in (f"{found.unit}s per sample", "trials", "passed", "failed", "contaminant found", "width of bound")
    )
    rows = tuple(
        Row(
            (
                Cell(f"{each.n:,}", each.n),
                Cell(f"{each.n_trials:,}", each.n_trials),
                *(Cell(share(value), value) for value in (each.passed, each.failed, each.found, each.width)),
            )
        )
        for each in found.rounds
    )
    return Table(heads, rows)


def _chart(found: SizePlan) -> Chart:
    lines = [Line(tuple((float(each.n), each.passed) for each in found.curve), candidate=0, name="pass", marked=False)]
    if any(each.failed > 0.05 for each in found.curve):
        points = tuple((float(each.n), each.failed) for each in found.curve)
        lines.append(Line(points, candidate=1, name="fail", marked=False))
    measured = Marks(
        tuple(
            Point(float(each.n), each.passed, tone="quiet", detail=many(each.n_trials, "trial"))
            for each in found.rounds
        ),
        "trials",
    )
    plot = Plot(
        "Decisions by number of texts",
        Scale(f"{found.unit}s per sample", log=True),
        Scale("share of gates", limits=(0.0, 1.0), percent=True),
        (*lines, rule("y", found.power, "power"), measured),
        summary=sentence(sentence_of(found.verdict.findings[0])),
    )
    return Chart(plot)


def _facts(found: SizePlan) -> tuple[tuple[str, str], ...]:
    own = (
        ("Margin", share(found.margin)),
        ("Contaminant", shortened(found.contaminant, 80) or DEFAULT_CONTAMINANT),
        ("Level", level_text(found.level)),
    )
    terms = {"tokenizer": "Tokenizer", "strip": "Markup removed", **COMMON_SETTINGS}
    return (*own, *setting_pairs({k: v for k, v in found.settings.items() if k != "resamples"}, terms))
