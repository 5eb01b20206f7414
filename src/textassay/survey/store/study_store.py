"""The store of a study: one SQLite file, written so that no confirmed rating is ever lost."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from textassay.corpus.printable import printable
from textassay.errors import InputError
from textassay.survey.model import Door, Participant, Rater, Rating, Stage, Study, Summary, SurveyItem, Task
from textassay.survey.store import answers as answering
from textassay.survey.store import progress as clock
from textassay.survey.store import raters, schema
from textassay.survey.store.answers import Moment, Recorded, Undone
from textassay.survey.store.assignment import Plan, plan_of
from textassay.survey.store.connections import Readers, Writer, connect, database_errors
from textassay.survey.store.file_identity import FileIdentity, check_is_file, copy_study, new_database
from textassay.survey.store.importing import ImportCounts, Imported, add_ratings
from textassay.survey.store.progress import Snapshot, all_ratings, door_of, numbered_items, summary_of
from textassay.survey.store.raters import Refusal, SharedLink, Visitor
from textassay.survey.store.schema import check_items, check_study, put_items, put_study, read_study
from textassay.survey.tokens import digest_of, is_token, item_codes, keyed_digest, new_secret, new_token

__all__ = ["Links", "Recorded", "Refusal", "Store", "Undone", "Visitor"]

# No rater has this number: raters are numbered from 1 on.
_NOBODY = 0
_ANYBODY = Visitor()


@dataclass(frozen=True)
class Links:
    """The tokens of a new study. They cannot be read again, because only their hashes are stored."""

    admin: str
    join: str
    raters: tuple[str, ...]


class Store:
    """An open study. Methods may be called from several threads at once."""

    study: Study

    def __init__(self, study: Study, plan: Plan, *, readers: Readers, writer: Writer, identity: FileIdentity) -> None:
        self.study = study
        self._values = {choice.value for choice in study.choices}
        self._plan = plan
        self._readers = readers
        self._writer = writer
        self._identity = identity
        self._steady_start = clock.now() - clock.steady()

    @classmethod
    def create(cls, path: Path, study: Study, items: Sequence[SurveyItem], *, n_raters: int = 0) -> Links:
        """Create the file of a new study; an existing file is an InputError."""
        check_study(study)
        check_items(study, items)
        _check_count(n_raters)
        secret, admin, shared = new_secret(), new_token(), new_token()
        until = clock.expiry_time(study.days, start=clock.now())
        with database_errors(printable(str(path))), new_database(path) as made, closing(connect(made)) as connection:
            schema.build(connection)
            connection.execute("BEGIN")
            put_study(connection, study, secret=secret, admin=admin, shared=shared, shared_until=until)
            put_items(connection, items, secret)
            personal = raters.add(connection, n_raters, until=until)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        return Links(admin, shared, tuple(personal))

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, timeout: float | None = None) -> Self:
        """Open a study; a file that is not a study is an InputError. A study of version 1 gets the current schema.

        With `read_only` the folder need not be writable, and writing is an InputError. If another process has locked
        the file, methods wait for `timeout` seconds (default 30) and then raise StudyBusy. If the file is deleted,
        moved or replaced while it is open, they raise StudyGone.
        """
        where = printable(str(path))
        check_is_file(path, where)
        with database_errors(where):
            connection = connect(path, read_only=read_only, timeout=timeout)
            try:
                schema.check(connection, where)
                if read_only:
                    schema.show_as_current(connection)
                else:
                    schema.migrate(connection)
                identity = FileIdentity(path, where)
                study, secret = read_study(connection, where)
                plan = plan_of(connection, study, secret)
            except BaseException:
                connection.close()
                raise
        readers = Readers(path.absolute(), where, check=identity.check, read_only=read_only, timeout=timeout)
        writer = Writer(connection, where, check=identity.check)
        return cls(study, plan, readers=readers, writer=writer, identity=identity)

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writer.close()

    def check_identity(self) -> None:
        """Raise StudyGone if the file was replaced, so that answers are not in it; for use after `close`."""
        self._identity.check_at_end()

    def rater(self, token: str) -> Rater | None:
        """The rater with this personal token."""
        with self._readers.reading() as connection:
            return raters.find(connection, token, now=clock.now())

    def participant(self, rater: Rater) -> Participant | None:
        """The ids of another service that the link of this rater had."""
        with self._readers.reading() as connection:
            return raters.participant(connection, rater.number)

    def is_admin(self, token: str) -> bool:
        """Whether this is the admin token."""
        with self._readers.reading() as connection:
            (digest,) = connection.execute("SELECT admin FROM study").fetchone()
        return is_token(token, digest)

    def shared_link(self, token: str) -> SharedLink | None:
        """Whether the shared link is open, expired or closed; None if this is not its token."""
        with self._readers.reading() as connection:
            return raters.shared_link(connection, token, now=clock.now())

    def is_join(self, token: str) -> bool:
        """Whether this is the token of the shared link, and the link is open."""
        return self.shared_link(token) == "open"

    def invite(self, n: int) -> list[str]:
        """Add `n` raters and return their personal tokens."""
        _check_count(n)
        return self._writer.run(lambda connection: raters.add(connection, n, until=self._until()))

    def renew(self, names: Sequence[str]) -> list[str]:
        """Replace the personal tokens of raters by name (`r007`); their answers are kept.

        An unknown name, or a rater without a link, is an InputError, and no token is replaced.
        """
        return self._writer.run(lambda connection: raters.renew(connection, names, until=self._until()))

    def join(self, token: str, visitor: Visitor = _ANYBODY) -> str | None:
        """Add a rater through the shared link and return the personal token.

        None if the token is wrong, if the link has expired or is closed, or if there is a `refusal`.
        """

        def add(connection: sqlite3.Connection) -> str | None:
            if raters.shared_link(connection, token, now=clock.now()) != "open":
                return None
            return raters.join(connection, self._plan, visitor, until=self._until(), now=clock.now())

        return self._writer.run(add) if self.is_join(token) else None

    def refusal(self, visitor: Visitor = _ANYBODY) -> Refusal | None:
        """Why the open shared link does not add this visitor; None if it does.

        Raters with personal invitations are not counted. Raters who joined, answered nothing and left make room for
        others after ten minutes.
        """
        with self._readers.reading() as connection:
            return raters.refusal(connection, self._plan, visitor, now=clock.now())

    def close_join(self, closed: bool = True) -> None:
        """Close the shared link, so that nobody joins any more, or open it again. Raters who have joined continue."""
        self._writer.run(lambda connection: raters.shut(connection, closed))

    def door(self) -> Door:
        """How many raters came by the shared link, and from which addresses."""
        with self._readers.reading() as connection:
            return door_of(connection, self._plan)

    def consent(self, rater: Rater) -> None:
        """Record that this rater has agreed to the study."""
        self._writer.run(lambda connection: raters.consent(connection, rater.number, now=clock.now()))

    def exclude(self, names: Sequence[str], *, excluded: bool = True) -> int:
        """Exclude raters by name (`r007`), so that others get their places; or include them again.

        Their answers stay in the study, do not count, and are not exported. Returns how many raters were changed. An
        unknown name is an InputError, and nothing is changed.
        """
        now = clock.now() if excluded else None
        return self._writer.run(lambda connection: raters.exclude(connection, names, now=now))

    def exclude_and_include(self, names: Sequence[str], included: Sequence[str]) -> tuple[int, int]:
        """Exclude some raters and include others again, or change nothing if a name is unknown; how many changed."""
        now = clock.now()
        return self._writer.run(
            lambda connection: (
                raters.exclude(connection, names, now=now),
                raters.exclude(connection, included, now=None),
            )
        )

    def is_waiting(self, digest: bytes) -> bool:
        """Whether the rater with this digest of a token joined, was here lately, and has not answered anything."""
        with self._readers.reading() as connection:
            return raters.is_waiting(connection, digest, now=clock.now())

    def new_admin(self) -> str:
        """Replace the admin token."""
        token = new_token()
        self._writer.run(lambda connection: connection.execute("UPDATE study SET admin = ?", (digest_of(token),)))
        return token

    def new_join(self) -> str:
        """Replace the shared link."""
        token = new_token()
        self._writer.run(lambda connection: raters.share(connection, token, until=self._until()))
        return token

    def form_key(self, rater: Rater) -> str:
        """The key that the forms of a rater must contain, derived from the study's secret."""
        return keyed_digest(self._plan.secret, "form", rater.number).hex()

    def admin_key(self) -> str:
        """The key that the forms of the admin page must contain."""
        return keyed_digest(self._plan.secret, "admin form").hex()

    def join_key(self, visit: str) -> str:
        """The key that the form of the shared link must contain, for the browser with this cookie.

        Another site can send a browser to the form's address, but knows neither the cookie nor the key.
        """
        return keyed_digest(self._plan.secret, "join", visit).hex()

    def stage(self, rater: Rater) -> Stage:
        """The progress of a rater; assigns no task."""
        with self._readers.reading() as connection:
            return answering.stage_of(connection, self._plan, rater.number)

    def newcomer(self) -> Stage:
        """The progress of somebody who has not joined yet: whether anything is left to rate."""
        with self._readers.reading() as connection:
            return answering.stage_of(connection, self._plan, _NOBODY)

    def task(self, rater: Rater) -> Task | None:
        """The task that this rater has to answer now, the same until it is answered; None when nothing is left."""
        plan, number = self._plan, rater.number
        with self._readers.reading() as connection:
            found = answering.open_task(connection, plan, number)
            if found is not None or answering.n_assigned(connection, number) >= plan.total:
                return found
        return self._writer.run(lambda connection: answering.assign(connection, plan, number, now=self._now()))

    def answer(self, rater: Rater, task: int, value: int) -> Recorded:
        """Record a rating durably: once this returns, the rating survives a crash.

        Returns `already` if the task already has this answer, `kept` if it has another answer (which is kept), `stale`
        if it is not the current task of this rater, `barred` if the study takes no more answers from this rater or from
        the address, and `refused` if the value is not on the scale.
        """
        plan, number = self._plan, rater.number
        if value not in self._values:
            return "refused"
        return self._writer.run(
            lambda connection: answering.answer(connection, plan, number, task, value=value, now=clock.now())
        )

    def undo(self, rater: Rater) -> bool:
        """Withdraw the last answer of this rater, so that its task is the current one again.

        False if there is no answer, or if it has been withdrawn too often.
        """
        plan, number = self._plan, rater.number
        return self._writer.run(lambda connection: answering.undo(connection, plan, number, now=self._now()))

    def undo_shown(self, rater: Rater, shown: int | None) -> Undone:
        """Withdraw the last answer of this rater, if their open task is still `shown` (None: no open task).

        Two clicks, or an answer from another window at the same moment, therefore withdraw nothing that was not meant.
        """
        plan, number = self._plan, rater.number
        return self._writer.run(
            lambda connection: answering.undo_shown(connection, plan, number, shown=shown, now=self._now())
        )

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The study at one point in time, for reading counts and ratings that agree with each other."""
        with self._readers.reading() as connection:
            yield Snapshot(self.study, self._plan, connection)

    def summary(self) -> Summary:
        """The progress of the study."""
        with self._readers.reading() as connection:
            return summary_of(connection, self._plan)

    def items(self) -> list[SurveyItem]:
        """All items including attention checks, in the order of the study."""
        with self._readers.reading() as connection:
            return [item for _, item in numbered_items(connection)]

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """All ratings ordered by item and rater; answers to attention checks only if `checks` is True."""
        with self._readers.reading() as connection:
            yield from all_ratings(connection, checks=checks)

    def codes(self) -> dict[str, str]:
        """A code for the id of each item. It does not reveal the source, and differs between studies."""
        return item_codes((item.id for item in self.items()), self._plan.secret)

    def backup(self, path: Path) -> None:
        """Copy the study to a new file. Its links also open the copy. An existing file is an InputError."""
        with self._readers.reading() as connection:
            copy_study(connection, path)

    def import_ratings(self, ratings: Mapping[str, Sequence[Imported]]) -> ImportCounts:
        """Add ratings from elsewhere by a key of their rater, and return how many are new and how many replaced others.

        If one rating is wrong, none is added. Only digests of the keys are stored. A second import of the same ratings
        changes nothing, and neither do the division into several imports and their order.
        """
        secret, values = self._plan.secret, self._values
        return self._writer.run(
            lambda connection: add_ratings(connection, ratings, secret=secret, values=values, now=clock.now())
        )

    def _now(self) -> Moment:
        return Moment(clock.now(), self._steady_start + clock.steady())

    def _until(self) -> float | None:
        return clock.expiry_time(self.study.days, start=clock.now())


def _check_count(n: int) -> None:
    if not 0 <= n <= 1_000_000:
        raise InputError(f"{n:,} new raters; wanted a number from 0 to 1,000,000")
