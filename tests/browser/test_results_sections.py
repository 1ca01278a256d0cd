"""Every section of Results: by the keyboard alone, at 200 %, on a phone, in the dark, and as axe sees it."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from tests.browser.conftest import OpenPage
from tests.browser.visits import faults, picture, results, settle, tab_to, table, view
from tests.computing import compute_in_threads
from tests.labels import ALL_STATISTICS, DATA_AND_METHODS
from tests.made_up import make_models
from tests.permutation.simulated import DATA_SPEC, files, simulate
from tests.stored import stored_run

VIEWS = ("Findings", "Items", "Compare groups", "Groups in numbers", "Raters", DATA_AND_METHODS)
SPEC = RunSpec(
    DATA_SPEC, AnalysisSpec(axes=(("gender",), ("race",)), permutations=200, pairs=True, slices=("topic",))
)


@pytest.fixture(scope="module")
def written() -> dict[str, bytes]:
    """Votes with a topic for each item, and raters."""
    votes, raters = files(*simulate(1))
    head, *rows = votes.decode().splitlines()
    topics = ["news" if int(row.split(",")[0][1:]) % 2 else "sport" for row in rows]
    lines = [f"{head},topic", *(f"{row},{topic}" for row, topic in zip(rows, topics, strict=True))]
    return {"votes.csv": "\n".join(lines).encode(), "raters.csv": raters}


@pytest.fixture(scope="module")
def found(written: dict[str, bytes]) -> RunResult:
    """A run with everything that a run can have."""
    tables = [read_table(content, name) for name, content in written.items()]
    data = load(*tables, DATA_SPEC, SPEC.analysis.columns, slices=SPEC.analysis.slices)
    result = compute_in_threads(data, SPEC)
    assert result.pairs
    assert result.slices
    return result


@pytest.fixture
def address(store: Server, found: RunResult, written: dict[str, bytes]) -> str:
    """Where a new run with this result is shown."""
    return f"/results?run={stored_run(store, found, written).id}"


def _by_keyboard(page: Page, name: str) -> None:
    """From one view to another with the arrows and Enter."""
    settle(page)
    target = page.get_by_role("radio", name=name, exact=True)
    page.get_by_role("radiogroup", name="View").get_by_role("radio", checked=True).focus()
    for _ in VIEWS:
        if target.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settle(page)
    expect(target).to_be_checked()
    expect(target).to_be_focused()


def test_sections_answer_to_the_keyboard_alone(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    results(page)
    tab_to(page, page.get_by_role("combobox", name="Look at one group"))
    _by_keyboard(page, "Items")
    expect(page.get_by_role("region", name="Items by distance, with both sides' labels")).to_be_visible()
    _by_keyboard(page, "Compare groups")
    axes = page.get_by_role("combobox", name="Axis of the pairs")
    tab_to(page, axes)
    axis = axes.input_value()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown" if axis == "gender" else "ArrowUp")
    page.keyboard.press("Enter")
    expect(axes).not_to_have_value(axis)
    settle(page)
    tab_to(page, page.get_by_role("combobox", name="Group", exact=True))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    tab_to(page, page.locator("summary").filter(has_text="Slices as a table"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="on the items of each value")).to_be_visible()
    _by_keyboard(page, "Groups in numbers")
    tab_to(page, page.get_by_test_id("stButtonGroup").filter(has_text="label 1"))
    _by_keyboard(page, "Raters")
    expect(page.get_by_label("Map of 24 raters by").first).to_be_visible()
    settle(page)
    tab_to(page, page.get_by_test_id("stButtonGroup").filter(has_text="race"))


_CUT = """page => [...page.querySelectorAll('h1, h2, h3, p, li, label, button, .stVegaLiteChart, svg text')]
    .filter(part => !part.closest('[role=tablist], .stDataFrame, .stMultiSelect'))
    .filter(part => { const box = part.getBoundingClientRect()
        return box.width && (box.right > window.innerWidth + 1 || box.left < -1) })
    .map(part => part.textContent.slice(0, 80))"""


def _faults(page: Page) -> list[str]:
    cut = page.get_by_test_id("stMain").evaluate(_CUT)
    return [*faults(page), *(f"cut: {text}" for text in cut)]


@pytest.mark.parametrize(
    ("width", "scale", "dark"),
    [
        pytest.param(1440, 1, False, marks=pytest.mark.long),
        pytest.param(640, 2, False, marks=pytest.mark.long),
        (390, 3, True),
    ],
    ids=["wide", "zoom200", "phone in the dark"],
)
def test_every_view_is_accessible_and_whole(open_page, address, store, width, scale, dark) -> None:
    page = open_page(address, width=width, scale=scale, dark=dark)
    results(page)
    found = {}
    for name in VIEWS:
        view(page, name)
        expect(page.get_by_role("progressbar", name="Finding")).to_have_count(0)
        expect(page.get_by_role("progressbar", name="Placing")).to_have_count(0)
        picture(page, f"section-{name.split()[0].lower()}-{width}")
        found[name] = _faults(page)
    page.goto(f"{page.url.split('&')[0]}&group=Woman")
    page.get_by_role("heading", level=2, name="Woman").wait_for()
    settle(page)
    picture(page, f"section-group-{width}")
    found["group"] = _faults(page)
    run = store.runs.add(make_models(), title="Models", owner="")
    page.goto(page.url.split("?")[0] + f"?run={run.id}")
    page.get_by_role("heading", name="Every statistic").wait_for()
    settle(page)
    picture(page, f"section-models-{width}")
    found["models"] = _faults(page)
    assert not any(found.values()), {name: faults for name, faults in found.items() if faults}


def test_forty_groups_say_what_matters_in_the_first_columns_of_a_phone(open_page, store, found) -> None:
    run = store.runs.add(replace(found, code_version="0.2.0"), title="Phone", owner="")
    page = open_page(f"/results?run={run.id}", width=390, height=844)
    results(page)
    view(page, "Groups in numbers")
    shown = ALL_STATISTICS
    expect(page.get_by_label(shown, exact=True)).to_be_hidden()
    (first, *_) = table(page, f"{shown}, in short")
    assert list(first)[:2] == ["Group", "GAI"]
    row = next(row for row in found.groups if row.group.values == (first["Group"],))
    interval = row.statistics["gai"].interval
    assert first["GAI"].endswith(f"[{interval.low:.3f}, {interval.high:.3f}]")
    grid = page.get_by_label(f"{shown}, in short")
    head = grid.locator("canvas").first.bounding_box()
    assert head["x"] + head["width"] <= 390
