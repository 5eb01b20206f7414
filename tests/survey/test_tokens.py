"""Tokens of a study: long, all different, compared in full, and other values derived from the secret."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.survey.tokens import digest_of, draw, is_token, keyed_digest, new_secret, new_token


@pytest.fixture(autouse=True)
def _same_chances() -> None:
    """Here chance itself is tested: nothing stands in for it."""


def test_tokens_have_192_bits_and_are_never_the_same() -> None:
    tokens = {new_token() for _ in range(200)}
    assert len(tokens) == 200
    assert {len(base64.b32decode(token.upper() + "=" * (-len(token) % 8))) for token in tokens} == {24}
    assert len({new_secret() for _ in range(50)}) == 50


def test_tokens_hold_nothing_that_a_mail_program_would_take_for_the_end_of_a_link() -> None:
    assert {sign for _ in range(200) for sign in new_token()} == set("abcdefghijklmnopqrstuvwxyz234567")


@given(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=60))
def test_only_the_token_itself_is_right(one: str, other: str) -> None:
    assert is_token(one, digest_of(one))
    assert is_token(other, digest_of(one)) == (one == other)


def test_a_digest_is_sha256_and_not_a_token() -> None:
    assert digest_of("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert not is_token(digest_of("abc").hex(), digest_of("abc"))
    assert not is_token("\ud800", digest_of("abc"))


def test_numbers_follow_from_secret_and_labels_alone() -> None:
    secret, other = b"s" * 32, b"t" * 32
    assert keyed_digest(secret, "form", 1) == keyed_digest(secret, "form", 1)
    assert (
        len({keyed_digest(s, *labels) for s in (secret, other) for labels in (("form", 1), ("form", 11), ("x", 1))})
        == 6
    )
    draws = [draw(secret, "item", k) for k in range(2000)]
    assert all(0 <= value < 2**63 for value in draws)
    # 20 equal parts of the range, 100 draws each on average; the spread of a count is about 10.
    counts = [sum(value * 20 // 2**63 == part for value in draws) for part in range(20)]
    assert min(counts) > 50
    assert max(counts) < 150
