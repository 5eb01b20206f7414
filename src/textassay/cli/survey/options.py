"""Options of the survey commands, each described once."""

from typing import Annotated

import typer

from textassay.cli import options

StudyFile = Annotated[str, typer.Argument(metavar="STUDY.db", help="The study's file.")]
NewStudyFile = Annotated[str, typer.Argument(metavar="STUDY.db", help="The file to make; never one that exists.")]
Human = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Texts by people: .txt (one text per line), .jsonl, .json, .csv, .tsv or .parquet."
    ),
]
Model = Annotated[str | None, typer.Option(metavar="FILE", help="Texts by the model, in a file of the same kinds.")]
ModelName = Annotated[str, typer.Option(metavar="NAME", help="What the model is called in the ratings.")]
Items = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Instead of --human and --model: one file with the columns source (human, or the model's name) and text, "
        "and if wanted item, context, log_prob.",
    ),
]
Contexts = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Contexts, one a line, for the human and the model texts of the same lines."),
]
ContextField = Annotated[
    str | None, typer.Option(help="The column with the contexts. [default: context, where there is one]")
]
LogProbField = Annotated[
    str | None,
    typer.Option(help="The column with log-probabilities under the model. [default: log_prob, where there is one]"),
]
Title = Annotated[str | None, typer.Option(help="What stands at the head of the page. [default: from the template]")]
ContextName = Annotated[str, typer.Option(help="What raters read for the context, such as 'news article'.")]
TextName = Annotated[str, typer.Option(help="What raters read for the text, such as title.")]
Template = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.toml",
        help="Other words: title, introduction, context_intro, question, note, thanks, and [[choices]] with value, "
        "label and help.",
    ),
]
Ratings = Annotated[int, typer.Option(min=1, max=100_000, help="Ratings wanted for each item.")]
ItemsPerRater = Annotated[int, typer.Option(min=1, max=100_000, help="Items that a rater is asked to rate.")]
Checks = Annotated[int, typer.Option(min=0, max=1_000, help="Attention checks among the items of a rater.")]
ChecksFile = Annotated[
    str | None,
    typer.Option(metavar="FILE.csv", help="Your own attention checks: the columns text, expected, if wanted context."),
]
Raters = Annotated[int, typer.Option(min=0, max=100_000, help="So many personal links right away.")]
MoreRaters = Annotated[int, typer.Option(min=0, max=100_000, help="So many new raters, with personal links.")]
LinksFile = Annotated[
    str | None,
    typer.Option("--links", metavar="FILE.csv", help="Write personal links to a new file instead of showing them."),
]
Days = Annotated[int | None, typer.Option(min=1, max=36_500, help="Links work for so many days. [default: for ever]")]
SizeOfSource = Annotated[
    int | None, typer.Option("--size", min=1, help="So many items a source, drawn at random. [default: all]")
]
Seed = options.Seed
Field = options.Field
Encoding = options.Encoding
Url = Annotated[str, typer.Option(metavar="URL", help="The address under which raters reach the page.")]
UrlOfStudy = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The address under which raters reach the page. [default: the one given to survey create]",
        show_default=False,
    ),
]
Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE.csv|-", help="Where to write the ratings.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks on standard error.")]
