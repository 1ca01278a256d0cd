"""Files that released versions wrote can be read for good; each version's stay here as they are.

Written by `grasp run` of that version on the example: rater_gender and
rater_race x rater_gender, 200 permutations, seed 1. The database of each version is in tests/store/data.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.report.saved import read_spec
from grasp_core.report.writers.registry import EXPORTS

FOLDER = Path(__file__).parent / "released"
RESULTS = sorted(FOLDER.glob("result-*.json"))
SPECS = sorted(FOLDER.glob("spec-*.json"))


def test_there_are_files() -> None:
    assert RESULTS
    assert SPECS


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_a_result_is_read_and_shown(path: Path) -> None:
    plain = json.loads(path.read_bytes())
    result = RunResult.from_dict(plain)
    assert len(result.groups) == 12
    assert [str(warning) for warning in result.warnings] == plain["warnings"] != []
    assert plain["warnings"][0].encode() in EXPORTS["html"].make(result)
    (planted,) = (row for row in result.groups if row.group.values == ("Black", "Woman"))
    assert planted.group == Group(("rater_race", "rater_gender"), ("Black", "Woman"))
    gai = planted.statistics["gai"]
    assert gai.value == pytest.approx(1.480, abs=5e-4)
    assert sum(gai.null.counts) == 200
    for name in ("csv", "markdown", "json"):
        assert EXPORTS[name].make(result)


def test_a_result_is_written_as_it_was() -> None:
    """Byte for byte, but for the version, specs, which have grown, and remarks, which were sentences."""

    def sentences(plain: Any) -> Any:
        if isinstance(plain, list):
            return [sentences(one) for one in plain]
        if isinstance(plain, dict):
            return plain.get("text") if "code" in plain else {name: sentences(plain[name]) for name in plain}
        return plain

    content = json.loads((FOLDER / "result-0.2.0.json").read_bytes())
    written = {**sentences(RunResult.from_dict(content).to_dict()), "version": 1}
    assert json.dumps({**written, "spec": None}) == json.dumps({**content, "spec": None})


@pytest.mark.parametrize("path", [*SPECS, *RESULTS], ids=lambda path: path.name)
def test_a_spec_is_read_to_run_again(path: Path) -> None:
    recorded = read_spec(path)
    assert recorded.spec.analysis.axes == (("rater_gender",), ("rater_race", "rater_gender"))
    assert recorded.spec.analysis.permutations == 200
    assert recorded.spec.data.label == "label"
