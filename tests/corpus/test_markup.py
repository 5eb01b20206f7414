"""Traits of form: each is shown by a text that has it, and by none of the plain texts."""

import pyarrow as pa
import pytest

from tests.conftest import material
from textassay.corpus.markup import Markup, Trait, bytes_in, shows

PLAIN = [
    "I paid $5 for it and $10 for the rest.",
    "5 * 3 * 2 is 30, and snake_case_name is a name.",
    "On 3 May (a Monday) he said: well - why not?",
    "Hi there, it's 9:30 | or later; I'm sorry to be late was all he wrote.",
]
SHOWN = {
    "bold": ["a **bold word** here", "__so__ it is"],
    "italics": ["it *is* so", "(_really_)"],
    "headings": ["## Title\ntext", "text\n# A"],
    "bullet_lists": ["- one\n- two", "text\n  * one", "• one"],
    "numbered_lists": ["1. one\n2. two", "text\n 3) one"],
    "tables": ["| a | b |\n|---|---|\n| 1 | 2 |"],
    "code_blocks": ["```\nx = 1\n```"],
    "code_languages": ["```python\nx = 1\n```"],
    "inline_code": ["use `x` now"],
    "links": ["see [this](https://example.org)"],
    "addresses": ["https://example.org/a", "at http://a.b/c, he said"],
    "block_quotes": ["> he said\nyes"],
    "latex": [r"\(x^2\)", "so $a + b$ is", r"\frac{1}{2}"],
    "emoji": ["well done 🎉", "✨ new"],
    "html": ["a <b>word</b>", "line<br/>line"],
    "reasoning_tags": ["<think>hm</think> yes"],
    "template_tokens": ["yes<|im_end|>", "[INST] hi [/INST]", "<start_of_turn>"],
    "refusals": ["I'm sorry, but I can't help.", "As an AI language model, I", "I cannot do that."],
    "stock_openings": ["Sure! Here it is.", "Certainly, a list", "Here are some ideas."],
    "final_punctuation": ["so it was.", "was it?\n", '"really!"'],
    "final_question": ["Shall I go on?", 'He asked: "why?"'],
    "line_breaks": ["a\nb."],
    "paragraphs": ["a.\n\nb."],
    "digits": ["9 lives."],
    "capitals": ["the NASA way."],
    "exclamations": ["ha!"],
    "brackets": ["so (it) is."],
    "quotes": ['a "word".', "„ja“."],
    "semicolons": ["a; b."],
    "colons": ["a: b."],
    "dashes": ["a — b.", "a - b."],
}


@pytest.mark.parametrize("trait", Markup.traits, ids=lambda trait: trait.kind)
def test_a_trait_is_shown_by_texts_that_have_it(trait: Trait) -> None:
    texts = pa.array([*SHOWN[trait.kind], "No more than words in it"], pa.large_string())
    assert shows(texts, trait).tolist() == [True] * (len(texts) - 1) + [False]
    # The bytes that are looked at first never hide it.
    assert shows(texts, trait, present=bytes_in(texts)).tolist() == shows(texts, trait).tolist()


def test_plain_texts_have_no_markup() -> None:
    view = material(PLAIN).view(Markup)
    found = {
        trait.kind for column, trait in enumerate(view.traits) if trait.is_markdown and view.shown[:, column].any()
    }
    assert not found


def test_parts_merge_to_the_whole() -> None:
    texts = [text for many in SHOWN.values() for text in many]
    merged = material(texts[:20]).view(Markup).merge(material(texts[20:]).view(Markup))
    assert merged.shown.tolist() == material(texts).view(Markup).shown.tolist()
