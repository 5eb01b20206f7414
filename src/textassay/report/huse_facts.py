"""What a HUSE study measured, its outcome in a sentence, and what stands behind its settings."""

from collections.abc import Iterable

from textassay.corpus.counting import many
from textassay.corpus.printable import shortened
from textassay.corpus.rating_rows import raters_are_known
from textassay.metrics.declare import all_metrics
from textassay.metrics.papers import citation
from textassay.report.cells import level_text
from textassay.report.huse_words import active_raters, scale_text
from textassay.report.items_facts import span
from textassay.report.standing import WORDS
from textassay.studies.judged import Judged, JudgedItem

_FIELDS = {"resamples": "Resamples", "seed": "Seed", "v": "Version"}
_TIES = {
    "released": "all items as far off as the k-th nearest vote as well, and an even vote names people",
    "exact": "all items exactly as far off as the k-th nearest vote as well, and an even vote names people",
    "fair": "items as far off as the k-th nearest share the places that are left, and an even vote is half a mistake",
}
_SENTENCES = {
    "same": "{model} could not be told from people by ratings and probabilities.",
    "differs": "{model} can be told from people.",
    "collapsed": "{model} has collapsed.",
    "untested": "{model} was not tested.",
}


def level_of(found: Judged) -> str:
    """A key of `standing.WORDS`."""
    return found.verdict.level if found.verdict.level in WORDS else "untested"


def outcome_sentence(found: Judged) -> str:
    """The verdict in a sentence, without its reasons."""
    said = _SENTENCES[level_of(found)].format(model=model_name(found))
    return f"{said[0].upper()}{said[1:]}" if said.startswith("the model") else said


def model_name(found: Judged) -> str:
    """What the source that is not human is called in a sentence."""
    return "the model" if found.rated.model == "model" else shortened(found.rated.model, 60)


def whole_texts(found: Judged) -> bool:
    """True when votes go by the log-probability of the whole text in place of that a token."""
    return any(result.options.get("per") == "text" for result in found.results[:1])


def log_prob_of(judged: JudgedItem, *, whole: bool) -> float:
    """The log-probability that votes go by."""
    return judged.log_prob * judged.item.length if whole else judged.log_prob


def chosen_k(found: Judged) -> int | None:
    """The number of neighbours of the first score, None where it has no such option."""
    known = [result.options.get("k") for result in found.results]
    return next((k for k in known if isinstance(k, int)), None)


def tie_rule(found: Judged) -> str:
    """What happens to ties, in words; empty where it is not known."""
    variants = dict.fromkeys(str(result.options.get("variant", "")) for result in found.results)
    return next((_TIES[name] for name in variants if name in _TIES), "")


def huse_facts(found: Judged) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    k = chosen_k(found)
    variants = dict.fromkeys(str(r.options["variant"]) for r in found.results if "variant" in r.options)
    terms = [
        ("Items", f"{len(rated) - model:,} human, {model:,} of the model"),
        ("Ratings", _ratings(found)),
        ("Ratings an item", span(judged.n_ratings for judged in found.items) if rated.single else ""),
        ("Scale", shortened(scale_text(found), 80)),
        ("Neighbours", f"k = {k}" if k else ""),
        ("Ties", ", ".join(shortened(name, 30) for name in variants)),
        ("Interval level", level_text(found.level)),
        *((term, _named(field, (result.signature for result in found.results))) for field, term in _FIELDS.items()),
    ]
    return [(term, value) for term, value in terms if value]


def _ratings(found: Judged) -> str:
    """How many ratings were measured, and by how many raters where that is known."""
    rated = found.rated
    if not rated.single:
        return "one mean an item"
    by = f" by {many(len(active_raters(found)), 'rater')}" if raters_are_known(rated) else ""
    return f"{len(rated.ratings):,}{by}"


def citations(found: Judged) -> list[str]:
    """The papers of the metrics, each once; a metric that is not known here is left out."""
    known = all_metrics()
    names = dict.fromkeys(known[result.metric].paper for result in found.results if result.metric in known)
    return [citation(name) for name in names]


def untested_reasons(found: Judged) -> dict[str, str]:
    """Why a metric has no p-value, by its name."""
    known = all_metrics()
    return {
        result.metric: known[result.metric].why_no_test or ""
        for result in found.results
        if result.metric in known and result.p_value is None
    }


def _named(field: str, signatures: Iterable[str]) -> str:
    """The values of a signature field, each once."""
    start = f"{field}:"
    values = {part[len(start) :]: None for text in signatures for part in text.split("|") if part.startswith(start)}
    return ", ".join(shortened(value, 60) for value in list(values)[:4])
