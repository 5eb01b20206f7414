"""CIDEr-D: the COCO caption evaluation as oracle, and document frequencies from the run and from files."""

import json
import math
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.pairs import caption_table, captions, made, pool, scores_of, table_of
from textassay import Item, conditional, metrics
from textassay.distances.base import pooled_scores
from textassay.distances.cider import Cider, DocumentFrequencies, read_frequencies, write_frequencies
from textassay.errors import InputError

ITEMS = st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), max_size=4), max_size=8)
GOOD = {"documents": 3, "tokenizer": "words", "frequencies": {"a": 3, "a man": 2}}


def tokens(table: Any, text: str) -> str:
    return " ".join(table.words(table.number_of[text]))


def test_a_candidate_against_all_its_references_is_the_oracles_score(data: Path) -> None:
    module = pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    table, items, oracle = caption_table(data), captions(data), module.CiderScorer()
    for item in items:
        oracle += (tokens(table, item["candidates"][0]), [tokens(table, text) for text in item["references"]])
    _, wanted = oracle.compute_score()
    distance = made("cider", table)
    found = []
    for item in items:
        numbers = np.array([table.number_of[text] for text in [*item["candidates"], *item["references"]]])
        found.append(pooled_scores(distance, numbers)[0][0, 1:].mean())
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert np.mean(wanted) > 0.1


def test_every_pair_of_an_item_is_the_oracles_score_with_one_reference(data: Path) -> None:
    module = pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    table, items = caption_table(data), captions(data)
    distance = made("cider", table)
    oracle = module.CiderScorer()
    for item in items:
        oracle += ("", [tokens(table, text) for text in item["references"]])
    oracle.compute_doc_freq()
    documents, pairs = oracle.crefs, 0
    for item in items[:60]:
        texts, numbers = pool(table, item)
        cooked = [module.precook(tokens(table, text)) for text in texts]
        oracle.ctest = [one for one in cooked for _ in cooked]
        # The oracle uses the length of this list as the number of documents.
        oracle.crefs = ([[other] for _ in cooked for other in cooked] + documents)[: len(documents)]
        np.testing.assert_allclose(distance.scores(numbers).ravel(), oracle.compute_cider(), atol=1e-9)
        pairs += len(cooked) ** 2
    assert pairs > 1500


def test_a_pair_by_hand() -> None:
    """Three documents of one text each: words of one document have weight log 3, words of two log 1.5."""
    scores = scores_of("cider", ["a b c", "a d", "d"])
    rare, half = math.log(3), math.log(1.5)
    # `a d` against `d`: one common unigram, of rarity log 1.5 on both sides; one bigram less.
    cosine = half * half / (math.hypot(half, half) * half)
    assert scores[1, 2] == pytest.approx(10 / 4 * cosine * math.exp(-1 / 72))
    assert scores[0, 1] == pytest.approx(
        10 / 4 * half * half / (math.hypot(half, rare, rare) * math.hypot(half, half)) * math.exp(-1 / 72)
    )
    # Three words have no 4-grams: a perfect match reaches three quarters.
    assert scores[0, 0] == pytest.approx(7.5)
    assert scores[0, 2] == 0.0


def test_clipping_makes_it_asymmetric() -> None:
    scores = scores_of("cider", ["x x x y", "x y", "z"])
    assert scores[0, 1] != scores[1, 0]
    assert scores.max() <= 10.0


def test_short_and_common_texts_have_no_distance_from_themselves() -> None:
    table = table_of([["a", "b c"], ["a"]])
    distance = made("cider", table)
    scores, distances = pooled_scores(distance, np.array([0, 1, 0]))
    assert scores[0, 0] == 0.0
    assert distances[0, 0] == distances[0, 2] == distances[1, 1] == 0.0
    assert distances[0, 1] == 10.0


@pytest.mark.parametrize("documents", [[["a cat sat on", "the dog"]], []])
def test_one_document_is_undefined(documents: list[list[str]]) -> None:
    distance = made("cider", table_of(documents, ["a cat sat on", "a mat"]))
    assert isinstance(distance, Cider)
    assert not distance.scores(np.arange(2)).any()
    assert "CIDEr-D of one item" in distance.undefined
    assert not distance.notes


def test_one_item_has_no_number_of_cider() -> None:
    """Neither on its own nor in a study; with frequencies from a file it has."""
    references = ["a man rides a horse", "a man on a horse in a field"]
    alone = metrics.score(references, references, distance="cider")
    assert math.isnan(alone.estimate)
    assert "CIDEr-D of one item" in str(alone.undefined)
    found = conditional([Item("a", tuple(references), {"s": tuple(references)})], distances=["cider"])
    assert all("CIDEr-D of one item" in str(result.undefined) for result in found.systems[0].results)


def test_one_item_with_document_frequencies_has_a_number(tmp_path: Path) -> None:
    table = table_of([["a man rides a horse"], ["the dog runs in a field"], ["two cats"]])
    write_frequencies(DocumentFrequencies.of(table), tmp_path / "frequencies.json")
    references = ["a man rides a horse", "a man on a horse in a field"]
    path = str(tmp_path / "frequencies.json")
    found = metrics.score(references, references, distance="cider", tokenizer="words", document_frequencies=path)
    assert found.estimate > 1


