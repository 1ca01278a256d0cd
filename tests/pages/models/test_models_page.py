"""The Models page's section about models as raters, in a page of its own."""

import json
import time

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.example import example_files, example_spec
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from tests.analysis.models.cases import AXES, SPEC, data, planted_labels
from tests.labels import CANCEL_RUN, RUN_AGAIN
from tests.pages.visits import (
    PATIENCE_S,
    choose_view,
    finished,
    labels,
    on,
    open_example,
    press,
    seen,
    shown_run,
    visit,
    widget,
)
from tests.shared_data import DICES350, needs_shared_data

SLOT = "Models' labels"
ASK = "See whose judgements they reproduce"


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs whose page was gone to: the section alone knows no other page."""
    runs: list[str] = []
    monkeypatch.setattr("pages._ui.models.go", lambda _screen, run_id: runs.append(run_id))
    return runs


def answered(page: AppTest, server: Server, gone: list[str]) -> AppTest:
    """Ask, and open the run's page as a colleague would."""
    press(page, ASK)
    assert not page.exception
    visitor = finished(visit("results", run=gone[-1]), server)
    assert not visitor.exception
    return visitor


def section(annotations, raters, spec):
    """What pages/models.py does, around this section alone."""
    from grasp_core.reading.sandbox.read import read_table
    from pages._ui.helpers.state import work
    from pages._ui.models import show_models_as_raters

    session = work()
    if session.annotations is None:
        session.use_files(read_table(annotations, "annotations.csv"), read_table(raters, "raters.csv"))
        session.use_dataset(*session.load(spec.data))
    show_models_as_raters()


def opened(annotations: bytes | None = None) -> AppTest:
    files = example_files()
    given = files["annotations.csv"] if annotations is None else annotations
    return AppTest.from_function(
        section, default_timeout=120, args=(given, files["raters.csv"], example_spec())
    ).run()


def drop(page: AppTest, name: str, content: str) -> AppTest:
    zone = next(zone for zone in page.file_uploader if zone.label.startswith(SLOT))
    return zone.set_value([(name, content.encode(), "text/csv")]).run()


def planted(women: str) -> AppTest:
    return drop(opened(), "planted.csv", women)


@pytest.fixture(scope="module")
def women() -> str:
    """A submission that copies the plurality of one group of the example: its Asian women."""
    from tests.analysis.models.cases import plurality_of

    files, spec = example_files(), example_spec()
    tables = [read_table(files[name], name) for name in ("annotations.csv", "raters.csv")]
    data = load(*tables, spec.data)
    axes = data.raters.axes
    race, gender = axes["rater_race"], axes["rater_gender"]
    asian = next(code for code, value in enumerate(race.values) if "Asian" in value)
    member = (race.codes == asian) & (gender.codes == gender.values.index("Woman"))
    labels = plurality_of(data, member)
    lines = [
        f"{item},{data.annotations.categories[k]}"
        for item, k in zip(data.annotations.item_ids, labels, strict=True)
    ]
    return "\n".join(["ID,Label", *lines]) + "\n"


def test_labels_that_are_too_large_are_refused_by_their_size(server, monkeypatch) -> None:
    monkeypatch.setattr("pages._ui.models.MAX_MODEL_FILE", 2**20)
    page = opened()
    drop(page, "mine.csv", "x" * (2**20 + 1))
    assert "mine.csv is larger than 1 MiB" in seen(page.error)
    assert not page.exception


def test_without_data_the_way_to_them(page: AppTest) -> None:
    page.switch_page("models.py").run()
    assert not page.exception
    assert "Open the annotations" in seen(page.info)


def test_a_planted_model_is_found_with_its_side(server: Server, women: str, gone: list[str]) -> None:
    page = opened()
    assert widget(page.button, ASK).disabled
    drop(page, "planted.csv", women)
    assert not page.exception
    assert "labels for 350 of 350 items" in seen(page.caption)
    axes = widget(page.multiselect, "Groups of")
    axes.set_value([("rater_race",), ("rater_gender",), ("rater_race", "rater_gender")]).run()
    pair = next(value for value in axes.value if len(value) == 2)
    assert set(pair) == {"rater_race", "rater_gender"}
    widget(page.number_input, "Permutations").set_value(2000).run()
    assert "**17 groups** will be compared" in seen(page.markdown)
    found = answered(page, server, gone)
    assert found.title[0].value.startswith("**planted** sides with **")
    told = seen(found.markdown)
    first = told[told.index("**planted** sides with **") :].splitlines()[0]
    assert "Asian" in first
    assert "macro-F1 0.9" in first  # its ties fell to the first label, those of the run are drawn
    table = found.dataframe[0].value
    assert sum(value.endswith("↑**") for value in table["planted"]) == 1
    assert len(found.dataframe) == 2
    press(page, ASK)
    assert gone[-1] == gone[-2]  # the same question is not computed again
    widget(page.text_input, "Name of model 1").set_value("another").run()
    press(page, ASK)
    assert gone[-1] != gone[-2]  # another question
    run = server.runs.get(gone[0])
    assert run.title.startswith("planted: ")


def test_a_run_of_models_can_be_watched_cancelled_and_asked_again(server, women, gone) -> None:
    page = planted(women)
    widget(page.number_input, "Permutations").set_value(1_000_000).run()
    press(page, ASK)
    visitor = visit("results", run=gone[-1])
    deadline = time.monotonic() + PATIENCE_S
    while "Preparing the engine" in seen_progress(visitor):  # where no kernel was compiled before
        assert time.monotonic() < deadline
        time.sleep(0.2)
        on(visitor, "results")
    assert "of 1,000,000 permutations" in seen_progress(visitor) or "Waiting" in seen_progress(visitor)
    press(visitor, CANCEL_RUN)
    finished(visitor, server)
    assert "This run was cancelled" in seen(visitor.warning)
    press(visitor, RUN_AGAIN)
    on(visitor, "models")
    assert "Open the annotations" in seen(visitor.info)
    assert visitor.session_state["work"].settings.permutations == 1_000_000


