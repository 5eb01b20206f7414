"""`textassay conditional`: several candidates against several references, item by item."""

from typing import Annotated

import typer

from textassay.cli import options


def conditional(
    items: Annotated[
        str,
        typer.Argument(
            metavar="ITEMS", help="Items with references and candidates: .jsonl, .json, .csv, .tsv, .parquet, or -."
        ),
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Argument(metavar="CANDIDATES", help="Separate files of candidates, one file per system."),
    ] = None,
    no_references: options.NoReferences = False,
    by: options.By = None,
    field: options.Field = None,
    text: options.TextKind = "answer",
    prompts_from: options.PromptsFrom = None,
    metrics: options.ItemMetrics = None,
    distance: options.Distance = None,
    tokenizer: options.Tokenizer = "plain",
    encoder: options.InstalledEncoder = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    document_frequencies: options.DocumentFrequencies = None,
    partitions: options.Partitions = 5_000,
    resamples: options.ItemResamples = 999,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    null: options.Null = "permutation",
    sensitivity: options.Sensitivity = False,
    power: options.Power = 0.8,
    top: options.Top = 5,
    engine: options.Engine = "local",
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.Table = False,
    why: options.WhyByItem = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare candidates with references per item, or alone.

    Measures whether the candidates match the spread of the references, not only their mode. Prints the systems, the
    closest first, with a verdict, the items that differ, quality and diversity; with --table all metrics beside what
    references score against references, and with --why the items that differ most.

    Without references it measures how different the answers to one prompt are, and prints the most repetitive prompts.
    Such files may also have one text per record (prompt and text), or be those of known tools.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.formats.record import checked_kind
    from textassay.corpus.item_set import read_items
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.conditional.study import conditional as run

    del max_input  # applied when it is parsed
    files = [items, *(candidates or [])]
    read = [*files, tokenizer, encoder or "", document_frequencies or "", prompts_from or ""]
    check_writable([json, csv, markdown, latex, bibtex, report], inputs=read)
    metric_names, distance_names = options.split(metrics), options.split(distance)
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", 1)
        item_set = read_items(
            items,
            candidates=candidates or [],
            encoding=encoding,
            needs_references=False,
            by=by,
            field=field,
            text=checked_kind(text),
            prompts_from=prompts_from,
        )
        progress.step(1)
        found = run(
            item_set,
            metrics=metric_names,
            distances=distance_names,
            tokenizer=tokenizer,
            encoder=encoder,
            document_frequencies=document_frequencies,
            partitions=partitions,
            level=level,
            n_resamples=resamples,
            seed=seed,
            null=null,
            sensitivity=sensitivity,
            power=power,
            references=not no_references,
            engine=engine,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table or bool(metrics), timings=not no_timings, why=why, top=top)
