"""The power study's own parts: damages, rivals against their definitions, counts, and the committed table."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT

NULL_RUNS = 200


@pytest.fixture(scope="module", autouse=True)
def _benchmarks_on_the_path() -> None:
    sys.path.insert(0, str(ROOT / "benchmarks" / "power"))


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_damages_move_words_and_leave_punctuation() -> None:
    corpora = module("corpora")
    assert corpora._cut("two dogs, one cat.") == "two dogs, one."
    assert corpora._cut("dogs") == "dogs"
    assert corpora._reordered("two dogs, one cat.", lambda n: np.arange(n)[::-1]) == "cat one, dogs two."
    swapped = corpora._swap(8, np.random.default_rng(0))
    assert sorted(swapped) == list(range(8))
    assert (swapped != np.arange(8)).sum() == 2


def small_corpus(size: int = 60) -> Any:
    """Texts `real k`, their damaged forms `cut k`, and other texts `model k`; the vector of a text is its number."""
    texts = tuple(f"{kind} {k}" for kind in ("real", "cut", "model") for k in range(size))
    vectors = np.arange(3 * size, dtype=np.float32)[:, None]
    pool = np.arange(size)
    in_topic = pool % 5 == 0
    return module("corpora").Corpus(
        "captions", texts, vectors, pool, {"cut": pool + size}, {"model": pool + 2 * size}, in_topic
    )


def drawn(key: str, run: int = 0) -> Any:
    corpora = module("corpora")
    damage = next(damage for damage in corpora.DAMAGES if damage.key == key)
    return corpora.draw(small_corpus(), damage, n=20, run=run)


def test_a_draw_damages_the_stated_share_of_the_candidate_only() -> None:
    for key, kind, count in (("cut", "cut", 3), ("model", "model", 4), ("none", "real", 20)):
        sample = drawn(key)
        assert sum(text.startswith(kind) for text in sample.texts[:20]) == count
        assert all(text.startswith("real") for text in sample.texts[20:])
    assert len(set(drawn("none").texts)) == 40
    assert len(set(drawn("repeats").texts)) == 39
    assert drawn("cut").texts == drawn("cut").texts
    assert drawn("cut").texts != drawn("cut", run=1).texts


def test_a_draw_has_the_vectors_of_its_texts() -> None:
    sample, corpus = drawn("model"), small_corpus()
    assert [corpus.texts[int(row[0])] for row in sample.vectors] == sample.texts


def test_a_lost_topic_is_rarer_in_the_candidate() -> None:
    kept = [[int(text.split()[1]) % 5 == 0 for text in drawn("topic", run).texts] for run in range(40)]
    shares = np.array(kept).reshape(40, 2, 20).mean(axis=(0, 2))
    assert shares[0] < 0.75 * shares[1]


def gaussians(run: int, *, shift: float, n: int = 30) -> Any:
    rng = np.random.default_rng([run, n])
    vectors = rng.normal(size=(2 * n, 4)).astype(np.float32)
    vectors[:n] += np.float32(shift)
    return module("corpora").Draw(n, [f"text {k}" for k in range(2 * n)], vectors, run)


def test_mmd_of_exchanges_is_its_definition() -> None:
    rivals = module("rivals")
    sample = gaussians(0, shift=0.5, n=6)
    rng = np.random.default_rng(0)
    kernel = rng.random((12, 12)).astype(np.float32)
    kernel = kernel + kernel.T
    np.fill_diagonal(kernel, 0)
    exchanges = rivals.Exchanges.of(sample, 5)
    for row, found in zip(exchanges.rows.astype(bool), exchanges.mmd(kernel), strict=True):
        within = [kernel[np.ix_(side, side)].sum() / 30 for side in (row, ~row)]
        assert found == pytest.approx(sum(within) - 2 * kernel[np.ix_(row, ~row)].mean(), abs=1e-5)


def test_fuse_is_a_soft_maximum_of_normalised_statistics() -> None:
    fuse = module("rivals").fuse
    n, statistics, scales = 5, np.array([[0.1, 0.2], [0.3, 0.05]]), np.array([4.0, 2.0])
    power = np.sqrt(20)
    exponents = power * statistics / (scales[:, None] / power)
    assert fuse(statistics, scales, n=n) == pytest.approx(np.log(np.exp(exponents).mean(axis=0)) / power)
    one = fuse(statistics[:1], scales[:1], n=n)
    assert one == pytest.approx(statistics[0] * power / 4.0)


def test_aggregate_with_one_kernel_is_the_plain_test() -> None:
    """With one kernel the corrected level is that of the second exchanges' own quantile."""
    aggregate = module("rivals").aggregate
    null = np.linspace(0, 1, 499)
    for observed, rejects in ((0.94, False), (0.97, True)):
        assert aggregate(np.concatenate(([observed], null))[None, :], null[None, :]) is rejects