def seen_progress(page: AppTest) -> str:
    return "\n".join(element.proto.text for element in page.get("progress"))


def test_a_group_that_nobody_is_in_is_refused_before_anything_is_asked(server: Server, women: str) -> None:
    page = planted(women)
    widget(page.number_input, "Smallest group shown").set_value(1000).run()
    assert "No group is large enough" in seen(page.error)
    assert widget(page.button, ASK).disabled


@needs_shared_data
def test_both_sides_are_found_on_dices(server: Server, gone: list[str]) -> None:
    """The experts' gold, and a model that copies Asian women; the groups are those analysed last."""
    spec = RunSpec(SPEC, AnalysisSpec(axes=AXES, ties="first"))
    files = [(DICES350 / name).read_bytes() for name in ("ratings_long.csv", "raters.csv")]
    page = AppTest.from_function(section, default_timeout=120, args=(*files, spec)).run()
    page.session_state["work"].use_settings(spec.analysis)
    labels = [SPEC.categories[k] for k in planted_labels()]
    rows = [f"{item},{label}" for item, label in zip(data().annotations.item_ids, labels, strict=True)]
    drop(page, "gold.csv", (DICES350 / "items.csv").read_text())
    drop(page, "planted.csv", "\n".join(["ID,Label", *rows]) + "\n")
    assert widget(page.multiselect, "Groups of").value == list(AXES)
    told = seen(answered(page, server, gone).markdown)
    assert "**gold** sides neither with nor against any group; it may be luck that it leans" in told
    assert "**planted** sides with **Asian/Asian subcontinent, Woman** (macro-F1 0.9" in told


def test_the_answer_can_be_taken_away(server: Server, women: str, gone: list[str]) -> None:
    page = planted(women)
    widget(page.number_input, "Permutations").set_value(200).run()
    found = answered(page, server, gone)
    offered = labels(found.get("download_button"))
    assert offered == ["Report (HTML)", "Result (JSON)", "Table (CSV)", "Chart (PNG)", "Chart (SVG)"]
    result = server.service.result(gone[-1])
    assert ModelsResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_wrong_files_are_told_and_others_stay(server: Server, women: str) -> None:
    page = planted(women)
    drop(page, "strange.csv", "ID,Label\nnobody,No\n")
    assert "strange.csv, row 2, column 'ID': the data have no item 'nobody'" in seen(page.error)
    assert not widget(page.button, ASK).disabled  # the first one still can be asked about
    drop(page, "empty.csv", "")
    assert "empty.csv" in seen(page.error)
    press(page, "Remove strange")
    assert not page.exception
    assert "nobody" not in seen(page.error)


def test_what_is_not_taken_is_told(server: Server, women: str) -> None:
    """The same file again, and one more than there is room for."""
    page = planted(women)
    drop(page, "again.csv", women)
    assert "again.csv is here already, as planted" in seen(page.error)
    for number in range(12):
        drop(page, "planted.csv", f"{women}\n".replace("\n", "\n" * (number + 2), 1))
    assert "12 models stand here, the most side by side" in seen(page.error)
    names = [field.value for field in page.text_input if field.label.startswith("Name of model")]
    assert names == ["planted", *(f"planted {number}" for number in range(2, 13))]


def test_the_test_starts_as_it_was_last_analysed(server: Server) -> None:
    """The smallest group most of all, which protects its members."""
    page = opened()
    analysis = AnalysisSpec(axes=(("rater_race",),), permutations=700, seed=5, min_raters=9)
    page.session_state["work"].use_settings(analysis)
    page.run()
    labels = ("Smallest group shown", "Permutations", "Seed")
    assert [widget(page.number_input, label).value for label in labels] == [9, 700, 5]


def test_a_question_waits_while_another_view_is_looked_at(page: AppTest, server: Server, women: str) -> None:
    open_example(page, example_files())
    page.switch_page("models.py").run()
    drop(page, "planted.csv", women)
    widget(page.number_input, "Permutations").set_value(200).run()
    choose_view(page, "People")
    assert not page.text_input
    choose_view(page, "Whose judgements")
    assert widget(page.number_input, "Permutations").value == 200
    press(page, ASK)
    assert " sides " in seen(finished(page, server).markdown)
    visitor = visit("results", run=shown_run(page, server).id)
    on(press(visitor, RUN_AGAIN), "models")  # elsewhere: with the files that the server has
    assert widget(visitor.text_input, "Name of model 1").value == "planted"
    press(visitor, ASK)
    assert shown_run(visitor, server).id == shown_run(page, server).id


def test_a_column_of_the_annotations_is_a_model(server: Server) -> None:
    head, *lines = example_files()["annotations.csv"].decode().splitlines()
    text = "\n".join([f"{head},gold", *(f"{line},No" for line in lines)]) + "\n"
    page = opened(text.encode())
    widget(page.selectbox, "Column with one label per item, such as experts' gold labels").set_value(
        "gold"
    ).run()
    press(page, "Take this column")
    assert not page.exception
    assert "annotations.csv, column gold: labels for 350 of 350 items" in seen(page.caption)


def test_long_runs_stop_early_until_somebody_decides(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    toggle = "Stop when all marks are settled"
    assert not widget(opened().toggle, toggle).value
    monkeypatch.setattr("pages._ui.models.models_seconds", lambda *_: 60.0)
    page = opened()
    assert widget(page.toggle, toggle).value
    widget(page.toggle, toggle).set_value(False).run()
    assert not widget(page.run().toggle, toggle).value
