"""Gates on texts whose truth is known: how often they pass, fail, stay undecided and flip, beside rules of thresholds.

`python benchmarks/decision.py` draws samples again and again and writes docs/decisions.md. Results are kept in
.benchmarks/decision.jsonl, so that a run that was stopped goes on where it was; `--page` writes the page from what
there is. `--smoke` makes very few draws on few texts and prints the page.

The number of texts is planned on one part of a corpus (`textassay plan`), and gates are run on draws from the other
part. A fresh draw is two samples of one source; in a mixture, each text of the candidate is of another source with a
probability of exactly the margin. The rules of thresholds decide on the same draws.
"""

import argparse
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from textassay import plan
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.intervals import wilson
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings
from textassay.studies.gate.margin import bounds
from textassay.studies.history.study import change_of
from textassay.studies.sentences import round_number
from textassay.studies.stress.damages import Lexicon, shuffled

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
KEPT, PAGE = ROOT / ".benchmarks" / "decision.jsonl", ROOT / "docs" / "decisions.md"
SETTINGS = Settings(get_tokenizer("words"), None, None)
GENERATORS = ("mle", "seqgan", "rankgan", "maligan", "leakgan", "textgan")
Texts = Sequence[str]


@dataclass(frozen=True)
class Case:
    """A row of the table: what is mixed in (None: a fresh draw), and the contaminant that the gate is told."""

    bank: str | None
    contaminant: str | None = None
    most_runs: int = 400

    def title(self, margin: float) -> str:
        """The row's head."""
        mixed = "fresh draws of one source" if self.bank is None else f"{100 * margin:g} % {self.bank}"
        return f"{mixed}, `--contaminant` {self.contaminant}" if self.contaminant else mixed


# Fresh draws first, then mixtures at the margin, then a mixture of which the gate knows the contaminant.
CAPTION_CASES = (
    Case(None),
    Case("shuffled captions"),
    Case("news", most_runs=40),
    Case("news", "news", 100),
    Case(None, "news", 40),
)
OUTPUT_CASES = (
    Case(None),
    Case("shuffled outputs", most_runs=100),
    Case("news", most_runs=100),
    Case("news", "news", 200),
)


@dataclass(frozen=True)
class Corpus:
    """A source with a margin: `pilot` texts are planned on, `rest` are drawn from, `banks` are mixed in."""

    name: str
    margin: float
    power: float
    cases: tuple["Case", ...]
    pilot: Texts
    rest: Texts
    banks: dict[str, Texts]


@dataclass(frozen=True)
class Scale:
    """Runs of each row, trials of a plan, and the runs that are repeated."""

    runs: int = 400
    trials: int = 100
    repeated: int = 20
    most_texts: int = 10**9


SMOKE = Scale(2, 20, 1, 150)


