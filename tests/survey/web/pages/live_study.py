"""A study made and served by commands in their own processes, from two files with hostile texts."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

CONTEXTS = (
    "The town council voted on Monday to close the old bridge for repairs until spring.",
    "A bakery won the regional prize. </blockquote></form><iframe src=//example.org></iframe>",
    "Researchers counted 2,481 storks along the river, more than in any year since 1987. " * 6,
    "مجلس المدينة صوّت على إغلاق الجسر القديم",
    "The museum opens late on Thursdays.\n\nTickets cost four pounds.",
)
HUMAN = (
    "=SUM(A1:A9) council closes old bridge until spring",
    "bakery <b>wins</b> regional prize & a <script>document.title = 'owned'</script>",
    "stork numbers highest since 1987 '; DROP TABLE items; --",
    "المجلس يغلق الجسر القديم",
    "museum opens late 👩‍👩‍👧‍👦🏳️‍🌈\n   on thursdays {{ 7 * 7 }} {% raw %}",
)
MODEL = (
    "bridge \u200b\u200d bridge closes the bridge",
    '"><img src=x onerror=alert(1)> bakery',
    "Storch" + "enzählungs" * 30 + "bericht",
    "\u202egnirps ni degdirb\u202c council",
    "museum of thursdays costs late",
)
INTRODUCTION = "You take part of your own will.\n\n  • By <b>Start</b> you agree. </p><script>alert(2)</script>"
THANKS = "Your code: C0FFEE\n<img src=x onerror=alert(3)> https://example.org/complete?code=C0FFEE" + "F" * 40
N_TEXTS = len(HUMAN) + len(MODEL)
PER_RATER = N_TEXTS + 1


@dataclass(frozen=True)
class LiveStudy:
    """A study that is being served, and its links."""

    folder: Path
    address: str
    process: subprocess.Popen[str]
    join: str
    admin: str
    personal: tuple[str, ...]

    def stop(self) -> tuple[int, str]:
        """Press Ctrl-C where it is served: the exit code and what was said to the error stream."""
        self.process.send_signal(signal.SIGINT)
        _, complaints = self.process.communicate(timeout=300)
        return self.process.returncode, complaints


def textassay(*arguments: str, folder: Path) -> str:
    """What a command prints; it must not fail."""
    done = subprocess.run(
        [sys.executable, "-m", "textassay", *arguments],
        cwd=folder, env=_environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def live_study(folder: Path, *, n_raters: int = 2) -> Iterator[LiveStudy]:
    """Create a study where everybody rates everything, serve it on a free port, and make personal links for it."""
    for name, texts in (("human", HUMAN), ("model", MODEL)):
        rows = [
            {"text": text, "context": context, "log_prob": -8.0 - 3 * (name == "human") - 1.5 * number}
            for number, (text, context) in enumerate(zip(texts, CONTEXTS, strict=True))
        ]
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    words = "".join(
        f"{name} = {json.dumps(text)}\n" for name, text in (("introduction", INTRODUCTION), ("thanks", THANKS))
    )
    (folder / "words.toml").write_text(words, encoding="utf-8")
    said = textassay(
        "survey", "create", "study.db", "--human", "human.jsonl", "--model", "model.jsonl", "--model-name", "parrot-9",
        "--text-name", "headline", "--context-name", "news article", "--ratings", "3",
        "--items-per-rater", str(N_TEXTS), "--checks", "1", "--template", "words.toml", folder=folder,
    )  # fmt: skip
    join, admin = (_path(said, kind) for kind in ("join", "admin"))
    with _serving(folder) as process:
        # While it starts; so the address is not known yet.
        given = textassay("survey", "links", "study.db", "--raters", str(n_raters), folder=folder)
        personal = re.findall(r"^ +r\d+ +http://[^/]+(/r/\S+)$", given, re.MULTILINE)
        assert len(personal) == n_raters
        address = _address(process)
        yield LiveStudy(
            folder, address, process, address + join, address + admin, tuple(address + path for path in personal)
        )


@contextmanager
def _serving(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command that serves the study; it may not be ready yet."""
    with subprocess.Popen(
        [sys.executable, "-m", "textassay", "survey", "serve", "study.db", "--port", "0"],
        cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    """Where it is served, once it says so, which is when it is ready."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(4)]
    address = re.search(r"^at +(http://127\.0\.0\.1:\d+)$", "".join(said), re.MULTILINE)
    assert address is not None, said
    return address[1]


def _path(said: str, kind: str) -> str:
    """The path of the link of this kind: it was made before the port was known."""
    link = re.search(rf"^ +(http://\S+/{kind}/\S+)$", said, re.MULTILINE)
    assert link is not None, said
    return urlsplit(link[1]).path


def _environment() -> dict[str, str]:
    """A pipe of ordinary width, without colours."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return kept | {"COLUMNS": "100"}
