"""Every code: worded once, written, read back and documented."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import damaged
from grasp_core.model.outcome import Outcome
from grasp_core.model.remark_codes import CODES, KINDS, remark_from_dict
from grasp_core.model.remarks.benchmark import RANKS, ModelProblem, ranked
from grasp_core.model.remarks.cautions import Caution, GuardCaution, ScreenCaution, ShuffleCaution, is_public
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Code, Remark, said
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown, for_pages, for_python, without_options
from grasp_core.report.words.levels import unranked
from tests.results import make_group, make_result

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "codes.csv").read_text(encoding="utf-8")
EVERY = [code for kind in KINDS for code in kind]


def example(code: Code) -> Remark:
    """A remark with this code, whose numbers are of the kinds that its sentence takes."""
    numbers = {}
    for place, forms in code.places.items():
        kinds = {form for form in forms if form[:1] not in ("?", "!")}
        if kinds <= {"", "q"}:
            numbers[place] = "a 'text'"
        elif kinds & {"or", "and"} or any(form.isdigit() for form in kinds):
            numbers[place] = ("a", "b")
        else:
            numbers[place] = 0.25 if kinds & {".3f", ".0%", "g"} else 1_234
    if isinstance(code, Caution):
        numbers = dict.fromkeys(numbers, 1_234)
    return code(**numbers)


def test_each_has_a_name_and_words_of_its_own_and_is_documented() -> None:
    assert len(CODES) == len(EVERY) == len({code.value for code in EVERY})
    assert runpy.run_path(str(ROOT / "tools" / "codes_table.py"))["written"]() == DOCUMENT, (
        "run: make codes-table"
    )
    assert all(f"\n{code.key}," in DOCUMENT for code in EVERY)


@pytest.mark.parametrize("code", EVERY, ids=lambda code: code.key)
def test_each_is_worded_and_travels_in_a_result(code: Code) -> None:
    remark = example(code)
    assert str(remark).strip()
    assert "{" not in str(remark)
    result = make_result((make_group(irr=Outcome(None, reason=remark)),), dsi=(), statistics=("irr",))
    found = RunResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert found == result
    (row,) = result.to_dict()["groups"]
    assert row["statistics"]["irr"]["reason"] == {
        "code": code.key,
        "numbers": json.loads(json.dumps(dict(remark.numbers))),
        "text": str(remark),
    }


def test_sentences_of_files_are_worded_from_their_code_if_this_version_knows_it() -> None:
    assert remark_from_dict("as it was") == said("as it was")
    later = {"code": "of-the-future", "numbers": {"n": [{"x": 1}]}, "text": "as it will be"}
    assert str(remark_from_dict(later)) == "as it will be"
    plain = Caution.TOO_FEW_FOR_P().to_dict() | {"text": "rater 4711"}
    assert str(remark_from_dict(plain)) == str(Caution.TOO_FEW_FOR_P())


def test_numbers_are_those_of_the_sentence() -> None:
    with pytest.raises(ValueError, match="expected the numbers shuffled"):
        NoValue.FEW_SHUFFLED_VALUES(counted=3)
    with pytest.raises(ValueError, match="no-pair"):
        NoValue.NO_PAIR(shuffled=3)


@pytest.mark.parametrize(
    "plain",
    [
        3,
        None,
        {"code": "no-pair"},
        {"code": "no-pair", "numbers": {"n": 1}, "text": ""},
        {"code": 3, "numbers": {}, "text": ""},
        {"code": "few-shuffled-values", "numbers": {"shuffled": "x"}, "text": ""},
        {"code": "few-shuffled-values", "numbers": {"shuffled": True}, "text": ""},
        {"code": "few-shuffled-values", "numbers": {"self": 1}, "text": ""},
        {"code": "gai-not-above-0", "numbers": {"statistic": [None], "value": 0.1}, "text": ""},
        {"code": "gai-not-above-0", "numbers": {"statistic": [1, "a"], "value": 0.1}, "text": ""},
        {"code": "of-the-future", "numbers": {}},
    ],
)
def test_damage_is_told(plain) -> None:
    with pytest.raises(DataError, match="the file is damaged"), damaged("the file"):
        remark_from_dict(plain)


def test_nobody_is_named_by_what_everybody_may_see() -> None:
    assert is_public(Caution.SMALL_GROUPS(small=1, groups=2, least=3))
    assert not is_public(Caution.SMALL_GROUPS(small="rater 4711", groups=2, least=3))
    assert not is_public(said(str(Caution.TOO_FEW_FOR_P())))


def test_lists_and_cells_are_cut_to_what_is_shown() -> None:
    many = tuple(f"value {n}" for n in range(100))
    remark = DataProblem.NO_NUMBER(where="a.csv, labels", cells=100, values=many)
    assert dict(remark.numbers)["values"] == (*many[:3], 97)
    assert "('value 0', 'value 1', 'value 2' and 97 more)" in str(remark)
    assert remark_from_dict(json.loads(json.dumps(remark.to_dict()))) == remark
    long = DataProblem.ONE_LABEL(where="a.csv, labels", label="x" * 1_000)
    assert len(json.dumps(long.to_dict())) < 400
    assert remark_from_dict(long.to_dict()) == long


def test_what_stands_at_times_only() -> None:
    said_once = DataProblem.BLANK_ID_OF_ROW(file="a.csv", row=1_234, column="id", more=0)
    assert str(said_once) == (
        "a.csv, row 1234, column 'id': the id is blank; give every row an id, or leave such rows out: on "
        "Data, under Decide first, or by --drop id="
    )
    assert "is blank (and in 1 more row); give" in str(said_once.reworded(more=1))
    close = {"file": "a.csv", "column": "ag", "columns": ("age", "g")}
    assert str(DataProblem.NO_COLUMN(**close, close=("age",))) == (
        "a.csv has no column 'ag'; did you mean 'age', or another of 'age', 'g'?"
    )
    assert str(DataProblem.NO_COLUMN(**close, close=())) == (
        "a.csv has no column 'ag'; its columns are 'age', 'g'"
    )


def test_columns_joined_by_hand_are_told_how_to_be_joined() -> None:
    said_so = "no column is named 'a,b'; name 'a', 'b' together: "
    joined = str(DataProblem.COLUMNS_TOGETHER(column="a,b", columns=("a", "b"), joined="a:b"))
    assert joined == f"{said_so}on Analysis, or by --intersect a:b"
    assert for_python(joined) == f"{said_so}by axes=[('a', 'b')]"


def test_a_proposed_order_is_a_list_in_python() -> None:
    said = unranked(["high", "low", "medium"])
    assert said is not None
    assert said.endswith("; proposed: --categories 'low,medium,high'")
    assert for_python(said).endswith("; proposed: categories=['low', 'medium', 'high']")


PLACES = (
    "on Results or Data",
    "on Data",
    "on Analysis",
    "on Models",
    "under Compare groups",
    "under Recode values",
)


def test_whoever_names_an_option_of_the_command_line_names_what_a_page_has_for_it() -> None:
    """But for language models, which a page asks with other words: see below."""
    named = [
        code for code in EVERY if re.search(r"--[a-z]", code.value) and not isinstance(code, ModelProblem)
    ]
    assert len(named) > 10
    assert [code.key for code in named if not any(place in code.value for place in PLACES)] == []


def test_a_page_names_no_options_of_the_command_line() -> None:
    refused = ModelProblem.REFUSED_QUESTION(url="http://x", status=400, options=1)
    assert str(refused).endswith("fewer log-probabilities (--top-logprobs) or a shorter prompt (--window)")
    page = {"options": 0, "variable": "GRASP_LM_KEY"}
    assert str(refused.reworded(**page)).endswith("fewer log-probabilities or a shorter prompt")
    nameless = ModelProblem.REFUSED_KEY(url="http://x", status=401, variable="")
    assert "environment variable (none; --key-variable names one) is missing" in str(nameless)
    assert "environment variable GRASP_LM_KEY is missing" in str(nameless.reworded(**page))


def test_on_pages_the_options_of_the_command_are_left_out_and_places_stay() -> None:
    for code in EVERY:
        if "--" in code.value and not isinstance(code, ModelProblem):
            shown = without_options(code.value)
            assert "--" not in shown, code
            assert any(place in shown for place in PLACES), code
    assert (
        without_options("leave out: on Data, or by --drop a=b. Then run.") == "leave out: on Data. Then run."
    )
    assert without_options("such as the batch (--within), or not") == "such as the batch, or not"


def test_no_page_sends_anybody_to_itself() -> None:
    for page in ("Data", "Analysis", "Models", "Results"):
        for code in EVERY:
            assert f"on {page}" not in for_pages(code.value, page), code
    said = {
        "cut it, on Data under Recode values or by --bins a:1": "cut it, under Recode values",
        "leave one out on Data, under Leave out, or by --drop a=b": "leave one out under Leave out",
        "name it as a profile: on Data, or by --profile a. Then run": "name it as a profile. Then run",
        "leave them out: on Results or Data, or by --leave-out random": "leave them out: here",
    }
    for sentence, shown in said.items():
        assert for_pages(sentence, "Data") == escape_markdown(shown)
    assert for_pages("shuffle: on Analysis, or by --within a", "Data") == escape_markdown(
        "shuffle: on Analysis"
    )


def test_cautions_have_ranks_and_those_that_make_marks_wrong_come_first() -> None:
    assert RANKS.keys() == {*Caution, *GuardCaution, *ShuffleCaution, *ScreenCaution}
    odd = [said("one column is odd"), said("another is")]
    guard = GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60)
    small = Caution.SMALL_GROUPS(small=1, groups=4, least=5)
    assert ranked([small, *odd, guard]) == (guard, *odd, small)
