"""What a command writes: files, checked before the work starts and written completely or not at all, and the screen."""

import glob
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from textassay.corpus.printable import printable, printable_lines
from textassay.engines.progress_bar import SafeConsole
from textassay.errors import InputError

# The width of output that does not go to a terminal: wide enough for a few columns, narrow enough for a log.
_PIPE_WIDTH = 120


def output_console() -> Console:
    """The console for results, on standard output."""
    console = SafeConsole()
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


if TYPE_CHECKING:
    from textassay.studies.outcome import Outcome

STANDARD_OUTPUT = "-"
# A target (None: not wanted) and the function that makes its text.
Output = tuple[str | None, Callable[[], str]]


# Names of the files opened for reading since the last check of outputs; an audit hook, once added, stays.
_opened: list[str] = []
_hook_is_set: list[bool] = []


def _note_opened(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str):
        mode = arguments[1]
        if mode is None or (isinstance(mode, str) and "r" in mode and "+" not in mode):
            _opened.append(arguments[0])


def _start_noting() -> None:
    """Note every file that is opened from here on, whichever library opens it."""
    _opened.clear()
    if not _hook_is_set:
        sys.addaudithook(_note_opened)
        _hook_is_set.append(True)


def _is_opened(target: str) -> bool:
    """Whether the target is a file that this run has opened for reading, redirected standard input included."""
    try:
        wanted = os.stat(target)
    except OSError:
        return False
    if not stat.S_ISREG(wanted.st_mode):
        return False
    return _is_standard_input(wanted) or any(_is_file(name, wanted) for name in dict.fromkeys(_opened))


def _is_file(name: str, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(name), wanted)
    except (OSError, ValueError):
        return False


def _is_standard_input(wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(0), wanted)
    except OSError:
        return False


def check_writable(targets: Iterable[str | None], inputs: Iterable[str] = ()) -> None:
    """Refuse targets that cannot be written, or that would overwrite each other or an input."""
    given = [target for target in targets if target is not None]
    if "" in given:
        raise InputError("the name of an output is empty; wanted a file, or - for standard output")
    to_output = [target for target in given if target == STANDARD_OUTPUT or _standard_stream(target) == 1]
    if len(to_output) > 1:
        raise InputError("two outputs go to standard output; wanted at most one")
    files = [target for target in given if target != STANDARD_OUTPUT]
    read = _files_of(inputs)
    for number, target in enumerate(files):
        _check_place(target)
        if any(_same_file(target, earlier) for earlier in files[:number]):
            raise InputError(f"{printable(target)}: two outputs go to this file; wanted one file per output")
        if any(_same_file(target, source) for source in read) or _is_input_stream(target):
            raise _also_input(target)
    _start_noting()


def _files_of(inputs: Iterable[str]) -> list[str]:
    """The files that inputs name: patterns expanded, and the file of `vectors:FILE`."""
    names = [source.partition(":")[2] if source.startswith("vectors:") else source for source in inputs]
    found = [path for name in names for path in (_expanded(name) if glob.has_magic(name) else [name])]
    return [path for path in found if path != STANDARD_OUTPUT and os.path.exists(path)]


def _expanded(name: str) -> list[str]:
    from textassay.corpus.files.reading import is_pattern, pattern_files

    return pattern_files(name)[0] if is_pattern(name) else [name]


def _is_input_stream(target: str) -> bool:
    """Whether standard input is redirected from the target."""
    try:
        wanted = os.stat(target)
    except OSError:
        return False
    return stat.S_ISREG(wanted.st_mode) and _is_standard_input(wanted)


def _also_input(target: str) -> InputError:
    return InputError(f"{printable(target)}: is also an input; wanted another file for the output")


def write(target: str, text: str | Iterable[str]) -> None:
    """Write a text, or parts of whole lines, to standard output, or to a file by replacing it once it is complete.

    Symbolic links are followed. Pipes and devices are written to directly.
    """
    from textassay.corpus.files.writing import replace_file

    parts = [text] if isinstance(text, str) else text
    if target == STANDARD_OUTPUT:
        _print(parts)
        return
    try:
        stream = _standard_stream(target)
        if stream is not None:
            _write_through(stream, parts)
        elif _is_special(target):
            _write_to(target, parts)
        elif _is_opened(target):
            raise _also_input(target)
        else:
            replace_file(target, (part.encode() for part in parts))
    except OSError as error:
        raise _refusal(target, error) from None


