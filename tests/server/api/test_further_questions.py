"""Several questions of a spec that is sent: each is read as the command reads it."""

import pytest

from grasp_core.notebook.data import frame_table
from grasp_core.server.api.sent_specs import SentSpec, recognised
from tests.reading.guess.test_each_question import BOTH, SCALE, answers, typed


@pytest.mark.parametrize("order", BOTH)
def test_each_is_judged_by_its_own_labels(order) -> None:
    table = frame_table(answers(("no", "yes"), (*SCALE, "NA", "99")), "votes")
    first, second = order
    data = {"item": "item", "rater": "rater", "label": first, "further": [{"label": second}]}
    found = recognised(SentSpec({"data": data}), {"annotations": table}, None)
    assert "'q2': 'NA' in 10 cells are no label" in "; ".join(found.notes)
    assert "with '99': in 'q2' it lies apart" in found.notes[0]
    taken = recognised(SentSpec({"data": data}), {"annotations": table}, True)
    assert {"NA", "99"} < {*taken.spec.data.missing}


@pytest.mark.parametrize("order", BOTH)
def test_a_type_names_the_labels_of_its_own_question(order) -> None:
    first, second = order
    data = {"item": "item", "rater": "rater", "label": first, "further": [{"label": second}]}
    spec = recognised(SentSpec({"data": data}), {"annotations": frame_table(typed(), "votes")}, True).spec
    of_each = {str(one.label): one.categories for one in spec.data.questions}
    assert of_each == {"q1": None, "q2": ("low", "medium", "high", "no answer")}
