"""Files of a result as somebody who has signed in takes them away, over Streamlit's own protocol."""

import json

from grasp_core.report.writers.registry import EXPORTS
from tests.server.served.sites import Site
from tests.server.tabs import tab

FIGURES = {"PNG": b"\x89PNG", "SVG": b"<svg", "PDF": b"%PDF"}


def test_every_file_of_a_result_is_made_for_a_member_who_has_signed_in(site: Site) -> None:
    """They are made outside the page's script, where Streamlit says that nobody has signed in.

    Each figure is asked for as one of its three kinds in turn.
    """
    with tab(site.first.url, "", site.clients["ann"]) as opened:
        query = f"run={site.secret_run_id}&view=Groups%20in%20numbers"  # with figures
        opened.show("results", query=query)
        opened.show("results", *opened.opening(), query=query)
        offered = opened.downloads()
        assert {export.label for export in EXPORTS.values()} <= set(offered)
        figures = [label for label in offered if label.endswith(tuple(f"({kind})" for kind in FIGURES))]
        assert len(figures) > 6
        assert len(figures) % 3 == 0
        others = [label for n, label in enumerate(figures) if n // 3 % 3 != n % 3]
        made = {label: opened.download(offered[label]) for label in offered if label not in others}
    assert [label for label, content in made.items() if not isinstance(content, bytes) or not content] == []
    assert json.loads(made[EXPORTS["json"].label])["format"] == "grasp-run"
    for label in made.keys() & figures:
        assert bytes(made[label]).startswith(FIGURES[label[-4:-1]]), label


def test_none_is_made_once_the_session_has_ended(site: Site) -> None:
    with site.visitor() as web, tab(site.first.url, "", web, site.servers[0]) as opened:
        query = f"run={site.run_id}"
        opened.show("results", query=query)
        opened.show("results", *opened.opening(), query=query)
        file_id = opened.downloads()[EXPORTS["csv"].label]
        assert isinstance(opened.download(file_id), bytes)
        web.post("/auth/sign-out", headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"})
        assert isinstance(opened.download(file_id), str)
