"""The data of a rating study: its settings, its items, its raters and its progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """One answer of the scale: the number that is recorded, its label and its explanation."""

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
    """The settings of a study.

    A page shows `context_intro` and the context (if there is one), `question` and the text, then `note` and the choices
    in their order. `introduction` is shown before the first text (purpose, consent), `thanks` after the last one (for
    example a completion code), and with it a link to `completion_url`. If there is a `consent`, raters must agree to it
    first. `days` is how long new links work, None for no limit. `url` is the address used in links, '' for the default
    one. `language` names the table of the other texts of the page, and `messages` replaces some or all of them.

    Raters who joined by the shared link from one address give at most `address_share` percent of the ratings. After
    `proof_after` raters, the shared link adds only those whose link has an id of Prolific or of Mechanical Turk.
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
    consent: str = ""
    completion_url: str = ""
    language: str = "en"
    messages: Mapping[str, str] = field(default_factory=dict)
    address_share: int = 25
    proof_after: int | None = None


@dataclass(frozen=True)
class SurveyItem:
    """A text to rate. `source` is `human` or the name of a model, and is never shown to raters.

    `expected` is the right answer to an attention check, None for all other items.
    """

    id: str
    source: str
    text: str
    context: str | None = None
    log_prob: float | None = None
    expected: int | None = None


@dataclass(frozen=True)
class Rater:
    """A rater: a number and a name such as `r001`. `expired` is True when the personal link no longer works."""

    number: int
    name: str
    expired: bool


@dataclass(frozen=True)
class Participant:
    """A rater as another service knows them: ids from the link. `service` is `prolific` or `mturk`.

    `person` is PROLIFIC_PID or workerId, `study` is STUDY_ID or hitId, `session` is SESSION_ID or assignmentId.
    """

    service: str
    person: str
    study: str = ""
    session: str = ""


@dataclass(frozen=True)
class Task:
    """The item that a rater sees now: the number of the task, and how many of `total` tasks are `done`."""

    number: int
    text: str
    context: str | None
    done: int
    total: int


@dataclass(frozen=True)
class Stage:
    """The progress of a rater: tasks answered, tasks in total, and the number of the open task.

    `left` is False when no item is left for this rater: all that they could rate have enough ratings. Items that are
    only reserved for other raters count as left. `barred` is True if the raters of this address have given as many
    ratings as they may, and `asks_consent` if the rater has to agree to the study first.
    """

    answered: int
    total: int
    task: int | None
    left: bool
    barred: bool = False
    asks_consent: bool = False

    @property
    def enough(self) -> int:
        """The number of answers that complete a rater's part if nothing is left to rate: half of the tasks."""
        return (self.total + 1) // 2

    @property
    def is_complete(self) -> bool:
        """Whether the rater has done their part, so that they get the completion code."""
        return self.answered >= self.total or (not self.left and self.answered >= self.enough)


@dataclass(frozen=True)
class Rating:
    """One recorded rating, for export. `seconds` is the time from first shown to answered, None if unknown."""

    item: SurveyItem
    rater: str
    value: int
    seconds: float | None
    at: str


@dataclass(frozen=True)
class AddressUse:
    """Raters who joined by the current shared link from one address: their number and their ratings.

    `code` stands for the address, which is not stored. `load` counts ratings and reservations together.
    """

    code: str
    joined: int
    started: int
    ratings: int
    load: int


@dataclass(frozen=True)
class Door:
    """The shared link: whether it is closed, the raters it has added, and the addresses that most came from.

    Raters of one address have at most `most` ratings and reservations.
    """

    closed: bool
    joined: int
    most: int
    addresses: tuple[AddressUse, ...]


@dataclass(frozen=True)
class RaterProgress:
    """The progress of one rater: tasks answered, and attention checks answered and answered correctly.

    `median_seconds` is of the `n_timed` ratings with a known duration. The ratings of an excluded rater do not count.
    """

    name: str
    done: int
    total: int
    checks_right: int
    checks_done: int
    median_seconds: float | None
    last_seen: str | None
    n_timed: int = 0
    excluded: bool = False


@dataclass(frozen=True)
class Summary:
    """The progress of a study. Attention checks do not count as ratings.

    `ratings_per_item` has the number of ratings of each item.
    """

    ratings: int
    wanted: int
    items: int
    items_complete: int
    ratings_per_item: tuple[int, ...]
    median_seconds: float | None
    raters: tuple[RaterProgress, ...]

    @property
    def share(self) -> int:
        """The percentage of the wanted ratings, rounded down: 100 only if no item lacks one.

        Ratings beyond those that an item needs do not count, such as imported ones.
        """
        if not self.wanted:
            return 0
        each = self.wanted // self.items
        return 100 * sum(min(count, each) for count in self.ratings_per_item) // self.wanted
