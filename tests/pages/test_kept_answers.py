"""Answers about models and leaderboards: kept, found again, shared, and seen by strangers."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.access import User
from grasp_core.errors import AccessError
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.report.visible import json_text
from grasp_core.server import Server
from grasp_core.store.documents import DocumentRecord
from grasp_core.store.links import Link, Target
from grasp_core.store.schema import documents
from pages._ui import identity, kept_answers, permissions, sharing
from tests.documents import BOARD, make_models
from tests.pages.conftest import ENTRY
from tests.pages.test_models_page import ASK, drop, opened
from tests.pages.visits import press, seen, widget
from tests.store.making import change, column

SECRET = "rater-4711"
CLOSED = "This link does not work"
GONE = "This answer is not on this server"
ANN, BOB = (User(f"{name}@lab.example", name, "analyst") for name in ("ann", "bob"))
ROOT = User("root@lab.example", "root", "admin")
VERA = User("vera@lab.example", "vera", "viewer")
SCORES = {"tasks": {"overruling": {"macro_f1": 0.8, "ci95": [0.7, 0.9], "n": 20}}, "overall": None}


def models(saved: str | None = None, view: str | None = None) -> AppTest:
    page = AppTest.from_file(ENTRY, default_timeout=60).run()
    page.switch_page("models.py")
    for name, value in (("saved", saved), ("models-view", view)):
        if value is not None:
            page.query_params[name] = value
    return page.run()


def stranger(token: str) -> AppTest:
    page = AppTest.from_file(ENTRY, default_timeout=60).run()
    page.query_params["token"] = token
    return page.switch_page("shared.py").run()


def keep(server: Server, owner: str = "", **changes: object) -> DocumentRecord:
    content = replace(make_models(), **changes).to_dict()
    return server.documents.keep("models", content, title="planted: by gender", owner=owner)


def become(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (identity, permissions):
        monkeypatch.setattr(module, "visitor", lambda: user)


def everything(page: AppTest) -> str:
    """All that the page's elements hold, as sent to the browser."""
    frames = [frame.value.to_csv() for frame in page.dataframe]
    blocks = (page.main, page.sidebar)
    return "\n".join([*frames, *(str(element.proto) for block in blocks for element in block)])


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


# Kept and found again


def test_an_answer_is_found_again_without_its_data(server: Server) -> None:
    asked = drop(opened(), "planted.csv", _all_no())
    widget(asked.number_input, "Permutations").set_value(200).run()
    press(asked, ASK)
    [kept] = server.documents.all("models")
    assert asked.query_params["saved"] in (kept.id, [kept.id])
    assert kept.title.startswith("planted: ")
    press(asked, ASK)
    assert server.documents.all("models") == [kept]
    found = models(kept.id)
    assert not found.exception
    assert [header.value for header in found.header] == [header.value for header in asked.header]
    assert [frame.value.to_csv() for frame in found.dataframe] == [
        frame.value.to_csv() for frame in asked.dataframe
    ]
    assert found.header[0].value.replace("\\", "") == kept.title
    assert not found.info  # about data that are not open
    press(found, "Ask about other models")
    assert "Open the annotations" in seen(found.info)
    assert "saved" not in found.query_params


def test_another_question_is_not_at_the_address_of_the_last(server: Server) -> None:
    page = drop(opened(), "planted.csv", _all_no())
    widget(page.number_input, "Permutations").set_value(200).run()
    press(page, ASK)
    widget(page.number_input, "Permutations").set_value(300).run()
    assert "saved" not in page.query_params
    assert not page.dataframe
    widget(page.number_input, "Permutations").set_value(200).run()
    [kept] = server.documents.all("models")
    assert page.query_params["saved"] in (kept.id, [kept.id])
    assert page.dataframe
    server.documents.delete(kept.id)  # by a colleague: what was computed here stays here
    page.run()
    assert page.dataframe
    assert "saved" not in page.query_params


def _all_no() -> str:
    return "ID,Label\n" + "".join(f"item-{place:03},No\n" for place in range(1, 351))


@pytest.mark.parametrize("saved", ["x", "<script>alert(1)</script>", "' OR 1=1 --", "\x00ü 💥", "a" * 5000])
def test_an_unknown_answer_is_a_sentence(server: Server, saved: str) -> None:
    page = models(saved)
    assert GONE in seen(page.warning)
    assert not page.exception
    press(page, "Ask about other models")
    assert not page.warning


def test_a_leaderboard_is_no_answer(server: Server) -> None:
    press(press(models(view="Leaderboard"), "Share"), "Make a link")
    [board] = server.documents.all("leaderboard")
    page = models(board.id)
    assert GONE in seen(page.warning)
    assert not page.exception


