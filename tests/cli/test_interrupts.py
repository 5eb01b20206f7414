"""Ctrl-C from the first moment on: one line, exit code 130, and no file that is half written."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.laws import corpus

INTERRUPTED = "textassay: interrupted; no output file is incomplete"
COMMANDS = {
    "compare": ["compare", "real.txt", "made.txt", "--resamples", "0", "--json", "out.json"],
    "conditional": ["conditional", "items.jsonl", "--resamples", "0", "--json", "out.json"],
    "huse": ["huse", "ratings.csv", "--resamples", "0", "--json", "out.json"],
    "demo": ["demo", "--json", "out.json"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(["real", "made"]):
        (tmp_path / f"{name}.txt").write_text("\n".join(corpus(number, 400)), encoding="utf-8")
    items = [{"references": ["a cat", "one cat"], "candidates": ["a dog", "the dog"]}] * 3
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    rows = [f"{source},a text {n},-{n + 5},{n % 5}" for source in ("human", "model") for n in range(30)]
    (tmp_path / "ratings.csv").write_text("\n".join(["source,text,log_prob,rating", *rows]))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "imports"),
    [*(("compare", n) for n in (10, 80, 250, 450)), ("conditional", 80), ("huse", 250), ("demo", 10), ("demo", 450)],
)
def test_while_modules_load(folder: Path, command: str, imports: int) -> None:
    """The signal comes so many imports after the entry point; `-X importtime` prints a line for each."""
    before = sorted(os.listdir(folder))
    program = [sys.executable, "-X", "importtime", "-m", "textassay", *COMMANDS[command]]
    with subprocess.Popen(
        program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "textassay.cli.main" in line:
                break
        for _ in range(imports):
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    others = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, others, out) == (130, [INTERRUPTED], "")
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    ("command", "delay"), [*(("compare", delay) for delay in (0.0, 0.3, 0.6, 1.0, 1.5)), ("conditional", 1.0)]
)
def test_after_a_delay(folder: Path, command: str, delay: float) -> None:
    """The delay begins when the entry point has, however long a busy machine takes to start Python."""
    arguments = ["999999" if argument == "0" else argument for argument in COMMANDS[command]]
    program = [sys.executable, "-X", "importtime", "-m", "textassay", *arguments]
    # A file and not a pipe, which would be full before it is read.
    log = folder / "stderr"
    with (
        log.open("w") as stderr,
        subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, stderr=stderr) as process,
    ):
        while process.poll() is None and log.read_text().partition("textassay.cli.main")[2].count("\n") < 5:
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    if process.returncode == 0:
        pytest.skip("the run was over before the signal came")
    others = [line for line in log.read_text().splitlines() if not line.startswith("import time:")]
    assert (process.returncode, others) == (130, [INTERRUPTED])
    assert not list(folder.glob(".*"))


def test_written_outputs_stay_whole(folder: Path) -> None:
    """The first output is on disk, and the second goes to a pipe that nobody reads."""
    os.mkfifo(folder / "pipe")
    arguments = ["compare", "real.txt", "made.txt", "--family", "ngram", "--resamples", "0", "--json", "out.json"]
    with subprocess.Popen(
        [sys.executable, "-m", "textassay", *arguments, "--csv", "pipe"], cwd=folder, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "wrote out.json\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err.splitlines()) == (130, [INTERRUPTED])
    assert json.loads((folder / "out.json").read_text())["candidates"][0]["name"] == "made"


def test_a_second_signal_ends_what_does_not_listen_to_the_first() -> None:
    code = (
        "import sys, time\n"
        "from textassay.cli import main\n"
        "def deaf(arguments):\n"
        "    word = 'ready'\n"
        "    while True:\n"
        "        try:\n"
        "            print(word, flush=True)\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt:\n"
        "            word = 'heard'\n"
        "import textassay.cli.app\n"
        "textassay.cli.app.invoke = deaf\n"
        "sys.argv = ['textassay', 'metrics']\n"
        "main.entry()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for word in ("ready\n", "heard\n"):
            assert process.stdout.readline() == word
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, f"{INTERRUPTED}\n")


def test_an_interrupt_that_a_library_turns_into_another_error_is_still_one() -> None:
    code = (
        "import os, signal, sys\n"
        "from textassay.cli import main\n"
        "def turned(arguments):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        sum(range(10**7))\n"
        "    except KeyboardInterrupt as error:\n"
        "        raise RuntimeError('a library failed') from error\n"
        "import textassay.cli.app\n"
        "textassay.cli.app.invoke = turned\n"
        "sys.argv = ['textassay', 'metrics']\n"
        "main.entry()\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (found.returncode, found.stderr) == (130, f"{INTERRUPTED}\n")


def test_an_ignored_signal_stays_ignored(folder: Path) -> None:
    """As in `nohup` and in the background of a script."""
    arguments = ["compare", "real.txt", "made.txt", "--family", "ngram", "--resamples", "0", "--json", "out.json"]
    with subprocess.Popen(
        [sys.executable, "-m", "textassay", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509 - no threads here
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    assert (folder / "out.json").exists()


def test_the_cursor_is_shown_again(folder: Path) -> None:
    """A progress bar hides the cursor; an interrupt must not leave it hidden."""
    leader, follower = pty.openpty()
    code = "import os, sys\nfrom textassay.cli import main\nmain._exit_interrupted()\n"
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, stderr=follower, env=environment, check=False, timeout=60
    )
    os.close(follower)
    shown = os.read(leader, 1000).decode()
    os.close(leader)
    assert process.returncode == 130
    assert "\x1b[?25h" in shown
    assert INTERRUPTED in shown
