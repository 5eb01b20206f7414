"""`textassay survey`: make a rating study, serve its page, watch it fill, and take the ratings away."""

import typer

from textassay.cli.survey import create as survey_create
from textassay.cli.survey import links as survey_links
from textassay.cli.survey import ratings as survey_backup
from textassay.cli.survey import ratings as survey_ratings
from textassay.cli.survey import serve as survey_serve
from textassay.cli.survey import turk as survey_turk

app = typer.Typer(help="Collect ratings of texts on a web page, or on Mechanical Turk.", no_args_is_help=True)
app.command("create")(survey_create.create)
app.command("serve")(survey_serve.serve)
app.command("links")(survey_links.links)
app.command("status")(survey_ratings.status)
app.command("export")(survey_ratings.export)
app.command("backup")(survey_backup.backup)
app.command("turk-export")(survey_turk.turk_export)
app.command("turk-import")(survey_turk.turk_import)
