"""Links with a password or a number of visits, on the page; many withdrawn at once."""

from streamlit.testing.v1 import AppTest

from grasp_core.server.server import Server
from grasp_core.store.links import BY_ADDRESS
from tests.labels import MAKE_LINK, ORDER
from tests.pages.share.test_shared_page import CLOSED, _only_link, _shared, _visit
from tests.pages.visits import everything, press, seen, view, visit, widget
from tests.results import judged, make_group, make_result

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
    run_id = server.runs.add(make_result(), title="A run", owner="").id
    page = visit("results", run=run_id)
    press(page, "Share")
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
    run_id = server.runs.add(make_result((clear, make_group("Man"))), title="A run", owner="").id
    page = press(visit("results", run=run_id), "Share")
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
