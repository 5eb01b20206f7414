"""Digests in parts: shards in any order and cut, in memory or in files, on any engine, give the same bytes and JSON."""

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textassay as ta
from tests.digests.test_digests import made
from tests.laws import corpus
from textassay.corpus.files import reading as files
from textassay.corpus.files.reading import reading_limit
from textassay.digests import file, tables
from textassay.digests.build import Recipe, build_digest, merge_files
from textassay.digests.digest import Digest
from textassay.digests.file import read_digest, write_digest
from textassay.digests.statistics import Layout
from textassay.engines.local import LocalEngine
from textassay.errors import InputError

RECIPE = Recipe(layout=Layout(16))


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many parts as a corpus of a million texts has."""
    monkeypatch.setattr(tables, "TOKENS_PER_PART", 512)


def plain(found: Any) -> Any:
    """The JSON without seconds."""
    return _without(json.loads(found.to_json()))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(each) for name, each in value.items() if name != "seconds"}
    return [_without(each) for each in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("many_parts")
def test_parts_in_memory_in_files_and_on_threads_give_the_same_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = {name: made(corpus(seed, 200), name) for seed, name in enumerate(("real", "a", "b"))}
    assert digests["real"].n_parts >= 4
    for name, digest in digests.items():
        write_digest(digest, tmp_path / f"{name}.digest")
    monkeypatch.setattr(file, "KEPT_BYTES", 0)
    stored = {name: read_digest(tmp_path / f"{name}.digest") for name in digests}
    assert isinstance(stored["real"].tables, file.StoredTables)
    found = [
        plain(ta.compare(each["real"], {name: each[name] for name in "ab"}, n_resamples=99, engine=engine))
        for each, engine in ((digests, "local:1"), (digests, "local:3"), (stored, "local:1"), (stored, "local:2"))
    ]
    assert all(each == found[0] for each in found)


def test_sums_over_parts_are_those_over_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["cr", "nrr:variant=unbiased", "cnd:variant=unbiased", "cnd:weight=idf", "distinct", "entropy", "edges"]
    names += ["ms_jaccard", "entropy:variant=grassberger", "distinct:n=4", "cnd"]
    sides = made(corpus(1, 150), "real"), made(corpus(2, 170), "a")
    whole = ta.compare(sides[0], {"a": sides[1]}, metrics=names, n_resamples=99)
    monkeypatch.setattr(tables, "TOKENS_PER_PART", 64)
    parts = ta.compare(sides[0], {"a": sides[1]}, metrics=names, n_resamples=99)
    for one, other in zip(whole["a"].results, parts["a"].results, strict=True):
        assert other.estimate == pytest.approx(one.estimate, rel=1e-12), one.metric
        assert other.p_value == one.p_value, one.metric
        assert (one.interval is None) == (other.interval is None)
        if one.interval is not None and other.interval is not None:
            assert other.interval.low == pytest.approx(one.interval.low, rel=1e-9), one.metric
    assert parts["a"].overall.p_value == whole["a"].overall.p_value


def shards(folder: Path, texts: list[str], cuts: list[int]) -> str:
    """Files of records with ids, cut at these places; the pattern of their names."""
    folder.mkdir()
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(texts)], strict=True)):
        lines = [json.dumps({"id": f"id {k}", "text": texts[k]}) for k in range(begin, end)]
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder / "*.jsonl")


@pytest.mark.usefixtures("many_parts")
def test_any_cut_of_texts_with_ids_gives_the_same_json(tmp_path: Path) -> None:
    found = []
    for number, cuts in enumerate(([], [7, 60, 61], list(range(5, 200, 9)))):
        sides = {}
        for seed, name in enumerate(("real", "a")):
            pattern = shards(tmp_path / f"{name} {number}", corpus(seed, 200), cuts)
            out = str(tmp_path / f"{name}.digest")
            sides[name] = build_digest([pattern], out, RECIPE, engine=LocalEngine(2))
        found.append(plain(ta.compare(sides["real"], {"a": sides["a"]}, n_resamples=99)))
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("many_parts")
def test_digests_of_shards_made_apart_merge_to_the_bytes_of_all_in_any_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for k in range(20):
        folder = tmp_path / f"folder {k % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"s{k}.txt").write_text("\n".join(corpus(k, 15)))
    paths = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*.txt"))
    build_digest(paths[::-1], "all.digest", RECIPE, engine=LocalEngine(2))
    apart = []
    for k, path in enumerate(paths):
        build_digest([path], f"{k}.digest", RECIPE, engine=LocalEngine(1))
        apart.append(f"{k}.digest")
    merge_files(apart[11:], "second.digest")
    merge_files(["second.digest", *apart[:11]], "merged.digest")
    assert Path("merged.digest").read_bytes() == Path("all.digest").read_bytes()


def test_big_files_are_cut_by_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus(1, 120)
    path = tmp_path / "big.txt"
    path.write_text("\n".join(texts))
    whole = build_digest([str(path)], str(tmp_path / "whole.digest"), RECIPE, engine=LocalEngine(1))
    monkeypatch.setattr(files, "SPAN_BYTES", 700)
    assert files.count_spans(str(path)) > 3
    found = build_digest([str(path)], str(tmp_path / "cut.digest"), RECIPE, engine=LocalEngine(2))
    assert len(found.shards) > 3
    assert (found.n, found.content) == (whole.n, whole.content)
    assert [shard.name.rpartition("#")[2] for shard in found.shards[1:3]] == ["2", "3"]


def test_row_groups_are_read_one_by_one(tmp_path: Path) -> None:
    texts = corpus(1, 100)
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=30)
    (tmp_path / "a.txt").write_text("\n".join(texts))
    found, lines = (
        build_digest([str(tmp_path / f"a.{kind}")], str(tmp_path / "a.digest"), RECIPE, engine=LocalEngine(1))
        for kind in ("parquet", "txt")
    )
    assert [shard.n for shard in found.shards] == [30, 30, 30, 10]
    assert found.content == lines.content


def test_files_elsewhere_are_read_through_fsspec(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for k in range(2):
        with system.open(f"/shards/{k}.txt", "w") as remote:
            remote.write("\n".join(corpus(k, 30)))
    out = str(tmp_path / "a.digest")
    found = build_digest(["memory://shards/*.txt"], out, RECIPE, engine=LocalEngine(1))
    assert (found.n, found.shards[0].name) == (60, "memory:///shards/0.txt")
    with pytest.raises(InputError, match=r"memory://shards/none\.txt"):
        build_digest(["memory://shards/none.txt"], out, RECIPE, engine=LocalEngine(1))


def test_a_file_elsewhere_is_read_within_the_limit(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    # The texts take little; the other column is what the file is large for.
    noise = np.random.default_rng(0).bytes(3_000_000)
    with fsspec.filesystem("memory").open("/large/a.parquet", "wb") as remote:
        pq.write_table(pa.table({"text": corpus(1, 30), "noise": [noise[k::30] for k in range(30)]}), remote)
    target, path = str(tmp_path / "a.digest"), "memory://large/a.parquet"
    with reading_limit("1M"), pytest.raises(InputError, match=r"memory://large/a\.parquet: takes more than 1.0 MiB"):
        build_digest([path], target, RECIPE, engine=LocalEngine(1))


def test_only_the_parts_of_a_run_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder `OUT.parts` may have files of the user, and parts of another run."""
    monkeypatch.setattr("textassay.digests.build._WIDTH", 2)
    paths = [tmp_path / f"{k}.txt" for k in range(5)]
    for k, path in enumerate(paths):
        path.write_text("\n".join(corpus(k, 20)))
    out = tmp_path / "a.digest"
    folder = tmp_path / "a.digest.parts"
    build_digest([str(path) for path in paths], str(out), RECIPE, engine=LocalEngine(1))
    assert not folder.exists()
    folder.mkdir()
    for name in ("notes.txt", "other.digest"):
        (folder / name).write_text("mine")
    build_digest([str(path) for path in paths], str(out), RECIPE, engine=LocalEngine(1))
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt", "other.digest"]


