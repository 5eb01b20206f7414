"""The format check: each trait with a planted difference and without one, the wording, the order and real data."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.markup import Trait, bytes_in, shows
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.format_check import (
    _IN_PIECE,
    _IN_WORD,
    _PIECE,
    _WORD,
    TRAITS,
    Finding,
    Share,
    _counts,
    check_format,
    differ,
)

WORDS, WHITESPACE = get_tokenizer("words"), get_tokenizer("whitespace")

Damage = Callable[[str], str]


def clean(n: int = 200) -> list[str]:
    """Texts of many lengths with capitals, a contraction, an apostrophe and a full stop each."""
    nouns = ("cat", "dog", "bus", "tree", "lamp")
    return [f"The {nouns[i % 5]} didn't see{' the very' * (i % 41)} old house of Anna's aunt." for i in range(n)]


def found(candidate: list[str], reference: list[str]) -> dict[str, Finding]:
    samples = Sample.of(candidate, name="made"), Sample.of(reference, name="real")
    return {finding.kind: finding for finding in check_format(*samples, tokenizer=WORDS)}


def add(extra: str) -> Damage:
    return lambda text: f"{extra} {text}"


PLANTED: list[tuple[str, Damage]] = [
    ("tokenised_punctuation", lambda text: text.replace(".", " .")),
    ("tokenised_punctuation", lambda text: text.replace("didn't", "didn ' t")),
    ("tokenised_punctuation", lambda text: text.replace("Anna's", "Anna 's")),
    ("split_contractions", lambda text: text.replace("didn't", "did n't")),
    ("split_contractions", add("`` Oh '' ,")),
    ("final_punctuation", lambda text: text.rstrip(".")),
    ("upper_case", str.lower),
    ("initial_capital", lambda text: text[0].lower() + text[1:]),
    ("all_capitals", str.upper),
    ("bold", add("**Note**")),
    ("headings", add("#")),
    ("bullet_lists", add("-")),
    ("numbered_lists", add("2.")),
    ("code_blocks", add("```\nx\n```")),
    ("links", add("See [this](http://a.b).")),
    ("reasoning_tags", add("<think>")),
    ("emoji", add("🎉")),
    ("refusals", add("I'm sorry, but I can't help.")),
    ("stock_openings", add("Sure!")),
    ("final_question", lambda text: f"{text} Is that so?"),
    *(("template_tokens", add(tag)) for tag in ("<unk>", "<pad>", "<s>", "</s>", "<EOS>", "[SEP]", "<|im_end|>")),
    ("template_tokens", add("<end_of_turn>")),
    *(("html", add(tag)) for tag in ("<br/>", '<a href="x">', "</P>", "<script>")),
    *(("subword_marks", add(mark)) for mark in ("▁The", "un@@ able", "ĠThe", "The ##ing")),
    *(("entities", add(entity)) for entity in ("&amp;", "&#39;", "&#x2019;", "&quot;", "&apos ;", "&eacute;")),
    *(("mojibake", add(pair)) for pair in ("cafÃ©", "itâ€™s", "itâ\x80\x99s", "\ufffd", "5Â\u00a0km", "ðŸ˜€")),
    ("curly_quotes", lambda text: text.replace("'", "’")),
    ("white_space", lambda text: text + " "),
    ("white_space", lambda text: "\u00a0" + text),
    ("white_space", lambda text: text.replace(" ", "  ")),
    *(("control_characters", add(character)) for character in ("\x00", "\x07", "\x1b[31m", "\u200b", "\ufeff")),
    *(("escapes", add(escape)) for escape in ("One.\\nTwo", "it\\u2019s", "\\xe9")),
    ("not_nfc", add("Cafe\u0301")),
    ("cut_off", lambda text: " ".join(text.split()[:20])),
    ("cut_off", lambda text: text[:60]),
    ("mean_length", lambda text: f"{text} {text}"),
]


@pytest.mark.parametrize(("kind", "damage"), PLANTED)
def test_a_planted_difference_is_found_on_either_side(kind: str, damage: Damage) -> None:
    texts = clean()
    damaged = [damage(text) for text in texts]
    one, other = found(damaged, texts)[kind], found(texts, damaged)[kind]
    assert abs(one.candidate_share - one.reference_share) > 0.3
    assert (one.candidate_share, one.reference_share) == pytest.approx(
        (other.reference_share, other.candidate_share), abs=0.6 if kind == "mean_length" else 0.0
    )


@pytest.mark.parametrize(("kind", "damage"), PLANTED)
def test_what_both_sides_have_is_no_finding(kind: str, damage: Damage) -> None:
    texts = clean(600)
    assert kind not in found([damage(text) for text in texts[:300]], [damage(text) for text in texts[300:]])


def test_clean_text_gives_no_finding() -> None:
    texts = clean(600)
    assert found(texts[:300], texts[300:]) == {}


def test_blank_generations_are_reported_from_the_notes() -> None:
    finding = found([*clean(90), *[""] * 30], clean(90))["blank"]
    assert (finding.candidate_share, finding.reference_share) == (0.25, 0.0)
    assert finding.message == "25 % of candidate texts are blank and left out (reference 0 %)"
    assert "blank" not in found([*clean(90), ""], clean(90))


@pytest.mark.parametrize(("planted", "is_found"), [(90, True), (20, False)])
def test_junk_counts_from_a_hundredth_of_the_texts_on(planted: int, is_found: bool) -> None:
    texts = clean(3000)
    tagged = [f"<think> {text}" for text in texts[:planted]] + texts[planted:]
    assert ("reasoning_tags" in found(tagged, texts)) is is_found


def test_a_habit_needs_a_tenth_of_the_texts() -> None:
    texts = clean(4000)
    assert found([text.rstrip(".") if i % 25 == 0 else text for i, text in enumerate(texts)], texts) == {}


def test_a_few_texts_prove_nothing() -> None:
    texts = clean(20)
    assert found([text.lower() for text in texts[:5]], texts[5:10]) == {}
    assert found([f"{text} {text}" for text in texts[:2]], texts[2:4]) == {}
    assert not differ(Share(1, 10), Share(0, 20_000), gap=0.01)


def test_messages_are_plain_sentences() -> None:
    texts = clean()
    candidate = [text.replace(".", " .") if i % 50 else text for i, text in enumerate(texts)]
    reference = [text.replace(".", " .") if i % 50 == 0 else text for i, text in enumerate(texts)]
    message = found(candidate, reference)["tokenised_punctuation"].message
    assert message == "98 % of candidate texts have a space before punctuation (reference 2 %)"
    cut = found([" ".join(text.split()[:20]) for text in texts], texts)["cut_off"]
    assert cut.message.endswith("% of candidate texts have exactly 20 words, the most that any has (reference 2 %)")
    assert cut.fix == "raise the generator's maximum length, or cut both sides to 20 words"
    assert "take a reference" in found(texts, [" ".join(text.split()[:20]) for text in texts])["cut_off"].fix
    length = found([f"{text} {text}" for text in texts], texts)["mean_length"]
    assert length.message.startswith("candidate texts have ")
    assert length.reference_share == pytest.approx(0.5, abs=0.05)


def test_a_citation_is_short_and_cannot_steer_a_terminal() -> None:
    texts = clean()
    thinking = found([f"<think> {text}" for text in texts], texts)["reasoning_tags"]
    assert "reasoning tags such as <think> (" in thinking.message
    assert r"such as \x1b (" in found([f"\x1b[2J {text}" for text in texts], texts)["control_characters"].message
    assert r"such as \u200b (" in found([f"\u200b{text}" for text in texts], texts)["control_characters"].message
    long = found([f"<|{'x' * 500}|> {text}" for text in texts], texts)["template_tokens"].message
    assert len(long) < 120
    braces = found([f"<|{{side}}|> {text}" for text in texts], texts)["template_tokens"]
    assert "<|{side}|>" in braces.message


def test_fixes_and_order_depend_on_the_tokenizer() -> None:
    texts = clean()
    made = Sample.of([text.lower().replace(".", " .") + " " for text in texts])
    real = Sample.of([text if i % 2 else text.rstrip(".") for i, text in enumerate(texts)])

    def fixes(name: str, *, lowercase: bool = False) -> list[tuple[str, str]]:
        findings = check_format(made, real, tokenizer=get_tokenizer(name, lowercase=lowercase))
        return [(finding.kind, finding.fix) for finding in findings]

    unseen = "(metrics on sentence vectors can still be affected)"
    final = (
        "final_punctuation",
        "if texts are cut off, raise the maximum length; if not, add or strip the final punctuation of one side",
    )
    case = ("upper_case", "the option lowercase treats both alike")
    assert fixes("words") == [
        case,
        final,
        ("tokenised_punctuation", f"no effect with the tokenizer words {unseen}"),
        ("white_space", f"no effect with the tokenizer words {unseen}"),
    ]
    assert sorted(fixes("treebank")[:2]) == sorted(
        [case, ("tokenised_punctuation", "the tokenizer words treats both alike")]
    )
    assert fixes("whitespace", lowercase=True) == [
        ("tokenised_punctuation", "the tokenizer words treats both alike"),
        final,
        ("upper_case", f"no effect with the option lowercase {unseen}"),
        ("white_space", f"no effect with the tokenizer whitespace {unseen}"),
    ]


def test_the_fuller_side_is_the_one_to_clean() -> None:
    texts = clean()
    tagged = [f"<unk> {text}" for text in texts]
    assert found(tagged, texts)["template_tokens"].fix == "remove them from the candidate before comparing"
    assert found(texts, tagged)["template_tokens"].fix == "remove them from the reference before comparing"


def test_quotes_are_compared_among_texts_that_have_some() -> None:
    plain = ["A cat sat on the mat." for _ in range(2000)]
    curly, straight = ["It’s “hers”."] * 60, ['It\'s "hers".'] * 60
    finding = found(plain + curly, plain + straight)["curly_quotes"]
    assert (finding.candidate_share, finding.reference_share) == (1.0, 0.0)
    assert "curly_quotes" not in found(plain + curly, plain)


def test_large_samples_are_read_evenly_and_the_same_each_time() -> None:
    texts = clean(30_000)
    made = Sample.of([*texts, *(text.lower() for text in texts)])
    first, second = (check_format(made, Sample.of(texts), tokenizer=WORDS) for _ in range(2))
    assert first == second
    assert [finding.kind for finding in first] == ["upper_case"]
    assert first[0].candidate_share == pytest.approx(0.5, abs=0.001)


def test_an_empty_sample_has_no_format() -> None:
    nothing, some = Sample.of([]), Sample.of(clean())
    assert check_format(nothing, some, tokenizer=WORDS) == check_format(some, nothing, tokenizer=WORDS) == ()


@pytest.mark.parametrize("path", ["coco/test.txt", "coco_models/real_train.txt", "coco_models/real_test.txt"])
def test_halves_of_real_captions_give_no_finding(data: Path, path: str) -> None:
    whole = read_sample(data / path)
    for places in (np.arange(len(whole)), np.random.default_rng(0).permutation(len(whole))):
        half = len(whole) // 2
        halves = whole.take(places[:half]), whole.take(places[half:])
        assert check_format(*halves, tokenizer=WHITESPACE) == ()


def test_tokenised_model_output_is_told_from_raw_captions(data: Path) -> None:
    real, mle, seqgan = (read_sample(data / f"coco_models/{name}.txt") for name in ("real_train", "mle", "seqgan"))
    first = check_format(mle, real, tokenizer=WHITESPACE)[0]
    assert first.kind == "tokenised_punctuation"
    assert first.candidate_share > 0.8
    assert first.reference_share < 0.01
    assert first.fix == "the tokenizer words treats both alike"
    # 62 % of SeqGAN's captions end in a full stop, 79 % of the real ones do.
    assert check_format(seqgan, real, tokenizer=WORDS)[0].kind == "final_punctuation"


def test_captions_of_other_topics_have_the_same_format(data: Path) -> None:
    # 78.8 % against 77.5 % of these end in a full stop (p = 0.03): no difference in format, though the topics differ.
    train, test = (read_sample(data / f"coco_models/real_{name}.txt") for name in ("train", "test"))
    assert check_format(test, train, tokenizer=WORDS) == ()


# Characters with which traits begin and end, among plain ones; lower case and Kelvin sign match without regard to case.
CHARACTERS = "aAkÀé’“▁Ġâ€â\ufffd\u212a <>|[]/&;#@'`*_-+\\n.!?,:12()\t\x00\x1b\xad\u200b\u0301"
ODD = st.text(st.sampled_from(CHARACTERS), max_size=12)
NEAR = st.sampled_from(
    ["did n't", "<s>", "&amp;", "##ing", "a@@ b", "\\n", "```", "-lrb-", "# x", "a 's", "1. x", "x.", "A"]
)
TEXTS = st.lists(st.one_of(ODD, NEAR, st.text(max_size=8)), min_size=1, max_size=5)


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.kind)
@given(texts=TEXTS)
def test_no_trait_without_the_characters_that_it_needs(trait: Trait, texts: list[str]) -> None:
    for text in texts:
        array = pa.array([text], pa.large_string())
        assert shows(array, trait, present=bytes_in(array)).tolist() == shows(array, trait).tolist()


@given(texts=TEXTS)
def test_words_and_pieces_of_ascii_are_those_of_the_patterns(texts: list[str]) -> None:
    for given_texts in (texts, [text.encode("ascii", "ignore").decode() for text in texts]):
        array = pa.array(["", *given_texts, ""], pa.large_string())[1:]
        for pattern, belongs in ((_PIECE, _IN_PIECE), (_WORD, _IN_WORD)):
            expected = pc.count_substring_regex(array, pattern).to_pylist()
            assert _counts(array, pattern, belongs).tolist() == expected


def test_comments_in_code_are_no_headings() -> None:
    code = "Here it is:\n```python\n{}x = {}\n- 1\n```\nThat is all."
    plain = [code.format("", place) for place in range(60)]
    commented = [code.format("# a comment\n", place) for place in range(60)]
    assert "headings" not in found(commented, plain)
    assert "headings" in found([f"# Title\n{text}" for text in commented], plain)
    assert {"code_blocks", "code_languages"} <= found(plain, clean()).keys()
    assert "bullet_lists" not in found(plain, clean())


def test_answers_of_one_word_and_texts_without_spaces_are_not_cut_off() -> None:
    reference = [text for text in clean() if " " in text]
    chinese = [("一只猫坐在垫子上看着窗外的鸟" * 5)[: 20 + place % 37] for place in range(120)]
    for texts in (["yes", "no"] * 60, ["Maybe", "Yes"] * 60, chinese):
        findings = found(texts, reference)
        assert "cut_off" not in findings
        assert "mean_length" in findings


def test_texts_without_a_word_are_named_and_have_no_length() -> None:
    marks = ["!!!", "...", "**", "😀", "--"] * 20
    for candidate, reference, share in ((marks, clean(), "100 %"), (clean(), marks, "0 %")):
        findings = found(candidate, reference)
        assert findings["no_words"].message.startswith(f"{share} of candidate texts have no word, only marks")
        assert not {"cut_off", "mean_length"} & findings.keys()
    some = found([*marks[:20], *clean()], [*clean(), *clean()])
    assert some["no_words"].candidate_share == 20 / (20 + len(clean()))
