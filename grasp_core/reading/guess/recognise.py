"""Guess the roles of columns and files, by names first, then by values, and the questions to ask.

A guess is a proposal for a person to confirm, with a sentence that says why.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Literal

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec, Filters, Question
from grasp_core.model.errors import DataError, raise_stopping
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES, MOST_NUMBERS, bands, no_column
from grasp_core.reading.dataset.load import candidate_axes
from grasp_core.reading.dataset.raters import SPELLED_OTHERWISE
from grasp_core.reading.dataset.recoding import counts
from grasp_core.reading.dataset.votes import unit_rows
from grasp_core.reading.formats.datasets import known
from grasp_core.reading.formats.shapes.rows import MAX_AXES, PROPOSED_AXIS_VALUES
from grasp_core.reading.guess.advice import Advice, Named, Reading, Reason, all_taken
from grasp_core.reading.guess.label_columns import most_shared
from grasp_core.reading.guess.long import among_questions, guess_long
from grasp_core.reading.guess.look import MAX_ROWS, Look, contradicted, doubted, doubts
from grasp_core.reading.guess.matrix import (
    around_matrix,
    column_per_coder,
    guess_matrix,
    long_or_wide,
    named_matrix,
    row_per_rater,
    survey,
)
from grasp_core.reading.guess.questions import (
    by_question,
    missing_of,
    one_label_of,
    spelled_alike_in,
    unanswered,
    with_vocabularies,
)
from grasp_core.reading.guess.rows import (
    advise_leaving_out,
    guess_aside,
    guess_exclusions,
    in_doubt,
    occurrences,
)
from grasp_core.reading.guess.values import (
    advise_alike,
    advise_places,
    missing_profiles,
    no_raters,
    odd_ids,
)
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import PLUS, matching, runs, with_joined
from grasp_core.reading.table.table import Recipe, Table

_NEEDED = ("layout", "item", "rater", "label", "profile", "ignore", "items_id", "aggregated")


_ROLES = {"item": "items", "rater": "raters", "label": "labels"}
"""Fields whose certain columns are only named, with their names in notes."""
_FIRST = ("exclude", "filters")
"""Fields whose notes come first: on rows that are left out, or that may be meant to be."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposal for reading the files.

    - `advice`: what is recommended to be left out or merged; `spec` follows none of it.
    - `ranked`: whether the data give an order to the labels of `spec`.
    """

    spec: DataSpec
    axes: tuple[str, ...]
    reasons: tuple[Reason, ...]
    recipe: Recipe | None = None
    advice: tuple[Advice, ...] = ()
    ranked: bool = False

    @property
    def uncertain(self) -> tuple[Reason, ...]:
        """Reasons that leave a choice to a person before anything is computed."""
        return tuple(one for one in self.reasons if one.field in _NEEDED and one.confidence == "unsure")

    @property
    def notes(self) -> list[str]:
        """One sentence on columns that are certain, and on axes; then other columns with their reasons."""
        named = {*_ROLES}
        if self.spec.layout == "long" and self.recipe is None:
            named.add("layout")  # of others it says which columns have labels, or which format is known
        sure = {one.field: one for one in self.reasons if one.confidence == "sure" and one.field in named}
        found = [
            f"{_ROLES[field]} {quoted(str(getattr(self.spec, field)))}" for field in sure if field in _ROLES
        ]
        if self.axes:
            found.append(f"{'axis' if len(self.axes) == 1 else 'axes'} {listed(self.axes)}")
        others = [one for one in self.reasons if one not in sure.values()]
        fields = dict.fromkeys((*_FIRST, *(one.field for one in others)))
        likely = {"likely": " (likely)"}
        return [
            *([f"recognised: {', '.join(found)}"] if found else []),
            *(
                f"{one.field}: {one.sentence}{likely.get(one.confidence, '')}"
                for field in fields
                for one in others
                if one.field == field
            ),
        ]

    def confirmed(self, spec: DataSpec, axes: tuple[str, ...]) -> Guess:
        """Return the reading that a person chose, with the reasons for unchanged fields, but no questions."""

        def same_field(name: str) -> bool:
            return bool(getattr(spec, name, None) == getattr(self.spec, name, None))

        same = [
            reason
            for reason in self.reasons
            if reason not in self.uncertain
            and (axes == self.axes if reason.field == "axes" else same_field(reason.field))
        ]
        open_ = tuple(one for one in self.advice if not one.followed(spec))
        return replace(self, spec=spec, axes=axes, reasons=tuple(same), advice=open_)

    @property
    def advised(self) -> DataSpec:
        """The spec that follows all advice that is recommended."""
        return all_taken(self.advice, self.spec)


def recognise(
    annotations: Table,
    raters: Table | None = None,
    named: Named | None = None,
    declared: Collection[str] = (),
    further: Collection[str] = (),
) -> Guess:
    """Guess layout, id columns, label column, exclusions and axes, or take them from a known format.

    - `named`: fields that the user named: they are sure, and the rest is guessed to fit them.
    - `declared`: texts that the user declared to be labels, or to mean "no value".
    - `further`: label columns of further questions, beside a named label, in a long file.
    """
    if annotations.recipe is not None and annotations.recipe.raters:
        raise DataError(
            f"{annotations.name} describes raters ({annotations.recipe.name}) and holds no annotations; "
            "give it as the raters file, beside the file with the raters' answers"
        )
    named = Named() if named is None else named
    annotations = with_joined(annotations, (named.item, named.rater))
    _require(named, annotations, raters)
    published = known(annotations, raters)
    recipe = published or annotations.recipe  # a data set may be a tool's export
    advice: list[Advice] = []
    ranked = False
    cells: Mapping[str, int] = {}
    given = None if recipe is None else recipe.spec
    room = given is not None and named.layout in (None, given.layout)  # named fields fit
    if recipe is not None and given is not None and room and (given.layout == "long" or named.label is None):
        done = "".join(f"; {sentence}" for sentence in recipe.sentences)
        spec, reasons = given, [Reason("layout", f"the file is known: {recipe.name}{done}", "sure")]
        if recipe.questions and named.label is None:
            spec, asked = among_questions(Look(annotations), spec, recipe.questions)
            reasons += asked
        if recipe.questions and named.label in set(annotations.columns) - {*recipe.questions}:
            _refuse_of_items(Look(annotations), given, str(named.label))
        if named.fields:
            spec = _around(spec, named)
            recipe = replace(recipe, spec=spec, paper=recipe.paper and spec == given)
        spec, advice = replace(spec, filters=Filters()), _of_recipe(recipe, annotations)
    else:
        recipe = None if recipe is not None and recipe.spec is not None else recipe
        spec, reasons = _from_columns(annotations, raters, named)
        if recipe is not None and not recipe.respondents:
            reasons += [Reason("layout", sentence, "sure") for sentence in recipe.sentences]
    spec = named.beside(spec)
    if further and spec.layout == "long":
        spec = replace(spec, further=tuple(map(Question, further)))
    annotations = with_joined(annotations, (spec.item, spec.rater))
    both = [table for table in (annotations, raters) if table is not None]
    unsaid = (text for table in both if table.recipe is not None for text in table.recipe.missing)
    spec = replace(
        spec,
        missing=tuple(dict.fromkeys([*spec.missing, *unsaid])),
        member=annotations.member,
        raters_member=None if raters is None else raters.member,
    )
    few, look = annotations.thinned(MAX_ROWS), Look(annotations)
    texts = _candidate_texts(few, raters, spec)
    excluding, found = guess_exclusions(annotations, raters, spec, texts)
    advice += excluding
    reasons += found
    ids = [reason for reason in reasons if reason.field in ("item", "rater")]
    if published is None and not any(reason.confidence == "unsure" for reason in ids):
        open_ = {one.field for one in reasons if one.confidence == "unsure"}  # one question each
        doubts_ = doubted(look, spec, named, sure=recipe is not None)
        reasons += [one for one in doubts_ if not (one.candidates and one.field in open_)]
    if recipe is None or published is None:
        cells = counts([annotations], None, spec)
        spec, missing, each = missing_of(by_question(annotations, spec), spec, texts)
        advice += advise_places(both, spec, texts, declared)
        spec, unknown = missing_profiles(both, spec, cells, texts, declared)
        texts = {name: [text for text in some if text not in spec.missing] for name, some in texts.items()}
        spec, aside = guess_aside(look, raters, spec)
        advice += advise_leaving_out(look, raters, all_taken(advice, spec))
        spec, recoded = one_label_of(each, spec, declared)
        reasons += [*missing, *unknown, *aside, *recoded, *odd_ids(annotations, spec, named)]
        open_texts = [*unanswered(each, annotations, spec, declared)]  # a type may name codes, too
        spec, vocabulary, ranked = with_vocabularies(each, annotations, spec, declared)
        reasons += vocabulary
        reasons += in_doubt(look, all_taken(advice, spec))
        advice += [*open_texts, *spelled_alike_in(each, spec, declared)]
    if recipe is not None and named.label is None and not any(one.field == "label" for one in reasons):
        reasons += doubts(few, spec)
    # Axes that the formats of the files name, if the data have them.
    recipes = [one for one in (recipe, raters.recipe if raters else None) if one is not None]
    proposed = (name for one in recipes for together in one.axes for name in together)
    axes = tuple(dict.fromkeys(name for name in proposed if name in texts))
    if not axes:
        unclear = {name for one in reasons if one.field in ("exclude", "filters") for name in one.candidates}
        questions = () if recipe is None else recipe.questions
        answers = {name for one in questions for name in matching(one, list(texts))}
        once = spec.layout == "long" and spec.rater is not None and look.unique(spec.rater)
        own = () if raters is None else raters.columns
        # If each rater has one row, any column has one value per rater, and answers do not describe raters.
        labels = set(cells) if spec.layout != "long" else set[str]()
        answers |= {name for name, some in texts.items() if labels.issuperset(some)}
        by_name = {name for name in texts if (once or name in answers) and name not in own}
        able = {name: some for name, some in texts.items() if name not in unclear}
        axes, found = _axes(all_taken(advice, spec), able, by_name)
        reasons += [*found, *_in_bands(annotations, raters, spec, axes, texts), *contradicted(look, spec)]
    for name in axes:
        of = next(table for table in (raters, annotations) if table is not None and name in table.columns)
        values = {text: n for text, n in of.column(name).tally.items() if text not in spec.missing}
        advice += advise_alike(values, name, group=True)
    reasons += _said_twice(annotations, raters, spec, axes)
    return Guess(spec, axes, tuple(reasons), recipe, tuple(advice), ranked)


def _refuse_of_items(look: Look, spec: DataSpec, label: str) -> None:
    """Refuse a label beside the answers that is the same for all raters of an item."""
    item, rater = str(spec.item), str(spec.rater)
    several = {item, rater} <= set(look.columns) and look.pairs(item, rater) > len(look[item].values)
    if several and look.depends_on(label, item):
        raise DataError(f"{look.whole.name}: {quoted(label)} is one for each item, and no rater's answer")


def _of_recipe(recipe: Recipe, annotations: Table) -> list[Advice]:
    """Turn the exclusions of a known format or data set into advice."""
    spec = recipe.spec
    if spec is None:
        return []
    why, rater = recipe.why_out, str(spec.rater)
    raters = tuple(spec.filters.raters) if rater in annotations.columns else ()
    known = set(annotations.distinct(rater)) if raters else set()
    raters = tuple(one for one in raters if one in known)
    found = [Advice("raters", rater, raters, why, len(raters))] if raters else []
    by_column: dict[str, list[str]] = {}
    for column, value in spec.filters.drop:
        by_column.setdefault(column, []).append(value)
    for column, values in by_column.items():
        rows = sum(occurrences(annotations, column, value) for value in values)
        found.append(Advice("drop", column, tuple(values), why, rows))
    return found


def _require(named: Named, annotations: Table, raters: Table | None) -> None:
    """Raise if a named item or rater column does not exist; recoding may still make a label."""
    both = (annotations,) if raters is None or named.long else (annotations, raters)
    for name, tables in ((named.item, (annotations,)), (named.rater, both)):
        if name is not None and not any(name in table.columns for table in tables):
            raise_stopping([no_column(name, tables)])


def _around(spec: DataSpec, named: Named) -> DataSpec:
    """Return the reading with the named fields; a named label becomes the only question."""
    further = () if named.label is not None else spec.further
    categories = spec.categories if named.label in (None, spec.label) else None
    plain = {**{field.name: getattr(spec, field.name) for field in fields(spec)}, **named.fields}
    return DataSpec(**{**plain, "further": further, "categories": categories})


_PREDICTIONS = {"ID", "Label"}
"""Columns of a file with a model's labels for a benchmark's rows."""


def _from_columns(annotations: Table, raters: Table | None, named: Named) -> Reading:
    annotations = annotations.without(named.aside)
    if len(annotations.columns) < 3 and not _two_coders(annotations):
        if set(annotations.columns) == _PREDICTIONS:
            raise DataError(
                f"{annotations.name} has an ID and a Label and no rater, as a model's predictions do: open "
                "people's votes on these items, and give this file as a model (--model NAME=FILE); where "
                "nobody has voted, People on the Models page and `raft sheet` make a sheet to vote on"
            )
        raise DataError(
            f"{annotations.name} has only {number(len(annotations.columns), 'column')} "
            f"({listed(annotations.columns)}); it needs one each for item, rater and label, "
            "or a column of ids and one per rater or item"
        )
    by_file = None if raters is None or named.rater else _rater_by_file(Look(annotations), raters)
    if raters is not None and by_file is not None:
        spec, reasons = _from_columns(annotations, raters, replace(named, layout="long", rater=by_file))
        return spec, [*reasons, Reason("rater", f"{quoted(by_file)} holds ids of {raters.name}", "sure")]
    recipe = annotations.recipe
    if recipe is not None and recipe.respondents and named.layout in (None, "raters-by-items"):
        return survey(annotations, raters, named, recipe)
    look = Look(annotations, named)
    if named.cells:
        return around_matrix(look, named_matrix(look, raters), named)
    wide = None if named.long else guess_matrix(look, raters)
    if wide is None and named.layout in (None, "long"):
        if not named.fields:
            _refuse_other(look)
        spec, reasons = guess_long(look)
        nobody = any(
            one.field == "rater" and one.confidence == "unsure" and not one.candidates for one in reasons
        )
        if not nobody or named.fields:
            return spec, reasons
        wide = guess_matrix(look, raters, by_values=True) or row_per_rater(look) or column_per_coder(look)
        if wide is None:
            return spec, reasons
    elif wide is not None and named.layout is None and (either := long_or_wide(look, wide[0])) is not None:
        return either
    return around_matrix(look, wide, named)


def _two_coders(table: Table) -> bool:
    """Return whether the file has only two columns, with like names, that share their few values."""
    if len(table.columns) != 2 or len(runs(table.columns)) != 1:
        return False
    one, other = (set(table.distinct(name)) for name in table.columns)
    return len(runs(table.columns)[0]) == 2 and len(one & other) > 1 and len(one | other) <= MAX_CATEGORIES


_WORKED_OUT = names.word_set(
    "kappa alpha icc mos ci f1 accuracy acc auc bleu rouge comet loss rmse mae pearson spearman"
)


def _refuse_other(look: Look) -> None:
    """Refuse tables of people's profiles, of results, or of frequencies of combined answers."""
    about = _known_of_people(look)
    if about:
        raise DataError(
            f"{look.whole.name} tells about people, a row each ({listed(about, 3)}), and not what they "
            "answered; give it as the raters file, beside the file with their answers"
        )
    results = [name for name in look.columns if names.mentions(name, _WORKED_OUT)]
    labels = (name for name in look.columns if name not in results and names.label_score(name) > 1)
    rater = look.ids[1]
    judged = any(labels) or (rater is not None and not look.unique(rater))
    if results and all(map(look.decimals, results)) and not judged:
        why = f"{quoted(results[0])} is named like what is worked out of many labels"
        raise DataError(f"{look.whole.name}: {no_raters(why)}")
    counted = [name for name in look.columns if names.HOW_OFTEN.issuperset(names.words(name) or ("",))]
    others = [name for name in look.columns if name not in counted]
    if len(counted) == 1 and others and all(text.isdigit() for text in look.texts(counted[0])):
        told = len(np.unique(np.stack([look[name].codes for name in others]), axis=1).T)
        if told == look.n and not any(map(look.unique, others)):
            why = f"{quoted(counted[0])} counts how often the values of the other columns occur together"
            raise DataError(f"{look.whole.name}: {no_raters(why)}")


