"""Texts are encoded once, also after interrupted runs, and the vectors are the same to the last bit."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.conftest import ROOT
from tests.encoders.crash_run import SlowEncoder, content, many_texts
from textassay.encoders.base import Encoder
from textassay.encoders.cache_folder import keys_of
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import Store, open_store
from textassay.errors import InputError


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate cache for each test."""
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTASSAY_CACHE_LIMIT", raising=False)
    return tmp_path / "cache"


def started(number: int, seconds: float, *, backwards: bool = False, most_bytes: int = 0) -> subprocess.Popen[str]:
    """A process that remembers this many texts."""
    order = "backwards" if backwards else "forwards"
    arguments = ["-m", "tests.encoders.crash_run", str(number), str(seconds), order, str(most_bytes)]
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a process prints at the end."""
    written, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(written.splitlines()[-1])
    return found


def uninterrupted(number: int) -> str:
    """The digest of a run without a store."""
    texts = many_texts(number)
    return content(remember(SlowEncoder(trace=0.125), texts, store=None).encode(texts))


def test_every_distinct_text_is_encoded_once_and_then_never_again() -> None:
    encoder, texts = SlowEncoder(), many_texts(2500)
    reported: list[int] = []
    first = remember(encoder, texts * 2, store=open_store(encoder), start=reported.append, step=reported.append)
    assert sorted(encoder.seen) == sorted(texts)
    assert reported == [2500, 1024, 941, 535]
    assert (first.encoded, len(first.keys), first.notes) == (2500, 2500, ())
    reported.clear()
    second = remember(encoder, reversed(texts), store=open_store(encoder), start=reported.append, step=reported.append)
    assert (second.encoded, len(second.keys), reported) == (0, 2500, [0])
    assert len(encoder.seen) == 2500
    for one in (first, second):
        assert np.array_equal(one.encode(texts), SlowEncoder().encode(texts))
        assert (one.name, one.dimension) == ("slow", 16)
    assert len(encoder.seen) == 2500


@settings(deadline=None, max_examples=50)
@given(texts=st.lists(st.text()), others=st.lists(st.text()), shuffled=st.randoms(use_true_random=False))
def test_a_look_up_is_the_encoder_itself(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], others: list[str], shuffled: random.Random
) -> None:
    plain, encoder = SlowEncoder(), SlowEncoder()
    store = Store(tmp_path_factory.mktemp("cache"), encoder.name, encoder.dimension, 2**30)
    mixed = texts + others
    shuffled.shuffle(mixed)
    for one in (remember(encoder, texts, store=None), remember(encoder, texts, store=store)):
        assert np.array_equal(one.encode(mixed), plain.encode(mixed))
        assert one.encode(mixed).flags.writeable
    again = SlowEncoder()
    assert remember(again, mixed, store=store).encoded == 0, "those it did not know went into the store"
    assert again.seen == []


def test_the_order_of_the_texts_does_not_matter_even_if_the_encoder_depends_on_it() -> None:
    texts = many_texts(2500)
    encoder = SlowEncoder(trace=0.5)
    assert np.array_equal(
        remember(encoder, texts, store=None).encode(texts), remember(encoder, texts[::-1], store=None).encode(texts)
    )


def test_long_texts_are_flushed_more_often() -> None:
    encoder, reported = SlowEncoder(), list[int]()
    texts = [f"{place:05d}" * 5_000 for place in range(12)]
    remember(encoder, [*texts, "x" * 250_000, ""], store=None, step=reported.append)
    assert reported == [3, 2, 2, 2, 2, 2, 1]
    assert sorted(encoder.seen) == sorted([*texts, "x" * 250_000, ""])


def test_a_run_killed_several_times_continues_and_gives_the_same_vectors(root: Path) -> None:
    number, settled = 20_000, 0
    chance = random.Random(0)
    for _ in range(3):
        with started(number, 0.02) as process:
            assert process.stdout is not None
            for _ in range(4):
                settled += int(process.stdout.readline().removeprefix("step "))
            time.sleep(chance.random() / 20)
            process.send_signal(signal.SIGKILL)
    kept = flushed(many_texts(number))
    assert settled <= kept < number, "all that was settled, and it was killed in the middle"
    last = outcome(started(number, 0.0))
    assert (last["reused"], last["encoded"], last["notes"]) == (kept, number - kept, [])
    assert last["content"] == uninterrupted(number)
    assert flushed(many_texts(number)) == number


def flushed(texts: list[str]) -> int:
    """The number of the texts in the store."""
    store = open_store(SlowEncoder())
    assert store is not None
    return int(store.fill(keys_of(texts), np.empty((len(texts), 16), np.float32)).sum())


def test_two_processes_at_once_finish_and_agree(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE_LIMIT", "8M")
    number = 20_000
    both = [started(number, 0.01, backwards=backwards) for backwards in (False, True)]
    found = [outcome(process) for process in both]
    assert {one["content"] for one in found} == {uninterrupted(number)}
    assert [one["notes"] for one in found] == [[], []]
    assert sum(one["encoded"] for one in found) >= number
    assert outcome(started(number, 0.0))["encoded"] == 0


def test_processes_with_texts_in_common_share_them_while_they_run(root: Path) -> None:
    encoder, texts = SlowEncoder(), many_texts(4000)
    other: list[int] = []

    def meanwhile(_: int) -> None:
        if not other:
            other.append(remember(encoder, texts, store=open_store(encoder)).encoded)

    first = remember(encoder, texts, store=open_store(encoder), step=meanwhile)
    assert (other, first.encoded) == ([4000 - 1024], 1024)
    assert len(encoder.seen) == 4000


def test_disk_full_in_the_middle_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, texts = SlowEncoder(), many_texts(3000)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        found = remember(encoder, texts, store=open_store(encoder), step=lambda _: patch.setattr(os, "fsync", full))
    assert found.notes == (
        "the vector cache cannot be written (no space left on device): further vectors of this run are not stored",
    )
    assert np.array_equal(found.encode(texts), SlowEncoder().encode(texts))
    assert flushed(texts) == 1024


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_no_space_for_a_segment(root: Path) -> None:
    found = outcome(started(3000, 0.0, most_bytes=20_000))
    (note,) = found["notes"]
    assert note.startswith("the vector cache cannot be written (file too large)")
    assert found["content"] == uninterrupted(3000)
    assert [path.name for path in root.glob("*/*")] == ["name.txt"], "no half of a segment stays behind"


def test_a_flipped_byte_is_reported_and_its_text_encoded_again(root: Path) -> None:
    encoder, texts = SlowEncoder(), many_texts(500)
    remember(encoder, texts, store=open_store(encoder))
    (path,) = root.glob("*/*.v1")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 64
    path.write_bytes(damaged)
    second = remember(encoder, texts, store=open_store(encoder))
    assert (second.encoded, len(second.keys)) == (1, 500)
    assert second.notes == ("1 damaged entry of the vector cache was ignored and will be replaced",)
    assert np.array_equal(second.encode(texts), SlowEncoder().encode(texts))
    third = remember(encoder, texts, store=open_store(encoder))
    assert (third.encoded, third.notes) == (0, ())


def test_damage_to_unused_vectors_is_repaired_too(root: Path) -> None:
    encoder, texts = SlowEncoder(), many_texts(500)
    remember(encoder, texts, store=open_store(encoder))
    (path,) = root.glob("*/*.v1")
    damaged = bytearray(path.read_bytes())
    damaged[64] ^= 1  # a byte of a key
    path.write_bytes(damaged)
    lost = [len(remember(encoder, texts[:5], store=open_store(encoder)).notes) for _ in range(2)]
    assert lost == [1, 0]


def test_threads_may_look_up_at_once() -> None:
    encoder, texts = SlowEncoder(), many_texts(2000)
    found, wanted = remember(encoder, texts, store=open_store(encoder)), SlowEncoder().encode(texts)
    wrong: list[int] = []

    def look(seed: int) -> None:
        for _ in range(20):
            rows = np.random.default_rng(seed).integers(0, 2000, 300)
            if not np.array_equal(found.encode([texts[row] for row in rows]), wanted[rows]):
                wrong.append(seed)

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_store_of_another_encoder_is_refused() -> None:
    for other in (SlowEncoder(name="other"), SlowEncoder(dimension=8)):
        with pytest.raises(ValueError, match="the store is for"):
            remember(SlowEncoder(), ["text"], store=open_store(other))


class Broken:
    """An encoder that returns the given value."""

    name, dimension = "broken\x1b[2J", 3

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self._answer = answer

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        made: NDArray[np.float32] = self._answer(len(texts))
        return made


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (lambda n: np.zeros((n - 1, 3)), r"shape \(3, 3\) for 4 texts; wanted \(4, 3\)"),
        (lambda n: np.zeros((n, 2)), r"shape \(4, 2\) for 4 texts; wanted \(4, 3\)"),
        (lambda n: np.zeros(3 * n), r"shape \(12,\) for 4 texts"),
        (lambda n: None, r"shape \(\) for 4 texts"),
        (lambda n: [["a", "b", "c"]] * n, "did not return an array of numbers"),
        (lambda n: [[0.0] * 3] * (n - 1) + [[0.0]], "did not return an array of numbers"),
        (lambda n: np.array([[0, 0, 0], [0, np.nan, 0], [0, 0, np.inf], [0, 0, 0]]), "2 of 4 vectors are not finite"),
        (lambda n: np.full((n, 3), 1e300), "4 of 4 vectors are not finite, the first for 'a'"),
    ],
)
def test_what_an_encoder_returns_is_checked_and_not_kept(answer: Callable[[int], Any], wanted: str, root: Path) -> None:
    encoder: Encoder = Broken(answer)
    with pytest.raises(InputError, match=wanted) as caught:
        remember(encoder, ["d", "c", "b", "a"], store=open_store(encoder))
    assert str(caught.value).startswith("encoder broken\\x1b[2J: ")
    assert not root.exists()


@pytest.mark.parametrize("texts", [[], [""], ["\ud800"], ["\x00"]])
def test_odd_texts(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Zeros:
        name, dimension = "zeros", 3

        def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
            return np.zeros((len(texts), 3), np.float32)

    for _ in range(2):
        found = remember(Zeros(), texts, store=open_store(Zeros()))
        assert found.encode(texts).shape == (len(texts), 3)
    assert (found.encoded, len(found.keys)) == (0, len(texts))
    monkeypatch.setenv("TEXTASSAY_CACHE", "off")
    assert remember(Zeros(), texts, store=open_store(Zeros())).encoded == len(texts)