@pytest.mark.parametrize(("documents", "notes"), [(2, 1), (9, 1), (10, 0)])
def test_few_documents_give_a_note(documents: int, notes: int) -> None:
    distance = made("cider", table_of([[f"text {i}"] for i in range(documents)]))
    assert isinstance(distance, Cider)
    assert len(distance.notes) == notes
    assert not notes or f"of {documents} items" in distance.notes[0]


@settings(max_examples=80, deadline=None)
@given(items=ITEMS, cuts=st.lists(st.integers(0, 8), max_size=3))
def test_any_cut_merges_to_the_same_frequencies(items: list[list[str]], cuts: list[int]) -> None:
    whole = DocumentFrequencies.of(table_of(items))
    bounds = sorted({0, len(items), *(cut for cut in cuts if cut < len(items))})
    parts = [DocumentFrequencies.of(table_of(items[a:b])) for a, b in pairwise([0, *bounds])]
    merged = reduce(lambda a, b: a.merge(b), parts)
    assert (merged.documents, merged.tokenizer, merged.digest) == (whole.documents, whole.tokenizer, whole.digest)
    for name in ("keys", "counts"):
        mine, wanted = getattr(merged, name), getattr(whole, name)
        assert (mine.dtype, mine.tobytes()) == (wanted.dtype, wanted.tobytes())
    assert merged.ngrams.to_pylist() == whole.ngrams.to_pylist()


@settings(max_examples=80, deadline=None)
@given(items=ITEMS)
def test_frequencies_are_those_of_counting_by_hand(items: list[list[str]]) -> None:
    wanted: dict[str, int] = {}
    for texts in items:
        lists = [text.split() for text in texts]
        grams = {" ".join(words[i : i + n]) for words in lists for n in (1, 2, 3, 4) for i in range(len(words) - n + 1)}
        for gram in grams:
            wanted[gram] = wanted.get(gram, 0) + 1
    assert DocumentFrequencies.of(table_of(items)).to_dict() == {
        "documents": len(items),
        "tokenizer": "words",
        "frequencies": wanted,
    }


def test_merging_needs_one_tokenizer() -> None:
    parts = [DocumentFrequencies.of(table_of([["a"]], tokenizer=name)) for name in ("words", "char")]
    with pytest.raises(InputError, match="tokenizers 'words' and 'char'; wanted one"):
        parts[0].merge(parts[1])


@pytest.mark.parametrize("tokenizer", ["words", "whitespace", "char"])
def test_a_file_gives_the_same_scores_and_signature_as_the_run(tmp_path: Path, tokenizer: str) -> None:
    references = [["a man  rides", "a\\b man \\s"], ["the man", "日本 a man rides \\ now"], ["a b", "a  c"]]
    table = table_of(references, ["a man is a man"], tokenizer)
    path = tmp_path / "df.json"
    write_frequencies(DocumentFrequencies.of(table), path)
    run, file = made("cider", table), made("cider", table, str(path))
    numbers = np.arange(len(table))
    assert run.scores(numbers).tobytes() == file.scores(numbers).tobytes()
    assert run.signature == file.signature
    assert run.signature.startswith("cider/df:3docs-")
    assert read_frequencies(path).to_dict() == DocumentFrequencies.of(table).to_dict()


def test_a_file_of_another_corpus_changes_scores_and_signature(tmp_path: Path) -> None:
    table = table_of([["a man rides"], ["a dog"], ["the end"]])
    path = tmp_path / "df.json"
    path.write_text(json.dumps(GOOD | {"documents": 1000}))
    run, file = made("cider", table), made("cider", table, str(path))
    assert (run.scores(np.arange(3)) != file.scores(np.arange(3))).any()
    assert file.signature.startswith("cider/df:1000docs-")
    assert file.signature != run.signature


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "a JSON list; wanted an object"),
        ('{"documents": 2}', "no field 'tokenizer'; fields are 'documents'"),
        (json.dumps(GOOD | {"documents": True}), "field 'documents' is true"),
        (json.dumps(GOOD | {"documents": 0, "frequencies": {}}), "0 documents; wanted 1 or more"),
        (json.dumps(GOOD | {"documents": 10**40}), "documents; wanted 1 or more"),
        (json.dumps(GOOD | {"tokenizer": "char"}), "frequencies of tokens of 'char'; wanted 'words'"),
        (json.dumps(GOOD | {"frequencies": {"a": 4}}), "'a' is in 4 documents; wanted a whole number from 1 to 3"),
        (json.dumps(GOOD | {"frequencies": {"a\n": 1.5}}), r"'a\\n' is in 1.5 documents"),
        (json.dumps(GOOD | {"frequencies": {"a": math.nan}}), "NaN is not a JSON number"),
        (json.dumps(GOOD | {"frequencies": {"": 1}}), "'' is not an n-gram; wanted 1 to 4 words"),
        (json.dumps(GOOD | {"frequencies": {"a  b": 1}}), "'a  b' is not an n-gram"),
        (json.dumps(GOOD | {"frequencies": {"a b c d e": 1}}), "'a b c d e' is not an n-gram"),
        (json.dumps(GOOD | {"frequencies": {"\ud800": 1}}), "half a surrogate pair"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_file_of_the_wrong_shape_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "df.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        made("cider", table_of([["a man"]]), str(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        made("cider", table_of([["a man"]]), str(tmp_path / "none.json"))
    with pytest.raises(InputError, match="cannot be written"):
        write_frequencies(DocumentFrequencies.of(table_of([["a"]])), tmp_path / "no" / "folder.json")
