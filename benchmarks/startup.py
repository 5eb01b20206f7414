"""How fast the command starts, beside `sacrebleu --version`: medians of ten runs each, in turn."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 1 if "--smoke" in sys.argv else 10
COMMANDS = ("textassay", "sacrebleu")


def seconds(command: str) -> float:
    began = time.perf_counter()
    subprocess.run([Path(sys.executable).with_name(command), "--version"], check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    taken: dict[str, list[float]] = {command: [] for command in COMMANDS}
    for _ in range(RUNS):
        for command in COMMANDS:
            taken[command].append(seconds(command))
    medians = {command: statistics.median(times) for command, times in taken.items()}
    for command, median in medians.items():
        print(f"{command} --version: median {median:.3f} s of {RUNS} runs")
    print(f"textassay takes {medians['textassay'] / medians['sacrebleu']:.2f} of sacrebleu's time")
