from __future__ import annotations

from dataclasses import replace

import pytest

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.recode_steps import Combine, MapValues
from grasp_core.reading.dataset.load import Fitted, fitting, signature
from tests.reading.making import LONG, text_table

VOTES = text_table("item rater label gender/i1 r1 Yes Woman/i1 r2 No Man/i2 r1 No Woman/i2 r2 Yes Man")
RATERS = text_table("rater age/r1 18/r2 40", "raters.csv")


def test_a_signature_is_the_columns_and_nothing_else() -> None:
    other = text_table("gender label rater item/Man Maybe x y", "another.csv")
    assert signature(VOTES, None) == signature(other, None)
    assert signature(VOTES, RATERS) == signature(other, text_table("age rater/1 x", "r.csv"))
    signatures = [
        signature(VOTES, None),
        signature(VOTES, RATERS),
        signature(RATERS, VOTES),
        signature(text_table("item rater label Gender/i r l g"), None),
        signature(text_table("item rater label gender age/i r l g a"), None),
    ]
    assert len(set(signatures)) == len(signatures)


def test_what_fits_stays_as_it_is() -> None:
    spec = replace(
        LONG,
        categories=("Yes", "Unsure", "No"),
        exclude=(("gender", "Nobody"),),
        recode=(MapValues(None, (("Nein", "No"),)),),
        filters=Filters(min_per_rater=2),
    )
    assert fitting(VOTES, RATERS, spec, ("gender", "age")) == Fitted(spec, ("gender", "age"), ())


def test_labels_that_are_not_all_declared_are_found_anew() -> None:
    fitted = fitting(VOTES, None, replace(LONG, categories=("Yes", "Maybe")), ("gender",))
    assert fitted.spec == LONG
    assert fitted.dropped == ("the order of the labels, for 'No' was not among them",)
    for spec in (
        replace(LONG, categories=("Yes", "Maybe"), missing=("", "No")),
        replace(LONG, categories=("Yes", "Maybe"), recode=(MapValues(None, (("No", "Maybe"),)),)),
    ):
        assert fitting(VOTES, None, spec, ()) == Fitted(spec, (), ())


def test_axes_that_do_not_exist_are_left_out() -> None:
    assert fitting(VOTES, None, LONG, ("gender", "age")).axes == ("gender",)
    assert fitting(VOTES, RATERS, LONG, ("gender", "age")).axes == ("gender", "age")


@pytest.mark.parametrize(
    "spec",
    [
        replace(LONG, label="answer"),
        replace(LONG, exclude=(("removed", "True"),)),
        replace(LONG, filters=Filters(drop=(("status", "x"),))),
        replace(LONG, filters=Filters(time="seconds", min_time=1)),
        replace(LONG, recode=(MapValues("region", (("a", "b"),)),)),
        replace(LONG, label="any", recode=(Combine(("q1", "q2"), ("Yes", "No"), "any"),)),
        DataSpec("raters-by-items", rater="person"),
    ],
)
def test_a_reading_of_other_columns_does_not_fit(spec: DataSpec) -> None:
    with pytest.raises(DataError):
        fitting(VOTES, RATERS, spec, ())
