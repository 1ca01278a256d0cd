"""Which of two columns of ids is the item and which the rater, where that is not plain from one's name."""

from __future__ import annotations

from grasp_core.read.guess.look import Look
from grasp_core.read.table import names


def both_people(item: str, rater: str) -> bool:
    """Whether both columns are named like raters, and neither like items."""
    return all(names.id_score(one, names.RATER) for one in (item, rater)) and not any(
        names.id_score(one, names.ITEM) for one in (item, rater)
    )


def turned_by_name(item: str, rater: str) -> bool:
    """Whether the item is called after who rates others, and the rater after who may be rated."""
    return names.mentions(item, names.RATES) and not names.mentions(rater, names.RATES)


def turned(look: Look, item: str, rater: str) -> bool:
    """Whether other columns say that the two are the other way round."""
    return _describes_raters(look, item) or (not _describes_raters(look, rater) and _holds_texts(look, rater))


def sides_differ(look: Look, item: str, rater: str) -> bool:
    """Whether other columns describe one of the two alone."""
    return _describes_raters(look, rater) != _describes_raters(look, item) or (
        _holds_texts(look, rater) != _holds_texts(look, item)
    )


def _describes_raters(look: Look, key: str) -> bool:
    """Whether a demographic column has one value per value of `key`."""
    some = look.of_some(key)
    return any(
        names.about_raters(name, key) and len(some[name].values) > 1 and some.depends_on(name, key)
        for name in look.columns
        if name != key
    )


def _holds_texts(look: Look, key: str) -> bool:
    """Whether a column of texts has one text per value of `key`."""
    some = look.of_some(key)
    texts = (name for name in look.columns if name != key and look.kind(name) == "text")
    return any(some.depends_on(name, key) for name in texts)
