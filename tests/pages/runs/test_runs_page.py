from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.result import RunResult
from grasp_core.model.settings import Settings
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from pages._ui.one_run import how_far
from tests.labels import DELETE
from tests.pages.visits import labels, on, plain, press, seen, visit, widget
from tests.results import asked, make_result, with_pairs, with_slices
from tests.stored import going_run

HOSTILE = "<img src=x onerror=alert(1)> :red[x] **b** [l](javascript:a) $y^2$ =1+1"


def _runs(**query: str) -> AppTest:
    return visit("runs", **query)


def _save(server: Server, title: str, result: RunResult | None = None, **described: object) -> RunRecord:
    run = server.runs.add(result or make_result(), title=title, owner="")
    if described:
        server.runs.describe(run.id, **described)
    return run


def _titles(page: AppTest) -> list[str]:
    return [title for title in _links(page) if title.startswith("Run ")]


def _links(page: AppTest) -> list[str]:
    return [plain(link.proto.label) for link in page.get("page_link")]


def test_runs_are_listed_latest_first_with_what_they_were(server: Server) -> None:
    _save(server, "Run A")
    _save(server, "Run B", tagged=["pilot"], note="for the board")
    page = _runs()
    assert _titles(page) == ["Run B", "Run A"]
    for words in ("done", "just now", "UTC", "10,000 permutations", "took 3.3 s", "tagged pilot"):
        assert words in seen(page.caption)
    assert "for the board" in seen(page.markdown)


def test_runs_of_one_title_are_told_apart_by_what_was_asked(server: Server) -> None:
    for level in ("nominal", "ordinal"):
        _save(server, "Run twice", asked(make_result(), level=level))
    _save(server, "Run once", asked(make_result(), seed=7))
    page = _runs()
    told = [plain(one.value) for one in page.caption if "Level" in one.value or "Seed" in one.value]
    assert told == ["Level of measurement: Ordinal: ranks", "Level of measurement: Nominal: names"]


def test_search_finds_title_note_and_tag(server: Server) -> None:
    _save(server, "Run first")
    _save(server, "Run second", tagged=["pilot"], note="for the board")
    page = _runs()
    for text in ("second", "BOARD", "pil"):
        widget(page.text_input, "Search").set_value(text).run()
        assert _titles(page) == ["Run second"]
    widget(page.text_input, "Search").set_value("nowhere").run()
    assert "No run is like that" in seen(page.info)


def test_a_tag_filters_until_it_is_gone(server: Server) -> None:
    run = _save(server, "Run A", tagged=["x"])
    _save(server, "Run B")
    page = _runs()
    widget(page.selectbox, "Tag").set_value("x").run()
    assert _titles(page) == ["Run A"]
    server.runs.describe(run.id, tagged=[])
    page.run()
    assert _titles(page) == ["Run B", "Run A"]


def test_many_runs_come_in_pages(server: Server) -> None:
    for number in range(45):
        _save(server, f"Run {number}")
    assert len(_titles(_runs())) == 20


def test_edit_changes_title_tags_and_note(server: Server) -> None:
    run = _save(server, "Run A")
    page = press(_runs(), "Edit")
    widget(page.text_input, "Title").set_value("Run Z")
    widget(page.text_area, "Note").set_value("n")
    press(page, "Save")
    changed = server.runs.get(run.id)
    assert (changed.title, changed.note) == ("Run Z", "n")
    assert _titles(page) == ["Run Z"]


def test_delete_asks_first(server: Server) -> None:
    run = _save(server, "Run A")
    server.links.create(run.id, created_by="")
    page = press(_runs(), "Delete")
    assert "One link to it stops working" in seen(page.warning)
    press(page, "Keep it")
    assert server.runs.get(run.id) is not None
    press(press(page, "Delete"), DELETE)
    assert server.runs.get(run.id) is None
    assert "No run has been saved yet" in seen(page.info)


def test_running_runs_show_progress_and_can_be_cancelled(server: Server) -> None:
    server.service.close()
    run = going_run(server, make_result())
    page = _runs()
    assert "Still going" in seen(page.header)
    assert "Delete" not in labels(page.button)
    press(page, "Cancel")
    record = server.runs.get(run.id)
    assert record.cancel_requested


