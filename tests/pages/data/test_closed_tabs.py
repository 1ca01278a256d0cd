"""Tables of closed tabs are given up, and read again for whoever comes back."""

from types import SimpleNamespace

import pytest
from streamlit import runtime
from streamlit.testing.v1 import AppTest

from grasp_core.model.access import LOCAL_USER
from pages._ui.helpers import sessions as ended
from pages._ui.helpers.state import KEY, VisitorSession
from tests.labels import CONTINUE
from tests.pages.visits import figures, open_example, press


def look(page: AppTest, *, shown: bool) -> None:
    """Look at closed tabs while the page is the one session that Streamlit keeps."""
    info = SimpleNamespace(session=SimpleNamespace(id="one", session_state=page.session_state))
    manager = SimpleNamespace(
        list_active_sessions=lambda: [info] if shown else [], list_sessions=lambda: [info]
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
        ended.give_up_closed()


def test_tables_go_with_the_tab_and_come_back_with_it(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    work: VisitorSession = page.session_state[KEY]
    before = figures(page)
    generation, spec = work.generation, work.data_spec
    look(page, shown=True)
    assert work.annotations is not None
    look(page, shown=False)
    assert work.annotations is work.raters is work.dataset is None
    page.run()
    assert figures(page) == before
    assert (work.generation, work.data_spec) == (generation, spec)
    work.give_up_tables()
    press(page, CONTINUE)
    assert not page.exception
    assert work.dataset is not None


def test_where_the_file_is_gone_meanwhile_the_page_asks_for_files(page, example, server) -> None:
    open_example(page, example)
    work: VisitorSession = page.session_state[KEY]
    server.files.delete(work.annotations.sha256, owner=LOCAL_USER.id)
    work.give_up_tables()
    page.run()
    assert not page.exception
    assert work.annotations is None
    assert page.file_uploader
    assert not page.title[0].value.endswith("raters")
