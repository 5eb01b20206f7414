"""`textassay huse` as a person or a script meets it: output, files, exit codes, one line for what is wrong."""

import csv
import io
import json
import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Outcome, piped
from tests.cli.refusal import assert_refused
from tests.corpus.ratings.test_annotations import argilla
from textassay.cli.main import run
from textassay.metrics.ratings.votes import MOST_NEIGHBOURS
from textassay.metrics.registry import all_metrics
from textassay.studies.huse.result import CSV_FIELDS, HuseResult

# With resamples come intervals, tests and curves, which take time; most of what is tested here has no need of them.
WHOLE = ("--resamples", "19", "--k", "4")
FAST = ("--resamples", "0", "--k", "4")
COLUMNS = ("item", "context", "text", "source", "log_prob", "rater", "rating")


def made(pairs: int = 20, *, raters: int = 6, seed: int = 0, evil: str = "") -> list[dict[str, Any]]:
    """Ratings of as many texts of people as of a model, whose texts are rated lower; the last rater answers blindly."""
    rng = random.Random(seed)
    rows = []
    for number in range(2 * pairs):
        source = ("human", "net")[number % 2]
        words = [rng.choice("abcdefgh") for _ in range(rng.randint(4, 9))]
        quality = rng.gauss(4.6 if source == "human" else 3.4, 0.5)
        item = {
            "item": f"{source}-{number // 2}{evil}",
            "context": f"story {number // 2}{evil}",
            "text": " ".join(words) + evil,
            "source": source,
            "log_prob": f"{-len(words) * rng.uniform(1.5, 4):.3f}",
        }
        for rater in range(raters):
            blind = rater == raters - 1
            rating = rng.randint(1, 6) if blind else min(6, max(1, round(rng.gauss(quality, 0.6))))
            rows.append(item | {"rater": f"r{rater}{evil}", "rating": str(rating)})
    return rows


def written(path: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = COLUMNS) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    """A file of ratings."""
    return written(tmp_path / "headlines.csv", made())


@pytest.fixture
def textassay(run_command: Command) -> Command:
    """Runs `textassay huse`."""
    return partial(run_command, "huse")


def estimates(found: Outcome) -> list[float]:
    """The scores of a study that was written to standard output."""
    return [result["estimate"] for result in json.loads(found.stdout)["results"]]


def test_the_answer_comes_first_and_the_numbers_when_they_are_wanted(ratings: str, textassay: Command) -> None:
    found = textassay(ratings, "--resamples", "49", "--k", "4", columns="110")
    out = found.stdout
    assert (found.returncode, found.stderr) == (0, "")
    question, context, sentence, *_ = out.splitlines()
    assert question == "Can net be distinguished from people?"
    assert context == "headlines: 40 items (20 human, 20 net), 240 ratings by 6 raters, scale 1 to 6"
    assert sentence.startswith("Yes: ")
    for name in ("HUSE", "HUSE-Q"):
        assert re.search(rf"^{name} k=4 +≠ differs +[\d.]+ \[[\d.]+, [\d.]+\]  [\d.]+ \[[\d.]+, [\d.]+\]", out, re.M)
    assert re.search(r"^HUSE-D k=4 +[=≠] .*[\d.]+ \[[\d.]+, [\d.]+\]", out, flags=re.M)
    assert "Krippendorff's alpha" not in out
    table = textassay(ratings, "--resamples", "49", "--k", "4", "--table", columns="110").stdout
    assert table.startswith("\n".join((question, context, sentence)))
    for expected in ("Krippendorff's alpha", "more data", "quality failure", "For k 1 to 10: HUSE"):
        assert expected in " ".join(table.split())


def test_why_shows_items_of_each_kind_and_top_says_how_many(ratings: str, textassay: Command) -> None:
    def shown(*more: str) -> list[str]:
        return re.findall(r"^  story ", textassay(ratings, *FAST, *more, columns="200").stdout, flags=re.M)

    assert 1 <= len(shown("--why", "--top", "1")) <= 3
    assert len(shown("--why", "--top", "4")) > len(shown("--why", "--top", "1"))
    assert shown() == []