def _known_of_people(look: Look) -> list[str]:
    """Return the demographic columns of a file with a row per person; empty for other files."""
    about = [name for name in look.columns if names.mentions(name, names.DEMOGRAPHIC)]
    answered = any(names.label_score(name) > 1 for name in look.columns)
    least = look.n if answered else _OFTEN * look.n  # in a list of several studies some stand twice
    called = (name for name in look.columns if names.is_id(name) or names.id_score(name, names.RATER) > 0)
    people = [name for name in called if name not in about and len(look.texts(name)) >= least]
    others = len(look.columns) - 1
    known = (len(about) > 2 and 2 * len(about) >= others) or 1 < len(about) == others
    return about if people and known else []


def _rater_by_file(look: Look, raters: Table) -> str | None:
    """Return the recurring column whose ids are in the raters file, with few others; None if several fit."""
    ids = [
        set(raters.distinct(name)) for name in raters.columns if not names.mentions(name, names.DEMOGRAPHIC)
    ]
    found = []
    for name in look.columns:
        values = look.texts(name)
        if not look.unique(name) and any(values <= known and 2 * len(values) > len(known) for known in ids):
            found.append(name)
    found.sort(key=lambda name: -names.id_score(name, names.RATER))
    return found[0] if found and all(look.alike(found[0], name) for name in found[1:]) else None


