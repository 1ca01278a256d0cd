"""What is found about models, as values, files and sentences; their labels from files and columns."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest

from grasp_core.analysis.models.labels import MAX_NAME, check_models, read_model, read_model_column
from grasp_core.analysis.models.result import ModelsResult, Side, closer
from grasp_core.engine import run as run_module
from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import SIDES
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.report.models import (
    EVERYBODY,
    answer,
    plurality_table,
    sides_csv,
    statistic_table,
    unreproduced,
)
from grasp_core.report.public_view import public_view
from tests.analysis.models.cases import ask, crowd_and_half, model, plurality_of, random_labels, sided
from tests.made_up import SECRET, make_models, telling
from tests.permutation.naive import naive_step_up
from tests.permutation.simulated import dataset
from tests.results import changed


def shown(result: ModelsResult) -> str:
    found = answer(result)
    return "\n".join(one.plain for one in (found.headline, *found.details))


@pytest.fixture(scope="module")
def result() -> ModelsResult:
    return crowd_and_half()


def test_the_file_form_is_read_back(result: ModelsResult) -> None:
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (plain["format"], plain["version"]) == ("grasp-models", 1)
    assert ModelsResult.from_dict(plain) == result


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("format",), "grasp-run"),
        (("groups", 0, "models", "crowd", "statistics", "xrr", "direction"), "sideways"),
        (("groups", 0, "models", "crowd", "statistics", "xrr", "significance"), "very"),
        (("groups", 0, "models", "crowd", "statistics", "xrr", "p"), "0.1"),
        (("groups", 0, "models", "crowd", "statistics"), {}),
        (("groups", 0, "n_raters"), None),
        (("groups", 0, "models"), {}),
        (("models", 0, "name"), "half"),
        (("models",), []),
        (("models", 0, "name"), 3),
        (("models", 0, "overall_f1"), None),
        (("spec",), {}),
        (("warnings",), [1]),
    ],
)
def test_damage_is_told(result: ModelsResult, path, value) -> None:
    with pytest.raises(DataError):
        ModelsResult.from_dict(changed(result.to_dict(), path, value))


def test_files_without_a_spec_of_models_say_where_their_labels_were(result: ModelsResult) -> None:
    plain = result.to_dict()
    del plain["spec"]["models"]
    file = plain["data"]["files"][0]
    of_column = {"sha256": file["sha256"], "source": f"{file['name']}, column gpt, v2"}
    plain["models"] = [{**plain["models"][0], **of_column}, *plain["models"][1:]]
    crowd, half = ModelsResult.from_dict(plain).spec.models
    assert (crowd.column, crowd.sha256) == ("gpt, v2", file["sha256"])
    assert (half.column, half.sha256) == (None, "0" * 64)


def test_models_are_counted_and_noted_and_no_side_is_no_finding(result: ModelsResult) -> None:
    assert "half sides neither with nor against any group." in shown(result)
    crowd, half = result.models
    assert (crowd.labelled, crowd.unlabelled, crowd.overall_f1) == (40, 0, 1.0)
    assert (half.labelled, half.unlabelled) == (20, 20)
    told = "half has no label for 20 of the items; they are left out for it until its file has them"
    assert told in map(str, result.warnings)


def test_families_are_all_groups_per_statistic_and_model(result: ModelsResult) -> None:
    for name in ("crowd", "half"):
        for statistic in SIDES:
            outcomes = [row.models[name].statistics[statistic] for row in result.groups]
            q = naive_step_up([one.p for one in outcomes], harmonic=False)
            assert [one.q for one in outcomes] == pytest.approx(q)


@pytest.mark.parametrize("correction", ["benjamini-yekutieli", "max-t"])
@pytest.mark.parametrize("family", ["statistic-axis", "all"])
def test_other_corrections_and_families(correction, family) -> None:
    data = dataset(3, items=20, raters=24)
    found = ask(data, [model("m", np.zeros(20))], correction=correction, family=family)
    q = [outcome.q for row in found.groups for outcome in row.models["m"].statistics.values()]
    assert all(value is not None and 0 < value <= 1 for value in q)


def test_closer_follows_the_statistics_own_direction_and_reproducing_what_members_reach() -> None:
    for statistic in SIDES:
        near = statistic not in ("cross_entropy", "js_divergence")
        assert closer(statistic, Outcome(0.5, direction="up")) is near
        assert closer(statistic, Outcome(0.5, direction="down")) is not near
        assert closer(statistic, Outcome(None)) is None
    for value, members, reproduces in (
        (0.5, 0.5, True),
        (0.4, 0.5, False),
        (None, 0.5, None),
        (0.5, None, None),
    ):
        assert Side({"macro_f1": Outcome(value)}, members).reproduces is reproduces


def test_the_table_begins_with_everybody_and_csv_has_every_number(result: ModelsResult) -> None:
    table = plurality_table(result)
    assert table["Group"].tolist() == [EVERYBODY, "Man", "Woman", "Asian", "Black", "White"]
    assert table["crowd"].iloc[0] == "1.000"
    assert {"Own members, items of crowd", "Own members, items of half"} < set(table.columns)
    rows = (dataclasses.replace(row, models={"crowd": row.models["crowd"]}) for row in result.groups)
    alone = dataclasses.replace(result, models=result.models[:1], groups=tuple(rows))
    assert plurality_table(alone).columns.tolist() == ["Axis", "Group", "Raters", "crowd", "Own members"]
    assert len(statistic_table(result, "xrr")) == 5
    data = dataset(3, items=20, raters=24)
    found = ask(data, [model("=1+1", np.zeros(20))])
    rows = list(csv.DictReader(io.StringIO(sides_csv(found))))
    assert [*rows[0]] == [
        *("model", "axis", "group", "n_raters", "n_annotations", "statistic", "value", "null_median"),
        *("closer", "p", "q", "significance", "members_macro_f1", "reason"),
    ]
    assert len(rows) == 5 * len(SIDES)
    assert rows[0]["model"] == "'=1+1"
    first = found.groups[0].models["=1+1"].statistics["macro_f1"]
    assert float(rows[0]["value"]) == first.value


def test_a_planted_side_is_found_and_said() -> None:
    """One group of raters labels the other way round; the model copies them."""
    data = dataset(5, items=60, raters=40)
    women = data.raters.axes["gender"].codes == data.raters.axes["gender"].values.index("Woman")
    annotations = data.annotations
    turned = np.where(women[annotations.rater], (annotations.category + 1) % 3, annotations.category)
    other = dataclasses.replace(annotations, category=turned.astype(np.int32))
    data = dataclasses.replace(data, annotations=other)
    found = ask(data, [model("copy", plurality_of(data, women))])
    assert sided(found, "copy") == ({("Woman",)}, {("Man",)})
    assert "copy sides with Woman (macro-F1 1.000" in shown(found)
    assert " and against Man (macro-F1 0." in shown(found)
    assert found.groups[1].models["copy"].statistics["js_divergence"].direction == "down"
    assert {row.group.values for row in unreproduced(found)} >= {("Man",)}
    assert "No model reproduces the view of " in shown(found)
    assert "its own members reach macro-F1" in shown(found)


@pytest.mark.parametrize(
    ("models", "stars", "headline", "counted"),
    [
        (1, ("**", ""), "m0 sides with Woman raters", "It sides with one of 2 groups."),
        (1, ("*", ""), "m0 does not clearly side with", "In one group it may be luck that it leans one way."),
        (
            1,
            ("", ""),
            "m0 does not clearly side with or against any group of raters",
            "2 groups were compared",
        ),
        (2, ("**", "*"), "m0 sides with Woman raters", "Two of two models side with or against some of 2 g"),
        (2, ("*", "*"), "No model clearly sides", "In four cases it may be luck that a model leans one way."),
    ],
)
def test_one_sentence_and_a_line_of_counts(models: int, stars: tuple[str, str], headline, counted) -> None:
    found = answer(make_models(tuple(f"m{k}" for k in range(models)), stars=stars))
    assert found.headline.plain.startswith(headline)
    assert counted in found.details[0].plain
    assert ("may be luck" in found.details[0].plain) is ("*" in stars)
    assert found.details[0].plain.endswith("the members come nearer (counted, not tested).")


def test_all_statistics_of_a_side_have_one_p_and_one_q() -> None:
    """One of five marked after correction is a hint: by Simes's rule its q is five times as large."""
    p = {"macro_f1": 0.002, "share": 0.3, "xrr": 0.4, "cross_entropy": 0.5, "js_divergence": 0.6}
    found = Side({name: Outcome(0.5, p=one, q=min(1, 20 * one)) for name, one in p.items()}, None).verdict
    assert (found.code, found.p, found.q) == ("hint", pytest.approx(0.01), pytest.approx(0.2))
    alike = Side(dict.fromkeys(SIDES, Outcome(0.5, p=0.002, q=0.04)), None).verdict
    assert (alike.code, alike.p, alike.q) == ("clear", pytest.approx(0.002), pytest.approx(0.04))
    assert Side(dict.fromkeys(SIDES, Outcome(0.5)), None).verdict.why == "not-estimable"


