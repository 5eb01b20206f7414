"""What a rating study is: its settings, the items to rate, and what is known while it fills."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """One answer of the scale: the number that is recorded, its label and a word of help."""

    value: int
    label: str
    help: str


# Figure 6 of Hashimoto et al. 2019, as recorded in their data: 1 (Invalid) to 6 (Very Typical).
TYPICALITY = (
    Choice(6, "Very Typical", "You expect to see this all the time."),
    Choice(5, "Typical", "You often expect to see something like this."),
    Choice(4, "Average", "Not surprised to see this, but it would not appear as often as a typical one."),
    Choice(3, "Specific", "This is correct, but only in a very specific setting."),
    Choice(2, "Rare", "There is some context where this is correct, but you would be surprised to see it."),
    Choice(1, "Invalid", "Not valid: it has clearly wrong facts or is grammatically incorrect."),
)


@dataclass(frozen=True)
class Study:
    """The settings of a study. `{text}` and `{context}` are not filled into the question: both stand below or above it.

    A page shows `context_intro` and the context (where there is one), `question` and the text, then `note` and the
    choices, in their order. `introduction` comes before the first text (what it is about, consent), `thanks` after the
    last one (such as a completion code). `days` is how long links work after they are made, None for ever. `url` is the
    address that the links were made for, '' for the usual one.
    """

    title: str
    context_intro: str
    question: str
    note: str
    choices: tuple[Choice, ...] = TYPICALITY
    ratings_wanted: int = 20
    items_per_rater: int = 25
    checks_per_rater: int = 1
    days: int | None = None
    introduction: str = ""
    thanks: str = ""
    url: str = ""


@dataclass(frozen=True)
class SurveyItem:
    """A text to rate. `source` is `human` or the name of a model and is never shown to raters.

    `expected` is the only right answer of an attention check, None for all other items.
    """

    id: str
    source: str
    text: str
    context: str | None = None
    log_prob: float | None = None
    expected: int | None = None


@dataclass(frozen=True)
class Rater:
    """Someone who rates: a number and a name such as `r001`; `expired` when the link no longer works."""

    number: int
    name: str
    expired: bool


@dataclass(frozen=True)
class Task:
    """What a rater sees now: `number` fixes the item for this rater, `done` of `total` are answered."""

    number: int
    text: str
    context: str | None
    done: int
    total: int


@dataclass(frozen=True)
class Stage:
    """How far a rater is: answers that stand, of how many if the study needs them, and the open task's number.

    `left` is False when nothing more can come: what this rater could rate has all its ratings, and not only because
    others are giving them just now.
    """

    answered: int
    total: int
    task: int | None
    left: bool


@dataclass(frozen=True)
class Rating:
    """One recorded rating, for export: `seconds` from first shown to answered, None where unknown."""

    item: SurveyItem
    rater: str
    value: int
    seconds: float | None
    at: str


@dataclass(frozen=True)
class RaterProgress:
    """How far one rater is: answers given, how many of their attention checks were right of how many answered."""

    name: str
    done: int
    total: int
    checks_right: int
    checks_done: int
    median_seconds: float | None
    last_seen: str | None


@dataclass(frozen=True)
class Summary:
    """The whole study at a glance. Attention checks do not count as ratings.

    `ratings_an_item` has one entry an item, the number of its ratings.
    """

    ratings: int
    wanted: int
    items: int
    items_complete: int
    ratings_an_item: tuple[int, ...]
    median_seconds: float | None
    raters: tuple[RaterProgress, ...]
