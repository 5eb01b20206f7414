"""A copy of a study's file, made while the study may be in use."""

import sqlite3
from contextlib import closing
from pathlib import Path

from textassay.corpus.errors import InputError
from textassay.corpus.printable import printable
from textassay.survey.connections import connect, failures_named
from textassay.survey.new_file import new_database


def copy_study(connection: sqlite3.Connection, path: Path) -> None:
    """All that is committed now, in a new file that appears whole or not at all; one that exists is never touched.

    Copying the file itself would leave out what is in the log beside it, and could catch it half written.
    """
    where = printable(str(path))
    with failures_named(where), new_database(path) as made, closing(connect(made)) as copy:
        connection.backup(copy)
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise InputError(f"{where}: the study is damaged, and so would be its copy ({printable(str(found))})")
