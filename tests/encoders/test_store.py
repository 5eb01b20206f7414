"""The vectors on disk: stored vectors are returned unchanged or computed again, even if files are damaged."""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.encoders.crash_run import SlowEncoder
from textassay.corpus.files.reading import parse_size
from textassay.encoders import vector_store as merging
from textassay.encoders import vector_store as store
from textassay.encoders.cache_folder import (
    SUFFIX,
    Segment,
    cache_files,
    cache_limit,
    cache_root,
    encoder_folder,
    keys_of,
    read_count,
    read_segment,
)
from textassay.encoders.vector_store import Store, open_store
from textassay.errors import InputError

GIB = 2**30
WIDTH = 4
ENCODER = SlowEncoder(WIDTH)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate cache for each test."""
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTASSAY_CACHE_LIMIT", raising=False)
    return tmp_path / "cache"


def opened(root: Path, *, limit: int = GIB, encoder: str = "slow") -> Store:
    return Store(root, encoder, WIDTH, limit)


def put(into: Store, texts: list[str]) -> None:
    into.put(keys_of(texts), ENCODER.encode(texts))


def got(source: Store, texts: list[str]) -> int:
    """The number of texts found with the right vector."""
    values = np.full((len(texts), WIDTH), np.nan, np.float32)
    found = source.fill(keys_of(texts), values)
    assert np.array_equal(values[found], ENCODER.encode(texts)[found])
    assert np.isnan(values[~found]).all()
    return int(found.sum())


def segments(root: Path) -> list[Path]:
    return sorted(root.glob(f"*/*{SUFFIX}"))


def words(number: int, start: int = 0) -> list[str]:
    return [f"text {place}" for place in range(start, start + number)]


@settings(deadline=None, max_examples=40)
@given(parts=st.lists(st.lists(st.text(), unique=True, max_size=20), max_size=6), others=st.lists(st.text()))
def test_stored_vectors_are_returned(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[str]], others: list[str]
) -> None:
    root = tmp_path_factory.mktemp("cache")
    one, every = opened(root), {text for part in parts for text in part}
    for part in parts:
        put(one, part)
    for source in (one, opened(root)):
        assert got(source, sorted(every)) == len(every)
        assert got(source, others) == sum(text in every for text in others)
        assert source.notes == ()


def test_keys_that_end_in_zero_bytes_are_keys_like_others(root: Path) -> None:
    keys = np.frombuffer(bytes(16) + b"a" + bytes(15) + b"a\0b" + bytes(13), "S16")
    values = np.arange(3 * WIDTH, dtype=np.float32).reshape(3, WIDTH)
    opened(root).put(keys, values)
    back = np.zeros_like(values)
    assert opened(root).fill(keys, back).all()
    assert np.array_equal(back, values)


def test_encoders_do_not_see_one_another(root: Path) -> None:
    put(opened(root), words(9))
    assert got(opened(root, encoder="another"), words(9)) == 0
    folder = encoder_folder(root, "another")
    shutil.copytree(encoder_folder(root, "slow"), folder)
    other = opened(root, encoder="another")
    assert got(other, words(9)) == 0, "a segment that was copied from another encoder's folder"
    assert "1 damaged file of the vector cache was ignored" in other.notes[0]


def test_every_flipped_byte_is_detected_and_its_vector_replaced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    texts = words(5)
    put(opened(root), texts)
    (path,) = segments(root)
    whole = path.read_bytes()
    assert len(whole) == 64 + 5 * (16 + 4 * WIDTH + 4)
    for place in range(len(whole)):
        for segment in segments(root):
            segment.unlink()
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        found, missing = opened(root), 0
        values = np.zeros((5, WIDTH), np.float32)
        good = found.fill(keys_of(texts), values)
        missing = int((~good).sum())
        assert missing == (1 if place >= 64 else 5), place
        assert np.array_equal(values[good], ENCODER.encode(texts)[good]), place
        assert len(found.notes) == 1, place
        put(found, [text for text, known in zip(texts, good, strict=True) if not known])
        healed = opened(root)
        assert got(healed, texts) == 5, place
        assert healed.notes == (), place


@pytest.mark.parametrize(
    "break_it",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:40]),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: path.write_bytes(b"\0" * 5000),
    ],
    ids=["empty", "half a header", "a byte short", "a byte long", "zeros"],
)
def test_files_that_are_not_segments_are_ignored(root: Path, break_it: Callable[[Path], object]) -> None:
    put(opened(root), words(30))
    put(opened(root), words(30, start=100))
    break_it(segments(root)[0])
    found = opened(root)
    assert got(found, words(30) + words(30, start=100)) == 30
    assert found.notes == ("1 damaged file of the vector cache was ignored and will be replaced",)
    assert len(segments(root)) == 1


def test_a_foreign_file_with_the_name_of_a_segment_is_neither_read_nor_removed(root: Path) -> None:
    put(opened(root), words(30))
    mine = segments(root)[0].with_name(f"{'0' * 32}.v1")
    mine.write_text("something else\n" * 90)
    found = opened(root, limit=1)
    assert got(found, words(30)) == 30
    assert found.notes == ("1 file of the vector cache was not read (not written by the cache)",)
    found.tidy()
    assert [path.name for path in segments(root)] == [mine.name]
    assert mine.read_text().startswith("something else")


@pytest.mark.parametrize("rows", [1, 5], ids=["one row", "every row"])
def test_a_new_file_with_the_name_of_a_damaged_one_is_used(
    root: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(opened(root), words(5))
    (path,) = segments(root)
    damaged = bytearray(path.read_bytes())
    start = 64 + 5 * 16
    damaged[start : start + rows * 4 * WIDTH] = bytes(rows * 4 * WIDTH)
    path.write_bytes(damaged)
    monkeypatch.setattr(merging, "_MOST_SMALL", 1)  # the replaced row and the others become one file again
    one = opened(root)
    good = one.fill(keys_of(words(5)), np.empty((5, WIDTH), np.float32))
    put(one, [text for text, known in zip(words(5), good, strict=True) if not known])
    assert int((~good).sum()) == rows
    one.tidy()
    assert segments(root) == [path]
    assert (got(one, words(5)), got(opened(root), words(5))) == (5, 5)
    assert one.notes == (
        f"{rows} damaged {'entry' if rows == 1 else 'entries'} of the vector cache"
        f" {'was' if rows == 1 else 'were'} ignored and will be replaced",
    )


def test_links_and_foreign_files_are_neither_read_nor_removed(root: Path, tmp_path: Path) -> None:
    put(opened(tmp_path / "elsewhere"), words(9))
    (target,) = segments(tmp_path / "elsewhere")
    folder = encoder_folder(root, "slow")
    folder.mkdir(parents=True)
    (folder / target.name).symlink_to(target)
    (folder / "notes.md").write_text("mine")
    found = opened(root, limit=0)
    assert got(found, words(9)) == 0
    put(found, words(3))
    assert target.exists()
    assert sorted(path.name for path in folder.iterdir()) == sorted([target.name, "notes.md", "name.txt"])


def test_merging_keeps_everything_and_few_files(root: Path) -> None:
    one, watching = opened(root), opened(root)
    for start in range(0, 400, 10):
        put(one, words(10, start=start))
        assert got(watching, words(start + 10)) == start + 10
        assert len(segments(root)) <= 17
    put(one, words(10))  # again: the same content, whose file was removed by merging
    assert got(opened(root), words(400)) == 400
    assert sum(read_count(path)[0] for path in segments(root)) <= 410
    assert (*one.notes, *watching.notes) == ()


def test_merged_segments_do_not_outgrow_their_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "LARGEST", 3000)
    one = opened(root)
    for start in range(0, 1000, 10):
        put(one, words(10, start=start))
    sizes = [path.stat().st_size for path in segments(root)]
    assert max(sizes) <= 3000
    assert sum(size < 1500 for size in sizes) <= 17
    assert got(opened(root), words(1000)) == 1000


def test_a_file_that_vanishes_while_it_is_opened_was_merged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = opened(root)
    for start in range(0, 160, 10):
        put(other, words(10, start=start))
    assert len(segments(root)) == 16
    calls = iter(range(1000))

    def meddle(path: Path, *, encoder: bytes, dimension: int) -> Segment:
        if next(calls) == 3:
            monkeypatch.setattr(store, "read_segment", read_segment)
            put(other, words(10, start=160))
            assert len(segments(root)) == 1
        return read_segment(path, encoder=encoder, dimension=dimension)

    monkeypatch.setattr(store, "read_segment", meddle)
    assert got(opened(root), words(170)) == 170


def test_the_limit_removes_the_least_recently_used_segments(root: Path) -> None:
    size = 64 + 10 * (16 + 4 * WIDTH + 4)
    for number, encoder in enumerate(["old", "slow", "slow", "new"]):
        put(opened(root, encoder=encoder), words(10, start=10 * number))
    for age, path in enumerate(sorted(segments(root), key=lambda path: path.stat().st_mtime_ns)):
        os.utime(path, (1000 + age, 1000 + age))
    assert got(opened(root, encoder="old"), words(1)) == 1  # this one is used again
    opened(root, limit=2 * size).tidy()
    assert got(opened(root, encoder="old"), words(10)) == 10
    assert got(opened(root), words(20, start=10)) == 0
    assert got(opened(root, encoder="new"), words(10, start=30)) == 10


def test_the_limit_holds_while_vectors_come_in(root: Path) -> None:
    one = opened(root, limit=5000)
    for start in range(0, 1000, 10):
        put(one, words(10, start=start))
        assert sum(path.stat().st_size for path in segments(root)) <= 5000
    assert got(one, words(50, start=950)) == 50
    assert one.notes == ()


def test_old_files_of_dead_processes_are_removed(root: Path) -> None:
    put(opened(root), words(3))
    folder = encoder_folder(root, "slow")
    names = ["textassay-abandoned.tmp", "textassay-inuse.tmp", "document.tmp"]
    for name in names:
        (folder / name).write_bytes(b"half a segm")
    os.utime(folder / names[0], (time.time() - 7200,) * 2)
    os.utime(folder / names[2], (time.time() - 7200,) * 2)
    put(opened(root), words(3, start=3))
    assert [(folder / name).exists() for name in names] == [False, True, True]


class TestTrouble:
    def test_disk_full(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one = opened(root)
        put(one, words(5))

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            put(one, words(5, start=5))
            put(one, words(5, start=10))
        assert one.notes == (
            "the vector cache cannot be written (no space left on device): further vectors of this run are not stored",
        )
        assert got(one, words(15)) == 5
        assert all(not stored.is_temporary for stored in cache_files(encoder_folder(root, "slow")))

    def test_a_full_disk_does_not_stop_merging_from_being_left_out(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = opened(root)
        for start in range(16):
            put(one, words(1, start=start))
        genuine, calls = os.replace, iter(range(1000))

        def first_only(source: str, target: Path) -> None:
            if next(calls):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            genuine(source, target)

        monkeypatch.setattr(os, "replace", first_only)
        put(one, words(1, start=16))
        assert got(one, words(17)) == 17
        assert one.notes == ()

    def test_a_file_where_the_folder_should_be(self, root: Path) -> None:
        root.write_text("mine")
        one = opened(root)
        put(one, words(5))
        assert "(a file exists in place of a folder)" in one.notes[0]
        assert root.read_text() == "mine"

    def test_a_link_where_the_folder_should_be(self, root: Path, tmp_path: Path) -> None:
        root.mkdir()
        (tmp_path / "elsewhere").mkdir()
        encoder_folder(root, "slow").symlink_to(tmp_path / "elsewhere")
        one = opened(root)
        put(one, words(5))
        assert "(a link exists in place of a folder)" in one.notes[0]
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_a_cache_that_may_only_be_read(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put(opened(root), words(5))

        def forbidden(*_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        for name in ("replace", "unlink", "utime"):
            monkeypatch.setattr(os, name, forbidden)
        monkeypatch.setattr(tempfile, "mkstemp", forbidden)
        one = opened(root)
        assert got(one, words(5)) == 5
        put(one, words(5, start=5))
        one.tidy()
        assert "(permission denied)" in one.notes[0]

    def test_a_file_that_may_not_be_read_stays(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put(opened(root), words(5))

        def forbidden(path: Path, **_: object) -> Segment:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        monkeypatch.setattr(store, "read_segment", forbidden)
        one = opened(root)
        assert got(one, words(5)) == 0
        one.tidy()
        assert one.notes == ("1 file of the vector cache was not read (could not be opened)",)
        assert len(segments(root)) == 1

    def test_no_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nowhere() -> Path:
            raise RuntimeError

        monkeypatch.setattr(Path, "home", nowhere)
        for name in ("TEXTASSAY_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        one = open_store(ENCODER)
        assert one is not None
        put(one, words(5))
        one.tidy()
        assert got(one, words(5)) == 0
        assert "(no home folder; set TEXTASSAY_CACHE to a folder)" in one.notes[0]


def test_other_users_cannot_read_folders_and_files(root: Path) -> None:
    put(opened(root), words(5))
    folder = encoder_folder(root, "slow")
    assert [path.stat().st_mode & 0o777 for path in (root, folder)] == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert (folder / "name.txt").read_text() == "slow\n"


class TestPlace:
    def test_in_order_of_precedence(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache_root() == root
        monkeypatch.setenv("TEXTASSAY_CACHE", "")
        assert cache_root() == tmp_path / "xdg" / "textassay"
        for unset in ("", "relative/path"):
            monkeypatch.setenv("XDG_CACHE_HOME", unset)
            assert cache_root() == tmp_path / "home" / ".cache" / "textassay"

    @pytest.mark.parametrize("off", ["off", "OFF"])
    def test_off(self, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
        monkeypatch.setenv("TEXTASSAY_CACHE", off)
        assert cache_root() is None
        assert open_store(ENCODER) is None


class TestLimit:
    @pytest.mark.parametrize(
        ("given", "wanted"),
        [
            ("", 4 * GIB),
            ("0", 0),
            ("123", 123),
            ("123B", 123),
            ("1k", 1024),
            ("2 MiB", 2 * 2**20),
            ("1.5GB", 15 * 10**8),
        ],
    )
    def test_sizes(self, monkeypatch: pytest.MonkeyPatch, given: str, wanted: int) -> None:
        monkeypatch.setenv("TEXTASSAY_CACHE_LIMIT", given)
        assert cache_limit() == wanted

    @pytest.mark.parametrize("given", ["much", "-1", "4 apples", "1e9", "4 G B", "nan", "\x1b[2J"])
    def test_what_is_no_size_is_one_clear_line(self, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
        monkeypatch.setenv("TEXTASSAY_CACHE_LIMIT", given)
        with pytest.raises(InputError, match=r"^TEXTASSAY_CACHE_LIMIT is '.+'; wanted bytes, or a size such as 500M"):
            open_store(ENCODER)
        with pytest.raises(ValueError, match=r".*"):
            parse_size(given)


def test_a_hundred_thousand_look_ups(root: Path) -> None:
    one = Store(root, "wide", 64, GIB)
    keys = np.frombuffer(np.random.default_rng(0).bytes(16 * 100_000), "S16")
    values = np.zeros((len(keys), 64), np.float32)
    values[:, 0] = np.arange(len(keys))
    for part in np.array_split(np.arange(len(keys)), 5):
        one.put(keys[part], values[part])
    back = np.ones_like(values)
    assert Store(root, "wide", 64, GIB).fill(keys, back).all()
    assert np.array_equal(back, values)
