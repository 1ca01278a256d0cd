"""Hand-made values for tests: a result about models and a leaderboard, both invented."""

from dataclasses import replace
from typing import Any

from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side
from grasp_core.benchmark.leaderboard import Entry, leaderboard_dict
from grasp_core.model.remarks.cautions import Caution, ModelCaution
from grasp_core.model.remarks.remark import said
from grasp_core.model.spec import SIDES, ModelSource
from tests.results import make_group, make_outcome, make_result, naming

SECRET = "rater-4711"


def make_models(
    names: tuple[str, ...] = ("planted",),
    *,
    groups: tuple[str, ...] = ("Woman", "Man"),
    stars: tuple[str, ...] = ("**", ""),
):
    """Every model sides with the first group and with no other; or as `stars` say."""
    run = make_result()
    rows = []
    for place, (label, mark) in enumerate(zip(groups, stars, strict=True)):
        sides = {one: make_outcome(0.6, "up" if one in SIDES[:3] else "down", mark, sd=0.05) for one in SIDES}
        group = make_group(label, raters=5 + place).group
        rows.append(GroupSides(group, 5 + place, 50, {name: Side(sides, 0.7) for name in names}))
    return ModelsResult(
        data=run.data,
        spec=replace(run.spec, models=tuple(ModelSource(name, "5" * 64) for name in names)),
        models=tuple(ModelSummary(name, f"{name}.csv", "5" * 64, 10, 0, 0, 0.55) for name in names),
        groups=tuple(rows),
        warnings=(),
        timing=run.timing,
        code_version="0.1.0",
    )


def telling() -> ModelsResult:
    """An answer that names a rater wherever data and files can reach."""
    result = make_models(groups=(SECRET, "Woman"))
    data = naming(result.spec.data, SECRET)
    return replace(
        result,
        data=replace(result.data, files=(replace(result.data.files[0], name=f"{SECRET}.csv"),)),
        spec=replace(
            result.spec,
            data=data,
            analysis=replace(result.spec.analysis, min_raters=6),
            models=(ModelSource("planted", SECRET, SECRET),),
        ),
        models=tuple(replace(one, source=f"{SECRET}.csv", sha256=SECRET) for one in result.models),
        warnings=(
            ModelCaution.MODEL_UNLABELLED(model=SECRET, items=3),
            said(f"{SECRET}.csv, row 3: odd"),
            Caution.TOO_FEW_FOR_P(),
            Caution.SMALL_GROUPS(small=SECRET, groups=2, least=5),
        ),
    )


ENTRIES = (
    Entry(
        "ours", {"one": 0.7, "two": 0.5}, 0.6, ci95={"one": (0.6, 0.8), "two": (0.4, 0.6)}, id="submission-id"
    ),
    Entry("theirs", {"one": 0.5, "two": 0.25}, 0.375, source="arXiv:0000.00000, Table 1"),
    Entry("half", {"one": 0.25}, None, ci95={"one": (0.2, 0.3)}, id="another-id"),
)
BOARD: dict[str, Any] = leaderboard_dict(ENTRIES, ["one", "two"])
