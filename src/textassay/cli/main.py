"""The entry point of the command: exit codes, interrupts, and one line per error instead of a traceback."""

import os
import sys

from textassay.version import __version__

# Type checkers know this name. Importing `typing` would delay the handling of interrupts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

INTERRUPTED, INTERNAL = 130, 70
_INTERRUPTED = "interrupted; no output file is incomplete"
# Interrupts so far. A library may turn an interrupt into another exception; the run was interrupted all the same.
_interrupts: list[int] = []


def run(argv: "Sequence[str] | None" = None) -> int:
    """Run a command line and return the exit code: 0 done, 1 a gate failed, 2 bad input or usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"textassay {__version__}\n")
        return 0
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still shows the rest
    try:
        from textassay.cli.app import invoke

        return invoke([a for a in arguments if a != "--debug"])
    except KeyboardInterrupt:
        return _fail(_INTERRUPTED, INTERRUPTED)
    except BrokenPipeError:
        return 0
    except Exception as error:
        # A command that is stopped by an interrupt, such as a server, may still report an error of its own.
        if _interrupts and not _is_input_error(error):
            return _fail(_INTERRUPTED, INTERRUPTED)
        if debug:
            raise
        return _report(error)


def entry() -> None:
    """Run the installed command. After an interrupt the process exits without waiting for computing threads."""
    try:
        _install_interrupt_handler()
        code = run()
    except KeyboardInterrupt:
        _exit_interrupted()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed it; discard the buffer, so that Python prints no error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _install_interrupt_handler() -> None:
    """Handle Ctrl-C, unless the parent process has it ignored."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interrupt)


def _on_interrupt(number: int, frame: "FrameType | None") -> None:
    """Raise KeyboardInterrupt so that files are cleaned up; exit at once on a second interrupt or during an import.

    An exception during an import is printed and ignored by some callbacks of the import system, and turned into other
    errors by some packages. No file is being written then.
    """
    if _interrupts or _is_importing(frame):
        _exit_interrupted()
    _interrupts.append(number)
    raise KeyboardInterrupt


def _is_importing(frame: "FrameType | None") -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _exit_interrupted() -> "NoReturn":
    """Report the interrupt and end the process; show the cursor again, which a progress bar may have hidden."""
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


def _report(error: Exception) -> int:
    from textassay.corpus.printable import printable
    from textassay.errors import InputError

    if isinstance(error, InputError):
        return _fail(printable(error.with_options()), 2)
    if isinstance(error, OSError):
        return _fail(f"cannot read or write: {printable(str(error))}", 2)
    if isinstance(error, MemoryError):
        return _fail("out of memory; use --size N for smaller samples", INTERNAL)
    kind = type(error).__name__
    message = f"internal error: {kind}: {printable(str(error))} (a bug in textassay; --debug shows the traceback)"
    return _fail(message, INTERNAL)


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"textassay: {' '.join(message.splitlines())}\n")
    return code
