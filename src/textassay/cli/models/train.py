"""`textassay train`: train a generator on texts."""

from typing import Annotated

import typer

from textassay.cli import options


def train(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="The kind of model and its options: ngram, ngram:order=4:min_count=2, lstm, gpt2, ..."
        ),
    ],
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="The training texts: a file, a pattern, or -.")],
    out: Annotated[str, typer.Option(metavar="FILE", help="The model file to write (.safetensors).")],
    validation: Annotated[
        str | None, typer.Option(metavar="FILE", help="Texts that decide when training stops, for kinds that use them.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Store the state of training here and continue from it, for long trainings."),
    ] = None,
    arpa: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Also write the n-gram model as ARPA, which KenLM reads.")
    ] = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Train a generator on texts and write a model file.

    The n-gram model (`ngram`) needs no extra; `lstm` and `gpt2` need the extra `models`. The documentation
    (docs/models.md) lists the options of each kind.
    """
    from textassay.cli.outputs import check_writable, deliver
    from textassay.corpus.files.reading import check_stdin_once
    from textassay.corpus.printable import many
    from textassay.corpus.readers import read_sample
    from textassay.engines.progress_bar import ProgressBar
    from textassay.errors import InputError
    from textassay.models.choose import parse_training, save_model, train_model
    from textassay.models.ngrams.arpa import arpa_text
    from textassay.models.storage import check_target

    inputs = [texts, *([validation] if validation else [])]
    check_stdin_once(inputs)
    check_target(out)
    check_writable([out, arpa, checkpoint], inputs=inputs)
    parse_training(kind)
    if arpa is not None and kind.partition(":")[0] != "ngram":
        raise InputError("--arpa; wanted a model of kind ngram")
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", len(inputs))
        samples = [read_sample(file, field=field, encoding=encoding) for file in inputs]
        options.note(samples, quiet=quiet)
        try:
            model = train_model(
                kind,
                samples[0],
                validation=samples[1] if validation else None,
                checkpoint=checkpoint,
                seed=seed,
                progress=progress.report,
            )
        except InputError as error:
            # Options of a kind are written as in Python: ngram:order=4.
            raise InputError(str(error)) from None
    save_model(model, out)
    made = f"{out}: {model.name}, trained on {many(len(samples[0]), 'text')}"
    deliver([(arpa, lambda: arpa_text(model))], table=lambda: typer.echo(made), quiet=quiet)
