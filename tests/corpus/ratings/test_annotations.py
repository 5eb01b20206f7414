"""Exports of Label Studio and Argilla, written from their documentation: the ratings of a table with one row each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from textassay.corpus.ratings.files import read_ratings
from textassay.errors import InputError

TEXTS = [
    {"item": str(n), "source": source, "text": f"{source} text {n}", "log_prob": -3.0 - n}
    for n in range(12)
    for source in ("human", "gpt")
]
RATERS = ("7", "8", "9")


def value_of(text: dict[str, Any], rater: str) -> int:
    return 1 + (int(text["item"]) + int(rater) + (text["source"] == "gpt")) % 5


def plain() -> list[dict[str, Any]]:
    return [{**text, "rater": rater, "rating": value_of(text, rater)} for text in TEXTS for rater in RATERS]


def label_studio(kind: str = "rating") -> list[dict[str, Any]]:
    def annotation(text: dict[str, Any], rater: str, *, cancelled: bool = False) -> dict[str, Any]:
        value: Any = value_of(text, rater)
        given = {"rating": value, "number": float(value), "choices": [str(value)]}[kind]
        result = [
            {"from_name": "comment", "type": "textarea", "value": {"text": ["fine"]}},
            {"from_name": "quality", "to_name": "text", "type": kind, "value": {kind: given}},
        ]
        by: Any = {"id": int(rater), "email": rater} if rater == "9" else int(rater)
        return {"id": 1, "completed_by": by, "was_cancelled": cancelled, "ground_truth": False, "result": result}

    return [
        {
            "id": 100 + number,
            "data": {**text, "images": ["x"]},
            "annotations": [
                *(annotation(text, rater) for rater in RATERS),
                annotation(text, "8", cancelled=True),
            ],
            "predictions": [{"model_version": "m", "result": []}],
        }
        for number, text in enumerate(TEXTS)
    ]


def argilla(*, flat: bool = True) -> list[dict[str, Any]]:
    def record(text: dict[str, Any]) -> dict[str, Any]:
        identity = f"{text['source']}-{text['item']}"
        values = [value_of(text, rater) for rater in RATERS]
        facts = {"text": text["text"], "source": text["source"], "item": text["item"], "log_prob": text["log_prob"]}
        if flat:
            return {
                "id": identity,
                "status": "completed",
                "_server_id": "x",
                **facts,
                "quality.responses": [*values, 5],
                "quality.responses.users": [*RATERS, "10"],
                "quality.responses.status": ["submitted"] * 3 + ["draft"],
                "quality.suggestion": 3,
                "quality.suggestion.score": None,
                "quality.suggestion.agent": "m",
            }
        responses = [{"value": value, "user_id": rater} for value, rater in zip(values, RATERS, strict=True)]
        fields = {"text": facts.pop("text")}
        return {
            "id": identity,
            "fields": fields,
            "metadata": facts,
            "suggestions": {},
            "responses": {"quality": responses},
        }

    return [record(text) for text in TEXTS]


EXPORTS: dict[str, tuple[Callable[[], list[dict[str, Any]]], str]] = {
    "label studio, ratings": (
        label_studio,
        "Label Studio tasks: 72 ratings read from the question 'quality'; left out",
    ),
    "label studio, numbers": (lambda: label_studio("number"), "24 cancelled annotations"),
    "label studio, choices": (lambda: label_studio("choices"), "24 cancelled annotations"),
    "argilla, flat": (argilla, "Argilla records: 72 ratings read from the question 'quality'; left out: 24 draft"),
    "argilla, nested": (lambda: argilla(flat=False), "Argilla records: 72 ratings read from the question 'quality'"),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_has_the_ratings_of_a_plain_table(name: str, tmp_path: Path) -> None:
    make, said = EXPORTS[name]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(make()), encoding="utf-8")
    expected, found = read_ratings(plain()), read_ratings(path)
    assert found.items == expected.items
    assert found.raters == expected.raters
    assert found.ratings.tolist() == expected.ratings.tolist()
    assert found.rater_of.tolist() == expected.rater_of.tolist()
    assert any(said in note for note in found.notes)


def refusal(records: list[dict[str, Any]], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_ratings(records, **options)
    return str(caught.value)


def test_a_question_is_chosen_by_its_name() -> None:
    two = [{**record, "tone.responses": [1, 2, 3], "tone.responses.users": list(RATERS)} for record in argilla()]
    assert "ratings for the questions 'quality', 'tone'; wanted one, rating='NAME'" in refusal(two)
    assert "rating='mood': no such question; questions are 'quality', 'tone'" in refusal(two, rating="mood")
    assert set(read_ratings(two, rating="tone").ratings.tolist()) == {1.0, 2.0, 3.0}


def test_a_column_of_ratings_is_chosen_by_its_name() -> None:
    rows = [{**row, "tone": 6 - row["rating"]} for row in plain()]
    assert read_ratings(rows, rating="tone").ratings.tolist() == [6 - row["rating"] for row in rows]
    assert "no column 'mood'" in refusal(rows, rating="mood")


def test_an_export_without_ratings_is_one_line() -> None:
    cancelled = [
        {**task, "annotations": [{**one, "was_cancelled": True} for one in task["annotations"]]}
        for task in label_studio()
    ]
    assert "Label Studio tasks without answers (96 cancelled annotations" in refusal(cancelled)
    words = [{**record, "quality.responses": ["good", "bad", "good", "bad"]} for record in argilla()]
    assert "wanted one, rating='NAME'" in refusal(words)
