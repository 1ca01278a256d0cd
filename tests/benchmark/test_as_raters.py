"""A baseline as a model: the texts of DICES-like items, labelled by the names of the labels alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grasp_core import cli
from grasp_core.benchmark.baselines.as_raters import item_texts, label_items
from grasp_core.benchmark.baselines.embedding import available
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from tests.reading.making import rows_table

SPEC = DataSpec(item="item", rater="rater", label="label", text="words")
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
    job = item_texts(rows_table(ROWS), SPEC, ("complaint", "praise"), "minilm-names")
    assert dict(zip(job.ids, job.texts, strict=True)) == TEXTS


def test_without_texts_it_says_what_would_do():
    with pytest.raises(DataError, match="name their column"):
        item_texts(rows_table(ROWS), replace(SPEC, text=None), ("a", "b"), "minilm-names")


@needs_models
def test_labels_come_as_a_file_of_ids():
    job = item_texts(rows_table(ROWS), SPEC, ("complaint", "praise"), "minilm-names")
    assert job.name == "votes.csv, column words, by minilm-names"
    table = read_table(label_items(job), job.name)
    assert table.columns == ("ID", "Label")
    assert table.head(9).to_numpy().tolist() == [["1", "complaint"], ["2", "praise"]]


@needs_models
def test_the_command(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in ROWS))
    names = ["--item", "item", "--rater", "rater", "--label", "label", "--text", "words", "--axis", "group"]
    model = ["--model-baseline", "minilm-names", "--permutations", "100"]
    assert cli.main(["models", "--annotations", str(path), *names, *model]) == 0
    assert "minilm-names" in capsys.readouterr().out