def test_too_few_permutations_leave_no_p_and_one_label_of_all_no_value() -> None:
    found = ask(dataset(3, items=20, raters=24), [model("m", np.zeros(20))], permutations=50)
    assert all(side.models["m"].statistics["xrr"].p is None for side in found.groups)
    assert "with whom it sides could not be tested for any group" in shown(found)
    assert Caution.TOO_FEW_FOR_P() in found.warnings
    data = dataset(3, items=20, raters=24, categories=3, unused=2)
    found = ask(data, [model("m", np.zeros(20))])
    outcome = found.groups[0].models["m"].statistics["xrr"]
    assert outcome.value is None
    one = "on the items that both labelled, the model and the group all gave one same label"
    assert str(outcome.reason) == one


def test_a_group_without_an_item_that_the_model_labels_has_no_value() -> None:
    data = dataset(3, items=20, raters=24)
    women, of = (
        data.raters.axes["gender"].codes == data.raters.axes["gender"].values.index("Woman"),
        data.annotations,
    )
    kept = (of.item > 0) | ~women[of.rater]
    codes = {name: getattr(of, name)[kept] for name in ("item", "rater", "category")}
    names = {name: getattr(of, name) for name in ("item_ids", "rater_ids", "categories")}
    data = dataclasses.replace(data, annotations=Annotations.from_codes(**codes, **names))
    found = ask(data, [model("m", np.where(np.arange(20) == 0, 0, -1))])
    (woman,) = (row for row in found.groups if row.group.values == ("Woman",))
    reasons = {outcome.reason for outcome in woman.models["m"].statistics.values()}
    assert reasons == {NoValue.NO_ITEM_WITH_BOTH()}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"axes": (("zodiac",),)}, "the data have no axis zodiac"),
        ({"min_raters": 100}, "no group has 100 raters or more"),
        ({"permutations": 121}, "need more memory than a run may take; at most 120 fit"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_and_the_number_of_permutations_that_fits_does_fit(
    monkeypatch, asked, said
) -> None:
    data, two = dataset(3, items=20, raters=24), [model("m", np.zeros(20)), model("n", np.ones(20))]
    monkeypatch.setattr(run_module, "MAX_NULL_BYTES", 120 * 5 * len(two) * len(SIDES) * 8)
    ask(data, two, permutations=120)
    with pytest.raises(SpecError, match=said):
        ask(data, two, **{"permutations": 120, **asked})


def test_strangers_see_the_numbers_and_no_names_and_a_computed_answer_s_own_cautions_stay() -> None:
    result = telling()
    assert str(result.to_dict()).count(SECRET) > 14
    shown = public_view(result, small_groups=True)
    for form in (shown.to_dict(), sides_csv(shown), str(answer(shown)), run_title(shown.spec)):
        assert SECRET not in str(form)
    assert shown.groups == result.groups[1:]
    assert shown.warnings == (Caution.TOO_FEW_FOR_P(),)
    assert [(one.name, one.labelled, one.overall_f1) for one in shown.models] == [("planted", 10, 0.55)]
    assert public_view(shown, small_groups=True) == shown
    # All that the computation says by itself is either about a model's labels or a caution
    data = dataset(3, items=40, raters=40, missing=0.2)
    models = [model(f"m{k}", labels) for k, labels in enumerate(random_labels(1, data.annotations))]
    result = ask(data, models, permutations=60, min_raters=12, p_value="paper")
    own = [warning for warning in result.warnings if "has no label" not in str(warning)]
    assert len(own) >= 2
    assert list(public_view(result, small_groups=True).warnings) == own
    again = ModelsResult.from_dict(json.loads(json.dumps(result.to_dict())))
    plain = public_view(again, small_groups=True).to_dict()
    assert "labels.csv" in str(result.to_dict())
    assert "labels.csv" not in str(plain)
    assert ModelsResult.from_dict(plain) == public_view(result, small_groups=True)


def test_a_title_names_a_few_models() -> None:
    assert run_title(make_models(("gold", "planted")).spec).startswith("gold, planted: ")
    many = run_title(make_models(tuple(f"m{k}" for k in range(8))).spec)
    assert many.startswith("m0, m1, m2, m3, m4 and 3 more: ")
    assert "\n" not in run_title(make_models(("two\nlines",)).spec)


VOTES = """item,rater,label,gold,partial,differs
b,1,yes,no,,yes
b,2,no,no,,no
a,1,yes,yes,maybe,yes
a,2,yes,yes,maybe,yes
c,2,maybe,yes,no,no
"""
SPEC = DataSpec(item="item", rater="rater", label="label", categories=("no", "yes", "maybe"))


def data(spec: DataSpec = SPEC) -> Dataset:
    return load(table(VOTES, "votes.csv"), None, spec, ())


def table(text: str, name: str = "m.csv") -> Table:
    return read_table(text.encode(), name)


def test_labels_are_put_in_the_items_order_and_those_of_items_that_a_filter_took_are_counted() -> None:
    found = read_model(table("ID,Label\na,yes\nc,no\nb,maybe\n"), "m", data(), SPEC)
    assert data().annotations.item_ids == ("b", "a", "c")
    assert found.labels.tolist() == [2, 1, 0]
    assert (found.name, found.source, found.n_labelled, found.left_out) == ("m", "m.csv", 3, 0)
    spec = dataclasses.replace(SPEC, filters=Filters(min_per_item=2))
    found = read_model(table("ID,Label\na,yes\nc,no\n"), "m", data(spec), spec)
    assert found.labels.tolist() == [-1, 1]
    assert found.left_out == 1


@pytest.mark.parametrize(
    "text",
    [
        *("ID,Label\na,yes\nb,\n", "ID,Label\na,yes\n", "ID,Label\r\na,yes\r\n"),
        "item,expert\na,yes\n",  # called as in the data
    ],
)
def test_items_without_label_are_left_out(text: str) -> None:
    assert read_model(table(text), "m", data(), SPEC).labels.tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ID,Label\na,yes\nz,no\n", "m.csv, row 3, column 'ID': the data have no item 'z'"),
        ("ID,Label\na,yes\nb,no\na,no\n", "m.csv, row 4: the ID 'a' occurs twice"),
        ("ID,Label\na,yes\nb,Unlabeled\n", "m.csv, row 3, column 'Label': the label 'Unlabeled' is none"),
        ("ID,Label\na,YES\nb,x\n", "row 2, column 'Label': the label 'YES' is none of the categories of the "
         "data, 'no', 'yes', 'maybe' (and 1 more such row); did you mean 'yes'?"),
        ("id,label\na,yes\n", "m.csv needs the columns ID (the item's id) and Label"),
        ("ID,Label\na,\n", "m.csv: model 'm' has no label for any item"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_file_and_row(text: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        read_model(table(text), "m", data(), SPEC)
    assert told in str(error.value)


def test_a_benchmarks_predictions_may_go_beyond_the_rows_that_people_voted_on() -> None:
    """More ids are strange than items lack a label, so that not all of them can be misspelt."""
    found = read_model(table("ID,Label\na,yes\nz,no\nb,no\ny,strange\nc,maybe\n"), "m", data(), SPEC)
    assert found.labels.tolist() == [0, 1, 2]
    assert found.left_out == 2
    most = read_model(table("ID,Label\na,yes\nz,no\nb,no\ny,strange\n"), "m", data(), SPEC)
    assert (most.labels.tolist().count(-1), most.left_out) == (1, 2)
    with pytest.raises(DataError, match="row 2, column 'Label': the label 'strange'"):
        read_model(table("ID,Label\na,strange\nz,no\nb,no\nc,maybe\n"), "m", data(), SPEC)


def test_a_column_of_the_annotations_is_a_model() -> None:
    votes = table(VOTES, "votes.csv")
    assert read_model_column(votes, "gold", "experts", data(), SPEC).labels.tolist() == [0, 1, 1]
    found = read_model_column(votes, "partial", "p", data(), SPEC)
    assert found.labels.tolist() == [-1, 2, 0]
    assert found.source == "votes.csv, column partial"
    recode = (MapValues("gold", (("no", "maybe"),)), MapValues("age", (("1", "2"),)))
    spec = dataclasses.replace(SPEC, recode=recode)  # it is recoded with the data
    loaded = load(votes, table("rater,age\n1,1\n2,1\n", "raters.csv"), spec, ("age",))
    assert read_model_column(votes, "gold", "m", loaded, spec).labels.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("differs", "votes.csv, row 3, column 'differs': an item has one value in one row and another here"),
        ("none", "votes.csv has no column 'none' for model 'm'"),
        ("rater", "votes.csv, row 2, column 'rater': the label '1' is none of the categories"),
    ],
)
def test_a_column_that_will_not_do(column: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        read_model_column(table(VOTES, "votes.csv"), column, "m", data(), SPEC)
    assert told in str(error.value)


def test_models_need_names_of_their_own_and_a_row_per_item() -> None:
    one = read_model(table("ID,Label\na,yes\n"), "m", data(), SPEC)
    with pytest.raises(DataError, match="two models are called 'm'"):
        check_models([one, one])
    with pytest.raises(DataError, match="there is no model"):
        check_models([])
    for name in ("", " ", "x" * (MAX_NAME + 1)):
        with pytest.raises(DataError, match="a model's name has 1 to 80 characters"):
            read_model(table("ID,Label\na,yes\n"), name, data(), SPEC)
    spec = DataSpec(layout="raters-by-items", rater="rater")
    wide = table("rater,a,b\n1,yes,no\n2,no,no\n", "wide.csv")
    with pytest.raises(DataError, match="a row per rater"):
        read_model_column(wide, "a", "m", load(wide, None, spec, ()), spec)
