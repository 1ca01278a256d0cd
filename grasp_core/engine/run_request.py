"""Defaults of a run for options that nobody named: axes, the paper's conventions, early stopping, pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from grasp_core.analysis.overview import teams
from grasp_core.engine.frontend import Frontend
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.engine.time_left import LONG_SECONDS, default_seconds, pairs_seconds
from grasp_core.model import spec
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Grouping, axes_with_groups, axis_label, one_line
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import agree, listed, number, printable
from grasp_core.permutation.draw import check_strata
from grasp_core.permutation.testing.tail import Shuffles
from grasp_core.reading.dataset.load import Dataset, candidate_axes, candidate_columns
from grasp_core.report import account
from grasp_core.report.account import few_regroupings, fixed_raters
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.levels import known_scale, proposed_levels, unranked
from grasp_core.statistics.levels import one_number

Preset = Literal["default", "paper"]


def with_axes(found: Reading, fields: Mapping[str, Any], named: Sequence[AxisSet]) -> dict[str, Any]:
    """Return fields of an :class:`AnalysisSpec`, with the named axes, or else the proposed ones.

    Columns named as strata or cluster are not proposed: such shuffles change nothing of the column itself.
    """
    moved = {*fields.get("strata", ()), fields.get("cluster")}
    axes = tuple(named) or tuple(one for one in proposed_axes(found) if not moved.issuperset(one))
    for table in (found.annotations, found.raters):
        check_strata(fields.get("strata", ()), () if table is None else table.columns)
    return {**fields, "axes": axes}


def proposed_axes(found: Reading) -> tuple[AxisSet, ...]:
    """Return the axes of a known data set, or else the axes that were recognised."""
    known = found.recipe.axes if found.recipe is not None else ()
    return known or tuple((name,) for name in found.axes)


def analysis_of(
    found: Reading,
    fields: Mapping[str, Any],
    named: Sequence[AxisSet],
    preset: Preset | None,
    frontend: Frontend,
) -> AnalysisSpec:
    """Return the analysis of the fields that somebody named; a known data set is run as it was published."""
    if fields.get("level") == "ordinal" and found.spec.categories is not None and not found.ranked:
        why = unranked(found.spec.categories)
        if why is not None:
            raise SpecError(why, field="categories")
    fields = with_axes(found, fields, named)
    published = found.recipe is not None and found.recipe.paper
    if found.recipe is not None and named:
        published = published and set(map(frozenset, named)) == set(map(frozenset, found.recipe.axes))
    if published and preset is None:
        frontend.note("the published set-up is run, with the paper's conventions")
    paper = preset == "paper" or (published and preset is None)
    return AnalysisSpec(**{**(spec.PAPER_CONVENTIONS if paper else {}), **fields})


def with_groups(data: Dataset, run_spec: RunSpec, frontend: Frontend) -> RunSpec:
    """Leave out axes without any group that is large enough; for axes that nobody named."""
    analysis = run_spec.analysis
    least = analysis.min_raters
    kept = axes_with_groups(data.raters, analysis.axes, least)
    if kept == analysis.axes:
        return run_spec
    left = [axis_label(one) for one in analysis.axes if one not in kept]
    frontend.note(
        f"{listed(left)} {agree(len(left), 'is', 'are')} left out of the axes: no group there has "
        f"{number(least, 'rater')} or more"
        + (
            ""
            if kept or run_spec.models
            else ", and no other column is an axis, so this tells how well all of them agree"
        )
    )
    return dataclasses.replace(run_spec, analysis=dataclasses.replace(analysis, axes=kept))


def stopping_early(run_spec: RunSpec, seconds: float, frontend: Frontend) -> RunSpec:
    """Let a run stop early if all its permutations take long; for a number that nobody named."""
    if seconds <= LONG_SECONDS:
        return run_spec
    most = f"{run_spec.analysis.permutations:,}"
    frontend.note(
        f"{most} permutations of such data take about {seconds:.0f} s on two cores, so at most {most} are "
        f"taken, until all marks are settled; "
        f"{frontend.value('permutations', run_spec.analysis.permutations)} takes all"
    )
    return dataclasses.replace(run_spec, analysis=dataclasses.replace(run_spec.analysis, adaptive=True))


def with_pairs(data: Dataset, run_spec: RunSpec, frontend: Frontend) -> RunSpec:
    """Compare groups two by two unless that takes long; for runs whose pairs nobody named."""
    analysis = run_spec.analysis
    seconds = pairs_seconds(data, analysis.axes, analysis.min_raters)
    if seconds > LONG_SECONDS:
        asks = frontend.value("pairs", True)
        frontend.note(f"pairs of groups would take about {seconds:.0f} s on two cores; {asks} compares them")
        return run_spec
    return dataclasses.replace(run_spec, analysis=dataclasses.replace(analysis, pairs=True))


def settled(data: Dataset, run_spec: RunSpec, named: Collection[str], frontend: Frontend) -> RunSpec:
    """Set the options that depend on how long the run would take, unless they are named."""
    analysis = run_spec.analysis
    paper = all(getattr(analysis, name) == value for name, value in spec.PAPER_CONVENTIONS.items())
    if "permutations" not in named and "adaptive" not in named and not paper:
        seconds = default_seconds(data, analysis.axes, analysis.min_raters, analysis.slices)
        run_spec = stopping_early(run_spec, seconds, frontend)
    return run_spec if "pairs" in named else with_pairs(data, run_spec, frontend)


class RunRequest(NamedTuple):
    """A request for a run: the reading of the files, their data, the spec and the groups."""

    found: Reading
    data: Dataset
    spec: RunSpec
    grouping: Grouping

    def noted(self, given: Collection[str] | None, frontend: Frontend) -> RunRequest:
        """Note the data, the order of labels and the limits of shuffling; return the request as answered.

        `given`: the options that somebody named; None for a whole spec, which leaves nothing to be answered.
        """
        found, data, run_spec, grouping = self
        say_data(data, run_spec.data, frontend)
        if given is not None and "level" not in given:
            data, run_spec = levelled(found, data, run_spec, frontend)
        say_order(data, run_spec, frontend)
        if grouping.groups:
            say_shuffles(data, grouping, run_spec.analysis, frontend)
        return RunRequest(found, data, run_spec, grouping)

    def say_afterwards(self, warnings: Iterable[Remark], frontend: Frontend) -> None:
        """Note columns that may contain batches or teams, which may cause differences between groups."""
        analysis = self.spec.analysis
        say_batches(self.found, analysis.columns, self.data, warnings, frontend)
        if analysis.axes and not self.spec.models:
            say_teams(self.found, analysis, self.data, frontend)


def request_of(
    found: Reading, run_spec: RunSpec, data: Dataset, given: Collection[str] | None, frontend: Frontend
) -> RunRequest:
    """Complete the request for a run and show the notes before it; an impossible run is refused first."""
    if given is not None and "axes" not in given:
        if not run_spec.analysis.axes:
            say_no_axes(found, frontend)
        run_spec = with_groups(data, run_spec, frontend)
    grouping = checked_groups(data, run_spec)
    if given is not None and grouping.groups:
        run_spec = settled(data, run_spec, given, frontend)
    return RunRequest(found, data, run_spec, grouping).noted(given, frontend)


def say_no_axes(found: Reading, frontend: Frontend) -> None:
    """Note that no groups are compared, and how to name some."""
    ways = f"{frontend.option('axis')} names a column to compare groups by"
    if found.raters is None:
        ways += f", {frontend.option('raters')} a file of what is known of the raters"
    frontend.note(
        f"no column is taken for one about raters, so this tells how well all of them agree; {ways}"
    )


def say_data(dataset: Dataset, data: DataSpec, frontend: Frontend) -> None:
    """Note the labels and how many there are, and which data were used."""
    frontend.tell_labels(labelled_sentence(data, dataset.summary))
    for sentence in account.account_sentences(dataset.summary.account):
        frontend.note(sentence)


def say_problems(dataset: Dataset, frontend: Frontend) -> None:
    """Note the problems of the data."""
    for problem in dataset.problems:
        frontend.note(problem.message)


def say_order(dataset: Dataset, run_spec: RunSpec, frontend: Frontend) -> None:
    """Note the order by which labels are ranked, if nobody has declared one."""
    if run_spec.analysis.level != "ordinal" or run_spec.data.categories is not None:
        return
    found = listed(dataset.summary.categories)
    frontend.note(f"labels are ranked in the order {found}; {frontend.option('categories')} declares another")


def with_level(dataset: Dataset, run_spec: RunSpec, frontend: Frontend) -> RunSpec:
    """Ask whether labels that look ranked are to be ranked; without an answer, note how to do it."""
    if len(dataset.questions) > 1:
        return run_spec
    labels, data, analysis = dataset.annotations.categories, run_spec.data, run_spec.analysis
    proposal, options = proposed_levels(labels), []
    if proposal is not None:
        looks, level, how = proposal.reason, proposal.levels[0], f"{frontend.option('level')} names one"
    elif data.categories is None and (scale := known_scale(labels)) is not None:
        looks, level = f"labels look like a scale: {' < '.join(map(one_line, scale))}", "ordinal"
        options.append(frontend.value("categories", list(scale)))
        data, how = dataclasses.replace(data, categories=scale), "{} ranks them"
    else:
        if (why := one_number(labels)) is not None:
            frontend.note(f"{why}; until then they count as different labels")
        return run_spec
    options.append(frontend.value("level", level))
    answer = frontend.ask(f"{looks}. Take their order into account?", recommended=True)
    if answer is None:
        frontend.note(f"{looks}; {how.format(' '.join(options))}")
        return run_spec
    frontend.note(
        f"to answer so again: {' '.join(options) if answer else frontend.value('level', 'nominal')}"
    )
    if not answer:
        return run_spec
    return dataclasses.replace(run_spec, data=data, analysis=dataclasses.replace(analysis, level=level))


def levelled(found: Reading, data: Dataset, run_spec: RunSpec, frontend: Frontend) -> tuple[Dataset, RunSpec]:
    """Do the same as :func:`with_level`, and return the data with the labels in that order too."""
    ranked = with_level(data, run_spec, frontend)
    if ranked.data != run_spec.data:
        found = dataclasses.replace(found, spec=ranked.data)
        data = found.dataset(ranked.analysis.columns, ranked.analysis.slices)
    return data, ranked


def say_shuffles(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, frontend: Frontend) -> None:
    """Note before the run which groups can have no small p, and how many raters keep their profiles."""
    shuffles = Shuffles.of(dataset.raters, grouping, analysis)
    for sentence in (*few_regroupings(grouping, shuffles), *fixed_raters(shuffles)):
        frontend.note(printable(sentence))


def say_teams(found: Reading, analysis: AnalysisSpec, data: Dataset, frontend: Frontend) -> None:
    """Note columns that look like teams, if profiles move over all raters."""
    if analysis.cluster is not None or analysis.strata:
        return
    columns = candidate_columns(data, found.annotations, found.raters, found.spec)
    free = {name: axis for name, axis in columns.items() if name not in analysis.columns}
    tested = {name: data.raters.axes[name] for name in analysis.tested}
    for one in teams(data.annotations, free, tested):
        option = frontend.value("cluster", one.column) if one.by == "cluster" else frontend.within(one.column)
        frontend.note(f"{account.team_sentence(one)}: {option} {account.TEAM_REMEDIES[one.by]}")


def say_batches(
    found: Reading, used: Collection[str], data: Dataset, warnings: Iterable[Remark], frontend: Frontend
) -> None:
    """Note the columns that may contain batches, if groups were given different items."""
    if not account.given_other_items(warnings):
        return
    tables = [] if found.raters is None else [(found.raters, found.raters.columns)]
    known = candidate_axes(found.annotations, found.raters, found.spec)
    tables.append((found.annotations, tuple(name for name in known if name in found.annotations.columns)))
    free = {name: len(table.distinct(name)) for table, names in tables for name in names if name not in used}
    could = account.batch_candidates(free, data.summary.raters)
    if could:
        frontend.note(
            f"columns that could hold batches: {listed(could)}; {frontend.within(could[0])} shuffles within "
            "the values of one"
        )
