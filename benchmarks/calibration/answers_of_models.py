"""Situations with answers of language models: long texts with Markdown, to different prompts in both samples."""

import json
import re
from collections.abc import Callable
from functools import cache

import numpy as np
from design_texts import DATA

BASE, MARKED = "gpt-3.5-turbo-1106", "gpt-4o-2024-05-13"
REFUSAL = "I'm sorry, but I can't assist with that request."

Rng = np.random.Generator
Pair = tuple[list[str], list[str]]
Draw = Callable[[Rng, int], Pair]


@cache
def by_prompt(model: str) -> dict[str, str]:
    """The answers of a model that are not blank."""
    rows = json.loads((DATA / "llm" / f"{model}.json").read_text(encoding="utf-8"))
    return {row["instruction"]: row["output"] for row in rows if row["output"].strip()}


def answers(
    mine: str, real: str, change: Callable[[str], str] = str, *, share: float = 1.0
) -> Callable[[Rng, int], Pair]:
    """Candidate answers of one model and reference answers of another one, to other prompts; some are changed."""

    def draw(rng: Rng, n: int) -> Pair:
        first, second = by_prompt(mine), by_prompt(real)
        prompts = rng.permutation(sorted(first.keys() & second.keys())).tolist()
        n = min(n, len(prompts) // 2)
        changed = set(rng.choice(n, round(share * n), replace=False).tolist())
        candidate = [change(first[prompt]) if k in changed else first[prompt] for k, prompt in enumerate(prompts[:n])]
        return candidate, [second[prompt] for prompt in prompts[n : 2 * n]]

    return draw


def without_bold(text: str) -> str:
    return text.replace("**", "")


def shortened(text: str) -> str:
    """The first nine tenths of the words."""
    words = list(re.finditer(r"\S+", text))
    return text[: words[max(1, len(words) * 9 // 10) - 1].end()]


def reasoned(text: str) -> str:
    return f"<think>The user asks for this. I will answer.</think>\n{text}"