def test_kept_answers_are_listed_renamed_and_deleted(server: Server) -> None:
    kept = keep(server)
    token = server.links.create(Target("document", kept.id), created_by="")
    page = models()
    assert [expander.label for expander in page.expander] == ["Kept answers (1)"]
    next(button for button in page.button if button.key == f"open-{kept.id}").click().run()
    assert page.query_params["saved"] in (kept.id, [kept.id])
    assert "**planted** sides with **Woman**" in seen(page.markdown)
    press(page, "Rename")
    widget(page.text_input, "Title").set_value("for *all*")
    press(page, "Save")
    assert [record.title for record in server.documents.all("models")] == ["for *all*"]
    press(page, "Delete")
    assert "cannot be brought back" in seen(page.warning)
    press(page, "Delete for good")
    assert server.documents.all("models") == []
    assert server.links.use(token) is None
    page.run()
    assert not page.expander


def test_a_file_of_the_command_line_is_kept_and_shown(server: Server) -> None:
    """The same file again is the same answer; a damaged one gets a sentence."""
    result = make_models(("from a file",))
    for _ in range(2):
        page = AppTest.from_file(ENTRY, default_timeout=60).run()
        content = json_text(result.to_dict()).encode()
        page.file_uploader[0].set_value(("models.json", content, "application/json")).run()
        assert not page.exception
        [kept] = server.documents.all("models")
        assert page.query_params["saved"] in (kept.id, [kept.id])
    assert ModelsResult.from_dict(server.documents.content(kept.id)) == ModelsResult.from_dict(
        json.loads(content)
    )
    page = AppTest.from_file(ENTRY, default_timeout=60).run()
    damaged = json.dumps({**result.to_dict(), "groups": 3}).encode()
    page.file_uploader[0].set_value(("models.json", damaged, "application/json")).run()
    assert "models.json: the result file is damaged" in seen(page.error)
    assert not page.exception


@pytest.mark.parametrize(("days", "kept"), [(0, ["models"]), (30, ["models"]), (1, [])])
def test_the_sweep_takes_what_is_past_its_age(server: Server, days: int, kept: list[str]) -> None:
    """A leaderboard that no link opens goes with the files that nobody needs."""
    keep(server)
    server.documents.keep("leaderboard", BOARD, title="Leaderboard", owner="")
    change(server.database, documents, created_at=documents.c.created_at - 3 * 86400)
    settings = replace(server.settings, keep_runs_days=days, keep_files_hours=1)
    object.__setattr__(server, "settings", settings)
    server.sweep()
    assert column(server.database, documents, "kind") == kept


def test_only_the_owner_and_admins_change_an_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keep(server, owner=ANN.id)
    link = server.links.create(Target("document", kept.id), created_by=ANN.id)
    document = server.documents.get(kept.id)
    assert document is not None
    for user in (BOB, VERA):
        become(user, monkeypatch)
        page = models(kept.id)
        assert not {"Rename", "Delete"} & set(labels(page))
        assert "**planted** sides with **Woman**" in seen(page.markdown)
        press(page, "Share")
        assert f"/models?saved={kept.id}" in seen(page.code)
        assert "Make a link" not in labels(page)
        assert ("admin, can make such links" if user is BOB else "role on this server is viewer") in seen(
            page.markdown
        )
        for action in (kept_answers._remove, kept_answers._rename):
            with pytest.raises(AccessError):
                action(document)
        shareable = sharing.Shareable("", ANN.id, "", lambda: Target("document", kept.id), list)
        with pytest.raises(AccessError):
            sharing._make(shareable)
    with pytest.raises(AccessError):
        kept_answers.keep_answer(make_models())
    assert server.links.use(link) is not None
    for user in (ANN, ROOT):
        become(user, monkeypatch)
        assert {"Rename", "Delete"} <= set(labels(models(kept.id)))


# Shared


def test_an_answer_is_shared_and_revoked(server: Server) -> None:
    kept = keep(server)
    page = models(kept.id)
    press(page, "Share")
    assert f"/models?saved={kept.id}" in seen(page.code)
    assert "The smallest group on it has 5 raters" in seen(page.markdown)
    widget(page.text_input, "For whom or what (optional)").set_value("the board")
    widget(page.selectbox, "Works for").set_value("7 days")
    press(page, "Make a link")
    [link] = server.links.of_documents([kept.id])
    assert (link.label, link.target) == ("the board", Target("document", kept.id))
    assert round((link.expires_at or 0) - link.created_at) == 7 * 86400
    press(page, "Share")
    assert "**the board** · works" in seen(page.markdown)
    press(page, "Revoke")
    assert not server.links.of_documents([kept.id])[0].works


def twice(document_id):
    """What a double click does."""
    import streamlit as st

    from grasp_core.store.links import Target
    from pages._ui import sharing

    st.session_state[sharing._TERM] = "30 days"
    shared = sharing.Shareable("", "", "", lambda: Target("document", document_id), list)
    for _ in range(2):
        sharing._make(shared)


def test_a_second_click_makes_no_second_link(server: Server) -> None:
    kept = keep(server)
    page = AppTest.from_function(twice, args=(kept.id,)).run()
    assert not page.exception
    assert len(server.links.of_documents([kept.id])) == 1


