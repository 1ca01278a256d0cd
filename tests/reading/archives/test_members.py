"""Archives and workbooks of several tables: one per annotator, parts of one data set, or others beside."""

import random
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.archives.members import annotators
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table import columns as cells
from grasp_core.reading.table.table import Table
from tests.reading.files.workbook_files import ods_bytes, ods_rows, sheets_bytes, xlsx_bytes
from tests.reading.making import csv_bytes, messages
from tests.shared_data import SHARED, needs_shared_data
from tests.zips import zipped

Rows = list[list[str]]
LABELS = ("1", "2", "3")
README = b"How these files came about, in a sentence of its own."


def rows_of(seed: int, *, items: int = 12, first: int = 0) -> Rows:
    """What one annotator gave: most of the items, in the file's order."""
    draw = random.Random(seed)
    rows = [
        [f"i{item}", f"A longer text about item {item}, with words", draw.choice(LABELS)]
        for item in range(first, first + items)
        if draw.random() < 0.8
    ]
    return [["item", "text", "rude"], *rows]


ONE, TWO, THREE = (rows_of(seed) for seed in (1, 2, 3))
BOTH = {"a": ONE, "b": TWO}


def beside(rows: Rows, name: str, of_row: Callable[[int, list[str]], str], *, first: bool = False) -> Rows:
    """The rows with a further column, made of each row and its number."""
    made = [name, *(of_row(at, row) for at, row in enumerate(rows[1:]))]
    return [[cell, *row] if first else [*row, cell] for cell, row in zip(made, rows, strict=True)]


def with_raters(seed: int, first: int = 0) -> Rows:
    pairs = [(item, rater) for item in range(first, first + 4) for rater in (1, 2, 3)]
    rows = [[f"i{item}", f"r{rater}", str((item * rater + seed) % 3)] for item, rater in pairs]
    return [["item", "rater", "rude"], *rows]


def archive(**members: Rows | bytes) -> bytes:
    packed = {}
    for name, content in members.items():
        raw = isinstance(content, bytes)
        packed[name.replace("__", "/") + ("" if raw else ".csv")] = content if raw else csv_bytes(content)
    return zipped(packed)


def triples(table: Table, columns: tuple[str, str, str] = ("item", "rater", "rude")) -> set[tuple[str, ...]]:
    return {tuple(row) for row in table.head(10_000)[list(columns)].to_numpy().tolist()}


def expected(members: dict[str, Rows]) -> set[tuple[str, ...]]:
    return {(row[0], rater, row[2]) for rater, rows in members.items() for row in rows[1:]}


@pytest.mark.parametrize("raters", [("P01", "P02"), ("anna", "ben"), ("7", "12"), ("a@uni.org", "b@uni.org")])
def test_a_file_per_annotator(raters):
    members = {rater: rows_of(seed) for seed, rater in enumerate(raters)}
    table = read_table(archive(**members), "votes.zip")
    assert triples(table) == expected(members)
    assert len(table) == sum(len(rows) - 1 for rows in members.values())
    assert table.member is None
    assert len(table.members) == len(raters)
    assert f"each of its {len(raters)} files was taken for the annotator that" in messages(table)
    assert table.row(0) == 2
    assert table.row(len(members[raters[0]]) - 1) == 2
    assert recognise(table).spec == DataSpec(item="item", rater="rater", label="rude", text="text")


@pytest.mark.parametrize("kind", ["XLSX", "ODS"])
def test_a_sheet_per_annotator(kind):
    members = {rater: rows_of(seed) for seed, rater in enumerate(("Anna", "Ben", "Cem"))}
    sheets = {"Notes": [["Written", "by"], ["hand", "Anna"]], **members}
    as_ods = ods_bytes({name: ods_rows(rows) for name, rows in sheets.items()})
    content = as_ods if kind == "ODS" else sheets_bytes(sheets)
    table = read_table(content, "votes.xlsx")
    assert triples(table) == expected(members)
    assert table.kind == f"{kind}, 3 sheets"
    assert "left out: 'Notes' (1 row, other columns)" in messages(table)
    alone = read_table(content, "votes.xlsx", member="Ben")
    assert (alone.member, alone.columns) == ("Ben", ("item", "text", "rude"))
    assert "left out" not in messages(alone)


def test_what_does_not_fit_is_named_with_its_rows():
    members = {"P01": ONE, "P02": TWO, "P03": THREE}
    gold = [["item", "text", "rude"], ["i0", "A longer text about item 0, with words", "1"]]
    raters = [["rater", "gender"], ["P01", "Woman"], ["P02", "Man"]]
    beside = {"README.txt": README, "gold": gold, "raters": raters, "P04": rows_of(4)[:1]}
    table = read_table(archive(**members, **beside), "votes.zip")
    assert triples(table) == expected(members)
    found = messages(table)
    assert "'gold.csv' (1 row, not named like the others)" in found
    assert "'raters.csv' (2 rows, other columns)" in found
    assert "'README.txt' (no table with rows)" in found
    assert "'P04.csv' (no table with rows)" in found


