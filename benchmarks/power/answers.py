"""Outputs of language models in the power study: natural changes between models, and damages as generators make them.

Every text of a corpus is an answer to another prompt. A damaged text answers the same prompt as the text that it
replaces, so nothing but the damage differs.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from textassay.corpus.sample import stream

SEED = 18


@dataclass(frozen=True)
class Damage:
    """What happens to a share of the candidate's texts."""

    key: str
    title: str
    shares: Mapping[str, float]

    def share(self, corpus: str) -> float:
        """The share of damaged texts in a corpus; for a lost topic, the chance that a text of it is lost."""
        return self.shares[corpus]

    def label(self, corpus: str) -> str:
        """Title and share, as in tables."""
        return self.title if self.key == "none" else f"{self.title} {100 * self.share(corpus):.0f} %"


_RELEASE, _OTHER = "gpt-3.5-turbo-1106", "gpt4_0613"
# Name of a corpus, and the file with its undamaged answers. The weights of the overall test were chosen while draws of
# the first one were looked at. Nothing was chosen on the second one or on the models that replace its texts.
ANSWERS = {"answers": _RELEASE, "answers of another model": _OTHER}
# Answers of other models to the same prompts, by key.
_FROM = {
    "release": "gpt-3.5-turbo-0301",
    "verbose": "gpt-3.5-turbo-1106_verbose",
    "concise": "gpt-3.5-turbo-1106_concise",
    "large": "gpt-4o-2024-05-13",
    "llama": "Meta-Llama-3-8B-Instruct",
    "davinci": "text_davinci_003",
}
_REFUSALS = (
    "I'm sorry, but I can't assist with that request.",
    "I'm sorry, but I cannot fulfil this request.",
    "As an AI language model, I cannot help with that.",
)
_EMOJI = "😀🎉🔥✨👍😊🚀💡"


def _answer(key: str, title: str, first: float | None, second: float | None, *, news: float | None = None) -> Damage:
    shares = zip((*ANSWERS, "news"), (first, second, news), strict=True)
    return Damage(key, title, {corpus: share for corpus, share in shares if share is not None})


ANSWER_DAMAGES = (
    _answer("release", "earlier release", 1.0, None),
    _answer("verbose", "verbose system prompt", 1.0, None),
    _answer("concise", "concise system prompt", 0.5, None),
    _answer("large", "GPT-4o", None, 0.2),
    _answer("llama", "Llama 3 8B", None, 0.2),
    _answer("davinci", "text-davinci-003", None, 0.3),
    _answer("refusals", "refusals", 0.06, 0.04),
    _answer("emoji", "emoji", 0.2, 0.1),
    _answer("opening", "stock opening", 0.15, 0.15),
    _answer("truncated", "cut to 90 %", 0.2, 0.2, news=0.2),
    _answer("joined", "two texts joined", 0.2, 0.15, news=0.2),
    _answer("no_bold", "bold removed", None, 1.0),
    _answer("no_lists", "list markers removed", 0.3, 0.3),
    _answer("moved", "words in sentences swapped", 0.4, 0.4),
)


def answers(corpus: str, data: Path) -> tuple[list[str], dict[str, list[str]]]:
    """All texts of a corpus, undamaged ones first, and the damaged forms of each by key, in the same order."""
    base = _read(data, ANSWERS[corpus])
    wanted = [damage.key for damage in ANSWER_DAMAGES if corpus in damage.shares]
    own = {key: _of_model(key, base, data) if key in _FROM else _changed(key, list(base.values())) for key in wanted}
    return [*base.values(), *(text for texts in own.values() for text in texts)], own


def _of_model(key: str, base: Mapping[str, str], data: Path) -> list[str]:
    others = _read(data, _FROM[key])
    return [others[prompt] for prompt in base]


@cache
def _read(data: Path, name: str) -> Mapping[str, str]:
    """Answers by prompt, for the prompts that every model answers with a text."""
    found = {path.stem: _by_prompt(path) for path in sorted((data / "llm").glob("*.json"))}
    common = set.intersection(*(set(each) for each in found.values()))
    return {prompt: text for prompt, text in found[name].items() if prompt in common}


def _by_prompt(path: Path) -> dict[str, str]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["instruction"]: row["output"] for row in rows if row["output"].strip()}


def _changed(key: str, texts: Sequence[str]) -> list[str]:
    rng = stream(SEED, "answers", key)
    changes: dict[str, Callable[[str], str]] = {
        "refusals": lambda _: _REFUSALS[rng.integers(len(_REFUSALS))],
        "emoji": lambda text: f"{text} {_EMOJI[rng.integers(len(_EMOJI))]}",
        "opening": lambda text: f"Sure! {text}",
        "truncated": truncated,
        "joined": lambda text: f"{text}\n\n{texts[rng.integers(len(texts))]}",
        "no_bold": lambda text: text.replace("**", ""),
        "no_lists": lambda text: re.sub(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", "", text),
        "moved": lambda text: re.sub(r"[^.!?\n]+", lambda found: _moved(found[0], rng), text),
    }
    return [changes[key](text) for text in texts]


def truncated(text: str) -> str:
    """The first nine tenths of the words."""
    words = list(re.finditer(r"\S+", text))
    return text[: words[max(1, len(words) * 9 // 10) - 1].end()]


def _moved(sentence: str, rng: np.random.Generator) -> str:
    words = sentence.split(" ")
    if len(words) > 4:
        first, second = rng.choice(np.arange(1, len(words)), 2, replace=False)
        words[first], words[second] = words[second], words[first]
    return " ".join(words)
