"""`textassay cache`: the contents of the vector cache, and how to clear it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textassay.corpus.printable import many

if TYPE_CHECKING:
    from textassay.encoders.cache_contents import Contents

app = typer.Typer(help="Show or clear the cache of sentence vectors.", no_args_is_help=True)


@app.command()
def info() -> None:
    """Show the folder of the cache, its encoders, and its size.

    Set TEXTASSAY_CACHE to another folder, or to `off` to switch the cache off. TEXTASSAY_CACHE_LIMIT sets its maximum
    size.
    """
    from textassay.corpus.files.reading import shown_size
    from textassay.encoders.cache_contents import contents
    from textassay.encoders.cache_folder import cache_limit

    root, limit = _root(), cache_limit()
    if root is None:
        typer.echo("the cache is off (TEXTASSAY_CACHE=off)")
        return
    found = contents(root)
    typer.echo(f"folder: {_shown(root)}")
    if found:
        rows = [(f"{c.vectors:,}", c.dimensions, shown_size(c.bytes), c.last_used, c.shown_name) for c in found]
        typer.echo(_table([("vectors", "dimension", "size", "last used", "encoder"), *rows]))
    total = shown_size(sum(one.bytes for one in found))
    typer.echo(f"total: {_vectors(found)}, {total} of at most {shown_size(limit)}")
    damaged = sum(one.damaged_files for one in found)
    if damaged:
        typer.echo(f"damaged files: {damaged} (removed from use when their encoder runs next)")


@app.command()
def clear(
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", metavar="NAME", help="Remove only the vectors of this encoder, as named by info."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove all cached vectors, or those of one encoder. On a terminal it asks for confirmation.

    Other files in the folder are kept.
    """
    from textassay.corpus.files.reading import shown_size
    from textassay.encoders.cache_contents import chosen, contents, remove_contents
    from textassay.errors import InputError

    root = _root()
    if root is None:
        typer.echo("the cache is off (TEXTASSAY_CACHE=off); nothing removed")
        return
    found = chosen(contents(root), encoder)
    if not found:
        typer.echo(f"the cache in {_shown(root)} is empty; nothing removed")
        return
    what = f"{_vectors(found)} ({shown_size(sum(one.bytes for one in found))}) in {_shown(root)}"
    if not yes and _on_a_terminal() and not typer.confirm(f"Remove {what}?", err=True):
        typer.echo("nothing removed")
        return
    removed = remove_contents(found)
    typer.echo(f"removed {many(removed.files, 'file')} ({shown_size(removed.bytes)}) of {what}")
    if removed.foreign:
        belong = "does" if removed.foreign == 1 else "do"
        typer.echo(f"kept: {many(removed.foreign, 'file')} that {belong} not belong to the cache")
    if removed.refused:
        raise InputError(f"{_shown(root)}: {many(removed.refused, 'file')} of the cache could not be removed")


def _on_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _root() -> Path | None:
    from textassay.encoders.cache_folder import cache_root
    from textassay.errors import InputError

    try:
        root = cache_root()
    except RuntimeError:
        raise InputError("no home folder for the cache; set TEXTASSAY_CACHE to a folder") from None
    if root is not None and root.exists() and not root.is_dir():
        raise InputError(f"{_shown(root)}: is a file; wanted a folder for the cache (TEXTASSAY_CACHE)")
    return root


def _shown(path: Path) -> str:
    from textassay.corpus.printable import printable

    return printable(str(path))


def _vectors(found: "list[Contents]") -> str:
    vectors, encoders = sum(one.vectors for one in found), len(found)
    return f"{many(vectors, 'vector')} of {many(encoders, 'encoder')}"


def _table(rows: list[tuple[str, ...]]) -> str:
    """Right-aligned columns; the last one, a name, is left-aligned and never cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = ([*(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]] for row in rows)
    return "\n".join("  ".join(line) for line in lines)