def bad_shards(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of bad shards and what is wrong with them."""
    (folder / "columns.csv").write_text("name,colour\na,b\n")
    yield "columns.csv", "no field"
    write_digest(made(corpus(1, 30)), folder / "made.digest")
    yield "made.digest", "is a digest; wanted texts"
    (folder / "empty.txt").write_text("")
    yield "empty.txt", "empty"
    (folder / "torn.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00broken")
    yield "torn.jsonl.gz", "damaged"
    (folder / "torn.parquet").write_bytes(b"PAR1 no table PAR1")
    yield "torn.parquet", "damaged"


def test_bad_shards_are_named_and_counted_if_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("\n".join(corpus(1, 30)))
    out, n = str(tmp_path / "a.digest"), 0
    for name, problem in bad_shards(tmp_path):
        n += 1
        paths = [str(tmp_path / "good.txt"), str(tmp_path / name)]
        with pytest.raises(InputError, match=rf"{name}.*{problem}.*what is finished is kept"):
            build_digest(paths, out, RECIPE, engine=LocalEngine(1))
        assert not Path(out).exists()
    everything = [str(path) for path in tmp_path.glob("*.*") if path.is_file()]
    found = build_digest(everything, out, RECIPE, engine=LocalEngine(2), skip_bad=True)
    assert (found.n, found.n_skipped) == (30, n)
    notes = ta.compare(found, {"other": made(corpus(2, 30))}, n_resamples=0).notes
    assert f"a leaves out {n} shards that could not be read" in notes


def test_disk_that_fills_up_leaves_one_line_and_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("\n".join(corpus(1, 30)))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "_write", full)
    with pytest.raises(InputError, match=r"cannot be written \(no space left on device\)"):
        build_digest([str(tmp_path / "a.txt")], str(tmp_path / "a.digest"), RECIPE, engine=LocalEngine(1))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.txt"]


def test_metrics_that_read_all_ngrams_at_once_are_left_out_of_large_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from textassay.digests.views import why_left_out
    from textassay.metrics.registry import parse_requests

    [request] = parse_requests(["distinct"])
    other = replace(request, metric=replace(request.metric, adds_up=False))
    digest: Digest = made(corpus(1, 30))
    assert [why_left_out(each, digest, 8) is None for each in (request, other)] == [True, False]
    assert why_left_out(other, digest, 1) is None


class Cluster:
    """An engine that sends work, pieces and results as Ray does: the arrays that arrive are read-only."""

    def map(self, work: Callable[[Any], Any], pieces: Iterable[Any], /) -> list[Any]:
        found = []
        for piece in pieces:
            its_work, its_piece = sent((work, piece))
            found.append(sent(its_work(its_piece)))
        return found


def sent(value: Any) -> Any:
    buffers: list[pickle.PickleBuffer] = []
    plain = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(plain, buffers=[bytes(buffer) for buffer in buffers])


@pytest.mark.parametrize(
    ("engine", "tokens_per_part"), [("processes:2", 512), (Cluster(), 512), (Cluster(), tables.TOKENS_PER_PART)]
)
def test_processes_and_clusters_give_the_json_of_threads(
    engine: Any, tokens_per_part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TOKENS_PER_PART", tokens_per_part)
    sides = []
    for seed, name in enumerate(("real", "a")):
        (tmp_path / f"{name}.txt").write_text("\n".join(corpus(seed, 200)))
        paths = [str(tmp_path / f"{name}.txt")]
        sides.append(build_digest(paths, str(tmp_path / f"{name}.digest"), RECIPE, engine=LocalEngine(1)))
    found = [
        plain(ta.compare(sides[0], {"a": sides[1]}, metrics="cnd,distinct", n_resamples=19, engine=each))
        for each in (LocalEngine(1), engine)
    ]
    assert found[0] == found[1]
