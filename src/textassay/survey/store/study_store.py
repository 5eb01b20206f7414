"""The store of a study: one SQLite file, written so that no acknowledged rating is ever lost."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.model import Rater, Rating, Stage, Study, Summary, SurveyItem, Task
from textassay.survey.store import answers as answering
from textassay.survey.store import progress as clock
from textassay.survey.store import raters, schema
from textassay.survey.store.answers import Recorded
from textassay.survey.store.assignment import Plan, plan_of
from textassay.survey.store.connections import Readers, Writer, connect, failures_named
from textassay.survey.store.file_identity import InPlace, check_is_file, copy_study, new_database
from textassay.survey.store.importing import Imported, add_ratings
from textassay.survey.store.progress import all_ratings, numbered_items, summary_of
from textassay.survey.store.raters import SharedLink
from textassay.survey.store.schema import check_items, check_study, put_items, put_study, read_study
from textassay.survey.tokens import codes_of, digest_of, is_token, keyed, new_secret, new_token

__all__ = ["Links", "Recorded", "Store"]

# Raters are numbered from 1 on.
_NOBODY = 0


@dataclass(frozen=True)
class Links:
    """The tokens of a new study, in clear this one time: only their hashes are stored."""

    admin: str
    join: str
    raters: tuple[str, ...]


class Store:
    """A study's file, open. Methods may be called from several threads at once."""

    study: Study

    def __init__(self, study: Study, plan: Plan, *, readers: Readers, writer: Writer, in_place: InPlace) -> None:
        self.study = study
        self._values = {choice.value for choice in study.choices}
        self._plan = plan
        self._readers = readers
        self._writer = writer
        self._in_place = in_place

    @classmethod
    def create(cls, path: Path, study: Study, items: Sequence[SurveyItem], *, n_raters: int = 0) -> Links:
        """Make a new study file; one that exists is never touched (InputError)."""
        check_study(study)
        check_items(study, items)
        _check_count(n_raters)
        secret, admin, shared = new_secret(), new_token(), new_token()
        until = clock.end_of(study.days, start=clock.now())
        with failures_named(printable(str(path))), new_database(path) as made, closing(connect(made)) as connection:
            schema.build(connection)
            connection.execute("BEGIN")
            put_study(connection, study, secret=secret, admin=admin, shared=shared, shared_until=until)
            put_items(connection, items, secret)
            personal = raters.add(connection, n_raters, until=until)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        return Links(admin, shared, tuple(personal))

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, patience: float | None = None) -> Self:
        """Open a study; anything else than a study file is an InputError.

        `read_only` is for who only looks: it works where nothing can be written, and writing is then an InputError.
        While another process holds the file one waits for `patience` seconds, half a minute where that is not said,
        and then it is StudyBusy. A file that is deleted, moved or replaced while it is open is StudyGone from then on.
        """
        where = printable(str(path))
        check_is_file(path, where)
        with failures_named(where):
            connection = connect(path, read_only=read_only, patience=patience)
            try:
                schema.check(connection, where)
                in_place = InPlace(path, where)
                study, secret = read_study(connection, where)
                plan = plan_of(connection, study, secret)
            except BaseException:
                connection.close()
                raise
        readers = Readers(path.absolute(), where, check=in_place.check, read_only=read_only, patience=patience)
        writer = Writer(connection, where, check=in_place.check)
        return cls(study, plan, readers=readers, writer=writer, in_place=in_place)

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writer.close()

    def check_in_place(self) -> None:
        """StudyGone where a study that is closed by now is not in its file, since that was not in its place."""
        self._in_place.check_at_end()

    def rater(self, token: str) -> Rater | None:
        """Whose personal token this is."""
        with self._readers.reading() as connection:
            return raters.find(connection, token, now=clock.now())

    def is_admin(self, token: str) -> bool:
        """Whether this is the admin token."""
        with self._readers.reading() as connection:
            (digest,) = connection.execute("SELECT admin FROM study").fetchone()
        return is_token(token, digest)

    def shared_link(self, token: str) -> SharedLink | None:
        """Whether the shared link still makes raters, or its time is over; None where this is not its token."""
        with self._readers.reading() as connection:
            return raters.shared_link(connection, token, now=clock.now())

    def is_join(self, token: str) -> bool:
        """Whether this is the token of the shared link, and the link still works."""
        return self.shared_link(token) == "open"

    def invite(self, n: int) -> list[str]:
        """New raters; their personal tokens."""
        _check_count(n)
        return self._writer.run(lambda connection: raters.add(connection, n, until=self._until()))

    def renew(self, names: Sequence[str]) -> list[str]:
        """New personal tokens for raters of these names (`r007`), in place of lost ones; all their answers stay.

        A name that is not there, or that has no link, is an InputError, and then no token is replaced.
        """
        return self._writer.run(lambda connection: raters.renew(connection, names, until=self._until()))

    def join(self, token: str) -> str | None:
        """A new rater by the link that everybody may share; the personal token, or None where the link is not right.

        None too when the link has made many times more raters than the study needs (`full`).
        """
        if not self.is_join(token):
            return None

        def work(connection: sqlite3.Connection) -> str | None:
            if raters.is_full(connection, self._plan):
                return None
            return raters.add(connection, 1, until=self._until(), origin="joined")[0]

        return self._writer.run(work)

    def full(self) -> bool:
        """Whether the shared link makes no more raters, whoever has it, until there is a new one (`new_join`).

        Those who were invited one by one are not counted.
        """
        with self._readers.reading() as connection:
            return raters.is_full(connection, self._plan)

    def new_admin(self) -> str:
        """A new admin token in place of the old one."""
        token = new_token()
        self._writer.run(lambda connection: connection.execute("UPDATE study SET admin = ?", (digest_of(token),)))
        return token

    def new_join(self) -> str:
        """A new shared link in place of the old one."""
        token = new_token()
        self._writer.run(lambda connection: raters.share(connection, token, until=self._until()))
        return token

    def form_key(self, rater: Rater) -> str:
        """What a rater's forms must carry: bound to the rater, made from a secret of the study."""
        return keyed(self._plan.secret, "form", rater.number).hex()

    def stage(self, rater: Rater) -> Stage:
        """How far this rater is; only looks, and gives no task."""
        with self._readers.reading() as connection:
            return answering.stage_of(connection, self._plan, rater.number)

    def newcomer(self) -> Stage:
        """How far somebody is who has not joined yet: whether anything is left for them."""
        with self._readers.reading() as connection:
            return answering.stage_of(connection, self._plan, _NOBODY)

    def task(self, rater: Rater) -> Task | None:
        """The item that this rater has to rate now, always the same until it is answered; None when all is done."""
        plan, number = self._plan, rater.number
        with self._readers.reading() as connection:
            found = answering.current(connection, plan, number)
            if found is not None or answering.given_so_far(connection, number) >= plan.total:
                return found
        return self._writer.run(lambda connection: answering.give(connection, plan, number, now=clock.now()))

    def answer(self, rater: Rater, task: int, value: int) -> Recorded:
        """Record a rating durably. Once it returns, the rating survives a crash.

        `already` when this task has been answered so before, `kept` when it has been answered otherwise (that answer
        stays), `stale` when it is not this rater's current one, `refused` when the value is not on the scale.
        """
        if value not in self._values:
            return "refused"
        return self._writer.run(
            lambda connection: answering.answer(connection, rater.number, task, value=value, now=clock.now())
        )

    def undo(self, rater: Rater) -> bool:
        """Withdraw this rater's last answer, so that its item is the current one again.

        False where there is none, or where it was withdrawn so often that it stays.
        """
        return self._writer.run(lambda connection: answering.undo(connection, rater.number, now=clock.now()))

    def summary(self) -> Summary:
        """Where the study stands."""
        with self._readers.reading() as connection:
            return summary_of(connection, self._plan)

    def items(self) -> list[SurveyItem]:
        """All items, attention checks too, in the order in which they were given."""
        with self._readers.reading() as connection:
            return [item for _, item in numbered_items(connection)]

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """All ratings, by item and rater; answers to attention checks only where asked for."""
        with self._readers.reading() as connection:
            yield from all_ratings(connection, checks=checks)

    def codes(self) -> dict[str, str]:
        """A code for each item's id that says nothing about its source, and that no other study has."""
        return codes_of((item.id for item in self.items()), self._plan.secret)

    def backup(self, path: Path) -> None:
        """A copy of the study as it is now, in a new file: its links open it too. One that exists is never touched."""
        with self._readers.reading() as connection:
            copy_study(connection, path)

    def import_ratings(self, ratings: Mapping[str, Sequence[Imported]]) -> int:
        """Add ratings that were given elsewhere, by any key of their rater: all of them, or none where one is wrong.

        A key is not stored, but known again: a rating that was added before is not added twice. How many were new.
        """
        secret, values = self._plan.secret, self._values
        return self._writer.run(
            lambda connection: add_ratings(connection, ratings, secret=secret, values=values, now=clock.now())
        )

    def _until(self) -> float | None:
        return clock.end_of(self.study.days, start=clock.now())


def _check_count(n: int) -> None:
    if not 0 <= n <= 1_000_000:
        raise InputError(f"{n} new raters; wanted a number from 0 to 1,000,000")
