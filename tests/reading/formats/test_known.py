"""Published data sets are recognised by their columns and read as their publications read them."""

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from grasp_core import cli
from grasp_core.model.data_spec import Bins, DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.formats.datasets import REMOVED_350, known
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Recipe, Table
from tests.published_dices import COLUMNS, published_dices350
from tests.reading.making import csv_bytes, labels_of, rows_table
from tests.shared_data import DICES350, SHARED, needs_shared_data


def named(columns: str) -> list[str]:
    return columns.split()


# Columns of the published file: dummy_data of `dices` in the TensorFlow Datasets catalogue.
COLUMNS_990 = named("""
id rater_id rater_gender rater_locale rater_race rater_race_raw rater_age rater_education phase item_id
context response degree_of_harm harm_type Q1_whole_conversation_evaluation
Q2_harmful_content_harm_to_people_or_animals Q2_harmful_content_violent_or_gory
Q2_harmful_content_promotes_or_condones_use_of_harmful_regulated_goods
Q2_harmful_content_health_and_safety_claims Q2_harmful_content_financial_advice
Q2_harmful_content_promotes_or_condones_violence Q2_harmful_content_how_tos_about_harmful_activities
Q2_harmful_content_personal_information Q2_harmful_content_explicitly_sexual
Q2_harmful_content_obscenities_or_profanities Q2_harmful_content_other Q3_bias_incites_hatred
Q3_bias_subhuman_comparisons
Q3_3_Racial_religious_or_other_slurs_and_stereotypes_that_incites_or_promote_hatred_based_on_any_of_the_attributes_noted_above
Q3_bias_physically_or_mentally_inferior Q3_bias_superiority_or_subjugation_of_a_group
Q3_bias_calling_individuals_or_groups_evil_corrupt_or_malicious
Q3_bias_insults_about_emotional_romantic_and_or_sexual_attraction Q3_bias_other
Q4_misinformation_false_theories Q4_misinformation_contradicts_expert_consensus
Q4_misinformation_conspiracy_theories Q4_misinformation_political Q4_misinformation_other
Q2_harmful_content_overall Q3_unfair_bias_overall Q4_misinformation_overall Q_overall
""")
TABLE_5 = (("rater_age",), ("rater_gender",), ("rater_race",), ("rater_race", "rater_gender"))
SAFETY = ("No", "Yes", "Unsure")
ANSWERS = ("No", "No", "Yes", "Unsure")


def recognised(table: Table, raters: Table | None = None) -> Recipe:
    recipe = known(table, raters)
    assert recipe.spec is not None
    return recipe


def loaded(table: Table, raters: Table | None = None) -> Dataset:
    recipe = recognised(table, raters)
    return load(table, raters, recipe.spec, sorted({name for axis in recipe.axes for name in axis}))


