"""A comparison in a notebook: verdicts and table, styled in place, so that nothing around it changes."""

from textassay.report.cells import legend
from textassay.report.html import environment
from textassay.report.html_table import grid
from textassay.report.standing import WORDS, summary
from textassay.studies.comparison import Comparison

# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "copied": "≈", "untested": "?"}


def notebook_html(comparison: Comparison) -> str:
    """An HTML fragment for a notebook's output cell."""
    template = environment().get_template("notebook.html.j2")
    return template.render(
        c=comparison,
        summary=summary(comparison),
        words=WORDS,
        signs=_SIGNS,
        grid=grid(comparison),
        legend=legend(comparison),
    )
