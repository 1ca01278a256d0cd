"""Guesses about columns: names, then values; what types of columns name; time for many columns."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

import grasp_core as grasp
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.notebook.data import frame_table
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import name_columns
from grasp_core.reading.table.table import Recipe, Table
from grasp_core.report.words.levels import known_scale, unranked
from tests.reading.making import LONG, arrow_bytes, calls, crossed, parquet_bytes, rows_table, text_table


# Columns
def long_rows(
    item: str = "item", rater: str = "rater", label: str = "label", order: Sequence[int] = (0, 1, 2, 3)
) -> list[list[str]]:
    """Twelve items by eight raters with a gender, columns in any order."""
    rng = random.Random(1)
    rows = [[item, rater, label, "gender"]]
    for i, j in itertools.product(range(12), range(8)):
        rows.append([f"i{i}", f"r{j}", rng.choice(["Yes", "No"]), "Woman" if j < 4 else "Man"])
    return [[row[position] for position in order] for row in rows]


def beside(name: str, of_row: Callable[[list[str]], str], label: str = "label") -> Table:
    """The long file with a further column, made of each row."""
    header, *rows = long_rows(label=label)
    return rows_table([[*header, name], *([*row, of_row(row)] for row in rows)])


def sentences(guess: Guess, *fields: str) -> str:
    return " ".join(reason.sentence for reason in guess.reasons if reason.field in fields)


NAMES_OF_COLUMNS = (
    "item_id,rater_id,Q_overall|question,worker,answer|doc,annotator,rating|text_id,user,score|"
    "conversation,coder,annotation|example,participant,response|Task ID,WorkerId,Toxicity Label|"
    "HITId,prolific_user_id,is_hate_label|comment_id,AnnotatorName,label|"
    # One name that says nothing, or none: the values decide.
    "thing,rater,label|item,who,label|x,y,label|item,rater,offensive|x,y,z"
)


@pytest.mark.parametrize("columns", NAMES_OF_COLUMNS.split("|"))
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_long_files(columns, order):
    item, rater, label = columns.split(",")
    guess = recognise(rows_table(long_rows(item, rater, label, order=order)))
    assert {guess.spec.item, guess.spec.rater} == {item, rater}
    assert guess.spec.label == label
    if (item, rater) != ("x", "y"):
        assert guess.spec == DataSpec(item=item, rater=rater, label=label)
        assert guess.axes == ("gender",)
    for field in ("layout", "item", "rater", "label"):
        assert sentences(guess, field)


def test_a_label_varies_within_items_and_raters_and_row_numbers_are_no_items():
    # `response` is what is judged: a property of the item, whatever its name says.
    table = beside("response", lambda row: f"text of {row[0]}", label="verdict_x")
    assert recognise(table).spec.label == "verdict_x"
    rows = [["id" if n == 0 else str(n), *row] for n, row in enumerate(long_rows("x"))]
    assert recognise(rows_table(rows)).spec.item == "x"


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("removed", ("True", "False"), ("removed", "True")),
        ("is_excluded", ("1", "0"), ("is_excluded", "1")),
        ("passed_checks", ("no", "yes"), ("passed_checks", "no")),
        ("phase", ("1", "2"), None),
        ("removed", ("later", "sooner"), None),
    ],
)
def test_exclusions(name, values, expected):
    guess = recognise(beside(name, lambda row: values[row[1] != "r7"]))
    assert guess.spec.exclude == ()
    assert guess.advised.exclude == ((expected,) if expected else ())
    assert guess.axes == ("gender",)
    assert [(one.field, one.count) for one in guess.advice] == ([("exclude", 1)] if expected else [])


def test_axes_without_demographic_names_of_other_raters_and_twice():
    header, *rows = long_rows()
    assert recognise(rows_table([[*header[:3], "arm"], *rows])).axes == ("arm",)
    others = text_table("rater age/x1 20/x2 30/x3 20", "raters.csv")
    assert recognise(rows_table([header, *rows]), others).axes == ()
    parity = [ord(row[1][-1]) % 2 for row in rows]
    twice = [[*row[:3], str(one), "yn"[one]] for row, one in zip(rows, parity, strict=True)]
    assert len(recognise(rows_table([[*header[:3], "rater_age", "age"], *twice])).axes) == 1


MATRIX = "key a b c d/1 Yes No Yes Yes/2 No No Yes No/3 Yes Yes No No"
BY_ITEM, BY_RATER = DataSpec(layout="items-by-raters", item="key"), DataSpec("raters-by-items", rater="key")
PROFILED = "key gender age a b c d/1 W 20 Yes No Yes Yes/2 M 20 No No Yes No/3 W 30 Yes Yes No No"
STRAY = "item text a b c d/1 t1 Yes No Yes Yes/2 t2 No No Yes No/3 t3 Yes Yes No No"
COLUMNS, ROWS = "who city age/a X 20/b Y 30/c X 20/d Y 30", "who city/1 X/2 Y/3 X"


@pytest.mark.parametrize(
    ("text", "people", "spec", "axes", "said"),
    [
        (MATRIX.replace("key", "item_id"), None, replace(BY_ITEM, item="item_id"), (), ""),
        (MATRIX.replace("key", "worker"), None, replace(BY_RATER, rater="worker"), (), ""),
        (MATRIX, None, BY_ITEM, (), ""),
        (MATRIX.replace("a b c d", "Annotator1 Annotator2 Annotator3 Annotator4"), None, BY_ITEM, (), ""),
        (MATRIX.replace("a b c d", "question_1 question_2 question_3 question_4"), None, BY_RATER, (), ""),
        (MATRIX, COLUMNS, replace(BY_ITEM, rater="who"), ("age",), "raters.csv"),
        (MATRIX, ROWS, BY_RATER, ("city",), "raters.csv"),
        (PROFILED, None, replace(BY_RATER, profile=("gender", "age")), ("gender", "age"), "'gender', 'age'"),
        (
            STRAY,
            None,
            replace(BY_ITEM, item="item", ignore=("text",), text="text"),
            (),
            "texts, one per item",
        ),
    ],
)
def test_a_matrix(text, people, spec, axes, said):
    guess = recognise(text_table(text), None if people is None else text_table(people, "raters.csv"))
    assert (guess.spec, guess.axes) == (spec, axes)
    assert said in sentences(guess, "layout", "profile", "ignore", "text")


def confidence(text: str) -> dict[str, str]:
    return {reason.field: reason.confidence for reason in recognise(text_table(text)).reasons}


def test_how_sure_a_guess_is():
    named = confidence("item_id rater_id label x/a 1 Yes p/a 2 No p/b 1 No q/b 2 Yes p")
    assert [named[field] for field in ("layout", "item", "rater", "label")] == ["sure"] * 4
    nameless = confidence("u v w x/a 1 Yes p/a 2 No q/b 1 No p/b 2 Yes p/b 2 Yes q")
    assert nameless == {"layout": "likely", "rater": "unsure"}  # what is asked first


def test_items_texts_are_found_names_have_words_and_two_columns_are_too_few():
    text = "a_long_text_of_item_{}_with_many_words".format
    table = crossed("item,rater,comment,label", lambda n, r: (n, r, text(n), "yn"[r]), items=2, raters=2)
    assert recognise(table).spec.text == "comment"
    with pytest.raises(DataError, match=r"votes\.csv has only 2 columns \('item', 'label'\)"):
        recognise(text_table("item label/1 Yes"))
    for columns in ("ID Label", "Label ID"):
        with pytest.raises(DataError, match=r"as a model's predictions do: .* make a sheet"):
            recognise(text_table(f"{columns}/50 Yes"))
    split = {"WorkerId": ("worker", "id"), "Q_overall": ("q", "overall"), "HITId": ("hit", "id")}
    split |= {"a-b c": ("a", "b", "c")}
    assert {name: names.words(name) for name in split} == split


def test_a_known_format_needs_no_guess_and_known_raters_propose_axes():
    recipe = Recipe("A tool", LONG, missing=("-",), sentences=("rejected ones were left out",))
    table = replace(text_table("item rater label x g/a r1 1 2 w/b r2 2 1 m"), recipe=recipe, member="Sheet1")
    guess = recognise(table)
    assert guess.spec == replace(LONG, missing=("", "-"), member="Sheet1")
    assert guess.recipe is recipe
    assert "A tool; rejected ones were left out" in sentences(guess, "layout")
    raters = text_table("rater sex age/r1 f 30/r2 m 30/r3 m CONSENT_REVOKED", "raters.csv")
    recipe = Recipe("A panel", axes=(("sex",),), missing=("CONSENT_REVOKED",))
    guess = recognise(rows_table(long_rows()), replace(raters, recipe=recipe))
    assert "CONSENT_REVOKED" in guess.spec.missing
    assert guess.axes == ("sex",)


# Vocabularies
ORDER = ["low", "medium", "high", "extreme"]
QUIET: dict[str, Any] = {"progress": False, "permutations": 50, "pairs": False, "axes": ["team"]}


def votes() -> pd.DataFrame:
    rows = [(f"i{i}", f"r{j}", ORDER[(i * (j + 1)) % 3], "AB"[j % 2]) for i in range(9) for j in range(6)]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "team"])


def typed(*, ordered: bool, values: list[str] = ORDER) -> pd.DataFrame:
    frame = votes()
    return frame.assign(label=pd.Categorical(frame["label"], values, ordered=ordered))


def enum() -> pl.DataFrame:
    return pl.from_pandas(votes()).with_columns(pl.col("label").cast(pl.Enum(ORDER)))


def as_file(kind: str) -> Any:
    table = pa.Table.from_pandas(typed(ordered=True))
    content = parquet_bytes(table) if kind == "parquet" else arrow_bytes(table, pa.ipc.new_file)
    return read_table(content, f"votes.{kind}")


@pytest.mark.parametrize(
    "make",
    [
        lambda: frame_table(typed(ordered=True), "votes"),
        lambda: frame_table(enum(), "votes"),
        lambda: frame_table(pa.Table.from_pandas(typed(ordered=True)), "votes"),
        *(lambda kind=kind: as_file(kind) for kind in ("parquet", "arrow")),
    ],
)
def test_an_ordered_type_says_labels_and_their_order(make: Any) -> None:
    guess = recognise(make())
    assert guess.spec.categories == tuple(ORDER)
    assert guess.ranked
    assert "'extreme' is a label that no cell has" in sentences(guess, "categories")


@pytest.mark.parametrize("values", [ORDER, ["medium", "low", "high"]])
def test_a_type_without_an_order_says_its_labels_alone(values: list[str]) -> None:
    guess = recognise(frame_table(typed(ordered=False, values=values), "votes"))
    assert guess.spec.categories == (("extreme", "high", "low", "medium") if "extreme" in values else None)
    assert not guess.ranked


def test_texts_that_are_codes_to_save_room_say_nothing() -> None:
    table = pa.Table.from_pandas(votes(), preserve_index=False).replace_schema_metadata(None)
    coded = table.set_column(2, "label", table["label"].dictionary_encode())
    assert recognise(frame_table(coded.slice(0, 20), "votes")).spec.categories is None


def test_what_is_named_or_recoded_goes_before() -> None:
    frame = typed(ordered=True)
    named = grasp.analyse(frame, level="ordinal", categories=ORDER[:3], **QUIET)
    assert named.result.spec.data.categories == tuple(ORDER[:3])
    less = grasp.analyse(frame, level="ordinal", missing=["extreme"], **QUIET)
    assert less.result.spec.data.categories == tuple(ORDER[:3])
    assert less.result.groups == named.result.groups
    both = grasp.MapValues(None, (("medium", "high"),))
    assert grasp.analyse(frame, recode=[both], **QUIET).result.data.categories == ("high", "low")


def test_labels_of_a_type_whose_rows_are_all_left_out_are_told() -> None:
    frame, without = typed(ordered=True), grasp.Filters(drop=[("label", "medium")])  # as notes write it
    found = grasp.quality(frame, filters=without)
    assert found.report.data.categories == tuple(ORDER)
    told = "column 'label': all annotations with 'medium' are left out, but it still counts among the labels"
    assert any(told in note for note in found.notes)
    assert not any("'extreme' are left out" in note for note in found.notes)  # no row had it
    for more in ({}, {"filters": without, "categories": ["low", "high", "extreme"]}):
        assert not any(told in note for note in grasp.quality(frame, **more).notes)


@pytest.mark.parametrize(
    ("code", "text", "recommended"),
    [
        (9, "no answer", True),
        (99, "refused", True),
        (-1, "unable to say", False),
        (9, "unable to say", False),
    ],
)
def test_labels_of_values_that_stand_for_codes_are_asked_about(code, text, recommended, tmp_path) -> None:
    numbers = {"low": 1, "medium": 2, "high": 3}
    frame = votes().assign(label=lambda of: of["label"].map(numbers).astype(float))
    frame.loc[::5, "label"] = code
    named = {"label": {**{float(value): name for name, value in numbers.items()}, float(code): text}}
    pyreadstat.write_sav(frame, tmp_path / "votes.sav", variable_value_labels=named)
    guess = recognise(read_table((tmp_path / "votes.sav").read_bytes(), "votes.sav"))
    assert guess.ranked
    (asked,) = guess.advice
    assert (asked.field, asked.values, asked.recommended) == ("missing", (text,), recommended)
    assert asked.taken(guess.spec).categories == tuple(numbers)


def test_a_zero_with_a_label_is_a_label(tmp_path) -> None:
    frame = votes().assign(label=[float(n % 6) for n in range(54)])
    named = {"label": {float(n): f"step {n}" for n in range(6)}}
    pyreadstat.write_sav(frame, tmp_path / "votes.sav", variable_value_labels=named)
    assert not recognise(read_table((tmp_path / "votes.sav").read_bytes(), "votes.sav")).advice


def test_words_without_an_order_are_not_ranked() -> None:
    for frame in (votes(), typed(ordered=False)):
        with pytest.raises(grasp.SpecError, match=r"nothing says how .* rank"):
            grasp.analyse(frame, level="ordinal", **QUIET)
    ordered = grasp.analyse(typed(ordered=True), level="ordinal", **QUIET)
    named = grasp.analyse(votes(), level="ordinal", categories=ORDER, **QUIET)
    assert ordered.result.groups == named.result.groups


def test_numbers_and_known_scales_rank_and_the_alphabet_ranks_nothing() -> None:
    for text in ("1,2,3", "1 star,2 stars,3 stars", "no,yes", "level 1,level 2,level 10"):
        assert unranked(text.split(",")) is None, text
    for text in ("level 1,level 10,level 2", "high,low,medium", "1,2,3,not sure", "A,B,C"):
        assert unranked(text.split(",")) is not None, text
    assert known_scale(("High", "Low", "Medium")) == ("Low", "Medium", "High")
    degrees = ("agree", "disagree", "strongly_agree")
    assert known_scale(degrees) == ("disagree", "agree", "strongly_agree")
    assert known_scale(("Teils, teils", "Trifft nicht zu", "Trifft zu"))[0] == "Trifft nicht zu"
    assert known_scale(("joy", "anger", "fear")) is None
    assert known_scale(("2 - Disagree", "1 - Strongly disagree", "3 - Neutral")) == (
        *("1 - Strongly disagree", "2 - Disagree", "3 - Neutral"),
    )
    rude = ("1 - not at all rude", "2 - slightly rude", "4 - very rude")
    assert known_scale((rude[2], *rude[:2])) == rude
    assert known_scale(("strongly agree", "agree", "disagree", "not agree")) is None
    assert known_scale(("3 (very)", "1 (not at all)", "2")) == ("1 (not at all)", "2", "3 (very)")
    for text in ("1: dog,2: cat,3: bird", "18-24,25-34,35", "1,2,99 (none)"):
        assert known_scale(text.split(",")) is None, text


# Time
FEW, TIMES = 15, 4
NAMES = [
    *("attribute_{}", "age_{}", "label_{}", "is_excluded_{}", "dataset_{}", "x"),
    *("q{}_label q{}", "item_{} rater_{}"),
]


def wide(names: str, columns: int) -> Table:
    """Annotations beside further columns, each of which varies within items and raters."""
    rng, forms = random.Random(0), names.split()
    header = ["item", "rater", "label", *(forms[n % len(forms)].format(n) for n in range(columns))]
    rows = [
        [f"i{n % 20}", f"r{n // 20}", rng.choice("yn"), *(rng.choice("abc") for _ in range(columns))]
        for n in range(80)
    ]
    return rows_table([header, *rows])


def handled(table: Table) -> None:
    load(table, None, recognise(table).spec)


@pytest.mark.parametrize("names", NAMES)
def test_work_grows_with_the_columns_and_no_faster(names):
    tables = [wide(names, columns) for columns in (5, FEW, FEW * TIMES)]
    _, few, many = (calls(partial(handled, table)) for table in tables)  # the first for what is made once
    assert many < 1.2 * TIMES * few


def test_names_that_recur_are_numbered_without_counting_from_the_start():
    few, many = (calls(lambda n=n: name_columns(["x"] * n, "votes.csv")) for n in (FEW, FEW * TIMES))
    assert many < 1.2 * TIMES * few


@pytest.mark.parametrize("head", ["texte annotateur note", "Aufsatz Gutachter Note", "song voter points"])
def test_marks_and_those_who_give_them_are_known_by_other_names(head: str):
    item, rater, label = head.split()
    rows = [f"i{n % 6} r{n // 6} {n * n % 5 % 4 + 1}" for n in range(48)]
    guess = recognise(text_table("/".join([head, *rows])))
    assert (guess.spec.item, guess.spec.rater, guess.spec.label, guess.uncertain) == (item, rater, label, ())
