"""The document of several models in the plane of HUSE-D and HUSE-Q."""

import math
from collections.abc import Iterator

from textassay.corpus.printable import shortened
from textassay.document.blocks import (
    Cell,
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
from textassay.document.plot import Area, Marks, Plot, Point, Scale
from textassay.document.results import COMMON_SETTINGS, ends, setting_pairs, signature_section
from textassay.document.words import level_text, listed, p_text, sentence, two_decimals
from textassay.inference.result import Result
from textassay.studies.huse.plane import HusePlane, PlaneModel
from textassay.studies.huse.result import titled

_SETTINGS = {"interval": "Intervals", "test": "Tests", **COMMON_SETTINGS}


def document(found: HusePlane) -> Document:
    """What the plane of several models states."""
    return Document(
        kind="HUSE plane",
        title=f"HUSE of {len(found.models)} models",
        summary=_summary(found),
        sections=sections_of(
            Section("models", "Models", (_table(found),), "table"),
            Section("reading", "How to read this", (Text(_READING),)),
            Section("settings", "Settings", (Facts(setting_pairs(found.settings, _SETTINGS)),)),
            signature_section((model.name, result.signature) for model in found.models for result in model.results),
        ),
        names=found.names,
        real="people",
        level=found.level,
        notes=found.notes,
    )


def _summary(found: HusePlane) -> Summary:
    ahead = [shortened(model.name, 40) for model in found.models if not model.dominated]
    behind = [shortened(model.name, 40) for model in found.models if model.dominated]
    dominated = f"; another model is at least as high in both: {listed(behind)}" if behind else ""
    reasons = {model.verdict.reasons[:3] for model in found.models}
    # What is true of every model is said once.
    common = next(iter(reasons)) if len(reasons) == 1 and len(found.models) > 1 else ()
    order = sorted(found.models, key=_loss)
    return Summary(
        question="Which of these models are ahead in quality and diversity?",
        context=f"HUSE of {len(found.models)} models",
        sentence=sentence(f"ahead: {listed(ahead)}{dominated}"),
        columns=(*map(titled, found.labels), "p"),
        rows=tuple(
            SummaryRow(
                model.name,
                found.names.index(model.name),
                model.verdict.decision,
                rank=1 + sum(_loss(other) < _loss(model) for other in found.models)
                if _loss(model) < math.inf
                else None,
                cells=tuple(_cells(model)),
                stands_out="dominated by another model" if model.dominated else "",
                why=() if common else model.verdict.reasons[:3],
            )
            for model in order
        ),
        caveats=tuple(map(sentence, common)),
        hints=("Table of scores: --table", "Report: --report FILE.html"),
        picture=plane_plot(found),
        noun="model",
    )


def _loss(model: PlaneModel) -> float:
    """Less is better: minus HUSE."""
    huse = model["huse"].estimate
    return math.inf if math.isnan(huse) else -huse


def _cells(model: PlaneModel) -> Iterator[Cell]:
    yield from map(_score_cell, model.results)
    p = [result.parts["adjusted"] for result in model.results if "adjusted" in result.parts]
    yield Cell(p_text(p[0]), p[0]) if p else Cell("–")


def _score_cell(result: Result) -> Cell:
    known = ends(result)
    spread = f"[{two_decimals(known[0])}, {two_decimals(known[1])}]" if known else ""
    return Cell(two_decimals(result.estimate), result.estimate, spread)


def _table(found: HusePlane) -> Table:
    heads = [Head(head, numeric=True) for head in (*map(titled, found.labels), "p")]
    return Table(
        (Head("model"), *heads, Head("dominated"), Head("verdict")),
        tuple(
            Row(
                (
                    Cell(model.name, candidate=index),
                    *_cells(model),
                    Cell("yes" if model.dominated else "no"),
                    Cell(model.verdict.sentence),
                )
            )
            for index, model in enumerate(found.models)
        ),
        footnotes=tuple(_legend(found)),
    )


def _legend(found: HusePlane) -> Iterator[str]:
    yield (
        "HUSE is 1 if people and model are indistinguishable and 0 if they can always be distinguished; "
        "HUSE = HUSE-Q + HUSE-D - 1"
    )
    yield "dominated: the estimates of HUSE-Q and HUSE-D of another model are at least as high"
    if any(result.interval for model in found.models for result in model.results):
        yield f"[ ]: {level_text(found.level)} interval over items and raters; p: corrected for all models"


def plane_plot(found: HusePlane) -> Plot:
    """HUSE-D across, HUSE-Q up, models by name, and the dominated region."""
    known = [(index, model) for index, model in enumerate(found.models) if all(map(math.isfinite, model.point))]
    points = tuple(_point(index, model) for index, model in known)
    region = (Area((*found.boundary, (0.0, 0.0)), tone="quiet", name="dominated region"),) if found.boundary else ()
    return Plot(
        "Models in the plane of diversity and quality",
        Scale("HUSE-D (diversity)", better="higher"),
        Scale("HUSE-Q (quality)", better="higher"),
        (*region, Marks(points)),
        summary="; ".join(point.detail for point in points),
        size="large",
    )


def _point(index: int, model: PlaneModel) -> Point:
    diversity, quality = model.point
    name = shortened(model.name, 40)
    detail = f"{name}: HUSE-D {two_decimals(diversity)}, HUSE-Q {two_decimals(quality)}"
    return Point(diversity, quality, ends(model["huse_d"]), ends(model["huse_q"]), index, name, detail)


_READING = (
    "In the plane, models further up have texts that people rate like human texts; models further to the right write"
    " what people write. The shaded region is dominated: for each point in it, a model, or a point between two models,"
    " has more HUSE at the same proportion of HUSE-D and HUSE-Q.",
)
