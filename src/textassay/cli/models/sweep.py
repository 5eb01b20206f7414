"""`textassay sweep`: a model at many decoding settings against real text."""

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.studies.sweep.result import Sweep


def sweep(
    reference: Annotated[str | None, typer.Option(metavar="FILE", help="Real texts: a file, a pattern, or -.")] = None,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A model file (.safetensors), or a name such as oracle:DIR; not needed with --checkpoints.",
        ),
    ] = None,
    temperature: Annotated[
        str | None,
        typer.Option(
            metavar="GRID",
            help="Temperatures: a list such as 0.7,1, a range in equal steps such as 0.5:1.5:0.1, or a range by a "
            "factor such as 0.25:4:x2. [default: 0.5:1.5:0.1; 1 if another grid is given]",
        ),
    ] = None,
    top_k: Annotated[
        str | None,
        typer.Option(metavar="GRID", help="Numbers of most probable next tokens to keep, such as 10,40,none."),
    ] = None,
    top_p: Annotated[
        str | None,
        typer.Option(metavar="GRID", help="Shares of the probability of the next token to keep, such as 0.8:1:0.05."),
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Model files to sweep, such as 'runs/epoch-*.safetensors' in quotes."),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="In place of --reference: items with a prompt and several references each. Metrics are those of "
            "conditional, such as trm:distance=cider,score.",
        ),
    ] = None,
    candidates: Annotated[
        int, typer.Option(metavar="N", help="With --items: number of texts per prompt and setting.")
    ] = 5,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            metavar="N",
            help="Number of texts per setting. [default: 1000, or the number of reference texts or prompts if that is "
            "smaller]",
        ),
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(metavar="FILE", help="Prompts for conditional models: one text per prompt.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            "-m",
            metavar="LIST",
            help="Metrics and their options, such as cnd,bleu:n=2-5. [default: cr, bleu, nrr, entropy, self_bleu, cnd, "
            "ms_jaccard and dd; also frechet with --encoder]",
        ),
    ] = None,
    family: options.Family = None,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    encoder: options.InstalledEncoder = None,
    train: options.Train = None,
    oracle: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model whose probabilities are taken as those of real text. Adds the distance of each setting from "
            "it (bhattacharyya), oracle_nll, model_entropy and nll.",
        ),
    ] = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
    level: options.Level = 0.95,
    resamples: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of permutations of the overall test of each setting. 0: estimates only."
        ),
    ] = 999,
    seed: options.Seed = 0,
    engine: options.Engine = "local",
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep samples in this file and continue from it. [default: the name of the first output file with "
            ".samples, removed when the sweep is complete]",
        ),
    ] = None,
    save_samples: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the texts of each setting to a file in this folder.")
    ] = None,
    json: options.Json = None,
    no_timings: options.NoTimings = False,
    csv: options.Csv = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    bibtex: options.Bibtex = None,
    report: options.Report = None,
    table: options.Table = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the decoding settings that are closest to real text.

    Samples a model at many settings. Prints the best setting for each metric with the settings that cannot be
    distinguished from it, the values at all settings, and a verdict in words. A sweep that was stopped continues with
    the samples that it has.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.corpus.files.reading import check_stdin_once
    from textassay.corpus.item_set import read_items
    from textassay.corpus.readers import read_sample
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.sweep.study import sweep as run

    del max_input  # applied when it is parsed
    named = {"reference": reference, "prompts": prompts, "train": train}
    files = [*(file for file in named.values() if file)]
    outputs = [json, csv, markdown, latex, bibtex, report]
    check_stdin_once(files)
    inputs = [*files, *(name for name in (model, checkpoints, oracle, items) if name)]
    check_writable(outputs, inputs=[*inputs, tokenizer, encoder or ""])
    work = resume or _work_file(outputs)
    _check_folder(save_samples)
    if work is not None:
        check_writable([work, *outputs], inputs=inputs)
        _note_continued(work, quiet=quiet)
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", len(files))
        read = {
            name: read_sample(file, field=field, encoding=encoding) if file else None for name, file in named.items()
        }
        found = run(
            model,
            read["reference"],
            items=None if items is None else read_items(items, encoding=encoding, needs_candidates=False),
            candidates=candidates,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            checkpoints=checkpoints,
            prompts=read["prompts"],
            n=n,
            metrics=options.split(metrics),
            families=options.split(family),
            tokenizer=tokenizer,
            lowercase=lowercase,
            encoder=encoder,
            train=read["train"],
            oracle=oracle,
            level=level,
            n_resamples=resamples,
            seed=seed,
            resume=work,
            engine=engine,
            progress=progress,
        )
    if save_samples is not None:
        _save(found, save_samples)
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "bibtex": bibtex, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table or bool(metrics), timings=not no_timings)
    if work is not None and resume is None:
        _remove(work)


def _work_file(outputs: list[str | None]) -> str | None:
    """The file for samples beside the first output that is a regular file or will be one."""
    for target in outputs:
        if target not in (None, "-") and (os.path.isfile(target or "") or not os.path.lexists(target or "")):
            return f"{target}.samples"
    return None


def _remove(work: str) -> None:
    """Remove the work file; another sweep with the same output may have removed it already."""
    with suppress(FileNotFoundError):
        os.unlink(work)


def _note_continued(work: str, *, quiet: bool) -> None:
    """Print how many texts the work file has; a file of another kind is an error."""
    from textassay.corpus.printable import many, printable
    from textassay.studies.sweep.samples import part_texts, samples_file

    if not os.path.exists(work):
        return
    with samples_file(work) as found:
        texts = sum(len(part_texts(part)) for part in found.values())
    if texts and not quiet:
        sys.stderr.write(f"note: continuing with {many(texts, 'text')} in {printable(work)}\n")


def _check_folder(folder: str | None) -> None:
    from textassay.errors import InputError, Setting

    if folder is None:
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "not a folder" if is_file else (error.strerror or str(error)).lower()
        raise InputError(
            Setting("save_samples", folder), f": {reason}; wanted a folder that exists or can be made"
        ) from None


def _save(found: "Sweep", folder: str) -> None:
    """One file per setting: one text per line, or JSON Lines if a text has line breaks."""
    import json

    from textassay.cli.outputs import write
    from textassay.corpus.files.reading import unused_name

    taken: set[str] = set()
    for setting, sample in found.samples.items():
        name = unused_name(re.sub(r"[^\w.=,-]+", "_", setting), taken)
        taken.add(name)
        texts = sample.texts.to_pylist()
        if any(text.splitlines() != [text] for text in texts):
            lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
            write(os.path.join(folder, f"{name}.jsonl"), "".join(f"{line}\n" for line in lines))
        else:
            write(os.path.join(folder, f"{name}.txt"), "".join(f"{text}\n" for text in texts))
