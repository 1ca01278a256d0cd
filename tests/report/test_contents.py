from dataclasses import replace

from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.report.contents import conventions, marks, methods, not_estimable, ranged, run_title
from grasp_core.report.words.names import OF_SHARES
from tests.results import make_group, make_outcome, make_result


def spec(label, *axes):
    layout = "long" if label else "items-by-raters"
    data = DataSpec(layout=layout, item="item", rater="rater" if label else None, label=label)
    return RunSpec(data, AnalysisSpec(axes=axes))


def test_titles_and_questions():
    assert run_title(make_result().spec) == "Q_overall by age, gender, race, race × gender"
    assert run_title(spec(None, ("a",))) == "Labels by a"
    many = [(name,) for name in "abcdef"]
    assert run_title(spec("x\ny\u202e", *many)) == "x y[U+202E] by a, b, c, d and 2 more"
    one = make_result().spec
    several = replace(one, data=replace(one.data, further=tuple(map(Question, ("Q\n2", "Q3", "Q4", "Q5")))))
    assert dict(conventions(several))["Questions"].startswith("Q_overall, Q 2, Q3, Q4, Q5. IRR and XRR take")
    assert run_title(several).startswith("Q_overall, Q 2, Q3, Q4 and 1 more by age")


def test_methods_are_those_of_the_run():
    result = make_result(statistics=("irr", "gai"), gai=("plurality_size", "xrr"))
    assert [method.name for method in methods(result)] == ["IRR", "GAI", "DSI"]
    assert methods(result)[1].formula == "GAI = Plurality size / XRR"
    assert [method.name for method in methods(replace(result, dsi=()))] == ["IRR", "GAI"]


def test_conventions_and_marks():
    analysis = AnalysisSpec(axes=(("a",),), seed=7, permutations=500, strata=("x\u202e",))
    stated = dict(conventions(replace(make_result().spec, analysis=analysis)))
    assert stated["Random groupings"] == (
        "500 shuffles of whole rater profiles within each value of x[U+202E]; seed 7."
    )
    assert stated["GAI"] == "IRR divided by XRR."
    assert stated["Level of measurement"].startswith("Nominal: names. Two different labels disagree fully")
    assert "Questions" not in stated


def test_signs_are_explained_where_they_stand() -> None:
    result = make_result()
    first, *others = result.groups
    shares = replace(first, statistics={**first.statistics, "distance": Outcome(0.1, of_shares=True)})
    spec = replace(result.spec, analysis=replace(result.spec.analysis, correction="max-t"))
    assert marks(replace(result, spec=spec))[2] == ("**", "after correction, q < 0.05 (Westfall–Young max-T)")
    assert OF_SHARES not in dict(marks(result))
    assert OF_SHARES in dict(marks(replace(result, groups=(shares, *others))))


def test_reasons_are_listed_once():
    rows = [make_group(name, gai=Outcome(None, reason=said("XRR is 0"))) for name in ("A", "B")]
    rows.append(make_group("C", gai=Outcome(None)))
    rows.append(make_group("D", gai=make_outcome(1.0, "up")))
    assert not_estimable(make_result(tuple(rows), statistics=("gai",))) == (
        "GAI is not estimable for A; B: XRR is 0.",
        "GAI is not estimable for C: no reason given.",
    )
    assert not_estimable(make_result()) == ()


def test_ranged():
    assert ranged(104, 104, 104) == "104"
    assert ranged(2, 4.5, 1_200) == "2 to 1,200, median 4.5"
