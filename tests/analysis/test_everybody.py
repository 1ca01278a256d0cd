"""How well all raters agree: against other software, by hand; AC1, for those who ask for it."""

import io
import json
from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest

from benchmarks.planted import dataset as planted
from grasp_core.analysis import everybody as module
from grasp_core.analysis.everybody import disputed_items, everybody
from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.engine.run import checked_groups, prepare
from grasp_core.model.annotations import number_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.result import Everybody, RunResult
from grasp_core.model.spec import STATISTICS, AnalysisSpec, ModelSource, RunSpec
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.draw import permutation
from grasp_core.permutation.uncompiled import further
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report import everybody as report
from grasp_core.report.public_view import public_view
from grasp_core.report.writers.registry import EXPORTS
from grasp_core.statistics.coefficients import gwet_ac1, gwet_ac1_error
from grasp_core.statistics.items import NotEstimableError, count
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC, dataset, simulate

ALL = AnalysisSpec(axes=())
SPEC = DataSpec(item="item", rater="rater", label="label")


def data(rows: list[tuple[str, str, str]], spec: DataSpec = SPEC, items: str | None = None) -> Dataset:
    text = pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(index=False)
    table = None if items is None else read_table(items.encode(), "items.csv")
    return load(read_table(text.encode(), "votes.csv"), None, spec, items=table)


def random_rows(seed: int, labels: str, items: int = 40, raters: int = 7) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(labels), size=items)
    rows = []
    for i in range(items):
        for j in rng.permutation(raters)[: rng.integers(1, raters + 1)]:
            k = truth[i] if rng.random() < 0.6 else rng.integers(len(labels))
            rows.append((f"i{i}", f"r{j}", labels[k]))
    return rows


def run(rows: list[tuple[str, str, str]], analysis: AnalysisSpec = ALL) -> RunResult:
    return compute_in_threads(data(rows), RunSpec(SPEC, analysis))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_krippendorffs(level: str) -> None:
    rows = random_rows(1, "12345")
    wide = pd.DataFrame(rows, columns=["item", "rater", "label"]).pivot(
        index="rater", columns="item", values="label"
    )
    values = wide.map(lambda label: number_of(label) if isinstance(label, str) else np.nan).to_numpy(float)
    found = everybody(data(rows), replace(ALL, level=level))
    assert found.alpha == pytest.approx(krippendorff.alpha(values, level_of_measurement=level), abs=1e-12)
    assert found.low < found.alpha < found.high


def test_by_hand() -> None:
    rows = [("a", r, "x") for r in "123"] + [("b", r, "xxy"[k]) for k, r in enumerate("123")]
    found = everybody(data([*rows, ("c", "1", "y")]), ALL)
    assert (found.items, found.unanimous) == (2, 0.5)
    x, y = found.labels
    assert (x.annotations, x.again, x.by_chance, x.alone, x.beside) == (5, 4 / 5, 4 / 5, 0, None)
    assert (y.annotations, y.again, y.by_chance, y.alone, y.beside) == (1, 0.0, 0.0, 1, "x")
    told = [(one.number, one.annotations, one.again) for one in found.raters]
    assert told == [(3, 2, 0.5), (1, 2, 0.75), (2, 2, 0.75)]
    assert everybody(data(random_rows(9, "ab", raters=3)), ALL).low is not None


def test_a_rater_who_differs_is_found_and_of_raters_who_are_alike_seldom_one() -> None:
    rng = np.random.default_rng(4)
    share = [0.1, 0.9]
    rows = [(f"i{i}", f"r{j}", "ab"[int(rng.random() < share[i % 2])]) for i in range(200) for j in range(6)]
    rows += [(f"i{i}", "odd", "ab"[int(rng.random() < 0.5)]) for i in range(200)]
    found = everybody(data(rows), ALL)
    assert [one.differs for one in found.raters] == [True] + [False] * 6
    less = "agrees with the others clearly less than the others among themselves on the same items"
    said = report.who_differs(found)
    assert said.plain.startswith(f"Rater 1 in the order of ids {less}: in 5")
    # Two of the six answer alike in .82 of the cases, and as the odd one does in .5.
    assert said.plain.endswith(" of 100 cases. Careless, or another view?")
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):
        shares = rng.beta(1, 2, size=60)
        found = everybody(planted((rng.random((8, 60)) < shares).astype(np.int64), 2, {}), ALL)
        wrong += any(one.differs for one in found.raters)
    assert wrong <= 9  # .05 and two standard errors


