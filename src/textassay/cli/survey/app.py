"""`textassay survey`: create a rating study, serve its page, watch its progress, and export the ratings."""

import typer

from textassay.cli.survey import create, exclude, links, messages, ratings, serve, turk

app = typer.Typer(help="Collect ratings of texts on a web page or on Mechanical Turk.", no_args_is_help=True)
app.command("create")(create.create)
app.command("serve")(serve.serve)
app.command("links")(links.links)
app.command("messages")(messages.messages)
app.command("status")(ratings.status)
app.command("exclude")(exclude.exclude)
app.command("export")(ratings.export)
app.command("backup")(ratings.backup)
app.command("turk-export")(turk.turk_export)
app.command("turk-import")(turk.turk_import)
