"""Options that several commands share, each described once."""

from typing import Annotated

import typer

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", "-m", help="Metrics and their options: bleu:n=2-5,cnd:variant=unbiased. [default: all]"),
]
ItemMetrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        help="Metrics and their options: trm:variant=squared,score:over=max,mmd. "
        "[default: score and trm with each distance, mmd, frechet]",
    ),
]
Distance = Annotated[
    list[str] | None,
    typer.Option(
        "--distance",
        "-d",
        help="How far two texts are apart: meteor, cider, bleu, rouge_l, chrf, bert, edit. "
        "[default: meteor, cider and, with an encoder, bert]",
    ),
]
DocumentFrequencies = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Document frequencies for cider, from a file. [default: from the references of this run]"
    ),
]
Partitions = Annotated[
    int,
    typer.Option(
        help="List all ways to tell an item's candidates from its references up to this many: an exact test. "
        "Of more, a sample is drawn."
    ),
]
ItemResamples = Annotated[
    int,
    typer.Option(
        help="Ways drawn where there are too many to list, and bootstrap samples of items; "
        "0: estimates only, no intervals or tests."
    ),
]
Null = Annotated[
    str,
    typer.Option(
        metavar="permutation|asymptotic",
        help="Where p-values come from; asymptotic: for trm, faster, for many texts an item.",
    ),
]
Sensitivity = Annotated[
    bool, typer.Option("--sensitivity", help="How p-values fall with the number of candidates and of references.")
]
Power = Annotated[float, typer.Option(help="The power that --sensitivity looks for.")]
Top = Annotated[int, typer.Option(min=0, help="So many of the worst items with their texts, systems taking turns.")]
Family = Annotated[list[str] | None, typer.Option(help="All metrics of these families, such as ngram.")]
Tokenizer = Annotated[
    str, typer.Option(help="words, plain, whitespace, treebank, char, or a Hugging Face tokenizer.json file.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Lower-case all texts first.")]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="What turns texts into vectors: minilm, minilm:int8, lsa, st:NAME_OR_PATH, "
        "hf:NAME_OR_PATH[:pool=cls|mean|pooler], or vectors:FILE. Models read long texts in 16 windows; "
        ":windows=N at the end of the name reads more or fewer, :windows=first the beginning only."
    ),
]
Field = Annotated[str | None, typer.Option(help="The field or column with the text. [default: text, or the only one]")]
Encoding = Annotated[str, typer.Option(help="The encoding of text files.")]
Train = Annotated[str | None, typer.Option(help="The generator's training texts: looks for verbatim copies.")]
Pair = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="The field that names the prompt, document or author of a text. Only groups that all samples have are"
        " used, and tests exchange texts within their group.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="The same for groups that need not be in all samples: such groups are exchanged as a whole.",
    ),
]
Size = Annotated[
    str,
    typer.Option(
        help="match: estimates use as many texts of each sample as the smallest has, tests use all texts;"
        " all: estimates use all texts too; or a number of texts."
    ),
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
HuseMetrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", "-m", help="Scores and their options: huse,huse_d:k=8. [default: huse, huse_q, huse_d]"),
]
LogProbs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Log-probabilities an item, from a file of their own. [default: from the ratings file]"
    ),
]
Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="The source that is the model, where the file has several.")
]
Scale = Annotated[
    str | None,
    typer.Option(metavar="LOW-HIGH", help="The lowest and the highest rating there can be. [default: as in the file]"),
]
Neighbours = Annotated[
    int, typer.Option("--k", min=1, max=1000, help="How many of its nearest neighbours vote on an item.")
]
Variant = Annotated[
    str,
    typer.Option(metavar="released|exact|fair", help="What happens to ties among neighbours and votes."),
]
RaterResamples = Annotated[
    int,
    typer.Option(
        help="Bootstrap samples of items and raters, and exchanges of sources; "
        "0: estimates only, no intervals or tests."
    ),
]
Stability = Annotated[
    bool,
    typer.Option("--stability/--no-stability", help="Measure parts of the items and ratings: what more would bring."),
]
WithoutFlagged = Annotated[
    bool, typer.Option("--without-flagged", help="Leave out raters who look as if they answered at random.")
]
TopOfKind = Annotated[int, typer.Option(min=0, help="With --why and in Markdown, so many items of each kind.")]
CsvOfItems = Annotated[str | None, typer.Option("--csv", metavar="FILE|-", help="Write CSV, one row an item.")]
WhyItems = Annotated[
    bool, typer.Option("--why", help="Show items of each kind with their texts, and the raters who look random.")
]


def split(values: list[str] | None) -> list[str]:
    """The comma-separated parts of all values."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]
