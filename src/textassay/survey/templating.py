"""Templates of the survey's pages: everything that is filled in is escaped, and nothing may be missing."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def environment() -> Environment:
    """The templates; what one page needs beside goes into an overlay of its own."""
    return Environment(
        loader=PackageLoader("textassay.survey", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
