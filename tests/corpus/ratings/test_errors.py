"""Bad tables of ratings are refused in one line that says what, where, seen and wanted."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from textassay.corpus.ratings.files import read_ratings
from textassay.errors import InputError

HEAD = "item,source,text,log_prob,rater,rating\n"
GOOD = HEAD + "h,human,a,-1,r1,5\nm,gpt,b,-2,r1,3\n"
MEANS = "rating,source,log_prob,length\n4,human,-1,3\n2,gpt,-2,3\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(content: str, name: str = "r.csv", **options: Any) -> str:
    Path(name).write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InputError) as caught:
        read_ratings(name, **options)
    return str(caught.value)


def test_what_is_bad_in_the_cases_below_is_not_their_frame() -> None:
    for content in (GOOD, MEANS):
        Path("r.csv").write_text(content)
        assert len(read_ratings("r.csv")) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("h,human,a,-1,r1,5", "rater 'r1' has rated item 'h' at r.csv:2 already; wanted one rating per rater and item"),
        ("h,human,a,-1,r1,4", "rater 'r1' has rated item 'h' at r.csv:2 already; wanted one rating per rater and item"),
        ("h,human,b,-1,r2,5", "text 'b' of item 'h'; r.csv:2 has 'a'; wanted one text per item"),
        ("h,human,a,-3,r2,5", "log_prob -3.0 of item 'h'; r.csv:2 has -1.0; wanted one log_prob per item"),
        ("h,human,a,0.3,r2,5", "log_prob 0.3 is above 0; wanted a natural logarithm of a probability"),
        ("h,human,a,inf,r2,5", "log_prob inf is above 0; wanted a natural logarithm of a probability"),
        ("h,human,a,low,r2,5", "log_prob is 'low'; wanted a number"),
        ("h,human,a,-1,r2,Typical", "rating is 'Typical'; wanted a number"),
        ("h,human,a,-1,r2,1_0", "rating is '1_0'; wanted a number"),
        ("h,human,a,-1,r2,nan", "rating is nan; wanted a finite number"),
        ("h,human,a,-1,r2,inf", "rating is inf; wanted a finite number"),
        ("h,human,a,-1,,5", "nothing in 'rater'; wanted one in each row"),
        ("h,,a,-1,r2,5", "nothing in 'source'; wanted one in each row"),
        (",human,a,-1,r2,5", "nothing in 'item'; wanted one in each row"),
        (
            "h,human,a,-1,r2",
            "5 fields; wanted 6 as in the header ('item', 'source', 'text', 'log_prob', 'rater', 'rating')",
        ),
        ("n,human,c,,r2,5", "item 'n' has no log_prob; wanted one for each item (use log_probs='FILE')"),
        ("n,human,c,nan,r2,5", "item 'n' has no log_prob; wanted one for each item (use log_probs='FILE')"),
        ('h,human,"a', "a broken row: unexpected end of data"),
        ("h,human,\x1b[2J,-1,r2,5", "text '\\x1b[2J' of item 'h'; r.csv:2 has 'a'; wanted one text per item"),
    ],
)
def test_bad_rows(row: str, message: str) -> None:
    assert refusal(f"{GOOD}{row}\n") == f"r.csv:4: {message}"


def test_ratings_outside_a_scale() -> None:
    assert refusal(GOOD, scale=(1, 4)) == "r.csv:2: rating 5 is outside the scale; wanted 1 to 4"
    assert refusal(GOOD, scale=(3.5, 6)) == "r.csv:3: rating 3 is outside the scale; wanted 3.5 to 6"
    assert refusal(GOOD, scale=(6, 1)).startswith("scale 6 to 1; wanted a lowest and a highest rating")
    assert refusal(GOOD, scale=(1, float("nan"))).startswith("scale 1 to nan; wanted")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("4,human,-1,3.5", "length is 3.5; wanted a whole number of tokens"),
        ("4,human,-1,-3", "length is -3; wanted a whole number of tokens"),
        ("4,human,-1,inf", "length is inf; wanted a whole number of tokens"),
        ("4,human,-1,many", "length is 'many'; wanted a number"),
        ("4,human,-1,", "item '3' has no length, but others have; wanted a length for all or for none"),
    ],
)
def test_bad_lengths(row: str, message: str) -> None:
    assert refusal(f"{MEANS}{row}\n") == f"r.csv:4: {message}"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("score,source,log_prob,length", "no column 'rating'; columns are 'score', 'source', 'log_prob', 'length'"),
        ("rating,by,log_prob,length", "no column 'source'; columns are 'rating', 'by', 'log_prob', 'length'"),
        (
            "rating,source,p,length",
            "no column 'log_prob' or 'nll'; columns are 'rating', 'source', 'p', 'length' (or use log_probs='FILE')",
        ),
        (
            "rating,source,log_prob,words",
            "no column 'text' or 'length'; columns are 'rating', 'source', 'log_prob', 'words'",
        ),
        (
            "rating_label,source,log_prob,length",
            "ratings are given only as words, in 'rating_label'; wanted numbers in a column 'rating'",
        ),
        (
            "rating,source,log_prob,Log Prob",
            "the columns 'log_prob' and 'Log Prob' both mean the log prob; wanted one; "
            "columns are 'rating', 'source', 'log_prob', 'Log Prob'",
        ),
        (
            "rating,source,log_prob, Label",
            "the columns 'source' and 'Label' both mean the source; wanted one; "
            "columns are 'rating', 'source', 'log_prob', 'Label'",
        ),
        (
            "source,rating,log_prob,nll",
            "the columns 'log_prob' and 'nll' both hold log-probabilities; wanted one; "
            "columns are 'source', 'rating', 'log_prob', 'nll'",
        ),
    ],
)
def test_bad_headers(header: str, message: str) -> None:
    body = MEANS.split("\n", 1)[1]
    assert refusal(f"{header}\n{body}") == f"r.csv:1: {message}"


def test_raters_need_items() -> None:
    content = "rater,rating,source,log_prob,length\nr1,4,human,-1,3\nr1,2,gpt,-2,3\n"
    assert refusal(content).startswith("r.csv:1: no column 'item' or 'text'; columns are")
    content = "rater,rating,source,log_prob,text\nr1,4,human,-1,\nr1,2,gpt,-2,a\n"
    assert refusal(content) == "r.csv:2: nothing in 'text'; wanted one in each row"


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        (["human", "real"], {}, "only human texts in 'source'; wanted texts of a model too"),
        (["a", "b"], {}, "only 'a', 'b' in 'source'; wanted 'human' too, for texts written by people"),
        (["human", "a", "b"], {}, "'source' has 2 models: 'a', 'b'; wanted one (use model='NAME')"),
        (["human", "a", "b"], {"model": "c"}, "'source' has no model 'c'; models are 'a', 'b'"),
        (["human", "a"], {"model": "human"}, "'source' has no model 'human'; models are 'a'"),
    ],
)
def test_sources(sources: list[str], options: dict[str, Any], message: str) -> None:
    rows = "".join(f"3,{source},-1,3\n" for source in sources)
    assert refusal(f"rating,source,log_prob,length\n{rows}", **options) == f"r.csv: {message}"


def test_missing_log_probs_are_counted() -> None:
    content = MEANS + "4,human,,3\n4,gpt,nan,3\n4,gpt,,3\n"
    assert refusal(content) == (
        "r.csv:4: item '3' has no log_prob, nor have 2 more of 5; wanted one for each item (use log_probs='FILE')"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", "", "r.csv: empty; wanted one row per rating"),
        ("r.jsonl", "\n \n", "r.jsonl: empty; wanted one row per rating"),
        (
            "r.csv",
            "\nrating,source\n",
            "r.csv:2: a header and no rows; wanted one row per rating",
        ),
        ("r.json", "[]", "r.json: empty; wanted one row per rating"),
        ("r.json", "{}", "r.json: no column 'source'; there are no columns"),
        ("r.json", "3", "r.json: record 1: a number (3); wanted an object with one field per column"),
        ("r.json", "[3]", "r.json: record 1: a number (3); wanted an object with one field per column"),
        ("r.jsonl", '{"rating": 1}\n"x"', "r.jsonl:2: a string; wanted an object with one field per column"),
        (
            "r.jsonl",
            '{"rating": 1',
            "r.jsonl:1: not valid JSON: Expecting ',' delimiter (column 13); the file ends within a value,"
            " so it is incomplete",
        ),
        ("r.jsonl", "{}", "r.jsonl: no column 'source'; there are no columns"),
        ("r.txt", "x", "r.txt: lines of text have no fields; wanted .jsonl, .json, .csv, .tsv or .parquet"),
        (
            "r.parquet",
            "x",
            "r.parquet: cannot be read, damaged or not what its name says: "
            "Parquet file size is 1 bytes, smaller than the minimum file footer (8 bytes)",
        ),
        (
            "r.csv",
            "rating,source,log_prob,length\n,human,-1,3\n2,gpt,-2,3\n",
            "r.csv: no item of 'human' has a rating; wanted ratings of both sources",
        ),
        (
            "r.csv",
            "rating,source,log_prob,length\n,human,-1,3\n,gpt,-2,3\n",
            "r.csv:1: nothing in the column 'rating'; wanted values",
        ),
    ],
)
def test_files_without_ratings(name: str, content: str, message: str) -> None:
    assert refusal(content, name) == message


def test_labels_that_disagree() -> None:
    rows = "a,human,t,-1,r1,5,Typical\nb,gpt,u,-1,r1,5,Average\n"
    assert refusal(HEAD.strip() + ",rating_label\n" + rows) == (
        "r.csv:3: rating 5 is called 'Average'; r.csv:2 calls it 'Typical'; wanted one label per rating"
    )


RECORD = {"rating": 3, "source": "human", "log_prob": -1, "text": "a"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rating": True}, "rating is a boolean; wanted a number"),
        ({"rating": [1]}, "rating is an array; wanted a number"),
        ({"rating": 10**400}, "rating is too large a number; wanted a smaller one"),
        ({"rating": 10**5000}, "rating is too large a number; wanted a smaller one"),
        ({"text": 3}, r"'text' is a number \(3\); wanted a string"),
        ({"text": "\ud800"}, "'text': the text holds half a surrogate pair"),
        ({"source": {}}, "'source' is an object; wanted a string or a whole number"),
        ({"item": 1.5}, r"'item' is a number \(1.5\); wanted a string or a whole number"),
        ({"item": True}, "'item' is a boolean; wanted a string or a whole number"),
        ({"item": 10**5000}, "'item' is a number with too many digits; wanted a name"),
        ({"item": b"x"}, "'item' is bytes; wanted a string or a whole number"),
    ],
)
def test_odd_values_in_records(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^ratings: record 1: {message}"):
        read_ratings([{**RECORD, **change}, {**RECORD, "source": "m"}])


def test_odd_objects() -> None:
    frame = pl.DataFrame([RECORD])
    refused: list[tuple[Any, str]] = [
        (3, r"ratings: a number \(3\); wanted a path, a list of dicts, a data frame or a dataset"),
        (RECORD, r"ratings: a dict \(.*\); wanted one of its values, or a list of dicts"),
        (b"x", "ratings: bytes; wanted a path"),
        ([], "ratings: empty; wanted one row per rating"),
        ([3], r"ratings: record 1: a number \(3\); wanted a dict with one field per column"),
        (frame.lazy(), "ratings: a lazy frame; wanted it collected"),
        (
            frame.clear(),
            "ratings: a header and no rows; wanted one row per rating",
        ),
        (pl.DataFrame(), "ratings: empty; wanted one row per rating"),
    ]
    for value, message in refused:
        with pytest.raises(InputError, match=f"^{message}"):
            read_ratings(value)
    rated = read_ratings([RECORD, {**RECORD, "source": "m"}])
    for options, names in (
        ({"model": "m"}, "no model"),
        ({"log_probs": "p.csv", "scale": (1, 6)}, "no log_probs and no scale"),
    ):
        with pytest.raises(InputError, match=f"^ratings: RatedItems are complete; wanted {names} with them$"):
            read_ratings(rated, **options)
    with pytest.raises(InputError, match="log_probs: record 1: log_prob 2 is above 0"):
        read_ratings([RECORD, {**RECORD, "source": "m"}], log_probs=[{"text": "a", "log_prob": 2}])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "1-6"}, "scale is '1-6'; wanted a lowest and a highest rating, such as 1 and 6"),
        ({"scale": (1, 3, 6)}, r"scale is (1, 3, 6); wanted a lowest and a highest rating, such as 1 and 6"),
        ({"scale": 6}, "scale is 6; wanted a lowest and a highest rating, such as 1 and 6"),
        ({"scale": ("1", "6")}, "scale is ('1', '6'); wanted a lowest and a highest rating, such as 1 and 6"),
        ({"model": 3}, "model is a number (3); wanted its name"),
    ],
)
def test_odd_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings([RECORD, {**RECORD, "source": "m"}], **options)
    assert str(caught.value) == message
    assert refusal(GOOD, **options) == message
