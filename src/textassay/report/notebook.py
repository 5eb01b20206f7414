"""The output cell of a notebook: the answer of a document, its table and its picture."""

from textassay.document.blocks import Document
from textassay.report.html import environment
from textassay.report.picture import image, picture

# More rows than this would fill the notebook; the page has all.
_MOST_ROWS = 30


def fragment(document: Document) -> str:
    """The answer as HTML without any style, class or script that reaches the notebook around it."""
    summary = document.summary
    drawn = (
        image(picture((summary.picture,), title=summary.picture.title).svg, summary.picture.title)
        if (summary.picture)
        else ""
    )
    template = environment().get_template("notebook.html.j2")
    rows, hidden = summary.rows[:_MOST_ROWS], len(summary.rows) - _MOST_ROWS
    return template.render(summary=summary, rows=rows, hidden=hidden, drawn=drawn, notes=document.notes[:5])
