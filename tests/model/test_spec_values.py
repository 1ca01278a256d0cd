"""Specs: what is refused and how, the file form, the hash."""

import dataclasses
import json

import pytest

from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import (
    MAX_PERMUTATIONS,
    MAX_SEED,
    PAPER_CONVENTIONS,
    STATISTICS,
    AnalysisSpec,
    RunSpec,
)
from tests.results import GONE, changed

PLAIN = RunSpec(
    DataSpec(item="item_id", rater="rater_id", label="Q_overall"), AnalysisSpec(axes=(("rater_age",),))
)
FULL = RunSpec(
    DataSpec(
        layout="raters-by-items",
        rater="rater_id",
        profile=("age", "race"),
        categories=("No", "Yes", "Unsure"),
        missing=("", "NA"),
        exclude=(("removed", "True"), ("phase", "1")),
        recode=(
            MapValues("race", (("woman", "Woman"), ("Unsure", ""))),
            Bins(None, (2.5,), ("low", "high")),
            Combine(("q1", "q2"), ("Yes", "No"), "any"),
        ),
        filters=Filters(raters=("r1",), min_per_rater=3, gold="gold", min_gold=0.5, time="ms", min_time=1),
        ignore=("note",),
        member="Sheet1",
    ),
    AnalysisSpec(
        axes=(("age",), ("race", "gender")),
        statistics=("irr", "gai"),
        gai=("negentropy", "cross_negentropy"),
        min_raters=3,
        permutations=123,
        seed=MAX_SEED,
        strata=("phase",),
        p_value="paper",
        cross_negentropy="paper",
        ties="random",
        correction="max-t",
        family="statistic-axis",
    ),
)


@pytest.mark.parametrize(("older", "strata"), [(None, ()), ("phase", ("phase",))])
def test_strata_are_read_as_they_were_when_there_was_one(older, strata) -> None:
    plain = FULL.to_dict()
    plain["analysis"]["strata"] = older
    found = RunSpec.from_dict(plain)
    assert found.analysis.strata == strata
    assert RunSpec.from_dict(found.to_dict()) == found
    assert AnalysisSpec((("a",),), strata=("c", "b")) == AnalysisSpec((("a",),), strata=("b", "c"))


def sentence(error: pytest.ExceptionInfo[SpecError]) -> str:
    message = str(error.value)
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    return message


@pytest.mark.parametrize("spec", [PLAIN, FULL])
def test_round_trip(spec: RunSpec) -> None:
    stored = json.loads(json.dumps(spec.to_dict()))
    again = RunSpec.from_dict(stored)
    assert again == spec
    assert again.sha256() == spec.sha256()


def test_files_call_a_member_as_they_did_before() -> None:
    plain = FULL.to_dict()
    assert plain["data"]["part"] == "Sheet1"
    assert "member" not in plain["data"]
    assert plain["data"]["raters_part"] is None


def test_hashes_stay_those_of_earlier_versions() -> None:
    # SHA-256 of the canonical JSON (sorted keys and unordered lists, no spaces) of spec version 2.
    # Another value means that results of the same question no longer find each other.
    assert PLAIN.sha256() == "8490299740e135fc7545c5212d9bb37ee297c5c45f9ead2a23ce5ee12e6dd888"
    assert FULL.sha256() == "a735a0f42030c81fcf5aad674ec379ad73fbd2eeff880eaf25c34f13314b87ff"
    # Hashes of before strata were several, for one and for no stratum; ties then went to the first.
    first = dataclasses.replace(PLAIN, analysis=dataclasses.replace(PLAIN.analysis, ties="first"))
    within = dataclasses.replace(first, analysis=dataclasses.replace(first.analysis, strata=("phase",)))
    assert first.sha256() == "343d107d579cde479845916e23c3fb678e43c325009791655ea5b5ddedabe7de"
    assert within.sha256() == "3cbeea2b653fc80cf68dae315bea804a98427503188f1c9949a1ee0389582d5a"
    adaptive = dataclasses.replace(PLAIN, analysis=dataclasses.replace(PLAIN.analysis, adaptive=True))
    assert adaptive.sha256() != PLAIN.sha256()
    older = PLAIN.to_dict()
    del older["analysis"]["adaptive"]
    assert RunSpec.from_dict(older) == PLAIN
    assert RunSpec.from_dict(older).sha256() == PLAIN.sha256()


@pytest.mark.parametrize("field", ["profile", "missing", "exclude"])
def test_the_hash_is_the_same_in_any_order_that_means_nothing(field: str) -> None:
    turned = dataclasses.replace(FULL.data, **{field: getattr(FULL.data, field)[::-1]})
    assert turned != FULL.data
    assert dataclasses.replace(FULL, data=turned).sha256() == FULL.sha256()


