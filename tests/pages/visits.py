"""What visitors do, in the words of the tests."""

import re
import time
from collections.abc import Mapping
from typing import Any

from streamlit.testing.v1 import AppTest

from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.labels import DROP_FILES
from tests.pages.conftest import ENTRY

PATIENCE_S = 60
_ESCAPES = re.compile(r"\\(?=[^\w\s])")


def seen(elements: Any) -> str:
    """Texts as a reader sees them, without the backslashes that keep them inert."""
    return "\n".join(plain(str(element.value)) for element in elements)


def plain(escaped: str) -> str:
    """A text as a reader sees it."""
    return _ESCAPES.sub("", escaped).replace("\u2060", "")


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if plain(button.label) == label).click().run()


def drop(page: AppTest, name: str, content: bytes) -> AppTest:
    """As :func:`drop_all`, with one file."""
    return drop_all(page, {name: content})


def drop_all(page: AppTest, files: Mapping[str, bytes]) -> AppTest:
    """Drop files on the zone for all files; what Data folds is open."""
    for section in ("notes", "account", "overview"):
        page.session_state[section] = True
    zone = next(zone for zone in page.file_uploader if zone.label.startswith(DROP_FILES))
    return zone.set_value([(name, content, "text/csv") for name, content in files.items()]).run()


def view(page: AppTest, name: str) -> AppTest:
    """The result's view of this name, by its address."""
    page.query_params["view"] = name
    return page.run()


def menus(page: AppTest) -> list[str]:
    """What the buttons that open menus say."""
    return [menu.proto.popover.label for menu in page.get("popover")]


def files_in(page: AppTest, menu: str) -> list[str]:
    """The files that a menu of this key offers, once it is open."""
    page.session_state[f"menu-{menu}"] = True
    return [button.proto.label for button in page.run().get("download_button")]


def widget(elements: Any, label: str) -> Any:
    return next(element for element in elements if element.label == label)


def labels(elements: Any) -> list[str]:
    return [plain(element.label) for element in elements]


def everything(page: AppTest) -> str:
    """All that the page's elements hold, as sent to the browser."""
    frames = [frame.value.to_csv() for frame in page.dataframe]
    blocks = (page.main, page.sidebar)
    return "\n".join([*frames, *(str(element.proto) for block in blocks for element in block)])


def text_of(page: AppTest) -> str:
    """The values of all elements, as the script gave them."""
    return "\n".join(str(getattr(element, "value", "")) for element in page)


def groups_table(page: AppTest) -> Any:
    """The table of all groups and their statistics."""
    return next(frame.value for frame in page.dataframe if "voting_agreement" in frame.value)


def figures(page: AppTest) -> list[str]:
    return [metric.value for metric in page.metric]


def open_example(page: AppTest, example: dict[str, bytes]) -> AppTest:
    """Both of the example's files on the Data page."""
    return drop_all(page.switch_page("data.py").run(), example)


def shown_run(page: AppTest, server: Server) -> RunRecord:
    """The run that the address names."""
    value = page.query_params["run"]
    return server.runs.get(value if isinstance(value, str) else value[0])


def finished(page: AppTest, server: Server) -> AppTest:
    """The Results page once its run has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while not shown_run(page, server).ended:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return on(page, "results")


def on(page: AppTest, screen: str) -> AppTest:
    """Follow a switch of screens that the app itself made: AppTest stays on the page it was sent to."""
    query = dict(page.query_params)
    page.switch_page(f"{screen}.py")
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def visit(screen: str, **query: str) -> AppTest:
    """A screen as a new visitor opens it, by an address with these values."""
    page = AppTest.from_file(ENTRY, default_timeout=200)
    for name, value in query.items():
        page.query_params[name] = value
    return page.switch_page(f"{screen}.py").run()


def bring(page: AppTest, name: str, content: bytes) -> AppTest:
    """Go to Data, and drop a file."""
    return drop(page.switch_page("data.py").run(), name, content)


def cut(page: AppTest, column: str, at: str) -> AppTest:
    """A step of Data that makes ranges of numbers."""
    widget(page.button_group, "Add a step").set_value("Cut numbers").run()
    widget(page.selectbox, "Column to recode").set_value(column).run()
    widget(page.text_input, "Cut at").set_value(at).run()
    return press(page, "Apply")


def choose_view(page: AppTest, name: str) -> AppTest:
    """A view of Models, which is open."""
    return widget(page.button_group, "View").set_value(name).run()


def models_view(page: AppTest, name: str) -> AppTest:
    """Go to a view of Models."""
    return choose_view(page.switch_page("models.py").run(), name)


BESIDE = ("submission-scoring", "leaderboard-comparing", "leaderboard-steps", "human-score", "human-put")
"""Keys of work that goes on beside a page."""


def done(page: AppTest) -> AppTest:
    """The page once all work that was begun beside it is done."""
    for key in BESIDE:
        if key in page.session_state:
            assert page.session_state[key].ended.wait(PATIENCE_S)
    return page.run()