# Axes


def _candidate_texts(annotations: Table, raters: Table | None, spec: DataSpec) -> dict[str, list[str]]:
    """Return the distinct texts of each candidate axis; none if the guessed columns do not fit the files."""
    try:
        found = candidate_axes(annotations, raters, spec)
    except DataError:
        return {}
    own = () if raters is None else raters.columns
    of = {name: raters if raters is not None and name in own else annotations for name in found}
    return {name: [text for text in table.distinct(name) if text != ""] for name, table in of.items()}


_NO_GROUPS = (
    names.RECORDS | names.WRITTEN | names.SECONDARY | names.ROUNDS | (names.TIMES - names.word_set("stage"))
)
"""Words for columns that are not proposed as axes; a stage may be of somebody's life."""


def _axes(
    spec: DataSpec, texts: Mapping[str, Sequence[str]], by_name: Container[str]
) -> tuple[tuple[str, ...], list[Reason]]:
    """Return the axes, and why others are none; columns in `by_name` only if their names say so."""
    of_people = names.DEMOGRAPHIC | names.GROUPS
    parts = {part for one in (spec.item, spec.rater) if one is not None for part in one.split(PLUS)}
    excluding = {*parts, *(name for name, _ in (*spec.exclude, *spec.filters.drop))}
    free = [
        name
        for name, values in texts.items()
        if name not in excluding
        and len(values) <= PROPOSED_AXIS_VALUES
        and not names.mentions(name, _NO_GROUPS)
        and not names.says_how_many(name)
        and (name not in by_name or names.mentions(name, of_people))
    ]
    # Of two columns with the same name as an axis, only the first counts.
    called = {_known_as(name): name for name in free[::-1]}
    able = list(called.values())[::-1]
    demographic = [name for name in able if names.mentions(name, names.DEMOGRAPHIC)]
    groups = [name for name in able if name not in demographic and names.mentions(name, names.GROUPS)]
    able = sorted(able[:MAX_AXES], key=lambda name: name not in groups)
    chosen = ([*demographic, *groups] if demographic else able)[:MAX_AXES]
    return tuple(chosen), [
        Reason(
            "axes",
            f"{quoted(name)} makes no groups yet: {number(len(values), 'value')} are many; choose it on "
            "Analysis, or by --axis",
            "likely",
            (name,),
        )
        for name, values in texts.items()
        if len(values) > PROPOSED_AXIS_VALUES
        and name not in excluding
        and names.mentions(name, names.DEMOGRAPHIC)
        and not all(map(is_number, values))  # see _in_bands
    ]


