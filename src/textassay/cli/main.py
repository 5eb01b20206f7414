"""The entry point: dispatch, and one clear line instead of a traceback."""

import os
import sys
from collections.abc import Sequence

from textassay.version import __version__

INTERRUPTED, INTERNAL = 130, 70


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code: 0 done, 1 a gate failed, 2 bad input or usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"textassay {__version__}\n")
        return 0
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign still shows the rest
    from textassay.cli.app import invoke

    try:
        return invoke([a for a in arguments if a != "--debug"])
    except KeyboardInterrupt:
        return _fail("interrupted; no file is half written", INTERRUPTED)
    except BrokenPipeError:
        return 0
    except Exception as error:
        if debug:
            raise
        return _explain(error)


def entry() -> None:
    """The installed command. Interrupted, it leaves at once: threads that still compute have nothing left to write."""
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has left; what is still in the buffer goes nowhere, without a complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _explain(error: Exception) -> int:
    from textassay.corpus.errors import InputError
    from textassay.corpus.printable import printable

    if isinstance(error, InputError):
        return _fail(printable(str(error)), 2)
    if isinstance(error, OSError):
        return _fail(f"cannot read or write: {printable(str(error))}", 2)
    if isinstance(error, MemoryError):
        return _fail("out of memory; try --size N for a smaller sample", INTERNAL)
    kind = type(error).__name__
    return _fail(f"internal error: {kind}: {printable(str(error))} (a bug in textassay; --debug shows where)", INTERNAL)


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"textassay: {' '.join(message.splitlines())}\n")
    return code