def test_help_names_as_many_neighbours_as_the_metrics_take(run_command: Command) -> None:
    metrics = [all_metrics()[name] for name in ("huse", "huse_q", "huse_d")]
    assert {metric.options["k"].limits for metric in metrics} == {(1, MOST_NEIGHBOURS)}
    assert f"1<=x<={MOST_NEIGHBOURS}" in run_command("huse", "--help", columns="200").stdout


def test_top_holds_for_markdown_too(ratings: str, textassay: Command) -> None:
    shown = [textassay(ratings, *FAST, "--markdown", "-", "--top", str(top)).stdout for top in (0, 1, 3)]
    counts = [len(re.findall(r"^- story ", page, flags=re.M)) for page in shown]
    assert counts[0] == 0
    assert 0 < counts[1] < counts[2]


def test_every_output_is_written_and_the_json_reads_back(ratings: str, tmp_path: Path) -> None:
    targets = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "markdown", "report")}
    outputs = [part for kind, path in targets.items() for part in (f"--{kind}", str(path))]
    assert run(["huse", ratings, *WHOLE, "--quiet", *outputs]) == 0
    text = targets["json"].read_text(encoding="utf-8")
    assert json.loads(HuseResult.from_json(text).to_json()) == json.loads(text)
    assert [result["metric"] for result in json.loads(text)["results"]] == ["huse", "huse_q", "huse_d"]
    rows = list(csv.DictReader(io.StringIO(targets["csv"].read_text(encoding="utf-8"))))
    assert len(rows) == 40
    assert tuple(rows[0]) == CSV_FIELDS
    assert {row["source"] for row in rows} == {"human", "net"}
    assert "| score | value | p | chance | in words |" in targets["markdown"].read_text(encoding="utf-8")
    assert targets["report"].read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_json_on_standard_output_is_all_there_is(ratings: str, textassay: Command) -> None:
    found = textassay(ratings, *FAST, "--json", "-")
    assert list(json.loads(found.stdout)) == ["textassay", "results", "details"]
    assert found.stderr == ""


def test_mean_ratings_give_the_same_scores_and_say_what_is_not_known(
    ratings: str, tmp_path: Path, textassay: Command
) -> None:
    rows = made()
    given: dict[str, list[int]] = {}
    for row in rows:
        given.setdefault(row["item"], []).append(int(row["rating"]))
    means = [
        row | {"rating": repr(sum(given[row["item"]]) / len(given[row["item"]]))}
        for row in rows
        if row["rater"] == "r0"
    ]
    columns = tuple(name for name in COLUMNS if name != "rater")
    path = written(tmp_path / "means.csv", means, columns)
    assert estimates(textassay(path, *FAST, "--json", "-")) == estimates(textassay(ratings, *FAST, "--json", "-"))
    shown = textassay(path, *FAST, columns="200").stdout
    assert "mean ratings only" in shown
    assert "only mean ratings are known" in shown.lower()


def test_log_probs_may_come_from_a_file_of_their_own(ratings: str, tmp_path: Path, textassay: Command) -> None:
    rows = made()
    bare = written(tmp_path / "bare.csv", rows, tuple(name for name in COLUMNS if name != "log_prob"))
    once = list({row["item"]: row for row in rows}.values())
    second = written(tmp_path / "log_probs.csv", once, ("item", "log_prob"))
    joined = textassay(bare, "--log-probs", second, *FAST, "--json", "-")
    assert estimates(joined) == estimates(textassay(ratings, *FAST, "--json", "-"))
    assert_refused(textassay(bare, *FAST), "log_prob")


def test_options_reach_the_study(ratings: str, textassay: Command) -> None:
    arguments = ["--metrics", "huse,huse_d:k=6", "--variant", "fair", "--level", "0.9", "--seed", "3"]
    found = json.loads(textassay(ratings, *WHOLE, *arguments, "--json", "-").stdout)
    assert [(r["metric"], r["options"]["k"], r["options"]["variant"]) for r in found["results"]] == [
        ("huse", 4, "fair"), ("huse_d", 6, "fair"),
    ]  # fmt: skip
    assert found["details"]["level"] == 0.9
    assert found["results"][0]["interval"]["level"] == 0.9
    assert "seed:3" in found["results"][0]["signature"]
    assert "HUSE-D k=6 variant=fair" in textassay(ratings, *FAST, *arguments, columns="120").stdout


