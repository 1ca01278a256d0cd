"""The changes since earlier data: verdicts first, then values that moved further than noise explains."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from grasp_core.model.groups import axis_label, group_label, one_line, spoken
from grasp_core.model.outcome import Verdict
from grasp_core.model.text import LISTED, agree, number, spelled
from grasp_core.report.comparison import Change, Comparison, VerdictChange, became, tested, whose
from grasp_core.report.words.names import SIGNIFICANCE_NAMES, VERDICT_NAMES, format_interval, format_value


def headline(found: Comparison) -> str:
    """Sum up the changed verdicts of groups in a sentence; without verdicts, the changed values."""
    changed = [one for one in found.verdicts if one.changed]
    if not found.verdicts:
        return _of_values(found)
    if not changed:
        return "No group's verdict changed."
    many = len(found.verdicts)
    which = "The" if many == 1 else f"{spelled(len(changed)).capitalize()} of {many:,}"
    said = f"{which} {agree(many, 'verdict', 'verdicts')} changed"
    return f"{said}: {_listed([f'{_named(one)}: {_code(one.a)} → {_code(one.b)}' for one in changed])}."


def _named(one: VerdictChange) -> str:
    return " and ".join(map(spoken, one.groups))


def _code(verdict: Verdict) -> str:
    if verdict.by is not None:
        return f"explained by {spoken(verdict.by)}"
    return VERDICT_NAMES[verdict.code]


def verdicts_kept(found: Comparison) -> Iterator[str]:
    """Name the groups whose verdicts stay; groups without a difference, or untestable, are only counted."""
    kept = [one for one in found.verdicts if not one.changed]
    for code, words in VERDICT_NAMES.items():
        of_code = [one for one in kept if one.a.code == code]
        told = _listed([_named(one) for one in of_code])
        if code in ("none", "untestable"):
            told = number(sum(len(one.groups) for one in of_code), "group")
        if of_code:
            yield f"As before, {words}: {told}."


def _of_values(found: Comparison) -> str:
    """Say whether values moved further than noise explains."""
    if not found.changes:
        return "No value is in both results, so there is nothing to compare."
    if not found.with_interval:
        return "No difference has an interval, so whether more than noise changed cannot be said."
    if found.noise_alone:
        marks = len(found.changed)
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


def details(found: Comparison) -> tuple[str, ...]:
    """Sentences on verdicts that stay, then on changes of data, values, marks, groups and GRASP version."""
    counts = [
        f"{name} {before:,} → {now:,}" if before != now else f"{name} {now:,} as before"
        for name, before, now in found.counts
    ]
    told = [*verdicts_kept(found), *([_of_values(found)] if found.verdicts else [])]
    told.append(f"Data: {', '.join(counts)}.")
    for change in found.beyond[:LISTED]:
        before, now = (
            f"{format_value(one.value)} {format_interval(one.interval)}".strip()
            for one in (change.a, change.b)
        )
        moved = f"{before} → {now}, difference {format_interval(change.moved_interval)}"
        told.append(f"Moved: {tested(change)} of {_whose(change)} {moved}.")
    more = len(found.beyond) - LISTED
    told += [f"Moved: {more:,} more."] if more > 0 else []
    appeared = [change for change in found.changed if change.a.significance == "none"]
    vanished = [change for change in found.changed if change.b.significance == "none"]
    turned = [one for one in found.changed if "none" not in (one.a.significance, one.b.significance)]
    told += [
        *_marked("Marked now", appeared, lambda change: SIGNIFICANCE_NAMES[change.b.significance]),
        *_marked("Marked no more", vanished, lambda change: ""),
        *_marked("Marked otherwise", turned, became),
    ]
    for label, groups in (("New groups", found.only_b), ("Groups that are gone", found.only_a)):
        names = [f"{group_label(one)} ({axis_label(one.axes)})" for one in groups]
        told += [f"{label}: {_listed(names)}."] if names else []
    if found.other_version:
        told.append("Another version of GRASP computed it than before.")
    return tuple(told)


def _marked(label: str, found: Iterable[Change], how: Callable[[Change], str]) -> Iterator[str]:
    """A sentence for each kind of change in marks, by group."""
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
