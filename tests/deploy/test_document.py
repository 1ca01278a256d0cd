"""docs/deploy.md says what the code and compose.yaml do."""

import re
import runpy

from streamlit import config

from tests.serving import ROOT

DOCUMENT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def test_the_table_of_settings_is_the_code_s() -> None:
    assert runpy.run_path(str(ROOT / "tools" / "settings_table.py"))["written"]() == DOCUMENT, (
        "run: make settings-table"
    )


def test_every_variable_of_the_team_server_is_described() -> None:
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    described = set(re.findall(r"\b[A-Z]+(?:_[A-Z0-9]+)+\b", DOCUMENT))
    assert set(re.findall(r"\$\{(\w+)", compose)) - described == set()


def test_streamlit_s_own_settings_have_the_values_told() -> None:
    told = dict(re.findall(r"^\| `STREAMLIT_(\w+)` \| (?:`([^`]+)`|none)", DOCUMENT, re.MULTILINE))
    options = {
        name.upper().replace(".", "_"): option
        for name, option in (
            (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key), key) for key in config.get_config_options()
        )
    }
    assert len(told) > 3
    for name, value in told.items():
        found = config.get_option(options[name])
        assert (str(found).lower() if found is not None else "") == value, name
