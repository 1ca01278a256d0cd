"""What one click beside a warning runs again at once, and the click that takes it back."""

import csv
import io
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.inputs import Inputs
from grasp_core.model.access import only
from grasp_core.model.remarks.cautions import Caution, GuardCaution
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.findings.mending import CHOOSE_SHUFFLES
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.state import KEPT_RATERS
from tests.labels import DATA_AND_METHODS
from tests.pages.people import ANN, BOB, VERA, become
from tests.pages.visits import finished, labels, on, press, seen, shown_run, visit
from tests.permutation.simulated import DATA_SPEC, simulate
from tests.permutation.simulated import files as written
from tests.results import make_result
from tests.stored import stored_run

ALWAYS = ("r1", "r5", "r9")
"""Raters who gave one label always."""
SPEC = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",), ("race",)), permutations=100, pairs=False))
CONSTANT = Caution.CONSTANT_RATERS(raters=len(ALWAYS), looked_at=24, least=10)
WORKLOAD = GuardCaution.OWN_WORKLOAD(axis="gender", group="Woman", times=4.0)
WITHOUT, BACK = "Run without these raters", "Bring these raters back"


def _files() -> dict[str, bytes]:
    votes, raters = written(*simulate(1))
    rows = list(csv.DictReader(io.StringIO(votes.decode())))
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(row | ({"label": "label 0"} if row["rater"] in ALWAYS else {}) for row in rows)
    return {"votes.csv": text.getvalue().encode(), "raters.csv": raters}


FILES = _files()


def _saved(server: Server, *warnings: Remark, spec: RunSpec = SPEC) -> RunRecord:
    tables = [read_table(content, name) for name, content in FILES.items()]
    summary = load(*tables, spec.data).summary
    result = replace(make_result(), spec=spec, data=summary, warnings=(CONSTANT, *warnings))
    return stored_run(server, result, FILES)


def _visit(run_id: str) -> AppTest:
    return visit("results", run=run_id, view=DATA_AND_METHODS)


def test_one_click_runs_without_the_raters_of_a_warning_and_one_brings_them_back(server: Server) -> None:
    page = _visit(_saved(server, WORKLOAD).id)
    assert BACK not in labels(page.button)
    press(page, WITHOUT)
    assert not page.exception
    without = shown_run(page, server)
    assert without.spec == replace(SPEC, data=replace(DATA_SPEC, screens=("constant",)))
    found = finished(page, server)
    assert shown_run(page, server).summary.raters == 24 - len(ALWAYS)
    assert "Left out: raters who gave one label always." in seen(found.caption)
    assert WITHOUT not in labels(found.button)
    press(found, BACK)
    assert not found.exception
    with_them = shown_run(found, server)
    assert with_them.id != without.id
    assert (with_them.spec, with_them.summary.raters) == (SPEC, 24)
    assert WITHOUT in labels(finished(found, server).button)


def test_one_click_holds_workload_alike_and_one_lets_it_differ_again(server: Server) -> None:
    page = press(_visit(_saved(server, WORKLOAD).id), "Shuffle within like workload")
    assert not page.exception
    assert shown_run(page, server).spec.analysis.strata == ("workload",)
    press(finished(page, server), "Shuffle whatever the workload")
    assert shown_run(page, server).spec == SPEC


def test_what_to_shuffle_within_is_in_sight_where_a_click_leads_to_it(server: Server) -> None:
    run = _saved(server, GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60))
    for button, opened in ((CHOOSE_SHUFFLES, True), ("Change and run again", False)):
        page = on(press(_visit(run.id), button), "analysis")
        (shuffles,) = (one for one in page.expander if one.label == "Shuffles")
        assert shuffles.proto.expanded is opened


