"""The schema of a study's file, the initial data of a new study, and its validation."""

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from textassay.corpus.printable import many, shortened
from textassay.errors import InputError
from textassay.survey.model import Choice, Study, SurveyItem
from textassay.survey.tokens import digest_of, draw

# "txta" in the header of the file identifies it as a study.
APPLICATION = 0x74787461
VERSION = 2
# The value of `shown` if the time is unknown. The column is NOT NULL.
UNKNOWN = math.inf

# A task is an item given to a rater. It counts towards the load of its item (`queue.load`) once it is answered, and
# while it is held: shown recently and expected to be answered soon. `queue.firm` counts the same without raters who
# joined by a shared link: a rater with a personal link may rate an item until `firm` has reached the wanted number. The
# tasks of excluded raters count in neither. `addresses.load` counts the tasks of all raters who joined by one shared
# link from one address, without attention checks. Triggers update these numbers.
#
# The tasks of a rater are numbered by `place` from 0 on and are answered in that order. A hold is `provisional` if the
# rater joined by a shared link and has no record yet. Raters who joined through the current shared link have numbers
# above `shared_after`.
_TABLES = """
CREATE TABLE study (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    settings TEXT NOT NULL,
    secret BLOB NOT NULL,
    admin BLOB NOT NULL,
    shared BLOB NOT NULL,
    shared_until REAL,
    shared_after INTEGER NOT NULL DEFAULT 0,
    shared_closed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contexts (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE items (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    context INTEGER REFERENCES contexts,
    log_prob REAL,
    expected INTEGER
);
CREATE TABLE queue (
    item INTEGER PRIMARY KEY REFERENCES items,
    source TEXT NOT NULL,
    context INTEGER,
    shuffle INTEGER NOT NULL,
    load INTEGER NOT NULL DEFAULT 0,
    firm INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX queue_order ON queue (load, source, shuffle);
CREATE TABLE raters (
    number INTEGER PRIMARY KEY,
    token BLOB NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('invited', 'joined', 'imported')),
    until REAL,
    seen REAL,
    address INTEGER REFERENCES addresses,
    consented REAL,
    excluded REAL
);
CREATE INDEX raters_joined ON raters (number) WHERE origin = 'joined';
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    rater INTEGER NOT NULL REFERENCES raters,
    place INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items,
    shown REAL NOT NULL,
    held_until REAL,
    value INTEGER,
    answered REAL,
    provisional INTEGER NOT NULL DEFAULT 0,
    UNIQUE (rater, place),
    UNIQUE (item, rater),
    CHECK ((value IS NULL) = (answered IS NULL)),
    CHECK (value IS NULL OR held_until IS NULL)
);
CREATE INDEX tasks_open ON tasks (rater, place) WHERE value IS NULL;
CREATE INDEX tasks_held ON tasks (held_until) WHERE held_until IS NOT NULL;
CREATE TABLE withdrawn (
    number INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks,
    value INTEGER NOT NULL,
    answered REAL NOT NULL,
    withdrawn REAL NOT NULL
);
CREATE INDEX withdrawn_task ON withdrawn (task);
"""
# `mark` is a keyed hash of an address and of the shared link. A participant is a rater whose link had an id of Prolific
# or of Mechanical Turk; nobody takes part twice with one id.
_NEW_TABLES = """
CREATE TABLE addresses (number INTEGER PRIMARY KEY, mark BLOB NOT NULL UNIQUE, load INTEGER NOT NULL DEFAULT 0);
CREATE INDEX raters_by_address ON raters (address) WHERE address IS NOT NULL;
CREATE TABLE participants (
    rater INTEGER PRIMARY KEY REFERENCES raters,
    service TEXT NOT NULL,
    person TEXT NOT NULL,
    study TEXT NOT NULL,
    session TEXT NOT NULL,
    UNIQUE (service, person)
);
"""
# What a task adds to the load of its item and of its address when it begins to count.
_COUNT = """
    UPDATE queue SET
        load = load + {by} * (SELECT excluded IS NULL FROM raters WHERE number = new.rater),
        firm = firm + {by} * (SELECT excluded IS NULL AND origin != 'joined' FROM raters WHERE number = new.rater)
        WHERE item = new.item;
    UPDATE addresses SET load = load + {by}
        WHERE number = (SELECT address FROM raters WHERE number = new.rater)
        AND new.item IN (SELECT item FROM queue);
"""
_NEW_COUNTS = "(new.value IS NOT NULL OR new.held_until IS NOT NULL)"
_OLD_COUNTS = "(old.value IS NOT NULL OR old.held_until IS NOT NULL)"
_TRIGGERS = f"""
CREATE TRIGGER task_given AFTER INSERT ON tasks WHEN {_NEW_COUNTS} BEGIN{_COUNT.format(by=1)}END;
CREATE TRIGGER task_begins_to_count AFTER UPDATE OF value, held_until ON tasks WHEN {_NEW_COUNTS} > {_OLD_COUNTS}
BEGIN{_COUNT.format(by=1)}END;
CREATE TRIGGER task_stops_counting AFTER UPDATE OF value, held_until ON tasks WHEN {_NEW_COUNTS} < {_OLD_COUNTS}
BEGIN{_COUNT.format(by=-1)}END;
"""
# From version 1. Raters who joined then have no address, so that no cap holds for them.
_MIGRATION = (
    "ALTER TABLE study ADD COLUMN shared_closed INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE queue ADD COLUMN firm INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE raters ADD COLUMN address INTEGER REFERENCES addresses",
    "ALTER TABLE raters ADD COLUMN consented REAL",
    "ALTER TABLE raters ADD COLUMN excluded REAL",
    "ALTER TABLE tasks ADD COLUMN provisional INTEGER NOT NULL DEFAULT 0",
    "DROP TRIGGER task_given",
    "DROP TRIGGER task_changed",
)


