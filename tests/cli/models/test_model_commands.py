"""`prepare`, `train`, `sample` and `score`: one pipeline, its output formats, and invalid input."""

import csv
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import textassay as ta
from tests.cli.conftest import Command, piped
from textassay.corpus.sample import GeneratedTexts
from textassay.models.ngrams.ngram import NgramModel, train

TOWNS = [
    f"{who} {what} {where}{stop}"
    for who in ("The mayor", "Our teacher", "A guest")
    for what in ("walks to", "talks about", "has seen")
    for where in ("the bridge", "a small town", "the sea, again")
    for stop in (".", "!")
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real.txt").write_text("\n".join(TOWNS) + "\n")
    return tmp_path


@pytest.fixture
def model(folder: Path) -> NgramModel:
    made = train(TOWNS)
    ta.save_model(made, folder / "m.safetensors")
    return made


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_the_pipeline(folder: Path, run_command: Command) -> None:
    options = ["--split", "train=40,test=14", "--min-count", "2", "--out", "data.txt", "--vocabulary", "words.tsv"]
    done = run_command("prepare", "real.txt", *options)
    assert done.returncode == 0
    assert "54 texts of 54 kept\ntrain: 40 texts\ntest: 14 texts\n" in done.stderr
    assert sorted(lines(folder / "data.train.txt") + lines(folder / "data.test.txt")) == sorted(TOWNS)
    assert lines(folder / "words.tsv")[0] == "<unk>\t0"
    done = run_command("train", "ngram:order=4", "data.train.txt", "--out", "m.safetensors", "--arpa", "m.arpa")
    assert done.returncode == 0
    assert done.stdout.startswith("m.safetensors: ngram-4:")
    assert done.stdout.endswith(", trained on 40 texts\n")
    (folder / "one.txt").write_text("one text\n", encoding="utf-8")
    done = run_command("train", "ngram", "one.txt", "--out", "one.safetensors")
    assert done.stdout.endswith(", trained on 1 text\n")
    assert lines(folder / "m.arpa")[0] == "\\data\\"
    done = run_command("sample", "m.safetensors", "-n", "7", "--temperature", "0.8", "--seed", "3")
    assert len(done.stdout.splitlines()) == 7
    again = run_command("sample", "m.safetensors", "-n", "7", "--temperature", "0.8", "--seed", "3")
    assert again.stdout == done.stdout
    done = run_command("score", "m.safetensors", "data.test.txt", "--out", "scores.csv")
    assert "data.test: 14 texts" in done.stdout
    assert "nats per token" in done.stdout


def test_scores_are_those_of_the_model_under_the_decoding_setting(
    folder: Path, model: NgramModel, run_command: Command
) -> None:
    for setting in ({}, {"temperature": 0.7}, {"top_k": 3}, {"top_p": 0.8}):
        options = [word for name, value in setting.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        done = run_command("score", "m.safetensors", "real.txt", *options)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        expected = model.log_prob(TOWNS, **setting)
        assert [row["text"] for row in rows] == TOWNS
        assert [float(row["log_prob"]) for row in rows] == expected.log_probs.tolist()
        assert [int(row["length"]) for row in rows] == expected.n_tokens.tolist()


def test_probability_zero_is_counted(folder: Path, model: NgramModel, run_command: Command) -> None:
    (folder / "odd.jsonl").write_text('{"id": "x1", "text": "The zebra"}\n{"id": "x2", "text": "A guest"}\n')
    done = run_command("score", "m.safetensors", "odd.jsonl", "--top-k", "1", "--out", "odd.out.jsonl")
    assert "2 texts have probability 0 (-inf) and are not in this mean" in done.stdout
    assert "nan" not in done.stdout.lower()
    records = [json.loads(line) for line in lines(folder / "odd.out.jsonl")]
    assert [(record["item"], record["log_prob"]) for record in records] == [("x1", "-inf"), ("x2", "-inf")]


@pytest.mark.parametrize("temperature", ["0.7", "1.0"])
def test_scores_feed_huse(folder: Path, model: NgramModel, run_command: Command, temperature: str) -> None:
    rng = np.random.default_rng(0)
    texts = model.sample(40, temperature=float(temperature), rng=rng)
    rated = [("human", text) for text in TOWNS[:40]] + [("model", text) for text in texts]
    with (folder / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "source", "text", "rating"])
        writer.writerows([f"i{n}", source, text, 1 + n % 5] for n, (source, text) in enumerate(rated))
    with (folder / "texts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows([f"i{n}", text] for n, (_, text) in enumerate(rated))
    done = run_command("score", "m.safetensors", "texts.csv", "--temperature", temperature, "--out", "lp.csv")
    assert done.returncode == 0, done.stderr
    options = ["--log-probs", "lp.csv", "--resamples", "0", "--json", "huse.json", "--no-stability"]
    done = run_command("huse", "ratings.csv", *options)
    assert done.returncode == 0, done.stderr
    rated_items = ta.read_ratings(folder / "ratings.csv", log_probs=folder / "lp.csv")
    expected = model.log_prob([text for _, text in rated], temperature=float(temperature))
    by_id = {item.id: item for item in rated_items.items}
    assert [by_id[f"i{n}"].log_prob for n in range(80)] == expected.log_probs.tolist()
    assert [by_id[f"i{n}"].length for n in range(80)] == expected.n_tokens.tolist()
    results = json.loads((folder / "huse.json").read_text())["results"]
    assert [result["metric"] for result in results] == ["huse", "huse_q", "huse_d"]
    assert all(math.isfinite(result["estimate"]) for result in results)


def test_prompts_greedy_and_beam(folder: Path, model: NgramModel, run_command: Command) -> None:
    (folder / "prompts.txt").write_text("The mayor\nA guest has\n")
    done = run_command("sample", "m.safetensors", "--prompts", "prompts.txt", "-n", "2", "--out", "made.jsonl")
    assert done.returncode == 0
    records = [json.loads(line) for line in lines(folder / "made.jsonl")]
    assert [record["prompt"] for record in records] == ["The mayor"] * 2 + ["A guest has"] * 2
    assert run_command("sample", "m.safetensors", "--greedy").stdout.splitlines() == model.beam(width=1)
    assert run_command("sample", "m.safetensors", "--beam", "8").stdout.splitlines() == model.beam(width=8)
    done = run_command("sample", "m.safetensors", "--beam", "3", "--prompts", "prompts.txt")
    assert len(done.stdout.splitlines()) == 2
    short = run_command("sample", "m.safetensors", "-n", "5", "--max-tokens", "2").stdout.splitlines()
    assert max(len(text.split()) for text in short) <= 2


def test_texts_are_scored_after_their_prompts(folder: Path, model: NgramModel, run_command: Command) -> None:
    """A model's own continuations, from the file that `sample` writes, and from texts and prompts in two files."""
    starts = ["The mayor walks", "A guest has", "Our teacher talks"]
    (folder / "prompts.txt").write_text("\n".join(starts * 10) + "\n")
    setting = ["--temperature", "0.7", "--top-p", "0.9"]
    for name in ("made.jsonl", "made.txt"):
        done = run_command("sample", "m.safetensors", "--prompts", "prompts.txt", *setting, "--out", name)
        assert done.returncode == 0, done.stderr
    made = [json.loads(line)["text"] for line in lines(folder / "made.jsonl")]
    expected = model.log_prob(made, prompts=starts * 10, temperature=0.7, top_p=0.9)
    assert np.isfinite(expected.log_probs).all()
    done = run_command("score", "m.safetensors", "made.jsonl", *setting, "--out", "scores.csv")
    assert done.stderr.startswith("note: made.jsonl: each text is scored after its prompt, from the field 'prompt'\n")
    rows = list(csv.DictReader(lines(folder / "scores.csv")))
    assert [row["prompt"] for row in rows] == starts * 10
    assert [float(row["log_prob"]) for row in rows] == expected.log_probs.tolist()
    assert [int(row["length"]) for row in rows] == expected.n_tokens.tolist()
    run_command("score", "m.safetensors", "made.txt", "--prompts", "prompts.txt", *setting, "--out", "again.csv")
    assert lines(folder / "again.csv") == lines(folder / "scores.csv")
    alone = run_command("score", "m.safetensors", "made.jsonl", "--no-prompts", *setting)
    assert alone.stdout.splitlines()[0] == "text,log_prob,length"
    (folder / "prompts.txt").write_text("The mayor walks\n")
    short = run_command("score", "m.safetensors", "made.txt", "--prompts", "prompts.txt")
    wanted = "prompts.txt: 1 prompt for 30 texts of made.txt (blank ones not counted); wanted one per text"
    assert (short.returncode, short.stderr) == (2, f"textassay: {wanted}\n")
    both = run_command("score", "m.safetensors", "made.txt", "--prompts", "prompts.txt", "--no-prompts")
    assert both.stderr == "textassay: --prompts and --no-prompts; wanted one of them\n"


def test_a_field_of_prompts_comes_before_the_text(folder: Path, model: NgramModel, run_command: Command) -> None:
    records = [{"text": "the gold answer", "prompt": "A guest"}, {"text": "another", "prompt": "Our teacher"}]
    (folder / "q.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = run_command("sample", "m.safetensors", "--prompts", "q.jsonl", "--out", "made.jsonl")
    assert done.stderr.startswith("note: q.jsonl: the prompts are the field 'prompt'\n")
    made = [json.loads(line) for line in lines(folder / "made.jsonl")]
    assert [record["prompt"] for record in made] == ["A guest", "Our teacher"]
    run_command("sample", "m.safetensors", "--prompts", "q.jsonl", "--field", "text", "--out", "made.jsonl")
    assert json.loads(lines(folder / "made.jsonl")[0])["prompt"] == "the gold answer"
    (folder / "alpaca.jsonl").write_text('{"instruction": "A", "input": "guest has", "output": "x"}\n')
    done = run_command("sample", "m.safetensors", "--prompts", "alpaca.jsonl", "--out", "made.jsonl")
    assert done.stderr.startswith("note: alpaca.jsonl: the prompts are the fields 'instruction', 'input'\n")
    assert json.loads(lines(folder / "made.jsonl")[0])["prompt"] == "A\nguest has"


def test_prompts_from_a_pipe_are_read_once(folder: Path, model: NgramModel, run_command: Command) -> None:
    record = json.dumps({"text": "the gold answer", "prompt": "A guest"}) + "\n"
    done = run_command("sample", "m.safetensors", "--prompts", piped(folder / "a.jsonl", record), "--out", "made.jsonl")
    assert done.stderr.startswith(f"note: {folder / 'a.jsonl'}: the prompts are the field 'prompt'\n")
    assert [json.loads(line)["prompt"] for line in lines(folder / "made.jsonl")] == ["A guest"]
    done = run_command("score", "m.safetensors", piped(folder / "b.jsonl", record))
    assert done.stdout.splitlines()[1].startswith("A guest,the gold answer,")


def test_texts_that_were_cut_off_have_no_end(folder: Path, model: NgramModel, run_command: Command) -> None:
    """The file states which texts were cut off; `score` and metrics of models leave out an end that was not drawn."""
    options = ["-n", "40", "--max-tokens", "5"]
    done = run_command("sample", "m.safetensors", *options, "--out", "made.jsonl")
    made = [json.loads(line) for line in lines(folder / "made.jsonl")]
    cut = np.array([record["finish_reason"] == "length" for record in made])
    texts = [record["text"] for record in made]
    assert 0 < cut.sum() < 40
    assert cut.tolist() == (np.diff(model.vocabulary.encode(texts)[1]) == 5).tolist()
    n = int(cut.sum())
    assert f"note: {n} texts were cut off at the length limit ({100 * n / 40:.3g} %)\n" in done.stderr
    plain = run_command("sample", "m.safetensors", *options, "--out", "made.txt")
    assert f"({100 * n / 40:.3g} %); only .jsonl states which\n" in plain.stderr
    done = run_command("score", "m.safetensors", "made.jsonl", "--out", "scores.csv")
    assert f"{n} texts were cut off and scored without an end" in done.stdout
    expected = model.log_prob(GeneratedTexts(texts, cut))
    rows = list(csv.DictReader(lines(folder / "scores.csv")))
    assert [float(row["log_prob"]) for row in rows] == expected.log_probs.tolist()
    assert [int(row["length"]) for row in rows] == expected.n_tokens.tolist()
    entropy = ta.metrics.model_entropy("made.jsonl", model=model, n_resamples=0).estimate
    assert entropy == pytest.approx(-expected.log_probs.mean())


def test_texts_from_standard_input(folder: Path, model: NgramModel) -> None:
    program = [sys.executable, "-m", "textassay", "score", "m.safetensors", "-"]
    done = subprocess.run(program, input="A guest.\n", capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.splitlines()[0] == "text,log_prob,length"
    assert len(done.stdout.splitlines()) == 2


def test_line_breaks_and_unknown_words_are_noted(folder: Path, run_command: Command) -> None:
    ta.save_model(train(TOWNS, max_words=3), folder / "small.safetensors")
    done = run_command("score", "small.safetensors", "real.txt", "--out", "scores.csv")
    assert "54 texts have unknown words (<unk>, or words that the model does not have): 100 %" in done.stdout
    rows = list(csv.DictReader(lines(folder / "scores.csv")))
    assert {row["log_prob"] for row in rows} == {"-inf"}
    assert all(int(row["unknown_words"]) > 0 for row in rows)
    done = run_command("sample", "small.safetensors", "-n", "20")
    assert "texts have an unknown word (<unk>)" in done.stderr
    assert len(done.stdout.splitlines()) == 20
    assert run_command("sample", "small.safetensors", "-n", "20", "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("train tree real.txt --out m2.safetensors", "no kind of model to train 'tree'"),
        ("train ngram:order=0 real.txt --out m2.safetensors", "order=0; wanted a whole number of 1 or more"),
        ("train ngram:order=x real.txt --out m2.safetensors", "option 'order' is 'x'; wanted a whole number"),
        ("train ngram real.txt --out model.bin", "model.bin: not the name of a model file"),
        ("train ngram real.txt --out no/m.safetensors", "the folder no does not exist"),
        ("train ngram empty.txt --out m2.safetensors", "empty.txt: empty; wanted one text per line"),
        ("train ngram blank.txt --out m2.safetensors", "2 lines, all blank; wanted one text per line"),
        ("train ngram real.txt --out m2.safetensors --validation real.txt", "model 'ngram' uses no validation"),
        ("train lstm real.txt --out m2.safetensors --arpa x.arpa", "--arpa; wanted a model of kind ngram"),
        ("train ngram - --out m2.safetensors --validation -", "stdin: given 2 times"),
        ("sample no.safetensors", "no.safetensors: no such file"),
        ("sample real.txt", "real.txt: not a model file"),
        ("sample cut.safetensors", "cut.safetensors: not a model file, or damaged or cut off"),
        ("sample other.safetensors", "a safetensors file with no format in its header"),
        ("sample m.safetensors --temperature 0", "wanted a finite number above 0; greedy decoding is --top-k 1"),
        ("sample m.safetensors --temperature -1", "--temperature -1.0; wanted a finite number above 0"),
        (
            "sample m.safetensors --temperature 1e-320",
            "--temperature 1e-320; wanted at least 1e-12; greedy",
        ),
        ("sample m.safetensors -n 99999999999", "-n: 99,999,999,999 texts; wanted at most 100,000,000"),
        ("sample m.safetensors -n 99999999 --prompts real.txt", "texts; wanted at most 100,000,000"),
        ("train lstm:hidden=999999999 real.txt --out m2.safetensors", "hidden=999999999; wanted at most 1,000,000"),
        (
            "train lstm:hidden=999999 real.txt --out m2.safetensors",
            "lstm: a network of about 4.0e+12 weights; wanted at",
        ),
        ("train lstm:layers=10000000 real.txt --out m2.safetensors", "layers=10000000; wanted at most 1,000"),
        ("train lstm:threads=9999 real.txt --out m2.safetensors", "threads=9999; wanted at most 1,024"),
        ("train lstm:batch_size=99999999999 real.txt --out m2.safetensors", "wanted at most 1,000,000"),
        ("train gpt2:hidden=999999:heads=1 real.txt --out m2.safetensors", "gpt2: a network of about 2.4e+13 weights"),
        ("train seqgan:hidden=999999 real.txt --out m2.safetensors", "seqgan: a network of about 4.0e+12 weights"),
        ("sample m.safetensors --top-p 1.5", "--top-p 1.5; wanted a number above 0, at most 1"),
        ("sample m.safetensors --greedy --beam 3", "--greedy and --beam; wanted one of them"),
        ("sample m.safetensors --greedy --top-k 3", "--greedy with --top-k; wanted only one way of decoding"),
        ("sample m.safetensors --beam 3 -n 2", "--beam with -n 2; --beam gives one text, so wanted 1"),
        ("sample m.safetensors --beam 0", "--beam 0; wanted a whole number of 1 or more"),
        ("sample m.safetensors -n 0", "-n 0; wanted 1 or more"),
        ("sample m.safetensors --resume x.jsonl", "does not use --resume"),
        ("sample m.safetensors --out m.safetensors", "m.safetensors: is also an input"),
        ("score m.safetensors real.txt --out real.txt", "real.txt: is also an input"),
        ("score m.safetensors real.txt --temperature nan", "--temperature nan; wanted a finite number above 0"),
        ("prepare real.txt --split train=0.8", "--split with standard output; wanted --out FILE"),
        ("prepare real.txt --split train --out x.txt", "--split 'train'; wanted names and sizes"),
        ("prepare real.txt --split train=60 --out x.txt", "parts of 60 texts in all, but there are 54"),
        ("prepare real.txt --min-count 0", "--min-count 0; wanted a whole number of 1 or more"),
        ("prepare real.txt --min-length 90", "no text is left (54 texts with less than 90 words left out)"),
        ("prepare real.txt --out real.txt", "real.txt: is also an input"),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, model: NgramModel, run_command: Command, arguments: str, problem: str
) -> None:
    (folder / "empty.txt").write_text("")
    (folder / "blank.txt").write_text("\n \n")
    (folder / "cut.safetensors").write_bytes((folder / "m.safetensors").read_bytes()[:-20])
    save_file({"x": np.zeros(2)}, folder / "other.safetensors")
    before = sorted(path.name for path in folder.iterdir())
    done = run_command(*arguments.split())
    assert done.returncode == 2
    assert done.stderr.startswith("textassay: ")
    assert done.stderr.count("\n") == 1
    assert problem in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("kind", "options"), [("ngram", ()), ("lstm:epochs=1:hidden=8", ("--checkpoint", "state.safetensors"))]
)
def test_a_full_disk_is_named(folder: Path, kind: str, options: tuple[str, ...]) -> None:
    """Files end at a limit, as on a full disk: the error names the file that could not be written."""
    if kind.startswith("lstm"):
        pytest.importorskip("torch")
    # The limit holds for compiled modules too, which Python would leave cut off for all later processes.
    limit = "import sys; sys.dont_write_bytecode = True; "
    limit += "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    program = limit + "runpy.run_module('textassay', run_name='__main__')"
    arguments = ["train", kind, "real.txt", "--out", "new.safetensors", *options]
    before = sorted(path.name for path in folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    named = options[-1] if options else "new.safetensors"
    assert done.stderr.splitlines()[-1] == f"textassay: {named}: cannot be written (file too large)"
    assert done.returncode == 2
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_interrupted_training_leaves_no_file(folder: Path) -> None:
    (folder / "many.txt").write_text("\n".join(f"{text} {n}" for n in range(20_000) for text in TOWNS))
    program = [sys.executable, "-m", "textassay", "train", "ngram", "many.txt", "--out", "m.safetensors"]
    with subprocess.Popen(program, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert messages == "textassay: interrupted; no output file is incomplete\n"
    assert sorted(path.name for path in folder.iterdir()) == ["many.txt", "real.txt"]


def test_python_names(folder: Path) -> None:
    model = ta.train_model("ngram:order=3", "real.txt")
    ta.save_model(model, "python.safetensors")
    again = ta.get_model("python.safetensors")
    assert again.name == model.name
    assert math.isfinite(again.log_prob(["A guest."]).log_probs[0])
