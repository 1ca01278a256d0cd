"""Charts that fill in: their data are apart from their spec, so that the browser exchanges the data alone."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

_Rows = list[dict[str, Any]]


def with_data_apart(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with every layer's data as a named frame under `datasets`.

    A spec that stays the same while its frames change is not drawn anew, which would flicker. So lists in
    cells are laid out as rows here, not by a transform, and the description, which quotes numbers, is left to
    the table beside the chart.
    """
    rows: dict[str, _Rows] = {}
    layers = [_named(layer, rows) for layer in spec["layer"]]
    frames = {name: pd.DataFrame(found) for name, found in rows.items()}
    return {**spec, "layer": layers, "datasets": frames, "description": "So far; the table has the numbers."}


def _named(layer: dict[str, Any], rows: dict[str, _Rows]) -> dict[str, Any]:
    data = layer["data"]
    if "values" not in data:
        return layer
    found = json.loads(data["values"])
    transforms = layer.get("transform", [])
    lists = [name for one in transforms for name in one.get("flatten", ())]
    rows[data["name"]] = (
        [
            {**row, **dict(zip(lists, entries, strict=True))}
            for row in found
            for entries in zip(*(row[name] for name in lists), strict=True)
        ]
        if lists
        else found
    )
    left = [one for one in transforms if "flatten" not in one]
    kept = {name: value for name, value in layer.items() if name != "transform"}
    return {**kept, **({"transform": left} if left else {}), "data": {"name": data["name"]}}