@pytest.mark.slow
def test_kernel_tests_hold_their_level_and_find_a_shift() -> None:
    tests = module("rivals").kernel_tests
    null = [tests(gaussians(run, shift=0.0)) for run in range(NULL_RUNS)]
    rates = {name: np.mean([found[name] <= 0.05 for found in null]) for name in null[0]}
    assert {name: rate for name, rate in rates.items() if not 0.01 <= rate <= 0.1} == {}
    assert set(rates) == {"mmd", "energy", "mmd_fuse", "mmd_agg"}
    shifted = [tests(gaussians(run, shift=1.2)) for run in range(10)]
    assert all(p <= 0.05 for found in shifted for p in found.values())


def test_shares_are_counted_on_common_runs() -> None:
    page = module("page")
    share = page._share({0: True, 1: True, 2: False}, {1: False, 2: True, 3: True})
    assert (share.rejected, share.runs, share.ours, share.theirs) == (2, 3, 1, 1)
    assert share.shortfall == 0
    assert page.Share(9, 100, ours=0, theirs=9).shortfall == 3
    assert page._cell(page.Share(43, 100, 0, 0)) == ".43(5)"


def test_results_are_read_up_to_a_line_that_was_cut_off(tmp_path: Path) -> None:
    power = module("power")
    path = tmp_path / "results.jsonl"
    path.write_text('{"run": 0}\n{"run": 1}\n{"ru', encoding="utf-8")
    assert power.read_results(path) == [{"run": 0}, {"run": 1}]


def test_only_missing_groups_are_run_again() -> None:
    power = module("power")
    damage = module("corpora").DAMAGES[0]
    jobs = list(power.plan([("captions", 400)], [damage], runs=2, groups=["ours", "kernels"]))
    assert [job.run for job in jobs] == [0, 1]
    known = {jobs[0].key("ours"), jobs[1].key("ours"), jobs[1].key("kernels")}
    assert [(job.run, job.groups) for job in power.missing(jobs, known)] == [(0, ("kernels",))]
    page = module("page")
    counts = {"overall": page.Share(1, 2, 0, 0), "mmd": page.Share(0, 1, 0, 0)}
    committed = [page.Cell("captions", damage.key, "", 400, counts)]
    assert [(job.run, job.groups) for job in power.missing(jobs, set(), committed)] == [(1, ("kernels",))]


def test_new_runs_are_added_to_the_committed_counts_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page, damage = module("page"), module("corpora").DAMAGES[0]
    monkeypatch.setattr(page, "TABLE", tmp_path / "power.json")
    p_values = [{"overall": 0.01, "mmd": 0.5}, {"overall": 0.2, "mmd": 0.01}, {"overall": 0.01, "mmd": 0.01}]
    place = {"corpus": "captions", "damage": damage.key, "share": damage.share("captions"), "n": 200}
    records = [place | {"run": run, "p": p} for run, p in enumerate(p_values)]
    at_once = page.write_table(records)
    page.write_table(records[:2])
    for _ in range(2):
        assert page.write_table(records, page.read_table()) == at_once == page.read_table()
    assert at_once[0].tests["mmd"] == page.Share(rejected=2, runs=3, ours=1, theirs=1)
    monkeypatch.setattr(page, "OUR_VERSION", "another")
    assert page.read_table() == []


def test_the_committed_page_is_made_from_the_committed_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = module("page")
    cells, committed = page.read_table(), (page.PAGE, page.PLOT)
    monkeypatch.setattr(page, "PAGE", tmp_path / "power.md")
    monkeypatch.setattr(page, "PLOT", tmp_path / "power.svg")
    page.write_page(cells)
    for made, there in zip((page.PAGE, page.PLOT), committed, strict=True):
        assert made.read_text(encoding="utf-8") == there.read_text(encoding="utf-8")