@cache
def lines(name: str) -> list[str]:
    """The texts of a file."""
    return [line.strip() for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def captions(scale: Scale) -> Corpus:
    """Captions; news and shuffled captions are mixed in."""
    del scale
    real = lines("coco/train.txt")
    pilot, rest = real[:8000], real[8000:]
    rng = stream(0, "decision", "captions")
    banks = {
        "news": lines("news/valid.txt"),
        "shuffled captions": [shuffled(text, Lexicon.of([]), rng) for text in rest[:5000]],
    }
    return Corpus("captions", 0.2, 0.9, CAPTION_CASES, pilot, rest, banks)


def outputs(scale: Scale) -> Corpus:
    """Outputs of ten language models, planned on one half of the prompts and drawn from the other half."""
    del scale
    by_prompt: dict[str, list[str]] = {}
    for path in sorted((DATA / "llm").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            if row["output"].strip():
                by_prompt.setdefault(row["instruction"], []).append(row["output"])
    prompts = sorted(by_prompt)
    order = stream(0, "decision", "prompts").permutation(len(prompts))
    halves = [[text for index in part for text in by_prompt[prompts[index]]] for part in np.array_split(order, 2)]
    rng = stream(0, "decision", "outputs")
    banks = {
        "news": lines("news/valid.txt"),
        "shuffled outputs": [shuffled(text, Lexicon.of([]), rng) for text in halves[1]],
    }
    return Corpus("outputs of language models", 0.2, 0.8, OUTPUT_CASES, halves[0], halves[1], banks)


CORPORA: dict[str, Callable[[Scale], Corpus]] = {
    "captions": captions,
    "outputs": outputs,
}


def drawn(corpus: Corpus, n: int, bank: str | None, number: int) -> tuple[list[str], list[str]]:
    """Candidate and reference: disjoint draws, and each text of the candidate replaced with a chance of the margin."""
    rng = stream(0, "decision", corpus.name, n, number)
    order = rng.permutation(len(corpus.rest))[: 2 * n]
    mine, theirs = ([corpus.rest[index] for index in part] for part in np.array_split(order, 2))
    if bank is not None:
        others = corpus.banks[bank]
        chosen = rng.random(n) < corpus.margin
        picked = rng.permutation(len(others))[:n]
        mine = [others[index] if yes else text for text, yes, index in zip(mine, chosen, picked, strict=True)]
    return mine, theirs


def gate(mine: Texts, theirs: Texts, margin: float, contaminant: Texts | None = None, seed: int = 0) -> str:
    """The decision of the gate by its bounds alone; a gate fails only if the overall test rejects as well."""
    sides = [Material(Sample.of(list(texts)), SETTINGS) for texts in (mine, theirs)]
    other = None if contaminant is None else Sample.of(list(contaminant), name="contaminant")
    found = bounds(*sides, margin=margin, contaminant=other, plan=Plan(seed=seed))
    if found is None:
        return "undecided"
    return "fail" if found.low > margin else "pass" if found.high <= margin else "undecided"


# Rules of thresholds, of the kinds that other tools have. Each returns whether the candidate passes.


def domain_classifier(mine: Texts, theirs: Texts, number: int) -> bool:
    """A classifier on words tells the samples apart with an area of at most 0.55, or of chance in small samples."""
    texts, labels = [*mine, *theirs], np.repeat([1, 0], [len(mine), len(theirs)])
    rng = stream(0, "decision", "classifier", number)
    order = rng.permutation(len(texts))
    learned, held_out = np.array_split(order, 2)
    words = TfidfVectorizer(sublinear_tf=True, max_df=0.5, stop_words="english")
    features = words.fit_transform([texts[index] for index in learned])
    model = SGDClassifier(alpha=0.0001, max_iter=50, penalty="l1", loss="modified_huber", random_state=0)
    model.fit(features, labels[learned])
    scores = model.decision_function(words.transform([texts[index] for index in held_out]))
    area = roc_auc_score(labels[held_out], scores)
    if len(theirs) > 1000:
        return bool(area <= 0.55)
    chance = [roc_auc_score(labels[held_out], rng.random(len(held_out))) for _ in range(200)]
    return bool(area <= np.quantile(chance, 0.95))


def distance_of_words(mine: Texts, theirs: Texts, number: int) -> bool:
    """The Jensen-Shannon distance of the two word distributions is below 0.1."""
    del number
    words = CountVectorizer().fit([*mine, *theirs])
    p, q = (np.asarray(words.transform(list(texts)).sum(axis=0)).ravel() for texts in (mine, theirs))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(each > 0, each * np.log2(each / middle), 0.0).sum() for each in (p, q)]
    return bool(math.sqrt(max(sum(terms) / 2, 0.0)) < 0.1)


def mean_score(mine: Texts, theirs: Texts, number: int) -> bool:
    """The mean of a score per text is not below that of the reference: here the share of longer words."""
    del number
    means = [
        np.mean([np.mean([len(word) >= 4 for word in text.split()]) for text in texts]) for texts in (mine, theirs)
    ]
    return bool(means[0] >= means[1])


RULES: dict[str, Callable[[Texts, Texts, int], bool]] = {
    "a domain classifier's area (as evidently)": domain_classifier,
    "distance of word distributions below 0.1": distance_of_words,
    "mean score not below the baseline (as promptfoo)": mean_score,
}


# Work, kept by name.


def read_kept() -> dict[str, Any]:
    """What earlier runs found, by key."""
    if not KEPT.exists():
        return {}
    found = (json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines() if line.strip())
    return {row["key"]: row["value"] for row in found}


class Work:
    """Runs pieces of work once, and keeps what they return."""

    def __init__(self, *, keep: bool, run: bool) -> None:
        self.kept, self.keep, self.run = (read_kept() if keep else {}), keep, run

    def do(self, key: str, work: Callable[[], Any]) -> Any:
        """The result of a piece of work; None if it is not there and nothing is to be run."""
        if key not in self.kept and self.run:
            self.kept[key] = work()
            if self.keep:
                KEPT.parent.mkdir(exist_ok=True)
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "value": self.kept[key]}) + "\n")
        return self.kept.get(key)


