"""The samples of a sweep: generated in parts, and kept in a work file from which a stopped sweep continues."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from textassay.corpus.files import failures_named
from textassay.corpus.printable import shortened
from textassay.corpus.sample import Sample, as_text_array, digest_of, stream
from textassay.errors import InputError, Setting
from textassay.models.base import Decoding, Generator

# Texts of a part, which has random numbers of its own: a stopped sweep loses at most one part.
PART = 250
_FORMAT = "textassay sweep 1"


@dataclass(frozen=True, eq=False)
class WorkFile:
    """Finished parts by what determines their texts, also in a JSON Lines file with one line per part if there is one.

    A line is written at once, so that a stopped run leaves at most one incomplete line, which is removed.
    """

    done: dict[str, list[str]] = field(default_factory=dict)
    file: BinaryIO | None = None

    def add(self, key: str, texts: list[str]) -> None:
        """Keep a finished part."""
        self.done[key] = texts
        if self.file is not None:
            line = {"format": _FORMAT, "key": key, "digest": _digest(texts), "texts": texts}
            self.file.write(json.dumps(line).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())


@contextmanager
def work_file(path: str | os.PathLike[str] | None) -> Iterator[WorkFile]:
    """The parts that a file has already, and a way to add more; without a path in memory only."""
    if path is None:
        yield WorkFile()
        return
    where = shortened(os.fsdecode(path))
    with failures_named(where):
        file = open(path, "a+b")  # noqa: SIM115
    with file:
        _lock(file, where)
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        done = dict(_parts(whole, where))
        _check_rest(content[len(whole) :], where, line=whole.count(b"\n") + 1)
        file.truncate(len(whole))
        yield WorkFile(done, file)


def _lock(file: BinaryIO, where: str) -> None:
    """Keep other sweeps from writing the file until it is closed, where the system has such locks."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{where}: another sweep is using this file; wait until it ends, or choose another file with ",
            Setting("resume"),
        ) from None
    except OSError:
        # Some network folders have no locks.
        return


def _parts(content: bytes, where: str) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            plain = json.loads(line)
            key, texts, digest = plain["key"], plain["texts"], plain["digest"]
            known = plain["format"] == _FORMAT and isinstance(key, str) and digest == _digest(texts)
        except (ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            raise _foreign(where, number)
        yield key, texts


def _check_rest(rest: bytes, where: str, line: int) -> None:
    """Refuse an incomplete last line that no sweep has begun: it would be removed."""
    begin = json.dumps({"format": _FORMAT}).encode().removesuffix(b"}")
    if rest[: len(begin)] != begin[: len(rest)]:
        raise _foreign(where, line)


def _foreign(where: str, line: int) -> InputError:
    return InputError(f"{where}:{line}: not a part of a sweep; wanted the work file of a sweep, or a new file")


def _digest(texts: Sequence[str]) -> str:
    return digest_of(as_text_array(texts, "part"))


@dataclass(frozen=True, eq=False)
class Draw:
    """How the texts of a setting are drawn: their number, the seed, and one prompt per text if there are prompts.

    `purpose` separates the random numbers of samples that must be independent though model and setting are the same.
    """

    n: int
    seed: int
    prompts: Sample | None = None
    purpose: str = "sweep"

    def parts(self, model: str, decoding: Decoding) -> dict[str, tuple[int, int]]:
        """First and last place of each part, by the key of everything that its texts depend on."""
        found = {}
        for start in range(0, self.n, PART):
            stop = min(start + PART, self.n)
            facts: dict[str, Any] = {"model": model, **asdict(decoding), "seed": self.seed, "texts": [start, stop]}
            if self.purpose != "sweep":
                facts["purpose"] = self.purpose
            if self.prompts is not None:
                facts["prompts"] = digest_of(self.prompts.texts[start:stop])
            found[json.dumps(facts)] = (start, stop)
        return found


def draw_texts(
    model: Generator, decoding: Decoding, draw: Draw, work: WorkFile, *, step: Callable[[int], None]
) -> list[str]:
    """The texts of a setting, from the work file as far as it has them; `step` is called with newly drawn texts.

    Every setting has random numbers of its own, so that the samples of two settings are independent.
    """
    texts: list[str] = []
    parameters = asdict(decoding)
    for key, (start, stop) in draw.parts(model.name, decoding).items():
        if key not in work.done:
            rng = stream(draw.seed, draw.purpose, model.name, repr(parameters), start)
            prompts = None if draw.prompts is None else draw.prompts.texts[start:stop].to_pylist()
            work.add(key, model.sample(stop - start, **parameters, prompts=prompts, rng=rng))
            step(stop - start)
        texts += work.done[key]
    return texts


def count_missing(model: str, decoding: Decoding, draw: Draw, work: WorkFile) -> int:
    """The number of texts of a setting that the work file does not have."""
    return sum(stop - start for key, (start, stop) in draw.parts(model, decoding).items() if key not in work.done)