def build(connection: sqlite3.Connection) -> None:
    """Create the tables of a new study."""
    connection.executescript(_TABLES + _NEW_TABLES + _TRIGGERS)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, where: str) -> None:
    """Refuse a file that is not a study, or that has a version of the schema that cannot be read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise InputError(f"{where}: not a rating study; wanted a file made by textassay survey create")
    if (version := version_of(connection)) not in (1, VERSION):
        raise InputError(f"{where}: a study of version {version}; this textassay reads versions 1 to {VERSION}")


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the schema. A study of version 1 that is opened for reading only keeps it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


# Names that hide tables of a study of version 1 from a connection that only reads.
_AS_CURRENT = (
    "CREATE TEMP VIEW raters AS SELECT *, NULL AS address, NULL AS consented, NULL AS excluded FROM main.raters",
    "CREATE TEMP TABLE participants (rater INTEGER, service TEXT, person TEXT, study TEXT, session TEXT)",
)


def show_as_current(connection: sqlite3.Connection) -> None:
    """Let a reading connection see what the current version has beyond version 1; the file stays as it is."""
    if version_of(connection) == VERSION:
        return
    connection.execute("PRAGMA query_only = OFF")
    for statement in _AS_CURRENT:
        connection.execute(statement)
    connection.execute("PRAGMA query_only = ON")


def migrate(connection: sqlite3.Connection) -> None:
    """Change a study of version 1 to the current version, completely or not at all."""
    if version_of(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have changed it in the meantime.
        if version_of(connection) != VERSION:
            for statement in (*_MIGRATION, *_statements(_NEW_TABLES + _TRIGGERS)):
                connection.execute(statement)
            count_again(connection)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the open transaction."""
    held = ""
    for line in script.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held
            held = ""


def count_again(connection: sqlite3.Connection) -> None:
    """Compute the loads of all items from the tasks, for raters who were excluded or included again."""
    counting = (
        "SELECT count(*) FROM tasks t JOIN raters r ON r.number = t.rater WHERE t.item = queue.item"
        " AND r.excluded IS NULL AND (t.value IS NOT NULL OR t.held_until IS NOT NULL)"
    )
    connection.execute(f"UPDATE queue SET load = ({counting}), firm = ({counting} AND r.origin != 'joined')")  # noqa: S608


