"""Build a digest from shards: each shard on its own, in any process and any order, and then a tree of merges.

Every finished shard is kept in a folder beside the result until that is written, under a name that depends on the
shard and on all settings. So a run that was stopped continues where it ended, and two runs of one shard write the same
file.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from textassay.corpus.files.reading import Span, count_spans, is_cut_by_lines
from textassay.corpus.files.writing import write_failures_named
from textassay.corpus.markdown import STRIPS
from textassay.corpus.printable import listed as cut_list
from textassay.corpus.printable import printable
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.digests.digest import Digest, digest_sample, merge_digests
from textassay.digests.file import ENDING, LARGEST_SKETCH, MOST_BLOCKS, is_digest, read_digest, write_digest
from textassay.digests.shards import about_file, fetched, is_remote, shard_files
from textassay.digests.statistics import BY_BLOCK, Layout
from textassay.encoders.base import Encoder, check_name, get_encoder
from textassay.engines.base import Engine
from textassay.errors import InputError, Setting
from textassay.metrics.views import Settings
from textassay.version import __version__

_WIDTH = 16
# Fewer blocks than this give too few exchanges for a test.
_FEWEST_BLOCKS = 8
# Encoders whose vectors depend on all texts of a run, or are given for them.
_FITTED = ("lsa", "bow", "vectors")
_WHY_NOT_FITTED = " depends on all texts of a run; wanted an encoder that reads one text at a time, such as static"


@dataclass(frozen=True)
class Recipe:
    """How shards are read and counted. The parts of one digest have one recipe."""

    tokenizer: str = "words"
    lowercase: bool = False
    strip: str | None = None
    text_field: str | None = None
    encoding: str = "utf-8"
    layout: Layout = field(default_factory=Layout)
    key: str = field(default="", repr=False)
    encoder: str | None = None

    def checked(self) -> "Recipe":
        """The same recipe; an error for one that no digest can be made by."""
        layout = self.layout
        if not _FEWEST_BLOCKS <= layout.n_blocks <= MOST_BLOCKS:
            wanted = f"{_FEWEST_BLOCKS} to {MOST_BLOCKS:,}, such as 40"
            raise InputError(Setting("blocks", layout.n_blocks), f"; wanted {wanted}")
        sketch = layout.sketch
        if sketch and (sketch % BY_BLOCK or not 16 * BY_BLOCK <= sketch <= LARGEST_SKETCH):
            wanted = f"0 (exact counts), or a multiple of {BY_BLOCK} from {16 * BY_BLOCK:,} to {LARGEST_SKETCH:,}"
            raise InputError(Setting("sketch", sketch), f"; wanted {wanted}")
        get_tokenizer(self.tokenizer, lowercase=self.lowercase)
        if self.strip is not None and self.strip not in STRIPS:
            raise InputError(Setting("strip", self.strip), f"; wanted {', '.join(STRIPS)}")
        if self.encoder is not None:
            check_name(self.encoder)
            if self.encoder.partition(":")[0] in _FITTED:
                raise InputError(Setting("encoder", self.encoder), _WHY_NOT_FITTED)
        return self

    def settings(self) -> Settings:
        """What the views of a shard are made with; an encoder is loaded once per process."""
        tokenizer = get_tokenizer(self.tokenizer, lowercase=self.lowercase)
        return Settings(tokenizer, None if self.encoder is None else _encoder(self.encoder), strip=self.strip)


@cache
def _encoder(name: str) -> Encoder:
    return get_encoder(name, reference=Sample.of([], name="no texts"), candidates={})


@dataclass(frozen=True)
class ShardJob:
    """One shard or span of a shard, how it is counted, and the file that its digest is kept in."""

    path: str
    name: str
    recipe: Recipe
    part: str
    span: int | None = None


@dataclass(frozen=True)
class Done:
    """What became of a shard: its file, or why it could not be read; neither where a span has no text."""

    part: str = ""
    problem: str = ""


def make_part(job: ShardJob) -> Done:
    """Count a shard and keep its digest, unless an earlier run has done it; a shard that cannot be read is no failure.

    It needs nothing but its argument, so that it runs in any process that sees the files.
    """
    if Path(job.part).is_file():
        return Done(job.part)
    recipe = job.recipe
    try:
        if is_digest(job.path):
            raise InputError(f"{printable(job.path)}: is a digest; wanted texts (digests: textassay digest merge)")
        with fetched(job.path) as path:
            span = None if job.span is None else Span(path, job.span)
            if span is not None and is_cut_by_lines(path) and span.is_empty():
                return Done()
            sample = read_sample(span or path, field=recipe.text_field, encoding=recipe.encoding)
        digest = digest_sample(sample, recipe.settings(), layout=recipe.layout, shard=job.name, key=recipe.key)
    except InputError as error:
        return Done(problem=str(error))
    write_digest(digest, job.part)
    return Done(job.part)


@dataclass(frozen=True)
class MergeJob:
    """Digests to add up, and the file that their sum is kept in."""

    parts: tuple[str, ...]
    target: str


def merge_parts(job: MergeJob) -> str:
    """Write the sum of some digests, unless an earlier run has done it; a part of each is in memory at a time."""
    if not Path(job.target).is_file():
        write_digest(merge_digests([read_digest(part, keep=False) for part in job.parts]), job.target)
    return job.target


def build_digest(
    shards: Sequence[str], out: str, recipe: Recipe, *, engine: Engine, skip_bad: bool = False, name: str | None = None
) -> Digest:
    """Count all shards and write their digest to `out`.

    Parameters
    ----------
    shards
        Files, patterns, or addresses that fsspec opens, such as `s3://bucket/*.jsonl`.
    out
        The file to write. Finished shards are kept beside it, in `OUT.parts`, until it is written.
    recipe
        How shards are read and counted.
    engine
        What runs the shards.
    skip_bad
        Leave out shards that cannot be read. They are counted in the digest.
    name
        The name of the digest; by default that of the file.

    Returns
    -------
    Digest
        What was written.
    """
    if not out.endswith(ENDING):
        raise InputError(f"{printable(out)}: wanted a name that ends in {ENDING}")
    # Workers of a cluster may have another working directory.
    folder = os.path.abspath(f"{out}.parts")
    with write_failures_named(folder):
        os.makedirs(folder, exist_ok=True)
    try:
        digest = _built(shard_files(shards), out, recipe, folder, engine=engine, skip_bad=skip_bad)
    finally:
        # Not if a finished shard is kept in it, or something of another run or of the user.
        with suppress(OSError):
            os.rmdir(folder)
    return digest if name is None else digest.named(name)


def _built(shards: dict[str, str], out: str, recipe: Recipe, folder: str, *, engine: Engine, skip_bad: bool) -> Digest:
    """The digest of shards by name, whose parts are in a folder."""
    jobs = [job for name, path in shards.items() for job in _jobs(path, name, recipe, folder)]
    done = engine.map(make_part, jobs)
    problems = {job.path: each.problem for job, each in zip(jobs, done, strict=True) if each.problem}
    if problems and not skip_bad:
        more = f" (and {len(problems) - 1:,} more shards)" if len(problems) > 1 else ""
        raise InputError(
            f"{next(iter(problems.values()))}{more}; what is finished is kept: run again, or leave them out with ",
            Setting("skip_bad", True),
        )
    # Of a shard that is left out, no span counts.
    parts = [each.part for job, each in zip(jobs, done, strict=True) if each.part and job.path not in problems]
    if not parts:
        raise InputError(f"no shard could be read ({cut_list(list(problems.values()), 3)})")
    digest = merge_files(parts, out, engine=engine, folder=folder, n_skipped=len(problems))
    _remove(job.part for job in jobs)
    return digest


def merge_files(
    parts: Sequence[str], out: str, *, engine: Engine | None = None, folder: str | None = None, n_skipped: int = 0
) -> Digest:
    """Add up digest files in a tree and write the sum to `out`; with an engine and a folder, branches are kept there.

    The tree decides nothing but the time: the sum has the same bytes in any order and any tree.
    """
    branches: set[str] = set()
    while engine is not None and folder is not None and len(parts) > _WIDTH:
        groups = [tuple(parts[k : k + _WIDTH]) for k in range(0, len(parts), _WIDTH)]
        parts = engine.map(merge_parts, [MergeJob(group, _target(folder, group)) for group in groups])
        branches |= set(parts)
    whole = merge_digests([read_digest(part, keep=False) for part in parts])
    write_digest(replace(whole, n_skipped=whole.n_skipped + n_skipped), out)
    _remove(branches)
    return read_digest(out)


def _remove(parts: Iterable[str]) -> None:
    """Remove files of this run."""
    with suppress(OSError):
        for part in parts:
            Path(part).unlink(missing_ok=True)


def _target(folder: str, parts: Sequence[str]) -> str:
    names = "\n".join(os.path.basename(part) for part in parts)
    return os.path.join(folder, hashlib.blake2b(names.encode(), digest_size=16).hexdigest() + ENDING)


def _jobs(path: str, name: str, recipe: Recipe, folder: str) -> list[ShardJob]:
    """A job per span of a shard, or one for the whole; a shard that cannot be opened fails later, where it is read."""
    try:
        about, n_spans = about_file(path), 1 if is_remote(path) else count_spans(path, recipe.encoding)
    except InputError:
        about, n_spans = "", 1
    if not is_remote(path):
        path = os.path.abspath(path)
    spans: list[int | None] = list(range(n_spans)) if n_spans > 1 else [None]
    named = [(f"{name}#{span + 1}" if span else name, span) for span in spans]
    return [ShardJob(path, shard, recipe, _part(folder, about, shard, recipe), span) for shard, span in named]


def _part(folder: str, about: str, shard: str, recipe: Recipe) -> str:
    """The file of a shard's digest: another one where the file, its name, a setting or the program is another."""
    key = hashlib.blake2b(recipe.key.encode(), digest_size=8).hexdigest()
    fixed = (shard, about, replace(recipe, key=key), key, __version__)
    return os.path.join(folder, hashlib.blake2b(repr(fixed).encode(), digest_size=16).hexdigest() + ENDING)
