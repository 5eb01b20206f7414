"""The tables of a study's file, and how such a file is told from all others."""

import math
import sqlite3

from textassay.corpus.errors import InputError

# "txta": says in the file's header whose file it is.
APPLICATION = 0x74787461
VERSION = 1
# When a task was shown, where only its answer is known. The column takes no NULL, and no clock shows this time.
UNKNOWN = math.inf

# A task is an item given to a rater. It counts for its item (`queue.load`) when it has been answered, and while it is
# held: shown not long ago and expected to be answered soon. Triggers keep that count, so that nothing can forget it.
# A rater's tasks are numbered by `place` from 0 on and are answered in that order. Raters who joined by the shared link
# as it is now have numbers above `shared_after`.
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
    """Make the tables of a new study."""
    connection.executescript(_TABLES)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, where: str) -> None:
    """Refuse a file that is no study of ours, or that only a later version understands."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise InputError(f"{where}: is no rating study; wanted a file made by textassay survey create")
    if version != VERSION:
        raise InputError(f"{where}: is a study of version {version}; this textassay reads version {VERSION}")
