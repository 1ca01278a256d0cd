"""What strangers get of results about models, and what these are called."""

from __future__ import annotations

import json

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.remarks.cautions import Caution
from grasp_core.report.contents import run_title
from grasp_core.report.models import sentences, sides_csv
from grasp_core.report.public_view import public_view
from tests.analysis.models.cases import ask, model, random_labels
from tests.made_up import SECRET, make_models, telling
from tests.permutation.simulated import dataset


def test_strangers_see_the_numbers_and_no_names() -> None:
    result = telling()
    assert str(result.to_dict()).count(SECRET) > 14
    shown = public_view(result, small_groups=True)
    for form in (shown.to_dict(), sides_csv(shown), list(map(str, sentences(shown))), run_title(shown.spec)):
        assert SECRET not in str(form)
    assert shown.groups == result.groups[1:]
    assert shown.warnings == (Caution.TOO_FEW_FOR_P(),)
    assert [(one.name, one.labelled, one.overall_f1) for one in shown.models] == [("planted", 10, 0.55)]
    assert public_view(shown, small_groups=True) == shown


def test_a_computed_answer_s_own_cautions_stay() -> None:
    """All that the computation says by itself is either about a model's labels or a caution."""
    data = dataset(3, items=40, raters=40, missing=0.2)
    models = [model(f"m{k}", labels) for k, labels in enumerate(random_labels(1, data.annotations))]
    result = ask(data, models, permutations=60, min_raters=12, p_value="paper")
    own = [warning for warning in result.warnings if "has no label" not in str(warning)]
    assert len(own) >= 2
    assert list(public_view(result, small_groups=True).warnings) == own
    again = ModelsResult.from_dict(json.loads(json.dumps(result.to_dict())))
    plain = public_view(again, small_groups=True).to_dict()
    assert "labels.csv" in str(result.to_dict())
    assert "labels.csv" not in str(plain)
    assert ModelsResult.from_dict(plain) == public_view(result, small_groups=True)


def test_a_title_names_a_few_models() -> None:
    assert run_title(make_models(("gold", "planted")).spec).startswith("gold, planted: ")
    many = run_title(make_models(tuple(f"m{k}" for k in range(8))).spec)
    assert many.startswith("m0, m1, m2, m3, m4 and 3 more: ")
    assert "\n" not in run_title(make_models(("two\nlines",)).spec)
