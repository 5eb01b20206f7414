"""The entry point: dispatch, and one clear line instead of a traceback."""

import os
import sys

from textassay.version import __version__

# Known to type checkers under this name; the module `typing` alone takes most of the time until an interrupt is heard.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

INTERRUPTED, INTERNAL = 130, 70
_INTERRUPTED = "interrupted; no file is half written"
# Set by the first interrupt: whatever a library makes of it, the run was interrupted.
_heard: list[int] = []


def run(argv: "Sequence[str] | None" = None) -> int:
    """Run a command line and return the exit code: 0 done, 1 a gate failed, 2 bad input or usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"textassay {__version__}\n")
        return 0
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign still shows the rest
    try:
        from textassay.cli.app import invoke

        return invoke([a for a in arguments if a != "--debug"])
    except KeyboardInterrupt:
        return _fail(_INTERRUPTED, INTERRUPTED)
    except BrokenPipeError:
        return 0
    except Exception as error:
        # A command that was stopped on purpose, as a server is, may still have something to report.
        if _heard and not _is_input_error(error):
            return _fail(_INTERRUPTED, INTERRUPTED)
        if debug:
            raise
        return _explain(error)


def entry() -> None:
    """The installed command. Interrupted, it leaves at once: threads that still compute have nothing left to write."""
    try:
        _listen()
        code = run()
    except KeyboardInterrupt:
        _leave()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has left; what is still in the buffer goes nowhere, without a complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _listen() -> None:
    """Take interrupts, unless whoever started the command has them ignored."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


def _interrupted(number: int, frame: "FrameType | None") -> None:
    """Stop where files are cleaned up behind us; leave at once when pressed again or while modules load.

    An exception in the middle of an import is printed and ignored by some callbacks of the import system, and turned
    into other errors by some packages. Nothing is being written there.
    """
    if _heard or _is_loading(frame):
        _leave()
    _heard.append(number)
    raise KeyboardInterrupt


def _is_loading(frame: "FrameType | None") -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _leave() -> "NoReturn":
    """Say that the run was interrupted and end the process, with the cursor that a progress bar may have hidden."""
    try:
        sys.stdout.flush()
        if os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb":
            os.write(2, b"\r\x1b[2K\x1b[?25h")
        os.write(2, f"textassay: {_INTERRUPTED}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _is_input_error(error: Exception) -> bool:
    from textassay.errors import InputError

    return isinstance(error, InputError)


def _explain(error: Exception) -> int:
    from textassay.corpus.printable import printable
    from textassay.errors import InputError

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
