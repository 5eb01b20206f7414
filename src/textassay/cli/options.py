"""The options of the commands, each described once."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textassay.corpus.sample import Sample

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        metavar="LIST",
        help="Metrics and their options, such as bleu:n=2-5,cnd:variant=unbiased,dd. [default: all of the families "
        "ngram (copying needs training texts) and embedding (needs an encoder), except frontier_integral]",
    ),
]
ItemMetrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        metavar="LIST",
        help="Metrics and their options, such as trm:variant=squared,score:over=max,mmd. "
        "[default: score, trm and trm:variant=split with each distance, mmd, frechet]",
    ),
]
NoReferences = Annotated[
    bool,
    typer.Option(
        "--no-references",
        help="Leave references out and measure how different the candidates of one item are. [default: if there are "
        "no references]",
    ),
]
Distance = Annotated[
    list[str] | None,
    typer.Option(
        "--distance",
        "-d",
        metavar="LIST",
        help="Distances between two texts: meteor, cider, bleu, rouge_l, chrf, bert, edit. "
        "[default: meteor and cider; also bert if --encoder is given or the extra embed is installed]",
    ),
]
DocumentFrequencies = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A file of document frequencies for cider. [default: counted in the references]"),
]
Partitions = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Test an item exactly if its texts can be split into candidates and references in at most this many ways "
        "(20000 for frechet and mauve if this is larger); otherwise use random splits.",
    ),
]
ItemResamples = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of random splits per item that is not tested exactly, and of bootstrap samples of items. "
        "0: estimates only, without intervals and tests.",
    ),
]
Null = Annotated[
    str,
    typer.Option(
        metavar="permutation|asymptotic",
        help="How p-values are computed. asymptotic is faster with many texts per item and works for trm only.",
    ),
]
Sensitivity = Annotated[
    bool,
    typer.Option(
        "--sensitivity", help="Report how p-values depend on the number of candidates and references per item."
    ),
]
Power = Annotated[
    float, typer.Option(metavar="N", help="The power for which --sensitivity reports the number of texts needed.")
]
Top = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Number of items shown with their texts by --why and in Markdown: those that differ most first.",
    ),
]
Family = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST",
        help="Use the default metrics of these families: ngram, embedding, and learned (lm_score, reverse_lm_score, "
        "dd, separable). Metrics of --metrics are added.",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="words, plain, whitespace, treebank, char, or a Hugging Face tokenizer.json file."
    ),
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Convert all texts to lower case first.")]
Strip = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Compare the words without their markup: markdown."),
]
_ENCODERS = (
    "The sentence encoder: minilm[:pool=cls|mean|pooler], minilm:int8, static (one vector per token, without a model), "
    "lsa, bow:WORDS, st:NAME_OR_PATH, hf:NAME_OR_PATH[:pool=cls|mean|pooler], or vectors:FILE. Models read long texts "
    "in up to 16 windows; append :windows=N for another number, or :windows=first to read only the beginning."
)
Encoder = Annotated[str | None, typer.Option(metavar="NAME", help=_ENCODERS)]
InstalledEncoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"{_ENCODERS} [default: minilm, if a metric needs vectors and the extra embed is installed]",
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The field or column with the text, or a path such as choices[0].message.content or generations[*]. "
        "[default: text, what a known tool has as text, or the only text column]",
    ),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="The character encoding of text files.")]


def _limit_reading(context: typer.Context, value: str | None) -> str | None:
    """Apply a limit that was given until the command ends."""
    if value is not None:
        from textassay.corpus.files.reading import reading_limit

        context.with_resource(reading_limit(value))
    return value


# Extensions of files that are no HTML, whatever is written into them.
_OTHER_FORMS = (
    ".pdf", ".doc", ".docx", ".odt", ".rtf", ".md", ".tex", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".xlsx",
    ".parquet", ".png", ".svg", ".ipynb",
)  # fmt: skip


def _html_target(value: str | None) -> str | None:
    """The name of a report, unless it is that of a file of another form."""
    if value is not None and value.lower().endswith(_OTHER_FORMS):
        from textassay.corpus.printable import printable
        from textassay.errors import InputError

        stem = value.rpartition(".")[0]
        raise InputError(f"--report {printable(value)}; reports are HTML, wanted a name such as {printable(stem)}.html")
    return value


MaxInput = Annotated[
    str | None,
    typer.Option(
        "--max-input",
        metavar="SIZE",
        callback=_limit_reading,
        help="The memory that the texts of one input may take, such as 500M or 8G. [default: 2G; a compressed or "
        "Parquet file may expand to 256 MiB or to 100 times its size, whichever is larger]",
    ),
]
Train = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="The generator's training texts, to count texts copied from them."),
]
Pair = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="The field that identifies the prompt, document or author of a text (its group). Only groups in all "
        "samples are used, and tests exchange texts within their group. [default: prompt, or the id, if the samples "
        "have the same]",
    ),
]
NoPair = Annotated[
    bool,
    typer.Option("--no-pair", help="Treat all texts as independent, also those with the same prompts."),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="The field that identifies the group of a text, if the samples have different groups. Tests exchange "
        "whole groups. [default: prompt, or the id, if a sample has several texts for one]",
    ),
]
TextKind = Annotated[
    str,
    typer.Option("--text", metavar="answer|reasoning", help="Which text of a model to read, in files that have both."),
]
PromptsFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The input of a batch (.jsonl), whose output has no prompts. The prompts are joined by custom_id.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="The field that identifies the system of a text. Each system of the files becomes a candidate. In files "
        "of known tools, use model.",
    ),
]
ReferenceSystem = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The system that is the reference. It and the candidates are looked for in all files, by the field model "
        "if --by is not given.",
    ),
]
Size = Annotated[
    str,
    typer.Option(
        metavar="match|all|N",
        help="Number of texts per sample used for estimates. match: as many as the smallest sample has, while tests use"
        " all texts (of a larger sample at most 20 times as many as the smaller one has); all: all texts; or a number,"
        " for estimates and tests.",
    ),
]
Level = Annotated[
    float,
    typer.Option(metavar="N", help="The confidence level of intervals. A p-value of at most 1 - level is significant."),
]
Resamples = Annotated[
    int,
    typer.Option(metavar="N", help="Number of permutations per test. 0: estimates only, without intervals and tests."),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="The verdict in the shortest time: at most 199 permutations at first (the overall test adds more where "
        "its p-value is close to a limit), only the n-gram metrics unless --metrics or --family is given, for the "
        "overall test static vectors if the extra embed is installed, otherwise none, unless --encoder is given, and "
        "no second overall test without markup.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the random number generator.")]
Engine = Annotated[str, typer.Option(metavar="NAME", help="Where to run: local, or local:N for N threads.")]
ClusterEngine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where to run: local, local:N (threads), processes:N, ray:N (a Ray cluster on this machine), auto (the "
        "running cluster), HOST:PORT or ray://HOST:PORT.",
    ),
]
Json = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write JSON.")]
NoTimings = Annotated[
    bool,
    typer.Option("--no-timings", help="Leave the seconds out of the JSON: the same run then gives the same bytes."),
]
Csv = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per result.")]
Markdown = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write Markdown.")]
Report = Annotated[
    str | None,
    typer.Option(metavar="FILE.html", callback=_html_target, help="Write a self-contained HTML report."),
]
Latex = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|-", help="Write the table of metrics and candidates for a paper, in LaTeX with booktabs."
    ),
]
Bibtex = Annotated[str | None, typer.Option(metavar="FILE|-", help="Write the sources of the metrics as BibTeX.")]
Table = Annotated[
    bool,
    typer.Option("--table", help="Show all metrics as well, in tables. [default: if --metrics is given]"),
]
FullTable = Annotated[bool, typer.Option("--table", help="Show all numbers as well, in tables.")]
Why = Annotated[bool, typer.Option("--why", help="Explain why a number, an interval or a test is missing.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no messages on standard error.")]
HuseMetrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        metavar="LIST",
        help="Scores and their options, such as huse,huse_d:k=8. [default: huse, huse_q, huse_d]",
    ),
]
LogProbs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A file with the log-probability of each item. [default: read from the ratings file]"
    ),
]
Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model to evaluate, if the file has texts of several models.")
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="LOW-HIGH", help="The lowest and the highest rating of the scale. [default: those in the file]"
    ),
]
Rating = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of the ratings, or the question of an export of Label Studio or Argilla. [default: rating, or "
        "the only question with numbers]",
    ),
]
Neighbours = Annotated[
    int, typer.Option("--k", metavar="N", min=1, max=1000, help="Number of nearest neighbours that classify an item.")
]
Variant = Annotated[
    str,
    typer.Option(
        metavar="released|exact|fair",
        help="How ties are resolved. released: as in the authors' program, all items as far away as the k-th neighbour "
        "vote too, and an even vote counts as human; rounding may break ties. exact: the same without effects of "
        "rounding. fair: tied items share the remaining votes equally, and an even vote is half an error.",
    ),
]
RaterResamples = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of bootstrap samples of items and raters, and of permutations of the sources. "
        "0: estimates only, without intervals and tests.",
    ),
]
Stability = Annotated[
    bool,
    typer.Option(
        "--stability/--no-stability",
        help="Measure subsets of items and of ratings per item, to show how scores change with their number.",
    ),
]
WithoutFlagged = Annotated[bool, typer.Option("--without-flagged", help="Leave out raters whose answers look random.")]
TopOfKind = Annotated[
    int, typer.Option(metavar="N", min=0, help="Number of items of each kind shown by --why and in Markdown.")
]
CsvOfItems = Annotated[str | None, typer.Option("--csv", metavar="FILE|-", help="Write CSV with one row per item.")]
WhyByItem = Annotated[
    bool, typer.Option("--why", help="Show the items that differ most with their texts, and all combined tests.")
]
WhyItems = Annotated[
    bool, typer.Option("--why", help="Show items of each kind with their texts, and raters whose answers look random.")
]


ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file (.safetensors), or a name such as retrieval:FILE, hf:NAME or "
        "openai:URL#MODEL (an API endpoint).",
    ),
]
Temperature = Annotated[
    float, typer.Option(metavar="N", help="The temperature: below 1 more probable texts, above 1 more varied ones.")
]
TopK = Annotated[int | None, typer.Option(metavar="N", help="Keep only the N most probable next tokens.")]
TopP = Annotated[
    float | None,
    typer.Option(metavar="N", help="Keep only the most probable next tokens with this share of the probability."),
]
WordTokenizer = Annotated[str, typer.Option(metavar="NAME", help="How words are split: words or whitespace.")]


def split(values: list[str] | None) -> list[str]:
    """The comma-separated parts of all values."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def note(samples: "Iterable[Sample]", *, quiet: bool) -> None:
    """Print what the readers of samples left out."""
    from textassay.corpus.printable import printable

    for sample in samples if not quiet else ():
        for line in sample.notes:
            sys.stderr.write(f"note: {printable(sample.name)}: {printable(line)}\n")
