"""Guess the roles of columns, by names first, then by values, and the questions to ask."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from grasp_core.model.data_spec import DataSpec, Filters, Question
from grasp_core.model.errors import DataError, raise_stopping
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES, no_column
from grasp_core.reading.dataset.load import candidate_axes
from grasp_core.reading.dataset.recoding import counts
from grasp_core.reading.formats.datasets import known
from grasp_core.reading.guess import matrix
from grasp_core.reading.guess.advice import Advice, Named, Reading, Reason, all_taken
from grasp_core.reading.guess.axes import guess_axes, in_bands, said_twice
from grasp_core.reading.guess.doubts import contradicted, doubted, doubts
from grasp_core.reading.guess.long import guess_long
from grasp_core.reading.guess.long_label import among_questions
from grasp_core.reading.guess.look import MAX_ROWS, Look
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
from grasp_core.reading.guess.values import advise_alike, advise_places, missing_profiles, no_raters, odd_ids
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, matching, runs, with_joined
from grasp_core.reading.table.table import Recipe, Table

_NEEDED = ("layout", "item", "rater", "label", "profile", "ignore", "items_id", "aggregated")
_ROLES = {"item": "items", "rater": "raters", "label": "labels"}
"""Fields whose certain columns are only named, with their names in notes."""
_FIRST = ("exclude", "filters")
"""Fields whose notes come first: on rows that are left out, or that may be meant to be."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposal for reading the files."""

    spec: DataSpec
    axes: tuple[str, ...]
    reasons: tuple[Reason, ...]
    recipe: Recipe | None = None
    advice: tuple[Advice, ...] = ()  # what is recommended to be left out or merged; `spec` follows none of it
    ranked: bool = False  # whether the data give an order to the labels of `spec`

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
        axes, found = guess_axes(all_taken(advice, spec), able, by_name)
        reasons += [*found, *in_bands(annotations, raters, spec, axes, texts), *contradicted(look, spec)]
    for name in axes:
        of = next(table for table in (raters, annotations) if table is not None and name in table.columns)
        values = {text: n for text, n in of.column(name).tally.items() if text not in spec.missing}
        advice += advise_alike(values, name, group=True, initials=True)
    reasons += said_twice(annotations, raters, spec, axes)
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


_PREDICTIONS = {"ID", "Label"}  # columns of a file with a model's labels for a benchmark's rows


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
        return matrix.survey(annotations, raters, named, recipe)
    look = Look(annotations, named)
    if named.cells:
        return matrix.around_matrix(look, matrix.named_matrix(look, raters), named)
    wide = None if named.long else matrix.guess_matrix(look, raters)
    if wide is None and named.layout in (None, "long"):
        if not named.fields:
            _refuse_other(look)
        spec, reasons = guess_long(look)
        nobody = any(
            one.field == "rater" and one.confidence == "unsure" and not one.candidates for one in reasons
        )
        if not nobody or named.fields:
            return spec, reasons
        wide = (
            matrix.guess_matrix(look, raters, by_values=True)
            or matrix.row_per_rater(look)
            or matrix.column_per_coder(look)
        )
        if wide is None:
            return spec, reasons
    elif (
        wide is not None
        and named.layout is None
        and (either := matrix.long_or_wide(look, wide[0])) is not None
    ):
        return either
    return matrix.around_matrix(look, wide, named)


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
    about = known_of_people(look)
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


OFTEN = 0.45  # fewest distinct values of a column whose name says ids, as a share of the rows


def known_of_people(look: Look) -> list[str]:
    """Return the demographic columns of a file with a row per person; empty for other files."""
    about = [name for name in look.columns if names.mentions(name, names.DEMOGRAPHIC)]
    answered = any(names.label_score(name) > 1 for name in look.columns)
    least = look.n if answered else OFTEN * look.n  # in a list of several studies some stand twice
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