def planned(work: Work, corpus: Corpus, contaminant: str | None, scale: Scale) -> dict[str, Any] | None:
    """The number of texts that `textassay plan` asks for, from the pilot."""

    def make() -> dict[str, Any]:
        bank = None if contaminant is None else list(corpus.banks[contaminant])
        found = plan(
            list(corpus.pilot),
            margin=corpus.margin,
            power=corpus.power,
            contaminant=bank,
            n_runs=scale.trials,
            engine="local:1",
        )
        return {"needed": found.needed, "rounds": [vars(each) for each in found.rounds]}

    found: dict[str, Any] | None = work.do(f"plan|{corpus.name}|{contaminant}", make)
    return found


def decisions(work: Work, corpus: Corpus, case: Case, n: int, runs: int, *, seed: int = 0) -> list[str]:
    """The decisions of the gate in each run."""

    def one(number: int) -> str:
        bank = None if case.contaminant is None else corpus.banks[case.contaminant]
        return gate(*drawn(corpus, n, case.bank, number), corpus.margin, bank, seed)

    key = f"gate|{corpus.name}|{case.bank}|{case.contaminant}|{n}|{seed}"
    found = (work.do(f"{key}|{number}", lambda number=number: one(number)) for number in range(runs))  # type: ignore[misc]
    return [each for each in found if each is not None]


def rule_passes(work: Work, corpus: Corpus, case: Case, n: int, runs: int, name: str) -> list[bool]:
    """Whether a rule of thresholds passes, in each run."""
    key = f"rule|{name}|{corpus.name}|{case.bank}|{n}"
    found = (
        work.do(f"{key}|{number}", lambda number=number: RULES[name](*drawn(corpus, n, case.bank, number), number))  # type: ignore[misc]
        for number in range(runs)
    )
    return [each for each in found if each is not None]


# The page.

_HEAD = """# Decisions

How often a [gate](decide.md) passes, fails or stays undecided where the truth is known. Made by
`python benchmarks/decision.py`, which goes on where it was stopped; the number of runs is in each row, with the 95 %
interval of each share. The number of texts was planned with `textassay plan` on one part of a corpus, and gates were
run on draws from the other part.

Read it so: fresh draws of one source should pass at least as often as planned and almost never fail, and a candidate
that has exactly the margin of what it must not have should pass in at most 5 % of runs. With a few dozen runs the
intervals are wide: they exclude a gate that is far from its promise, and no more.

Most runs were made before a single word could take the place of the classifier of the separable share where it
separates more surely, which changes few decisions: of the fresh draws, the last 111 of captions and 112 of outputs have
this classifier.
"""


def page(work: Work, scale: Scale, names: Sequence[str]) -> Iterator[str]:
    """The lines of the page."""
    yield _HEAD
    for name in names:
        corpus = CORPORA[name](scale)
        yield from gates_of(work, corpus, scale)
    if "captions" in names:
        yield from flips(work, scale)
        yield from generators(work, scale)
        yield from histories(work, scale)


