"""The experiment on DD: which generators are measured, what is stored, what the tables state."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from textassay.errors import InputError
from textassay.inference.plan import Silent
from textassay.reproduce import discrepancy_paper as dd
from textassay.reproduce.catalogue import reproduce
from textassay.reproduce.discrepancy_paper import Experiment, Unit
from textassay.reproduce.result import Reproduction, Run
from textassay.studies.agreement.study import agree

DONE: list[Unit] = []


def made_up(_experiment: Experiment, _files: Sequence[Path], seed: int, unit: Unit) -> dict[str, float]:
    """Values that all follow the share, but for BLEU-5, which is the same for all generators of one seed."""
    DONE.append(unit)
    share = float(unit.share)
    return {
        name: 0.5 if name == "BLEU-5" else (share if higher else 1 - share) + 0.001 * unit.seed + 0.0001 * seed
        for name, (_, higher) in dd._METRICS.items()
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Data that nothing reads, because the values are made up."""
    (tmp_path / "coco").mkdir()
    for name in ("train.txt", "test.txt"):
        (tmp_path / "coco" / name).write_text("a\n")
    monkeypatch.setattr(dd, "_values", made_up)
    DONE.clear()
    return str(tmp_path)


def test_every_generator_is_measured_once_and_the_tables_show_it(folder: str) -> None:
    found = reproduce("dd-table-3", data=folder, scale="smoke")
    assert sorted(map(str, DONE)) == [f"{kind}-{share}-0" for kind in ("5-gram", "lstm") for share in dd.SHARES]
    taus, lstm, ngram = found.tables
    rows = {row.name: list(row.numbers) for row in taus.rows}
    assert rows["DD, network"] == [1.0, 1, 1, 1, 1, 1, 1]
    assert rows["MAUVE"] == [None, 1, 1, 1, 1, 1, 1]
    # All generators have one value, so there is no order.
    assert rows["BLEU-5"] == [0.0, None, None, None, None, None, None]
    assert list(lstm.rows[0].numbers) == [0.490, 0.412, 0.393, 0.353, 0.322]
    assert [round(value or 0, 6) for value in ngram.rows[0].numbers] == [0.8, 0.6, 0.4, 0.2, 0]
    # One seed has no interval, so that nothing is decided.
    assert {claim.decision for claim in found.claims} == {"undecided"}
    assert len(found.panels) == 2


def test_a_stopped_run_continues_from_its_folder(folder: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    first = reproduce("dd-table-3", data=folder, scale="smoke", work=str(work))
    (file,) = work.iterdir()
    lines = file.read_text().splitlines(keepends=True)
    assert len(DONE) == len(lines) - 1 == 10
    # The process was killed while it wrote the ninth.
    file.write_text("".join(lines[:9]) + lines[9][:50])
    missing = DONE[8:]
    DONE.clear()
    assert reproduce("dd-table-3", data=folder, scale="smoke", work=str(work)) == first
    assert missing == DONE
    DONE.clear()
    reproduce("dd-table-3", data=folder, scale="smoke", work=str(work), seed=1)
    assert len(DONE) == 10
    (work / "lstm-0.6-0.json").write_text("{}")
    with pytest.raises(InputError, match=r"parts of an earlier version of textassay \('lstm-0.6-0.json'\)"):
        reproduce("dd-table-3", data=folder, scale="smoke", work=str(work))


def test_agreement_reads_the_json_of_the_generators(folder: str, tmp_path: Path) -> None:
    found = reproduce("dd-table-3", data=folder, scale="smoke")
    path = tmp_path / "dd-table-3.json"
    path.write_text(found.to_json(), encoding="utf-8")
    assert Reproduction.from_json(path.read_text(encoding="utf-8")) == found
    agreed = agree(path, ">".join(f"lstm-{share}-0" for share in reversed(dd.SHARES)))
    assert len(agreed.systems) == 10
    assert agreed["dd classifier=cnn size=laptop"]["kendall"].estimate == 1.0
    assert agreed["mauve"]["kendall"].p_value == pytest.approx(2 / 120)
    assert agreed["bleu-5"]["kendall"].undefined == "all systems have the same value"


def test_bad_settings_are_refused(folder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="n_items=20; wanted 100 or more texts in the pool"):
        reproduce("dd-table-3", data=folder, scale="smoke", n_items=20)
    with pytest.raises(InputError, match=r"work='.*: no such folder; wanted one that exists"):
        reproduce("dd-table-3", data=folder, scale="smoke", work=str(tmp_path / "nowhere"))


def test_words_outside_of_the_vocabulary_are_unknown() -> None:
    assert dd._with_unknown(["a b c", "c"], {"a", "c"}) == ["a <unk> c", "c"]


def test_the_laptop_scale_has_three_seeds_and_two_processes() -> None:
    run = Run("dd-table-3", "laptop", 20_000, 0, Silent())
    experiment = Experiment.of(run)
    assert len(experiment.units) == 30
    assert str(experiment.units[0]) == "lstm-1.0-0"
    assert (experiment.texts, experiment.models["lstm"]) == (10_000, "lstm:preset=laptop")
