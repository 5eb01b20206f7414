"""Tokens: secrets of a study, their digests, and the codes that replace item ids."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

_TOKEN_BYTES = 24
_SECRET_BYTES = 32


def new_token() -> str:
    """A token of 192 random bits that fits in an address.

    Letters and digits only: a mail program may leave a dash or an underscore at the end out of the link.
    """
    return base64.b32encode(secrets.token_bytes(_TOKEN_BYTES)).decode("ascii").rstrip("=").lower()


def new_secret() -> bytes:
    """What a study makes its form keys and its shuffling from."""
    return secrets.token_bytes(_SECRET_BYTES)


def digest_of(token: str) -> bytes:
    """What is stored in place of a token. A plain hash will do: there is nothing to guess in 192 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_token(token: str, digest: bytes) -> bool:
    """Whether a token has this digest, in a time that does not tell how much of it is right."""
    return hmac.compare_digest(digest_of(token), digest)


def keyed(secret: bytes, *labels: str | int) -> bytes:
    """32 bytes that nobody can tell without the secret, always the same for the same labels."""
    return hmac.digest(secret, ":".join(map(str, labels)).encode(), "sha256")


def draw(secret: bytes, *labels: str | int) -> int:
    """A random number from 0 to 2**63 - 1, always the same for the same secret and labels."""
    return int.from_bytes(keyed(secret, *labels)[:8]) >> 1


_DIGITS = 16


def codes_of(ids: Iterable[str], secret: bytes) -> dict[str, str]:
    """A code for each id that says nothing about it, that only the study can work out, and that no other study has.

    >>> codes_of(["human-001"], b"one") == codes_of(["human-001"], b"two")
    False
    """
    # A letter in front: a code such as 12e45678 would be a number to a spreadsheet.
    return {id_: f"i{keyed(secret, 'code', id_).hex()[:_DIGITS]}" for id_ in ids}
