"""The design that follows from records: when samples are paired, when texts are grouped, and what is stated."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.formats.examples import anthropic, batch, choice, lm_eval, text_part
from textassay import compare
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.errors import InputError
from textassay.inference.record_design import RecordDesign, record_design

LLM = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).parents[3] / "shared" / "data")) / "llm"
OFF = "--no-pair (in Python pair=False) treats all texts as independent"


def records(prompts: list[Any], name: str, **more: Any) -> list[dict[str, Any]]:
    return [{"prompt": prompt, "text": f"{name} {n}", **more} for n, prompt in enumerate(prompts)]


def design(reference: Any, *candidates: Any, **options: Any) -> RecordDesign:
    samples = {f"m{number}": read_sample(source) for number, source in enumerate(candidates)}
    return record_design(read_sample(reference), samples, **options)


def groups(sample: Sample) -> list[str]:
    assert sample.groups is not None
    return list(sample.groups.to_pylist())


def asked(first: int, last: int, each: int = 1) -> list[str]:
    return [f"Q{number}" for number in range(first, last) for _ in range(each)]


def test_samples_with_the_same_prompts_are_paired() -> None:
    found = design(records(asked(0, 20), "a"), records(asked(0, 20, 2), "b"))
    assert (found.kind, found.field) == ("paired", "prompt")
    assert groups(found.candidates["m0"]) == asked(0, 20, 2)
    (note,) = found.notes
    assert note.startswith("paired by prompt: 20 prompts are in all samples, ")
    assert OFF in note


def test_prompts_on_one_side_only_are_counted_and_named() -> None:
    real, made = records(asked(0, 30), "a"), records(asked(10, 35), "b")
    cut = design(real, made).cut(size="match", seed=0, baseline=False)
    assert len(cut.reference) == len(cut.candidates["m0"]) == 20
    assert (
        "texts left out because their group is not in every sample: "
        "reference 10 ('Q0', 'Q1', 'Q2' and 7 more); m0 5 ('Q30', 'Q31', 'Q32' and 2 more)"
    ) in cut.notes


def test_a_candidate_may_be_called_reference() -> None:
    sample = read_sample(records([None, *asked(1, 30)], "b"))
    found = record_design(read_sample(records([None, *asked(0, 29)], "a")), {"reference": sample})
    assert found.kind == "paired"
    assert groups(found.reference)[0] != groups(found.candidates["reference"])[0]
    assert len(found.cut(size="match", seed=0, baseline=False).reference) == 28


@pytest.mark.parametrize(
    ("real", "made", "kind"),
    [
        (asked(0, 20), asked(20, 40), "independent"),
        (asked(0, 20), asked(19, 39), "independent"),
        (asked(0, 20), asked(14, 34), "grouped"),
        (asked(0, 20), asked(10, 30), "paired"),
        (asked(0, 4, 5), asked(4, 8, 5), "grouped"),
        (["Q"] * 20, ["Q"] * 20, "independent"),
        ([None] * 20, asked(0, 2, 10), "grouped"),
        ([None] * 20, asked(0, 20), "independent"),
        ([" "] * 20, asked(0, 20), "independent"),
    ],
)
def test_what_prompts_decide(real: list[str | None], made: list[str], kind: str) -> None:
    assert design(records(real, "a"), records(made, "b")).kind == kind
    assert design(records(real, "a"), records(made, "b"), pair=False).kind == "independent"


def test_every_candidate_must_have_the_prompts() -> None:
    found = design(records(asked(0, 20), "a"), records(asked(0, 20), "b"), records(asked(20, 40), "c"))
    assert found.kind == "grouped"
    assert "candidate 'm1' has 20 texts of 20 prompts" in found.notes[0]


def test_texts_without_prompts_are_groups_of_their_own() -> None:
    found = design([{"text": f"a {n}"} for n in range(20)], records(asked(0, 5, 4), "b"))
    assert found.kind == "grouped"
    assert len(set(groups(found.reference))) == 20
    assert [sample.name for sample in found.undeclared] == ["sample"]
    assert found.undeclared[0] is found.reference
    assert "the reference has 20 texts without prompts" in found.notes[0]


def test_batches_are_joined_by_their_ids_in_any_order() -> None:
    """Without prompts `custom_id` names them, also where it is a number."""
    real = [batch(str(n), choice(f"A cat {n}."), choice(f"A dog {n}.")) for n in range(20)]
    made = [anthropic(str(n), text_part(f"A cow {n}.")) for n in reversed(range(20))]
    found = design(real, made)
    assert (found.kind, found.field) == ("paired", "prompt_id")
    assert found.notes[0].startswith("paired by id ('prompt_id'): 20 ids are in all samples")
    assert groups(found.candidates["m0"])[0] == "19"


def test_numbers_of_rows_are_no_ids_of_prompts() -> None:
    rows = [{"id": n, "text": f"a {n}"} for n in range(20)]
    assert design(rows, rows).kind == "independent"
    named = [{"id": f"image {n}", "text": f"a {n}"} for n in range(20)]
    assert design(named, named).field == "id"


def test_other_prompts_for_the_same_ids_are_a_caution() -> None:
    real = [lm_eval(n, [f"A cat {n}."]) for n in range(20)]
    made = [{**record, "arguments": [[f"<user>Q{n}", {}]]} for n, record in enumerate(real)]
    assert design(real, made).kind == "independent"
    found = compare(real, {"m": made}, metrics="distinct", n_resamples=19)
    assert any('use --pair prompt_id (in Python pair="prompt_id")' in warning for warning in found["m"].warnings)
    assert design(real, real).notes[0].startswith("paired by prompt:")


def test_samples_with_groups_keep_them() -> None:
    one, other = (Sample.of([f"{name} {n}" for n in range(9)], groups=range(9)) for name in "ab")
    found = record_design(one, {"m": other})
    assert (found.kind, found.notes, found.reference) == ("grouped", (), one)


@given(st.permutations(asked(0, 6, 2)), st.permutations(asked(2, 9, 2)))
def test_the_order_of_texts_does_not_matter(real: list[str], made: list[str]) -> None:
    found = design(records(real, "a"), records(made, "b"))
    assert found.kind == "paired"
    assert sorted(groups(found.reference)) == asked(0, 6, 2)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (True, "wanted the name of a field, a column with the prompt of each text, or False"),
        (3, "pair=3; wanted the name of a field"),
        (["prompt"], "9 texts and 1 value of 'group'; wanted the group of each text"),
        ([None] * 9, "candidate: text 1: field 'group' is missing or blank"),
    ],
)
def test_a_pair_that_is_no_field(pair: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(records(asked(0, 9), "a"), records(asked(0, 9), "b"), pair=pair)


WORDS = [f"w{n % 7} v{n % 11} x{n}" for n in range(60)]


def test_compare_without_being_told_is_compare_with_the_option() -> None:
    """Lists of records, data frames and files give the numbers of the option, and the settings state the design."""
    real = [{"prompt": f"Q{n % 30}", "text": f"{word} a"} for n, word in enumerate(WORDS)]
    made = [{"prompt": f"Q{n % 30}", "text": f"{word} b"} for n, word in enumerate(reversed(WORDS))]
    options: dict[str, Any] = {"metrics": "distinct,cnd", "n_resamples": 99}
    wanted = json.loads(compare(real, {"m": made}, pair="prompt", **options).to_json(timings=False))["candidates"]
    for left, right in ((real, made), (pd.DataFrame(real), pd.DataFrame(made))):
        found = compare(left, {"m": right}, **options)
        assert json.loads(found.to_json(timings=False))["candidates"] == wanted
        assert {name: found.settings[name] for name in ("design", "groups")} == {"design": "paired", "groups": "prompt"}
        assert found.notes[0].startswith("paired by prompt")
    alone = compare(real, {"m": made}, pair=False, **options)
    assert alone.settings["design"] == "independent"
    assert alone["m"].overall is not None
    assert alone["m"].overall.design == "independent"
    assert any("use --pair prompt" in warning for warning in alone["m"].warnings)


def test_prompts_in_a_column_are_those_of_a_field() -> None:
    """Of a pandas column or a list, with texts in lists, columns and samples; blank texts go with their groups."""
    prompts = [f"Q{n // 2}" for n in range(60)]
    real = pd.DataFrame({"prompt": prompts, "text": [f"{word} a" for word in WORDS]})
    made = pd.DataFrame({"prompt": prompts, "text": [*(f"{word} b" for word in WORDS[:-1]), " "]})
    options: dict[str, Any] = {"metrics": "distinct,cnd", "n_resamples": 99}
    for kind in ("pair", "group"):
        by_field: dict[str, Any] = options | {kind: "prompt"}
        asked_for = compare(real, {"m": made}, **by_field)
        wanted = json.loads(asked_for.to_json(timings=False))["candidates"]
        for values in (real["prompt"], prompts, pa.array(prompts)):
            given: dict[str, Any] = options | {kind: values}
            for left, right in ((real["text"], made["text"]), (list(real["text"]), list(made["text"]))):
                found = compare(left, {"m": right}, **given)
                assert json.loads(found.to_json(timings=False))["candidates"] == wanted
    as_samples = [Sample.of(frame["text"]) for frame in (real, real)]
    found = compare(as_samples[0], {"m": as_samples[1]}, pair=real["prompt"], **options)
    assert (found.settings["design"], found.settings["groups"]) == ("paired", "prompt")


def test_the_order_of_a_sample_without_prompts_is_still_looked_at() -> None:
    real = [f"t{n // 5} t{n // 5}x s{n // 5} w{n % 3}" + " and so on" * (n % 2) for n in range(60)]
    made = [{"prompt": f"Q{n // 6}", "text": f"z{n // 6} w{n % 3} y{n}"} for n in range(60)]
    found = compare(real, {"m": made}, metrics="distinct", n_resamples=99)
    assert found.settings["design"] == "grouped"
    assert any("neighbouring texts are more alike" in note for note in found.notes)


def test_answers_of_models_to_the_same_instructions_are_paired() -> None:
    files = [LLM / "gpt-4o-2024-05-13.json", LLM / "Meta-Llama-3-8B-Instruct.json"]
    if not all(path.exists() for path in files):
        pytest.skip(f"needs {LLM}")
    found = compare(files[0], files[1], reference_system="gpt-4o-2024-05-13", metrics="distinct", n_resamples=0)
    assert found.names == ("Meta-Llama-3-8B-Instruct",)
    assert found.settings["design"] == "paired"
    assert found.notes[0].startswith("paired by prompt: 805 prompts are in all samples")
