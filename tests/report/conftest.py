"""Results that several tests of the report look at."""

import pytest

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import RunResult
from tests.results import make_group, make_outcome, make_result


@pytest.fixture
def three() -> RunResult:
    """Three groups, one of them without a GAI."""
    return make_result(
        (
            make_group("A", gai=make_outcome(1.0, "up", "*"), irr=make_outcome(0.3, "up")),
            make_group(
                "B", gai=Outcome(None, reason=said("no shared items")), irr=make_outcome(0.2, "up", "**")
            ),
            make_group("C", gai=make_outcome(0.5, "down", "**"), irr=make_outcome(0.1, "down", "*")),
        ),
        statistics=("irr", "gai"),
    )
