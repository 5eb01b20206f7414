"""Which verdict does each of some fifty situations get, and is every sentence true?

`python benchmarks/calibration/situations.py` compares a candidate with a reference in situations whose truth is known,
once as they are and once with candidate and reference swapped, and writes docs/situations.md with the decision and all
sentences of every verdict. It checks that the decision is one that the truth allows, that no verdict contradicts
itself, and that no swap claims that each of two samples is less diverse (or more diverse) than the other; it ends with
an error otherwise. A null situation that is called different is no error but a false alarm, which the page counts.

Seeds are fixed. Verdicts are kept in .benchmarks/situations.jsonl with a digest of the texts, so that a run that was
stopped goes on where it was; `--fresh` begins anew, `--only TEXT` measures the situations whose names contain the text
and prints them. `--smoke` takes a few situations with few texts, and prints the page.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from answers_of_models import BASE, MARKED, REFUSAL, answers, reasoned, without_bold
from answers_of_models import shortened as cut_short
from design_texts import captions, generated, images, lines, news, same_groups, ungrouped, with_prefix
from threadpoolctl import threadpool_limits

from textassay import Sample, compare
from textassay.engines.local import LocalEngine
from textassay.models.ngrams.ngram import NgramModel, train
from textassay.studies.sentences import sentence_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".benchmarks" / "situations.jsonl"
PAGE = ROOT / "docs" / "situations.md"
N, RESAMPLES, SEED = 500, 199, 5
SMOKE = 100
ENCODER = "minilm:int8"

SAME, FOUND, COPIED = ("same",), ("differs", "collapsed"), ("copied",)
# Findings on how a candidate differs.
HOW = {"separable share", "less diverse", "more diverse", "uncovered", "unlike the reference", "repeats"}
UNKNOWN = ("same", "untested", "differs", "collapsed", "copied")

Texts = list[str]
Rng = np.random.Generator
Draw = Callable[[Rng, int], tuple[Any, Any]]


@dataclass(frozen=True)
class Situation:
    """Two samples (candidate, reference) whose relation is known; `allowed` are the decisions that fit the truth."""

    name: str
    what: str
    draw: Draw
    allowed: tuple[str, ...] = FOUND
    size: int = N
    by: str | None = None
    strip: str | None = None

    @property
    def is_null(self) -> bool:
        """Whether both samples come from one source."""
        return set(self.allowed) <= {"same", "untested"}

    def is_false_alarm(self, findings: Sequence["Finding"]) -> bool:
        return self.is_null and any(finding.decision in FOUND for finding in findings)


def take(source: Any, rng: Rng, size: int) -> Texts:
    return [str(text) for text in source[rng.choice(len(source), size, replace=False)]]


def two(source: Callable[[], Any]) -> Draw:
    """Two samples of one source."""

    def draw(rng: Rng, n: int) -> tuple[Texts, Texts]:
        texts = take(source(), rng, 2 * n)
        return texts[:n], texts[n:]

    return draw


def changed(change: Callable[[Texts, Rng], Texts], source: Callable[[], Any] = captions) -> Draw:
    """Two samples of one source, of which the candidate is changed."""

    def draw(rng: Rng, n: int) -> tuple[Texts, Texts]:
        candidate, reference = two(source)(rng, n)
        return change(candidate, rng), reference

    return draw


def each(change: Callable[[str], str]) -> Callable[[Texts, Rng], Texts]:
    return lambda texts, _: [change(text) for text in texts]


def mixed(share: float, file: str) -> Draw:
    """Captions of which a share is replaced with texts of another file."""
    return changed(lambda texts, rng: replaced(texts, take(lines(file), rng, round(share * len(texts))), rng))


def replaced(texts: Texts, others: Texts, rng: Rng) -> Texts:
    """The texts with others in random places."""
    found = list(texts)
    for place, other in zip(rng.choice(len(texts), len(others), replace=False), others, strict=True):
        found[place] = other
    return found


def copies(share: float) -> Draw:
    """Captions of which a share is in the reference word for word."""

    def draw(rng: Rng, n: int) -> tuple[Texts, Texts]:
        candidate, reference = two(captions)(rng, n)
        copied = [reference[place] for place in rng.choice(n, round(share * n), replace=False)]
        return replaced(candidate, copied, rng), reference

    return draw


def files(candidate: str, reference: str) -> Draw:
    def draw(rng: Rng, n: int) -> tuple[Texts, Texts]:
        return take(lines(candidate), rng, n), take(lines(reference), rng, n)

    return draw


def fewer(n_candidates: int, draw: Draw) -> Draw:
    """The same draw with fewer candidates."""

    def cut(rng: Rng, n: int) -> tuple[Texts, Texts]:
        candidate, reference = draw(rng, n)
        return candidate[:n_candidates], reference

    return cut


@cache
def model() -> NgramModel:
    """An n-gram generator that has read captions."""
    return train(captions()[-20_000:].tolist(), order=3)


def markov(temperature: float) -> Draw:
    """Texts of the generator beside captions that it has not read."""

    def draw(rng: Rng, n: int) -> tuple[Texts, Texts]:
        written = model().sample(n, temperature=temperature, max_tokens=60, rng=rng)
        return written, take(captions()[:-20_000], rng, n)

    return draw


def repeats(texts: Texts, rng: Rng) -> Texts:
    """A fifth of the texts are a second copy of another one."""
    n = len(texts) // 5
    return [texts[place] for place in rng.permutation([*range(len(texts) - n), *range(n)])]


def salad(texts: Texts, rng: Rng) -> Texts:
    return [" ".join(rng.permutation(text.split())) for text in texts]


def characters(texts: Texts, rng: Rng) -> Texts:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz     "))
    return ["".join(rng.choice(letters, len(text))) + "x" for text in texts]


def spliced(texts: Texts, rng: Rng) -> Texts:
    """First halves with the second halves of other texts."""
    others = [texts[place].split() for place in rng.permutation(len(texts))]
    parts = [text.split() for text in texts]
    pairs = zip(parts, others, strict=True)
    return [" ".join([*mine[: len(mine) // 2], *theirs[len(theirs) // 2 :]]) for mine, theirs in pairs]


def opening(texts: Texts, rng: Rng) -> Texts:
    return with_prefix(Sample.of(texts), rng, 0.15).texts.to_pylist()  # type: ignore[no-any-return]


def shortened(text: str) -> str:
    """A text without its last three words."""
    return " ".join(text.split()[:-3]) or text


def past(text: str) -> str:
    return re.sub(r"\bare\b", "were", re.sub(r"\bis\b", "was", text))


def spaced(text: str) -> str:
    """A text with a space before every mark, as tokenizers print it."""
    return re.sub(r"\s*([.,!?;:])", r" \1", text)


_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ar", "en")]


def other_words(text: str) -> str:
    """Every word replaced with a made-up one, always the same: a language without a known word, but with grammar."""
    return re.sub(r"[A-Za-z]+", lambda match: _made_up(match[0].lower()), text)


@cache
def _made_up(word: str) -> str:
    digest = sha256(word.encode()).digest()
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[: 1 + (len(word) + 1) // 3])


def other_script(text: str) -> str:
    """Every word replaced with two Chinese characters, always the same ones."""
    return re.sub(r"[A-Za-z]+", lambda match: _characters(match[0].lower()), text)


@cache
def _characters(word: str) -> str:
    digest = sha256(word.encode()).digest()
    return "".join(chr(0x4E00 + (256 * digest[at] + digest[at + 1]) % 20_000) for at in (0, 2))


def prompts(*, grouped: bool) -> Draw:
    """Ten texts of one model per prompt, other prompts on the other side."""

    def draw(rng: Rng, n: int) -> tuple[Sample, Sample]:
        chosen = rng.choice(len(generated()), 2 * (n // 10), replace=False)
        sides = [
            Sample.of(
                [text for number in side for text in generated()[number]],
                name=name,
                groups=pa.array(np.repeat([f"prompt {number}" for number in side], 10)) if grouped else None,
            )
            for side, name in zip(np.split(chosen, 2), ("candidate", "reference"), strict=True)
        ]
        return sides[0], sides[1]

    return draw


def shared_images(*, paired: bool, prefix: bool) -> Draw:
    """Captions of the same images on both sides, two and two per image."""

    def draw(rng: Rng, n: int) -> tuple[Sample, Sample]:
        candidate, reference = same_groups(images, n // 2, (2, 2))(rng)
        if prefix:
            candidate = with_prefix(candidate, rng, 0.03)
        return (candidate, reference) if paired else (ungrouped(candidate), ungrouped(reference))

    return draw


def documents(source: Callable[[], Any], sentences: int) -> Callable[[Rng, int], Texts]:
    def draw(rng: Rng, n: int) -> Texts:
        texts = take(source(), rng, n * sentences)
        return [" ".join(texts[at : at + sentences]) for at in range(0, len(texts), sentences)]

    return draw


def long_same(rng: Rng, n: int) -> tuple[Texts, Texts]:
    texts = documents(news, 20)(rng, 2 * n)
    return texts[:n], texts[n:]


def long_other_end(rng: Rng, n: int) -> tuple[Texts, Texts]:
    """Documents whose last fifth is captions."""
    texts = documents(news, 20)(rng, 2 * n)
    ends = documents(captions, 8)(rng, n)
    starts = [" ".join(text.split()[: len(text.split()) * 4 // 5]) for text in texts[:n]]
    return [f"{start} {end}" for start, end in zip(starts, ends, strict=True)], texts[n:]


TRAIN, TEST = "coco_models/real_train.txt", "coco_models/real_test.txt"
MLE = "coco_models/mle.txt"

SITUATIONS = (
    Situation("null, n = 10", "captions against captions", two(captions), ("same", "untested"), 10),
    Situation("null, n = 100", "captions against captions", two(captions), ("same", "untested"), 100),
    Situation("null, n = 1,000", "captions against captions", two(captions), SAME, 1000),
    Situation("null, news", "news sentences against news sentences", two(news), SAME),
    Situation("copies, 10 %", "10 % of the captions are from the reference", copies(0.1), COPIED),
    Situation("copies, 30 %", "30 % of the captions are from the reference", copies(0.3), COPIED),
    Situation("copies, 50 %", "half of the captions are from the reference", copies(0.5), COPIED),
    Situation("copies, 90 %", "90 % of the captions are from the reference", copies(0.9), COPIED),
    Situation("topic shift", "training against test captions of Texygen, which differ in topic", files(TEST, TRAIN)),
    Situation("collapse", "TextGAN against its training captions", files("coco_models/textgan.txt", TRAIN)),
    Situation("repeats", "a fifth of the captions occur twice", changed(repeats)),
    Situation("word salad", "captions with their words shuffled", changed(salad)),
    Situation("random characters", "random letters and spaces against captions", changed(characters)),
    Situation("n-gram model, T = 0.5", "the n-gram model at low temperature against captions", markov(0.5)),
    Situation("n-gram model, T = 1", "the n-gram model against captions", markov(1.0)),
    Situation("n-gram model, T = 1.4", "the n-gram model at high temperature against captions", markov(1.4)),
    Situation(
        "other language",
        "captions with every word replaced with a made-up one, always the same, against captions",
        changed(each(other_words)),
    ),
    Situation(
        "other script",
        "captions with every word replaced with two Chinese characters, always the same, against captions",
        changed(each(other_script)),
    ),
    Situation("format: lower case", "news in lower case against news", changed(each(str.lower), news)),
    Situation(
        "format: spaced marks", "captions with a space before each mark, against captions", changed(each(spaced)), SAME
    ),
    Situation(
        "format: no full stop",
        "captions without their final full stop, against captions",
        changed(each(lambda text: text.strip().rstrip("."))),
    ),
    Situation("5 % by a model", "5 % of the captions are by MLE", mixed(0.05, MLE), UNKNOWN),
    Situation("10 % by a model", "10 % of the captions are by MLE", mixed(0.1, MLE), UNKNOWN),
    Situation("20 % by a model", "20 % of the captions are by MLE", mixed(0.2, MLE)),
    Situation("50 % by a model", "half of the captions are by MLE", mixed(0.5, MLE)),
    Situation("10 % news", "10 % of the captions are news sentences", mixed(0.1, "news/test.txt")),
    Situation("spliced halves", "first halves of captions with second halves of others", changed(spliced)),
    Situation("stock opening", "15 % of the captions begin with the same six words", changed(opening)),
    Situation("truncated", "captions without their last three words", changed(each(shortened))),
    Situation("is, was", "captions in the past tense", changed(each(past))),
    Situation("MLE", "MLE against its training captions", files(MLE, TRAIN)),
    Situation("SeqGAN", "SeqGAN against its training captions", files("coco_models/seqgan.txt", TRAIN)),
    Situation("LeakGAN", "LeakGAN against its training captions", files("coco_models/leakgan.txt", TRAIN)),
    Situation("unequal sizes, null", "200 captions against 3,000", fewer(200, two(captions)), SAME, 3000),
    Situation("unequal sizes, 20 % by a model", "200 against 3,000", fewer(200, mixed(0.2, MLE)), UNKNOWN, 3000),
    Situation("prompts, plain", "ten texts of one model per prompt, other prompts", prompts(grouped=False), UNKNOWN),
    Situation(
        "prompts, with groups", "the same texts with `--group`", prompts(grouped=True), ("same", "untested"), by="group"
    ),
    Situation(
        "same images, plain",
        "two and two captions of the same images, 3 % with a stock opening",
        shared_images(paired=False, prefix=True),
        UNKNOWN,
    ),
    Situation(
        "same images, paired",
        "the same texts with `--pair`",
        shared_images(paired=True, prefix=True),
        by="pair",
    ),
    Situation(
        "same images, null", "two and two captions, `--pair`", shared_images(paired=True, prefix=False), SAME, by="pair"
    ),
    Situation("answers, null", "answers of GPT-3.5 to other prompts", answers(BASE, BASE), SAME, 400),
    Situation(
        "answers, bold removed", "GPT-4o without bold against GPT-4o", answers(MARKED, MARKED, without_bold), size=400
    ),
    Situation(
        "answers, bold removed, stripped",
        "the same with `--strip markdown`",
        answers(MARKED, MARKED, without_bold),
        SAME,
        400,
        strip="markdown",
    ),
    Situation("answers, verbose", "a verbose system prompt against none", answers(f"{BASE}_verbose", BASE), size=400),
    Situation("answers, release", "an earlier release of GPT-3.5", answers("gpt-3.5-turbo-0301", BASE), size=400),
    Situation(
        "answers, refusals",
        "6 % of the answers are one refusal",
        answers(BASE, BASE, lambda _: REFUSAL, share=0.06),
        size=400,
    ),
    Situation("answers, truncated", "all cut to nine tenths", answers(BASE, BASE, cut_short), size=400),
    Situation("answers, reasoning tags", "reasoning in 10 %", answers(BASE, BASE, reasoned, share=0.1), size=400),
    Situation(
        "answers, other language",
        "GPT-3.5 with every word replaced with a made-up one",
        answers(BASE, BASE, other_words),
        size=400,
    ),
    Situation("long documents, null", "20 news sentences each", long_same, SAME, 100),
    Situation("long documents, other ends", "the last fifth of each is captions", long_other_end, FOUND, 100),
)


@dataclass(frozen=True)
class Finding:
    """What was said about a situation, one way round."""

    decision: str
    kinds: tuple[str, ...]
    reasons: tuple[str, ...]
    formats: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def judged(situation: Situation, candidate: Any, reference: Any) -> Finding:
    options = {situation.by: "prompt"} if situation.by else {}
    found = compare(
        _named(reference, "reference"),
        {"candidate": _named(candidate, "candidate")},
        encoder=ENCODER,
        n_resamples=RESAMPLES,
        seed=SEED,
        engine=LocalEngine(1),
        strip=situation.strip,
        **options,  # type: ignore[arg-type]
    )
    column = found.candidates[0]
    assert column.verdict is not None
    # The page has a list of its own for warnings.
    claims = [each for each in column.verdict.findings if each.kind not in ("caution", "dependence")]
    kinds, reasons = tuple(each.kind for each in claims), tuple(map(sentence_of, claims))
    formats = tuple(finding.message for finding in column.findings if not finding.harmless)
    return Finding(column.verdict.decision, kinds, reasons, formats, column.warnings, found.notes)


def _named(texts: Any, name: str) -> Sample:
    """A sample named by its side."""
    return replace(texts, name=name) if isinstance(texts, Sample) else Sample.of(texts, name=name)


def measured(situation: Situation, size: int | None, found: dict[str, Any], path: Path | None) -> list[Finding]:
    """The findings as drawn and swapped, from an earlier run where the texts are the same."""
    rng = np.random.default_rng([SEED, *situation.name.encode()])
    candidate, reference = situation.draw(rng, min(situation.size, size or situation.size))
    kept = []
    for way, pair in (("as drawn", (candidate, reference)), ("swapped", (reference, candidate))):
        key = f"{situation.name}, {way}, {_digest(pair)}"
        if key not in found:
            with threadpool_limits(1):
                found[key] = vars(judged(situation, *pair))
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, found[key]]) + "\n")
        lists = {name: value if name == "decision" else tuple(value) for name, value in found[key].items()}
        kept.append(Finding(**lists))
    return kept


def _digest(pair: Sequence[Any]) -> str:
    texts = [side.texts.to_pylist() if isinstance(side, Sample) else side for side in pair]
    return sha256(json.dumps(texts).encode()).hexdigest()[:12]


def earlier(path: Path) -> dict[str, Any]:
    """The findings of earlier runs; a line that was cut off while it was written is made again."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            key, value = json.loads(line)
        except ValueError:
            continue
        found[key] = value
    return found


