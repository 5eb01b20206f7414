"""The verdict of another version of textassay, run in a process of its own with that version's source tree.

Run as a program it reads one JSON object per line (`candidate`, `reference`, `family`, `seed`) and prints one per line.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from corpora import Draw

FAMILIES = {"ngram": ["ngram"], "all": []}


class Old:
    """A process of the other version; it stays open between draws, because loading takes longer than comparing."""

    def __init__(self, tree: Path) -> None:
        source = (tree / "src").resolve()
        if not (source / "textassay").is_dir():
            raise SystemExit(f"{tree}: no src/textassay in it; wanted the source tree of a version of textassay")
        paths = os.pathsep.join([str(source), str(Path(__file__).parent)])
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def verdict(self, sample: Draw, *, family: str) -> dict[str, float]:
        """0 where the verdict is that the candidate differs, else 1: a verdict has no p-value."""
        asked = {
            "candidate": sample.texts[: sample.n],
            "reference": sample.texts[sample.n :],
            "family": family,
            "seed": sample.seed,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("the other version of textassay ended without an answer")
        return {f"verdict_{family}": 0.0 if json.loads(answer)["differs"] else 1.0}


def answer(line: str) -> str:
    """The verdict on the samples of one line."""
    from textassay import compare

    asked = json.loads(line)
    found = compare(
        asked["reference"],
        {"candidate": asked["candidate"]},
        families=FAMILIES[asked["family"]],
        encoder="minilm:int8" if asked["family"] == "all" else None,
        seed=asked["seed"],
    )
    # An earlier version, whose verdicts have a level.
    return json.dumps({"differs": getattr(found.candidates[0].verdict, "level", "") in ("differs", "collapsed")})


if __name__ == "__main__":
    for received in sys.stdin:
        print(answer(received), flush=True)
