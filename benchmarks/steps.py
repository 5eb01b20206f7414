"""Steps of a benchmark, each in a process of its own, so that memory and caches of one do not count for another."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO


def step(file: str, main: Callable[[list[str]], None], arguments: list[str], *, smoke: bool) -> str:
    """What `main` of this file prints for these arguments.

    A smoke run measures nothing and calls it in this process: starting another takes longer than the step.
    """
    if smoke:
        with redirect_stdout(StringIO()) as printed:
            main(arguments)
        return printed.getvalue()
    return subprocess.run([sys.executable, file, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
