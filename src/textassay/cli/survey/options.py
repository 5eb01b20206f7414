"""The options of the survey commands, each described once."""

from typing import Annotated

import typer

from textassay.cli import options

StudyFile = Annotated[str, typer.Argument(metavar="STUDY.db", help="The file of the study.")]
NewStudyFile = Annotated[
    str, typer.Argument(metavar="STUDY.db", help="The file to create. An existing file is never overwritten.")
]
Human = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Texts written by people: .txt (one text per line), .jsonl, .json, .csv, .tsv or .parquet."
    ),
]
Model = Annotated[
    str | None, typer.Option(metavar="FILE", help="Texts written by the model, in one of the same formats.")
]
ModelName = Annotated[str, typer.Option(metavar="NAME", help="The name of the model in the exported ratings.")]
Items = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Instead of --human and --model: one file with the columns source (human, or the model's name) and text, "
        "and optionally item, context and log_prob.",
    ),
]
Contexts = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Contexts, one per line. Line N belongs to line N of the human and of the model texts."
    ),
]
ContextField = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column with the contexts. [default: context, if the file has it]"),
]
LogProbField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column with log-probabilities under the model. [default: log_prob, if the file has it]",
    ),
]
Title = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The heading of the page. [default: from the template]")
]
ContextName = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What the page calls the context, such as 'news article'. [default: context, or its translation]",
        show_default=False,
    ),
]
TextName = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What the page calls a text, such as title. [default: text, or its translation]",
        show_default=False,
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="en|de|FILE.toml",
        help="The language of the page: English, German, or your own table of all its texts. [default: en]",
        show_default=False,
    ),
]
CompletionUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="A link for raters who have done their part, such as the completion link of Prolific."
    ),
]
AddressShare = Annotated[
    int,
    typer.Option(
        metavar="PERCENT",
        min=1,
        max=100,
        help="The largest share of the ratings by raters who joined by the shared link from one address.",
    ),
]
ProofAfter = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="After N raters, the shared link only adds raters whose link has an id of Prolific or of Mechanical Turk. "
        "[default: no limit]",
        show_default=False,
    ),
]
Template = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.toml",
        help="Your own wording of the page: title, introduction, consent, context_intro, question, note, thanks, "
        "completion_url, language, [[choices]] with value, label and help, and other texts under [messages].",
    ),
]
Ratings = Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Number of ratings per item.")]
ItemsPerRater = Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Number of items per rater.")]
Checks = Annotated[int, typer.Option(metavar="N", min=0, max=1_000, help="Number of attention checks per rater.")]
ChecksFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.csv", help="Your own attention checks: the columns text, expected and optionally context."
    ),
]
Raters = Annotated[
    int, typer.Option(metavar="N", min=0, max=100_000, help="Number of raters to create with personal links.")
]
MoreRaters = Annotated[
    int, typer.Option(metavar="N", min=0, max=100_000, help="Number of raters to add with personal links.")
]
LinksFile = Annotated[
    str | None,
    typer.Option("--links", metavar="FILE.csv", help="Write personal links to a new file instead of printing them."),
]
Days = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=36_500, help="Number of days for which the links of raters work. [default: no limit]"
    ),
]
SizeOfSource = Annotated[
    int | None,
    typer.Option("--size", metavar="N", min=1, help="Number of texts per source, drawn at random. [default: all]"),
]
Seed = options.Seed
Field = options.Field
Encoding = options.Encoding
MaxInput = options.MaxInput
Url = Annotated[str, typer.Option(metavar="URL", help="The address at which raters open the page.")]
UrlOfStudy = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The address at which raters open the page. [default: the one given to survey create]",
        show_default=False,
    ),
]
Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE.csv|-", help="Where to write the ratings.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages on standard error.")]