def _known_as(name: str) -> tuple[str, ...]:
    """Return a name's words without words for raters, equal for ``annotator_gender`` and ``Gender``."""
    said = tuple(word for word in names.words(name) if names.singular(word) not in names.RATER)
    return said or (name,)


def _said_twice(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Collection[str]
) -> Iterator[Reason]:
    """Yield axes of the raters file that have another name and other values in the annotations."""
    if raters is None or spec.rater not in annotations.columns:
        return
    own, ids = annotations.column(str(spec.rater)), str(spec.rater)
    theirs = raters.column(ids if ids in raters.columns else most_shared(raters, own.values)[0])
    first, of_raters = (
        dict(zip(*np.unique(one.codes, return_index=True), strict=True)) for one in (own, theirs)
    )
    rows = {theirs.values[code]: row for code, row in of_raters.items()}
    both = [
        (int(row), int(rows[own.values[code]])) for code, row in first.items() if own.values[code] in rows
    ]
    for axis, name in product(axes, annotations.columns):
        if axis not in raters.columns or name in raters.columns or _known_as(axis) != _known_as(name):
            continue
        pairs = [(_plain(annotations.cell(name, row)), _plain(raters.cell(axis, at))) for row, at in both]
        said = {pair for pair in pairs if all(pair)}
        spelt = len({one for one, _ in said}) == len({other for _, other in said}) == len(said)
        if spelt or all(one == other for one, other in said) or not _of_raters(own, annotations.column(name)):
            continue
        differ = sum(one != other for one, other in pairs if one and other)
        both_files = f"{raters.name} and {annotations.name}"
        said_so = (
            f"{both_files} disagree on {quoted(axis)}, called {quoted(name)} there, for "
            f"{number(differ, 'rater')}; {raters.name} decides, unless {quoted(name)} is named"
        )
        yield Reason("raters", said_so)


