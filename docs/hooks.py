"""Hooks of the mkdocs build: add the generated reference pages and convert formulas to MathML."""

import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import generate

_INLINE = re.compile(r":math:`(.+?)`", re.DOTALL)
_FORMULA = re.compile(r"^```math\n(.+?)\n```$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages to the navigation, after the index of their section."""
    made = sorted(generate.pages())
    for entry in config.nav or []:
        for listed in entry.values():
            if isinstance(listed, list):
                # A page with a title of its own is a mapping from the title to the page.
                pages = [page for page in listed if isinstance(page, str)]
                folders = {page.removesuffix("index.md") for page in pages if page.endswith("/index.md")}
                listed += [page for page in made if page.rpartition("/")[0] + "/" in folders and page not in listed]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages to the written ones."""
    for path, text in generate.pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Convert formulas to MathML, which browsers draw without scripts or network."""
    blocks = _FORMULA.sub(lambda match: convert(match[1], display="block"), markdown)
    return _INLINE.sub(lambda match: convert(match[1], display="inline"), blocks)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for screen readers, let the keyboard scroll formulas, and leave no header cell empty."""
    named = output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    reachable = named.replace('display="block">', 'display="block" tabindex="0">')
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", reachable)
