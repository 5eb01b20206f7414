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

    The output has one row per text: item (if the texts have ids), source (with --source), text, log_prob (natural
    logarithm of the probability of the whole text under the decoding setting) and length (tokens, the end of the text
    included). `textassay huse --log-probs` reads it. A text that the model cannot generate has -inf.
    """
    from textassay.cli.outputs import ProgressBar, check_writable, deliver
    from textassay.corpus.files import check_stdin_once
    from textassay.corpus.readers import read_sample
    from textassay.models.base import Decoding, concat_scores
    from textassay.models.choose import get_model

    decoding = Decoding(temperature, top_k, top_p)
    check_stdin_once([texts, model])
    check_writable([out], inputs=[model, texts])
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading", 1)
        scorer = get_model(model)
        sample = read_sample(texts, field=field, encoding=encoding)
        options.note([sample], quiet=quiet)
        parts = []
        for start in range(0, len(sample), _AT_A_TIME):
            progress.report("scoring", start, len(sample))
            part = sample.texts[start : start + _AT_A_TIME]
            parts.append(scorer.log_prob(part, temperature=temperature, top_k=top_k, top_p=top_p))
        scores = concat_scores(parts)
    summary = _summary(sample, scores, f"{scorer.name} {decoding}".strip())
    deliver([(out, lambda: _rows(sample, scores, source, out))], table=lambda: typer.echo(summary), quiet=quiet)


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
    return "\n".join(lines)


def _rows(sample: "Sample", scores: "Scores", source: str | None, target: str) -> str:
    ids = sample.ids.to_pylist() if sample.ids is not None else None
    rows = []
    columns = (sample.texts.to_pylist(), scores.log_probs.tolist(), scores.n_tokens.tolist())
    for number, (text, log_prob, length) in enumerate(zip(*columns, strict=True)):
        row: dict[str, object] = {} if ids is None else {"item": ids[number]}
        if source is not None:
            row["source"] = source
        rows.append(row | {"text": text, "log_prob": log_prob, "length": length})
    if target.endswith((".jsonl", ".ndjson")):
        # JSON has no infinity; the readers of log-probabilities take the string.
        plain = [row | {"log_prob": "-inf"} if row["log_prob"] == -math.inf else row for row in rows]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain)
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue()
