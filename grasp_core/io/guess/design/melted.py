"""Rows of several questions, which a column names: answers that stand in one column, but are no one label."""

from __future__ import annotations

from collections.abc import Iterator

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.look import MOST_QUESTIONS, Look
from grasp_core.io.guess.named import Named
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table import names
from grasp_core.wording import listed, quoted

_MOST_SHOWN = 4


def questions_in_rows(look: Look, spec: DataSpec, named: Named) -> Iterator[Reason]:
    """That a long file's labels answer several questions, unless their column is named."""
    if spec.layout != "long" or named.label is not None or spec.item is None or spec.rater is None:
        return
    some = look.of_some(spec.item)
    for name in look.columns:
        if name in (spec.item, spec.rater, *spec.labels) or not names.names_questions(name):
            continue
        if not 1 < len(look.texts(name)) <= MOST_QUESTIONS or some.depends_on(name, spec.item):
            continue
        asked = sorted(look.texts(name))
        drop = " ".join(f"--drop {name}={text}" for text in asked[1:_MOST_SHOWN])
        more = "..." if len(asked) > _MOST_SHOWN else ""
        why = (
            f"{quoted(name)} names what each row answers ({listed(asked, 3)}), so that "
            f"{quoted(str(spec.label))} holds several questions; write a column for each, or leave all but "
            f"one of them out, on Data under Leave out or by {drop}{more}, and say that this is the label"
        )
        yield Reason("label", why, "unsure", (str(spec.label),))
        return
