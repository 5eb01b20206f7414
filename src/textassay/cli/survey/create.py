"""`textassay survey create`: a new rating study from files of texts."""

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textassay.cli.survey import options

if TYPE_CHECKING:
    from textassay.survey.create.items import StudyItems
    from textassay.survey.links import Addresses
    from textassay.survey.model import Study
    from textassay.survey.store.study_store import Links


def create(
    study: options.NewStudyFile,
    human: options.Human = None,
    model: options.Model = None,
    model_name: options.ModelName = "model",
    items: options.Items = None,
    contexts: options.Contexts = None,
    field: options.Field = None,
    context_field: options.ContextField = None,
    log_prob_field: options.LogProbField = None,
    title: options.Title = None,
    context_name: options.ContextName = None,
    text_name: options.TextName = None,
    template: options.Template = None,
    language: options.Language = None,
    completion_url: options.CompletionUrl = None,
    ratings: options.Ratings = 20,
    items_per_rater: options.ItemsPerRater = 25,
    checks: options.Checks = 1,
    checks_file: options.ChecksFile = None,
    raters: options.Raters = 0,
    links: options.LinksFile = None,
    days: options.Days = None,
    address_share: options.AddressShare = 25,
    proof_after: options.ProofAfter = None,
    size: options.SizeOfSource = None,
    seed: options.Seed = 0,
    url: options.Url = "http://127.0.0.1:8000",
    encoding: options.Encoding = "utf-8",
    max_input: options.MaxInput = None,
) -> None:
    """Create a rating study from texts by people and by a model.

    Prints the links for raters and for the admin. Raters rate how typical each text is, from Invalid (1) to Very
    Typical (6). --template changes the question and the scale.
    """
    from textassay.cli.survey.links import personal_links
    from textassay.survey.create.attention_checks import checks_for
    from textassay.survey.create.items import Columns, study_items
    from textassay.survey.create.remarks import unknown_token
    from textassay.survey.create.wording import page_wording, with_unknown
    from textassay.survey.links import Addresses
    from textassay.survey.messages.tables import SHIPPED
    from textassay.survey.model import Study
    from textassay.survey.store.study_store import Store

    del max_input  # applied when it is parsed
    own_table = None if language in (None, *SHIPPED) else language
    given = (human, model, items, contexts, template, checks_file, own_table)
    read = [path for path in given if path is not None]
    _check_targets(study, links, read, raters=raters)
    addresses = Addresses.under(url)
    made = study_items(
        human=human,
        model=model,
        items=items,
        model_name=model_name,
        columns=Columns(field, context_field, log_prob_field),
        contexts=contexts,
        size=size,
        seed=seed,
        encoding=encoding,
    )
    wording = page_wording(
        template,
        title=title,
        text_name=text_name,
        context_name=context_name,
        with_context=made.with_context,
        language=language,
        completion_url=completion_url,
    )
    token = unknown_token(item.text for item in made.items)
    if token is not None:
        wording = with_unknown(wording, token, text_name=text_name)
        note = f"some texts have {token}: raters are asked to read it as a rare word that suits the place"
        made = replace(made, notes=(*made.notes, note))
    settings = Study(
        **vars(wording),
        ratings_wanted=ratings,
        items_per_rater=items_per_rater,
        checks_per_rater=checks,
        days=days,
        url=addresses.if_not_default,
        address_share=address_share,
        proof_after=proof_after,
    )
    asked = checks_for(
        settings,
        [item.id for item in made.items],
        contexts=[item.context for item in made.items if item.context is not None],
        path=checks_file,
        encoding=encoding,
    )
    tokens = Store.create(Path(study), settings, [*made.items, *asked], n_raters=raters)
    with personal_links(study, tokens.raters, addresses, links) as personal:
        _print_study(study, settings, made, n_checks=len(asked))
        _print_links(tokens, addresses, personal)
        _print_next_steps(study, addresses)


def _check_targets(study: str, links: str | None, read: list[str], *, raters: int) -> None:
    """Refuse output files that cannot be created, before reading the texts."""
    from textassay.cli.outputs import STANDARD_OUTPUT, check_writable
    from textassay.corpus.printable import printable
    from textassay.errors import InputError
    from textassay.survey.links import check_new

    if STANDARD_OUTPUT in (study, links):
        raise InputError("a study and its links cannot go to standard output (-); wanted a new file")
    if links is not None and not raters:
        raise InputError("--links without --raters: there are no personal links to write; wanted both")
    if os.path.lexists(study):
        raise InputError(f"{printable(study)}: exists and is not overwritten; wanted a new file for the study")
    check_new(links)
    check_writable([study, links], inputs=read)


def raters_needed(study: "Study", n_items: int) -> int:
    """The number of raters needed if each answers everything; nobody rates an item twice."""
    each = min(study.items_per_rater, n_items)
    return max(study.ratings_wanted, math.ceil(n_items * study.ratings_wanted / each))


def _print_study(path: str, study: "Study", made: "StudyItems", *, n_checks: int) -> None:
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import many, show_facts, show_notes

    console = output_console()
    n_items, counts = len(made.items), Counter(item.source for item in made.items)
    sources = ", ".join(f"{count:,} {source}" for source, count in counts.items())
    each = many(min(study.items_per_rater, n_items), "item")
    if study.checks_per_rater:
        each += f" and {many(study.checks_per_rater, 'attention check')} of {n_checks}"
    facts = [
        ("study", path),
        ("page", study.title),
        ("items", f"{n_items:,} ({sources}), {'each with its context' if made.with_context else 'without contexts'}"),
        ("scale", ", ".join(f"{choice.value} {choice.label}" for choice in study.choices)),
        ("wanted", f"{many(n_items * study.ratings_wanted, 'rating')}, {study.ratings_wanted:,} per item"),
        ("raters", f"{raters_needed(study, n_items):,} needed; each rates {each}"),
        ("links", _link_time(study)),
    ]
    show_facts(console, facts)
    show_notes(console, made.notes)


def _link_time(study: "Study") -> str:
    """How long links work. The admin link has no limit: the ratings are read after the study."""
    from textassay.cli.survey.screen import many

    if not study.days:
        return "work without a time limit"
    return f"of raters work for {many(study.days, 'day')}; the admin link works without a time limit"


def _print_links(tokens: "Links", addresses: "Addresses", personal: Sequence[tuple[str, str]]) -> None:
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.links import show_personal
    from textassay.cli.survey.screen import show_paragraph, show_unwrapped

    console = output_console()
    console.print()
    show_paragraph(console, "shared link, for all raters:")
    show_unwrapped(console, addresses.join(tokens.join))
    show_paragraph(console, "admin link, to watch the progress (for you only):")
    show_unwrapped(console, addresses.admin(tokens.admin))
    show_personal(console, personal)


def _print_next_steps(path: str, addresses: "Addresses") -> None:
    from textassay.cli.outputs import output_console
    from textassay.cli.survey.screen import command, show_paragraph, show_unwrapped
    from textassay.survey.links import DEFAULT_URL

    console = output_console()
    console.print()
    if not addresses.if_not_default:
        show_paragraph(
            console,
            f"To serve the page at another address, replace {DEFAULT_URL} in these links, or create the study with "
            "--url.",
        )
    show_paragraph(
        console, "Save these links: only their hashes are stored. To make a personal link for one more rater:"
    )
    known = ["--url", addresses.if_not_default] if addresses.if_not_default else []
    show_unwrapped(console, command("survey", "links", path, "--raters", "1", *known))
    show_paragraph(console, "Next:")
    show_unwrapped(console, command("survey", "serve", path, *addresses.serve_options))
