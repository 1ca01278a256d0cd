"""The guess for a matrix around what is named, and what a person is to choose of it."""

from __future__ import annotations

from dataclasses import replace

from grasp_core.model.data_spec import DataSpec, Layout
from grasp_core.model.wording import listed, quoted
from grasp_core.read.dataset.votes import cell_columns
from grasp_core.read.guess.advice import Named, Reason
from grasp_core.read.guess.aggregated import aggregated_cells
from grasp_core.read.guess.columns.long import guess_long
from grasp_core.read.guess.columns.matrix import describes
from grasp_core.read.guess.look import Look

_WIDE: tuple[Layout, ...] = ("items-by-raters", "raters-by-items")


def around_matrix(
    look: Look, found: tuple[DataSpec, list[Reason]] | None, named: Named
) -> tuple[DataSpec, list[Reason]]:
    """The reading of a matrix with what is named in it, and candidates for what is unsure.

    Parameters
    ----------
    found : spec and reasons, or None
        What the file looks like by itself; None where it does not look like a matrix.
    """
    spec, reasons = _unlikely(look) if found is None else found
    layout = _layout(look, named)
    if layout is not None:
        if spec.layout != layout:
            spec, reasons = _turned(spec, reasons)
        reasons = [reason for reason in reasons if reason.field != "layout"]
    if (why := aggregated_cells(look, cell_columns(look.table, spec), spec.layout)) is not None:
        return spec, [Reason("aggregated", why, "unsure"), *(one for one in reasons if one.field != "layout")]
    key = _key_field(spec)
    given = {name: value for name, value in named.fields.items() if name in ("item", "rater")}
    if named.rater in look.columns and key == "item":
        del given["rater"]
    spec = replace(spec, item=given.get("item", spec.item), rater=given.get("rater", spec.rater))
    reasons = [reason for reason in reasons if reason.field not in given]
    return spec, [_with_candidates(look, reason, key) for reason in reasons]


def long_or_wide(look: Look, wide: DataSpec) -> tuple[DataSpec, list[Reason]] | None:
    """The long reading of what looks like a matrix, too; None where nothing beside the cells does."""
    spec, reasons = guess_long(look)
    cells = set(cell_columns(look.table, wide))
    unsure = any(one.field in ("item", "rater") and one.confidence == "unsure" for one in reasons)
    if unsure or spec.item in cells or spec.rater in cells:
        return None
    why = (
        f"{quoted(str(spec.item))} and {quoted(str(spec.rater))} tell the rows apart as items and raters do, "
        f"but {listed(sorted(cells), 3)} may be columns of a matrix"
    )
    asked = Reason("layout", why, "unsure", ("long", wide.layout))
    return spec, [asked, *(one for one in reasons if one.field != "layout")]


def _key_field(spec: DataSpec) -> str:
    return "item" if spec.layout == "items-by-raters" else "rater"


def _layout(look: Look, named: Named) -> Layout | None:
    if named.layout is not None or named.item is not None:
        return named.layout or "items-by-raters"
    return "raters-by-items" if named.rater in look.columns else None


def _turned(spec: DataSpec, reasons: list[Reason]) -> tuple[DataSpec, list[Reason]]:
    """The same columns, rows and columns the other way round, with the reason for the rows' ids."""
    beside = [*spec.profile, *spec.ignore]
    if spec.layout == "items-by-raters":
        about = [name for name in beside if describes(name)]
        rest = [name for name in beside if name not in about]
        turned = DataSpec(layout="raters-by-items", rater=spec.item, profile=tuple(about), ignore=tuple(rest))
        told = [Reason("profile", f"{listed(about)}: not among the item columns")] if about else []
    else:
        rest, told = beside, []
        turned = DataSpec(layout="items-by-raters", item=spec.rater, ignore=tuple(rest))
    if rest:
        told.append(Reason("ignore", f"{listed(rest)}: not among the columns of labels"))
    ids = [
        replace(reason, field=_key_field(turned)) for reason in reasons if reason.field == _key_field(spec)
    ]
    return turned, [*ids, *told]


def _unlikely(look: Look) -> tuple[DataSpec, list[Reason]]:
    """A matrix because somebody says so: ids in the first column that may hold them."""
    able = [name for name in look.columns if look.unique(name)]
    key = (*(name for name in look.ids if name in able), *able, look.columns[0])[0]
    why = (
        f"{quoted(str(key))}: {'no value occurs twice' if able else 'no column has an own value in each row'}"
    )
    return DataSpec(layout="items-by-raters", item=key), [Reason("item", why, "likely" if able else "unsure")]


def _with_candidates(look: Look, reason: Reason, key: str) -> Reason:
    if reason.confidence != "unsure" or reason.candidates:
        return reason
    if reason.field == "layout":
        return replace(reason, candidates=_WIDE)
    able = tuple(name for name in look.columns if look.unique(name)) if reason.field == key else ()
    return replace(reason, candidates=able)