def test_a_scale_wider_than_the_ratings(ratings: str, textassay: Command) -> None:
    assert "scale 0 to 10\n" in textassay(ratings, *FAST, "--scale", "0-10", columns="200").stdout
    assert "scale -1 to 7.5\n" in textassay(ratings, *FAST, "--scale", "-1 - 7.5", columns="200").stdout


def test_raters_who_look_random_can_be_left_out(tmp_path: Path, textassay: Command) -> None:
    path = written(tmp_path / "many.csv", made(60))
    plain = textassay(path, *FAST, "--why", columns="200").stdout
    assert "1 of 6 raters looks random" in plain
    assert re.search(r"; without them HUSE k=4 [\d.]+, HUSE-Q k=4 [\d.]+, HUSE-D k=4 [\d.]+", plain, flags=re.M)
    assert re.search(r"^r5 +120 ", plain, flags=re.M)
    without = textassay(path, *FAST, "--without-flagged", columns="200").stdout
    assert "600 ratings by 5 raters" in without
    assert "left out" in without


def test_one_model_of_several(tmp_path: Path, textassay: Command) -> None:
    rows = made()
    others = [row | {"source": "old", "item": f"old-{row['item']}"} for row in rows if row["source"] == "net"]
    path = written(tmp_path / "two.csv", rows + others)
    assert_refused(textassay(path, *FAST), "wanted one (use --model name)")
    found = textassay(path, *FAST, "--model", "net", columns="200")
    assert "(20 human, 20 net)" in found.stdout
    assert_refused(textassay(path, *FAST, "--model", "nett"), "nett")


def test_estimates_only(ratings: str, textassay: Command) -> None:
    found = json.loads(textassay(ratings, "--k", "4", "--resamples", "0", "--json", "-").stdout)
    assert all(result["interval"] is None and result["p_value"] is None for result in found["results"])
    assert "no test was run" in textassay(ratings, "--k", "4", "--resamples", "0").stdout


@pytest.mark.parametrize("columns", ["60", "80", "120", "200"])
def test_hostile_texts_never_reach_the_terminal_raw(tmp_path: Path, columns: str, textassay: Command) -> None:
    rows = made(evil=" \x1b[31mred\x07 \u202egnp.exe [bold]x[/bold] <script> =cmd|' /C calc'!A0")
    for row in rows:
        row["source"] = "human" if row["source"] == "human" else "net\x1b[5m"
    path = written(tmp_path / "evil[red].csv", rows)
    found = textassay(path, *(WHOLE if columns == "60" else FAST), "--why", columns=columns)
    assert found.returncode == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", found.stdout)
    assert "evil[red]" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= int(columns)


