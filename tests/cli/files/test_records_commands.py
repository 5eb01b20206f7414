"""`textassay describe`, `textassay convert`, and systems within files in `textassay compare`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.corpus.formats.examples import EXAMPLES, REFUSED, lm_eval
from textassay.corpus.formats.contents import read_contents
from textassay.corpus.formats.record import Record
from textassay.corpus.readers import read_sample, read_systems
from textassay.errors import InputError
from textassay.studies.compare.study import compare

WORDS = [
    "a",
    "cat",
    "sat",
    "on",
    "the",
    "mat",
    "while",
    "the",
    "dog",
    "ran",
    "over",
    "red",
    "hills",
    "and",
    "far",
    "away",
]
# Three systems with ten texts on each of four prompts.
SYSTEMS = [
    {
        "id": f"p{prompt}",
        "prompt": f"Q{prompt}",
        "model": system,
        "generations": [f"{WORDS[n]} {WORDS[n + prompt]} {system} {WORDS[(n * 7) % 16]}" for n in range(10)],
    }
    for system in ("alpha", "beta", "gamma")
    for prompt in range(4)
]


def written(path: Path, records: list[Any]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_converted_records_read_back_equal(name: str, tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", EXAMPLES[name].records)
    out = tmp_path / "records.jsonl"
    assert run_command("convert", source, "--out", str(out)).returncode == 0
    before, after = read_contents(source), read_contents(out)
    assert list(after) == list(before)
    assert after.format == "textassay records"
    assert read_sample(out).digest == read_sample(source).digest


@pytest.mark.parametrize("name", EXAMPLES)
def test_instances_of_every_eval_ever_are_the_same_texts(name: str, tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", EXAMPLES[name].records)
    out = tmp_path / "x_samples.jsonl"
    assert run_command("convert", source, "--every-eval-ever", str(out)).returncode == 0
    before, found = list(read_contents(source)), read_contents(out)
    after = list(found)
    assert found.format == "Every Eval Ever instances"
    assert not found.left_out
    kept = ("prompt", "text", "reasoning", "finish")

    def by_prompt(records: list[Record]) -> list[tuple[str, ...]]:
        return sorted(tuple(getattr(record, name) or "" for name in kept) for record in records)

    assert by_prompt(after) == by_prompt(before)
    assert [record.system or "x" for record in before] == [record.system for record in after]
    for line in out.read_text(encoding="utf-8").splitlines():
        _check_instance(json.loads(line))


def _check_instance(found: dict[str, Any]) -> None:
    """What the schema of Every Eval Ever requires, except for the scores, which records do not have."""
    for name in ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "sample_hash"):
        assert isinstance(found[name], str)
    assert found["interaction_type"] == "single_turn"
    assert found["messages"] is None
    assert found["answer_attribution"] == []
    assert isinstance(found["input"]["raw"], str)
    assert found["input"]["reference"] == []
    assert all(isinstance(text, str) for text in found["output"]["raw"])
    assert all(isinstance(value, str) for value in (found["metadata"] or {}).values())
    known = {"schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "sample_hash", "metadata"}
    assert set(found) == known | {"interaction_type", "input", "output", "messages", "answer_attribution"}


def test_a_log_gives_the_same_numbers_through_every_eval_ever(tmp_path: Path, run_command: Command) -> None:
    sides = [
        [lm_eval(doc, [f"{WORDS[doc]} {WORDS[repeat]} {word}" for repeat in range(3)]) for doc in range(12)]
        for word in ("cat", "dog")
    ]
    direct = [written(tmp_path / f"{number}.jsonl", side) for number, side in enumerate(sides)]
    through = [str(tmp_path / f"{number}_samples.jsonl") for number in range(2)]
    for log, instances in zip(direct, through, strict=True):
        assert run_command("convert", log, "--every-eval-ever", instances).returncode == 0
    options = ("--family", "ngram", "--resamples", "39", "--json", "-", "--no-timings", "--quiet")
    one, other = (json.loads(run_command("compare", *files, *options).stdout) for files in (direct, through))
    assert one["candidates"][0]["digest"] == other["candidates"][0]["digest"]
    assert one["candidates"][0]["results"] == other["candidates"][0]["results"]
    assert one["candidates"][0]["overall"] == other["candidates"][0]["overall"]
    assert one["details"]["settings"] == other["details"]["settings"]


def test_one_kind_of_records_is_written(tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", [{"text": "A cat."}])
    for given in ((), ("--out", "-", "--every-eval-ever", "-")):
        assert "wanted one of --out and --every-eval-ever" in run_command("convert", source, *given).stderr


def test_plain_texts_become_records(tmp_path: Path, run_command: Command) -> None:
    source = tmp_path / "x.txt"
    source.write_text("A cat.\n\nA cat.\n", encoding="utf-8")
    outcome = run_command("convert", str(source), "--out", "-")
    records = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [(record["text"], record["sample"]) for record in records] == [("A cat.", 0), ("A cat.", 1)]
    assert outcome.stderr == "note: x: plain texts: 2 records; left out: 1 blank text\n"


def test_description(tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", SYSTEMS)
    shown = run_command("describe", source).stdout
    for line in ("format    NoveltyBench", "systems   3: 'alpha', 'beta', 'gamma'", "prompts   4, with 10 texts each"):
        assert line in shown
    assert shown.count("\ntext ") == 3
    hostile = written(tmp_path / "y.jsonl", [lm_eval(0, ["A \x1b[31mcat\n"]), lm_eval(1, ["", "B"])])
    shown = run_command("describe", hostile).stdout
    assert "\x1b" not in shown
    assert "A \\x1b[31mcat\\n" in shown
    assert "left out  1 empty text" in shown


def test_lines_have_no_fields(tmp_path: Path, run_command: Command) -> None:
    (tmp_path / "lines.txt").write_text("a cat\na dog\n")
    assert "\ntexts     2 (no fields)\n" in run_command("describe", str(tmp_path / "lines.txt")).stdout


@pytest.mark.parametrize("command", [("describe",), ("convert", "--out", "-")])
def test_files_without_texts_are_one_line(command: tuple[str, ...], tmp_path: Path, run_command: Command) -> None:
    for name, (records, reason) in REFUSED.items():
        outcome = run_command(*command, written(tmp_path / "x.jsonl", records))
        assert outcome.returncode == 2, name
        assert reason in outcome.stderr
        assert outcome.stderr.count("\n") == 1
        assert not outcome.stdout


def test_each_system_becomes_a_candidate(tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", SYSTEMS)
    real = written(tmp_path / "real.jsonl", [dict(record, model="people") for record in SYSTEMS[:4]])
    options = ("--resamples", "0", "-m", "distinct:n=1", "--json", "-", "--pair", "prompt", "--quiet")
    found = json.loads(run_command("compare", real, source, "--by", "model", *options).stdout)
    assert [candidate["name"] for candidate in found["candidates"]] == ["alpha", "beta", "gamma"]
    assert [candidate["n"] for candidate in found["candidates"]] == [40, 40, 40]
    found = json.loads(run_command("compare", source, "--reference-system", "beta", *options).stdout)
    assert found["reference"]["name"] == "beta"
    assert [candidate["name"] for candidate in found["candidates"]] == ["alpha", "gamma"]
    in_python = compare(SYSTEMS, reference_system="beta", metrics="distinct:n=1", n_resamples=0, pair="prompt")
    for candidate in found["candidates"]:
        estimate = in_python[candidate["name"]]["distinct-1"].estimate
        assert candidate["results"][0]["estimate"] == pytest.approx(estimate)
    by_model = compare(read_systems(SYSTEMS)["beta"], SYSTEMS[:4], by="model", metrics="distinct:n=1", n_resamples=0)
    assert by_model["alpha"]["distinct-1"].estimate == in_python["alpha"]["distinct-1"].estimate


def test_a_name_and_a_field_per_file(tmp_path: Path, run_command: Command) -> None:
    rows = [{"first": f"a {WORDS[n]}", "reply": {"texts": [f"b {word}" for word in WORDS[n:]]}} for n in range(8)]
    source = written(tmp_path / "x.jsonl", rows)
    odd = written(tmp_path / "b=c::d.jsonl", [{"text": f"d {word}"} for word in WORDS])
    other = written(tmp_path / "e::f.jsonl", [{"text": f"e {word}"} for word in WORDS])
    options = ("--resamples", "0", "-m", "distinct:n=1", "--json", "-", "--quiet")
    named = (f"one={source}::first", f"two={source}::reply.texts[*]", odd, f"odd={other}")
    found = json.loads(run_command("compare", odd, *named, *options, "--size", "all").stdout)
    assert {one["name"]: one["n"] for one in found["candidates"]} == {"one": 8, "two": 100, "b=c::d": 16, "odd": 16}
    in_python = compare(odd, {"two": (source, "reply.texts[*]")}, metrics="distinct:n=1", n_resamples=0, size="all")
    assert in_python["two"]["distinct-1"].estimate == found["candidates"][1]["results"][0]["estimate"]
    # A file without fields is read as it is; only the other one has the path.
    lines = tmp_path / "x.txt"
    lines.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    mixed = ("--field", "reply.texts[*]", *options)
    found = json.loads(run_command("compare", str(lines), f"my={source}", *mixed, "--size", "all").stdout)
    assert (found["reference"]["n"], found["candidates"][0]["n"]) == (16, 100)
    outcome = run_command("compare", odd, f"one={source}::first", f"one={odd}")
    assert outcome.stderr == "textassay: two candidates have the name 'one'; wanted different names\n"


def test_columns_of_one_file(tmp_path: Path, run_command: Command) -> None:
    path = tmp_path / "data.csv"
    lines = ["human,model,other", *(f"a {word},b {word},c {word}" for word in WORDS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--resamples", "0", "-m", "distinct:n=1", "--json", "-", "--quiet")
    found = json.loads(run_command("compare", f"{path}::human", f"{path}::model", f"{path}::other", *options).stdout)
    assert found["reference"]["name"] == "human"
    assert [one["name"] for one in found["candidates"]] == ["model", "other"]
    named = json.loads(run_command("compare", f"{path}::human", f"mine={path}::model", *options).stdout)
    assert named["candidates"][0]["name"] == "mine"
    assert named["candidates"][0]["digest"] == found["candidates"][0]["digest"]
    outcome = run_command("compare", f"{path}::people", f"{path}::model")
    assert "no field 'people'; fields are 'human', 'model', 'other'" in outcome.stderr


def test_systems_that_cannot_be_compared(tmp_path: Path, run_command: Command) -> None:
    source = written(tmp_path / "x.jsonl", SYSTEMS)
    for arguments, message in (
        (
            ("compare", source, source),
            "texts of 3 systems ('alpha', 'beta', 'gamma'); wanted one system, or --by model",
        ),
        (("compare", source), "no candidate given"),
        (("compare", source, "--reference-system", "delta"), "--reference-system delta: no such system; systems are"),
        (("compare", source, source, "--reference-system", "beta"), "the system 'alpha' is in another file too"),
        (
            ("compare", source, source, "--by", "topic"),
            "NoveltyBench: no system is read from 'topic'; wanted one of 'model'",
        ),
        (("compare", source, source, "--text", "thoughts"), "--text thoughts; wanted answer or reasoning"),
    ):
        outcome = run_command(*arguments)
        assert outcome.returncode == 2
        assert message in outcome.stderr
    one = [record for record in SYSTEMS if record["model"] == "beta"]
    with pytest.raises(InputError, match="the only system"):
        compare(one, reference_system="beta")


def test_options_of_the_design(tmp_path: Path, run_command: Command) -> None:
    rows = [{"prompt": f"Q{n % 8}", "text": f"{word} {n}"} for n, word in enumerate(WORDS)]
    paths = [written(tmp_path / f"{name}.jsonl", rows) for name in "ab"]
    options = ("-m", "distinct", "--resamples", "0", "--json", "-", "--quiet")
    for more, kind in (((), "paired"), (("--no-pair",), "independent"), (("--group", "prompt"), "grouped")):
        found = json.loads(run_command("compare", *paths, *options, *more).stdout)
        assert found["details"]["settings"]["design"] == kind
    outcome = run_command("compare", *paths, "--no-pair", "--pair", "prompt")
    assert outcome.stderr == "textassay: --no-pair beside --pair or --group; wanted one of them\n"


def test_a_digest_of_one_shard_says_so(tmp_path: Path, run_command: Command) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    target = tmp_path / "a.digest"
    found = run_command("digest", str(tmp_path / "a.txt"), "--out", str(target))
    assert (found.returncode, found.stderr) == (0, f"wrote {target}: 2 texts of 1 shard\n")
