"""`textassay digest`: summaries of corpora that merge, and that `compare` takes in place of texts."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.digests.digest import Digest

Digests = Annotated[list[str], typer.Argument(metavar="DIGEST...", help="Digests made with the same settings.")]
Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE.digest", help="The digest to write.")]


class _DefaultGroup(TyperGroup):
    """A group whose first command runs if no command is named: `digest SHARD...` is `digest make SHARD...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command in front, unless a command or the help is asked for."""
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Make, merge and describe digests, counts that add up.\n\n"
    "`textassay digest SHARD... --out FILE` is `textassay digest make`.",
    cls=_DefaultGroup,
    no_args_is_help=True,
)


@app.command()
def make(
    shards: Annotated[list[str], typer.Argument(metavar="SHARD...", help="Files of texts, or patterns in quotes.")],
    out: Out,
    sketch: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Count in sketches with N counters, such as 65536, which keep the digest small; 0 counts exactly.",
        ),
    ] = 0,
    blocks: Annotated[int, typer.Option(metavar="N", help="Number of blocks that tests exchange.")] = 40,
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    strip: options.Strip = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sum the vectors of this encoder too, such as static or minilm:int8, for frechet and mmd.",
        ),
    ] = None,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    private: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file with a secret that words are hashed with. Only digests with the same secret can be compared.",
        ),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out shards that cannot be read.")] = False,
    engine: options.ClusterEngine = "local",
    quiet: options.Quiet = False,
) -> None:
    """Count the texts of shards by block and write a digest.

    A digest holds no text. Digests of shards add up to the digest of all of them, and `textassay compare` takes digests
    in place of files of texts. A run that was stopped continues with the shards that it has.
    """
    from textassay.cli.outputs import check_writable
    from textassay.corpus.files.reading import read_whole
    from textassay.digests.build import Recipe, build_digest
    from textassay.digests.statistics import Layout
    from textassay.engines.base import get_engine
    from textassay.errors import InputError

    check_writable([out], inputs=[*shards, *([private] if private else [])])
    key = "" if private is None else read_whole(private).decode(errors="replace").strip()
    if private is not None and not key:
        raise InputError(f"{private}: is empty; wanted a secret, such as 32 random characters")
    recipe = Recipe(tokenizer, lowercase, strip, field, encoding, Layout(blocks, sketch), key, encoder).checked()
    digest = build_digest(shards, out, recipe, engine=get_engine(engine, anywhere=True), skip_bad=skip_bad)
    if not quiet:
        skipped = f"; {digest.n_skipped:,} left out" if digest.n_skipped else ""
        sys.stderr.write(f"wrote {out}: {_counted(digest)}{skipped}\n")


def _counted(digest: "Digest") -> str:
    from textassay.corpus.printable import many

    return f"{many(digest.n, 'text')} of {many(len(digest.shards), 'shard')}"


@app.command()
def merge(digests: Digests, out: Out, quiet: options.Quiet = False) -> None:
    """Merge digests. No shard may be in two of them."""
    from textassay.cli.outputs import check_writable
    from textassay.digests.build import merge_files

    check_writable([out], inputs=digests)
    merged = merge_files(digests, out)
    if not quiet:
        sys.stderr.write(f"wrote {out}: {_counted(merged)}\n")


@app.command()
def info(digest: Annotated[str, typer.Argument(metavar="DIGEST", help="A digest.")]) -> None:
    """Describe a digest: its texts, settings and shards."""
    from textassay.digests.file import read_digest

    sys.stdout.write(read_digest(digest).described() + "\n")