def _plain(text: str) -> str:
    """Return a value in one spelling: ``Male`` as ``male``, ``20.0`` as ``20``."""
    return f"{float(text):g}" if is_number(text) else text.strip().casefold()


def _of_raters(own: Column, values: Column) -> bool:
    """Return whether each rater has one value."""
    return len(np.unique(np.stack([own.codes, values.codes]), axis=1)[0]) == len(np.unique(own.codes))


def _in_bands(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Container[str], able: Container[str]
) -> Iterator[Reason]:
    """Propose bands for numbers about raters, such as ages, that are too many for groups."""
    look = Look(annotations)
    own = spec.profile
    if spec.layout == "long":
        own = tuple(name for name in look.columns if look.depends_on(name, str(spec.rater)))
    own = tuple(name for name in own if raters is None or name not in raters.columns)
    for table, about in ((annotations, own), *([] if raters is None else [(raters, raters.columns)])):
        for name in about:
            if name in axes or not names.mentions(name, names.DEMOGRAPHIC):
                continue
            texts = [text for text in table.distinct(name) if text not in spec.missing]
            if (edges := bands(texts, MOST_NUMBERS if name in able else 3)) is not None:
                why = (
                    f"{quoted(name)} makes no groups yet: {number(len(texts), 'number')} are too many; "
                    "cut it into ranges, on Data under Recode values or by "
                    f"--bins {shlex.quote(name)}:{edges}"
                )
                yield Reason("axes", why, "likely", (name,))


