"""`textassay compare`: candidates against a reference."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.corpus.sample import Sample
    from textassay.studies.compare.result import Comparison


def compare(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Real texts: a file, a glob, or - for standard input.")
    ],
    candidates: Annotated[list[str], typer.Argument(metavar="CAND", help="Generated texts, one file per candidate.")],
    metrics: options.Metrics = None,
    family: options.Family = None,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    encoder: options.Encoder = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    train: options.Train = None,
    pair: options.Pair = None,
    group: options.Group = None,
    size: options.Size = "match",
    level: options.Level = 0.95,
    resamples: options.Resamples = 999,
    seed: options.Seed = 0,
    engine: options.Engine = "local",
    json: options.Json = None,
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    report: options.Report = None,
    why: options.Why = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare generated texts with real ones: quality, diversity, and what differs.

    Prints one row per metric and one column per candidate, with confidence intervals, tests against the reference
    where a valid one exists, and a verdict in words. The column "real v real" shows what real text scores against real
    text.
    """
    from textassay.cli.outputs import check_writable
    from textassay.cli.screen import ProgressBar
    from textassay.engines.local import get_engine
    from textassay.studies.compare.study import compare as run

    files = [reference, *candidates, *([train] if train else [])]
    check_writable([json, csv, markdown, report], inputs=[*files, tokenizer])
    chosen_engine = get_engine(engine)
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", len(files))
        samples: list[Sample] = []
        for file in files:
            # Training texts are only looked up, so they need no groups.
            needs_groups = len(samples) <= len(candidates)
            samples.append(_read(file, field, encoding, group=(pair or group) if needs_groups else None))
            progress.step(1)
        comparison = run(
            samples[0],
            _named(candidates, samples[1 : len(candidates) + 1]),
            metrics=options.split(metrics),
            families=options.split(family),
            tokenizer=tokenizer,
            lowercase=lowercase,
            encoder=encoder,
            train=samples[-1] if train else None,
            pair=pair,
            group=group,
            size=size,
            level=level,
            n_resamples=resamples,
            explain=True,
            seed=seed,
            engine=chosen_engine,
            progress=progress,
        )
    deliver(comparison, json=json, csv=csv, markdown=markdown, report=report, why=why, quiet=quiet)


def _read(source: str, field: str | None, encoding: str, *, group: str | None) -> "Sample":
    from textassay.corpus.readers import read_sample

    return read_sample(source, field=field, encoding=encoding, group=group)


def _named(paths: list[str], samples: "list[Sample]") -> "dict[str, Sample]":
    """Candidates by name; files of one name are told apart by their folder, then by number."""
    counts = Counter(sample.name for sample in samples)
    named: dict[str, Sample] = {}
    for path, sample in zip(paths, samples, strict=True):
        name = sample.name if counts[sample.name] == 1 else f"{Path(path).parent.name}/{sample.name}"
        unique, number = name, 2
        while unique in named:
            unique, number = f"{name} ({number})", number + 1
        named[unique] = sample
    return named


def deliver(
    comparison: "Comparison",
    *,
    json: str | None,
    csv: str | None,
    markdown: str | None,
    report: str | None,
    why: bool,
    quiet: bool,
) -> None:
    """Write the files that were asked for, and the table unless standard output is taken."""
    from textassay.cli.outputs import Output
    from textassay.cli.outputs import deliver as deliver_all
    from textassay.cli.screen import output_console
    from textassay.report.compare.terminal import render_terminal
    from textassay.report.compare.text_forms import render_csv, render_markdown

    outputs: list[Output] = [
        (json, comparison.to_json),
        (csv, lambda: render_csv(comparison)),
        (markdown, lambda: render_markdown(comparison)),
        (report, comparison.to_html),
    ]

    def table() -> None:
        console = output_console()
        console.print(render_terminal(comparison, width=console.width, why=why))

    deliver_all(outputs, table=table, quiet=quiet)
