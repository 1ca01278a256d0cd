from dataclasses import replace

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from grasp_core import __version__
from grasp_core.model.example import example_spec
from grasp_core.model.result import RunResult
from grasp_core.server.server import Server
from grasp_core.store.links import BY_ADDRESS, Link
from grasp_core.store.runs import Request
from tests.labels import MAKE_LINK, ORDER
from tests.pages.visits import everything, groups_table, labels, press, seen, view, visit, widget
from tests.results import judged, make_group, make_outcome, make_result

SECRET = "rater-4711"
CLOSED = "This link does not work"


def _visit(token: str | None) -> AppTest:
    return visit("shared", **({} if token is None else {"token": token}))


def _shared(server: Server, result: RunResult, **link: float) -> tuple[str, str]:
    run = server.runs.add(result, title="A run", owner="")
    return run.id, server.links.create(run.id, created_by="", **link)


def _sharing(server: Server, result: RunResult) -> tuple[AppTest, str]:
    """A result's page on which Share is open."""
    run = server.runs.add(result, title="A run", owner="")
    return press(visit("results", run=run.id), "Share"), run.id


def _only_link(server: Server, run_id: str) -> Link:
    [link] = server.links.of_run(run_id)
    return link


def test_a_stranger_sees_the_numbers_and_no_way_to_change_them(server, example_result) -> None:
    run_id, token = _shared(server, example_result, small_groups=True)
    assert "See which items" not in everything(_visit(token))  # a link shows none
    stranger = view(_visit(token), "Groups in numbers")
    colleague = view(visit("results", run=run_id), "Groups in numbers")
    assert seen(stranger.title) == seen(colleague.title)
    assert groups_table(stranger).equals(groups_table(colleague))
    assert all(button.label.startswith("Look at ") for button in stranger.button)
    assert not stranger.get("page_link")
    assert not stranger.get("file_uploader")
    assert not stranger.exception


def test_nothing_that_names_people_or_files_reaches_a_stranger(server: Server) -> None:
    small = make_group(SECRET, raters=4, gai=make_outcome(9.0, "up", "**"))
    large = make_group("Woman", raters=5, gai=make_outcome(1.0, "up"))
    result = make_result((small, large), min_raters=5, statistics=("gai",), warnings=(f"{SECRET} is odd",))
    files = (replace(result.data.files[0], name=f"{SECRET}.csv"),)
    spec = replace(result.spec, data=replace(result.spec.data, exclude=(("id", SECRET),)))
    result = replace(result, data=replace(result.data, files=files), spec=spec)
    run_id, token = _shared(server, result, small_groups=True)
    server.runs.describe(run_id, note=SECRET, tagged=[SECRET])
    colleague = visit("results", run=run_id)
    assert SECRET in everything(colleague)  # and in the caches of charts and tables
    page = _visit(token)
    assert "Woman" in everything(page)
    assert SECRET not in everything(page)


def test_unknown_links_get_one_sentence(server: Server) -> None:
    for token in (None, "", "x", "<script>alert(1)</script>", "\x00ü 💥"):
        page = _visit(token)
        assert CLOSED in seen(page.info)
        assert not page.exception


def test_guessed_links_are_cut_short(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextProxy, "ip_address", "203.0.113.7")
    _, right = _shared(server, make_result())
    object.__setattr__(server.settings, "guess_rate", "2/hour")
    for token in ("x", "x", "y"):
        assert CLOSED in seen(_visit(token).info)
    page = _visit("z")
    assert "2 links or tokens that open nothing per hour; try again in" in seen(page.error)
    assert not page.exception
    assert not _visit(right).error  # whoever guesses shuts out nobody else


def test_expired_and_revoked_links_and_those_of_deleted_runs_get_the_same_sentence(server: Server) -> None:
    _, expired = _shared(server, make_result(), days=-1)
    run_id, revoked = _shared(server, make_result())
    server.links.revoke(_only_link(server, run_id).id)
    assert seen(_visit(expired).info) == seen(_visit(revoked).info) == seen(_visit("x").info)
    run_id, token = _shared(server, make_result())
    server.runs.delete(run_id)
    assert CLOSED in seen(_visit(token).info)


def test_revoking_ends_a_visit_at_its_next_interaction(server: Server) -> None:
    run_id, token = _shared(server, make_result())
    page = view(_visit(token), "Groups in numbers")
    server.links.revoke(_only_link(server, run_id).id)
    widget(page.selectbox, ORDER).set_value("q").run()
    assert CLOSED in seen(page.info)
    assert not page.dataframe


def test_a_visit_counts_once(server: Server) -> None:
    run_id, token = _shared(server, make_result())
    page = view(_visit(token), "Groups in numbers")
    widget(page.selectbox, ORDER).set_value("q").run()
    page.run()
    assert _only_link(server, run_id).uses == 1
    _visit(token)
    assert _only_link(server, run_id).uses == 2