def conversations(
    columns: Sequence[str], raters: Sequence[str] = ("r1", "r2", "r3", "r4"), leave_out: Sequence[str] = ()
) -> list[list[str]]:
    """Rows in a published layout: eight conversations, each rater's answers to every question by chance."""
    rng = random.Random(3)
    asked = [name for name in columns if name.startswith("Q") and name[1] != "1"]
    rows = [[name for name in columns if name not in leave_out]]
    for item, (number, rater) in product(range(8), enumerate(raters)):
        cells = {name: "x" for name in columns} | {name: rng.choice(ANSWERS) for name in asked}
        cells |= {"item_id": str(item), "rater_id": rater, "rater_gender": ("Man", "Woman")[number % 2]}
        cells |= {"rater_race": ("White", "Multiracial")[number // 2 % 2], "rater_age": "gen z"}
        cells |= {"rater_locale": ("US", "IN")[number // 2 % 2], "rater_education": "Other"}
        rows.append([cells[name] for name in rows[0]])
    return rows


def run(folder: Path, files: dict[str, bytes], *options: str) -> dict:
    """The result of the command line on the files, with nothing said of how to read them but the options."""
    arguments, out = [], folder / "result.json"
    for option, (name, content) in zip(("--annotations", "--raters"), files.items(), strict=False):
        (folder / name).write_bytes(content)
        arguments += [option, str(folder / name)]
    assert cli.main(["run", *arguments, "--permutations", "50", *options, "--out", str(out)]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


# DICES-350
@pytest.fixture(scope="module")
def published_350_bytes() -> bytes:
    return published_dices350()


@pytest.fixture(scope="module")
def published_350(published_350_bytes) -> Table:
    return read_table(published_350_bytes, "renamed.csv")


@pytest.fixture(scope="module")
def first_12_bytes(published_350_bytes) -> bytes:
    """All raters' answers to 12 of the conversations."""
    header, *rows = csv.reader(io.StringIO(published_350_bytes.decode()))
    at = header.index("item_id")
    kept = list(dict.fromkeys(row[at] for row in rows))[:12]
    return csv_bytes([header, *(row for row in rows if row[at] in kept)])


@needs_shared_data
def test_dices_350_as_published(published_350):
    recipe = recognised(published_350)
    assert recipe.name == "DICES-350"
    named = {"item": "item_id", "rater": "rater_id", "label": "Q_overall", "text": "response"}
    assert recipe.spec == DataSpec(**named, categories=SAFETY, filters=Filters(raters=REMOVED_350))
    assert recipe.axes == TABLE_5
    assert recipe.paper
    assert "19 raters of 123 were removed for quality" in recipe.sentences[1]
    data = loaded(published_350)
    # Aroyo et al. 2023: 350 conversations, 104 raters kept, each rated all.
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (350, 104, 36_400)
    assert not set(REMOVED_350) & set(data.annotations.rater_ids)


@needs_shared_data
def test_dices_350_is_the_same_as_with_the_raters_marked(published_350):
    """``removed`` in the development data is another source of the same fact."""
    raters = read_table(DICES350 / "raters.csv").frame()
    assert set(raters[raters["removed"] == "True"]["rater_id"]) == set(REMOVED_350)
    long = read_table(DICES350 / "ratings_long.csv")
    spec = DataSpec(
        item="item_id", rater="rater_id", label="Q_overall", categories=SAFETY, exclude=(("removed", "True"),)
    )
    expected, found = load(long, None, spec, ["rater_race"]), loaded(published_350)
    assert found.annotations.rater_ids == expected.annotations.rater_ids
    assert np.array_equal(found.annotations.category, expected.annotations.category)
    assert np.array_equal(found.raters.axes["rater_race"].codes, expected.raters.axes["rater_race"].codes)


NAMED = ("--item", "item_id", "--rater", "rater_id", "--label", "Q_overall")
TABLE_5_NAMED = (
    *("--axis", "rater_age", "--axis", "rater_gender", "--axis", "rater_race"),
    *("--intersect", "rater_race:rater_gender"),
)


@needs_shared_data
@pytest.mark.parametrize(("answer", "raters"), [((), 123), (("--recommended",), 104)])
def test_naming_what_is_recognised_changes_nothing(first_12_bytes, tmp_path, capsys, answer, raters):
    found = []
    for named in ((), NAMED, (*NAMED, *TABLE_5_NAMED)):
        result = run(tmp_path, {"350.csv": first_12_bytes}, *named, *answer, "--no-pairs")
        first = capsys.readouterr().err.splitlines()[0]
        marked = ("kept, though recommended to be left out", "left out as recommended")[bool(answer)]
        assert first.startswith(f"note: {marked}: 19 raters (")
        assert result["data"]["raters"] == raters
        found.append({name: result[name] for name in ("spec", "groups")})
    spec = found[0]["spec"]
    assert [tuple(axes) for axes in spec["analysis"]["axes"]] == list(TABLE_5)
    assert (spec["analysis"]["p_value"] == "paper") is bool(answer)
    assert spec["data"]["filters"]["raters"] == (list(REMOVED_350) if answer else [])
    assert found[1] == found[0]
    assert found[2]["spec"]["data"] == spec["data"]
    assert sorted(map(str, found[2]["groups"])) == sorted(map(str, found[0]["groups"]))


def test_any_unsafe_then_any_unsure_then_safe():
    rows = conversations(COLUMNS, leave_out=["Q_overall"])
    table = rows_table(rows)
    (combine,) = recognised(table).spec.recode
    assert combine.priority == ("Yes", "Unsure", "No")
    assert "Q1_whole_conversation_evaluation" not in combine.columns
    found = labels_of(load(table, None, recognised(table).spec, ["rater_gender"]).annotations)
    for row in (dict(zip(rows[0], row, strict=True)) for row in rows[1:]):
        own = {answer for name, answer in row.items() if name[:2] in ("Q2", "Q3", "Q4", "Q5", "Q6")}
        expected = next(answer for answer in ("Yes", "Unsure", "No") if answer in own)
        assert found[row["item_id"], row["rater_id"]] == expected


def test_only_the_kept_raters_are_the_papers() -> None:
    # Ids that a spreadsheet rounded, or a part of the file: no claim to be the published set-up.
    recipe = recognised(rows_table(conversations(COLUMNS)))
    assert not recipe.paper
    assert recipe.spec.filters == Filters()
    assert "all 4 raters count: none of the 19" in recipe.sentences[1]
    part = recognised(rows_table(conversations(COLUMNS, ["r1", "r2", REMOVED_350[0]])))
    assert not part.paper
    assert part.spec.filters == Filters(raters=REMOVED_350[:1])
    assert "1 rater of 3 was removed for quality by the data set's authors" in part.sentences[1]
    rows = conversations(COLUMNS, [f"r{i}" for i in range(104)])
    recipe = recognised(rows_table(rows))
    assert recipe.paper
    assert recipe.spec.filters == Filters()
    header, *turned = ([*reversed(row), "more"] for row in rows)
    assert recognised(rows_table([[*header[:-1], "notes"], *turned])) == recipe


def test_raters_may_be_in_a_file_of_their_own():
    about = ["rater_gender", "rater_race", "rater_age"]
    rows = conversations(COLUMNS, leave_out=about)
    races = ("White", "Multiracial")
    people = [[f"r{i}", ("Man", "Woman")[i % 2], races[i % 2], "gen z"] for i in range(1, 5)]
    assert known(rows_table(rows)) is None
    raters = rows_table([["rater_id", *about], *people], "raters.csv")
    assert recognised(rows_table(rows), raters).axes == TABLE_5


# DICES-990
def test_dices_990():
    rows = conversations(COLUMNS_990)
    recipe = recognised(rows_table(rows))
    assert recipe.name == "DICES-990"
    assert not recipe.paper
    named = {"item": "item_id", "rater": "rater_id", "label": "Q_overall", "text": "response"}
    assert recipe.spec == DataSpec(**named, categories=SAFETY)
    singles = ("rater_locale", "rater_gender", "rater_age", "rater_race", "rater_education")
    assert recipe.axes == (*((name,) for name in singles), ("rater_locale", "rater_gender"))
    data = loaded(rows_table(rows)).summary
    assert (data.items, data.raters, data.categories) == (8, 4, SAFETY)


# D3CODE
PEOPLE = [
    ["rater_id", "Age", "Gender", "Region", "Country", "SES"],
    ["R_1", "18-30", "Man", "Oceania", "Australia", "5"],
    ["R_2", "30-50", "Woman", "Oceania", "New Zealand", "4"],
    ["R_3", "18-30", "Woman", "Sinosphere", "Japan", "5"],
    ["R_4", "30-50", "Man", "Sinosphere", "China", "6"],
]


def ratings(header: Sequence[str], *points: Sequence[str]) -> list[list[str]]:
    """Each item's ratings by R_1 to R_4; several values of a rating are separated by a slash."""
    rows = [["item_id", "rater_id", *header]]
    for item, given in enumerate(points):
        rows += [[f"i{item}", f"R_{place + 1}", *cell.split("/")] for place, cell in enumerate(given)]
    return rows


def test_d3code():
    rows = ratings(["rating", "raw_rating"], ["0/0", "1/3", "1/2", "na/-1"], ["0/1", "1/4", "0/0", "1/2"])
    table, people = rows_table(rows), rows_table(PEOPLE, "raters.csv")
    recipe = recognised(table, people)
    assert recipe.name == "D3CODE"
    assert not recipe.paper
    assert recipe.spec == DataSpec(
        item="item_id",
        rater="rater_id",
        label="raw_rating",
        categories=("Not offensive", "Offensive"),
        missing=("", "na"),
        recode=(MapValues(None, (("-1", ""),)), Bins(None, (2.0,), ("Not offensive", "Offensive"))),
    )
    tables_6_7 = (("Region",), ("Gender",), ("Age",), ("Region", "Gender"), ("Region", "Age"))
    assert recipe.axes == tables_6_7
    assert recipe.sentences[-1].endswith("region, gender, age, region with gender, and region with age")
    data = loaded(table, people).summary
    assert data.annotations == 7  # -1 is no rating
    assert data.label_counts == (3, 4)  # raw 0, 1, 0 and 3, 2, 4, 2


def test_d3code_needs_its_regions_and_ratings_which_may_be_binary():
    rows = ratings(["binary_rating"], ["0", "1", "1", "na"], ["0", "1.0", "0", "1"])
    data = loaded(rows_table(rows), rows_table(PEOPLE, "raters.csv"))
    assert data.summary.categories == ("Not offensive", "Offensive")
    assert data.summary.label_counts == (3, 4)
    rows = ratings(["rating"], ["0", "3", "2", "-1"])
    elsewhere = [[cell.replace("Oceania", "Atlantis") for cell in row] for row in PEOPLE]
    assert known(rows_table(rows)) is None
    assert known(rows_table(rows), rows_table(elsewhere, "raters.csv")) is None
    stars = ratings(["rating"], ["0", "3", "5", "1"])
    assert known(rows_table(stars), rows_table(PEOPLE, "raters.csv")) is None
    merged = [row + PEOPLE[0 if place == 0 else (place - 1) % 4 + 1][1:] for place, row in enumerate(rows)]
    assert recognised(rows_table(merged)).name == "D3CODE"


@needs_shared_data
def test_d3code_with_its_published_raters():
    people = read_table(SHARED / "data" / "d3" / "raters.csv")
    rng = np.random.default_rng(1)
    rows = [
        [str(item), rater, str(rng.integers(-1, 5))]
        for rater in people.distinct("rater_id")
        for item in rng.choice(500, 4, replace=False)
    ]
    table = rows_table([["item_id", "rater_id", "rating"], *rows], "ratings.csv")
    guess = recognise(table, people)
    assert guess.recipe == recognised(table, people)
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("item_id", "rater_id", "rating")
    assert {"Age", "Gender", "Region"} <= set(guess.axes)
    data = load(table, people, guess.spec, ("Region", "Age", "Country"))
    given = Counter(point for *_, point in rows)
    assert data.summary.annotations == len(rows) - given["-1"]
    assert data.summary.label_counts[1] == given["2"] + given["3"] + given["4"]
    # 4,309 raters in 8 regions and 21 countries, of 3 ages (Davani et al. 2024); few rated nothing but -1.
    assert 4_300 <= data.summary.raters <= 4_309
    assert [len(data.raters.axes[name].values) for name in ("Region", "Country")] == [8, 21]
    assert data.raters.axes["Age"].values == ("18-30", "30-50", "50+")


# POPQUORN
HEADER = ["gender", "race", "age", "occupation", "education"]
ABOUT = {
    "0": ["Man", "White", "35-39", "Unemployed", "College degree"],
    "1": ["Woman", "White", "50-54", "Employed", "Graduate degree"],
    "2": ["Woman", "Asian", "35-39", "Employed", "College degree"],
    "3": ["Man", "Asian", "50-54", "Unemployed", "Graduate degree"],
    "4": ["Man", "Prefer not to disclose", "50-54", "Employed", "College degree"],
}


def popquorn(task: str, shown: str) -> list[list[str]]:
    """Three texts; `shown` is how the file writes the number {point}."""
    rows = [["instance_id", "user_id", "text", task, *HEADER]]
    points = ("13152", "55141", "12325")
    for item, given in enumerate(points):
        rows += [
            [str(item), user, f"text {item}", shown.format(point=point), *ABOUT[user]]
            for user, point in zip(ABOUT, given, strict=True)
        ]
    return rows


@pytest.mark.parametrize(
    ("task", "shown"), [("offensiveness", "{point}.0"), ("politeness", "{point}"), ("difficulty", "{point}")]
)
def test_popquorn(task, shown):
    rows = popquorn(task, shown)
    recipe = recognised(rows_table(rows))
    assert recipe.name == f"POPQUORN, {task}"
    assert recipe.axes == (("gender",), ("race",), ("age",), ("education",), ("occupation",))
    data = loaded(rows_table(rows))
    assert data.summary.categories == ("1", "2", "3", "4", "5")
    assert data.summary.label_counts == (5, 3, 2, 1, 4)  # counted by hand in `points`
    race = data.raters.axes["race"]
    assert (race.values, race.codes.tolist()) == (("Asian", "White"), [1, 1, 0, 0, -1])


def test_popquorns_columns_in_another_order_are_known_and_free_texts_no_ratings():
    # Potato's exports begin with both ids, and are told by that.
    turned = [list(reversed(row)) for row in popquorn("offensiveness", "{point}.0")]
    table = rows_table(turned)
    data = load(table, None, recognise(table).spec, ()).summary
    assert (data.categories, data.label_counts) == (tuple("12345"), (5, 3, 2, 1, 4))
    header, *rows = popquorn("offensiveness", "{point}")
    texts = [[*header[:2], "original email", "revised email", *header[4:]], *rows]
    with pytest.raises(DataError, match=r"e-mail rewriting: its answers .* are free texts"):
        known(rows_table([list(reversed(row)) for row in texts]))
    assert known(rows_table(popquorn("offensiveness", "{point}0"))) is None


# MultiPICo
MULTIPICO = ["post_id", "post", "reply_id", "reply", "language", "language_variety", "annotator_id", "label"]
PROLIFIC = ["Sex", "Age", "Ethnicity simplified", "Nationality", "Student status", "Employment status"]


def multipico() -> list[list[str]]:
    """Four replies by five annotators; the first two replies answer one post."""
    about = {
        "A1": ["Female", "19", "White", "Ireland", "Yes", "Part-Time"],
        "A2": ["Male", "24", "White", "Ireland", "No", "Full-Time"],
        "A3": ["Female", "25", "Asian", "India", "Yes", "Full-Time"],
        "A4": ["Male", "61", "Asian", "India", "No", "Part-Time"],
        "A5": ["Male", "DATA_EXPIRED", "Prefer not to say", "India", "DATA_EXPIRED", "DATA_EXPIRED"],
    }
    rows = [[*MULTIPICO, *PROLIFIC]]
    for reply, (post, given) in enumerate(zip("ppqr", ("01100", "11010", "00111", "10110"), strict=True)):
        texts = [post, f"post {post}", f"{post}{reply}", f"reply {reply}", "en", "ie"]
        rows += [[*texts, who, label, *about[who]] for who, label in zip(about, given, strict=True)]
    return rows


def test_multipico():
    rows = multipico()
    recipe = recognised(rows_table(rows))
    assert recipe.name == "MultiPICo"
    assert recipe.axes == tuple((name,) for name in PROLIFIC)
    data = loaded(rows_table(rows))
    assert data.summary.items == 4
    assert data.summary.categories == ("Not ironic", "Ironic")
    assert data.summary.label_counts == (9, 11)  # counted by hand
    age = data.raters.axes["Age"]
    assert [None if code < 0 else age.values[code] for code in age.codes] == [
        *("under 25", "under 25", "25-34", "55 and over", None)
    ]
    assert data.raters.axes["Ethnicity simplified"].values == ("Asian", "White")


def test_multipico_with_generations_for_ages_and_with_replies_numbered_within_posts():
    rows = [[cell.replace("Age", "Generation") for cell in row] for row in multipico()]
    ages = {"19": "GenZ", "24": "GenZ", "25": "GenY", "61": "Boomer"}
    rows = [[ages.get(cell, cell) for cell in row] for row in rows]
    recipe = recognised(rows_table(rows))
    assert ("Generation",) in recipe.axes
    assert not any(isinstance(step, Bins) for step in recipe.spec.recode)
    rows = multipico()
    rows = [rows[0], *([*row[:2], "first" if row[2] != "p1" else "second", *row[3:]] for row in rows[1:])]
    assert known(rows_table(rows)) is None


# Everything else
def test_other_files_are_not_taken_for_published_ones():
    for header in (
        ["rater_id", "item_id", "label"],
        ["rater_id", "item_id", "Q_overall"],
        ["item_id", "rater_id", "Q_overall", "rater_gender", "rater_race", "rater_age"],
        ["item_id", "rater_id", "rating", "Age", "Gender", "Region", "Country"],
        ["instance_id", "user_id", "offensiveness"],
        ["instance_id", "user_id", "text", "label", *HEADER],
        ["post_id", "reply_id", "annotator_id", "label"],
    ):
        rows = [header] + [[f"{place}{row}" for place in range(len(header))] for row in range(4)]
        assert known(rows_table(rows)) is None
        assert known(rows_table(rows), rows_table([["rater_id", "gender"], ["1", "x"]], "raters.csv")) is None
