"""Published data sets, recognised by their columns, and how each is to be read."""

from __future__ import annotations

from grasp_core.reading.formats.datasets.d3code import d3code_recipe
from grasp_core.reading.formats.datasets.dices import recipe_350, recipe_990
from grasp_core.reading.formats.datasets.multipico import multipico_recipe
from grasp_core.reading.formats.datasets.popquorn import popquorn_recipe
from grasp_core.reading.table.table import Recipe, Table

__all__ = ["known"]

_DATA_SETS = (recipe_350, recipe_990, d3code_recipe, popquorn_recipe, multipico_recipe)


def known(annotations: Table, raters: Table | None = None) -> Recipe | None:
    """Reading of a published data set, told by its columns and values, never by the file's name.

    `raters`: where the data set keeps its raters' demographics in a file of their own.

    Returns none where the files are not one of the data sets that docs/formats.md lists.
    """
    found = (recipe(annotations, raters) for recipe in _DATA_SETS)
    return next((recipe for recipe in found if recipe is not None), None)