# Files beside the annotations

_NAMES = {
    "layout": "layout",
    "item": "item column",
    "rater": "rater column",
    "label": "label column",
    "profile": "column beside the labels",
    "ignore": "column beside the labels",
    "items_id": "items file's column of item ids",
}
_MOST_ASKED = 60


def question(reason: Reason) -> str:
    """Word the question of an unsure reason, e.g. "the label column is not certain: 'a' or 'b'?"."""
    if not reason.candidates:
        return reason.sentence
    explained = (
        reason.explained
        or reason.field in ("layout", "profile", "ignore")
        or len(reason.candidates) == 1
        or PLUS in reason.candidates[0]
    )
    said = [reason.sentence] if explained else []
    if reason.field == "rater" and PLUS not in reason.candidates[0]:
        said.append("if none gave the labels, the file does not say who did and cannot be analysed")
    why = f" ({'; '.join(said)})" if said else ""
    *others, last = reason.candidates
    either = f"{listed(others, _MOST_ASKED)} or {quoted(last)}" if others else quoted(last)
    if len(others) >= _MOST_ASKED:
        either = listed(reason.candidates, _MOST_ASKED)
    return f"the {_NAMES[reason.field]} is not certain: {either}?{why}"


_MOST = 0.5
"""Share of the items from which a column whose name says nothing is likely to have their ids."""


