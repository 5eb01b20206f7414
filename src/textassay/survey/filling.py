"""The first content of a study's file: its settings, its items and the digests of its links."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from textassay.corpus.errors import InputError
from textassay.survey.study import Choice, Study, SurveyItem
from textassay.survey.tokens import digest_of, draw


def put_study(
    connection: sqlite3.Connection, study: Study, *, secret: bytes, admin: str, shared: str, shared_until: float | None
) -> None:
    """The one row of settings and secrets."""
    settings = asdict(study)
    if not study.url:
        # Left out, so that earlier versions read the study too.
        del settings["url"]
    connection.execute(
        "INSERT INTO study (one, settings, secret, admin, shared, shared_until) VALUES (1, ?, ?, ?, ?, ?)",
        (json.dumps(settings), secret, digest_of(admin), digest_of(shared), shared_until),
    )


def put_items(connection: sqlite3.Connection, items: Sequence[SurveyItem], secret: bytes) -> None:
    """Items with numbers in their order, a context stored once, and those to rate in the queue in random order."""
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