def test_a_run_that_may_stop_early_takes_at_most_its_number(server: Server) -> None:
    run = replace(_save(server, "Run A"), state="running", cancel_requested=False)
    adaptive = replace(run, spec=replace(run.spec, analysis=replace(run.spec.analysis, adaptive=True)))
    done = Progress(2000, 100_000, 30)
    assert how_far(run, done) == "2,000 of 100,000 permutations, about 30 seconds left"
    assert how_far(adaptive, done) == "2,000 of at most 100,000 permutations, about 30 seconds left"


@pytest.mark.parametrize("settings", [Settings(keep_runs_days=30)])
def test_how_long_runs_are_kept_is_said(server: Server) -> None:
    _save(server, "Run A")
    page = _runs()
    assert "kept for 30 days after they ended" in seen(page.markdown)
    assert "kept until" in seen(page.caption)


def test_two_picked_runs_are_offered_side_by_side(server: Server) -> None:
    for title in ("Run A", "Run B", "Run C"):
        _save(server, title)
    page = _runs()
    # Latest first stands in the list; what changed is told from the earlier run to the later.
    two = "Picked: **Run B** and **Run C**"
    for count, words in enumerate(("tick one more", two, "two can be compared")):
        page.checkbox[count].check().run()
        assert words in seen(page.markdown)
    press(page, "Clear")
    assert not any(box.value for box in page.checkbox)


def test_picked_runs_of_one_title_are_told_apart(server: Server) -> None:
    for _ in range(2):
        _save(server, "Run A")
    page = _runs()
    for box in page.checkbox[:2]:
        box.check().run()
    assert seen(page.markdown).count("**Run A** of ") == 2


def test_side_by_side_takes_two_results(server: Server) -> None:
    a = make_result()
    spec = replace(a.spec, analysis=replace(a.spec.analysis, seed=2, min_raters=6))
    b = replace(a, spec=spec, groups=a.groups[1:], data=replace(a.data, items=349))
    page = _runs(a=_save(server, "Run A", a).id, b=_save(server, "Run B", b).id)
    asked, data, found = (frame.value for frame in page.dataframe)
    assert asked.to_numpy().tolist() == [["Smallest group", "2 raters", "6 raters"], ["Seed", "1", "2"]]
    assert data.to_numpy().tolist() == [["Items", "350", "349"]]
    assert len(found) == 19 * 7 + 4
    assert "Only A shows gen x+" in seen(page.markdown)
    assert "GAI: none of 19 groups changed significance." in seen(page.markdown)
    page.toggle[0].set_value(True).run()
    assert "No group passes these filters" in seen(page.info)
    page = _runs(a=_save(server, "Run A").id, b="<script>")
    assert "not on this server any more" in seen(page.warning)


def test_pairs_and_slices_stand_side_by_side(server: Server) -> None:
    both = replace(with_slices(), pairs=with_pairs().pairs)
    page = _runs(a=_save(server, "Run A", both).id, b=_save(server, "Run B", both).id)
    *_, pairs, slices = (frame.value for frame in page.dataframe)
    assert set(pairs["pair"]) == {"Asian – Black", "Asian – White", "Black – White"}
    assert set(slices["slice"]) == {"topic = news", "topic = sport"}
    for table in (pairs, slices):
        assert {"moved", "moved_interval", "q_a", "q_b", "q_moved"} <= set(table)
    assert slices["moved_interval"].str.startswith("[").any()


def test_what_people_write_stays_inert(server: Server) -> None:
    first = _save(server, HOSTILE, note=HOSTILE, tagged=[HOSTILE[:60]])
    second = _save(server, HOSTILE)
    listed, compared = _runs(), _runs(a=first.id, b=second.id)
    listed.checkbox[0].check().run()
    assert HOSTILE in _links(listed)
    for page in (listed, compared, press(listed, "Delete")):
        texts = [page.markdown, page.caption, page.title, page.header]
        drawn = [element.value for kind in texts for element in kind]
        for text in [*drawn, *(link.proto.label for link in page.get("page_link"))]:
            for markup in ("<img", ":red[", "[l](", "$y^", "**b"):
                assert markup not in text.replace("\\" + markup[0], "")


def test_a_renamed_run_is_renamed_on_start(server: Server) -> None:
    run = _save(server, "Run A")
    page = visit("results", run=run.id)
    press(page, "Edit")
    widget(page.text_input, "Title").set_value("Run Z")
    press(page, "Save")
    assert "Run Z" in seen(on(page, "start").caption)
