"""`textassay survey` as a person meets it: from files to ratings, links said once, one line for what is wrong."""

import csv
import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.conftest import ROOT
from textassay.cli.main import run
from textassay.cli.survey.serve import exposure_notes
from textassay.survey.store.study_store import Store

TOKEN = r"[a-z2-7]{39}"
EVIL = "x [bold]y[/bold] \x1b[31m <script>"


@pytest.fixture
def survey(run_command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs a survey command in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    return partial(run_command, "survey")


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, ...]:
    """Files with eight texts of each source, as options."""
    for source in ("human", "model"):
        with (tmp_path / f"{source}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = [[f"{source} {n}", f"article {n}", str(-n)] for n in range(8)]
            csv.writer(file).writerows([["text", "context", "log_prob"], *rows])
    return ("--human", "human.csv", "--model", "model.csv")


def answer_all(path: Path, raters: int, *, wrong: int = 0) -> None:
    """So many raters rate all that they are given; the first `wrong` of them fail their checks."""
    with closing(Store.open(path)) as store:
        expected = {item.text: item.expected for item in store.items()}
        for number, token in enumerate(store.invite(raters)):
            rater = store.rater(token)
            assert rater is not None
            while (task := store.task(rater)) is not None:
                value = expected[task.text] or 1 + sum(map(ord, task.text)) % 6
                value = value % 6 + 1 if expected[task.text] and number < wrong else value
                store.answer(rater, task.number, value)


def test_from_files_to_huse(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    made = survey("create", "s.db", *texts, "--ratings", "3", "--items-per-rater", "8", "--raters", "2")
    assert (made.returncode, made.stderr) == (0, "")
    for line in (
        "study   s.db",
        "page    How typical is each text?",
        "items   16 (8 human, 8 model), each with its context",
        "scale   6 Very Typical, 5 Typical, 4 Average, 3 Specific, 2 Rare, 1 Invalid",
        "wanted  48 ratings, 3 per item",
        "raters  6 needed; each rates 8 items and 1 attention check of 6",
        "links   work without a time limit",
    ):
        assert f"{line}\n" in made.stdout
    for kind in ("join/", "admin/", "r/", "r/"):
        assert re.search(rf"  http://127\.0\.0\.1:8000/{kind}{TOKEN}\n", made.stdout)
    assert re.search(rf"^  r001  http://127\.0\.0\.1:8000/r/{TOKEN}$", made.stdout, re.MULTILINE)
    assert "Save these links: only their hashes are stored." in made.stdout
    assert made.stdout.endswith("Next:\n  textassay survey serve s.db\n")
    answer_all(tmp_path / "s.db", 7, wrong=1)
    shown = survey("status", "s.db")
    assert "ratings    48 of 48 (100 %)\n" in shown.stdout
    assert "items      16 of 16 complete; 3 to 3 ratings per item, median 3\n" in shown.stdout
    assert "raters     9 raters, 6 started, 6 done\n" in shown.stdout
    assert re.search(r"agreement  Krippendorff's alpha \S+ \(interval scale\)\n", shown.stdout)
    assert "checks     5 of 6 right; failed by r003 (0/1)\n" in shown.stdout
    found = survey("export", "s.db", "--out", "ratings.csv", "--checks", "checks.csv")
    assert (found.returncode, found.stdout) == (0, "")
    # On a busy machine, one of these raters may be much faster than the others.
    told = re.sub(r"^.* took less than a third of the usual time; .*\n", "", found.stderr, flags=re.MULTILINE)
    assert told == (
        "wrote checks.csv\nwrote ratings.csv\n48 ratings of 16 items by 6 raters\n"
        "1 rater failed an attention check; --without-failed leaves out their 8 ratings\n"
    )
    assert len((tmp_path / "checks.csv").read_text(encoding="utf-8").splitlines()) == 7
    assert run(["huse", "ratings.csv", "--k", "4", "--resamples", "0", "--quiet"]) == 0


def test_links_and_tokens_open_the_study(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    made = survey("create", "s.db", *texts, "--raters", "3", "--links", "l.csv", "--url", "https://rate.example.org/x/")
    assert made.stderr == "wrote l.csv: 3 personal links, readable only by you\n"
    assert "/r/" not in made.stdout
    assert stat.S_IMODE((tmp_path / "l.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "s.db").stat().st_mode) == 0o600
    with (tmp_path / "l.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    join, admin = (
        re.search(rf"https://rate\.example\.org/x/{kind}/({TOKEN})", made.stdout) for kind in ("join", "admin")
    )
    assert join is not None
    assert admin is not None
    with closing(Store.open(tmp_path / "s.db")) as store:
        for row in rows:
            rater = store.rater(row["link"].removeprefix("https://rate.example.org/x/r/"))
            assert rater is not None
            assert rater.name == row["rater"]
        assert store.is_join(join[1])
        assert store.is_admin(admin[1])
    renewed = survey("links", "s.db", "--join", "--admin", "--raters", "2", columns="40")
    assert "the old one no longer works" in " ".join(renewed.stdout.split())
    new = [
        re.search(rf"^  https://rate\.example\.org/x/{kind}/({TOKEN})$", renewed.stdout, re.M)
        for kind in ("join", "admin")
    ]
    assert re.search(rf"^  r005  https://rate\.example\.org/x/r/{TOKEN}$", renewed.stdout, re.MULTILINE)
    with closing(Store.open(tmp_path / "s.db")) as store:
        assert not store.is_join(join[1])
        assert not store.is_admin(admin[1])
        assert new[0] is not None
        assert store.is_join(new[0][1])
        assert new[1] is not None
        assert store.is_admin(new[1][1])
        assert store.rater(rows[0]["link"].rsplit("/", 1)[1]) is not None


def test_names_and_templates_reach_the_study(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('note = "Mind the facts."', encoding="utf-8")
    given = ("--text-name", "title", "--context-name", "news article", "--template", "t.toml", "--days", "7")
    made = survey("create", "s.db", *texts, *given, "--title", EVIL, "--model-name", EVIL, "--checks", "0")
    assert made.returncode == 0
    assert "\x1b" not in made.stdout
    assert "x [bold]y[/bold] \\x1b[31m <script>" in made.stdout
    assert "attention check" not in made.stdout
    assert "links   of raters work for 7 days; the admin link works without a time limit\n" in made.stdout
    with closing(Store.open(tmp_path / "s.db")) as store:
        assert store.study.context_intro == "Given this news article:"
        assert (store.study.question, store.study.note) == ("How typical is this exact title?", "Mind the facts.")
        assert store.study.days == 7
        assert [item.source for item in store.items()] == ["human"] * 8 + [EVIL] * 8


def test_more_raters_than_items_would_take(survey: Command, texts: tuple[str, ...]) -> None:
    made = survey("create", "s.db", *texts, "--size", "2", "--ratings", "20", "--checks", "6")
    assert "items   4 (2 human, 2 model)" in made.stdout
    assert "raters  20 needed; each rates 4 items and 6 attention checks of 6\n" in made.stdout


def test_status_as_json(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts, "--ratings", "2", "--items-per-rater", "16")
    empty = json.loads(survey("status", "s.db", "--json", "-").stdout)
    assert empty["agreement"] == {"krippendorff_alpha": None, "metric": "interval"}
    assert (empty["ratings"], empty["median_seconds"], empty["raters"]) == (0, None, [])
    answer_all(tmp_path / "s.db", 2)
    assert survey("status", "s.db", "--json", "out.json").stdout.startswith("study      s.db\n")
    full = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert full["agreement"]["krippendorff_alpha"] == 1.0
    assert full["ratings_an_item"] == {"min": 2, "median": 2, "max": 2}
    assert [rater["name"] for rater in full["raters"]] == ["r001", "r002"]
    assert {"done": 17, "total": 17, "checks_right": 1, "checks_done": 1}.items() <= full["raters"][0].items()


def test_export_to_standard_output(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts, "--ratings", "1", "--items-per-rater", "4")
    answer_all(tmp_path / "s.db", 1)
    found = survey("export", "s.db")
    assert found.stdout.splitlines()[0] == (
        "item,context,text,source,log_prob,rater,rating,rating_label,seconds,answered,checks_right,checks_answered,speeder"
    )
    assert len(found.stdout.splitlines()) == 5
    assert found.stderr == "4 ratings of 4 items by 1 rater (16 wanted, of 16 items)\n"
    assert survey("export", "s.db", "--quiet").stderr == ""
    assert_refused(survey("export", "s.db", "--out", "s.db"), "is also an input")
    assert_refused(survey("export", "s.db", "--checks", "-"), "two outputs go to standard output")


def test_raters_who_failed_a_check_are_left_out_where_asked(
    survey: Command, texts: tuple[str, ...], tmp_path: Path
) -> None:
    survey("create", "s.db", *texts, "--ratings", "3", "--items-per-rater", "16")
    answer_all(tmp_path / "s.db", 3, wrong=2)
    every = survey("export", "s.db", "--out", "all.csv")
    assert every.stderr.endswith(
        "48 ratings of 16 items by 3 raters\n"
        "2 raters failed an attention check; --without-failed leaves out their 32 ratings\n"
    )
    kept = survey("export", "s.db", "--out", "kept.csv", "--without-failed")
    assert kept.stderr == (
        "wrote kept.csv\n16 ratings of 16 items by 1 rater (48 wanted)\n"
        "2 raters failed an attention check; left out their 32 ratings\n"
    )
    with (tmp_path / "kept.csv").open(encoding="utf-8", newline="") as file:
        assert {row["rater"] for row in csv.DictReader(file)} == {"r003"}
    assert survey("export", "s.db", "--out", "kept.csv", "--without-failed", "--quiet").stderr == ""


def test_an_export_states_the_items_that_are_in_the_file(
    survey: Command, texts: tuple[str, ...], tmp_path: Path
) -> None:
    survey("create", "s.db", *texts, "--ratings", "2", "--items-per-rater", "5", "--checks", "1")
    answer_all(tmp_path / "s.db", 3, wrong=2)
    for options, ratings, raters in (((), 15, 3), (("--without-failed",), 5, 1)):
        printed = survey("export", "s.db", "--out", "r.csv", *options).stderr
        with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
            items = len({row["item"] for row in csv.DictReader(file)})
        who = f"{raters} rater{'s' if raters > 1 else ''}"
        assert f"\n{ratings} ratings of {items} items by {who} (32 wanted, of 16 items)\n" in printed


def test_backup_of_a_study_in_use(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts, "--ratings", "2", "--items-per-rater", "16")
    with closing(Store.open(tmp_path / "s.db")):
        answer_all(tmp_path / "s.db", 2)
        made = survey("backup", "s.db", "copy.db")
        assert (made.returncode, made.stderr) == (0, "")
        assert made.stdout == "study  s.db\ncopy   copy.db\nholds  32 ratings by 2 raters\n"
    assert survey("export", "copy.db").stdout == survey("export", "s.db").stdout
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    before = (tmp_path / "copy.db").read_bytes()
    assert_refused(survey("backup", "s.db", "copy.db"), "copy.db: exists and is not overwritten; wanted a new file")
    assert (tmp_path / "copy.db").read_bytes() == before
    assert_refused(survey("backup", "s.db", "nowhere/copy.db"), "the folder nowhere does not exist")
    assert_refused(survey("backup", "s.db", "-"), "cannot go to standard output (-); wanted a new file")
    assert_refused(survey("backup", "none.db", "new.db"), "none.db: no such file")
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("url", [(), ("--url", "https://rate.example.org")])
def test_commands_that_are_shown_can_be_typed(survey: Command, texts: tuple[str, ...], url: tuple[str, ...]) -> None:
    made = survey("create", "my study.db", *texts, *url).stdout
    shown = re.findall(r"^  textassay survey (.+)$", made, re.MULTILINE)
    assert [shlex.split(line) for line in shown] == [
        ["links", "my study.db", "--raters", "1", *url],
        ["serve", "my study.db", *url],
    ]
    given = survey(*shlex.split(shown[0]))
    assert given.returncode == 0
    assert re.search(rf"^  r001  {url[1] if url else 'http://127.0.0.1:8000'}/r/{TOKEN}$", given.stdout, re.MULTILINE)
    assert ("replace http://127.0.0.1:8000 in these links" in " ".join(made.split())) == (not url)


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://127.0.0.1:8000", []),
        ("http://127.0.0.1:9000", ["--port", "9000"]),
        ("http://localhost:9000/", ["--port", "9000"]),
        ("http://[::1]:9000", ["--host", "::1", "--port", "9000"]),
        ("http://127.0.0.1:9000/x", ["--port", "9000", "--url", "http://127.0.0.1:9000/x"]),
        (
            "http://lab.example.org:9000",
            ["--host", "0.0.0.0", "--port", "9000", "--url", "http://lab.example.org:9000"],
        ),
        ("http://[2001:db8::1]:8000", ["--host", "::", "--url", "http://[2001:db8::1]:8000"]),
        ("http://lab.example.org", ["--url", "http://lab.example.org"]),
        ("https://lab.example.org:8443", ["--url", "https://lab.example.org:8443"]),
    ],
)
def test_the_server_that_is_shown_listens_where_the_links_lead(
    survey: Command, texts: tuple[str, ...], url: str, options: list[str]
) -> None:
    made = survey("create", "s.db", *texts, "--url", url).stdout
    assert shlex.split(made.rpartition("Next:\n")[2]) == ["textassay", "survey", "serve", "s.db", *options]


def test_the_port_of_the_links_is_served_without_being_said_again(
    survey: Command, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: list[int] = []

    def serve(path: Path, *, port: int, on_ready: Callable[[str], None], **others: object) -> None:
        ports.append(port)
        on_ready(f"http://127.0.0.1:{port}")

    monkeypatch.setattr("textassay.survey.web.server.serve", serve)
    survey("create", "s.db", *texts, "--url", "http://127.0.0.1:9000")
    survey("create", "usual.db", *texts)
    survey("create", "proxy.db", *texts, "--url", "https://rate.example.org")
    for study in ("s.db", "usual.db", "proxy.db"):
        assert "do not open here" not in survey("serve", study).stdout
    assert ports == [9000, 8000, 8000]
    other = " ".join(survey("serve", "s.db", "--port", "9001").stdout.split())
    assert "links of this study lead to http://127.0.0.1:9000, not to this address" in other
    assert "serve it with --port 9000, or make new links: textassay survey links s.db --join" in other


def test_introduction_and_thanks_reach_the_study(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('introduction = "By rating you agree."\nthanks = "Code: 7"', encoding="utf-8")
    assert survey("create", "s.db", *texts, "--template", "t.toml").returncode == 0
    with closing(Store.open(tmp_path / "s.db")) as store:
        assert (store.study.introduction, store.study.thanks) == ("By rating you agree.", "Code: 7")


def test_what_the_manual_shows_can_be_typed(survey: Command, tmp_path: Path) -> None:
    manual = (ROOT / "docs" / "survey.md").read_text(encoding="utf-8")
    commands, table, template = (
        re.findall(rf"^```{kind}\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)[0] for kind in ("sh", "csv", "toml")
    )
    for name in ("real.csv", "model.csv"):
        (tmp_path / name).write_text(table, encoding="utf-8")
    (tmp_path / "t.toml").write_text(template, encoding="utf-8")
    lines = [shlex.split(line)[2:] for line in commands.splitlines() if line.startswith("textassay survey ")]
    made = survey(*lines[0])
    assert made.returncode == 0, made.stderr
    assert "items   4 (2 human, 2 model), each with its context\n" in made.stdout
    assert "log-probability" not in made.stdout
    assert [line[0] for line in lines] == ["create", "serve", "status", "backup", "export"]
    for line in lines[2:]:
        assert survey(*line).returncode == 0, line
    other = survey("create", "other.db", *lines[0][2:6], "--template", "t.toml")
    assert "scale   2 Typical, 1 Odd\n" in other.stdout
    large = "".join(f"{n}\n" for n in range(100))
    for name in ("h.txt", "m.txt"):
        (tmp_path / name).write_text(large, encoding="utf-8")
    needed = survey("create", "large.db", "--human", "h.txt", "--model", "m.txt").stdout
    assert "raters  160 needed; each rates 25 items and 1 attention check of 6\n" in needed
    assert "with these defaults 160 raters" in " ".join(manual.split())


def test_looks_that_differ_are_said(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    rows = "".join(f"model {n} .,article {n}\n" for n in range(12))
    (tmp_path / "model.csv").write_text(f"text,context\n{rows}", encoding="utf-8")
    (tmp_path / "human.csv").write_text(f"text,context\n{rows.replace(' .', '.')}", encoding="utf-8")
    made = survey("create", "s.db", *texts, columns="300").stdout
    assert "note: format of 'model' (candidate) and human texts (reference): 100 % of candidate texts have a" in made
    assert "note: raters can see such differences and may rate by them" in made


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_turk_and_back(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts, "--ratings", "2", "--items-per-rater", "8")
    made = survey("turk-export", "s.db", "--out", "batch.csv", "--template-out", "page.html")
    assert made.stderr == "wrote page.html\nwrote batch.csv\n"
    for line in (
        "HITs                 2, each with 8 items and 1 attention check",
        "assignments per HIT  2 (set this on the requester page)",
        "in total             4 assignments to pay for; each item gets 2 ratings",
        "  textassay survey turk-import s.db Batch_results.csv",
    ):
        assert f"{line}\n" in made.stdout
    assert "${text_9}" in (tmp_path / "page.html").read_text(encoding="utf-8")
    batch = (tmp_path / "batch.csv").read_text(encoding="utf-8")
    assert survey("turk-export", "s.db", "-o", "-").stdout == batch
    with (tmp_path / "batch.csv").open(encoding="utf-8") as file:
        hits = list(csv.DictReader(file))
    answers = {f"Answer.rating_{slot}": "4" for slot in range(1, 10)}
    rows = [
        {"WorkerId": worker, "AssignmentStatus": status, "WorkTimeInSeconds": "90", **answers}
        | {f"Input.{name}": cell for name, cell in hit.items()}
        for hit in hits
        for worker, status in ((f"A\x1b{1}", "Approved"), ("A2", "Rejected"))
    ]
    write_rows(tmp_path / "results.csv", rows)
    added = survey("turk-import", "s.db", "results.csv")
    assert (added.returncode, added.stderr) == (0, "")
    assert added.stdout.startswith("study  s.db\nadded  18 answers of 1 worker in 2 assignments\n")
    assert "note: 2 rejected assignments left out\n" in added.stdout
    assert "note: 1 worker failed an attention check: A\\x1b1\n" in added.stdout
    again = survey("turk-import", "s.db", "results.csv")
    assert "added  0 answers" in again.stdout
    assert "note: 18 answers already in the study\n" in again.stdout
    rows[2]["Answer.rating_1"] = "9"
    write_rows(tmp_path / "bad.csv", rows)
    assert_refused(survey("turk-import", "s.db", "bad.csv"), "bad.csv:4: answer.rating_1 is '9'; wanted one of")


def test_one_of_anything_from_turk_is_said_as_one(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts, "--items-per-rater", "11", "--checks", "0")
    (tmp_path / "model.csv").write_text("text,context\nmodel\x92,article 0\n", encoding="utf-8")
    survey("create", "odd.db", *texts[:2], "--model", "model.csv", "--items-per-rater", "5", "--checks", "0")
    odd = survey("turk-export", "odd.db", "-o", "odd.csv", columns="200").stdout
    assert "note: 1 item added to a second HIT, so that all HITs have the same length\n" in odd
    assert "note: 1 item with control characters, which a page cannot show: workers see U+FFFD instead\n" in odd
    survey("turk-export", "s.db", "-o", "batch.csv")
    with (tmp_path / "batch.csv").open(encoding="utf-8") as file:
        first = {f"Input.{name}": cell for name, cell in next(csv.DictReader(file)).items()}
    answers = {f"Answer.rating_{slot}": "4" for slot in range(1, 9)}
    row = {"WorkerId": "A1", "AssignmentStatus": "Approved", "WorkTimeInSeconds": "90", **first, **answers}
    only = row | {name: "" for name in first if name.startswith("Input.item_") and name != "Input.item_1"}
    write_rows(tmp_path / "first.csv", [only])
    assert "added  1 answer of 1 worker in 1 assignment\n" in survey("turk-import", "s.db", "first.csv").stdout
    rows = [row | {"Answer.rating_2": ""}, only, row | {"AssignmentStatus": "Rejected"}]
    write_rows(tmp_path / "more.csv", rows)
    assert survey("turk-import", "s.db", "more.csv", columns="200").stdout.splitlines() == [
        "study  s.db",
        "added  6 answers of 1 worker in 2 assignments",
        "note: 1 answer already in the study",
        "note: 1 rejected assignment left out",
        "note: 1 text without an answer",
        "note: 1 answer left out, to items that the worker had already rated: the answer submitted first counts",
    ]


def test_a_page_that_is_too_long_for_turk_is_said(survey: Command, tmp_path: Path) -> None:
    for name in ("h.txt", "m.txt"):
        (tmp_path / name).write_text("".join(f"{n} " + "word " * 2000 + "\n" for n in range(10)), encoding="utf-8")
    survey("create", "s.db", "--human", "h.txt", "--model", "m.txt", "--items-per-rater", "10")
    assert "Mechanical Turk accepts at most 65,535; use a smaller" in " ".join(
        survey("turk-export", "s.db", "-o", "b.csv").stdout.split()
    )
    assert "65,535" not in survey("turk-export", "s.db", "-o", "b.csv", "--items-per-hit", "2").stdout


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("create", "old.db"), "old.db: exists and is not overwritten; wanted a new file"),
        (("create", "new.db", "--items", "items.csv"), "--items together with other files or columns; wanted"),
        (("create", "nowhere/new.db"), "the folder nowhere does not exist"),
        (("create", "-"), "standard output (-); wanted a new file"),
        (("create", "new.db", "--links", "l.csv"), "--links without --raters"),
        (("create", "new.db", "--raters", "1", "--links", "old.db"), "old.db: exists and may contain other links"),
        (("create", "new.db", "--raters", "1", "--links", "new.db"), "two outputs go to this file"),
        (("create", "new.db", "--url", "javascript:alert(1)"), "is not a web address"),
        (("create", "new.db", "--ratings", "0"), "--ratings"),
        (("create", "new.db", "--days", "0"), "--days"),
        (("create", "new.db", "--checks", "7"), "--checks 7; wanted at most 6, the number built in"),
        (("create", "new.db", "--size", "9"), "8 contexts with texts of all sources; wanted 9 (--size)"),
        (
            ("create", "new.db", "--contexts", "short.txt"),
            "short.txt: 1 context, but human.csv has 8 rows; wanted equal numbers",
        ),
        (("create", "new.db", "--template", "none.toml"), "none.toml: no such file"),
        (("create", "new.db", "--field", "words"), "human.csv: no field 'words'; fields are 'text'"),
        (("create", "new.db", "--title", " "), "--title is blank"),
        (("create", "new.db", "--encoding", "ascii", "--checks-file", "umlaut.csv"), "umlaut.csv:2: byte 0xc3"),
    ],
)
def test_studies_that_are_not_made(
    survey: Command, texts: tuple[str, ...], tmp_path: Path, arguments: tuple[str, ...], wanted: str
) -> None:
    (tmp_path / "old.db").write_bytes(b"precious")
    (tmp_path / "short.txt").write_text("one\n", encoding="utf-8")
    (tmp_path / "umlaut.csv").write_text("text,expected\nä,6\n", encoding="utf-8")
    assert_refused(survey(*arguments, *texts), wanted)
    assert (tmp_path / "old.db").read_bytes() == b"precious"
    assert not (tmp_path / "new.db").exists()
    assert not (tmp_path / "l.csv").exists()


def test_texts_must_be_given(survey: Command, texts: tuple[str, ...]) -> None:
    assert_refused(survey("create", "new.db"), "no file with human or model texts; wanted --human and --model, or")
    assert_refused(survey("create", "new.db", *texts[:2]), "no file with model texts")


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve",),
        ("status",),
        ("export",),
        ("links", "--join"),
        ("backup", "new.db"),
        ("turk-export", "--out", "b.csv"),
        ("turk-import", "r.csv"),
    ],
)
def test_files_that_are_no_study(survey: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command, *others = arguments
    (tmp_path / "text.db").write_text("not a study\n", encoding="utf-8")
    assert_refused(survey(command, "missing.db", *others), "missing.db: no such file")
    assert_refused(survey(command, "text.db", *others), "text.db: not an sqlite file; wanted a ")
    assert_refused(survey(command, str(tmp_path), *others), "is a folder")
    assert (tmp_path / "text.db").read_text(encoding="utf-8") == "not a study\n"
    assert not (tmp_path / "missing.db").exists()
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize(
    "arguments", [("status",), ("export",), ("backup", "new.db"), ("turk-export", "--out", "b.csv")]
)
def test_commands_that_only_look_need_no_disk_to_write(
    survey: Command, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    survey("create", "s.db", *texts)
    opened, how = Store.open, []

    def look(path: Path, *, read_only: bool = False) -> Store:
        how.append((path.name, read_only))
        return opened(path, read_only=read_only)

    monkeypatch.setattr(Store, "open", look)
    command, *others = arguments
    assert survey(command, "s.db", *others).returncode == 0
    assert how[0] == ("s.db", True)


def test_links_refused(survey: Command, texts: tuple[str, ...], tmp_path: Path) -> None:
    survey("create", "s.db", *texts)
    assert_refused(survey("links", "s.db"), "no kind of link chosen; wanted --raters n, --again rater, --join")
    assert_refused(survey("links", "s.db", "--join", "--links", "l.csv"), "--links file is for personal links")
    assert_refused(survey("links", "s.db", "--raters", "1", "--links", "s.db"), "exists and may contain other links")
    assert_refused(survey("links", "s.db", "--raters", "1", "--url", "example.org"), "is not a web address")
    written = survey("links", "s.db", "--raters", "2", "--links", "l.csv")
    assert written.stderr == "wrote l.csv: 2 personal links, readable only by you\n"
    assert stat.S_IMODE((tmp_path / "l.csv").stat().st_mode) == 0o600


def test_serve_says_where_and_what_it_means(
    survey: Command, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def serve(
        path: Path,
        *,
        host: str,
        port: int,
        base_url: str | None,
        proxies: Sequence[str],
        on_ready: Callable[[str], None],
    ) -> None:
        asked.append((path, host, port, base_url, *proxies))
        on_ready(f"http://{host}:{port}")

    monkeypatch.setattr("textassay.survey.web.server.serve", serve)
    survey("create", "s.db", *texts, "--url", "http://127.0.0.1:8099")
    quiet = survey("serve", "s.db")
    assert asked == [(Path("s.db"), "127.0.0.1", 8099, None)]
    assert quiet.stdout == (
        "serving  s.db\n"
        "at       http://127.0.0.1:8099\n"
        "links    textassay survey links s.db --raters N --url http://127.0.0.1:8099\n"
        "stop     Ctrl-C\n"
        "stopped; all answers are saved in s.db\n"
    )
    loud = " ".join(survey("serve", "s.db", "--host", "0.0.0.0").stdout.split())
    assert "anyone who can reach this address can open the page" in loud
    assert "traffic is not encrypted" in loud
    assert "proxy with TLS" in loud
    assert f"its name, {socket.gethostname()}; requests for any other name are refused" in loud
    assert "--url http://0.0.0.0" not in loud
    behind = survey(
        *("serve", "s.db", "--url", "https://rate.example.org/", "--proxy", "10.0.0.7", "--proxy", "::1"),
        *("--port", "8000"),
    )
    assert asked[-1] == (Path("s.db"), "127.0.0.1", 8000, "https://rate.example.org/", "10.0.0.7", "::1")
    assert behind.stdout.startswith(
        "serving   s.db\n"
        "at        https://rate.example.org\n"
        "proxy to  http://127.0.0.1:8000\n"
        "links     textassay survey links s.db --raters N --url https://rate.example.org\n"
    )
    assert_refused(survey("serve", "s.db", "--port", "65536"), "--port")


@pytest.mark.parametrize(
    ("host", "url", "notes"),
    [
        ("127.0.0.1", None, 0),
        ("127.0.0.2", None, 0),
        ("::1", None, 0),
        ("localhost", None, 0),
        ("0.0.0.0", None, 3),
        ("::", None, 3),
        ("192.168.0.4", "http://rate.example.org", 2),
        ("rate.example.org", "https://rate.example.org", 1),
    ],
)
def test_only_loopback_is_no_exposure(host: str, url: str | None, notes: int) -> None:
    assert len(exposure_notes(host, url)) == notes


def test_without_the_survey_extra_all_but_the_page_works(texts: tuple[str, ...], tmp_path: Path) -> None:
    """In a process of its own, in which neither starlette nor uvicorn can be imported."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def __init__(self, finder): self.finder = finder\n"
        "    def __getattr__(self, name): return getattr(self.finder, name)\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        hidden = name.split('.')[0] in ('starlette', 'uvicorn')\n"
        "        return None if hidden else self.finder.find_spec(name, path, target)\n"
        "sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]\n"
        "from textassay.cli.main import run\n"
        f"assert run(['survey', 'create', 's.db', *{texts!r}]) == 0\n"
        "for command in (['status'], ['export'], ['links', '--join'], ['turk-export', '-o', 'b.csv']):\n"
        "    assert run(['survey', command[0], 's.db', *command[1:]]) == 0, command\n"
        "sys.exit(run(['survey', 'serve', 's.db']))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert found.returncode == 2, found.stderr
    assert "starlette is not installed; get it with: pip install 'textassay[survey]'" in found.stderr
    assert "Traceback" not in found.stderr


def test_interrupt_stops_the_page_with_a_line(texts: tuple[str, ...], tmp_path: Path, survey: Command) -> None:
    survey("create", "s.db", *texts)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    served = subprocess.Popen(
        [sys.executable, "-m", "textassay", "survey", "serve", "s.db", "--port", "0"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stdout is not None
        said = [served.stdout.readline() for _ in range(4)]
        assert said[3].startswith("stop "), said
        # Interrupted in the middle of a line, the terminal would see that line twice; so once it answers.
        with urlopen(f"{said[1].split()[1]}/health", timeout=300) as answer:
            assert answer.status == 200
        served.send_signal(signal.SIGINT)
        out, err = served.communicate(timeout=300)
    finally:
        served.kill()
        served.communicate()
    assert (served.returncode, err) == (0, "")
    assert out == "stopped; all answers are saved in s.db\n"
