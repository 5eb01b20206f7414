"""The stress study: results, repeatability, continuation, and bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.laws import corpus
from tests.studies.stress.small_study import reference, settings, small_study
from textassay import save_model, train_model
from textassay.errors import InputError
from textassay.studies.stress.result import Stress
from textassay.studies.stress.study import stress


def test_clear_damages_are_found() -> None:
    found = small_study()
    assert found["copying"]["copy"].estimate == 1.0
    assert found["distinct-2"]["duplicates"].estimate == 1.0
    assert found["energy"]["blend 24"].estimate == pytest.approx(1.0, abs=0.001)
    assert found["overall test"]["blend"].n == 24


def test_the_distances_come_from_one_measurement_for_another_corpus_only() -> None:
    methods = {
        (metric.name, cell.damage) for metric in small_study().metrics for cell in metric.cells if cell.method == "law"
    }
    assert methods == {("cnd-2", "blend"), ("energy", "blend")}


def test_vectors_of_words_do_not_see_their_order() -> None:
    cell = small_study()["energy"].cell("shuffle", 24)
    assert cell.values == (cell.values[0],) * 3


def test_json_gives_back_an_equal_study() -> None:
    assert Stress.from_json(small_study().to_json()) == small_study()
    untimed = Stress.from_json(small_study().to_json(timings=False))
    assert untimed["cnd-2"].cells == small_study()["cnd-2"].cells


def test_number_of_workers_and_interruptions_do_not_change_a_byte(tmp_path: Path) -> None:
    wanted = small_study().to_json(timings=False)
    path = tmp_path / "records.jsonl"
    assert stress(reference(), **settings(), engine="local:1", records=path).to_json(timings=False) == wanted
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]) + b'{"work": [["run"')
    assert stress(reference(), **settings(), engine="local:2", records=path).to_json(timings=False) == wanted
    assert len(path.read_bytes().splitlines()) == len(lines)


def test_undamaged_draws_are_independent_and_encoded_as_in_compare(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    asked = settings() | {"metrics": "cr,vendi", "damages": "blend", "sizes": 20, "strengths": [1], "n_draws": 39}
    found = stress(reference(), **asked, records=path)
    records = [json.loads(line)["work"] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    values = np.array([record["values"]["cr-2"] for key, record in records if key[0] in ("null", "fresh")])
    assert values.shape == (16, 5)
    # The value of `cr` hardly depends on how a set of texts is divided: divisions of one set would repeat it.
    assert values.var(axis=1).mean() > 0.5 * values.var()
    # Words that only the other corpus has are known to the encoder: its texts are not all the same.
    assert found["vendi"].cell("blend", 20).values[1] > -5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sizes": 27}, "sample: 130 texts; samples of 27 texts need at least 135 (use sizes=26 or less)"),
        ({"reference": ["one text"]}, "sample: 1 text; samples of 24 texts need at least 120"),
        ({"sizes": [5]}, "sizes=5; wanted whole numbers of 20 or more"),
        ({"strengths": [0.5, 1.5]}, "strengths=1.5; wanted numbers above 0 and at most 1"),
        ({"strengths": [0]}, "strengths=0; wanted numbers above 0 and at most 1"),
        ({"damages": "blnd"}, "no damage 'blnd'; did you mean 'blend'?"),
        ({"other": None}, "the damage 'blend' needs texts of its own; give them with other=..."),
        (
            {"other": corpus(2, 20)},
            "other: 20 texts; the damage 'blend' needs at least 24 at these sizes and strengths",
        ),
        (
            {"training": None, "damages": "cold"},
            "the metric 'copying' needs training texts; give them with training=...",
        ),
        ({"n_draws": 9}, "n_draws=9; with fewer than 19 no test can reach the level 0.95"),
        ({"n_runs": 1}, "n_runs=1; wanted a whole number of 2 or more"),
        ({"encoder": "vectors:a.npy"}, "encoder='vectors:a.npy'; damaged texts have no vectors in a file"),
    ],
)
def test_bad_input_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        stress(**{"reference": reference(), **settings(), **wrong})
    assert str(error.value).startswith(message)


def test_models_of_metrics_are_known_by_their_digests(tmp_path: Path) -> None:
    """A file with the same name and another content is another model, so that no record of it is used."""
    path, records = tmp_path / "m.safetensors", tmp_path / "records.jsonl"
    asked = settings() | {"metrics": f"oracle_nll:oracle={path}", "damages": "shuffle", "sizes": 20}
    save_model(train_model("ngram:order=2", reference()), path)
    first = stress(reference(), **asked, records=records)
    assert str(path) not in first.metrics[1].signature
    assert "|oracle:ngram-2:" in first.metrics[1].signature
    save_model(train_model("ngram:order=3", reference()), path)
    with pytest.raises(InputError, match=r"the work of another run \(models is \['ngram-2:"):
        stress(reference(), **asked, records=records)