def changed(**values: str) -> list[dict[str, Any]]:
    """Ratings of which the third row has other values."""
    rows = made()
    rows[2] = rows[2] | values
    return rows


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (None, "no such file"),
        ([], "wanted one row per rating"),
        (changed(rating="many"), ":4"),
        (changed(log_prob="low"), ":4"),
        (changed(rater="r1"), "r1"),
        ([row for row in made() if row["source"] == "human"], "only human texts in 'source'"),
        (made(3), "8"),
    ],
)
def test_bad_files_get_one_line_and_exit_code_2(
    tmp_path: Path, rows: list[dict[str, Any]] | None, wanted: str, textassay: Command
) -> None:
    path = tmp_path / "broken.csv"
    if rows is not None:
        written(path, rows)
    target = tmp_path / "out.json"
    found = textassay(str(path), *FAST, "--json", str(target))
    assert_refused(found, wanted)
    assert "broken" in found.stderr
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--metrics", "husee"], "did you mean 'huse"),
        (["--metrics", "trm"], "trm"),
        (["--metrics", "huse:k=0"], "k is '0'"),
        (["--variant", "relased"], "released"),
        (["--k", "0"], "--k"),
        (["--k", "30"], "40 items"),
        (["--level", "2"], "--level 2"),
        (["--resamples", "-1"], "--resamples -1"),
        (["--scale", "6"], "--scale '6'; wanted the lowest and the highest rating, such as 1-6"),
        (["--scale", "6-1"], "--scale '6-1'"),
        (["--scale", "1-inf"], "--scale '1-inf'"),
        (["--scale", "2-5"], "2"),
        (["--top", "-1"], "--top"),
        (["--engine", "tcp://127.0.0.1:1"], "no engine"),
        (["--encoding", "utf-99"], "utf-99"),
        (["--json", "-", "--csv", "-"], "standard output"),
        (["--report", "no/such/folder/x.html"], "does not exist"),
        (["--log-probs", "no-such-file.csv"], "no-such-file"),
    ],
)
def test_bad_usage_gets_one_line_and_exit_code_2(
    ratings: str, arguments: list[str], wanted: str, textassay: Command
) -> None:
    found = textassay(ratings, "--resamples", "0", *arguments)
    assert found.returncode == 2
    assert wanted in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def test_the_file_of_log_probs_is_never_overwritten(ratings: str, tmp_path: Path, textassay: Command) -> None:
    second = written(tmp_path / "log_probs.csv", made(), ("item", "log_prob"))
    before = Path(second).read_bytes()
    found = textassay(ratings, "--log-probs", second, *FAST, "--json", second)
    assert_refused(found, "is also an input")
    assert Path(second).read_bytes() == before


@pytest.mark.parametrize("file", ["summarization_ratings.csv", "summarization_items.csv"])
def test_the_paper_s_scores_of_summaries(data: Path, file: str, textassay: Command) -> None:
    shown = textassay(str(data / "huse" / file), "--resamples", "19", columns="120").stdout
    for name, score in (("HUSE", "0.53"), ("HUSE-Q", "0.58"), ("HUSE-D", "0.95")):
        assert re.search(rf"^{name} +[=≠?] .* {score} \[[\d.]+, [\d.]+\]", shown, flags=re.M)


def test_several_files_are_one_plane(tmp_path: Path, textassay: Command) -> None:
    first = written(tmp_path / "warm.csv", made(seed=1))
    second = written(tmp_path / "cold.csv", made(seed=2))
    target = tmp_path / "plane.json"
    found = textassay(first, second, *FAST, "--json", str(target), "--report", str(tmp_path / "plane.html"))
    assert found.returncode == 0
    assert "HUSE of 2 models" in found.stdout
    plain = json.loads(target.read_text())
    assert [model["name"] for model in plain["models"]] == ["warm", "cold"]
    assert (tmp_path / "plane.html").stat().st_size > 1000
    assert_refused(textassay(first, second, "-m", "huse_q"), "several models are measured by huse, huse_q, huse_d")
    assert_refused(textassay(first, second, "--log-probs", first), "wanted log-probabilities in the files of ratings")


def test_ratings_from_a_pipe_are_read_once(tmp_path: Path, run_command: Command) -> None:
    path = written(tmp_path / "file.csv", made())
    pipe = piped(tmp_path / "pipe", Path(path).read_text("utf-8"))
    from_pipe, from_file = (run_command("huse", source, *FAST, "--json", "-") for source in (pipe, path))
    scores = [[r["estimate"] for r in json.loads(done.stdout)["results"]] for done in (from_pipe, from_file)]
    assert scores[0] == scores[1]


def test_ratings_of_an_export(tmp_path: Path, run_command: Command) -> None:
    records = argilla()
    two = [{**record, "tone.responses": [1, 2, 3], "tone.responses.users": ["7", "8", "9"]} for record in records]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(two), encoding="utf-8")
    assert "wanted one, --rating NAME" in run_command("huse", str(path)).stderr
    options = ("-m", "huse_q", "--k", "3", "--resamples", "0", "--json", "-", "--quiet")
    found = json.loads(run_command("huse", str(path), "--rating", "tone", *options).stdout)
    assert found["results"][0]["metric"] == "huse_q"
