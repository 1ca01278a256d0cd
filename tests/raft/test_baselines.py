"""Each baseline on a task small enough to see what it should say, and the parts it is made of."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from grasp_core.errors import DataError, SpecError
from grasp_core.raft.baselines import adaboost, embedding, trees
from grasp_core.raft.baselines.adaboost import fit_adaboost
from grasp_core.raft.baselines.embedding import Embedder
from grasp_core.raft.baselines.minilm import in_words
from grasp_core.raft.baselines.registry import BASELINES, LM, make_baseline
from grasp_core.raft.baselines.trees import find_splits, follow, grow
from grasp_core.raft.tasks import read_rows
from tests.raft.baseline_tasks import NEW, WEATHER, opened, texts, weather

NAMES = [name for name in BASELINES if name != LM]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("plurality", "adaboost")])
def test_words_of_a_class_lead_to_it(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path))
    assert make_baseline(name)(train, task, 1)(texts(*NEW)) == ["rain", "sun_shine", "snow"]


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
    predict = make_baseline(name)(train, task, 3)
    lines = [*NEW, "", "sun and rain", "\ud800 half a character", "nothing of the kind"]
    together = predict(texts(*lines))
    assert together == [predict(texts(line))[0] for line in lines]
    assert predict([]) == []
    assert set(together) <= set(task.classes)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("names")])
def test_one_class_alone_is_always_said(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path, [("Snow", "snow"), ("More snow", "snow")]))
    assert make_baseline(name)(train, task, 1)(texts(*NEW)) == ["snow"] * 3


@pytest.mark.parametrize("name", ["plurality", "adaboost", "tfidf"])
def test_texts_without_words_fall_back_on_plurality(tmp_path: Path, name: str) -> None:
    task, train = opened(weather(tmp_path, [("!", "snow"), ("?", "rain"), ("...", "snow")]))
    assert make_baseline(name)(train, task, 1)(texts("!", "words")) == ["snow", "snow"]


def test_plurality_takes_the_first_of_equally_frequent_classes(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path, [("a", "sun_shine"), ("b", "snow")]))
    assert make_baseline("plurality")(train, task, 1)(texts("c")) == ["snow"]


def test_equally_near_rows_give_the_first_ones_label(tmp_path: Path) -> None:
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
            make_baseline(name)(rows, task, 1)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(SpecError, match=r"no baseline 'knn'; there are plurality, adaboost"):
        make_baseline("knn")
    with pytest.raises(SpecError, match="name an endpoint or a file"):
        make_baseline("lm")


def test_without_the_optional_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(embedding, "find_spec", lambda name: None if name == "tokenizers" else real(name))
    embedding._model.cache_clear()
    with pytest.raises(SpecError, match=r"tools/setup\.sh models"):
        make_baseline("minilm-1nn")
    assert make_baseline("tfidf")


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


def test_embeddings_are_those_of_the_published_model() -> None:
    # First components as sentence-transformers prints them for its own example sentences
    # (sbert.net, "Computing Embeddings"; torch, float32).
    found = Embedder()(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert found.dtype == np.float32
    assert found @ found.T == pytest.approx(
        np.array([[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]), abs=1e-4
    )


def test_embeddings_depend_neither_on_batches_nor_on_order() -> None:
    lines = [text * (1 + number % 4) for number, (text, _) in enumerate(WEATHER * 3)] + ["", "word " * 400]
    at_once = Embedder()(lines)
    assert np.linalg.norm(at_once, axis=1) == pytest.approx(np.ones(len(lines)), abs=1e-6)
    for batch_tokens in (1, 37, 300):
        assert np.abs(Embedder(batch_tokens)(lines) - at_once).max() < 1e-6
    assert np.abs(Embedder()(lines[::-1])[::-1] - at_once).max() < 1e-6


def test_texts_are_embedded_once_and_cut_at_the_models_length(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder()
    long = embedder(["word " * 300, "word " * 254, "word " * 253])
    assert long[0] == pytest.approx(long[1], abs=1e-6)
    assert np.abs(long[0] - long[2]).max() > 1e-6
    monkeypatch.setattr(embedding, "_forward", lambda *_: pytest.fail("computed again"))
    assert np.array_equal(embedder(["word " * 253]), long[2:])


def purity(labels: np.ndarray, sides: np.ndarray, weights: np.ndarray) -> float:
    """What a split maximises, counted out side by side."""
    found = 0.0
    for side in np.unique(sides):
        by_class = np.bincount(labels[sides == side], weights[sides == side])
        found += (by_class**2).sum() / by_class.sum()
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_of_one_question_is_as_pure_as_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, (25, 40))
    labels, weights = rng.integers(3, size=25), rng.random(25)
    by_class = np.zeros((3, 25))
    by_class[labels, np.arange(25)] = weights
    tree = grow(find_splits(csr_array(counts)), by_class, 1)
    sides = counts[:, tree.column] > tree.threshold
    theirs = DecisionTreeClassifier(max_depth=1).fit(counts, labels, sample_weight=weights).apply(counts)
    assert purity(labels, sides, weights) == pytest.approx(purity(labels, theirs, weights), rel=1e-9)


def test_boosting_is_scikit_learns_where_no_two_splits_are_equally_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    counts, labels = rng.integers(1, 10_000, (60, 12)), rng.integers(4, size=60)
    new = rng.integers(1, 10_000, (500, 12))
    best, sizes = trees._best, []
    monkeypatch.setattr(trees, "_best", lambda *given: sizes.append(len(found := best(*given))) or found)
    monkeypatch.setattr(adaboost, "DEPTH", 1)  # deeper, a node of two rows is split by any column
    ours = adaboost.boost(find_splits(csr_array(counts)), labels, 4)
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1),
        n_estimators=adaboost.ESTIMATORS,
        learning_rate=1.0,
        random_state=0,
    ).fit(counts, labels)
    assert set(sizes) == {1}
    assert len(ours) == len(theirs.estimators_) == 100
    assert [weight for weight, _ in ours] == pytest.approx(list(theirs.estimator_weights_), rel=1e-6)
    assert (adaboost.vote(ours, csr_array(new), 4) == theirs.predict(new)).all()


def test_of_equally_good_splits_that_of_most_columns_is_taken_and_of_those_the_first() -> None:
    # Column 0 is one pattern; columns 1 to 3 are another that splits as well.
    counts = csr_array(np.array([[0, 1, 1, 1], [0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0]]))
    splits = find_splits(counts)
    assert (list(splits.column), list(splits.size)) == ([0, 1], [1, 3])
    by_class = np.array([[0.25, 0.25, 0, 0], [0, 0, 0.25, 0.25]])
    assert grow(splits, by_class, 3).column == 1
    assert grow(find_splits(counts[:, :2]), by_class, 3).column == 0


def test_adaboost_asks_about_the_shortest_of_equal_n_grams(tmp_path: Path) -> None:
    # "dog" and "big dog" occur in the same texts; in the alphabet the longer stands first.
    task, train = opened(weather(tmp_path, [("big dog", "rain"), ("big", "snow")] * 3))
    assert fit_adaboost(train, task, 1)(texts("one dog", "big")) == ["rain", "snow"]


def test_the_seed_decides_nothing_in_adaboost(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    lines = [" ".join(text.split()[start:]) for text, _ in WEATHER for start in range(4)]
    said = [fit_adaboost(train, task, seed)(texts(*lines)) for seed in range(5)]
    assert all(labels == said[0] for labels in said)


def test_a_tree_learns_what_one_question_cannot() -> None:
    counts = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    labels = np.array([0, 1, 1, 0] * 2)
    by_class = np.zeros((2, 8))
    by_class[labels, np.arange(8)] = 1 / 8
    splits = find_splits(csr_array(counts))
    assert (follow(grow(splits, by_class, 2), splits.counts) == labels).all()


def test_too_many_rows_for_adaboost_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST", 50)
    task, train = opened(weather(tmp_path))
    with pytest.raises(DataError, match="AdaBoost on 6 rows with these texts needs too much memory"):
        fit_adaboost(train, task, 1)
