"""The schema of a study's file, the initial data of a new study, and its validation."""

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from textassay.corpus.printable import many, shortened
from textassay.errors import InputError
from textassay.survey.model import Choice, Study, SurveyItem
from textassay.survey.tokens import digest_of, draw

# "txta" in the header of the file identifies it as a study.
APPLICATION = 0x74787461
VERSION = 1
# The value of `shown` if the time is unknown. The column is NOT NULL.
UNKNOWN = math.inf

# A task is an item given to a rater. It counts towards the load of its item (`queue.load`) once it is answered, and
# while it is held: shown recently and expected to be answered soon. Triggers update the load. The tasks of a rater are
# numbered by `place` from 0 on and are answered in that order. Raters who joined through the current shared link have
# numbers above `shared_after`.
_TABLES = """
CREATE TABLE study (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    settings TEXT NOT NULL,
    secret BLOB NOT NULL,
    admin BLOB NOT NULL,
    shared BLOB NOT NULL,
    shared_until REAL,
    shared_after INTEGER NOT NULL DEFAULT 0
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
    load INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX queue_order ON queue (load, source, shuffle);
CREATE TABLE raters (
    number INTEGER PRIMARY KEY,
    token BLOB NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('invited', 'joined', 'imported')),
    until REAL,
    seen REAL
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
CREATE TRIGGER task_given AFTER INSERT ON tasks BEGIN
    UPDATE queue SET load = load + (new.value IS NOT NULL OR new.held_until IS NOT NULL) WHERE item = new.item;
END;
CREATE TRIGGER task_changed AFTER UPDATE OF value, held_until ON tasks BEGIN
    UPDATE queue SET load = load + (new.value IS NOT NULL OR new.held_until IS NOT NULL)
        - (old.value IS NOT NULL OR old.held_until IS NOT NULL) WHERE item = new.item;
END;
"""


def build(connection: sqlite3.Connection) -> None:
    """Create the tables of a new study."""
    connection.executescript(_TABLES)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, where: str) -> None:
    """Refuse a file that is not a study, or that has another version of the schema."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise InputError(f"{where}: not a rating study; wanted a file made by textassay survey create")
    if version != VERSION:
        raise InputError(f"{where}: a study of version {version}; this textassay reads version {VERSION}")


def put_study(
    connection: sqlite3.Connection, study: Study, *, secret: bytes, admin: str, shared: str, shared_until: float | None
) -> None:
    """Insert the settings and secrets."""
    settings = asdict(study)
    if not study.url:
        # Left out, so that earlier versions can read the study.
        del settings["url"]
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

    for name in ("title", "introduction", "context_intro", "question", "note", "thanks"):
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
    for place, item in enumerate(items, 1):
        where = f"item {place} ('{shortened(item.id, 60)}')"
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
