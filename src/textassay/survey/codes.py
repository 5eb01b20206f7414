"""Codes that stand for items where their ids must not be seen, such as in a batch for Mechanical Turk."""

from collections.abc import Iterable

from textassay.survey.tokens import keyed

_DIGITS = 16


def codes_of(ids: Iterable[str], secret: bytes) -> dict[str, str]:
    """A code for each id that says nothing about it, that only the study can work out, and that no other study has.

    >>> codes_of(["human-001"], b"one") == codes_of(["human-001"], b"two")
    False
    """
    # A letter in front: a code such as 12e45678 would be a number to a spreadsheet.
    return {id_: f"i{keyed(secret, 'code', id_).hex()[:_DIGITS]}" for id_ in ids}