def faults(situation: Situation, findings: Sequence[Finding]) -> Iterator[str]:
    """Everything that is wrong with two verdicts on the same texts."""
    for way, finding in zip(("as drawn", "swapped"), findings, strict=True):
        if finding.decision not in situation.allowed and not situation.is_false_alarm(findings):
            yield f"{situation.name}, {way}: decision {finding.decision}; wanted {' or '.join(situation.allowed)}"
        yield from (f"{situation.name}, {way}: {fault}" for fault in contradictions(finding))
    for kind in ("less diverse", "more diverse"):
        if all(kind in finding.kinds for finding in findings):
            yield f"{situation.name}: each sample is called {kind} than the other"


def contradictions(finding: Finding) -> Iterator[str]:
    """Findings of one verdict that cannot be true together, or not with its decision."""
    kinds = set(finding.kinds)
    differs, nothing = "differs" in kinds, bool(kinds & {"no difference", "hidden by copies"})
    if differs and nothing:
        yield "a difference and no difference"
    if differs != (finding.decision in FOUND):
        yield f"decision {finding.decision} and findings that do not fit it"
    if nothing and kinds & HOW:
        yield "no difference, and how it differs"
    if {"less diverse", "more diverse"} <= kinds:
        yield "less diverse and more diverse"
    if len(kinds) < len(finding.kinds):
        yield "a finding twice"


