"""`textassay compare`: candidates against a reference."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options
from textassay.cli.gate import options as gate_options
from textassay.cli.gate import outputs as gate_outputs

if TYPE_CHECKING:
    from textassay.corpus.sample import Sample
    from textassay.digests.digest import Digest


def compare(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Real texts: a file, a glob, or - for standard input; FILE::FIELD.")
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CAND",
            help="Generated texts, one file per candidate, or several with --by. NAME=FILE::FIELD gives a name and the "
            "field of the texts.",
        ),
    ] = None,
    metrics: options.Metrics = None,
    family: options.Family = None,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    strip: options.Strip = None,
    encoder: options.InstalledEncoder = None,
    field: options.Field = None,
    text: options.TextKind = "answer",
    prompts_from: options.PromptsFrom = None,
    by: options.By = None,
    reference_system: options.ReferenceSystem = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    train: options.Train = None,
    pair: options.Pair = None,
    no_pair: options.NoPair = False,
    group: options.Group = None,
    size: options.Size = "match",
    level: options.Level = 0.95,
    resamples: options.Resamples = 999,
    quick: options.Quick = False,
    seed: options.Seed = 0,
    engine: options.ClusterEngine = "local",
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.Table = False,
    why: options.Why = False,
    quiet: options.Quiet = False,
    max_separable: gate_options.MaxSeparable = None,
    contaminant: gate_options.Contaminant = None,
    fail_on: gate_options.FailOn = None,
    no_worse_than: gate_options.NoWorseThan = None,
    margin: gate_options.Margin = None,
    undecided: gate_options.Undecided = "undecided",
    aa: gate_options.Splits = 0,
    github: gate_options.GitHub = False,
    junit: gate_options.JUnit = None,
) -> None:
    """Compare generated texts with real ones.

    Prints the answer first: one row per candidate, the closest to the reference first, with a verdict, the share of
    its texts that a classifier tells apart, and quality and diversity beside real text; then what differs. --table
    prints all metrics with confidence intervals, tests and, in the column "real v real", what real text scores.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.formats.record import checked_kind
    from textassay.corpus.readers import candidate_systems, named_sources, read_sample, split_field
    from textassay.digests.file import is_digest, read_digest
    from textassay.engines.progress_bar import ProgressBar
    from textassay.errors import InputError
    from textassay.studies.compare.study import compare as run

    del max_input  # applied when it is parsed
    rules = gate_outputs.rules_of(
        max_separable=max_separable,
        contaminant=contaminant,
        no_worse_than=no_worse_than,
        margins=margin,
        fail_on=fail_on,
        undecided=undecided,
        aa=aa,
        needed=junit is not None or github,
    )
    summary = gate_outputs.summary_file(wanted=github)
    if not candidates and reference_system is None:
        raise InputError("no candidate given; wanted at least one file besides the reference, or --reference-system")
    if no_pair and (pair or group):
        raise InputError("--no-pair beside --pair or --group; wanted one of them")
    mine, kind = candidates or [], checked_kind(text)
    real_path, real_field = split_field(reference)
    named = named_sources(mine, beside=[real_path])
    # Two fields of one file are called by their names.
    real_name = real_field if real_path in {path for path, _ in named.values()} else None
    files = [real_path, *(path for path, _ in named.values()), *([train] if train else [])]
    check_writable(
        [json, csv, markdown, latex, bibtex, report, junit],
        inputs=[*files, tokenizer, encoder or "", prompts_from or "", contaminant or "", no_worse_than or ""],
    )
    metric_names, family_names = options.split(metrics), options.split(family)
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", len(files))

        def read(
            file: str, own_field: str | None = None, *, called: str | None = None, grouped: bool = True
        ) -> "Sample | Digest":
            if is_digest(file):
                progress.step(1)
                return read_digest(file)
            groups = (pair or group) if grouped else None
            requests = prompts_from if grouped else None
            found = read_sample(
                file,
                name=called,
                field=own_field or field,
                encoding=encoding,
                group=groups,
                text=kind,
                prompts_from=requests,
            )
            progress.step(1)
            return found

        if by is None and reference_system is None:
            real = read(real_path, real_field, called=real_name)
            systems: dict[str, Sample | Digest] = {name: read(*source) for name, source in named.items()}
        else:
            pooled = mine if reference_system is None else [reference, *mine]
            sources = {name: (Path(path), own) for name, (path, own) in named_sources(pooled).items()}
            found, read_systems = candidate_systems(
                sources,
                by=by,
                reference=reference_system,
                field=field,
                group=pair or group,
                encoding=encoding,
                text=kind,
                prompts_from=prompts_from,
            )
            progress.step(len(pooled))
            systems = {**read_systems}
            real = read(real_path, real_field, called=real_name) if found is None else found
        # Training texts and a contaminant are only looked up, so they need no groups.
        training = read(train, grouped=False) if train else None
        rules = gate_outputs.with_texts(rules, baseline=read, contaminant=partial(read, grouped=False))
        comparison = run(
            real,
            systems,
            metrics=metric_names,
            families=family_names,
            tokenizer=tokenizer,
            lowercase=lowercase,
            strip=strip,
            encoder=encoder,
            train=training,
            pair=False if no_pair else pair,
            group=group,
            size=size,
            level=level,
            n_resamples=resamples,
            explain=True,
            quick=quick,
            seed=seed,
            engine=engine,
            gate=rules,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    deliver_outcome(
        comparison,
        targets,
        quiet=quiet,
        table=table or bool(metrics),
        timings=not no_timings,
        why=why,
        also=gate_outputs.junit_output(comparison, junit),
    )
    takes_stdout = "-" in (json, csv, markdown, latex, bibtex, junit)
    gate_outputs.finish(comparison, summary, to_stdout=not takes_stdout)