def with_items(guess: Guess, annotations: Table, items: Table | None, named: str | None = None) -> Guess:
    """Add the reading of the items file to the guess, if there is one; `named` is its column of ids."""
    if items is None:
        return guess
    if named is not None and named not in items.columns:
        raise_stopping([no_column(named, (items,))])
    if named is None:
        named, reason = _item_ids(annotations, items, guess.spec)
        guess = replace(guess, reasons=(*guess.reasons, reason))
    return replace(guess, spec=replace(guess.spec, items_id=named, items_member=items.member))


def _item_ids(annotations: Table, items: Table, spec: DataSpec) -> tuple[str, Reason]:
    """Return the items file's id column, and why; unsure if several fit, or none has many ids or the name."""
    ids = set(unit_rows(annotations, spec, "item")[0])
    shares = {name: held / max(len(ids), 1) for name, held in items.holding(ids).items()}
    # If no column has any of the ids, the column with this name is taken, and reading it reports the error.
    if spec.item in shares and (shares[spec.item] or not any(shares.values())):
        return spec.item, Reason("items_id", f"{quoted(spec.item)}: named as the item column is", "sure")
    able = [
        name
        for name in items.columns
        if shares[name] >= _MOST and len(items.distinct(name)) == len(items)  # one value per row
    ]
    if len(able) == 1:
        said = f"{quoted(able[0])} holds {shares[able[0]]:.0%} of the items"
        return able[0], Reason("items_id", said)
    said = f"no column of {items.name} holds half of the items, each in one row"
    if able:
        said = f"several columns of {items.name} hold the items"
    best = max(shares, key=lambda name: shares[name])
    return best, Reason("items_id", said, "unsure", tuple(able) or items.columns)


Role = Literal["annotations", "raters", "items"]

_SHARED = 0.5
"""Share of a file's ids, or of the annotations' ids if these are fewer, that both must have."""
_APART, _OFTEN = 0.9, 0.45
"""Distinct values of a file's id column, as a share of its rows: the least with any name, and with a name
that says ids."""
_EQUAL = 0.05
"""Largest difference of shares that cannot distinguish raters from items."""


def file_roles(tables: Sequence[Table], *, as_given: bool = False) -> tuple[Role | None, ...]:
    """Return the role of each file.

    The annotations are in the file that most others can be joined to. Another file describes raters, or
    items, if it has a row for each of them. A file with the annotations' columns has more annotations.

    - `as_given`: the first file that can be annotations is taken, as for the sheets of a workbook.
    """
    of_raters: tuple[Role, ...] = ("raters",)
    if all(table.recipe is not None and table.recipe.raters for table in tables):
        return of_raters * len(tables)
    best: tuple[Role | None, ...] = ()
    refusal: DataError | None = None
    largest = sorted(tables, key=lambda table: len(table) * len(table.columns), reverse=True)
    for table in tables if as_given else largest:
        try:
            guess = recognise(table)
        except DataError as error:
            refusal = refusal or error
            continue
        roles = tuple("annotations" if other is table else _role(table, guess, other) for other in tables)
        if not best or roles.count(None) < best.count(None):
            best = roles
        if as_given or None not in roles:
            break
    if not best and tables and all(_known_of_people(Look(table)) for table in tables):
        return of_raters * len(tables)  # their labels may still come
    if not best:
        raise refusal or DataError("no file was given")
    return best