def test_items_of_most_disagreement_come_first() -> None:
    rows = [("a", r, "x") for r in "1234"] + [("b", r, "xxyy"[k]) for k, r in enumerate("1234")]
    rows += [("c", r, "xxxy"[k]) for k, r in enumerate("1234")] + [("d", "1", "y")]
    annotations = data(rows).annotations
    found = disputed_items(annotations, "nominal")
    assert [(one.item, one.answers) for one in found] == [
        ("b", (("x", 2), ("y", 2))),
        ("c", (("x", 3), ("y", 1))),
    ]
    assert [one.item for one in disputed_items(annotations, "nominal", "y")] == ["c"]
    assert disputed_items(annotations, "nominal", "x") == ()


def batched(**columns: list[str]) -> Dataset:
    """Six raters of 24 items; a value of each column for every item, of dates for every answer."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        [
            (f"i{i}", f"r{j}", rng.choice(["a", "b"], p=[0.9, 0.1] if i % 2 else None), "fm"[j % 2])
            for i in range(24)
            for j in range(6)
        ],
        columns=["item", "rater", "label", "gender"],
    )
    for name, values in columns.items():
        frame[name] = values if len(values) == len(frame) else np.repeat(values, 6)
    return load(read_table(frame.to_csv(index=False).encode(), "votes.csv"), None, SPEC, ["gender"])


@pytest.mark.parametrize(
    ("columns", "told", "others"),
    [
        ({"batch": [f"b{i % 3}" for i in range(24)]}, ("batch", ["b0", "b1", "b2"]), 0),
        ({"batch": [f"b{i}" for i in range(24)]}, None, 0),  # more than there is room for
        ({"topic": [f"t{i % 3}" for i in range(24)]}, None, 0),
        ({"batch": [f"b{n % 3}" for n in range(144)]}, None, 0),  # several of an item
        (
            # Each item is of the month of its first answer.
            {
                "created_at": [
                    f"2026-0{1 + i % 2 + (j > 4)}-03T10:00:00Z" for i in range(24) for j in range(6)
                ]
            },
            ("created_at (month)", ["2026-01", "2026-02"]),
            0,
        ),
        ({"answer_time": [str(10**9 + i) for i in range(24)]}, None, 0),
        (
            {"wave": ["1", "2"] * 12, "submitted": ["2026-01-02", "2026-02-02"] * 12, "batch": ["x"] * 24},
            ("wave", ["1", "2"]),
            1,
        ),
    ],
)
def test_a_column_of_batches_or_dates_is_told_of_unasked(columns, told, others: int) -> None:
    dataset = batched(**columns)
    found = everybody(dataset, AnalysisSpec(axes=(("gender",),)))
    by = [(one.column, one.value) for one in found.batches]
    assert by == ([] if told is None else [(told[0], value) for value in told[1]])
    named = [one.message for one in dataset.problems if "may be batches or months, too" in one.message]
    assert len(named) == others
    assert not others or "'submitted (month)'" in named[0]


def test_batches_stand_in_the_line_on_everybody_where_groups_are_compared() -> None:
    dataset = batched(batch=[f"b{i % 2}" for i in range(24)])
    spec = RunSpec(SPEC, AnalysisSpec(axes=(("gender",),), permutations=99))
    line = report.in_one_line(compute_in_threads(dataset, spec))
    first, second = everybody(dataset, spec.analysis).batches
    assert line.endswith(f" Alpha by batch: b0 {first.alpha:.3f} · b1 {second.alpha:.3f}.".replace("-", "−"))
    alone = RunSpec(SPEC, ALL)
    assert "Alpha by" not in report.in_one_line(compute_in_threads(dataset, alone))  # it has a table


def test_batches_are_those_of_the_slices() -> None:
    rows = random_rows(6, "ab")
    items = "item,batch\n" + "".join(f"i{i},{'June' if i % 2 else 'July'}\n" for i in range(40))
    dataset = data(rows, replace(SPEC, items_id="item"), items)
    found = everybody(dataset, replace(ALL, slices=("batch",)))
    assert [(one.column, one.value) for one in found.batches] == [("batch", "July"), ("batch", "June")]
    june = [row for row in rows if int(row[0][1:]) % 2]
    alone = everybody(data(june), ALL)
    assert found.batches[1].alpha == pytest.approx(alone.alpha, abs=1e-12)
    (said,) = report.over_batches(found)
    assert "By batch between" in said.plain
    assert everybody(dataset, ALL).batches == found.batches  # unasked, by its name


@pytest.mark.parametrize(
    ("alpha", "low", "words"),
    [
        (0.85, 0.7, "agree well"),
        (0.7, 0.6, "agree fairly well"),
        (0.5, 0.4, "agree in part"),
        (0.3, 0.1, "agree little"),
        (0.1, 0.05, "hardly agree"),
        (0.1, -0.01, "agree no more than chance"),
        (-0.2, None, "agree no more than chance"),
    ],
)
def test_words(alpha: float, low: float | None, words: str) -> None:
    assert report.how_well(Everybody(alpha, low, 0.9, None, 9, None, None, (), (), ())) == words


def test_a_run_without_axes_says_how_well_they_agree_in_every_file() -> None:
    result = run(random_rows(7, "abc"))
    assert (result.groups, result.dsi, result.permutations) == ((), (), 0)
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    title = report.agreement_title(result).plain
    assert title.startswith("Your 7 raters agree")
    assert result.everybody is not None
    sure = report.how_sure_agreement(result.everybody)
    assert "0 is chance, 1 is perfect; with other items of this kind likely between" in sure.plain
    assert "They agree least on" in sure.plain
    advice = report.agreement_advice(result.everybody)
    weakest = report.least_agreed(result.everybody)
    assert weakest is not None
    assert weakest.again is not None
    assert f"says it, {100 * weakest.again:.0f} of 100 others do, by chance" in advice.plain
    # In the middle of a scale, numbers are given again less.
    numbers = tuple(replace(one, label=str(place)) for place, one in enumerate(result.everybody.labels))
    assert report.least_agreed(replace(result.everybody, labels=numbers)) is None
    assert report.no_groups(result).plain.endswith("background; seven raters are few for groups.")
    for name, export in EXPORTS.items():
        content = export.make(result)
        assert content
        if name in ("markdown", "html"):
            assert "raters agree" in content.decode()
            assert "Another says so too" in content.decode()


def test_with_axes_it_stands_beside_the_groups(example_result: RunResult) -> None:
    found = example_result.everybody
    assert found.alpha == pytest.approx(0.1, abs=0.2)
    assert report.in_one_line(example_result).startswith("All 104 raters together: Krippendorff’s alpha")
    assert len(found.raters) == 104
    shared = public_view(example_result)
    assert shared.everybody.raters == ()


def test_what_cannot_be_told_is_said_and_what_needs_groups_is_refused(monkeypatch) -> None:
    alone = run([(f"i{n}", f"r{n % 3}", "ab"[n % 2]) for n in range(9)])
    assert "cannot be told: no item was rated by two raters" in report.agreement_title(alone).plain
    same = run([(f"i{n}", f"r{j}", "a") for n in range(9) for j in range(3)])
    assert "all of them gave one same label" in report.agreement_title(same).plain
    assert report.in_one_line(same) == ""
    for fields in ({"strata": ("batch",)}, {"given": ("age",)}, {"cluster": "team"}):
        with pytest.raises(SpecError, match="nothing is shuffled"):
            AnalysisSpec(axes=(), **fields)
    dataset = data(random_rows(8, "ab"))
    models = (ModelSource(name="m", sha256="5" * 64, column="m"),)
    with pytest.raises(SpecError, match="choose at least one axis"):
        checked_groups(dataset, RunSpec(SPEC, ALL, models=models))
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    with pytest.raises(SpecError, match="too many items and labels"):
        compute_in_threads(dataset, RunSpec(SPEC, ALL))


AC1 = further(["ac1"])


@pytest.mark.parametrize("shape", [{"missing": 0.0}, {"missing": 0.3, "unknown": 0.1}, {"categories": 20}])
def test_every_permutation_is_that_of_the_plain_definition(shape) -> None:
    annotations, raters = simulate(3, items=20, **shape)
    spec = AnalysisSpec(axes=(("gender",), ("race",)))
    grouping = form_groups(raters, spec.axes, min_raters=2)
    built = build_design(annotations, raters, grouping, spec, lacking=AC1)
    found = compiled.shuffled(unpack(Design, io.BytesIO(pack(built))), 7, 0, 5)
    plain = compiled.shuffled(build_design(annotations, raters, grouping, spec), 7, 0, 5)
    np.testing.assert_array_equal(found[..., :-1], plain)
    for b in range(5):
        source = permutation(7, b, built.order, built.bounds)
        for g, member in enumerate(grouping.member):
            try:
                right = gwet_ac1(count(annotations, member[source]))
            except NotEstimableError:
                right = np.nan
            assert found[b, g, -1] == pytest.approx(right, abs=1e-12, nan_ok=True)


def test_several_questions_are_averaged() -> None:
    answers, raters = zip(*(simulate(seed, items=15, missing=0.2) for seed in (1, 2)), strict=True)
    spec = AnalysisSpec(axes=(("gender",),))
    grouping = form_groups(raters[0], spec.axes, min_raters=2)
    design = questions.lay_out(answers, raters[0], grouping, spec, lacking=AC1)
    found = questions.joint_statistics(questions.observed_components(design), 1)[:, -1]
    right = [np.mean([gwet_ac1(count(one, member)) for one in answers]) for member in grouping.member]
    np.testing.assert_allclose(found, right)


def test_a_run_reports_it_where_it_is_asked_with_its_test_and_interval_and_changes_nothing_else() -> None:
    assert "ac1" not in AnalysisSpec(axes=(("gender",),)).statistics
    assert "ac1" in AnalysisSpec(axes=(("gender",),), statistics=("ac1",)).statistics
    with pytest.raises(SpecError, match="ac1"):
        AnalysisSpec(axes=(("gender",),), statistics=("ac2",))
    data = dataset(1, items=60, raters=40, missing=0.1)
    asked = {"axes": (("gender",),), "permutations": 200, "interval": "items", "pairs": True}
    plain = compute_in_threads(data, RunSpec(DATA_SPEC, AnalysisSpec(**asked)))
    spec = RunSpec(DATA_SPEC, AnalysisSpec(**asked, statistics=("ac1", *STATISTICS)))
    result = compute_in_threads(data, spec)
    grouping = prepare(data, spec).grouping
    assert result.pairs == plain.pairs
    for row, other, member in zip(result.groups, plain.groups, grouping.member, strict=True):
        assert tuple(row.statistics) == (*STATISTICS, "ac1")
        assert {name: row.statistics[name] for name in STATISTICS} == other.statistics
        assert row.label_use == other.label_use
        found, c = row.statistics["ac1"], count(data.annotations, member)
        assert found.value == pytest.approx(gwet_ac1(c))
        assert 0 < found.p <= found.q <= 1
        reach = (found.interval.high - found.interval.low) / 2
        assert reach == pytest.approx(2 * gwet_ac1_error(c), rel=0.1)


@pytest.mark.parametrize(
    ("ids", "odd"), [(("10", "9", "1"), 2), (("r10", "r9", "r1"), 3), (("4", "3", "2"), 2)]
)
def test_raters_are_numbered_in_the_order_of_their_ids_not_of_the_rows(ids, odd) -> None:
    """The second of them answers otherwise."""
    rows = [(f"i{i}", one, "ab"[(i + (place == 1)) % 2]) for i in range(6) for place, one in enumerate(ids)]
    assert everybody(data(rows), ALL).raters[0].number == odd
