"""The styled table of groups, as a browser gets it."""

import pandas as pd
import pyarrow as pa
from streamlit.testing.v1 import AppTest


def _page() -> None:
    import pandas as pd

    from pages._ui.result.shown_tables import show_groups_table

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
    at = AppTest.from_function(_page, default_timeout=60).run()
    assert not at.exception
    styler = at.dataframe[0].proto.arrow_data.styler
    shown: pd.DataFrame = pa.ipc.open_stream(styler.display_values).read_pandas()
    assert shown["irr"].tolist()[:4] == ["0.250 ↑", "0.250 ↑**", "0.250 ↓*", "−0.500 ↓"]
    assert shown["xrr"].tolist() == ["0.100 ↑", "0.200 ↑", "0.300 ↑", "0.300 ↑", "0.300 ↑"]
    assert shown["marks"].tolist() == ["", "IRR ↑**", "IRR ↓*", "", ""]
    bold = [rule for rule in styler.styles.splitlines() if "font-weight" in rule]
    assert sorted(rule.count("_row1_col3") + rule.count("_row2_col3") for rule in bold) == [1, 1]
    assert at.dataframe[0].value["irr"].tolist()[:3] == [0.25, 0.25, 0.25]  # what a screen reader gets


def _phone() -> None:
    import pandas as pd

    from pages._ui.result.shown_tables import show_phone_table

    frame = pd.DataFrame(
        {
            "group": ["a", "b"],
            "axis": "age",
            "raters": 3,
            "irr": [0.25, float("nan")],
            "irr_arrow": ["↑", ""],
            "irr_stars": ["**", ""],
            "irr_interval": ["[0.100, 0.400]", ""],
            "irr_p": [0.0004, float("nan")],
            "irr_q": [0.012, float("nan")],
            "gai": [1.5, -1.0],
            "gai_arrow": ["↑", "↓"],
            "gai_stars": "",
            "gai_interval": "[−2.000, 2.000]",
            "gai_p": ["0.5 to 0.9", "0.2"],
            "gai_q": "",
        }
    )
    for p in (False, True):
        show_phone_table(frame, ["gai", "irr"], 10_000, p=p, alt="groups")


def test_on_a_phone_the_first_columns_say_what_matters() -> None:
    at = AppTest.from_function(_phone, default_timeout=60).run()
    assert not at.exception
    short, long = (frame.value for frame in at.dataframe)
    assert list(short) == ["Group", "GAI", "IRR", "Axis", "Raters"]
    assert short["GAI"].tolist() == ["1.500 ↑ [−2.000, 2.000]", "−1.000 ↓ [−2.000, 2.000]"]
    assert short["IRR"].tolist() == ["0.250 ↑** [0.100, 0.400]", "not estimable"]
    assert list(long) == ["Group", "GAI", "GAI p", "GAI q", "IRR", "IRR p", "IRR q", "Axis", "Raters"]
    assert long["IRR p"].tolist() == ["< 0.001", "not tested"]
    assert long["GAI p"].tolist() == ["0.5 to 0.9", "0.2"]


def _long() -> None:
    import pandas as pd

    from pages._ui.result.shown_tables import show_groups_table

    for name in ("short", "a name of a group that takes two lines " * 2):
        known = {"axis": "age", "raters": 9, "irr": 0.25, "irr_arrow": "↑", "irr_stars": ""}
        frame = pd.DataFrame([{"group": name, **known}] * 20)
        show_groups_table(frame, ["irr"], "light", 100, p=False, alt=name)


def test_long_names_have_room_to_be_wrapped() -> None:
    at = AppTest.from_function(_long, default_timeout=60).run()
    assert not at.exception
    assert [frame.proto.row_height for frame in at.dataframe] == [35, 66]
