"""Which runs stop early by default: told by the data's shape alone, within a factor of what was measured."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from grasp_core.engine.course import LONG_SECONDS, default_seconds, models_seconds
from grasp_core.model.annotations import Axis, Raters


def shaped(items: int, raters: int, annotations: int, labels: int, sizes: dict[str, int]) -> SimpleNamespace:
    """What a data set of this shape says of itself; each axis's values are equally frequent."""
    axes = {
        name: Axis.from_values([str(value) for value in np.arange(raters) * 7919 % size])
        for name, size in sizes.items()
    }
    summary = SimpleNamespace(items=items, raters=raters, annotations=annotations, categories=("a",) * labels)
    return SimpleNamespace(
        summary=summary,
        raters=Raters([str(j) for j in range(raters)], axes),
        questions=(None,),
        attributes={"topic": Axis(("news", "sport"), np.arange(items) % 3 - 1)},
    )


DICES = {"age": 3, "gender": 2, "race": 5}
D3 = {"gender": 3, "age": 3, "region": 8, "country": 21, "ses": 5}


# Measured on two cores of the machine of docs/scaling.md: 0.21 s; 9.5 s with 2 labels and 21.5 s with 5.
@pytest.mark.parametrize(
    ("data", "axes", "measured", "factor"),
    [
        (shaped(350, 104, 36_400, 3, DICES), [*((name,) for name in DICES), ("race", "gender")], 0.21, 3),
        (shaped(4554, 4309, 150_702, 2, D3), [*((name,) for name in D3), ("region", "gender")], 9.5, 4.5),
        (shaped(4554, 4309, 150_702, 5, D3), [*((name,) for name in D3), ("region", "gender")], 21.5, 2),
    ],
)
def test_it_is_near_what_was_measured(data, axes, measured: float, factor: float) -> None:
    found = default_seconds(data, axes, 2)
    assert measured / factor < found < measured * factor
    assert (found > LONG_SECONDS) == (data.summary.items > 1000)


# Processor time of a permutation, times 10,000, on two cores.
@pytest.mark.parametrize(
    ("data", "models", "measured"),
    [
        (shaped(350, 104, 36_400, 3, DICES), 1, 0.26),
        (shaped(4554, 4309, 150_702, 2, D3), 1, 17.2),
        (shaped(4554, 4309, 150_702, 5, D3), 5, 38.6),
    ],
)
def test_models_are_near_what_was_measured(data, models: int, measured: float) -> None:
    axes = [*((name,) for name in data.raters.axes)]
    axes.append(axes[0] + axes[2])
    assert measured / 2 < models_seconds(data, models, axes, 2) < measured * 2


def test_small_groups_that_are_not_shown_cost_nothing() -> None:
    data = shaped(4554, 60, 100_000, 5, {"name": 40})
    assert default_seconds(data, [("name",)], 3) < default_seconds(data, [("name",)], 1)


def test_slices_ask_once_more_for_the_items_that_have_a_value() -> None:
    data = shaped(4554, 4309, 150_702, 5, D3)
    whole = default_seconds(data, [("gender",)], 2)
    assert default_seconds(data, [("gender",)], 2, ["topic"]) == pytest.approx(whole * (1 + 2 / 3), rel=1e-3)
