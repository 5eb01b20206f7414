"""Run all benchmarks, one after the other.

`python benchmarks/run_all.py` runs them at full size, which takes hours; `--smoke` runs each on very small inputs,
which takes about two minutes on two cores and only shows that all of them still work. Names of benchmarks choose some
of them: `python benchmarks/run_all.py ngrams huse`. What each prints is written to standard output below its name; the
exit code is 1 if any of them failed. The figures of docs/benchmarks.md come from these runs.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# `embeddings` also runs `quantised`, `neighbours` and `encoding`. The longest come first, so that tests that run two
# at a time do not wait for one of them at the end.
SPEED = (
    "embeddings",
    "survey/survey",
    "startup",
    "ngrams",
    "long_texts",
    "models/ngram",
    "conditional",
    "huse",
    "records",
    "scale",
)
STATISTICS = (
    *(f"calibration/{part}" for part in ("samples", "items", "ratings", "designs", "family_wise", "situations")),
    "power/power",
    "stress",
    "dd",
    "effect_size",
    "decision",
    "models/adversarial",
    "digests",
)


def run(name: str, *, smoke: bool) -> bool:
    """Run one benchmark and print its output and processor time; True if it succeeded."""
    print(f"== {name}", flush=True)
    began = time.perf_counter()
    done = subprocess.run([sys.executable, str(FOLDER / f"{name}.py"), *(["--smoke"] if smoke else [])], check=False)
    outcome = "done" if done.returncode == 0 else f"FAILED with exit code {done.returncode}"
    print(f"== {name}: {outcome} after {time.perf_counter() - began:.0f} s", flush=True)
    return done.returncode == 0


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join((*SPEED, *STATISTICS))}")
    ask.add_argument("--smoke", action="store_true", help="very small inputs")
    asked = ask.parse_args()
    if unknown := set(asked.names) - {*SPEED, *STATISTICS}:
        ask.error(f"no benchmark {', '.join(sorted(unknown))}")
    succeeded = [run(name, smoke=asked.smoke) for name in asked.names or (*SPEED, *STATISTICS)]
    sys.exit(0 if all(succeeded) else 1)


if __name__ == "__main__":
    main()