def test_nothing_that_names_people_or_files_reaches_a_stranger(server: Server) -> None:
    result = make_models()
    small = replace(result.groups[0], n_raters=1, group=replace(result.groups[0].group, values=(SECRET,)))
    data = replace(
        result.spec.data, exclude=(("id", SECRET),), ignore=(SECRET,), part=SECRET, raters_part=SECRET
    )
    spec = replace(result.spec, data=data, analysis=replace(result.spec.analysis, min_raters=2))
    kept = keep(
        server,
        owner=SECRET,
        spec=spec,
        data=replace(result.data, files=(replace(result.data.files[0], name=f"{SECRET}.csv"),)),
        models=tuple(replace(model, source=f"{SECRET}.csv", sha256=SECRET) for model in result.models),
        groups=(small, *result.groups),
        warnings=(f"{SECRET} is odd",),
    )
    assert SECRET in everything(models(kept.id))
    page = stranger(server.links.create(Target("document", kept.id), created_by=SECRET, label=SECRET))
    assert not page.exception
    assert "**planted** sides with **Woman**" in seen(page.markdown)
    assert [frame.value["Group"].tolist() for frame in page.dataframe] == [
        ["All raters together", "Woman", "Man"],
        ["Woman", "Man"],
    ]
    assert SECRET not in everything(page)
    assert not page.button
    assert not page.get("page_link")
    assert len(page.get("download_button")) == 4


def test_revoking_ends_a_visit_at_its_next_interaction(server: Server) -> None:
    kept = keep(server)
    page = stranger(server.links.create(Target("document", kept.id), created_by=""))
    widget(page.button_group, "Statistic").set_value("xrr").run()
    [link] = server.links.of_documents([kept.id])
    assert link.uses == 1
    server.links.revoke(link.id)
    widget(page.button_group, "Statistic").set_value("share").run()
    assert CLOSED in seen(page.info)
    assert not page.dataframe


def test_deleted_expired_and_foreign_links_get_the_one_sentence(server: Server) -> None:
    kept, other = keep(server), keep(server, code_version="0.1.1")
    deleted = server.links.create(Target("document", kept.id), created_by="")
    expired = server.links.create(Target("document", other.id), created_by="", days=-1)
    server.documents.delete(kept.id)
    said = {seen(stranger(token).info) for token in (deleted, expired, other.id, "x")}
    assert len(said) == 1
    assert CLOSED in said.pop()


def submit(server: Server, name: str, score: float) -> str:
    scores = copy.deepcopy(SCORES)
    scores["tasks"]["overruling"]["macro_f1"] = score  # type: ignore[index]
    return server.submissions.add(name, {"overruling": {"50": SECRET}}, scores, owner=SECRET).id


def share_board(page: AppTest) -> str:
    """Make a link; returns its token."""
    press(page, "Share")
    press(page, "Make a link")
    address: str = page.session_state[sharing._MADE][1]
    return address.partition("token=")[2]


def test_a_leaderboard_is_shared_as_it_is_now(server: Server) -> None:
    first = submit(server, "ours", 0.8)
    page = models(view="Leaderboard")
    press(page, "Share")
    assert "models-view=Leaderboard" in seen(page.code)
    assert server.documents.all("leaderboard") == []  # kept only when a link is made
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
    assert labels(visit) == []
    later = stranger(share_board(models(view="Leaderboard")))
    assert "later" in later.dataframe[0].value["system"].tolist()
    assert len(server.documents.all("leaderboard")) == 2


def test_a_board_that_has_not_changed_is_kept_once(server: Server) -> None:
    submit(server, "ours", 0.8)
    tokens = {share_board(models(view="Leaderboard")) for _ in range(2)}
    [board] = server.documents.all("leaderboard")
    assert {server.links.use(token) for token in tokens} == {Target("document", board.id)}


def test_links_to_earlier_boards_can_be_revoked(server: Server) -> None:
    submit(server, "ours", 0.8)
    token = share_board(models(view="Leaderboard"))
    submit(server, "later", 0.9)
    page = models(view="Leaderboard")
    press(page, "Share")
    press(page, "Revoke")
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
        offered[user.name] = labels(page).count("Revoke")
    assert offered == {"ann": 1, "bob": 1, "root": 2, "vera": 0}
    assert "role on this server is viewer" in seen(page.markdown)


def test_a_link_of_somebody_else_is_not_revoked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that was drawn while its viewer still was an admin."""
    [theirs] = _links(server, keep(server, owner=ANN.id))
    become(BOB, monkeypatch)
    mine = keep(server, owner=BOB.id)
    shared = sharing.Shareable(
        "", BOB.id, "", lambda: Target("document", mine.id), lambda: server.links.of_documents([mine.id])
    )
    sharing._revoke(shared, theirs.id)
    assert server.links.of_documents([theirs.target.id])[0].works


def _links(server: Server, kept: DocumentRecord) -> list[Link]:
    server.links.create(Target("document", kept.id), created_by=kept.owner)
    return server.links.of_documents([kept.id])