def deliver(outputs: Sequence[Output], *, table: Callable[[], None], quiet: bool) -> None:
    """Write all outputs that have a target, and print the table unless an output goes to standard output.

    Files are written first: a reader such as `head` may close the pipe while the table is printed, and no file must be
    lost. Outputs to a standard stream by another name, such as /dev/stdout, follow the table.
    """
    wanted = [(target, make) for target, make in outputs if target is not None]
    late = [target == STANDARD_OUTPUT or _standard_stream(target) is not None for target, _ in wanted]
    for (target, make), waits in zip(wanted, late, strict=True):
        if not waits:
            _write_and_report(target, make, quiet=quiet)
    if STANDARD_OUTPUT not in [target for target, _ in wanted]:
        table()
    for (target, make), waits in zip(wanted, late, strict=True):
        if waits:
            _write_and_report(target, make, quiet=quiet)


def deliver_outcome(
    outcome: "Outcome",
    targets: Mapping[str, str | None],
    *,
    quiet: bool,
    timings: bool = True,
    table: bool = False,
    also: Sequence[Output] = (),
    **view: Any,
) -> None:
    """Write the outcome of a study to its targets, and print its answer unless an output goes to standard output.

    `also` are outputs of other forms.

    `targets` are the files by form (json, csv, markdown, latex, bibtex, report). `table` and `view` are what the
    terminal shows besides the answer: all metrics, `why` and `top`.
    """
    top = {name: view[name] for name in view if name == "top"}
    forms = {
        "json": lambda: outcome.to_json(timings=timings),
        "csv": outcome.to_csv,
        "markdown": lambda: outcome.to_markdown(**top),
        "latex": outcome.to_latex,
        "bibtex": outcome.to_bibtex,
        "report": outcome.to_html,
    }

    def answer() -> None:
        console = output_console()
        # Only a terminal has a screen that the answer should fit on.
        height = console.height if console.is_terminal else None
        console.print(outcome.in_terminal(width=console.width, height=height, table=table, **view))

    deliver([*((targets.get(form), make) for form, make in forms.items()), *also], table=answer, quiet=quiet)


def _write_and_report(target: str, make: Callable[[], str], *, quiet: bool) -> None:
    write(target, make())
    if target != STANDARD_OUTPUT and not quiet:
        sys.stderr.write(f"wrote {printable(target)}\n")


def _print(parts: Iterable[str]) -> None:
    try:
        for part in parts:
            sys.stdout.write(part if part.endswith("\n") else f"{part}\n")
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that stops early, such as head, is not an error
        raise
    except OSError as error:
        raise _refusal("standard output", error) from None


def _check_place(target: str) -> None:
    try:
        special = _is_special(target)
    except OSError as error:
        raise _refusal(target, error) from None
    if os.path.isdir(target):
        raise InputError(f"{printable(target)}: is a directory; wanted a file to write")
    folder = Path(os.path.realpath(target) if os.path.islink(target) else target).parent
    if not special and not folder.is_dir():
        raise InputError(f"{printable(target)}: the folder {printable(str(folder))} does not exist")
    # A regular file is replaced, which needs write access to its folder; anything else is opened.
    places = [target] if special else [str(folder), *([target] if os.path.exists(target) else [])]
    if not all(os.access(place, os.W_OK) for place in places):
        raise InputError(f"{printable(target)}: cannot be written (permission denied)")


def _is_special(target: str) -> bool:
    """True for a pipe, a device, or anything else that exists and is neither a regular file nor a link to one."""
    try:
        return not stat.S_ISREG(os.stat(target).st_mode)
    except FileNotFoundError:
        return False


def _same_file(one: str, other: str) -> bool:
    try:
        first, second = os.stat(one), os.stat(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
    # A terminal or the null device can be read and written any number of times.
    return os.path.samestat(first, second) and not stat.S_ISCHR(first.st_mode)


def _standard_stream(target: str) -> int | None:
    """The descriptor of standard output or error if the target is another name for it, such as /dev/stdout."""
    for descriptor in (1, 2):
        try:
            if os.path.samestat(os.fstat(descriptor), os.stat(target)):
                return descriptor
        except OSError:  # closed, or no such file yet
            continue
    return None


def _write_through(descriptor: int, parts: Iterable[str]) -> None:
    # If the stream is redirected to a file, opening that file again would overwrite what the stream has written.
    sys.stdout.flush()
    sys.stderr.flush()
    _write_to(os.dup(descriptor), parts)


def _write_to(target: str | int, parts: Iterable[str]) -> None:
    """Write to a pipe or a device: its exact text, but to a terminal by whatever name only what is safe."""
    with open(target, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(map(printable_lines, parts) if file.isatty() else parts)


def _refusal(target: str, error: OSError) -> InputError:
    return InputError(f"{printable(target)}: cannot be written ({(error.strerror or str(error)).lower()})")
