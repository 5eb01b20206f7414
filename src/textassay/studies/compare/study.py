"""Compare: is each candidate distributed like the reference, and if not, how does it differ?"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from textassay.corpus.files.reading import unused_name
from textassay.corpus.markdown import stripped
from textassay.corpus.readers import Grouping, as_sample, candidate_systems, column_name, named_candidates
from textassay.corpus.sample import Sample
from textassay.corpus.sizes import Cut
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.base import Encoder, default_is_installed
from textassay.encoders.remembered import Remembered, show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError
from textassay.inference.plan import Plan, Progress, shows_progress, told
from textassay.inference.record_design import check_design, record_design
from textassay.metrics.measurable import Choice, answerable, choose
from textassay.metrics.registry import listed, metric_names, parse_requests
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.compare.measuring.measurer import Measurer
from textassay.studies.compare.of_digests import are_digests, as_digest, compare_digests
from textassay.studies.compare.result import Comparison
from textassay.studies.compare.run import Run
from textassay.studies.compare.verdict import Sight
from textassay.studies.gate.baseline import is_results
from textassay.studies.gate.rules import GateRules
from textassay.studies.gate.splits import with_splits
from textassay.studies.gate.study import gated, read_contaminant

# The exchanges that a quick run draws first; the overall test adds more where its p-value is close to a limit.
QUICK_EXCHANGES = 199


@shows_progress
def compare(
    reference: Any,
    candidates: Any = None,
    *,
    by: str | None = None,
    reference_system: str | None = None,
    metrics: str | Sequence[str] = (),
    families: str | Sequence[str] = (),
    tokenizer: str = "words",
    lowercase: bool = False,
    strip: str | None = None,
    encoder: str | Encoder | None = None,
    train: Any = None,
    pair: Grouping | bool = None,
    group: Grouping = None,
    size: str | int = "match",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    explain: bool | None = None,
    quick: bool = False,
    engine: str | Engine | None = None,
    gate: GateRules | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare candidates with a reference: how far apart, in quality and in diversity, and what differs.

    Parameters
    ----------
    reference
        Real texts: a list of strings, a path, a `Sample`, a column, a data frame, an Arrow table or a dataset; a pair
        of a path and a field; or a digest.
    candidates
        One such thing, a list of paths, or a mapping of names to texts. May be left out with `reference_system`.
    by
        The field of the system of a text (`"model"` in files of known tools): each system is a candidate.
    reference_system
        The system that is the reference; all other systems of both arguments are candidates.
    metrics
        Metrics as on the command line (`"bleu:n=4,cnd"` or `["bleu:n=4", "cnd"]`); by default all of the families
        `ngram` and `embedding` that can be measured.
    families
        Families of metrics: `ngram`, `embedding`, `learned`.
    tokenizer
        What a word is: `words`, `whitespace`, `treebank`, `plain`, `char`, or the file of a tokenizer.
    lowercase
        Whether texts are lower-cased first.
    strip
        `"markdown"` removes Markdown and keeps the words.
    encoder
        The sentence encoder (`"minilm"`, `"static"`, `"lsa"`, ...), or an object with `name`, `dimension` and `encode`.
    train
        The training texts of the candidates, to count copies.
    pair
        The field that names the prompt, document or author of each text, where samples have the same ones: only groups
        that all samples have are used. By default the prompts of the records, or their ids, if samples have the same
        ones; False treats all texts as independent. Also a column or list with the value of each text, where all
        samples have their texts in the same rows.
    group
        The same where samples have different ones: tests exchange labels within a group that both samples have, and
        other groups as a whole. By default prompts with several texts. Also a column or list, as for `pair`. Samples
        made with `Sample.of(texts, groups=...)` keep their groups.
    size
        `"match"` estimates with as many texts as the smallest sample has, `"all"` with all, a number with so many.
    level
        The confidence level.
    n_resamples
        Exchanges of the permutation tests; 0 gives estimates only.
    seed
        The seed of all random numbers; the same texts, options and seed give the same numbers.
    explain
        Whether to add the baseline of real text, differences in format, phrases and topics; by default unless
        `n_resamples` is 0.
    quick
        The verdict in the shortest time: at most 199 exchanges at first, static vectors if the extra `embed` is
        installed, otherwise none, only the n-gram metrics, and no second overall test without markup. Metrics and an
        encoder that are given are used.
    engine
        Where the work runs: `local` (the default), or an `Engine`.
    gate
        The rules that a candidate must keep to pass; the decision is the `gate` of what is returned.
    progress
        True shows a progress bar, in a terminal or a notebook; or an object that is told about the progress.

    Returns
    -------
    Comparison
        Results by candidate and metric (`found["a"]["cnd"]`), verdicts, and what differs.

    Examples
    --------
    >>> real = [f"the {pet} sat at {n}" for pet in ("cat", "dog") for n in range(30)]
    >>> found = compare(real, {"model": real[:3] * 20}, metrics="distinct", n_resamples=99)
    >>> found["model"].verdict.decision
    'differs'
    """
    check_design(pair, group)
    if quick:
        n_resamples = min(n_resamples, QUICK_EXCHANGES)
        families = families if metrics or families else "ngram"
        encoder = "static" if encoder is None and default_is_installed() else encoder
    words = get_tokenizer(tokenizer, lowercase=lowercase)
    grouping = group if isinstance(pair, bool | None) else pair
    reference, given = _by_system(reference, candidates, by=by, reference_system=reference_system, group=grouping)
    rules = (gate or GateRules()).checked(Plan(level, n_resamples, seed))
    if are_digests(reference, given):
        unusable = {"pair": pair, "group": group, "encoder": encoder, "train": train, "families": families or None}
        plan = Plan(level, n_resamples, seed)
        return _of_digests(reference, given, listed(metrics), rules, unusable, plan=plan, engine=engine)
    given, against = _with_baseline(given, rules)
    plan = Plan(level, n_resamples, seed).checked().enough_for(len(given))
    workers, progress = get_engine(engine), told(progress)
    choice = _chosen(listed(metrics), listed(families), encoder, trained=train is not None, tested=n_resamples > 0)
    real, samples = _read(reference, given, grouping, strip)
    design = record_design(real, samples, pair=_field(pair, "pair"), group=_field(group, "group"))
    baseline = n_resamples > 0 if explain is None else explain
    cut = design.cut(size=size, seed=seed, baseline=baseline)
    seen = _seen(choice.encoder, real, samples, cut, progress)
    settings = ViewSettings(words, seen, strip)
    training = None if train is None else Material(stripped(as_sample(train, "train"), strip), settings)
    measurer = Measurer(choice.requests, settings, cut, training, plan, progress, baseline)
    run = Run(
        measurer,
        design=design,
        asked_resamples=n_resamples,
        notes=(*design.notes, *choice.notes, *_notes(seen, plan, quick=quick)),
        sight=_sight(seen),
        quick=quick,
        rules=rules,
        baseline=against,
    )
    contaminant = read_contaminant(rules.contaminant, real, strip)
    found = gated(
        run.outcome(workers),
        rules,
        measurer.tested,
        plan=plan,
        engine=workers,
        contaminant=contaminant,
        baseline=against,
        explained=baseline,
    )
    exchanges = min(n_resamples, QUICK_EXCHANGES)
    alike = partial(
        compare, tokenizer=tokenizer, lowercase=lowercase, level=level, n_resamples=exchanges, engine=workers
    )
    return with_splits(
        found, rules, design, alike, contaminant=contaminant, seed=seed, has_vectors=seen is not None, progress=progress
    )


