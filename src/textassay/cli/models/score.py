"""`textassay score`: log-probabilities of texts under a model and a decoding setting."""

import csv
import io
import json
import math
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.corpus.sample import Sample
    from textassay.models.base import Scores

# Texts are scored in parts of this number, between which the progress bar moves.
_AT_A_TIME = 5000


def score(
    model: options.ModelFile,
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="The texts to score: a file, a pattern, or -.")],
    temperature: options.Temperature = 1.0,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    prompts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The prompts, one per text. [default: the field prompt of TEXTS]"),
    ] = None,
    no_prompts: Annotated[
        bool, typer.Option("--no-prompts", help="Score texts without the prompts that TEXTS has.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Add a column source with this name, such as human or the model's name."),
    ] = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    out: Annotated[str, typer.Option(metavar="FILE|-", help="Where to write: .csv, .jsonl, or - for CSV.")] = "-",
    quiet: options.Quiet = False,
) -> None:
    """Write the log-probability of each text under a model.

    The output has one row per text: item (if the texts have ids), source (with --source), prompt (if there are
    prompts), text, log_prob (natural logarithm of the probability of the whole text under the decoding setting, after
    its prompt), length (tokens, the end of the text included) and unknown_words (if there are any). `textassay huse
    --log-probs` reads it. A text that the model cannot generate has -inf, such as one with a word that it does not
    have. The end of a text with the finish_reason length is not scored.
    """
    import numpy as np

    from textassay.cli.outputs import check_writable, deliver
    from textassay.corpus.files.reading import check_stdin_once
    from textassay.corpus.readers import read_sample
    from textassay.engines.progress_bar import ProgressBar
    from textassay.errors import InputError
    from textassay.models.base import Decoding, concat_scores
    from textassay.models.choose import get_model

    decoding = Decoding(temperature, top_k, top_p)
    if prompts is not None and no_prompts:
        raise InputError("--prompts and --no-prompts; wanted one of them")
    check_stdin_once([texts, model, *([prompts] if prompts else [])])
    check_writable([out], inputs=[model, texts, *([prompts] if prompts else [])])
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", 1)
        scorer = get_model(model)
        sample = read_sample(texts, field=field, encoding=encoding)
        options.note([sample], quiet=quiet)
        given = None if no_prompts else _prompts(sample, texts, prompts, field=field, encoding=encoding, quiet=quiet)
        parts = []
        for start in range(0, len(sample), _AT_A_TIME):
            progress.report("scoring", start, len(sample))
            part = sample.take(np.arange(start, min(start + _AT_A_TIME, len(sample))))
            own = None if given is None else given[start : start + _AT_A_TIME]
            parts.append(scorer.log_prob(part, prompts=own, temperature=temperature, top_k=top_k, top_p=top_p))
        scores = concat_scores(parts)
    summary = _summary(sample, scores, f"{scorer.name} {decoding}".strip())
    deliver([(out, lambda: _rows(sample, scores, given, source, out))], table=lambda: typer.echo(summary), quiet=quiet)


def _prompts(
    sample: "Sample", texts: str, path: str | None, *, field: str | None, encoding: str, quiet: bool
) -> list[str] | None:
    """One prompt per text, from a file of their own or from fields beside the texts; None if there are none."""
    from textassay.cli.models.prompts import given_prompts, note_field, prompt_fields, read_prompts
    from textassay.corpus.printable import many
    from textassay.errors import InputError

    if path is None:
        given = given_prompts(sample.contexts)
        if given is not None:
            fields = prompt_fields(texts, field=field, encoding=encoding) or [str(sample.prompt_field)]
            note_field(texts, "each text is scored after its prompt, from", fields, quiet=quiet)
        return given
    given = read_prompts(path, field=None, encoding=encoding, quiet=quiet)
    if len(given) != len(sample):
        seen = f"{path}: {many(len(given), 'prompt')} for {many(len(sample), 'text')} of {texts}"
        raise InputError(f"{seen} (blank ones not counted); wanted one per text")
    return given


def _summary(sample: "Sample", scores: "Scores", model: str) -> str:
    from textassay.corpus.printable import many

    lines = [f"{sample.name}: {many(len(scores), 'text')}, {many(int(scores.n_tokens.sum()), 'token')} under {model}"]
    finite = scores.log_probs > -math.inf
    if finite.any():
        nats = -scores.log_probs[finite].sum() / scores.n_tokens[finite].sum()
        lines.append(f"{nats:.4f} nats per token (perplexity {math.exp(nats):.2f})")
    if scores.n_zero:
        zero = many(scores.n_zero, "text has", "texts have")
        lines.append(f"{zero} probability 0 (-inf) and {'is' if scores.n_zero == 1 else 'are'} not in this mean")
    if unknown := int((scores.n_unknown > 0).sum()):
        known = many(unknown, "text has", "texts have")
        meaning = "unknown words (<unk>, or words that the model does not have)"
        lines.append(f"{known} {meaning}: {100 * unknown / len(scores):.3g} %")
    if sample.cut_off is not None and (cut := sum(sample.cut_off.to_pylist())):
        lines.append(f"{many(cut, 'text was', 'texts were')} cut off and scored without an end")
    return "\n".join(lines)


def _rows(sample: "Sample", scores: "Scores", prompts: list[str] | None, source: str | None, target: str) -> str:
    columns: dict[str, list[object]] = {} if sample.ids is None else {"item": sample.ids.to_pylist()}
    if source is not None:
        columns["source"] = [source] * len(sample)
    if prompts is not None:
        columns["prompt"] = list(prompts)
    columns["text"] = sample.texts.to_pylist()
    columns |= {"log_prob": scores.log_probs.tolist(), "length": scores.n_tokens.tolist()}
    if scores.n_unknown.any():
        columns["unknown_words"] = scores.n_unknown.tolist()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if target.endswith((".jsonl", ".ndjson")):
        # JSON has no infinity; the readers of log-probabilities take the string.
        plain = [row | {"log_prob": "-inf"} if row["log_prob"] == -math.inf else row for row in rows]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain)
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue()
