"""The entry point of the command: exit codes, interrupts, and one line per error instead of a traceback."""

import os
import sys

from textassay.cli.streams import LossyStream, protect_terminals, replace_closed_streams
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
    debug = "--debug" in arguments
    replace_closed_streams()
    streams = sys.stdout, sys.stderr
    try:
        if arguments in (["--version"], ["-V"]):
            sys.stdout.write(f"textassay {__version__}\n")
            return 0
        protect_terminals()
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
            import traceback

            traceback.print_exc()  # to standard error as it is here, which may be a terminal
        return _report(error, arguments)
    finally:
        sys.stdout, sys.stderr = streams


def entry() -> None:
    """Run the installed command. After an interrupt the process exits without waiting for computing threads."""
    try:
        _install_interrupt_handler()
        replace_closed_streams()
        sys.stderr = LossyStream(sys.stderr)
        code = run()
    except KeyboardInterrupt:
        _exit_interrupted()
    code = _flushed(code)
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _flushed(code: int) -> int:
    """The exit code after all output is written: 2 if standard output is full or closed, and the run succeeded."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        code = code or _fail(f"standard output: cannot be written ({(error.strerror or str(error)).lower()})", 2)
    else:
        return code
    # Discard the buffer, so that Python prints no error at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code


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


def _report(error: Exception, arguments: "Sequence[str]") -> int:
    from textassay.corpus.printable import printable
    from textassay.errors import InputError

    if isinstance(error, InputError):
        from textassay.cli.app import with_places

        return _fail(printable(with_places(error.with_options())), 2)
    if isinstance(error, OSError):
        return _fail(f"cannot read or write: {printable(_reason(error))}", 2)
    if isinstance(error, MemoryError):
        from textassay.cli.app import has_option

        advice = "--size N for smaller samples" if has_option(arguments, "--size") else "fewer or shorter texts"
        return _fail(f"out of memory; use {advice}", INTERNAL)
    kind = type(error).__name__
    message = f"internal error: {kind}: {printable(str(error))} (a bug in textassay; --debug shows the traceback)"
    return _fail(message, INTERNAL)


def _reason(error: OSError) -> str:
    """The system's message, with the file if one is named."""
    message = (error.strerror or str(error)).lower()
    return message if error.filename is None else f"{error.filename}: {message}"


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"textassay: {' '.join(message.splitlines())}\n")
    return code
