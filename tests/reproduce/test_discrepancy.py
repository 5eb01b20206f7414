"""The generators of the paper on DD: which are trained and measured, what is kept, what the tables conclude."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textassay.errors import InputError
from textassay.inference.plan import Silent
from textassay.reproduce.catalogue import REPRODUCTIONS, reproduce
from textassay.reproduce.discrepancy import generators
from textassay.reproduce.discrepancy.figures import _pair_in_order
from textassay.reproduce.discrepancy.generators import KINDS, METRICS, SHARES, SWEPT, TEMPERATURES, Experiment, Unit
from textassay.reproduce.discrepancy.taus import Taus, _taus_of_rows
from textassay.reproduce.result import Reproduction, Run
from textassay.studies.agreement.correlation import tau_b
from textassay.studies.agreement.study import agree

NAMES = [name for name in REPRODUCTIONS if name.startswith("dd-") and name != "dd-published"]
DONE: list[str] = []
Value = Callable[[str, Unit], float]


def in_order(name: str, unit: Unit) -> float:
    """All metrics follow the share of texts, but for BLEU-5, which is the same for all, and FED, which is reversed."""
    if name == "BLEU-5":
        return 0.5
    better = float(unit.share) if name != "FED" else 1 - float(unit.share)
    return (better if METRICS[name][1] else 1 - better) + 0.001 * unit.seed + 0.01 * (unit.kind == "LSTM")


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Value, float], str]]:
    """A folder of data that nothing reads, because texts and values are made up."""
    (tmp_path / "coco").mkdir()
    for name in ("train.txt", "test.txt"):
        (tmp_path / "coco" / name).write_text("a\n")

    def written(trainer: generators.Trainer, unit: Unit) -> dict[str, Any]:
        DONE.append(str(unit))
        dd = [0.95 - 0.1 * float(unit.share) + 0.02 * (unit.kind == "LSTM"), 0.001]
        return {"texts": [str(unit)], "swept": {}, "dd": dd if trainer.experiment.world == "synthetic" else None}

    def use(value: Value, error: float) -> str:
        def measured(_trainer: Any, written: Mapping[str, Any], _real: Sequence[str]) -> dict[str, Any]:
            kind, share, seed = written["texts"][0].rsplit("-", 2)
            unit = Unit({name.lower(): name for name in KINDS}[kind], share, int(seed))
            values = {name: [value(name, unit), error] for name in METRICS}
            swept = {name: [value(name, unit) + t / 1000 for t in TEMPERATURES] for name in SWEPT}
            parts = {"accuracy": (1 + values["DD"][0]) / 2, "validation_accuracy": 0.7}
            return {"values": values, "parts": parts, "swept": swept, "dd": written["dd"]}

        source = generators._Source([], ["real"], None, None)  # type: ignore[arg-type]
        monkeypatch.setattr(generators.Trainer, "source", lambda *_: source)
        monkeypatch.setattr(generators.Trainer, "written", written)
        monkeypatch.setattr(generators.Trainer, "measured", measured)
        generators._measured.cache_clear()
        DONE.clear()
        return str(tmp_path)

    yield use
    generators._measured.cache_clear()


def decisions(found: Reproduction) -> dict[str, str]:
    return {claim.published: claim.decision for claim in found.claims}


def test_tables_show_every_generator_and_conclude_what_follows(made_up: Callable[[Value, float], str]) -> None:
    folder = made_up(in_order, 0.001)
    found = {name: reproduce(name, data=folder, scale="smoke") for name in NAMES}
    units = sorted(f"{kind.lower()}-{share}-0" for kind in KINDS for share in SHARES)
    assert sorted(DONE) == sorted(units * 2), "real and synthetic texts, and each of them once"
    third = {row.name: row.numbers for row in found["dd-table-3"].tables[0].rows}
    assert third["LSTM 0.2"] == pytest.approx((0.7585, 0.7, 0.517, 0.4, 0.745, 0.905, 0.49, 0.81, 0.001))
    assert set(decisions(found["dd-table-3"]).values()) == {"holds"}
    assert decisions(found["dd-table-2"])["the oracle dd falls with every fifth of training texts"] == "holds"
    assert decisions(found["dd-table-4"]) == {
        "DD ranks the generators perfectly (tau 1)": "holds",
        "DD ranks better than BLEU-5": "undecided",
        "DD ranks better than FED": "holds",
        "DD ranks better than LM score": "fails",
    }
    assert decisions(found["dd-table-6"])["GPT-2 1.0 has the lowest FED"] == "fails"
    # A few pairs that are all in order, or all in the wrong one, are not certain.
    assert set(decisions(found["dd-figure-2"]).values()) == {"undecided"}
    assert [row.numbers for row in found["dd-figure-2"].tables[0].rows] == [(1, 1), (0, 0), (1, 1), (1, 1)]
    assert len(found["dd-figure-3"].panels) == 6


@pytest.mark.parametrize("name", NAMES)
def test_random_numbers_conclude_nothing(name: str, made_up: Callable[[Value, float], str]) -> None:
    held = []
    for draw in range(16):
        rng = np.random.default_rng([5, draw])
        found = reproduce(name, data=made_up(lambda *_, rng=rng: float(rng.uniform()), 0.05), scale="smoke")
        # The oracle dd is made up in order, and lies above most random estimates.
        held += [claim.agrees for claim in found.claims if "oracle dd" not in claim.published]
    assert sum(held) <= 0.1 * len(held)


def test_a_stopped_run_continues_from_its_folder(made_up: Callable[[Value, float], str], tmp_path: Path) -> None:
    folder, work = made_up(in_order, 0.001), tmp_path / "work"
    work.mkdir()
    first = reproduce("dd-table-3", data=folder, scale="smoke", work=str(work))
    assert sorted(path.name for path in work.iterdir()) == ["real-generators.work", "real-metrics.work"]
    file = work / "real-generators.work"
    lines = file.read_text().splitlines(keepends=True)
    # The process was killed while it wrote the last generator.
    file.write_text("".join(lines[:-1]) + lines[-1][:50])
    missing = DONE[-1:]
    made_up(in_order, 0.001)
    assert reproduce("dd-table-3", data=folder, scale="smoke", work=str(work)) == first
    assert missing == DONE
    made_up(in_order, 0.001)
    with pytest.raises(InputError, match=r"the work of another run \(seed is 0, here 1\)"):
        reproduce("dd-table-3", data=folder, scale="smoke", work=str(work), seed=1)


def test_agreement_reads_the_json_of_the_generators(made_up: Callable[[Value, float], str], tmp_path: Path) -> None:
    found = reproduce("dd-table-3", data=made_up(in_order, 0.001), scale="smoke")
    path = tmp_path / "dd-table-3.json"
    path.write_text(found.to_json(), encoding="utf-8")
    assert Reproduction.from_json(path.read_text(encoding="utf-8")) == found
    agreed = agree(path, ">".join(f"lstm-{share}-0" for share in reversed(SHARES)))
    assert len(agreed.systems) == 10
    assert agreed["dd classifier=cnn size=laptop"]["kendall"].estimate == 1.0
    assert agreed["bleu-5"]["kendall"].undefined == "all systems have the same value"


def test_bad_settings_are_refused(made_up: Callable[[Value, float], str], tmp_path: Path) -> None:
    folder = made_up(in_order, 0.001)
    with pytest.raises(InputError, match="n_items=20; wanted a whole number of 100 or more"):
        reproduce("dd-table-3", data=folder, scale="smoke", n_items=20)
    with pytest.raises(InputError, match=r"work='.*: no such folder; wanted one that exists"):
        reproduce("dd-table-3", data=folder, scale="smoke", work=str(tmp_path / "nowhere"))


def test_words_outside_of_the_vocabulary_are_unknown() -> None:
    assert generators.with_unknown(["a b c", "c"], {"a", "c"}) == ["a <unk> c", "c"]


def test_scales_have_the_presets_of_the_paper_and_of_a_laptop() -> None:
    laptop, paper = (Experiment.of(Run("dd", scale, 3_000, 0, Silent()), "real") for scale in ("laptop", "paper"))
    assert laptop.models == {"lstm": "lstm:preset=laptop", "gpt2": "gpt2:preset=laptop"}
    assert paper.models == {"lstm": "lstm:preset=cai2020", "gpt2": "gpt2:preset=cai2020"}
    assert (laptop.network, paper.network, paper.seeds) == ("laptop", "paper", 3)
    assert str(laptop.units[0]) == "lstm-0.2-0"


def test_taus_of_rows_are_tau_b() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, (20, 6)).astype(float), rng.normal(size=(20, 6))
    wanted = [np.nan_to_num(tau_b(list(a), list(b))) for a, b in zip(x, y, strict=True)]
    assert _taus_of_rows(x, y) == pytest.approx(wanted)


def test_errors_of_the_values_widen_the_interval_of_tau() -> None:
    def taus(error: float) -> Taus:
        values = {name: (1 - share / 10, error) for share, name in enumerate(SHARES)}
        found = {Unit("LSTM", share, 0): generators.Generated({"DD": values[share]}, {}, {}, None) for share in SHARES}
        run = Run("dd", "smoke", 100, 0, Silent())
        return Taus(found, Experiment.of(run, "real"), 0)

    sure, unsure = (taus(error).measured("DD", "LSTM") for error in (1e-6, 0.2))
    assert (sure.estimate, sure.low, sure.high) == (1.0, 1.0, 1.0)
    assert unsure.estimate == 1.0
    assert unsure.low is not None
    assert unsure.low < 0.5


def test_generators_in_order_dominate_the_next_smaller_one() -> None:
    def swept(value: float) -> generators.Generated:
        curve = {name: tuple((-value if METRICS[name][1] else value) + t / 10 for t in TEMPERATURES) for name in SWEPT}
        return generators.Generated({"DD": (value, 0.0)}, {}, curve, None)

    less, more = Unit("LSTM", "0.2", 0), Unit("LSTM", "0.4", 0)
    for what in ("DD", "FED", "LM scores"):
        assert _pair_in_order({less: swept(3.0), more: swept(2.0)}, less, more, what) == 1
        assert _pair_in_order({less: swept(2.0), more: swept(3.0)}, less, more, what) == 0
        assert _pair_in_order({less: swept(2.0), more: swept(2.0)}, less, more, what) == 0.5
