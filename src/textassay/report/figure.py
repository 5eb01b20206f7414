"""The figure of a reproduction as one SVG file: heat maps of its grids, or its curves."""

from textassay.corpus.errors import InputError
from textassay.report.curve_panels import curve_panels
from textassay.report.heat_map import heat_maps
from textassay.studies.reproduced import Reproduction


def figure(reproduction: Reproduction) -> str:
    """The drawing; a reproduction that is a table has none."""
    if reproduction.grids:
        return heat_maps(reproduction.grids, title=reproduction.title, summary=reproduction.design)
    if reproduction.panels:
        return curve_panels(reproduction.panels, title=reproduction.title, summary=reproduction.design)
    raise InputError(f"--svg: {reproduction.name} is a table and has no figure; wanted --markdown or --json")
