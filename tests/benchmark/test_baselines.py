"""Each baseline on a task small enough to see what it should say, and the parts it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy.sparse import csc_array

from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.baselines.classical import Boosting, Fit, distinct_columns, fit_adaboost, fit_staged
from grasp_core.benchmark.baselines.embedding import Embedder, Matrix, in_words, spreading
from grasp_core.benchmark.baselines.registry import BASELINES, LM, SPREADING, make_baseline
from grasp_core.benchmark.tasks import read_rows
from grasp_core.model.errors import DataError, SpecError
from tests.benchmark.baseline_tasks import NEW, WEATHER, opened, texts, weather

NAMES = [name for name in BASELINES if name != LM]


def made(name: str) -> Fit:
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


def test_without_unlabelled_rows_it_is_said_what_is_missing() -> None:
    with pytest.raises(DataError, match=r"learns from unlabelled rows too; give the task a test_unlab"):
        make_baseline(SPREADING)


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
            made(name)(rows, task, 1)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(SpecError, match=r"no baseline 'knn'; there are plurality, adaboost"):
        make_baseline("knn")
    with pytest.raises(SpecError, match="name an endpoint or a file"):
        make_baseline("lm")


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
    monkeypatch.setattr(embedding, "forward", lambda *_: pytest.fail("computed again"))
    assert np.array_equal(embedder(["word " * 253]), long[2:])


def test_columns_that_are_equal_in_all_rows_are_asked_about_once_and_the_shortest_of_them() -> None:
    # Columns 0, 2 and 4 are equal, 4 the shortest n-gram; so are 1 and 5, of the same length; 3 is like none.
    counts = np.array([[1, 0, 1, 1, 1, 0], [0, 2, 0, 0, 0, 2], [3, 0, 3, 2, 3, 0]])
    assert list(distinct_columns(csc_array(counts), [3, 1, 2, 3, 1, 1])) == [1, 4, 3]


def test_adaboost_asks_about_the_shortest_of_equal_n_grams(tmp_path: Path) -> None:
    # "dog" and "big dog" occur in the same texts; in the alphabet the longer stands first.
    task, train = opened(weather(tmp_path, [("big dog", "rain"), ("big", "snow")] * 3))
    assert fit_adaboost(train, task, 1)(texts("one dog", "big")) == ["rain", "snow"]


def test_the_seed_decides_between_equally_good_splits(tmp_path: Path) -> None:
    # Each of three words is in all texts of one class and in none of the other, each as often as no other.
    task, train = opened(weather(tmp_path, [("drip drop drop wet wet wet", "rain"), ("bright", "snow")] * 3))
    said = [
        fit_adaboost(train, task, seed)(texts("drip", "drop drop", "wet wet wet")) for seed in range(1, 9)
    ]
    assert fit_adaboost(train, task, 1)(texts("drip", "drop drop", "wet wet wet")) == said[0]
    assert any(labels != said[0] for labels in said)


def test_fewer_trees_are_the_first_of_more(tmp_path: Path) -> None:
    rows = [
        (f"{one} {other}", f"{('rain', 'snow')[(one * other) % 2]}") for one in range(9) for other in range(9)
    ]
    task, train = opened(weather(tmp_path, [(f"w{text.replace(' ', ' v')}", label) for text, label in rows]))
    lines = texts(*(f"w{one} v{one + 1} w{one + 2}" for one in range(7)))
    staged = fit_staged(train, task, 1, Boosting(trees=12, depth=1, learning_rate=0.5))
    for trees, labels in zip((3, 8, 12), staged(lines, [3, 8, 12]), strict=True):
        assert labels == fit_adaboost(train, task, 1, Boosting(trees, 1, 0.5))(lines)
    assert staged([], [3, 8]) == [[], []]