def test_raters_kept_although_marked_go_by_one_click_and_come_back_by_another(server: Server) -> None:
    (marked, *_) = sorted(row["race"] for row in csv.DictReader(io.StringIO(FILES["raters.csv"].decode())))
    run, pairs = _saved(server), (("race", marked),)
    assert "The answer without them" not in labels(_visit(run.id).button)
    server.answers.keep(run.id, KEPT_RATERS, [list(one) for one in pairs])
    page = _visit(run.id)
    assert f"Kept: raters with 'race = {marked}'." in seen(page.caption)
    press(page, "The answer without them")
    assert not page.exception
    without = shown_run(page, server)
    assert without.spec == replace(SPEC, data=replace(DATA_SPEC, exclude=pairs))
    found = press(finished(page, server), "The answer with them")
    assert shown_run(found, server).spec == SPEC
    assert f"Kept: raters with 'race = {marked}'." in seen(finished(found, server).caption)


@pytest.mark.usefixtures("nothing_computed")
def test_one_click_counts_a_text_as_missing(server: Server) -> None:
    odd = DataProblem.LIKE_MISSING(where="raters.csv, column 'race'", cells=3, value="n/a")
    page = press(_visit(_saved(server, odd).id), "Count 'n/a' as missing")
    assert not page.exception
    assert shown_run(page, server).spec == replace(SPEC, data=replace(DATA_SPEC, missing=("", "n/a")))


@pytest.mark.usefixtures("nothing_computed")
def test_it_is_run_in_the_project_of_the_run_not_in_the_chosen_one(server, monkeypatch) -> None:
    bobs = server.projects.create("Bob's", owner=Member("person", BOB.id, "owner")).id
    run = _saved(server)
    server.projects.move(run.id, bobs)
    become(server.accounts.known(BOB), monkeypatch)
    page = press(_visit(run.id), WITHOUT)
    assert not page.exception
    again = shown_run(page, server)
    assert (again.project, again.owner) == (bobs, BOB.id)
    assert again.id in {one.id for one in server.seen(only(bobs)).runs.search()}


def test_without_its_files_a_run_is_mended_on_data(server: Server) -> None:
    run = _saved(server, DataProblem.LIKE_MISSING(where="raters.csv", cells=3, value="n/a"))
    for _, sha256 in server.runs.files_of(run.id):
        server.files.delete(sha256, owner="")
    offered = labels(_visit(run.id).button)
    assert WITHOUT not in offered
    assert {"Leave raters out on Data", "Count 'n/a' as missing on Data"} <= set(offered)


def test_who_may_not_run_there_is_offered_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _saved(server)
    become(server.accounts.known(ANN), monkeypatch)
    page = _visit(run.id)
    assert WITHOUT in labels(page.button)
    become(server.accounts.known(VERA), monkeypatch)
    page.button(key="mend-0").click().run()  # as it was drawn before the role was taken away
    assert WITHOUT not in labels(_visit(run.id).button)
    assert len(server.runs.search()) == 1


def test_the_files_are_looked_for_once_however_many_ways_there_are(server, monkeypatch) -> None:
    few = Caution.TOO_FEW_FOR_CORRECTION(permutations=100, tests=400, least=15_999)
    spec = replace(SPEC, data=replace(DATA_SPEC, screens=("random",)))
    run = _saved(server, WORKLOAD, few, spec=spec)
    looked: list[str] = []
    kept = Inputs.are_at_hand

    def look(inputs: Inputs, record: RunRecord) -> bool:
        looked.append(record.id)
        return kept(inputs, record)

    monkeypatch.setattr(Inputs, "are_at_hand", look)
    page = _visit(run.id)
    offered = {WITHOUT, BACK, "Shuffle within like workload", "Take 15,999 permutations"}
    assert offered <= set(labels(page.button))
    assert looked == [run.id]
    page.run()
    assert looked == [run.id] * 2


def test_a_stranger_is_offered_nothing(server: Server) -> None:
    run = _saved(server)
    page = visit("shared", token=server.links.create(run.id, created_by="", small_groups=True))
    assert "gave one label always" in seen(page.warning)
    assert not {WITHOUT, BACK, "Leave raters out on Data"} & set(labels(page.button))
