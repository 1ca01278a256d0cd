"""Every page over a real websocket, by whoever has no business with a run: a page added later, too."""

import pytest

from pages._ui.helpers.screens import SCREENS
from tests.server.served.sites import PROJECT, SECRET_TITLE, Site
from tests.server.tabs import tab


@pytest.mark.parametrize("who", ["nobody", "eve", "signed out", "dora", "vera", "bob"])
def test_no_page_shows_a_run_to_those_who_do_not_belong_to_its_project(site: Site, who: str) -> None:
    """A stranger, one not admitted, an ended session, a disabled account, a viewer, an analyst."""
    with tab(site.first.url, "", site.clients[who]) as opened:
        for screen in SCREENS:
            opened.show("" if screen.path == "/" else screen.name, query=f"run={site.secret_run_id}&token=x")
            shown = opened.text()
            assert SECRET_TITLE not in shown, screen
            assert PROJECT not in shown, screen
            assert shown, screen


def test_it_is_shown_to_a_member(site: Site) -> None:
    with tab(site.first.url, "", site.clients["ann"]) as opened:
        opened.show("results", query=f"run={site.secret_run_id}")
        assert SECRET_TITLE in opened.text()
        opened.show("projects")
        assert PROJECT in opened.text()
