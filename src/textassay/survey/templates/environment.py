"""The Jinja environment of the templates of the survey."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def environment() -> Environment:
    """The environment of all templates; pages with more filters or globals use an overlay."""
    return Environment(
        loader=PackageLoader("textassay.survey", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
