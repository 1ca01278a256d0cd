"""Annotations that a tool's export marks as not counting: left out, unless they are asked to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grasp_core.asked.voice import Voice
from grasp_core.data_spec import DataSpec
from grasp_core.errors import SpecError
from grasp_core.io.guess.recognise import Guess

Pairs = Sequence[tuple[str, str]]


def dropped_by_format(guess: Guess, spec: DataSpec) -> Pairs:
    """Filters of the format, and of rows that hold nobody's answer, of a file read by the same ids."""
    known = guess.spec if guess.recipe is None or guess.recipe.spec is None else guess.recipe.spec
    if (known.layout, known.item, known.rater) != (spec.layout, spec.item, spec.rater):
        return ()
    return known.filters.drop


def left_out(spec: DataSpec, more: Pairs, keep: Pairs, voice: Voice) -> DataSpec:
    """The spec with `more` left out as well, but for what is to be kept; each is a column and a value.

    Raises
    ------
    SpecError
        If something is to be kept that counts anyway.
    """
    drop = tuple(dict.fromkeys((*more, *spec.filters.drop)))
    items = [(str(spec.item), one) for one in spec.filters.items]
    raters = [(str(spec.rater), one) for one in spec.filters.raters]
    known = (*drop, *items, *raters)
    needless = [pair for pair in keep if pair not in known]
    if needless:
        named = ", ".join(f"{column}={value}" for column, value in known) or "nothing"
        raise SpecError(
            f"{voice.condition('keep', *needless[0])}: such annotations are not left out; "
            f"left out by their values: {named}"
        )
    filters = replace(
        spec.filters,
        drop=tuple(pair for pair in drop if pair not in keep),
        items=tuple(pair[1] for pair in items if pair not in keep),
        raters=tuple(pair[1] for pair in raters if pair not in keep),
    )
    return replace(spec, filters=filters)


def with_guessed_ids(spec: DataSpec, guess: Guess) -> DataSpec:
    """The spec without the items and raters of a matrix that the guess leaves out as nobody's."""
    found, own = guess.spec.filters, spec.filters
    items = tuple(dict.fromkeys((*found.items, *own.items)))
    raters = tuple(dict.fromkeys((*found.raters, *own.raters)))
    return replace(spec, filters=replace(own, items=items, raters=raters))
