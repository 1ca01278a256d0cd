"""Runs of models and leaderboards: found again, listed, shared, and seen by strangers."""

import copy
import json
from dataclasses import replace
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import AccessError
from grasp_core.model.remarks.cautions import GuardCaution
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import Result
from grasp_core.model.spec import SIDES
from grasp_core.model.text import json_text
from grasp_core.server.identity import CLOSED
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from pages._ui import share as sharing
from pages._ui.helpers.identity import VIEWERS_LOOK
from tests.labels import MAKE_LINK
from tests.made_up import make_models
from tests.pages.people import ANN, BOB, ROOT, VERA, become
from tests.pages.visits import everything, labels, on, press, seen, visit, widget
from tests.results import make_result

SECRET = "rater-4711"
SCORES = {"tasks": {"overruling": {"macro_f1": 0.8, "ci95": [0.7, 0.9], "n": 20}}, "overall": None}


def results(run_id: str) -> AppTest:
    return visit("results", run=run_id)


def models(view: str | None = None) -> AppTest:
    return visit("models", **({} if view is None else {"models-view": view}))


def stranger(token: str) -> AppTest:
    return visit("shared", token=token)


def keep(server: Server, owner: str = "", **changes: object) -> RunRecord:
    return server.runs.add(replace(make_models(), **changes), title="planted: by gender", owner=owner)


# Found again


def test_an_answer_is_found_at_its_old_address(server: Server) -> None:
    """Answers were once kept apart from runs, and shown on the Models page."""
    kept = keep(server)
    page = visit("models", saved=kept.id)
    assert not page.exception
    assert page.query_params["run"] in (kept.id, [kept.id])
    assert "**planted** sides with **Woman**" in seen(on(page, "results").markdown)


def test_a_warning_has_its_way_to_mend_it_for_who_may_run_and_not_for_a_stranger(server: Server) -> None:
    unlike = GuardCaution.OWN_WORKLOAD_WITH_MODELS(axis="gender", group="Woman", times=4.0)
    kept = keep(server, warnings=(unlike,))
    mended = "Shuffle within like workload"
    assert mended in labels(results(kept.id).button)
    token = server.links.create(kept.id, created_by="", small_groups=True)
    assert mended not in labels(stranger(token).button)


def compared(server: Server, *results: Result) -> AppTest:
    kept = [server.runs.add(result, title="A run", owner="").id for result in results]
    page = visit("runs", **dict(zip("ab", kept, strict=True)))
    assert not page.exception
    return page


def test_results_about_models_are_compared_by_model_and_group(server: Server) -> None:
    page = compared(server, make_models(("gold", "planted")), make_models(("planted", "other")))
    assert "Macro-F1: none of 2 pairs of model and group changed significance" in seen(page.markdown)
    widget(page.toggle, "Only where significance changed").set_value(False).run()
    asked, found = (frame.value for frame in page.dataframe)
    assert "Models" in asked["what"].tolist()
    assert set(found["model"]) == {"planted"}
    assert len(found) == 2 * len(SIDES)


def test_what_has_nothing_to_compare_says_so(server: Server) -> None:
    page = compared(server, make_models(), make_result())
    assert "there is nothing to compare" in seen(page.info)
    assert not page.dataframe


def test_a_file_of_the_command_line_is_kept_and_shown(server: Server) -> None:
    """A damaged one gets a sentence."""
    result = make_models(("from a file",))
    page = visit("start")
    content = json_text(result.to_dict()).encode()
    page.file_uploader[0].set_value(("models.json", content, "application/json")).run()
    assert not page.exception
    [kept] = server.runs.search()
    assert page.query_params["run"] in (kept.id, [kept.id])
    assert kept.title.startswith("from a file: ")
    assert kept.verdict == "from a file sides with Woman raters"
    assert server.service.result(kept.id) == ModelsResult.from_dict(json.loads(content))
    page = visit("start")
    damaged = json.dumps({**result.to_dict(), "groups": 3}).encode()
    page.file_uploader[0].set_value(("models.json", damaged, "application/json")).run()
    assert "models.json: the result file is damaged" in seen(page.error)
    assert not page.exception


def test_only_the_owner_and_admins_change_an_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keep(server, owner=ANN.id)
    link = server.links.create(kept.id, created_by=ANN.id)
    for user in (BOB, VERA):
        become(user, monkeypatch)
        page = results(kept.id)
        assert "Edit" not in labels(page.button)
        assert "**planted** sides with **Woman**" in seen(page.markdown)
        press(page, "Share")
        assert f"/results?run={kept.id}" in seen(page.code)
        assert MAKE_LINK not in labels(page.button)
        assert ("or an admin can make such links" if user is BOB else VIEWERS_LOOK) in seen(page.markdown)
        shareable = sharing.Shareable("", ANN.id, EVERYONE, "", partial(server.links.create, kept.id), list)
        with pytest.raises(AccessError):
            sharing.make_link(shareable)
    assert server.links.use(link) is not None
    for user in (ANN, ROOT):
        become(user, monkeypatch)
        page = results(kept.id)
        assert "Edit" in labels(page.button)
        press(page, "Share")
        assert "with its title and the models’ names" in seen(page.markdown)


# Shared