def test_a_failed_run_says_nothing_of_its_error(server: Server, example_result: RunResult) -> None:
    request = Request("a" * 64, "A run", "", __version__, example_spec(), example_result.data, ())
    server.service.close()
    run, _ = server.runs.create(request)
    token = server.links.create(run.id, created_by="")
    assert "Waiting for another run to finish" in everything(_visit(token))
    server.runs.finish(server.runs.claim(), "failed", error=SECRET)
    page = _visit(token)
    assert "There is no result here" in seen(page.info)
    assert SECRET not in everything(page)


def test_share_makes_a_link_and_revoke_ends_it(server: Server) -> None:
    page, run_id = _sharing(server, make_result())
    assert f"/results?run={run_id}" in seen(page.code)
    assert "The smallest group on it has 5 raters" in seen(page.markdown)
    widget(page.text_input, "For whom or what (optional)").set_value("the <b>board</b>")
    widget(page.selectbox, "Works for").set_value("7 days")
    press(page, MAKE_LINK)
    link = _only_link(server, run_id)
    assert link.label == "the <b>board</b>"
    assert round((link.expires_at or 0) - link.created_at) == 7 * 86400
    press(page, "Share")
    assert "**the <b>board</b>** · works" in seen(page.markdown)
    assert "ends in 7 days" in seen(page.caption)
    assert "never opened" in seen(page.caption)
    press(page, "Withdraw")
    assert not _only_link(server, run_id).works
    press(page, "Share")
    assert "withdrawn just now" in seen(page.caption)
    assert "Withdraw" not in labels(page.button)


def test_a_link_may_end_on_a_day_of_ones_choice(server: Server) -> None:
    page, run_id = _sharing(server, make_result())
    widget(page.selectbox, "Works for").set_value("No end")
    press(page, MAKE_LINK)
    assert _only_link(server, run_id).expires_at is None


PASSWORD = "correct horse"


def _give(page: AppTest, password: str) -> AppTest:
    widget(page.text_input, "Password of the link").set_value(password)
    return press(page, "Open")


def test_a_password_is_asked_for_before_anything_is_shown(server: Server) -> None:
    run_id, token = _shared(server, make_result(), password=PASSWORD)
    page = _visit(token)
    assert seen(page.title) == "Shared result"
    assert "A run" not in everything(page)
    assert not page.error
    _give(page, "wrong horse")
    assert CLOSED in seen(page.error)
    assert "A run" not in everything(page)
    _give(page, PASSWORD)
    assert "A run" in seen(page.caption)
    assert not page.error
    view(page, "Groups in numbers")
    widget(page.selectbox, ORDER).set_value("q").run()
    assert "A run" in seen(page.caption)
    assert _only_link(server, run_id).uses == 1


def test_after_some_wrong_passwords_the_right_one_waits_too(server: Server) -> None:
    _, token = _shared(server, make_result(), password=PASSWORD)
    page = _visit(token)
    for _ in range(BY_ADDRESS):
        _give(page, "wrong horse")
        page.run()  # which is no try
    _give(page, PASSWORD)
    assert "try again in 15 minutes" in seen(page.error)
    assert "A run" not in everything(page)


def test_a_link_that_is_used_up_says_what_every_closed_link_says(server: Server) -> None:
    _, token = _shared(server, make_result(), max_uses=1, password=PASSWORD)
    first = _give(_visit(token), PASSWORD)
    late = _visit(token)
    assert seen(late.info) == seen(_visit("x").info)
    assert not late.text_input
    first.run()
    assert "A run" in seen(first.caption)


def test_a_link_is_made_with_terms_and_all_are_withdrawn(server: Server) -> None:
    page, run_id = _sharing(server, make_result())
    widget(page.text_input, "Password (optional)").set_value("short")
    press(page, MAKE_LINK)
    assert not server.links.of_run(run_id)
    press(page, "Share")
    widget(page.text_input, "Password (optional)").set_value(PASSWORD)
    widget(page.number_input, "Visits (optional)").set_value(3)
    widget(page.checkbox, "Show groups of fewer than 5 raters too").set_value(True)
    press(page, MAKE_LINK)
    link = _only_link(server, run_id)
    assert (link.has_password, link.max_uses, link.target.small_groups) == (True, 3, True)
    press(page, "Share")
    assert "password · small groups shown · at most 3 visits" in seen(page.caption)
    press(page, "Withdraw all of them")
    assert not _only_link(server, run_id).works


def test_whoever_shares_a_result_reads_which_findings_the_link_leaves_out(server: Server) -> None:
    clear = judged(make_group("Woman", raters=4), "clear", "labels")
    page, _ = _sharing(server, make_result((clear, make_group("Man"))))
    assert "**does not say what was found** of **Woman** raters" in seen(page.markdown)


def test_all_of_one_s_links_are_withdrawn_on_account(server: Server) -> None:
    run_ids = [_shared(server, make_result())[0] for _ in range(2)]
    page = visit("account")
    assert "2 share links of yours are open" in seen(page.markdown)
    press(page, "Withdraw all my links")
    assert "2 links that you made" in seen(page.warning)
    press(page, "Withdraw all of them")
    assert not any(_only_link(server, run_id).works for run_id in run_ids)
    page.run()
    assert "No share link of yours is open" in seen(page.markdown)
