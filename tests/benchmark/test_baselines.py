"""Each baseline on a small task and on the published ones; AdaBoost's settings; a baseline as a rater."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy.sparse import csc_array

from benchmarks.few_shot import MEASURED
from benchmarks.few_shot import NAMES as COLUMNS
from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.baselines.classical import (
    Baseline,
    Boosting,
    distinct_columns,
    fit_adaboost,
    fit_staged,
)
from grasp_core.benchmark.baselines.embedding import Embedder, Matrix, available, in_words, spreading
from grasp_core.benchmark.baselines.registry import (
    BASELINES,
    LM,
    SPREADING,
    item_texts,
    label_items,
    make_baseline,
)
from grasp_core.benchmark.scoring import evaluate as boosting
from grasp_core.benchmark.tasks import read_rows
from grasp_core.cli import main
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.sandbox.read import read_table
from tests.benchmark.folders import NEW, RAFT, WEATHER, opened, texts, weather
from tests.commands import ran
from tests.reading.making import rows_table
from tests.shared_data import needs_shared_data

NAMES = [name for name in BASELINES if name != LM]


def made(name: str) -> Baseline:
    """The baseline; the one that learns from unlabelled rows too is given some."""
    return make_baseline(name, unlabelled=texts(*NEW))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("plurality", "adaboost")])
def test_words_of_a_class_lead_to_it(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path))
    assert made(name)(train, task, 1)(texts(*NEW)) == ["rain", "sun_shine", "snow"]


def test_labels_spread_over_unlabelled_rows(tmp_path: Path) -> None:
    """A row that is near no labelled one, but near unlabelled rows that are, gets their label."""
    task, train = opened(weather(tmp_path, [("a", "rain"), ("b", "snow")]))
    place = {"a": 0.0, "b": 2.0, "between": 1.1, **{f"{step}": step / 10 for step in range(1, 26)}}

    def embed(lines: Sequence[str]) -> Matrix:
        angles = np.array([place[line.removeprefix("Text: ")] for line in lines])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    chain = texts(*(f"{step}" for step in (*range(1, 12), *range(20, 26))))
    spread = spreading(cast("Embedder", embed), chain)(train, task, 1)
    alone = spreading(cast("Embedder", embed), texts("b"))(train, task, 1)
    assert (alone(texts("between")), spread(texts("between"))) == (["snow"], ["rain"])


def test_adaboost_finds_the_word_that_decides(tmp_path: Path) -> None:
    rows = [
        (f"{word} {number} {number + 1}", label)
        for number in range(10, 20)
        for word, label in (("wet", "rain"), ("cold", "snow"), ("warm", "sun_shine"))
    ]
    task, train = opened(weather(tmp_path, rows))
    assert fit_adaboost(train, task, 1)(texts("it is cold", "wet!", "WÄRM")) == ["snow", "rain", "sun_shine"]


@pytest.mark.parametrize("name", NAMES)
def test_a_label_depends_on_no_other_row(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path))
    predict = made(name)(train, task, 3)
    lines = [*NEW, "", "sun and rain", "\ud800 half a character", "nothing of the kind"]
    together = predict(texts(*lines))
    assert together == [predict(texts(line))[0] for line in lines]
    assert predict([]) == []
    assert set(together) <= set(task.classes)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("names")])
def test_one_class_alone_is_always_said(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path, [("Snow", "snow"), ("More snow", "snow")]))
    assert made(name)(train, task, 1)(texts(*NEW)) == ["snow"] * 3


@pytest.mark.parametrize("name", ["plurality", "adaboost", "tfidf"])
def test_texts_without_words_fall_back_on_plurality(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path, [("!", "snow"), ("?", "rain"), ("...", "snow")]))
    assert made(name)(train, task, 1)(texts("!", "words")) == ["snow", "snow"]


def test_of_equally_frequent_classes_and_equally_near_rows_the_first_is_taken(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path, [("a", "sun_shine"), ("b", "snow")]))
    assert make_baseline("plurality")(train, task, 1)(texts("c")) == ["snow"]
    for labels in (("snow", "rain"), ("rain", "snow")):
        task, train = opened(weather(tmp_path, [("the same", label) for label in labels]))
        assert make_baseline("minilm-1nn")(train, task, 1)(texts("the same", "other")) == [labels[0]] * 2


def test_unlabelled_rows_teach_nothing(tmp_path: Path) -> None:
    task, _ = opened(weather(tmp_path))
    rows = read_rows(tmp_path / "test_unlabeled.csv", task, labelled=False)
    for name in NAMES:
        if name == "minilm-names":
            continue  # learns from no row
        with pytest.raises(DataError, match=r"test_unlabeled\.csv has no labelled row"):
            made(name)(rows, task, 1)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("knn", SpecError, r"no baseline 'knn'; there are plurality, adaboost"),
        ("lm", SpecError, "name an endpoint or a file"),
        (SPREADING, DataError, r"learns from unlabelled rows too; give the task a test_unlab"),
    ],
)
def test_names_that_make_no_baseline_are_refused(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make_baseline(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("card_not_working", "card not working"),
        ("reverted_card_payment?", "reverted card payment"),
        ("cardNotWorking", "card Not Working"),
        ("ADE-related", "ADE related"),
        ("TAI safety research", "TAI safety research"),
        ("?", "?"),
    ],
)
def test_class_names_are_read_as_words(name: str, words: str) -> None:
    assert in_words(name) == words


def test_embeddings_are_those_of_the_published_model_whatever_the_batches_and_order(monkeypatch) -> None:
    found = Embedder()(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert found.dtype == np.float32
    assert found @ found.T == pytest.approx(
        np.array([[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]), abs=1e-4
    )
    lines = [text * (1 + number % 4) for number, (text, _) in enumerate(WEATHER * 3)] + ["", "word " * 400]
    at_once = Embedder()(lines)
    assert np.linalg.norm(at_once, axis=1) == pytest.approx(np.ones(len(lines)), abs=1e-6)
    assert np.abs(Embedder()(lines[::-1])[::-1] - at_once).max() < 1e-6
    for tokens in (1, 37, 300):
        monkeypatch.setattr(embedding, "BATCH_TOKENS", tokens)
        assert np.abs(Embedder()(lines) - at_once).max() < 1e-6


def test_texts_are_embedded_once_and_cut_at_the_models_length(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder()
    long = embedder(["word " * 300, "word " * 254, "word " * 253])
    assert long[0] == pytest.approx(long[1], abs=1e-6)
    assert np.abs(long[0] - long[2]).max() > 1e-6
    monkeypatch.setattr(embedding, "forward", lambda *_: pytest.fail("computed again"))
    assert np.array_equal(embedder(["word " * 253]), long[2:])


def test_of_columns_that_are_equal_in_all_rows_adaboost_asks_about_the_shortest(tmp_path: Path) -> None:
    counts = np.array([[1, 0, 1, 1, 1, 0], [0, 2, 0, 0, 0, 2], [3, 0, 3, 2, 3, 0]])
    assert list(distinct_columns(csc_array(counts), [3, 1, 2, 3, 1, 1])) == [1, 4, 3]
    task, train = opened(weather(tmp_path, [("big dog", "rain"), ("big", "snow")] * 3))
    assert fit_adaboost(train, task, 1)(texts("one dog", "big")) == ["rain", "snow"]


def test_the_seed_decides_between_equally_good_splits_and_fewer_trees_are_the_first_of_more(tmp_path) -> None:
    task, train = opened(weather(tmp_path, [("drip drop drop wet wet wet", "rain"), ("bright", "snow")] * 3))
    said = [
        fit_adaboost(train, task, seed)(texts("drip", "drop drop", "wet wet wet")) for seed in range(1, 9)
    ]
    assert fit_adaboost(train, task, 1)(texts("drip", "drop drop", "wet wet wet")) == said[0]
    assert any(labels != said[0] for labels in said)
    rows = [
        (f"{one} {other}", f"{('rain', 'snow')[(one * other) % 2]}") for one in range(9) for other in range(9)
    ]
    task, train = opened(weather(tmp_path, [(f"w{text.replace(' ', ' v')}", label) for text, label in rows]))
    lines = texts(*(f"w{one} v{one + 1} w{one + 2}" for one in range(7)))
    staged = fit_staged(train, task, 1, Boosting(trees=12, depth=1, learning_rate=0.5))
    for trees, labels in zip((3, 8, 12), staged(lines, [3, 8, 12]), strict=True):
        assert labels == fit_adaboost(train, task, 1, Boosting(trees, 1, 0.5))(lines)
    assert staged([], [3, 8]) == [[], []]


SETTINGS = (Boosting(10, 1, 1.0), Boosting(25, 1, 1.0), Boosting(10, 2, 0.3))


def test_a_trial_is_the_baseline_with_that_setting_and_the_best_and_cheapest_stands_first(tmp_path) -> None:
    task, train = opened(weather(tmp_path))
    found = boosting.tune_boosting(train, task, SETTINGS, {})
    for trial in found:
        alone = boosting.evaluate(partial(fit_adaboost, setting=trial.setting), train, task)
        assert trial.score == pytest.approx(alone.macro_f1_declared, abs=1e-12)
    assert found == sorted(found, key=lambda one: (-one.score, one.setting.trees, one.setting.depth))
    with pytest.raises(DataError, match="has one labelled row"):
        boosting.tune_boosting(opened(weather(tmp_path, WEATHER[:1]))[1], task, SETTINGS, {})


def test_a_search_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, train = opened(weather(tmp_path))
    path = tmp_path / "trials.jsonl"

    class EndedError(Exception):
        pass

    def watch(done: int, total: int) -> None:
        assert total == 2 * len(WEATHER)
        if done == 4:
            raise EndedError

    with pytest.raises(EndedError):
        boosting.tune_boosting(train, task, SETTINGS, boosting.kept_trials(path), watch=watch)
    kept = boosting.kept_trials(path)
    assert len(kept) == 4
    whole = boosting.tune_boosting(train, task, SETTINGS, kept)
    assert whole == boosting.tune_boosting(train, task, SETTINGS, {})
    monkeypatch.setattr(boosting, "fit_staged", lambda *_: pytest.fail("grown again"))
    assert boosting.tune_boosting(train, task, SETTINGS, boosting.kept_trials(path)) == whole


def test_the_papers_order_and_all_settings() -> None:
    assert len(set(boosting.boosting_grid())) == 5 * 5 * 4
    published = Boosting(100, 3, 1.0)
    for varied, settings in boosting.boosting_sweeps():
        assert published in settings
        field = varied.replace(" ", "_")
        assert len({getattr(one, field) for one in settings}) == len(settings)


def test_the_command_tunes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(boosting, "TREES", (2, 100))
    for name in ("one", "two"):
        weather(tmp_path / "raft" / name, WEATHER[:4])
    assert main(["raft", "tune", "adaboost", "--all", "--sweeps"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [
        *("one:", "learning rate:", "depth:", "trees:"),
        *("two:", "learning rate:", "depth:", "trees:"),
    ]
    assert "trials are kept in adaboost-trials.jsonl and are not made again" in shown.err
    assert (tmp_path / "adaboost-trials.jsonl").is_file()


VOTES = DataSpec(item="item", rater="rater", label="label", text="words")
TEXTS = {
    "1": "My order never came and nobody answers me, this is terrible service!",
    "2": "What a lovely day, thank you all so much for the kind words.",
}
ROWS = [["item", "rater", "label", "words", "group"]] + [
    [item, f"r{rater}", ("complaint", "praise")[(int(item) + rater) % 2], TEXTS[item], "ab"[rater % 2]]
    for item in TEXTS
    for rater in range(4)
]

needs_models = pytest.mark.skipif(not available(), reason="needs requirements-models.txt")


def test_each_item_is_read_once():
    job = item_texts(rows_table(ROWS), VOTES, ("complaint", "praise"), "minilm-names")
    assert dict(zip(job.ids, job.texts, strict=True)) == TEXTS
    with pytest.raises(DataError, match="name their column"):
        item_texts(rows_table(ROWS), replace(VOTES, text=None), ("a", "b"), "minilm-names")


@needs_models
def test_labels_come_as_a_file_of_ids():
    job = item_texts(rows_table(ROWS), VOTES, ("complaint", "praise"), "minilm-names")
    assert job.name == "votes.csv, column words, by minilm-names"
    table = read_table(label_items(job), job.name)
    assert table.columns == ("ID", "Label")
    assert table.head(9).to_numpy().tolist() == [["1", "complaint"], ["2", "praise"]]


@needs_models
def test_a_command_takes_it_for_a_model(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in ROWS))
    names = ["--item", "item", "--rater", "rater", "--label", "label", "--text", "words", "--axis", "group"]
    model = ["--model-baseline", "minilm-names", "--permutations", "100"]
    assert "minilm-names" in ran(capsys, "models", "--annotations", str(path), *names, *model).out


# On the published tasks: `make bench-raft` prints all figures; here are those that take seconds. They are
# macro-F1 over declared classes by leave-one-out on the 50 labelled rows, measured independently with
# scikit-learn 1.9.1 and the same embeddings. AdaBoost's depend on chance, which decides between equally good
# splits: the lowest and highest of random states 0 to 5 on all n-grams.
WITHIN = {"plurality": 0.0005, "minilm-1nn": 0.02, "minilm-logistic": 0.02}
QUICK = {
    "plurality": tuple(MEASURED),
    "minilm-1nn": ("banking_77", "semiconductor_org_types", "tai_safety_research"),
    "minilm-logistic": ("banking_77", "semiconductor_org_types", "tai_safety_research"),
}
ADABOOST = {"neurips_impact_statement_risks": (0.675, 0.780), "semiconductor_org_types": (0.279, 0.369)}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "task_name"),
    [
        pytest.param(name, task, marks=[pytest.mark.long] if name.startswith("minilm") else [])
        for name in QUICK
        for task in QUICK[name]
    ],
)
def test_leave_one_out_figures(name: str, task_name: str, embedder: Embedder) -> None:
    task, train = opened(RAFT / task_name)
    found = boosting.evaluate(make_baseline(name, embedder), train, task)
    figure = MEASURED[task_name][COLUMNS.index(name)]
    assert figure is not None
    assert found.macro_f1_declared == pytest.approx(figure, abs=WITHIN[name])


@needs_shared_data
@pytest.mark.long
@pytest.mark.parametrize("task_name", ADABOOST)
def test_adaboost_is_within_what_chance_gives(task_name: str) -> None:
    task, train = opened(RAFT / task_name)
    low, high = ADABOOST[task_name]
    assert low <= boosting.evaluate(make_baseline("adaboost"), train, task).macro_f1_declared <= high