def test_several_files_of_one_annotator_are_put_together_and_those_of_questions_not():
    members = {"P01_batch1": ONE, "P01_batch2": rows_of(2, first=50), "P02_batch1": THREE}
    table = read_table(archive(**members), "votes.zip")
    expected = {(row[0], name[:3], row[2]) for name, rows in members.items() for row in rows[1:]}
    assert triples(table) == expected
    assert table.distinct("rater") == ("P01", "P02")
    names = ("anna__rude", "anna__clear", "ben__rude", "ben__clear")
    table = read_table(archive(**{name: rows_of(seed) for seed, name in enumerate(names)}), "votes.zip")
    assert table.member == "anna/rude.csv"


def test_columns_may_stand_in_another_order_and_beside_numbers_and_authors():
    table = read_table(archive(a=ONE, b=[[rude, item, text] for item, text, rude in TWO]), "votes.zip")
    assert triples(table) == expected(BOTH)
    numbers = {n: beside(rows, "Unnamed: 0", lambda at, _: str(at), first=True) for n, rows in BOTH.items()}
    table = read_table(archive(**numbers), "votes.zip")
    assert recognise(table).spec.item == "item"
    assert triples(table) == expected(BOTH)
    authors = {n: beside(rows, "user", lambda _, row: f"author of {row[0]}") for n, rows in BOTH.items()}
    assert triples(read_table(archive(**authors), "votes.zip")) == expected(BOTH)


def test_numbers_that_begin_anew_in_each_file_are_left_out_and_ranks_are_none():
    own = {name: [row[1:] for row in rows] for name, rows in BOTH.items()}
    numbers = {name: beside(rows, "", lambda at, _: str(at), first=True) for name, rows in own.items()}
    table = read_table(archive(**numbers), "votes.zip")
    assert table.columns == ("rater", "text", "rude")
    assert triples(table, ("text", "rater", "rude")) == {
        (text, rater, rude) for rater, rows in own.items() for text, rude in rows[1:]
    }
    assert "'column 1' numbers the rows of each file and was left out" in messages(table)
    ranks = {"anna": "312", "ben": "123", "cem": "213"}
    members = {
        rater: [["item", "rank"], *([f"i{at}", rank] for at, rank in enumerate(order))]
        for rater, order in ranks.items()
    }
    table = read_table(archive(**members), "votes.zip")
    assert table.columns == ("rater", "item", "rank")
    assert len(table) == 9


def test_a_column_or_a_table_more():
    remarked = beside(TWO, "remarks", lambda *_: "odd")
    table = read_table(archive(P01=ONE, P02=remarked, P03=THREE), "votes.zip")
    assert triples(table) == expected({"P01": ONE, "P02": TWO, "P03": THREE})
    assert "columns that not every file has were left out: 'remarks'" in messages(table)
    noted = {name: beside(rows, "remarks", lambda *_: "odd") for name, rows in (("P02", TWO), ("P03", THREE))}
    table = read_table(archive(P01=ONE, **noted), "votes.zip")  # who wrote none has no column for them
    assert triples(table) == expected({"P01": ONE, "P02": TWO, "P03": THREE})
    whole = beside(ONE, "rater", lambda *_: "P01")
    table = read_table(archive(P01=ONE, P02=TWO, votes=whole), "votes.zip")
    assert triples(table) == expected({"P01": ONE, "P02": TWO})
    assert f"'votes.csv' ({len(whole) - 1} rows, other columns)" in messages(table)


def of_one_item(seed: int, raters: int = 8) -> Rows:
    draw = random.Random(seed)
    rows = [[f"w{rater}", "fm"[rater % 2], draw.choice(LABELS)] for rater in range(raters)]
    return [["annotator", "gender", "rude"], *rows]


def test_a_file_per_item():
    members = {f"docs__text_{number:02d}": of_one_item(number) for number in range(6)}
    table = read_table(archive(**members, docs__gold=of_one_item(9)), "votes.zip")
    assert triples(table, ("annotator", "item", "rude")) == {
        (row[0], name[6:], row[2]) for name, rows in members.items() for row in rows[1:]
    }
    assert "each of its 6 files was taken for the item that it is named after ('text_00'" in messages(table)
    assert "'docs/gold.csv' (8 rows, not named like the others)" in messages(table)
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.axes) == ("item", "annotator", ("gender",))
    by_folder = read_table(archive(**{f"text_{n}__votes": of_one_item(n) for n in range(3)}), "votes.zip")
    assert by_folder.distinct("item") == ("text_0/votes", "text_1/votes", "text_2/votes")


