"""Digests: they add up to the same bytes in any order and cut, and metrics on them equal those on the texts."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textassay as ta
from tests.laws import corpus
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.digests.arrow_sizes import batch_bytes, read_blocks
from textassay.digests.block_table import BlockTable, sketched
from textassay.digests.build import Recipe, build_digest
from textassay.digests.digest import Digest, Shard, digest_sample, merge_digests
from textassay.digests.file import digest_bytes, read_digest, write_digest
from textassay.digests.statistics import Layout, table_widths
from textassay.digests.tables import KeptTables
from textassay.encoders.base import get_encoder
from textassay.engines.local import LocalEngine
from textassay.errors import InputError
from textassay.inference.overall.of_digests import digest_test
from textassay.inference.overall.test import OverallPlan
from textassay.metrics.views import Settings
from textassay.studies.gate.rules import GateRules

LAYOUTS = [Layout(16), Layout(16, 4096)]


def made(texts: list[str], name: str = "shard", layout: Layout = LAYOUTS[0], key: str = "") -> Digest:
    return digest_sample(Sample.of(texts, name=name), Settings(), layout=layout, key=key)


entries = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(-5, 5)), max_size=30)


@given(st.lists(entries, min_size=1, max_size=4))
def test_block_tables_add_up_in_any_order(lists: list[list[tuple[int, int, int]]]) -> None:
    def table(rows: list[tuple[int, int, int]]) -> BlockTable:
        keys, blocks, values = zip(*rows, strict=True) if rows else ((), (), ())
        return BlockTable.of(np.array(keys, np.uint64), np.array(blocks, np.int64), np.array(values, np.int64))

    parts = [table(rows) for rows in lists]
    whole = table([row for rows in lists for row in rows])
    for tables in (parts, parts[::-1]):
        found = BlockTable.merged(tables)
        for name in ("keys", "blocks", "values"):
            assert np.array_equal(getattr(found, name), getattr(whole, name))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_digests_of_parts_are_the_digest_of_the_whole(layout: Layout) -> None:
    texts = corpus(1, 120)
    ids = [f"id {k}" for k in range(len(texts))]
    whole = digest_sample(Sample.of(texts, name="a", ids=_strings(ids)), Settings(), layout=layout)
    cuts = [0, 17, 60, 61, 120]
    parts = [
        digest_sample(Sample.of(texts[a:b], name=f"part {a}", ids=_strings(ids[a:b])), Settings(), layout=layout)
        for a, b in pairwise(cuts)
    ]
    bytes_of = {digest_bytes(merge_digests(order)) for order in (parts, parts[::-1], parts[2:] + parts[:2])}
    assert bytes_of == {digest_bytes(merge_digests([merge_digests(parts[:2]), merge_digests(parts[2:])]))}
    merged = merge_digests(parts)
    assert merged.content == whole.content
    assert merged.n == 120
    for name in whole.tables:
        table = whole.tables[name]
        assert np.array_equal(table.keys, merged.tables[name].keys), name
        assert np.array_equal(table.values, merged.tables[name].values), name


def test_a_corpus_that_repeats_its_texts_has_collapsed() -> None:
    real = made(corpus(1, 200), "real")
    few, other = made(corpus(2, 20) * 10, "few"), made(corpus(3, 200), "other")
    found = ta.compare(real, {"few": few, "other": other}, n_resamples=99, gate=GateRules(fail_on="collapsed"))
    assert (few.n_different, few.repeated) == (len(set(corpus(2, 20))), 1.0)
    assert found["few"].verdict.decision == "collapsed"
    assert "100 % of texts repeat another one word for word (" in str(found)
    assert found["other"].verdict.decision == "same"
    assert found.document().summary.rows[-1].name == "few"
    assert found.gate is not None
    assert {check.candidate: check.decision for check in found.gate.checks} == {"few": "fail", "other": "undecided"}
    assert ta.compare(few, {"few": few.named("few")}, n_resamples=99)["few"].verdict.decision == "same"


def _strings(values: list[str]) -> object:
    import pyarrow as pa

    return pa.array(values)


def test_metrics_on_digests_are_those_on_the_texts() -> None:
    mine, real = corpus(1, 300), corpus(2, 300)
    found = ta.compare(made(real, "real"), {"a": made(mine, "a")}, n_resamples=99)
    names = ["cr", "nrr", "cnd", "distinct", "entropy", "edges", "ms_jaccard", "cnd:variant=unbiased"]
    whole = ta.compare(real, {"a": mine}, metrics=names, n_resamples=0)
    for result in whole["a"].results:
        [same] = [
            each for each in found["a"].results if (each.metric, each.options) == (result.metric, result.options)
        ] or [None]
        if same is not None:
            assert same.estimate == pytest.approx(result.estimate, rel=1e-12), result.metric
    assert {result.metric for result in found["a"].results} == {name.partition(":")[0] for name in names}


def test_values_that_move_with_the_number_of_texts_are_compared_at_one_number() -> None:
    real, same, double = (
        made(corpus(seed, n), name) for seed, n, name in ((1, 400, "real"), (2, 400, "a"), (3, 800, "b"))
    )
    alike = ta.compare(real, {"a": same}, metrics="distinct,cnd", n_resamples=0)
    assert not any("move with the number of texts" in note for note in alike.notes)
    for reference, candidate in ((real, double), (double, real)):
        found = ta.compare(reference, {"x": candidate}, metrics="distinct,cnd", n_resamples=99)
        column = found["x"]
        mine, theirs = column.beside_real("distinct-2", column["distinct-2"]), found.real["distinct-2"]
        assert 380 <= mine.n <= 420
        assert 380 <= theirs.n <= 420
        # Of twice as many texts it is a third less.
        assert mine.estimate == pytest.approx(theirs.estimate, rel=0.1)
        assert any("those of random blocks with about 400 texts" in note for note in found.notes)
    tiny = ta.compare(real, {"x": made(corpus(4, 30), "x")}, metrics="distinct,cnd", n_resamples=0)
    assert "too large to be cut" in (tiny.real["distinct-2"].undefined or "")


def test_sketch_estimates_products() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, 4000, dtype=np.uint64) * np.uint64(2) + rng.integers(0, 2, 4000, dtype=np.uint64)
    counts = rng.zipf(1.6, (2, 4000)).clip(0, 10_000)
    tables = [BlockTable.of(keys, np.zeros(4000, np.int64), row) for row in counts]
    exact = float((tables[0].values * tables[1].values).sum())
    small = [sketched(table, 65_536).rows(1, 65_536)[0] for table in tables]
    assert float(small[0] @ small[1]) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_test_on_digests_finds_a_difference_and_no_other(layout: Layout) -> None:
    real, same = corpus(1, 400), corpus(2, 400)
    other = [text.replace("w1", "x") for text in corpus(3, 400)]
    plan = OverallPlan(0.95, 99)
    sides = [made(texts, f"{k}", layout) for k, texts in enumerate((real, same, other))]
    null, found = (digest_test(side, sides[0], plan=plan) for side in sides[1:])
    assert null.p_value is not None
    assert null.p_value > 0.05
    assert found.p_value == pytest.approx(0.01)


def test_unequal_corpora_exchange_blocks_of_one_size() -> None:
    plan = OverallPlan(0.95, 99)
    large, small = made(corpus(1, 800), "large"), made(corpus(2, 400), "small")
    found = digest_test(small, large, plan=plan)
    assert found.p_value is not None
    assert "blocks:24" in found.signature
    tiny = made(corpus(3, 40), "tiny")
    assert "wanted digests of about the same number of texts" in (digest_test(tiny, large, plan=plan).undefined or "")


def test_private_digests_share_no_hash_with_open_ones() -> None:
    texts = corpus(1, 60)
    open_, secret = made(texts), made(texts, key="secret")
    for name in ("grams/1", "texts with", "copies", "edges/1"):
        assert not set(open_.tables[name].keys.tolist()) & set(secret.tables[name].keys.tolist())
    assert secret.shards[0].name != open_.shards[0].name
    assert secret.content != open_.content
    with pytest.raises(InputError, match="hashed words no and yes"):
        ta.compare(open_, {"a": secret})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_private_digests_give_the_numbers_of_open_ones(layout: Layout) -> None:
    sides = {
        key: [made(corpus(seed, 150), name, layout, key=key) for seed, name in ((1, "real"), (2, "a"))]
        for key in ("", "secret")
    }
    found = {key: ta.compare(real, {"a": a}, metrics="cnd", n_resamples=99)["a"] for key, (real, a) in sides.items()}
    exact = not layout.sketch
    for name, one, other in zip(("cnd",), found[""].results, found["secret"].results, strict=True):
        assert other.estimate == pytest.approx(one.estimate, rel=1e-12 if exact else 0.2), name
    assert found["secret"].overall.p_value is not None


def test_files_are_read_back_and_checked(tmp_path: Path) -> None:
    digest = made(corpus(1, 50))
    path = tmp_path / "a.digest"
    write_digest(digest, path)
    assert digest_bytes(read_digest(path)) == path.read_bytes() == digest_bytes(digest)
    whole = path.read_bytes()
    other_name = whole.replace(b'["shard",50', b'["shbrd",50')
    assert other_name != whole
    for damaged in (
        other_name,
        whole[:-9],
        b"text",
        whole[:9000] + b"\1" * 500 + whole[9500:],
        whole[: len(whole) // 2],
    ):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.digest"):
            read_digest(path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_memory_of_batches_is_known_before_they_are_read(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "a.digest"
    write_digest(made(corpus(1, 400), layout=layout), path)
    with path.open("rb") as file, pa.ipc.open_file(path) as reader:
        blocks = read_blocks(file, lambda _: None)
        assert len(blocks.batches) == reader.num_record_batches
        assert len(blocks.dictionaries) == 1
        assert batch_bytes(file, blocks.dictionaries[0], is_dictionary=True) > 50
        for number, block in enumerate(blocks.batches):
            batch = reader.get_batch(number)
            # The dictionary is no part of a batch, and the room of a buffer is a multiple of 64 bytes at most.
            size = batch.num_rows * (2 + 8 + 2 + 8)
            assert size <= batch_bytes(file, block) <= size + 4 * 64


def test_a_batch_that_expands_beyond_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.digest"
    digest = made(corpus(1, 50))
    many = 200_000
    zeros = BlockTable(np.zeros(many, np.uint64), np.zeros(many, np.uint16), np.zeros(many, np.int64))
    write_digest(
        replace(
            digest, tables=KeptTables({**{each: digest.tables[each] for each in digest.tables}, "histogram": zeros})
        ),
        path,
    )
    assert path.stat().st_size < 100_000
    with ta.reading_limit("2M"), pytest.raises(InputError, match=r"a\.digest: takes more than 2.0 MiB of memory"):
        read_digest(path)
    stored = read_digest(path, keep=False)
    with ta.reading_limit("2M"), pytest.raises(InputError, match=r"a\.digest: takes more than 2.0 MiB of memory"):
        stored.tables["histogram"]


@pytest.mark.parametrize(
    ("layout", "encoder", "seen"),
    [
        (Layout(16, 0, 5_000_000), "static", "vectors of 5,000,000 numbers"),
        (Layout(16, 0, 384), None, "vectors of 384 numbers"),
        (Layout(16, 0, 0), "static", "vectors of 0 numbers"),
        (Layout(16, 0, 384), "static", "other tables"),
        (Layout(16, 0, 8192), "static", "takes more than"),
        (Layout(16, 24, 0), None, "a sketch with 24 counters"),
        (Layout(16, 1 << 25, 0), None, "a sketch with 33,554,432 counters"),
        (Layout(16, 4096, 0), None, "other tables"),
        (Layout(1, 0, 0), None, "1 blocks"),
        (Layout("16", 0, 0), None, "blocks '16'"),  # type: ignore[arg-type]
    ],
)
def test_headers_that_no_digest_has_are_refused(layout: Layout, encoder: str | None, seen: str, tmp_path: Path) -> None:
    digest, path = made(corpus(1, 50)), tmp_path / "a.digest"
    write_digest(replace(digest, header=replace(digest.header, layout=layout, encoder=encoder)), path)
    with pytest.raises(InputError, match=rf"a\.digest: .*{seen}"):
        read_digest(path)


ESCAPE = "\x1b[31m red"


@pytest.mark.parametrize(
    ("field", "value"),
    [("tokenizer", 7), ("strip", [1]), ("key", None), ("private", "yes"), ("encoder", 1.5), ("version", ESCAPE)],
)
def test_values_of_another_kind_in_a_header_are_refused(field: str, value: Any, tmp_path: Path) -> None:
    digest, path = made(corpus(1, 50)), tmp_path / "a.digest"
    write_digest(replace(digest, header=replace(digest.header, **{field: value})), path)
    with pytest.raises(InputError, match=rf"a\.digest: not a digest, or a damaged one \({field} ") as raised:
        read_digest(path)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    "shards",
    [
        (Shard("a", 50, "not hexadecimal"),),
        (Shard("a", 50, "f" * 100),),
        (Shard("a", 60, "0" * 16), Shard("b", -10, "0" * 16)),
        (Shard("a", 20, "0" * 16), Shard("a", 30, "0" * 16)),
        (Shard("a", 10**30, "0" * 16),),
    ],
)
def test_shards_that_no_digest_has_are_refused(shards: tuple[Shard, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.digest"
    write_digest(replace(made(corpus(1, 50)), shards=shards), path)
    with pytest.raises(InputError, match=r"a\.digest: not a digest, or a damaged one"):
        read_digest(path)


def test_counts_below_1_are_refused_but_in_sketches(tmp_path: Path) -> None:
    path = tmp_path / "a.digest"
    for layout, is_read in ((LAYOUTS[0], False), (LAYOUTS[1], True)):
        digest = made(corpus(1, 50), layout=layout)
        words = digest.tables["grams/1"]
        negative = BlockTable(words.keys, words.blocks, -words.values)
        tables = {**{each: digest.tables[each] for each in digest.tables}, "grams/1": negative}
        write_digest(replace(digest, tables=KeptTables(tables)), path)
        if is_read:
            assert read_digest(path).n == 50
        else:
            with pytest.raises(InputError, match=r"a\.digest: .*grams/1 has counts below 1"):
                read_digest(path)


def test_names_in_a_header_control_no_terminal() -> None:
    digest = made(corpus(1, 50))
    header = replace(digest.header, tokenizer=ESCAPE, strip=ESCAPE, key=ESCAPE, private=True, encoder=ESCAPE)
    hostile = replace(digest, header=header, shards=(Shard(ESCAPE, 50, "0" * 16),))
    assert "\x1b" not in hostile.described()
    assert "\x1b" not in (header.difference(digest.header) or "")


def test_digests_of_a_tokenizer_file_are_compared_without_the_file(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = sorted({word for text in corpus(1, 50) for word in text.split()})
    model = tokenizers.models.WordLevel({"?": 0, **{word: k + 1 for k, word in enumerate(words)}}, "?")
    made_ = tokenizers.Tokenizer(model)
    made_.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    made_.save(str(path))
    settings = Settings(get_tokenizer(str(path)))
    sides = [digest_sample(Sample.of(corpus(seed, 50), name="a"), settings, layout=LAYOUTS[0]) for seed in (1, 2)]
    path.unlink()
    found = ta.compare(sides[0], {"a": sides[1]}, metrics="cnd", n_resamples=0)["a"]["cnd"]
    assert f"tok:{settings.tokenizer.signature}" in found.signature


def test_counts_of_blocks_may_be_large() -> None:
    tables = [BlockTable.of(np.array([1], np.uint64), np.array([0]), np.array([2**40])) for _ in range(2)]
    assert tables[0].incidence().merge(tables[1].incidence(), 1).totals().tolist() == [2**41]


def test_keys_beyond_those_of_a_table_are_refused(tmp_path: Path) -> None:
    digest, path = made(corpus(1, 50)), tmp_path / "a.digest"
    form = digest.tables["form"]
    beyond = BlockTable.merged([form, BlockTable.of(np.array([2**64 - 1], np.uint64), np.array([0]))])
    write_digest(
        replace(digest, tables=KeptTables({**{each: digest.tables[each] for each in digest.tables}, "form": beyond})),
        path,
    )
    with pytest.raises(InputError, match=r"a\.digest: .*form has more than \d+ keys"):
        read_digest(path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_names_and_widths_of_tables_are_those_of_their_layout(layout: Layout) -> None:
    settings = Settings(encoder=get_encoder("static", reference=Sample.of([], name="none"), candidates={}))
    for digest in (
        made(corpus(1, 50), layout=layout),
        digest_sample(Sample.of(corpus(1, 50)), settings, layout=layout),
    ):
        widths = table_widths(digest.header.layout)
        assert set(digest.tables) == widths.keys()
        for name in digest.tables:
            table, width = digest.tables[name], widths[name]
            assert width is None or not len(table) or int(table.keys.max()) < width


def test_shards_are_counted_once_and_named_if_bad(tmp_path: Path) -> None:
    for k in range(5):
        (tmp_path / f"s{k}.txt").write_text("\n".join(corpus(k, 40)))
    out = str(tmp_path / "all.digest")
    found = build_digest([str(tmp_path / "s*.txt")], out, Recipe(layout=Layout(8)), engine=LocalEngine(2))
    assert (found.n, len(found.shards)) == (200, 5)
    halves = [
        build_digest(
            [str(tmp_path / f"s{k}.txt") for k in part],
            str(tmp_path / f"{part}.digest"),
            Recipe(layout=Layout(8)),
            engine=LocalEngine(1),
        )
        for part in ((0, 1, 2), (3, 4))
    ]
    assert digest_bytes(merge_digests(halves[::-1])) == digest_bytes(found)
    with pytest.raises(InputError, match="two digests have the shard"):
        merge_digests([halves[0], found])
    (tmp_path / "s2.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "s3.txt").write_text("")
    with pytest.raises(InputError, match=r"s[23]\.txt.*1 more shards.*what is finished is kept"):
        build_digest([str(tmp_path / "s*.txt")], out, Recipe(layout=Layout(8)), engine=LocalEngine(2))
    kept = build_digest([str(tmp_path / "s*.txt")], out, Recipe(layout=Layout(8)), engine=LocalEngine(2), skip_bad=True)
    assert (kept.n, kept.n_skipped, read_digest(out).n_skipped) == (120, 2, 2)
    assert not Path(f"{out}.parts").exists()


def test_stopped_run_continues(tmp_path: Path) -> None:
    for k in range(3):
        (tmp_path / f"s{k}.txt").write_text("\n".join(corpus(k, 40)))
    counted: list[str] = []

    class Stopping:
        def map(self, work, pieces):  # type: ignore[no-untyped-def]
            done = []
            for piece in pieces:
                if len(counted) == 2:
                    raise KeyboardInterrupt
                counted.append(piece.name)
                done.append(work(piece))
            return done

    out, recipe = str(tmp_path / "all.digest"), Recipe(layout=Layout(8))
    with pytest.raises(KeyboardInterrupt):
        build_digest([str(tmp_path / "s*.txt")], out, recipe, engine=Stopping())
    parts = {path.name: path.stat().st_mtime_ns for path in Path(f"{out}.parts").iterdir()}
    assert len(parts) == 2
    for path in tmp_path.glob("s[01].txt"):
        path.chmod(0o644)
    found = build_digest([str(tmp_path / "s*.txt")], out, recipe, engine=LocalEngine(1))
    assert found.n == 120


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        (Recipe(layout=Layout(4)), "blocks=4"),
        (Recipe(layout=Layout(40, 100)), "sketch=100"),
        (Recipe(tokenizer="nothing"), "nothing"),
        (Recipe(strip="all"), "strip='all'"),
    ],
)
def test_bad_recipes_are_refused(recipe: Recipe, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        recipe.checked()


def test_digest_of_another_version_or_tokenizer_is_refused(tmp_path: Path) -> None:
    digest = made(corpus(1, 50))
    old = replace(digest, header=replace(digest.header, version=1))
    write_digest(old, tmp_path / "old.digest")
    with pytest.raises(InputError, match=r"old\.digest: a digest of version 1; this program reads version \d"):
        read_digest(tmp_path / "old.digest")
    settings = Settings(get_tokenizer("whitespace", lowercase=True))
    other = digest_sample(Sample.of(corpus(2, 50), name="other"), settings, layout=LAYOUTS[0])
    with pytest.raises(InputError, match=r"tokenizer words and whitespace\+lower; wanted .* the same settings"):
        ta.compare(digest, {"other": other})
    with pytest.raises(InputError, match=r"other cannot be merged with shard: tokenizer words and whitespace"):
        merge_digests([digest, other])


@pytest.mark.parametrize("metric", ["ms_jaccard:n=2", "distinct", "entropy"])
def test_sketch_refuses_metrics_that_need_exact_counts(metric: str) -> None:
    sketch = made(corpus(1, 50), layout=LAYOUTS[1])
    with pytest.raises(
        InputError, match=f"{metric.partition(':')[0]}.*: needs exact counts, and this digest is a sketch; wanted"
    ):
        ta.compare(sketch, {"a": sketch.named("a")}, metrics=metric)


def test_texts_and_digests_are_not_mixed() -> None:
    with pytest.raises(InputError, match="has texts and others are digests"):
        ta.compare(made(corpus(1, 50)), {"a": corpus(2, 50)})
    with pytest.raises(InputError, match="needs texts"):
        ta.compare(made(corpus(1, 50)), {"a": made(corpus(2, 50))}, encoder="lsa")
    with pytest.raises(InputError, match="bleu-4: needs the texts"):
        ta.compare(made(corpus(1, 50)), {"a": made(corpus(2, 50))}, metrics="bleu")
