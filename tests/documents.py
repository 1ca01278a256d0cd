"""Hand-made documents for tests: an answer about models and a leaderboard, both invented."""

from __future__ import annotations

from typing import Any

from grasp_core.raft.leaderboard import Entry, leaderboard_dict
from grasp_core.raft.raters.result import GroupSides, ModelsResult, ModelSummary, Side
from grasp_core.raft.raters.statistics import SIDES
from tests.results import make_group, make_outcome, make_result


def make_models(names: tuple[str, ...] = ("planted",), *, groups: tuple[str, ...] = ("Woman", "Man")):
    """Every model sides with the first group and with no other."""
    run = make_result()
    rows = []
    for place, label in enumerate(groups):
        stars = "" if place else "**"
        sides = {
            one: make_outcome(0.6, "up" if one in SIDES[:3] else "down", stars, sd=0.05) for one in SIDES
        }
        group = make_group(label, raters=5 + place).group
        rows.append(GroupSides(group, 5 + place, 50, {name: Side(sides, 0.7) for name in names}))
    return ModelsResult(
        data=run.data,
        spec=run.spec,
        models=tuple(ModelSummary(name, f"{name}.csv", "5" * 64, 10, 0, 0, 0.55) for name in names),
        groups=tuple(rows),
        warnings=(),
        code_version="0.1.0",
    )


MODELS: dict[str, Any] = make_models().to_dict()

ENTRIES = (
    Entry(
        "ours", {"one": 0.7, "two": 0.5}, 0.6, ci95={"one": (0.6, 0.8), "two": (0.4, 0.6)}, id="submission-id"
    ),
    Entry("theirs", {"one": 0.5, "two": 0.25}, 0.375, source="arXiv:0000.00000, Table 1"),
    Entry("half", {"one": 0.25}, None, ci95={"one": (0.2, 0.3)}, id="another-id"),
)
BOARD: dict[str, Any] = leaderboard_dict(ENTRIES, ["one", "two"])
