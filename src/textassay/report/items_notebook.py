"""A conditional study in a notebook: verdicts and table, styled in place, so that nothing around it changes."""

from textassay.report.cells import ARROWS
from textassay.report.html import environment
from textassay.report.items_rows import item_rows
from textassay.report.items_words import all_notes, counts, heading, human_title, legend
from textassay.report.standing import WORDS
from textassay.studies.conditioned import Conditional

# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "untested": "?"}


def items_notebook_html(conditional: Conditional) -> str:
    """An HTML fragment for a notebook's output cell."""
    template = environment().get_template("items_notebook.html.j2")
    return template.render(
        c=conditional,
        heading=heading(conditional),
        human=human_title(conditional),
        counts=counts,
        words=WORDS,
        signs=_SIGNS,
        arrows=ARROWS,
        rows=item_rows(conditional),
        notes=all_notes(conditional)[:10],
        legend=legend(conditional, chance=True),
    )