def _joined_by(
    look: Look, ids: Mapping[Role, set[str]], written: Callable[[str], str] = str
) -> tuple[dict[Role, float], dict[Role, str]]:
    """Return the largest share of raters' and of items' ids in one column of the file, and these columns.

    - `written`: gives the form in which ids are compared.
    """
    shares: dict[Role, float] = {"raters": 0.0, "items": 0.0}
    keys: dict[Role, str] = {}
    wanted = {role: set(map(written, texts)) for role, texts in ids.items()}
    for name in look.columns:
        texts = look.texts(name)
        called = names.is_id(name) or names.id_score(name, names.RATER) > 0  # some may occur there twice
        if len(texts) < 2 or len(texts) < (_OFTEN if called else _APART) * look.n:
            continue
        known = set(map(written, texts))
        for role, own in wanted.items():
            share = len(known & own) / max(min(len(known), len(own)), 1)
            if share > shares[role] and len(known & own) > 1:
                shares[role], keys[role] = share, name
    return shares, keys


def _differ(shares: Mapping[Role, float]) -> bool:
    return max(shares.values()) >= _SHARED and abs(shares["raters"] - shares["items"]) > _EQUAL


def _others_of(look: Look, name: str | None) -> set[str]:
    """Return texts of other columns that identify the same raters or items, such as names."""
    if name is None or name not in look.columns:
        return set()
    return set().union(*(look.texts(one) for one in look.columns if one != name and look.alike(one, name)))


def _role(annotations: Table, guess: Guess, other: Table) -> Role | None:
    spec = guess.spec
    if other.recipe is not None and other.recipe.raters:
        return "raters"
    if set(other.columns) == set(annotations.columns):
        return "annotations"
    # Ids of raters and items, as the annotations name them.
    table = with_joined(annotations, (spec.item, spec.rater))
    own = {name: set(table.distinct(name)) - {""} for name in (spec.item, spec.rater) if name is not None}
    heads = set(annotations.columns) - own.keys()
    ids: dict[Role, set[str]] = {
        "raters": heads if spec.layout == "items-by-raters" else own.get(str(spec.rater), set()),
        "items": heads if spec.layout == "raters-by-items" else own.get(str(spec.item), set()),
    }
    theirs = Look(other)
    unsure = any(reason.field in ("item", "rater") for reason in guess.uncertain)

    def told(shares: Mapping[Role, float], keys: Mapping[Role, str]) -> Role | None:
        if not unsure and _differ(shares):
            return max(shares, key=lambda role: shares[role])
        # If raters and items have the same ids, as 1, 2 and 3, or their columns are unsure, names decide.
        if max(shares.values()) >= _SHARED:
            for name in keys.values():
                if name in (spec.rater, spec.item) and not unsure:
                    return "raters" if name == spec.rater else "items"
            of_raters = any(names.mentions(name, names.RATER | names.DEMOGRAPHIC) for name in other.columns)
            of_items = any(names.mentions(name, names.ITEM | names.TEXT) for name in other.columns)
            if of_raters != of_items:
                return "raters" if of_raters else "items"
        return None

    role = told(*_joined_by(theirs, ids))
    if role is not None or unsure:
        return role
    look = Look(table)
    others, _ = _joined_by(
        theirs, {"raters": _others_of(look, spec.rater), "items": _others_of(look, spec.item)}
    )
    if _differ(others):
        return "raters" if others["raters"] > others["items"] else "items"
    # Ids that are spelled otherwise join to nothing; once their role is known, this is reported.
    found = (told(*_joined_by(theirs, ids, written)) for _, written in SPELLED_OTHERWISE)
    return next((role for role in found if role is not None), None)