def cell(finding: Finding) -> str:
    parts = [
        *finding.reasons,
        *(f"*format: {text}*" for text in finding.formats),
        *(f"*{text}*" for text in finding.warnings),
    ]
    return "<br>".join(part.replace("|", "\\|").replace("<0", "&lt;0") for part in parts)


TEXT = """# Situations

What `textassay compare` reports in {number} situations whose truth is known, each also with candidate and reference
swapped. Every sentence of every verdict is printed. {n} texts per sample unless the situation names another number,
the default metrics, {resamples} resamples, encoder `{encoder}`, one fixed seed: a null situation has a chance of
about 5 % to be called different. `Allowed` has the decisions that fit the truth; if all are allowed (`any`), the
difference is small, or the option that the texts need is missing. Lines in italics are findings about the format and
warnings about dependent texts. Made by `python benchmarks/calibration/situations.py`, which also checks that no
verdict contradicts itself and that no swap calls each of two samples less diverse than the other.

{faults} {alarms}

| situation | allowed | decision | sentences | decision, swapped | sentences, swapped |
|---|---|---|---|---|---|
{rows}

Texts are MS-COCO captions, news sentences, the captions of three generators of Texygen with their training captions,
and an n-gram model of order 3 that has read 20,000 other captions. The other language and the other script are made
up: every word is replaced with a made-up one, always the same. So these texts are as diverse as the captions, and
nothing may be claimed about that but what the encoder measures.

Texts of the situation "prompts, plain" are dependent, and its difference is a false alarm that the warnings explain;
with groups it is gone. A warning about the order of independent texts has a chance of about 1 % per comparison.
"""


