"""The styled table of groups, as a browser gets it."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
from streamlit.testing.v1 import AppTest


def _page() -> None:
    import pandas as pd

    from pages._ui.result.results_table import show_groups_table

    frame = pd.DataFrame(
        {
            "group": ["a", "b", "c", "d", "e"],
            "axis": "age",
            "raters": 3,
            "irr": [0.25, 0.25, 0.2501, -0.5, float("nan")],
            "irr_arrow": ["↑", "↑", "↓", "↓", ""],
            "irr_stars": ["", "**", "*", "", ""],
            "xrr": [0.1, 0.2, 0.3, 0.3, 0.3],
            "xrr_arrow": "↑",
            "xrr_stars": "",
        }
    )
    show_groups_table(frame, ["irr", "xrr"], "light", 100, p=False, alt="groups")


def test_equal_values_keep_their_own_marks() -> None:
    at = AppTest.from_function(_page).run()
    assert not at.exception
    styler = at.dataframe[0].proto.arrow_data.styler
    shown: pd.DataFrame = pa.ipc.open_stream(styler.display_values).read_pandas()
    assert shown["irr"].tolist()[:4] == ["0.250 ↑", "0.250 ↑**", "0.250 ↓*", "−0.500 ↓"]
    assert shown["xrr"].tolist() == ["0.100 ↑", "0.200 ↑", "0.300 ↑", "0.300 ↑", "0.300 ↑"]
    assert shown["marks"].tolist() == ["", "IRR ↑**", "IRR ↓*", "", ""]
    bold = [rule for rule in styler.styles.splitlines() if "font-weight" in rule]
    assert sorted(rule.count("_row1_col3") + rule.count("_row2_col3") for rule in bold) == [1, 1]
    assert at.dataframe[0].value["irr"].tolist()[:3] == [0.25, 0.25, 0.25]  # what a screen reader gets
