"""`textassay compare`: candidates against a reference."""

from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.corpus.sample import Sample


def compare(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Real texts: a file, a glob, or - for standard input.")
    ],
    candidates: Annotated[list[str], typer.Argument(metavar="CAND", help="Generated texts, one file per candidate.")],
    metrics: options.Metrics = None,
    family: options.Family = None,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    strip: options.Strip = None,
    encoder: options.InstalledEncoder = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    train: options.Train = None,
    pair: options.Pair = None,
    group: options.Group = None,
    size: options.Size = "match",
    level: options.Level = 0.95,
    resamples: options.Resamples = 999,
    quick: options.Quick = False,
    seed: options.Seed = 0,
    engine: options.Engine = "local",
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    report: options.Report = None,
    why: options.Why = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare generated texts with real ones.

    Measures quality, diversity and what differs. Prints one row per metric and one column per candidate, with
    confidence intervals, a test for each metric that has a valid one, and a verdict in words. The column "real v real"
    shows what real text scores against real text.
    """
    from textassay.cli.outputs import ProgressBar, check_writable, deliver_outcome
    from textassay.corpus.files import named_paths
    from textassay.corpus.readers import read_sample
    from textassay.studies.compare.study import compare as run

    del max_input  # applied when it is parsed
    files = [reference, *candidates, *([train] if train else [])]
    check_writable([json, csv, markdown, report], inputs=[*files, tokenizer, encoder or ""])
    metric_names, family_names = options.split(metrics), options.split(family)
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", len(files))
        names = named_paths(candidates)
        samples: list[Sample] = []
        for file in files:
            # Training texts are only looked up, so they need no groups.
            needs_groups = len(samples) <= len(candidates)
            samples.append(
                read_sample(file, field=field, encoding=encoding, group=(pair or group) if needs_groups else None)
            )
            progress.step(1)
        comparison = run(
            samples[0],
            dict(zip(names, samples[1 : len(candidates) + 1], strict=True)),
            metrics=metric_names,
            families=family_names,
            tokenizer=tokenizer,
            lowercase=lowercase,
            strip=strip,
            encoder=encoder,
            train=samples[-1] if train else None,
            pair=pair,
            group=group,
            size=size,
            level=level,
            n_resamples=resamples,
            explain=True,
            quick=quick,
            seed=seed,
            engine=engine,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "report": report}
    deliver_outcome(comparison, targets, quiet=quiet, timings=not no_timings, why=why)
