"""HUSE of several models in one plane of quality and diversity, with the region that they dominate (Figure 3)."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Self

from textassay.corpus.files.reading import named_paths
from textassay.corpus.files.writing import AnyPath
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.ratings.files import models_in, read_ratings
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.engines.base import Engine
from textassay.errors import InputError
from textassay.inference.p_values import holm
from textassay.inference.plan import Progress, shows_progress
from textassay.inference.rated_scores import Corrected
from textassay.inference.result import Result
from textassay.studies.finding import Verdict
from textassay.studies.huse.result import HuseResult
from textassay.studies.huse.study import DEFAULT, PAPER_K, huse
from textassay.studies.huse.verdict import judge
from textassay.studies.outcome import Outcome, ResultColumn, Settings, known, plain_row, plain_settings, read_settings
from textassay.version import __version__

Point = tuple[float, float]


@dataclass(frozen=True)
class PlaneModel(ResultColumn):
    """One model with its scores and verdict; `dominated` if another model dominates it.

    Each result has the p-value corrected for all tests of all models among its parts (`adjusted`).
    """

    name: str
    n: int
    digest: str
    results: tuple[Result, ...]
    verdict: Verdict
    dominated: bool

    @property
    def point(self) -> Point:
        """HUSE-D and HUSE-Q."""
        return self["huse_d"].estimate, self["huse_q"].estimate


CSV_FIELDS = ("model", "n", "dominated", "metric", "estimate", "low", "high", "p_value", "p_adjusted", "signature")


@dataclass(frozen=True, repr=False)
class HusePlane(Outcome):
    """Models in the plane of HUSE-D (across) and HUSE-Q (up). `boundary` is the upper edge of the dominated region.

    Below the boundary a model has less HUSE than one of the same proportion of HUSE-D and HUSE-Q on it. It joins the
    models that no other model dominates, and runs from the best HUSE-Q at HUSE-D 0 to the best HUSE-D at HUSE-Q 0.
    """

    kind: ClassVar[str] = "plane"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    document_module: ClassVar[str] = "plane_document"
    __hash__ = Outcome.__hash__

    models: tuple[PlaneModel, ...]
    boundary: tuple[Point, ...]
    labels: tuple[str, ...]
    level: float
    notes: tuple[str, ...]
    settings: Settings = field(default_factory=dict)

    @property
    def columns(self) -> tuple[PlaneModel, ...]:
        """The models."""
        return self.models

    def adjusted_p_values(self, column: ResultColumn) -> list[float]:
        """The p-values after correction for all tests of all models; NaN without a test."""
        return [result.parts.get("adjusted", math.nan) for result in column.results]

    def check_fields(self) -> None:
        """Raise an error unless every model has the three scores."""
        super().check_fields()
        for model in self.models:
            if tuple(result.metric for result in model.results) != DEFAULT:
                raise ValueError(f"a model without one of {', '.join(DEFAULT)}")

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per model and score."""
        for model in self.models:
            for result in model.results:
                plain = {name: value for name, value in plain_row(result).items() if name in CSV_FIELDS}
                adjusted = known(result.parts.get("adjusted", math.nan))
                yield plain | {"model": model.name, "dominated": model.dominated, "p_adjusted": adjusted}

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; what only this program reads is under `details`."""
        return {
            "textassay": __version__,
            "models": [
                {"name": model.name, "n": model.n, "digest": model.digest, "dominated": model.dominated}
                | {"results": [result.to_dict() for result in model.results], "verdict": model.verdict.to_dict()}
                for model in self.models
            ],
            "boundary": [{"huse_d": d, "huse_q": q} for d, q in self.boundary],
            "details": {
                "labels": list(self.labels),
                "level": self.level,
                "notes": list(self.notes),
                "settings": plain_settings(self.settings),
            },
        }

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        details = plain["details"]
        return cls(
            tuple(map(_read_model, plain["models"])),
            tuple((point["huse_d"], point["huse_q"]) for point in plain["boundary"]),
            tuple(details["labels"]),
            details["level"],
            tuple(details["notes"]),
            read_settings(details),
        )


def _read_model(plain: Mapping[str, Any]) -> PlaneModel:
    verdict = Verdict.from_dict(plain["verdict"])
    if verdict is None:
        raise ValueError("a model has no verdict")
    results = tuple(Result.from_dict(result, n=plain["n"]) for result in plain["results"])
    return PlaneModel(plain["name"], plain["n"], plain["digest"], results, verdict, plain["dominated"])


@shows_progress
def huse_plane(
    ratings: Any,
    *,
    scale: tuple[float, float] | None = None,
    k: int = PAPER_K,
    variant: str = "released",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    leave_out_flagged: bool = False,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> HusePlane:
    """Measure HUSE of several models, or of one model at several temperatures, in one plane.

    Parameters
    ----------
    ratings
        The ratings of each model by name, a list of files that are named by themselves, or a file or table with a
        column `model`. Each is read like those of `huse`.
    scale, k, variant, level, n_resamples, seed, leave_out_flagged, engine, progress
        As in `huse`. p-values are corrected for all models.

    Returns
    -------
    HusePlane
        `found["t=0.7"]["huse"]` is a result, `found["t=0.7"].dominated` whether another model is at least as good in
        quality and in diversity, and better in one of them.

    Examples
    --------
    >>> rows = [
    ...     {"source": source, "text": f"text {n}", "log_prob": -5 - n % 3, "rating": (n + 2 * (source != "human")) % 5}
    ...     for n in range(40) for source in ("human", "net")
    ... ]
    >>> found = huse_plane({"t=1": rows, "t=0.7": rows}, k=5, n_resamples=0)
    >>> found.names, found["t=1"].dominated
    (('t=1', 't=0.7'), False)
    """
    read = _read(ratings, scale)
    notes = list(_context_notes(read))
    found = {
        name: huse(
            rated,
            k=k,
            variant=variant,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            leave_out_flagged=leave_out_flagged,
            stability=False,
            engine=engine,
            progress=progress,
        )
        for name, rated in read.items()
    }
    notes += [f"{name}: {note}" for name, each in found.items() for note in each.notes]
    return _plane(found, tuple(notes))


def _read(ratings: Any, scale: tuple[float, float] | None) -> dict[str, RatedItems]:
    """The rated items of each model, by the name that it has in the plane."""
    if isinstance(ratings, Mapping):
        read = {str(name): read_ratings(given, scale=scale) for name, given in ratings.items()}
    elif (paths := _paths(ratings)) and len(paths) > 1:
        read = {name: read_ratings(path, scale=scale) for name, path in named_paths(paths).items()}
    else:
        source = paths[0] if paths else ratings
        read = {name: read_ratings(source, model=name, scale=scale) for name in models_in(source)}
    if len(read) < 2:
        raise InputError(f"{many(len(read), 'model')}; a plane needs two or more files, or a column 'model'")
    return read


def _paths(ratings: Any) -> Sequence[AnyPath]:
    """The paths in a list of nothing but paths; none of anything else."""
    is_listed = isinstance(ratings, list | tuple) and all(isinstance(each, str | os.PathLike) for each in ratings)
    return ratings if is_listed else ()


def _context_notes(read: Mapping[str, RatedItems]) -> list[str]:
    """One note per pair of models with other contexts; models without a common context are refused."""
    contexts = {
        name: {item.context for item in rated.items if item.context is not None} for name, rated in read.items()
    }
    notes = []
    for (first, ours), (second, theirs) in combinations(contexts.items(), 2):
        if not ours or not theirs or ours == theirs:
            continue
        names = quoted([shortened(first, 40), shortened(second, 40)])
        common = len(ours & theirs)
        if not common:
            raise InputError(f"models {names} have no common context; wanted ratings of texts for the same contexts")
        notes.append(
            f"models {names} have {common:,} common contexts of {len(ours | theirs):,}: a difference between them may "
            "be due to the contexts"
        )
    return notes


def _plane(found: Mapping[str, HuseResult], notes: tuple[str, ...]) -> HusePlane:
    first = next(iter(found.values()))
    p_values = [[math.nan if r.p_value is None else r.p_value for r in each.results] for each in found.values()]
    adjusted = iter(holm([p for model in p_values for p in model]))
    fewest = Corrected.of([result for each in found.values() for result in each.results], first.level).fewest
    n_tests = sum(not math.isnan(p) for model in p_values for p in model)
    points = {name: (each["huse_d"].estimate, each["huse_q"].estimate) for name, each in found.items()}
    n_resamples = int(str(first.settings.get("resamples", 0)))
    models = []
    for name, each in found.items():
        corrected = Corrected(tuple(next(adjusted) for _ in each.results), fewest)
        parts = [{} if math.isnan(p) else {"adjusted": p} for p in corrected.p_values]
        results = tuple(replace(r, parts={**r.parts, **more}) for r, more in zip(each.results, parts, strict=True))
        verdict = judge(each.results, corrected, level=first.level, n_resamples=n_resamples, n_tests=n_tests)
        beaten = any(dominates(other, points[name]) for other in points.values())
        models.append(PlaneModel(name, len(each.rated.items), each.rated.digest, results, verdict, beaten))
    edge = boundary(list(points.values()))
    return HusePlane(tuple(models), edge, tuple(DEFAULT), first.level, notes, first.settings)


def dominates(one: Point, other: Point) -> bool:
    """Whether a model is at least as good in quality and in diversity, and better in one of them."""
    return one != other and one[0] >= other[0] and one[1] >= other[1]


def boundary(points: Sequence[Point]) -> tuple[Point, ...]:
    """The upper edge of the dominated region, from HUSE-D 0 to HUSE-Q 0, through all models that none dominates.

    >>> boundary([(0.9, 0.5), (0.3, 0.9), (0.5, 0.4)])
    ((0.0, 0.9), (0.3, 0.9), (0.9, 0.5), (0.9, 0.0))
    """
    known = [point for point in points if all(map(math.isfinite, point))]
    best = sorted({point for point in known if not any(dominates(other, point) for other in known)})
    return ((0.0, best[0][1]), *best, (best[-1][0], 0.0)) if best else ()
