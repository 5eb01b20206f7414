"""The document of a study of answers: how varied each system is, and its most repetitive prompts with their texts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from textassay.corpus.item_set import Item as PromptItem
from textassay.corpus.printable import listed, many, on_one_line, shortened
from textassay.corpus.sample import FEW_LOST
from textassay.document.blocks import (
    Badge,
    Block,
    Cell,
    Document,
    Entry,
    Facts,
    Head,
    Item,
    Items,
    Legend,
    Notes,
    Quote,
    Row,
    Section,
    Side,
    Summary,
    SummaryRow,
    Table,
    Text,
    sections_of,
)
from textassay.document.plot import Bars, Plot, Scale
from textassay.document.results import (
    COMMON_SETTINGS,
    interval_legend,
    metric_guide,
    no_number,
    result_cell,
    setting_pairs,
    signature_section,
)
from textassay.document.words import cited_p, number, sentence, two_decimals
from textassay.inference.p_values import is_significant
from textassay.studies.answers.result import KINDS, Answers, PromptAnswers, SystemAnswers, mean_n, usual_n
from textassay.studies.answers.verdict import ranked, repetitiveness
from textassay.studies.contests import contest_table, paired
from textassay.studies.sentences import sentence_of

# Prompts listed with their texts, and the systems and texts of each; the others are counted.
_MOST_PROMPTS, _MOST_SYSTEMS, _MOST_TEXTS = 100, 6, 5
_LONGEST, _LONGEST_NAME = 300, 80
# Metrics of the summary; the table has all of them.
_MOST_COLUMNS = 2


def document(found: Answers) -> Document:
    """What a study of answers states."""
    return Document(
        kind="answers",
        title=f"Answers to the prompts of {shortened(found.prompts.name, 60)}",
        summary=_summary(found),
        sections=sections_of(
            Section("classes", "The classes of the file", (Notes(tuple(_file_classes(found))),), "screen")
            if any(column.file_classes for column in found.systems)
            else None,
            Section("prompts", "The most repetitive prompts", _prompts(found), "screen"),
            Section("table", "All metrics", _tables(found), "table"),
            Section("each", "Prompt by prompt", _each(found), "table"),
            Section("reading", "How to read this", _reading(found), "why"),
            Section("settings", "Settings", (Facts(setting_pairs(found.settings, _SETTINGS)),)),
            signature_section(_signed(found)),
        ),
        names=found.names,
        level=found.level,
        notes=found.notes,
    )


_SETTINGS = {"tokenizer": "Tokenizer", "encoder": "Encoder", "interval": "Intervals", "test": "Test"} | COMMON_SETTINGS


def _summary(found: Answers) -> Summary:
    columns = ranked(found.systems)
    return Summary(
        question="How different are several answers to one prompt?",
        context=f"{_measured(found)}, without references",
        sentence=_sentence(columns, _ties(found, columns)),
        columns=("one answer", *found.labels[:_MOST_COLUMNS]),
        rows=tuple(_row(found, column, index) for index, column in enumerate(columns, 1)),
        ties=tuple(_ties(found, columns).values()),
        caveats=tuple(_caveats(found)),
        hints=("All metrics: --table", "How to read this: --why", "Report: --report FILE.html"),
        picture=_kinds_plot(columns, found.kind_words),
        noun="system",
    )


def _measured(found: Answers) -> str:
    prompts = {prompt.id for column in found.systems for prompt in column.prompts}
    sizes = {usual_n(column) for column in found.systems}
    n = sizes.pop() if len(sizes) == 1 else None
    each = f"{n:,} answers each" if n else "several answers each"
    return f"{many(len(found.systems), 'system')} on {many(len(prompts), 'prompt')} with {each}"


def _sentence(columns: Sequence[SystemAnswers], ties: Mapping[str, str]) -> str:
    """The system that collapses most, then how varied the answers are.

    Without one that collapses, it is the first of the ranking, which is the most varied if it is tied with none.
    """
    worst = max(columns, key=lambda column: column.count("collapsed") / max(len(column.prompts), 1))
    named = f"{shortened(worst.name, 40)}: " if len(columns) > 1 else ""
    if len(columns) > 1 and not worst.count("collapsed"):
        worst = columns[0]
        named = f"{shortened(worst.name, 40)}{'' if worst.name in ties else ' is the most varied'}: "
    first, *rest = map(sentence_of, worst.verdict.findings)
    mean = [sentence_of(finding) for finding in worst.verdict.findings[1:] if finding.kind == "per prompt"]
    # A name stays as it is written.
    begin = f"{named}{first}." if named else sentence(first)
    return " ".join([begin, *map(sentence, mean if rest else [])])


def _row(found: Answers, column: SystemAnswers, rank: int) -> SummaryRow:
    index = found.names.index(column.name)
    collapsed, total = column.count("collapsed"), len(column.prompts)
    cells = (
        Cell(f"{collapsed:,} of {total:,}", collapsed / total if total else None),
        *(result_cell(result, level=found.level) for result in column.results[:_MOST_COLUMNS]),
    )
    several = len(found.systems) > 1
    return SummaryRow(
        column.name,
        index,
        column.verdict.decision,
        rank=rank if several else None,
        cells=cells,
        why=tuple(_why(column)) if several else (),
    )


def _why(column: SystemAnswers) -> Iterator[str]:
    """The findings, a comparison with another system before means."""
    findings = sorted(column.verdict.findings, key=lambda finding: _FIRST.index(finding.kind))
    return (sentence(sentence_of(finding)) for finding in findings[:3])


# The kinds of findings in the order of a summary.
_FIRST = ("one answer to prompts", "less varied", "one meaning", "one wording", "per prompt", "no prompt twice")


def _ties(found: Answers, columns: Sequence[SystemAnswers]) -> dict[str, str]:
    """The systems that are not told apart from the next one in the ranking, and a sentence on each."""
    label, ties = found.labels[0], {}
    known = {
        frozenset((p.contest.first, p.contest.second)): p
        for p in paired(found, found.contests)
        if p.contest.label == label
    }
    for first, second in pairwise(columns):
        pair = known.get(frozenset((first.name, second.name)))
        if pair is not None and not is_significant(pair.adjusted_p, found.level):
            names = f"{shortened(first.name, 40)} and {shortened(second.name, 40)}"
            ties[first.name] = f"{names}: no difference in {label} found ({cited_p(pair.adjusted_p)})"
    return ties


def _caveats(found: Answers) -> Iterator[str]:
    """What may make the answer wrong."""
    lost = dict(found.prompts.lost)
    total = sum(lost.values()) + sum(len(texts) for item in found.prompts.items for texts in item.candidates.values())
    if sum(lost.values()) > FEW_LOST * total:
        reasons = [many(count, *reason.split("|", 1)) for reason, count in lost.items()]
        yield f"Left out: {listed(reasons)}, of {total:,} records."
    single = [item.id for item in found.prompts.items if any(len(texts) == 1 for texts in item.candidates.values())]
    if single:
        yield f"{many(len(single), 'prompt')} with a single answer of a system: not measured."
    sizes = {prompt.n for column in found.systems for prompt in column.prompts}
    if len(sizes) > 1:
        yield (
            f"Prompts have {min(sizes):,} to {max(sizes):,} answers: numbers of meanings and of wordings grow with the"
            " number of answers."
        )


def _file_classes(found: Answers) -> Iterator[str]:
    """The classes of the file and ours."""
    for column in found.systems:
        classes = column.file_classes
        if classes is not None:
            yield (
                f"{shortened(column.name, 40)}: {two_decimals(classes.file)} classes per prompt in the file (the"
                f" “distinct” of NoveltyBench is one less: {two_decimals(classes.file - 1)}),"
                f" {two_decimals(classes.ours)} here; mean adjusted Rand index {two_decimals(classes.rand)} over"
                f" {many(classes.n, 'prompt')} (one class for all answers: {two_decimals(classes.alone)})"
            )


def _kinds_plot(columns: Sequence[SystemAnswers], kinds: Mapping[str, str]) -> Plot:
    """The share of prompts of each kind, one bar per system."""
    shares = [[column.count(kind) / max(len(column.prompts), 1) for kind in kinds] for column in columns]
    words = [
        f"{shortened(column.name, 40)}: "
        + ", ".join(f"{column.count(kind)} {words}" for kind, words in kinds.items() if column.count(kind))
        for column in columns
    ]
    return Plot(
        "How alike the answers to one prompt are",
        Scale("share of prompts", limits=(0.0, 1.0), percent=True),
        Scale(names=tuple(shortened(column.name, 40) for column in columns)),
        (Bars(tuple(map(tuple, shares)), tones=tuple(kinds), names=tuple(kinds.values())),),
        summary="; ".join(words),
    )


def _prompts(found: Answers) -> tuple[Block, ...]:
    """The prompts with their texts, in the order of the system that repeats itself most there."""
    worst: dict[str, tuple[int, int]] = {}
    for column in found.systems:
        for place, index in enumerate(repetitiveness(column)):
            answered = column.prompts[index]
            key = (KINDS.index(answered.kind), place)
            worst[answered.id] = min(worst.get(answered.id, key), key)
    order = sorted(worst, key=lambda id_: worst[id_])
    items = {item.id: item for item in found.prompts.items}
    shown = tuple(_item(found, items[id_], KINDS[worst[id_][0]]) for id_ in order[:_MOST_PROMPTS])
    return (Items(shown, len(order)),) if shown else ()


def _item(found: Answers, item: PromptItem, kind: str) -> Item:
    """One prompt with the answers of each system."""
    prompt = on_one_line(item.prompt or item.id)
    by_system = ((column, next((p for p in column.prompts if p.id == item.id), None)) for column in found.systems)
    sides = [_side(found, column, answered, item.candidates[column.name]) for column, answered in by_system if answered]
    return Item(
        shortened(prompt, _LONGEST_NAME),
        tuple(sides[:_MOST_SYSTEMS]),
        (Badge(found.kind_words[kind], kind),),
        prompt=shortened(item.prompt or "", 2_000) if len(prompt) > _LONGEST_NAME else "",
        lines=(f"prompt {shortened(item.id, 60)}",) if item.prompt not in (None, item.id) else (),
    )


def _side(found: Answers, column: SystemAnswers, answers: PromptAnswers, texts: Sequence[str]) -> Side:
    """The different texts of one system with how often each comes, the most frequent first."""
    counts = Counter(on_one_line(text).strip() for text in texts[: answers.n])
    quotes = tuple(
        Quote(shortened(text, _LONGEST) or "(empty)", tags=(f"{count:,} ×",))
        for text, count in counts.most_common(_MOST_TEXTS)
    )
    values = zip(found.labels[:2], answers.values, strict=False)
    line = ", ".join(f"{label} {_count(value)}" for label, value in values)
    return Side(
        column.name,
        quotes,
        found.names.index(column.name),
        badge=Badge(found.kind_words[answers.kind], answers.kind) if len(found.systems) > 1 else None,
        line=f"{many(answers.n, 'answer')}: {line}",
        total=len(counts),
    )


def _count(value: float) -> str:
    """A number of meanings or wordings, which is whole, or the value of another metric."""
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def _tables(found: Answers) -> tuple[Block, ...]:
    rows = []
    for index, label in enumerate(found.labels):
        results = [column.results[index] for column in found.systems]
        notes = tuple(filter(None, map(no_number, results)))
        rows.append(Row((Cell(label), *(result_cell(result, level=found.level) for result in results)), notes=notes))
    for kind, words in found.kind_words.items():
        cells = [Cell(f"{c.count(kind):,} of {len(c.prompts):,}", c.count(kind)) for c in found.systems]
        rows.append(Row((Cell(words), *cells), section="prompts"))
    heads = (Head("mean over prompts"), *(Head(name, numeric=True, candidate=i) for i, name in enumerate(found.names)))
    every = [result for column in found.systems for result in column.results]
    table = Table(heads, tuple(rows), footnotes=tuple(interval_legend(every, found.level, of="the mean over prompts")))
    contests = contest_table(found, found.contests, title="Every two systems on the prompts that both answered")
    return (table, *([contests] if contests else []))


def _each(found: Answers) -> tuple[Block, ...]:
    """One row per prompt: how many meanings or wordings each system has there."""
    values = {(column.name, prompt.id): prompt for column in found.systems for prompt in column.prompts}
    ids = dict.fromkeys(prompt.id for column in found.systems for prompt in column.prompts)
    names = {item.id: on_one_line(item.prompt or item.id) for item in found.prompts.items}
    rows = []
    for id_ in list(ids)[:_MOST_PROMPTS]:
        cells = [_prompt_cell(values.get((name, id_)), found.kind_words) for name in found.names]
        rows.append(Row((Cell(shortened(names[id_], 60), quoted=True), *cells)))
    heads = (Head("prompt"), *(Head(name, numeric=True, candidate=i) for i, name in enumerate(found.names)))
    total = len(ids) if len(ids) > len(rows) else None
    return (Table(heads, tuple(rows), caption=f"{found.labels[0]} of each prompt", total=total),)


def _prompt_cell(prompt: PromptAnswers | None, kinds: Mapping[str, str]) -> Cell:
    if prompt is None:
        return Cell("–")
    return Cell(_count(prompt.values[0]), prompt.values[0], small=(kinds[prompt.kind],))


def _reading(found: Answers) -> tuple[Block, ...]:
    kinds = Legend(
        tuple(Entry("", _READING[words], badge=Badge(words, kind)) for kind, words in found.kind_words.items())
    )
    every = [result for column in found.systems for result in column.results]
    sizes = ", ".join(f"{shortened(c.name, 40)} {number(mean_n(c))}" for c in found.systems)
    return (
        Text((*_PARAGRAPHS, f"Answers per prompt on average: {sizes}.")),
        kinds,
        metric_guide(every, target="what is wanted"),
    )


def _signed(found: Answers) -> Iterator[tuple[str, str]]:
    for column in found.systems:
        for label, result in zip(found.labels, column.results, strict=True):
            yield f"{shortened(column.name, 60)}: {label}", result.signature


_READING = {
    "one answer": "all answers are the same, word for word",
    "one wording": "all answers are near duplicates of each other",
    "one meaning": "all answers are in one cluster of sentence vectors",
    "several meanings": "the answers are in several clusters of sentence vectors",
    "several wordings": "not all answers are near duplicates of each other; meanings were not measured",
}
_PARAGRAPHS = (
    "Every metric is measured on the answers to one prompt; the table has the mean over prompts. Intervals are for"
    " other prompts of the same kind. Two systems are compared on the prompts that both answered, with equally many"
    " answers: p-values exchange the signs of the differences and are adjusted for all of them (Holm).",
    "More is not always better: a question with one right answer has one meaning. Counts of meanings and wordings grow"
    " with the number of answers.",
)
