"""`textassay history` on the command line."""

from pathlib import Path

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from tests.studies.history.test_history import comparison


def test_a_history_of_files(run_command: Command, tmp_path: Path) -> None:
    paths = []
    for run in range(1, 7):
        path = tmp_path / f"2026-01-0{run}.json"
        path.write_text(comparison(run).to_json(), encoding="utf-8")
        paths.append(str(path))
    page = tmp_path / "history.html"
    shown = run_command("history", *paths, "--table", "--report", str(page))
    assert shown.returncode == 0
    assert "2026-01-05" in shown.stdout
    assert "Changes" in shown.stdout
    assert "first change" in page.read_text(encoding="utf-8")
    assert_refused(run_command("history", paths[0]), "1 run; wanted 2")
    assert_refused(run_command("history", *paths, "-m", "bleu-4"), "no metric 'bleu-4'")
    assert_refused(run_command("history", *paths, "--order", "size"), "--order size")
    assert_refused(run_command("history", *paths, "--json", paths[0]), "input")
    assert_refused(run_command("history", str(tmp_path / "2026-01-01.json"), str(page)), "history.html")