def test_the_hash_minds_the_order_of_ids_and_of_mapped_values_as_little() -> None:
    def spec(turn: slice) -> RunSpec:
        mapped, conditions = (("a", "x"), ("b", "y")), (("s", "1"), ("t", "2"))
        filters = Filters(raters=("r1", "r2")[turn], items=("i", "j")[turn], drop=conditions[turn])
        data = dataclasses.replace(PLAIN.data, recode=(MapValues(None, mapped[turn]),), filters=filters)
        return dataclasses.replace(PLAIN, data=data)

    one, other = spec(slice(None)), spec(slice(None, None, -1))
    assert one != other
    assert one.sha256() == other.sha256()


@pytest.mark.parametrize(
    "changed",
    [
        {"recode": FULL.data.recode[::-1]},
        {"categories": ("Yes", "No", "Unsure")},
        {"recode": (Combine(("q1", "q2"), ("No", "Yes"), "any"),)},
    ],
)
def test_the_hash_minds_an_order_that_means_something(changed: dict[str, object]) -> None:
    assert dataclasses.replace(FULL, data=dataclasses.replace(FULL.data, **changed)).sha256() != FULL.sha256()


def test_a_spec_keeps_the_hash_it_had_before_an_item_could_be_answered_twice() -> None:
    older = PLAIN.to_dict()
    del older["data"]["repeated"], older["data"]["order"]
    assert RunSpec.from_dict(older) == PLAIN
    chosen = [dataclasses.replace(PLAIN.data, repeated=which) for which in ("first", "last")]
    chosen.append(dataclasses.replace(PLAIN.data, repeated="last", order="when"))
    hashes = {dataclasses.replace(PLAIN, data=data).sha256() for data in (PLAIN.data, *chosen)}
    assert len(hashes) == 4


def test_the_hash_differs_wherever_the_spec_does() -> None:
    hashes = {PLAIN.sha256(), FULL.sha256()}
    for field, value in (
        ("seed", 2),
        ("permutations", 9),
        ("ties", "first"),
        ("strata", ("a",)),
        ("level", "ratio"),
    ):
        changed = dataclasses.replace(PLAIN, analysis=dataclasses.replace(PLAIN.analysis, **{field: value}))
        hashes.add(changed.sha256())
    assert len(hashes) == 7


def test_statistics_are_in_the_papers_column_order() -> None:
    # Table 5 of the GRASP paper: IRR, XRR, negentropy, cross-negentropy, plurality, voting, GAI.
    assert (
        "irr",
        "xrr",
        "negentropy",
        "cross_negentropy",
        "plurality_size",
        "voting_agreement",
        "gai",
        *("gap", "distance"),  # not the paper's
    ) == STATISTICS


def test_defaults_and_paper_conventions() -> None:
    spec = AnalysisSpec(axes=(("a",),))
    assert (spec.permutations, spec.p_value, spec.cross_negentropy, spec.ties, spec.correction) == (
        10_000,
        "two-sided",
        "smooth",
        "random",
        "benjamini-hochberg",
    )
    paper = AnalysisSpec(axes=(("a",),), **PAPER_CONVENTIONS)  # type: ignore[arg-type]
    assert (paper.p_value, paper.cross_negentropy) == ("paper", "paper")
    assert (paper.voting_agreement, paper.ties) == ("kappa", "first")
    assert spec.voting_agreement == "alpha"
    assert "voting_agreement" not in RunSpec(FULL.data, spec).to_dict()["analysis"]  # keeps older hashes


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"permutations": 0}, "permutations"),
        ({"permutations": -1}, "permutations"),
        ({"permutations": MAX_PERMUTATIONS + 1}, "permutations"),
        ({"permutations": 100.0}, "permutations"),
        ({"permutations": True}, "permutations"),
        ({"permutations": "100"}, "permutations"),
        ({"adaptive": "auto"}, "`adaptive` must be true or false; found 'auto'"),
        ({"seed": -1}, "seed"),
        ({"seed": MAX_SEED + 1}, "seed"),
        ({"seed": None}, "seed"),
        ({"min_raters": 0}, "min_raters"),
        ({"axes": ((),)}, "axis"),
        ({"axes": (("a",), ("a",))}, "twice"),
        ({"axes": (("a", "b"), ("b", "a"))}, "twice"),
        ({"axes": (("a", "a"),)}, "twice"),
        ({"axes": ("ab",)}, "axes"),
        ({"axes": ((1,),)}, "axes"),
        ({"statistics": ()}, "statistics"),
        ({"statistics": ("irr", "alpha")}, "alpha"),
        ({"statistics": "irr"}, "statistics"),
        ({"gai": ("xrr", "irr")}, "GAI"),
        ({"gai": ("irr",)}, "gai"),
        ({"strata": 3}, "strata"),
        ({"strata": "a"}, "strata"),
        ({"strata": ("b", "b")}, "twice"),
        ({"cluster": 3}, "cluster"),
        ({"cluster": "b", "strata": ("b",)}, "stratum and cluster"),
        ({"cluster": "b", "strata": ("workload",)}, "workload"),
        ({"p_value": "one-sided"}, "p_value"),
        ({"cross_negentropy": None}, "cross_negentropy"),
        ({"voting_agreement": "paper"}, "voting_agreement"),
        ({"ties": "last"}, "ties"),
        ({"correction": "bonferroni"}, "correction"),
        ({"family": []}, "family"),
    ],
)
def test_bad_analysis_values_are_refused_in_a_sentence(changes, named: str) -> None:
    with pytest.raises(SpecError) as caught:
        AnalysisSpec(**{"axes": (("a",),), **changes})
    assert named in sentence(caught)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"layout": "wide"}, "layout"),
        ({"item": None}, "item"),
        ({"rater": ""}, "rater"),
        ({"label": None}, "label"),
        ({"item": 3}, "item"),
        ({"repeated": "newest"}, "repeated"),
        ({"order": "when"}, "order"),
        ({"repeated": "last", "order": 3}, "order"),
        ({"categories": ("Yes",)}, "categories"),
        ({"categories": ("Yes", "No", "Yes")}, "categories"),
        ({"categories": ("Yes", 0)}, "categories"),
        ({"categories": "Yes,No"}, "categories"),
        ({"missing": (None,)}, "missing"),
        ({"profile": "age"}, "profile"),
        ({"exclude": (("removed",),)}, "exclude"),
        ({"exclude": (("removed", True),)}, "exclude"),
    ],
)
def test_bad_data_values_are_refused_in_a_sentence(changes, named: str) -> None:
    with pytest.raises(SpecError) as caught:
        DataSpec(**{"item": "i", "rater": "r", "label": "l", **changes})
    assert named in sentence(caught)