def gates_of(work: Work, corpus: Corpus, scale: Scale) -> Iterator[str]:
    """The table of a corpus: gates, then rules of thresholds on the same draws."""
    title = f"\n## {corpus.name[0].upper()}{corpus.name[1:]}, margin {100 * corpus.margin:g} %\n"
    sizes = {}
    for contaminant in dict.fromkeys(case.contaminant for case in corpus.cases):
        found = planned(work, corpus, contaminant, scale)
        if found is not None and found["needed"] is not None:
            if not sizes:
                yield title
            sizes[contaminant] = min(found["needed"], scale.most_texts, len(corpus.rest) // 2)
            last = found["rounds"][-1]
            told = "the default contaminant" if contaminant is None else f"`--contaminant` {contaminant}"
            yield (
                f"- Planned with {told} for a power of {100 * corpus.power:g} %: {sizes[contaminant]:,} texts per"
                f" sample, from {last['n_trials']} trials with {last['n']:,} texts."
            )
    if not sizes:
        return
    yield "\n| draws | texts | runs | pass | fail | undecided |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    for case in corpus.cases:
        if case.contaminant in sizes:
            yield from _gate_row(work, corpus, case, sizes[case.contaminant], scale)
    shown = [case for case in corpus.cases if case.contaminant is None]
    rules = list(_rule_rows(work, corpus, shown, sizes[None], scale)) if None in sizes and len(shown) > 1 else []
    if rules:
        yield "\nRules of thresholds on the same draws, which pass or fail and know no third decision:\n"
        yield f"| rule | runs | {' | '.join(f'{case.title(corpus.margin)}: pass' for case in shown)} |"
        yield f"| --- | ---: |{' ---: |' * len(shown)}"
        yield from rules


def _rule_rows(work: Work, corpus: Corpus, cases: Sequence[Case], n: int, scale: Scale) -> Iterator[str]:
    for rule in RULES:
        cells = [rule_passes(work, corpus, case, n, min(scale.runs, case.most_runs), rule) for case in cases]
        if any(cells):
            runs = " / ".join(str(len(each)) for each in cells)
            yield f"| {rule} | {runs} | {' | '.join(_share(np.mean(each)) if each else '–' for each in cells)} |"


def _gate_row(work: Work, corpus: Corpus, case: Case, n: int, scale: Scale) -> Iterator[str]:
    found = decisions(work, corpus, case, n, min(scale.runs, case.most_runs))
    if not found:
        return
    cells = []
    for decision in ("pass", "fail", "undecided"):
        hits = found.count(decision)
        low, high = wilson(hits / len(found), len(found), 0.95) if found else (0.0, 1.0)
        cells.append(f"{_share(hits / max(len(found), 1))} ({_share(low)} to {_share(high)})")
    yield f"| {case.title(corpus.margin)} | {n:,} | {len(found)} | {' | '.join(cells)} |"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def flips(work: Work, scale: Scale) -> Iterator[str]:
    """The same inputs decided twice, and with another seed."""
    corpus = captions(scale)
    found = planned(work, corpus, None, scale)
    if found is None or found["needed"] is None:
        return
    n = min(found["needed"], scale.most_texts)
    first = decisions(work, corpus, Case(None), n, scale.repeated)
    again = [
        work.do(f"again|{n}|{number}", lambda number=number: gate(*drawn(corpus, n, None, number), corpus.margin))  # type: ignore[misc]
        for number in range(scale.repeated)
    ]
    other = decisions(work, corpus, Case(None), n, scale.repeated, seed=1)
    yield "\n## Flips\n"
    yield (
        "The share of byte-identical inputs that are decided in another way the second time. [An A/A test of a gate"
        " that asks a language model](https://github.com/dotnet/skills/issues/952) flipped 27 % of its verdicts.\n"
    )
    yield "| second run | inputs | flipped |\n| --- | ---: | ---: |"
    for title, second in (("the same command", again), ("another `--seed`", other)):
        pairs = [(one, two) for one, two in zip(first, second, strict=False) if two is not None]
        if pairs:
            yield f"| {title} | {len(pairs)} | {_share(np.mean([one != two for one, two in pairs]))} |"


def generators(work: Work, scale: Scale) -> Iterator[str]:
    """The six generators of Texygen and held-out captions, at 10 %."""
    # The file is in an order by topics.
    file = lines("coco_models/real_train.txt")
    order = stream(0, "decision", "generators").permutation(len(file))
    pilot, rest = ([file[index] for index in part] for part in np.array_split(order, 2))

    def planning() -> int | None:
        return plan(pilot[: 4 * scale.most_texts], margin=_AT, power=0.9, n_runs=scale.trials, engine="local:1").needed

    n = min(work.do("generators|plan", planning) or 1000, scale.most_texts, len(rest) // 2)
    most = min(len(rest), scale.most_texts)
    yield f"\n## Generators of captions, margin {100 * _AT:g} %\n"
    yield (
        f"Against captions that the generators were trained on. `textassay plan` on a half of them asks for {n:,} texts"
        " for a power of 90 %; held-out captions and references are drawn from the other half.\n"
    )
    yield "| candidate | texts | draws | pass | fail | undecided | bounds of the first draw | texts that would decide |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |"
    held_out = "held-out captions"
    rows = [(held_out, n, 20), (held_out, 50, 20), *((name, n, 3) for name in GENERATORS), ("mle", most, 1)]
    for name, size, draws in rows:
        found = [
            work.do(f"generators|{name}|{size}|{draw}", lambda draw=draw: _against_training(name, size, draw, rest))  # type: ignore[misc] # noqa: B023
            for draw in range(min(draws, scale.runs))
        ]
        known = [each for each in found if each is not None]
        if known:
            yield _generator_row(name, size, known)


_AT = 0.1


def _against_training(name: str, size: int, draw: int, rest: Texts) -> dict[str, Any]:
    """The bounds of one draw of a generator's texts, or of held-out captions, beside captions."""
    rng = stream(0, "decision", "generators", name, size, draw)
    order = rng.permutation(len(rest))
    if name.startswith("held"):
        mine = [rest[index] for index in order[size : 2 * size]]
    else:
        texts = lines(f"coco_models/{name}.txt")
        mine = [texts[index] for index in rng.permutation(len(texts))[:size]]
    sides = [Material(Sample.of(texts), SETTINGS) for texts in (mine, [rest[index] for index in order[:size]])]
    got = bounds(*sides, margin=_AT, contaminant=None, plan=Plan())
    assert got is not None
    return {"low": got.low, "high": got.high, "needed": got.needed}


def _generator_row(name: str, size: int, found: Sequence[dict[str, Any]]) -> str:
    decisions = ["fail" if each["low"] > _AT else "pass" if each["high"] <= _AT else "undecided" for each in found]
    counts = [str(decisions.count(each)) for each in ("pass", "fail", "undecided")]
    first = found[0]
    needed = [each["needed"] for each, decision in zip(found, decisions, strict=True) if decision == "undecided"]
    known = sorted(each for each in needed if each)
    asked = f"about {round_number(known[len(known) // 2]):,}" if known else ""
    cells = [name, f"{size:,}", str(len(found)), *counts, f"{_share(first['low'])} to {_share(first['high'])}", asked]
    return f"| {' | '.join(cells)} |"


# Histories.

_RUNS, _TEXTS, _CHANGED_AT = 8, 300, 5
_FOLLOWED = ("cnd", "ms_jaccard", "bleu", "self_bleu", "distinct:n=2", "repetition")
_CHANGES = {
    "none": 0.0,
    "a tenth of the texts are shuffled captions": 0.1,
    "a quarter of the texts are shuffled captions": 0.25,
}


def histories(work: Work, scale: Scale) -> Iterator[str]:
    """How often a history has a change: of runs of one source, and of runs that change."""
    yield "\n## Histories\n"
    yield (
        f"{_RUNS} runs of {_TEXTS} captions each against one reference of as many, followed by {len(_FOLLOWED)}"
        f" metrics; from run {_CHANGED_AT + 1} on they change. Beside `textassay history`, the rule that compares each"
        " run with the one before it, by the same intervals at the same level, without correction.\n"
    )
    yield "| change | histories | a change is reported | ... and is between these runs | each against its neighbour |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for title, share in _CHANGES.items():
        runs = min(scale.runs, 50 if share else 200)
        kept = (
            work.do(f"history|{share}|{number}", lambda share=share, number=number: _history(share, number))  # type: ignore[misc]
            for number in range(runs)
        )
        found = [each for each in kept if each is not None]
        if found:
            hits = sum(each["found"] for each in found)
            low, high = wilson(hits / len(found), len(found), 0.95)
            inside = [each["inside"] for each in found if each["found"]]
            between = _share(np.mean(inside)) if share and inside else ""
            neighbours = _share(np.mean([each["neighbour"] for each in found]))
            reported = f"{_share(hits / len(found))} ({_share(low)} to {_share(high)})"
            yield f"| {title} | {len(found)} | {reported} | {between} | {neighbours} |"


def _history(share: float, number: int) -> dict[str, bool]:
    """Whether a history of captions has a change, whether its interval has the true one, and whether neighbours do."""
    rng = stream(0, "decision", "history", share, number)
    file = lines("coco/train.txt")
    order = rng.permutation(len(file))
    drawn = [[file[index] for index in part] for part in np.array_split(order[: (_RUNS + 1) * _TEXTS], _RUNS + 1)]
    for texts in drawn[1 + _CHANGED_AT :]:
        for index in np.flatnonzero(rng.random(_TEXTS) < share):
            texts[index] = shuffled(texts[index], Lexicon.of([]), rng)
    reference, *runs = (Material(Sample.of(texts), SETTINGS) for texts in drawn)
    requests = parse_requests(_FOLLOWED)
    measured = [
        measure(requests, {"candidate": run, "reference": reference}, plan=Plan(n_resamples=19), test=False).results
        for run in runs
    ]
    neighbour = False
    changes = []
    for index, request in enumerate(requests):
        results = {f"{place}": each[index] for place, each in enumerate(measured)}
        changes.append(
            change_of(request.label, results, measured[0][index], level=0.95, n_tests=len(requests), seed=number)
        )
        neighbour |= any(_apart(one[index], two[index]) for one, two in pairwise(measured))
    first = min((each for each in changes if each.at), key=lambda each: int(each.at), default=None)
    inside = first is not None and int(first.start) < _CHANGED_AT <= int(first.end)
    return {"found": first is not None, "inside": inside, "neighbour": neighbour}


def _apart(one: Result, two: Result) -> bool:
    """Whether two results differ at their level, as independent ones."""
    if one.interval is None or two.interval is None:
        return False
    half = math.hypot(*((each.interval.high - each.interval.low) / 2 for each in (one, two) if each.interval))
    return abs(one.estimate - two.estimate) > half


def main() -> None:
    """Run what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="very few draws; print the page")
    parser.add_argument("--page", action="store_true", help="write the page from what there is")
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []], help="the corpora to run (default: all)")
    given = parser.parse_args()
    names = given.corpora or (["captions"] if given.smoke else list(CORPORA))
    work = Work(keep=not given.smoke, run=not given.page)
    with threadpool_limits(1):
        # In steps, so that a run that is stopped has some runs of every row.
        for runs in () if given.smoke or given.page else (20, 100, 200):
            list(page(work, Scale(runs), names))
        text = "\n".join(page(work, SMOKE if given.smoke else Scale(), names)) + "\n"
    if given.smoke:
        print(text)
    elif set(names) == set(CORPORA):
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