def _with_baseline(given: Mapping[str, Any], rules: GateRules) -> tuple[Mapping[str, Any], str | None]:
    """The candidates and the texts of the gate's baseline, and what these are called; None if it has no texts."""
    if rules.no_worse_than is None or is_results(rules.no_worse_than):
        return given, None
    name = unused_name("baseline", given)
    return {**given, name: rules.no_worse_than}, name


def _chosen(
    metrics: Sequence[str], families: Sequence[str], encoder: str | Encoder | None, *, trained: bool, tested: bool
) -> Choice:
    """The metrics and the encoder; whatever the metrics read, the overall test uses an encoder that was asked for."""
    named = metric_names(metrics)
    choice = choose(parse_requests(metrics, families=families), encoder, named=named, families=families)
    requests, missing = answerable(choice.requests, named, trained=trained)
    return Choice(requests, encoder if encoder is not None and tested else choice.encoder, (*choice.notes, *missing))


def _read(
    reference: Any, given: Mapping[str, Any], grouping: Grouping, strip: str | None
) -> tuple[Sample, dict[str, Sample]]:
    """The reference and the candidates, read."""
    samples = {name: stripped(as_sample(texts, name, group=grouping), strip) for name, texts in given.items()}
    called = column_name(reference, "reference")
    return stripped(as_sample(reference, "reference" if called in given else called, group=grouping), strip), samples