def allowed(situation: Situation) -> str:
    return "any" if situation.allowed == UNKNOWN else ", ".join(situation.allowed)


def _listed(names: Sequence[str]) -> str:
    return f" ({'; '.join(names)})" if names else ""


def page(results: Sequence[tuple[Situation, list[Finding]]], wrong: Sequence[str]) -> str:
    rows = [
        f"| **{situation.name}**: {situation.what} | {allowed(situation)} | {first.decision} | {cell(first)}"
        f" | {second.decision} | {cell(second)} |"
        for situation, (first, second) in results
    ]
    found = "\n".join(f"- {fault}" for fault in wrong)
    nulls = [(situation, findings) for situation, findings in results if situation.is_null]
    alarms = [situation.name for situation, findings in nulls if situation.is_false_alarm(findings)]
    called = "is" if len(alarms) == 1 else "are"
    return TEXT.format(
        alarms=f"{len(alarms)} of the {len(nulls)} null situations {called} called different{_listed(alarms)}. "
        "At 5 % each, two or more of 11 happen in about one of ten such pages; [calibration](calibration.md) measures "
        "the rate over many draws.",
        number=len(results),
        n=N,
        resamples=RESAMPLES,
        encoder=ENCODER,
        faults=f"What the checks found:\n\n{found}" if wrong else _NO_FAULTS,
        rows="\n".join(rows),
    )


_NO_FAULTS = "No verdict contradicts itself, and no swap is inconsistent."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few situations with few texts; print the page")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--only", default="", help="only the situations whose names contain this text; no page")
    chosen = parser.parse_args()
    path = None if chosen.smoke else KEPT
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        if chosen.fresh:
            path.unlink(missing_ok=True)
    known = {} if path is None else earlier(path)
    situations = [situation for situation in SITUATIONS if chosen.only in situation.name]
    results, wrong = [], []
    for situation in situations[::14] if chosen.smoke else situations:
        began = time.process_time()
        findings = measured(situation, SMOKE if chosen.smoke else None, known, path)
        results.append((situation, findings))
        wrong += faults(situation, findings)
        print(f"{situation.name} ({time.process_time() - began:.1f} s)", file=sys.stderr, flush=True)
        if chosen.only:
            print(json.dumps([vars(finding) for finding in findings], indent=1, ensure_ascii=False))
    text = page(results, wrong)
    if chosen.smoke:
        print(text)
    elif not chosen.only:
        PAGE.write_text(text, encoding="utf-8")
    if wrong and not chosen.smoke:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
