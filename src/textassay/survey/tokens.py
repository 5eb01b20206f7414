"""Tokens in links, their digests, and the codes that replace item ids."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

_TOKEN_BYTES = 24
_SECRET_BYTES = 32


def new_token() -> str:
    """A token of 192 random bits, in letters and digits.

    Mail programs may cut a dash or an underscore from the end of a link.
    """
    return base64.b32encode(secrets.token_bytes(_TOKEN_BYTES)).decode("ascii").rstrip("=").lower()


def new_secret() -> bytes:
    """The secret from which a study derives its form keys and its random order."""
    return secrets.token_bytes(_SECRET_BYTES)


def digest_of(token: str) -> bytes:
    """The hash that is stored in place of a token. A plain hash is safe: 192 random bits cannot be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_token(token: str, digest: bytes) -> bool:
    """Whether a token has this digest, compared in constant time."""
    return hmac.compare_digest(digest_of(token), digest)


def keyed_digest(secret: bytes, *labels: str | int) -> bytes:
    """32 bytes derived from the secret and the labels (HMAC-SHA256)."""
    return hmac.digest(secret, ":".join(map(str, labels)).encode(), "sha256")


def draw(secret: bytes, *labels: str | int) -> int:
    """A pseudo-random number from 0 to 2**63 - 1, derived from the secret and the labels."""
    return int.from_bytes(keyed_digest(secret, *labels)[:8]) >> 1


_DIGITS = 16


def item_codes(ids: Iterable[str], secret: bytes) -> dict[str, str]:
    """A code for each id. It reveals nothing about the id, and differs between studies.

    >>> item_codes(["human-001"], b"one") == item_codes(["human-001"], b"two")
    False
    """
    # A letter first: a spreadsheet would read a code such as 12e45678 as a number.
    return {id_: f"i{keyed_digest(secret, 'code', id_).hex()[:_DIGITS]}" for id_ in ids}
