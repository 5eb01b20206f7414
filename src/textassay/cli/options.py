"""Options that several commands share, each described once."""

from typing import Annotated

import typer

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", "-m", help="Metrics and their options: bleu:n=2-5,cnd:variant=unbiased. [default: all]"),
]
Family = Annotated[list[str] | None, typer.Option(help="All metrics of these families, such as ngram.")]
Tokenizer = Annotated[
    str, typer.Option(help="words, whitespace, treebank, char, or a Hugging Face tokenizer.json file.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Lower-case all texts first.")]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="What turns texts into vectors: minilm, minilm:int8, lsa, st:NAME_OR_PATH, "
        "hf:NAME_OR_PATH[:pool=cls|mean|pooler], or vectors:FILE."
    ),
]
Field = Annotated[str | None, typer.Option(help="The field or column with the text. [default: text, or the only one]")]
Encoding = Annotated[str, typer.Option(help="The encoding of text files.")]
Train = Annotated[str | None, typer.Option(help="The generator's training texts: looks for verbatim copies.")]
Size = Annotated[
    str, typer.Option(help="match: cut every sample to the smallest; all: as they are; or a number of texts.")
]
Level = Annotated[float, typer.Option(help="The level of intervals; tests are judged at 1 - level.")]
Resamples = Annotated[int, typer.Option(help="Permutations a test; 0: estimates only, no intervals or tests.")]
Seed = Annotated[int, typer.Option(help="The seed of everything random.")]
Engine = Annotated[str, typer.Option(help="Where to run: local, or local:N for N threads.")]
Json = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write JSON.")]
Csv = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write CSV, one row a result.")]
Markdown = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write Markdown.")]
Report = Annotated[str | None, typer.Option(metavar="FILE.html", help="Write a self-contained HTML report.")]
Why = Annotated[bool, typer.Option("--why", help="Say why a number, an interval or a test is missing.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no remarks on standard error.")]


def split(values: list[str] | None) -> list[str]:
    """The comma-separated parts of all values."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]
