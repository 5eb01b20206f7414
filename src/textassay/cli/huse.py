"""`textassay huse`: HUSE, HUSE-Q and HUSE-D from human ratings and the model's log-probabilities."""

import math
import re
from typing import Annotated

import typer

from textassay.cli import options

_NUMBER = r"[+-]?\d+(?:\.\d+)?"


def huse(
    ratings: Annotated[
        list[str],
        typer.Argument(
            metavar="RATINGS",
            help="Rated texts, one row per rating or per item: .csv, .tsv, .jsonl, .json, .parquet, or -; exports of "
            "Label Studio and Argilla. Several files, or a column model, are several models in one plane.",
        ),
    ],
    log_probs: options.LogProbs = None,
    model: options.Model = None,
    scale: options.Scale = None,
    rating: options.Rating = None,
    metrics: options.HuseMetrics = None,
    k: options.Neighbours = 16,
    variant: options.Variant = "released",
    resamples: options.RaterResamples = 999,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    without_flagged: options.WithoutFlagged = False,
    stability: options.Stability = True,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    engine: options.Engine = "local",
    top: options.TopOfKind = 5,
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: options.CsvOfItems = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.Table = False,
    why: options.WhyItems = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure HUSE from people's ratings and log-probabilities.

    HUSE shows whether model texts can be distinguished from human texts. It is 1 if they cannot be distinguished and 0
    if they always can. HUSE-Q uses the ratings alone (quality). HUSE-D is 1 if the log-probabilities do not help to
    distinguish more texts, and lower the more they help (a lack of diversity). Each score has an interval over items
    and raters; HUSE and HUSE-Q also have the value expected by chance.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.files.reading import is_stream, named_paths
    from textassay.corpus.ratings.files import models_in, read_ratings
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.huse.plane import huse_plane
    from textassay.studies.huse.study import huse as run
    from textassay.studies.huse.study import reads_log_probs

    del max_input  # applied when it is parsed
    check_writable([json, csv, markdown, latex, bibtex, report], inputs=[*ratings, *([log_probs] if log_probs else [])])
    bounds = _scale(scale)
    metric_names = options.split(metrics)
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    is_read_twice = model is None and len(ratings) == 1 and not is_stream(ratings[0])
    names = models_in(ratings[0], encoding=encoding, rating=rating) if is_read_twice else []
    if len(ratings) > 1 or len(names) > 1:
        _check_plane(metric_names, log_probs)
        with ProgressBar(quiet=quiet) as progress:
            progress.start("reading", 1)
            parts = {name: (path, model) for name, path in named_paths(ratings).items()}
            parts = parts if len(ratings) > 1 else {name: (ratings[0], name) for name in names}
            plane = huse_plane(
                {
                    name: read_ratings(path, model=source, scale=bounds, encoding=encoding, rating=rating)
                    for name, (path, source) in parts.items()
                },
                k=k,
                variant=variant,
                level=level,
                n_resamples=resamples,
                seed=seed,
                leave_out_flagged=without_flagged,
                engine=engine,
                progress=progress,
            )
        deliver_outcome(plane, targets, quiet=quiet, table=table or bool(metrics), timings=not no_timings)
        return
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", 1)
        rated = read_ratings(
            ratings[0],
            log_probs=log_probs,
            model=model,
            scale=bounds,
            encoding=encoding,
            needs_log_probs=reads_log_probs(metric_names),
            rating=rating,
        )
        progress.step(1)
        found = run(
            rated,
            metrics=metric_names,
            k=k,
            variant=variant,
            level=level,
            n_resamples=resamples,
            seed=seed,
            leave_out_flagged=without_flagged,
            stability=stability,
            engine=engine,
            progress=progress,
        )
    deliver_outcome(
        found,
        targets,
        quiet=quiet,
        table=table or bool(metrics),
        timings=not no_timings,
        why=why,
        top=top,
    )


def _check_plane(metrics: list[str], log_probs: str | None) -> None:
    """Refuse what a plane of several models has no use for."""
    from textassay.errors import InputError, Setting

    if metrics:
        raise InputError(Setting("metrics", ",".join(metrics)), "; several models are measured by huse, huse_q, huse_d")
    if log_probs is not None:
        wanted = "; with several models, wanted log-probabilities in the files of ratings"
        raise InputError(Setting("log_probs", log_probs), wanted)


def _scale(text: str | None) -> tuple[float, float] | None:
    """The lowest and the highest rating, from text such as `1-6`."""
    from textassay.corpus.printable import shortened
    from textassay.errors import InputError

    if text is None:
        return None
    found = re.fullmatch(rf"\s*({_NUMBER})\s*-\s*({_NUMBER})\s*", text, flags=re.ASCII)
    low, high = (float(found[1]), float(found[2])) if found else (math.nan, math.nan)
    if not -math.inf < low < high < math.inf:
        wanted = "wanted the lowest and the highest rating, such as 1-6"
        raise InputError(f"--scale '{shortened(text, 40)}'; {wanted}")
    return low, high