def put_study(
    connection: sqlite3.Connection, study: Study, *, secret: bytes, admin: str, shared: str, shared_until: float | None
) -> None:
    """Insert the settings and secrets."""
    settings = asdict(study)
    connection.execute(
        "INSERT INTO study (one, settings, secret, admin, shared, shared_until) VALUES (1, ?, ?, ?, ?, ?)",
        (json.dumps(settings), secret, digest_of(admin), digest_of(shared), shared_until),
    )


def put_items(connection: sqlite3.Connection, items: Sequence[SurveyItem], secret: bytes) -> None:
    """Insert the items in their order, each context once, and the items to rate into the queue in random order."""
    distinct = dict.fromkeys(item.context for item in items if item.context is not None)
    contexts = {text: number for number, text in enumerate(distinct, 1)}
    connection.executemany(
        "INSERT INTO contexts (number, text) VALUES (?, ?)", ((number, text) for text, number in contexts.items())
    )
    for number, item in enumerate(items, 1):
        context = None if item.context is None else contexts[item.context]
        connection.execute(
            "INSERT INTO items (number, id, source, text, context, log_prob, expected) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, item.id, item.source, item.text, context, item.log_prob, item.expected),
        )
        if item.expected is None:
            connection.execute(
                "INSERT INTO queue (item, source, context, shuffle) VALUES (?, ?, ?, ?)",
                (number, item.source, context, draw(secret, "shuffle", number)),
            )


def read_study(connection: sqlite3.Connection, where: str) -> tuple[Study, bytes]:
    """The settings and the secret."""
    row = connection.execute("SELECT settings, secret FROM study").fetchone()
    try:
        settings = json.loads(row[0])
        choices = tuple(Choice(**choice) for choice in settings.pop("choices"))
        return Study(**settings, choices=choices), bytes(row[1])
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"{where}: the study's settings are damaged ({type(error).__name__})") from error


_LARGEST = 2**31 - 1


def check_study(study: Study) -> None:
    """Refuse settings that are out of range, and texts that cannot be stored or shown."""
    # Imports Arrow, which a server that only opens a study does not need.
    from textassay.corpus.values import check_text

    for name in ("title", "introduction", "consent", "context_intro", "question", "note", "thanks"):
        check_text(getattr(study, name), f"the study's {name}")
    for choice in study.choices:
        check_text(choice.label + choice.help, f"choice {choice.value}")
        if abs(choice.value) > _LARGEST:
            raise InputError(f"choice {choice.value}: wanted a value from -{_LARGEST} to {_LARGEST}")
    values = [choice.value for choice in study.choices]
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError(f"the choices have the values {shortened(str(values))}; wanted two or more, all different")
    _check_number("ratings per item", study.ratings_wanted, least=1)
    _check_number("items per rater", study.items_per_rater, least=1)
    _check_number("attention checks per rater", study.checks_per_rater, least=0)
    if study.days is not None:
        _check_number("days for which links work", study.days, least=0)


def check_items(study: Study, items: Sequence[SurveyItem]) -> None:
    """Refuse items without any to rate, duplicate ids, and expected answers that are not on the scale."""
    from textassay.corpus.values import check_text

    if all(item.expected is not None for item in items):
        raise InputError(f"{many(len(items), 'item')}, but none to rate; wanted at least one")
    values = {choice.value for choice in study.choices}
    seen: set[str] = set()
    for index, item in enumerate(items, 1):
        where = f"item {index} ('{shortened(item.id, 60)}')"
        for text in (item.id, item.source, item.text, item.context or ""):
            check_text(text, where)
        if item.id in seen:
            raise InputError(f"{where}: another item has this id; wanted unique ids")
        seen.add(item.id)
        if item.log_prob is not None and math.isnan(item.log_prob):
            raise InputError(f"{where}: the log-probability is nan; wanted a number or no value")
        if item.expected is not None and item.expected not in values:
            raise InputError(f"{where}: expects the answer {item.expected}, which is not on the scale")


def _check_number(what: str, number: int, *, least: int) -> None:
    if not least <= number <= _LARGEST:
        raise InputError(f"{what}: {number}; wanted a number from {least} to {_LARGEST}")