def twice(run_id):
    """What a double click does."""
    from functools import partial

    import streamlit as st

    from grasp_core.server import server
    from pages._ui import share as sharing

    st.session_state[sharing.TERM] = "30 days"
    shared = sharing.Shareable("", "", "everyone", "", partial(server.shared().links.create, run_id), list)
    for _ in range(2):
        sharing.make_link(shared)


def test_a_second_click_makes_no_second_link(server: Server) -> None:
    kept = keep(server)
    page = AppTest.from_function(twice, args=(kept.id,)).run()
    assert not page.exception
    assert len(server.links.of_run(kept.id)) == 1


def test_nothing_that_names_people_or_files_reaches_a_stranger(server: Server) -> None:
    result = make_models()
    small = replace(result.groups[0], n_raters=1, group=replace(result.groups[0].group, values=(SECRET,)))
    data = replace(
        result.spec.data, exclude=(("id", SECRET),), ignore=(SECRET,), member=SECRET, raters_member=SECRET
    )
    spec = replace(result.spec, data=data, analysis=replace(result.spec.analysis, min_raters=2))
    kept = keep(
        server,
        owner=SECRET,
        spec=spec,
        data=replace(result.data, files=(replace(result.data.files[0], name=f"{SECRET}.csv"),)),
        models=tuple(replace(model, source=f"{SECRET}.csv", sha256=SECRET) for model in result.models),
        groups=(small, *result.groups),
        warnings=(said(f"{SECRET} is odd"),),
    )
    assert SECRET in everything(results(kept.id))
    page = stranger(server.links.create(kept.id, created_by=SECRET, label=SECRET, small_groups=True))
    assert not page.exception
    assert "**planted** sides with **Woman**" in seen(page.markdown)
    assert [frame.value["Group"].tolist() for frame in page.dataframe] == [
        ["All raters together", "Woman", "Man"],
        ["Woman", "Man"],
    ]
    assert SECRET not in everything(page)
    assert not page.button
    assert not page.get("page_link")
    assert len(page.get("download_button")) == 5


def submit(server: Server, name: str, score: float) -> str:
    scores = copy.deepcopy(SCORES)
    scores["tasks"]["overruling"]["macro_f1"] = score  # type: ignore[index]
    return server.submissions.add(name, {"overruling": {"50": SECRET}}, scores, owner=SECRET).id


def share_board(page: AppTest) -> str:
    """Make a link; returns its token."""
    press(page, "Share")
    press(page, MAKE_LINK)
    address: str = page.session_state["share-made"][1]  # the dialog shows it, which AppTest has closed
    return address.partition("token=")[2]


def test_a_leaderboard_is_shared_as_it_is_now(server: Server) -> None:
    first = submit(server, "ours", 0.8)
    page = models(view="Leaderboard")
    press(page, "Share")
    assert "models-view=Leaderboard" in seen(page.code)
    assert server.links.of_leaderboards() == []  # kept only when a link is made
    token = share_board(models(view="Leaderboard"))
    second = submit(server, "later", 0.9)
    visit = stranger(token)
    assert not visit.exception
    shown = visit.dataframe[0].value
    assert "ours" in shown["system"].tolist()
    assert "later" not in shown["system"].tolist()
    assert shown["system"].tolist() == page.dataframe[0].value["system"].tolist()
    for hidden in (SECRET, first, second):
        assert hidden not in everything(visit)
    assert "The figures are those of" in seen(visit.caption)
    widget(visit.selectbox, "Sort by").set_value("overruling").run()
    assert visit.dataframe[0].value["system"].tolist()[0] != "later"
    assert labels(visit.button) == []
    later = stranger(share_board(models(view="Leaderboard")))
    assert "later" in later.dataframe[0].value["system"].tolist()
    assert len(server.links.of_leaderboards()) == 2


def test_links_to_earlier_boards_can_be_revoked(server: Server) -> None:
    submit(server, "ours", 0.8)
    token = share_board(models(view="Leaderboard"))
    submit(server, "later", 0.9)
    page = models(view="Leaderboard")
    press(page, "Share")
    press(page, "Withdraw")
    assert CLOSED in seen(stranger(token).info)


def test_each_person_manages_own_links_to_the_board(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    submit(server, "ours", 0.8)
    offered = {}
    for user in (ANN, BOB, ROOT, VERA):
        become(user, monkeypatch)
        page = models(view="Leaderboard")
        if user in (ANN, BOB):
            share_board(page)
            page = models(view="Leaderboard")
        press(page, "Share")
        offered[user.name] = labels(page.button).count("Withdraw")
    assert offered == {"ann": 1, "bob": 1, "root": 2, "vera": 0}
    assert VIEWERS_LOOK in seen(page.markdown)


def test_a_link_of_somebody_else_is_not_revoked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that was drawn while its viewer still was an admin."""
    kept, mine = keep(server, owner=ANN.id), keep(server, owner=BOB.id)
    server.links.create(kept.id, created_by=ANN.id)
    [theirs] = server.links.of_run(kept.id)
    become(BOB, monkeypatch)
    shared = sharing.Shareable(
        "", BOB.id, EVERYONE, "", partial(server.links.create, mine.id), partial(server.links.of_run, mine.id)
    )
    sharing.withdraw_link(shared, theirs.id)
    assert server.links.of_run(kept.id)[0].works
