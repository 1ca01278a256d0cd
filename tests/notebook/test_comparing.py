"""``grasp.compare``: two results, opened or in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import grasp_core as grasp
from tests.results import make_group, make_outcome, make_result, with_pairs, with_slices


def test_two_results_in_words_and_frames() -> None:
    a = make_result((make_group(gai=make_outcome(1.1, "up")),), statistics=("gai",))
    b = make_result((make_group(gai=make_outcome(1.3, "up", "**")),), statistics=("gai",), seed=2)
    found = grasp.compare(grasp.Analysis(a), grasp.Analysis(b))
    assert "GAI: 1 of 1 group changed significance" in found.answer()
    assert found.asked().to_numpy().tolist() == [["Seed", "1", "2"]]
    assert found.data().empty
    assert found.table()["moved"].tolist() == pytest.approx([0.2, 0.2])
    assert found.moved()["statistic"].tolist() == ["gai", "dsi"]
    assert found.pairs().empty
    assert "GAI: 1 of 1 group" in found._repr_html_()


def test_files_and_pairs_and_slices(tmp_path: Path) -> None:
    both = replace(with_slices(), pairs=with_pairs().pairs)
    path = tmp_path / "result.json"
    grasp.Analysis(both).save(path)
    found = grasp.compare(path, grasp.Analysis(both))
    assert set(found.slices()["slice"]) == {"topic = news", "topic = sport"}
    assert len(set(found.pairs()["pair"])) == 3
    assert found.moved().empty
    with pytest.raises(grasp.DataError, match="missing"):
        grasp.compare(path, tmp_path / "missing.json")