def damaged(*path: str, value: object = GONE) -> dict:
    return changed(FULL.to_dict(), path, value)


def bins(edges: list[float], labels: list[str]) -> dict:
    return {"kind": "bins", "column": "age", "edges": edges, "labels": labels}


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        "spec",
        {},
        damaged("version", value=3),
        damaged("version"),
        damaged("data"),
        damaged("data", value=None),
        damaged("data", value=[1]),
        damaged("data", value="text"),
        damaged("analysis", value=[]),
        damaged("analysis", value=3),
        damaged("analysis", "axes"),
        damaged("analysis", "axes", value=3),
        damaged("analysis", "axes", value={"a": 1}),
        damaged("analysis", "axes", value=[["a"], 3]),
        damaged("analysis", "seed", value=1.5),
        damaged("analysis", "unheard_of", value=1),
        damaged("analysis", "ties", value={}),
        damaged("data", "exclude", value=5),
        damaged("data", "exclude", value=["ab"]),
        damaged("data", "categories", value=5),
        damaged("data", "recode", value=[{"kind": "eval", "column": "a"}]),
        damaged("data", "recode", value=[{"kind": "map", "column": "a", "values": [["a"]]}]),
        damaged(
            "data", "recode", value=[{"kind": "bins", "column": "a", "edges": [2, 1], "labels": list("abc")}]
        ),
        damaged("data", "recode", value=[bins([1], ["a"])]),
        damaged("data", "recode", value=[bins([1], ["a", "a"])]),
        damaged(
            "data", "recode", value=[{"kind": "combine", "columns": [], "priority": ["a", "b"], "into": "c"}]
        ),
        damaged("data", "filters", value={"min_time": 3}),
        damaged("data", "filters", value={"gold": "g", "min_gold": 2}),
        damaged("data", "filters", value={"min_per_item": 0}),
        damaged("data", "filters", value=[]),
    ],
)
def test_damaged_specs_are_refused_in_a_sentence(plain) -> None:
    with pytest.raises(SpecError) as caught:
        RunSpec.from_dict(plain)
    sentence(caught)


def test_all_that_is_wrong_is_told_at_once_and_nothing_that_only_follows_from_it() -> None:
    plain = PLAIN.to_dict()
    plain["data"] |= {
        "repeated": "perhaps",
        "order": "when",
        "categories": ["one"],
        "filters": {"time": "seconds", "min_time": "long", "min_per_item": 0, "gold": "right"},
    }
    plain["analysis"] |= {
        "axes": ["rater_age"],
        "seed": "x",
        "permutations": -3,
        "strata": ["a", "a"],
        "given": ["b"],
        "odd": 1,
    }
    with pytest.raises(SpecError) as refused:
        RunSpec.from_dict(plain)
    wrong = ["`repeated`", "`categories`", "`min_time`", "`min_per_item`", "`gold` and `min_gold`"]
    wrong += ["`axes[0]`", "`seed`", "`permutations`", "`strata`", "'odd'"]
    assert len(refused.value.sentences) == len(wrong)
    for name in wrong:
        assert sum(name in one for one in refused.value.sentences) == 1, name