@pytest.mark.parametrize(
    ("names", "column"),
    [
        *((names.split(), "annotator") for names in ("P01 P02", "rater_1 rater_2", "anna ben", "train test")),
        *((names.split(), "annotator") for names in ("wave1 wave2", "d1 d1.txt")),
        *((names.split(), "user_id") for names in ("labels_P01 labels_P02", "anna ben", "text_1 text_2")),
        (["smith", "jones"], "subject_id"),
    ],
)
def test_files_that_may_be_raters_or_rounds_are_no_items(names, column):
    members = {}
    for seed, name in enumerate(names):
        header, *rows = of_one_item(seed)
        members[name] = [[column, *header[1:]], *rows]
    assert "item" not in read_table(archive(**members), "votes.zip").columns


def test_matrices_per_question_are_no_items_and_agreed_labels_no_annotators():
    rows = [["annotator", *(f"i{at}" for at in range(9))], *([f"w{r}", *("yn" * 5)[:9]] for r in range(8))]
    assert "item" not in read_table(archive(q1=rows, q2=rows), "votes.zip").columns
    agreed = partial(drawn, "item,rude,agreement", LABELS, ("0.67", "1"))
    sheets = {"toxic": agreed(seed=1), "insult": agreed(seed=2)}
    table = read_table(sheets_bytes(sheets), "votes.xlsx")
    assert (table.member, table.columns) == ("toxic", ("item", "rude", "agreement"))
    assert recognise(table).uncertain


def drawn(header: str, *columns: Sequence[str], seed: int = 1) -> Rows:
    """Twelve items with values by chance."""
    draw = random.Random(seed)
    return [header.split(","), *([f"i{at}", *map(draw.choice, columns)] for at in range(12))]


def test_votes_that_came_with_the_items_say_nothing_of_annotators():
    votes = ["helpful_votes", *(str(at % 7) for at in range(12))]
    members = {
        who: [
            [item, vote, rude]
            for (item, rude), vote in zip(drawn("id,rude", LABELS, seed=seed), votes, strict=True)
        ]
        for seed, who in enumerate(("anna", "ben"))
    }
    table = read_table(archive(**members), "votes.zip")
    assert triples(table, ("id", "rater", "rude")) == expected(members)


@pytest.mark.parametrize(
    "name", ["P01 (1)", "P01 - Copy", "P01_final", "P01_v2", "p01.bak", "P01_corrected", "P01-alt"]
)
def test_a_copy_of_an_annotators_file_is_left_out_and_another_version_asked_about(name):
    members = {"P01": ONE, "P02": TWO}
    table = read_table(archive(**members, **{name: ONE}), "votes.zip")
    assert triples(table) == expected(members)
    assert f"'{name}.csv' ({len(ONE) - 1} rows, the same as 'P01.csv')" in messages(table)
    with pytest.raises(DataError, match=r"may be another version of 'P01\.csv'; keep the one that counts"):
        read_table(archive(**members, **{name: THREE}), "votes.zip")


def test_annotators_of_like_names_are_several_and_files_may_name_theirs_too():
    members = {name: rows_of(seed) for seed, name in enumerate(("Ann", "Ann B", "annold", "Ann 2"))}
    assert triples(read_table(archive(**members), "votes.zip")) == expected(members)
    anna, ben = beside(ONE, "annotator", lambda *_: "anna"), beside(TWO, "annotator", lambda *_: "ben")
    table = read_table(archive(one=anna, two=ben), "votes.zip")
    assert triples(table, ("item", "annotator", "rude")) == expected({"anna": ONE, "ben": TWO})
    assert recognise(table).spec.rater == "annotator"


NOT_ANNOTATORS = {
    "splits": {"train": ONE, "test": rows_of(2, first=50)},
    "items that do not recur": {"P01": ONE, "P02": rows_of(2, first=50)},
    "other texts under the same ids": {
        "P01": ONE,
        "P02": [[item, f"Nothing of that: {text[::-1]}", rude] for item, text, rude in TWO],
    },
    "sheets without a name": {"Sheet1": ONE, "Sheet2": TWO},
    "matrices of two questions": {
        question: [["item", *"abc"], *([f"i{item}", "1", "2", str(item % 3)] for item in range(9))]
        for question in ("rude", "clear")
    },
}


@pytest.mark.parametrize("case", list(NOT_ANNOTATORS))
def test_other_tables_are_not_taken_for_annotators(case):
    members = NOT_ANNOTATORS[case]
    first, second = members
    table = read_table(archive(**members), "votes.zip")
    assert table.member == f"{first}.csv"
    assert table.columns == tuple(members[first][0])
    assert len(table) == len(members[first]) - 1
    assert (
        f"only its file '{first}.csv' ({len(table)} rows) was read; another is '{second}.csv' "
        in messages(table)
    )


