"""The standard streams of the command: what reaches a terminal, and streams that are full or closed.

Nothing here is imported before an interrupt can be handled; `textassay --version` needs it, so it stays small.
"""

import os
import sys

# Type checkers know this name. Importing `typing` would delay the handling of interrupts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class TerminalStream:
    """A standard stream that is a terminal: text under evaluation is shown on it and can never control it.

    Everything that is written is made safe, whoever writes it. Rich writes styles around text that it has made safe
    itself (`SafeConsole` in `textassay.engines.progress_bar`), to `rich_proxied_file`. There is no `buffer`, which
    would let bytes pass.
    """

    def __init__(self, stream: "TextIO") -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        from textassay.corpus.printable import printable_lines

        # The progress bars of libraries begin with a carriage return, which changes nothing at the start of a line.
        start = "\r" if text.startswith("\r") and not text.startswith("\r\n") and self._is_error_stream() else ""
        self.rich_proxied_file.write(start + printable_lines(text[len(start) :]))
        return len(text)

    def writelines(self, lines: "Iterator[str]") -> None:
        for line in lines:
            self.write(line)

    def _is_error_stream(self) -> bool:
        return self is sys.stderr

    def __getattr__(self, name: str) -> object:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.rich_proxied_file, name)


def protect_terminals() -> None:
    """Let nothing but safe text reach the standard streams that are terminals; all others stay as they are."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still shows the rest
        if not isinstance(stream, TerminalStream) and stream.isatty():
            setattr(sys, name, TerminalStream(stream))


class LossyStream:
    """Standard error whose messages are lost where it is full: a lost note must not cost an output."""

    def __init__(self, stream: "TextIO") -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            # Discard the buffer, so that Python prints no error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


class _ClosedStream:
    """Takes the place of a standard stream that was closed before the start; writing to standard output fails."""

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def write(self, text: str) -> int:
        if self.descriptor == 1:
            raise OSError(9, "closed")
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self.descriptor


def replace_closed_streams() -> None:
    """Give closed standard streams a descriptor, so that no file opened later gets theirs, and a stream object."""
    for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            if descriptor:
                setattr(sys, name, _ClosedStream(descriptor))
