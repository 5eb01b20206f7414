"""The store of a study: one SQLite file, written so that no acknowledged rating is ever lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from textassay.survey.study import Rater, Rating, Study, Summary, SurveyItem, Task

Recorded = Literal["recorded", "already", "stale", "refused"]


@dataclass(frozen=True)
class Links:
    """The tokens of a new study, in clear this one time: only their hashes are stored."""

    admin: str
    join: str
    raters: tuple[str, ...]


class Store:
    """A study's file, open. Methods may be called from several threads at once."""

    study: Study

    @classmethod
    def create(cls, path: Path, study: Study, items: Sequence[SurveyItem], *, n_raters: int = 0) -> Links:
        """Make a new study file; one that exists is never touched (InputError)."""
        raise NotImplementedError

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a study; anything else than a study file is an InputError."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError

    def rater(self, token: str) -> Rater | None:
        """Whose personal token this is."""
        raise NotImplementedError

    def is_admin(self, token: str) -> bool:
        """Whether this is the admin token."""
        raise NotImplementedError

    def invite(self, n: int) -> list[str]:
        """New raters; their personal tokens."""
        raise NotImplementedError

    def join(self, token: str) -> str | None:
        """A new rater by the link that everybody may share; the personal token, or None where the link is not right."""
        raise NotImplementedError

    def new_admin(self) -> str:
        """A new admin token in place of the old one."""
        raise NotImplementedError

    def new_join(self) -> str:
        """A new shared link in place of the old one."""
        raise NotImplementedError

    def form_key(self, rater: Rater) -> str:
        """What a rater's forms must carry: bound to the rater, made from a secret of the study."""
        raise NotImplementedError

    def task(self, rater: Rater) -> Task | None:
        """The item that this rater has to rate now, always the same until it is answered; None when all is done."""
        raise NotImplementedError

    def answer(self, rater: Rater, task: int, value: int) -> Recorded:
        """Record a rating durably. Once it returns, the rating survives a crash.

        `already` when this task has been answered (the first answer stays), `stale` when it is not this rater's current
        one, `refused` when the value is not on the scale.
        """
        raise NotImplementedError

    def undo(self, rater: Rater) -> bool:
        """Withdraw this rater's last answer, so that its item is the current one again; False where there is none."""
        raise NotImplementedError

    def summary(self) -> Summary:
        """Where the study stands."""
        raise NotImplementedError

    def items(self) -> list[SurveyItem]:
        """All items, attention checks too, in the order in which they were given."""
        raise NotImplementedError

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """All ratings, by item and rater; answers to attention checks only where asked for."""
        raise NotImplementedError