def test_parts_of_one_data_set_are_read_together_and_what_is_in_two_files_is_not():
    members = {"part1": with_raters(1), "part2": with_raters(2, first=10)}
    table = read_table(archive(**members), "votes.zip")
    assert triples(table) == {(row[0], row[1], row[2]) for rows in members.values() for row in rows[1:]}
    assert table.distinct("file") == ("part1.csv", "part2.csv")
    assert "its 2 files with the same columns were read as one table of 24 rows" in messages(table)
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("item", "rater", "rude")
    assert load(table, None, guess.spec, guess.axes).summary.annotations == 24
    table = read_table(archive(one=with_raters(1), two=with_raters(2)), "votes.zip")
    assert table.member == "one.csv"
    assert "only its file 'one.csv' (12 rows) was read; another is 'two.csv' (12 rows)" in messages(table)
    raters = [["rater", "gender"], ["r1", "Woman"], ["r2", "Man"], ["r3", "Man"]]
    content = sheets_bytes({"ratings": with_raters(1), "raters": raters})
    table = read_table(content, "votes.xlsx")
    assert (table.member, table.members) == ("ratings", ("ratings", "raters"))
    assert "another is 'raters' (3 rows)" in messages(table)
    assert read_table(content, "votes.xlsx", member="raters").problems == ()
    items = [["item", "domain"], *([f"i{item}", "news"] for item in range(9))]
    table = read_table(archive(a_items=items, b_raters=raters, c_ratings=with_raters(1)), "votes.zip")
    assert table.member == "c_ratings.csv"  # behind what is known of items and of raters
    assert "'b_raters.csv' has a row for each value of 'rater'" in messages(table)


def test_workbooks_inside_an_archive_and_too_many_cells_together(monkeypatch):
    members = {"P01": ONE, "P02": TWO}
    content = zipped({f"{rater}.xlsx": xlsx_bytes(rows) for rater, rows in members.items()})
    assert triples(read_table(content, "votes.zip")) == expected(members)
    monkeypatch.setattr(cells, "MAX_CELLS", 30)
    with pytest.raises(DataError, match="cells"):
        read_table(archive(P01=ONE, P02=TWO), "votes.zip")


def test_ids_of_annotators():
    ids = {
        "P01.csv, P02.csv": "P01, P02",
        "x/labels_P01.csv, x/labels_P02.csv": "P01, P02",
        "anna_final.jsonl, ben_final.jsonl": "anna, ben",
        "anna/all.csv, ben/all.csv": "anna, ben",
        "annotator_1.csv, annotator_2.csv": "annotator_1, annotator_2",
        "Coder A, Coder B": "Coder A, Coder B",
        "labels 1.csv, labels 2.csv": "1, 2",
        "ann@uni.org.csv, ben@uni.org.csv": "ann@uni.org, ben@uni.org",
        "P.01, P.02": "P.01, P.02",
        "P01_batch1.csv, P01_batch2.csv, P02_batch1.csv": "P01, P01, P02",
        "anna/batch1.csv, anna/batch2.csv, ben/batch1.csv": "anna, anna, ben",
        "batch1/anna.csv, batch2/anna.csv, batch1/ben.csv": "anna, anna, ben",
    }
    assert {paths: ", ".join(annotators(paths.split(", "))) for paths in ids} == ids


@needs_shared_data
@pytest.mark.parametrize(("name", "n"), [("file_per_annotator.zip", 725), ("sheet_per_annotator.xlsx", 176)])
def test_a_survey_by_annotator(name, n):
    survey = SHARED / "data" / "exports" / "survey"
    truth = triples(read_table(survey / "truth_long.csv"), ("item", "rater", "offensive"))
    table = read_table(survey / name)
    found = triples(table, ("item", "rater", "offensive"))
    assert len(table) == len(found) == n
    assert found == {row for row in truth if row[1] in table.distinct("rater")}


def test_a_sheet_with_a_row_per_rater_is_offered_as_the_raters() -> None:
    people = [["id", "gender"], *([f"r{rater}", "fm"[rater % 2]] for rater in (1, 2, 3, 4))]
    texts = [["item", "text"], *([f"i{item}", "a text"] for item in range(4))]
    content = sheets_bytes({"Answers": with_raters(1), "Texts": texts, "People": people})
    (offered,) = [p for p in read_table(content, "votes.xlsx").problems if "--raters-member" in p.message]
    assert "--raters 'votes.xlsx' --raters-member 'People'" in offered.message
    assert read_table(content, "votes.xlsx", member="People").data.num_rows == 4
    fewer = sheets_bytes({"Answers": with_raters(1), "Texts": texts, "People": people[:3]})
    assert "--raters-member" not in messages(read_table(fewer, "votes.xlsx"))