def _seen(
    encoder: str | Encoder | None, real: Sample, samples: Mapping[str, Sample], cut: Cut, progress: Progress
) -> Remembered | None:
    """The encoder with the vectors of all texts that are used; None without an encoder."""
    if encoder is None:
        return None
    start = partial(progress.start, "encoding")
    return show_all(encoder, reference=real, candidates=samples, used=cut.everything, start=start, step=progress.step)


def _field(grouping: Any, default: str) -> Any:
    """The name of a field, or of a column with the groups."""
    return grouping if isinstance(grouping, str | bool | None) else column_name(grouping, default)


def _of_digests(
    reference: Any,
    given: Mapping[str, Any],
    metrics: Sequence[str],
    rules: GateRules,
    unusable: dict[str, Any],
    *,
    plan: Plan,
    engine: str | Engine | None,
) -> Comparison:
    """The comparison of digests; `unusable` are arguments that need the texts."""
    unusable |= {"max_separable": rules.margin, "no_worse_than": rules.no_worse_than, "aa": rules.aa or None}
    unusable |= {"fail_on": next((name for name in rules.fail_on if name in ("copied", "format")), None)}
    counted = compare_digests(
        as_digest(reference),
        {name: as_digest(each, name) for name, each in given.items()},
        metrics=metrics,
        plan=plan,
        engine=get_engine(engine, anywhere=True),
        unusable=[name for name, value in unusable.items() if value is not None],
    )
    return gated(counted, rules, None, plan=plan, engine=get_engine(None))


def _notes(seen: Remembered | None, plan: Plan, *, quick: bool) -> Iterator[str]:
    yield from seen.notes if seen else ()
    if quick:
        vectors = "without vectors" if seen is None else f"with vectors by {seen.name.partition('/')[0]}"
        begin = f"{plan.n_resamples:,} exchanges at first" if plan.n_resamples else "no exchanges"
        yield (
            f"quick run: the overall test {vectors}, {begin}, and not again without markup; p-values are coarser than"
            " in a full run"
        )


def _by_system(
    reference: Any, candidates: Any, *, by: str | None, reference_system: str | None, group: Grouping
) -> tuple[Any, Mapping[str, Any]]:
    """The reference and the candidates by name; their systems, if these are asked for. There is a candidate."""
    if reference_system is None:
        given = named_candidates(candidates)
        given = given if by is None else candidate_systems(given, by=by, group=group)[1]
    else:
        given = {} if candidates is None else named_candidates(candidates)
        sources = {unused_name("reference", given): reference, **given}
        reference, given = candidate_systems(sources, by=by, reference=reference_system, group=group)
    if not given:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    return reference, given


def _sight(seen: Remembered | None) -> Sight:
    """What a verdict may claim about vectors of this encoder."""
    if seen is None:
        return Sight()
    return Sight(seen.sees, reliable=seen.reads_these_texts and seen.reads_whole_texts)
