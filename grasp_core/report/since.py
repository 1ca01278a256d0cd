"""The changes since earlier data: what moved further than noise explains, and what did not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grasp_core.model.groups import Group, axis_label, group_label, one_line
from grasp_core.model.result import Result
from grasp_core.model.text import LISTED, agree, number
from grasp_core.report.comparison import Change, became, compare, tested, whose
from grasp_core.report.words.names import SIGNIFICANCE_NAMES, format_value, interval_text


@dataclass(frozen=True, slots=True)
class Since:
    """A result compared with the one of earlier data.

    `counts`: what the data hold, before and now.
    `changes`: every value of both, in the order of the earlier result.
    `beyond`: those whose difference has an interval that leaves out 0.
    `with_interval`: values whose difference has one.
    `appeared`, `vanished`, `turned`: what became of marks; those that `turned` are marked in both, otherwise
        than before.
    `other_version`: whether another version of GRASP computed it.
    """

    counts: tuple[tuple[str, int, int], ...]
    changes: tuple[Change, ...]
    beyond: tuple[Change, ...]
    with_interval: int
    appeared: tuple[Change, ...]
    vanished: tuple[Change, ...]
    turned: tuple[Change, ...]
    new: tuple[Group, ...]
    gone: tuple[Group, ...]
    other_version: bool

    @property
    def noise_alone(self) -> bool:
        """Whether all that moved can be noise: intervals cover 0, and no group came or went."""
        return bool(self.with_interval) and not (self.beyond or self.new or self.gone)


def since(before: Result, now: Result) -> Since | None:
    """Hold a result against the one of earlier data; None where they answer different questions."""
    found = compare(before, now)
    if found is None:
        return None
    changed = found.changed
    moved = [(change, change.moved_interval) for change in found.changes]
    return Since(
        counts=tuple(
            (name, getattr(before.data, name), getattr(now.data, name))
            for name in ("annotations", "raters", "items")
        ),
        changes=found.changes,
        beyond=tuple(change for change, range_ in moved if range_ and not range_.low <= 0 <= range_.high),
        with_interval=sum(range_ is not None for _, range_ in moved),
        appeared=tuple(change for change in changed if change.a.significance == "none"),
        vanished=tuple(change for change in changed if change.b.significance == "none"),
        turned=tuple(
            change for change in changed if "none" not in (change.a.significance, change.b.significance)
        ),
        new=found.only_b,
        gone=found.only_a,
        other_version=before.code_version != now.code_version,
    )


def headline(found: Since) -> str:
    """What changed, in a sentence."""
    if not found.changes:
        return "No value is in both results, so there is nothing to hold against each other."
    if not found.with_interval:
        return "No difference has an interval, so whether more than noise changed cannot be said."
    if found.noise_alone:
        marks = len(found.appeared) + len(found.vanished) + len(found.turned)
        only = ", though " + number(marks, "mark") + " changed" if marks else ""
        return f"Nothing but noise changed{only}: every interval of a difference covers 0."
    if not found.beyond:
        return "No value moved further than noise explains, but groups came or went."
    moved = len(found.beyond)
    theirs = agree(moved, "its difference leaves", "their differences leaves")
    return (
        f"{moved:,} of {number(found.with_interval, 'value')} moved further than noise explains: the interval"
        f" of {theirs} out 0, as that of up to one in 20 does by chance."
    )


def details(found: Since) -> tuple[str, ...]:
    """What changed one by one, each in a sentence: data, values, marks, groups."""
    counts = [
        f"{name} {before:,} → {now:,}" if before != now else f"{name} {now:,} as before"
        for name, before, now in found.counts
    ]
    told = [f"Data: {', '.join(counts)}."]
    for change in found.beyond[:LISTED]:
        before, now = (
            f"{format_value(one.value)} {interval_text(one.interval)}".strip() for one in (change.a, change.b)
        )
        moved = f"{before} → {now}, difference {interval_text(change.moved_interval)}"
        told.append(f"Moved: {tested(change)} of {_whose(change)} {moved}.")
    more = len(found.beyond) - LISTED
    told += [
        *([f"Moved: {more:,} more."] if more > 0 else []),
        *_marked("Marked now", found.appeared, lambda change: SIGNIFICANCE_NAMES[change.b.significance]),
        *_marked("Marked no more", found.vanished, lambda change: ""),
        *_marked("Marked otherwise", found.turned, became),
    ]
    for label, groups in (("New groups", found.new), ("Groups that are gone", found.gone)):
        names = [f"{group_label(one)} ({axis_label(one.axes)})" for one in groups]
        told += [f"{label}: {_listed(names)}."] if names else []
    if found.other_version:
        told.append("Another version of GRASP computed it than before.")
    return tuple(told)


def _marked(label: str, found: Iterable[Change], how: Callable[[Change], str]) -> Iterator[str]:
    """A sentence for each sort of mark, by group."""
    sorts: dict[str, dict[str, list[str]]] = {}
    for change in found:
        sorts.setdefault(how(change), {}).setdefault(_whose(change), []).append(tested(change))
    for sort, groups in sorts.items():
        head = f"{label} ({sort})" if sort else label
        texts = [f"{', '.join(names)} of {whose}" for whose, names in groups.items()]
        yield f"{head}: {_listed(texts)}."


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - LISTED
    return "; ".join(texts[:LISTED]) + (f"; and {more:,} more" if more > 0 else "")


def _whose(change: Change) -> str:
    model = "" if change.model is None else f"{one_line(change.model)}, "
    return f"{model}{whose(change)} ({axis_label(change.group.axes)})"
