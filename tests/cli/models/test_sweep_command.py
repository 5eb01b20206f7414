"""`textassay sweep` on the command line: outputs, work files, interrupts and bad input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.numpy import save_file

import textassay as ta
from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.laws import corpus
from textassay.models.ngrams.ngram import train

FAST = ["--reference", "real.txt", "-m", "cnd,cr,nrr", "--resamples", "19", "-n", "60"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real.txt").write_text("\n".join(corpus(7, 150)) + "\n")
    ta.save_model(train(corpus(0, 200), order=2), tmp_path / "m.safetensors")
    return tmp_path


def test_all_forms_and_samples_are_written(folder: Path, run_command: Command) -> None:
    names = {"--json": "s.json", "--csv": "s.csv", "--markdown": "s.md", "--report": "s.html"}
    options = [word for pair in names.items() for word in pair]
    grid = ["--temperature", "0.5:1.5:0.5", "--save-samples", "texts"]
    found = run_command("sweep", "m.safetensors", *FAST, *grid, *options, "--no-timings")
    assert found.returncode == 0
    assert "closest to the reference: " in found.stdout
    assert all((folder / name).stat().st_size > 100 for name in names.values())
    assert sorted(os.listdir("texts")) == ["t=0.5.txt", "t=1.5.txt", "t=1.txt"]
    assert len((folder / "texts" / "t=1.txt").read_text().splitlines()) == 60
    assert not (folder / "s.json.samples").exists()
    first = (folder / "s.json").read_bytes()
    assert run_command("sweep", "m.safetensors", *FAST, *grid, "--json", "s.json", "--no-timings").returncode == 0
    assert (folder / "s.json").read_bytes() == first
    agreed = run_command("agree", "s.json", "--gold", "t=1>t=0.5=t=1.5")
    assert agreed.returncode == 0
    assert "cnd-2" in agreed.stdout


def test_a_file_of_samples_is_kept_and_reused(folder: Path, run_command: Command) -> None:
    first = run_command("sweep", "m.safetensors", *FAST, "--temperature", "0.5,1", "--resume", "work")
    content = (folder / "work").read_bytes()
    assert content.count(b"\n") == 1 + 2
    again = run_command("sweep", "m.safetensors", *FAST, "--temperature", "0.5,1", "--resume", "work")
    assert again.stdout == first.stdout
    assert again.stderr == "note: continuing with 120 texts in work\n"
    assert (folder / "work").read_bytes() == content


def test_an_error_before_the_first_sample_leaves_no_file(folder: Path, run_command: Command) -> None:
    assert_refused(
        run_command("sweep", "none.safetensors", *FAST, "--json", "s.json"), "none.safetensors: no such file"
    )
    assert sorted(os.listdir(folder)) == ["m.safetensors", "real.txt"]


def _stopped(arguments: list[str], work: Path, how: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run a sweep of a slow model, and send a signal when the work file has a part."""
    program = (
        "import sys, time\n"
        "from textassay.models.ngrams.ngram import NgramModel\n"
        "sample = NgramModel.sample\n"
        "NgramModel.sample = lambda *a, **k: (time.sleep(0.2), sample(*a, **k))[1]\n"
        "from textassay.cli.main import entry\n"
        "sys.argv = ['textassay', *sys.argv[1:]]\n"
        "entry()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + 300
        while time.monotonic() < end and not (work.exists() and work.read_bytes().count(b"\n") > 1):
            time.sleep(0.01)
        process.send_signal(how)
        out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_sweep_continues(folder: Path, run_command: Command, how: signal.Signals) -> None:
    arguments = ["sweep", "m.safetensors", *FAST, "--temperature", "0.5:1.5:0.05", "--json", "s.json", "--no-timings"]
    stopped = _stopped(arguments, folder / "s.json.samples", how)
    assert not (folder / "s.json").exists()
    if how == signal.SIGINT:
        assert (stopped.returncode, stopped.stdout) == (130, "")
        assert stopped.stderr == "textassay: interrupted; no output file is incomplete\n"
    parts = (folder / "s.json.samples").read_bytes().count(b"\n") - 1
    assert 1 <= parts < 21
    short = [word if word != "0.5:1.5:0.05" else "0.5,0.55" for word in arguments]
    assert f"continuing with {60 * parts} texts in s.json.samples" in run_command(*short).stderr.replace(",", "")
    continued = (folder / "s.json").read_bytes()
    assert not (folder / "s.json.samples").exists()
    run_command(*short)
    assert (folder / "s.json").read_bytes() == continued


def test_bad_input_is_one_line(folder: Path, run_command: Command) -> None:
    def refused(*arguments: str, wanted: str) -> None:
        assert_refused(run_command("sweep", *arguments), wanted)

    save_file({}, "other.safetensors", metadata={"format": "pt"})
    (folder / "few.txt").write_text("\n".join(corpus(7, 10)))
    refused("m.safetensors", *FAST, "--temperature", "0", wanted="--temperature 0.0; wanted a finite number above 0")
    refused("m.safetensors", *FAST, "--temperature", "-1", wanted="--temperature -1.0; wanted a finite number above 0")
    refused("m.safetensors", *FAST, "--temperature", "", wanted="wanted numbers such as 0.5,0.7,1 or a range")
    refused("m.safetensors", *FAST, "--temperature", "0.5:1.5:0.001", wanted="1,001 values; wanted at most 200")
    refused("m.safetensors", *FAST, "--top-k", "1:300:1", wanted="--top-k 1:300:1: 300 values; wanted at most 200")
    refused("other.safetensors", *FAST, wanted="other.safetensors: a safetensors file with format 'pt'")
    refused("real.txt", *FAST, wanted="real.txt: not a model file")
    refused("m.safetensors", "--reference", "few.txt", wanted="10 texts; a sweep needs at least 40")
    refused("m.safetensors", *FAST[:-1], "151", wanted="-n 151; the reference has 150 texts")
    refused("--checkpoints", "epoch-*.safetensors", *FAST, wanted="--checkpoints epoch-*.safetensors: no file matches")
    refused(*FAST, wanted="no model given; wanted a model, or --checkpoints")
    refused("m.safetensors", *FAST, "--json", "real.txt", wanted="real.txt: is also an input")
    refused("m.safetensors", *FAST, "--resume", "real.txt", wanted="real.txt: is also an input")
    refused("m.safetensors", *FAST, "--resume", "few.txt", wanted="few.txt: not a work file of textassay sweep")
    refused("m.safetensors", *FAST, "--save-samples", "few.txt", wanted="--save-samples few.txt: not a folder")
    refused("m.safetensors", *FAST, "--save-samples", "few.txt/a", wanted="few.txt/a: not a folder; wanted a folder")
    refused("m.safetensors", *FAST, "--top-k", "1e300", wanted="--top-k 1e+300; wanted at most 1,000,000,000 tokens")
    refused("m.safetensors", *FAST, "--top-k", "2e9", wanted="--top-k 2000000000; wanted at most 1,000,000,000 tokens")
    needs = "the metric 'copying' needs training texts; give them with --train"
    refused("m.safetensors", *FAST, "-m", "copying", wanted=needs)
    assert sorted(os.listdir()) == ["few.txt", "m.safetensors", "other.safetensors", "real.txt"]


def test_json_goes_to_standard_output(folder: Path, run_command: Command) -> None:
    options = ["--temperature", "1", "--resamples", "0", "--json", "-", "--oracle", "m.safetensors"]
    done = run_command("sweep", "m.safetensors", *FAST, *options)
    (setting,) = json.loads(done.stdout)["settings"]
    assert setting["name"] == "t=1"
    assert setting["results"][-1]["metric"] == "bhattacharyya"
    assert sorted(os.listdir()) == ["m.safetensors", "real.txt"]
