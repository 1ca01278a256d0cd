"""What strangers get of answers about models and of leaderboards, and the leaderboard's file form."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from grasp_core.errors import DataError
from grasp_core.raft.leaderboard import leaderboard_dict, leaderboard_table, read_leaderboard
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.raft.raters.sentences import answer_title, sentences
from grasp_core.raft.raters.tables import sides_csv
from grasp_core.raft.strangers import document_for_strangers, models_for_strangers
from grasp_core.report import cautions
from tests.core.simulated import dataset
from tests.documents import BOARD, ENTRIES, make_models
from tests.raft.raters.cases import ask, model, random_labels
from tests.results import naming

SECRET = "rater-4711"


def telling() -> ModelsResult:
    """An answer that names a rater wherever data and files can reach."""
    result = make_models(groups=(SECRET, "Woman"))
    data = naming(result.spec.data, SECRET)
    return replace(
        result,
        data=replace(result.data, files=(replace(result.data.files[0], name=f"{SECRET}.csv"),)),
        spec=replace(result.spec, data=data, analysis=replace(result.spec.analysis, min_raters=6)),
        models=tuple(replace(one, source=f"{SECRET}.csv", sha256=SECRET) for one in result.models),
        warnings=(
            f"{SECRET} has no label for 3 of the items; they are left out for it",
            f"{SECRET}.csv, row 3: odd",
            cautions.TOO_FEW_FOR_P,
            cautions.SMALL_GROUPS.format(SECRET, "2", "5"),
        ),
    )


def test_strangers_see_the_numbers_and_no_names() -> None:
    result = telling()
    assert str(result.to_dict()).count(SECRET) > 12
    shown = models_for_strangers(result)
    for form in (shown.to_dict(), sides_csv(shown), list(map(str, sentences(shown))), answer_title(shown)):
        assert SECRET not in str(form)
    assert shown.groups == result.groups[1:]
    assert shown.warnings == (cautions.TOO_FEW_FOR_P,)
    assert [(one.name, one.labelled, one.overall_f1) for one in shown.models] == [("planted", 10, 0.55)]
    assert models_for_strangers(shown) == shown


def test_a_computed_answer_s_own_cautions_stay() -> None:
    """All that the computation says by itself is either about a model's labels or a caution."""
    data = dataset(3, items=40, raters=40, missing=0.2)
    models = [model(f"m{k}", labels) for k, labels in enumerate(random_labels(1, data.annotations))]
    result = ask(data, models, permutations=60, min_raters=12, p_value="paper")
    own = [warning for warning in result.warnings if "has no label" not in warning]
    assert len(own) >= 3
    assert list(models_for_strangers(result).warnings) == own
    plain = document_for_strangers("models", json.loads(json.dumps(result.to_dict())))
    assert "labels.csv" in str(result.to_dict())
    assert "labels.csv" not in str(plain)
    assert ModelsResult.from_dict(plain) == models_for_strangers(result)


def test_only_what_is_known_to_be_harmless_is_shown_as_it_is() -> None:
    assert document_for_strangers("leaderboard", BOARD) == BOARD
    for kind in ("models", "note", ""):
        with pytest.raises(DataError):
            document_for_strangers(kind, BOARD)


def test_a_leaderboard_is_read_back_without_ids() -> None:
    entries, tasks = read_leaderboard(json.loads(json.dumps(BOARD, allow_nan=False)))
    assert tasks == ["one", "two"]
    assert entries == [replace(entry, id="") for entry in ENTRIES]
    assert leaderboard_dict(entries, tasks) == BOARD
    assert leaderboard_table(entries, tasks).equals(leaderboard_table(ENTRIES, tasks))
    assert all(entry.id not in str(BOARD) for entry in ENTRIES if entry.id)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("format",), "grasp-models"),
        (("tasks",), [1]),
        (("tasks",), None),
        (("systems",), {"ours": 1}),
        (("systems", 0, "system"), None),
        (("systems", 0, "tasks", "one"), "0.5"),
        (("systems", 0, "tasks", "one"), float("nan")),
        (("systems", 0, "tasks", "one"), True),
        (("systems", 0, "overall"), 1.5),
        (("systems", 0, "ci95", "one"), [0.1]),
        (("systems", 0, "ci95"), None),
        (("systems", 0), "ours"),
    ],
)
def test_a_damaged_leaderboard_is_told(path: tuple[str | int, ...], value: object) -> None:
    plain = copy.deepcopy(BOARD)
    place = plain
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    with pytest.raises(DataError):
        read_leaderboard(plain)


def test_a_title_names_a_few_models() -> None:
    assert answer_title(make_models(("gold", "planted"))).startswith("gold, planted: ")
    many = answer_title(make_models(tuple(f"m{k}" for k in range(8))))
    assert many.startswith("m0, m1, m2, m3, m4 and 3 more: ")
    assert "\n" not in answer_title(make_models(("two\nlines",)))
