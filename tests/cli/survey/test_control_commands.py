"""Commands that change a study or its page: languages, tokens for unknown words, exclusion, and the closed link."""

import csv
import re
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.cli.survey.test_survey_command import answer_all
from textassay.survey.messages.tables import source_of
from textassay.survey.store.study_store import Store


@pytest.fixture
def control(run_command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs a survey command in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    return partial(run_command, "survey")


def files(folder: Path, *, token: str = "") -> tuple[str, ...]:
    """Files with eight texts of each source, some with a token for an unknown word, as options."""
    for source in ("human", "model"):
        with (folder / f"{source}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = [[f"{source} {n} {token if n < 2 else ''}".strip(), f"article {n}"] for n in range(8)]
            csv.writer(file).writerows([["text", "context"], *rows])
    return ("--human", "human.csv", "--model", "model.csv")


def note_of(path: Path) -> str:
    """The note below each text."""
    with closing(Store.open(path, read_only=True)) as store:
        return store.study.note


@pytest.mark.parametrize("token", ["UNKNOWN", "<unk>", "UNK", "[UNK]"])
def test_raters_are_told_what_a_token_for_an_unknown_word_is(control: Command, tmp_path: Path, token: str) -> None:
    made = control("create", "s.db", *files(tmp_path, token=token), columns="200")
    assert f"note: some texts have {token}: raters are asked to read it as a rare word" in made.stdout
    assert f"Where a text has {token}, read it as a rare word that suits the place" in note_of(tmp_path / "s.db")
    # Who has explained the token is not corrected.
    own = f"Read {token} as a name."
    (tmp_path / "t.toml").write_text(f"note = '{own}'\n", encoding="utf-8")
    control("create", "own.db", *files(tmp_path, token=token), "--template", "t.toml")
    assert note_of(tmp_path / "own.db") == own
    control("create", "german.db", *files(tmp_path, token=token), "--language", "de", "--text-name", "Titel")
    assert f"Steht in einem Titel {token}" in note_of(tmp_path / "german.db")
    plain = control("create", "plain.db", *files(tmp_path, token="unknown"), columns="200")
    assert "rare word" not in plain.stdout + note_of(tmp_path / "plain.db")


def test_an_own_table_with_a_missing_key_makes_no_study(control: Command, tmp_path: Path) -> None:
    table = re.sub(r'^save = ".*"\n', "", source_of("en"), flags=re.MULTILINE)
    (tmp_path / "fr.toml").write_text(table, encoding="utf-8")
    refused = control("create", "s.db", *files(tmp_path), "--language", "fr.toml")
    assert_refused(refused, "fr.toml: 1 missing message: 'item.save'; wanted all")
    assert not (tmp_path / "s.db").exists()
    (tmp_path / "fr.toml").write_text(source_of("en"), encoding="utf-8")
    assert control("create", "s.db", *files(tmp_path), "--language", "fr.toml").returncode == 0


def test_excluded_raters_make_room_and_are_not_exported(control: Command, tmp_path: Path) -> None:
    control("create", "s.db", *files(tmp_path), "--ratings", "2", "--items-per-rater", "16", "--checks", "1")
    answer_all(tmp_path / "s.db", 2, wrong=1)
    done = control("exclude", "s.db", "--failed").stdout
    assert "excluded  1 rater now, 1 rater in all: r001\n" in done
    assert "ratings   16 of 32 (50 %)\n" in done
    assert "excluded   r001\n" in control("status", "s.db").stdout
    printed = control("export", "s.db", "--out", "r.csv").stderr
    assert printed.endswith("16 ratings of 16 items by 1 rater (32 wanted)\n1 excluded rater left out\n")
    answer_all(tmp_path / "s.db", 1)
    assert "32 ratings of 16 items by 2 raters" in control("export", "s.db", "--out", "r.csv").stderr
    assert_refused(control("exclude", "s.db", "--include", "r001", "--rater", "r9"), "the study has no such rater")
    assert "excluded   r001\n" in control("status", "s.db").stdout
    again = control("exclude", "s.db", "--include", "r001").stdout
    assert "included  1 rater again\nexcluded  0 raters now, 0 raters in all\n" in again
    assert "48 ratings of 16 items by 3 raters" in control("export", "s.db", "--out", "r.csv").stderr
    assert_refused(control("exclude", "s.db"), "no raters chosen; wanted --rater rater, --failed")
    assert_refused(control("exclude", "s.db", "--rater", "r9"), "rater 'r9': the study has no such rater")
    assert_refused(control("exclude", "s.db", "--rater", "r001", "--include", "r001"), "is excluded and included")


def test_the_shared_link_is_closed_and_opened(control: Command, tmp_path: Path) -> None:
    made = control("create", "s.db", *files(tmp_path), "--proof-after", "3", "--address-share", "50")
    found = re.search(r"/join/(\w+)", made.stdout)
    assert found is not None
    for option, state in (("--close", "closed"), ("--reopen", "open")):
        assert control("links", "s.db", option).stdout == f"The shared link is {state}.\n"
        with closing(Store.open(tmp_path / "s.db", read_only=True)) as store:
            assert store.shared_link(found[1]) == state
            assert (store.study.proof_after, store.study.address_share) == (3, 50)
    assert_refused(control("links", "s.db", "--close", "--join"), "--close together with an option that opens")


def test_a_batch_is_for_the_ratings_that_are_still_wanted(control: Command, tmp_path: Path) -> None:
    control("create", "s.db", *files(tmp_path), "--ratings", "3", "--items-per-rater", "16", "--checks", "0")
    answer_all(tmp_path / "s.db", 2)
    printed = control("turk-export", "s.db", "--out", "b.csv", columns="200").stdout
    assert "assignments per HIT  1 (set" in printed
    assert "workers              approval rate above 95 %, more than 50 approved HITs, location USA" in printed
    assert "0.64 dollars per assignment at the rate of the paper (1 dollar for 25 texts in 2018), 0.64 in" in printed
    answer_all(tmp_path / "s.db", 1)
    assert_refused(control("turk-export", "s.db", "--out", "c.csv"), "all 16 items have the 3 ratings wanted")
    assert not (tmp_path / "c.csv").exists()
