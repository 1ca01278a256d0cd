"""Raters whom screens name are left out when data are read, and runs say whom they name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.clickers import CLICKERS, crowd, group_of_clickers, wrong
from benchmarks.planted import run_spec
from grasp_core import cli
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import SpecError
from grasp_core.model.remarks.cautions import Caution, GroupCount, LeftOutReason, ScreenCaution, is_public
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.screens.duplicates import Duplicates, Pair
from grasp_core.reading.screens.screens import one_of_each
from grasp_core.report.words.levels import left_out
from tests.computing import compute_in_threads
from tests.reading.making import LONG, rows_table

CROWD = crowd(3, items=200, clickers=CLICKERS)


def rows() -> list[list[str]]:
    """The crowd with its clickers r0000 to r0003, a constant rater, and a copy of the last one."""
    found = [
        [CROWD.item_ids[item], CROWD.rater_ids[rater], CROWD.categories[label]]
        for item, rater, label in zip(CROWD.item, CROWD.rater, CROWD.category, strict=True)
    ]
    copied = [[item, "twin", label] for item, rater, label in found if rater == "r0059"]
    constant = [[item, "bored", "label a"] for item in CROWD.item_ids[:50]]
    return [["item", "rater", "label"], *found, *constant, *copied]


def read(*screens: str, spec: DataSpec = LONG) -> Dataset:
    table = [[*row, row[2]] for row in rows()] if spec.further else rows()
    if spec.further:
        table[0][3] = "again"
    return load(rows_table(table), None, replace(spec, screens=screens), [])


def gone(dataset: Dataset) -> set[str]:
    return {*CROWD.rater_ids, "bored", "twin"} - set(dataset.annotations.rater_ids)


def test_each_screen_leaves_out_its_raters_and_counts_their_rows() -> None:
    assert gone(read()) == set()
    assert gone(read("constant")) == {"bored"}
    assert gone(read("duplicates")) == {"twin"}  # of two with equally many, the later one
    every = read("random", "constant", "duplicates")
    assert gone(every) == {"r0000", "r0001", "r0002", "r0003", "bored", "twin"}
    account = every.summary.account
    assert account is not None
    counts = {one.reason: one.count for one in account.left_out if one.count}
    assert counts == {
        LeftOutReason.AT_CHANCE(): 800,
        LeftOutReason.ONE_LABEL_ALWAYS(): 50,
        LeftOutReason.TOO_CLOSE(): 200,
    }
    assert account.read == account.used + 1050


def test_who_is_named_by_the_first_question_is_left_out_of_all() -> None:
    spec = replace(LONG, further=(Question("again"),))
    every = read("random", spec=spec)
    assert gone(every) == {"r0000", "r0001", "r0002", "r0003"}
    assert [one.n_annotations for one in every.questions] == [56 * 200 + 250] * 2


def test_of_a_chain_of_near_duplicates_every_second_stays() -> None:
    annotations = crowd(1, raters=4)
    pairs = tuple(Pair(a, b, 60, 60, 30.0) for a, b in ((0, 1), (1, 2), (2, 3)))
    assert one_of_each(Duplicates(pairs, 6, 1.0), annotations).tolist() == [False, True, False, True]
    fewer = annotations.rater != 0
    fewer[0] = True
    thin = Annotations.from_codes(
        item=annotations.item[fewer],
        rater=annotations.rater[fewer],
        category=annotations.category[fewer],
        item_ids=annotations.item_ids,
        rater_ids=annotations.rater_ids,
        categories=annotations.categories,
    )
    assert one_of_each(Duplicates(pairs[:1], 6, 1.0), thin).tolist() == [True, False, False, False]


def test_specs_name_screens_and_keep_their_hash_without_them() -> None:
    plain = run_spec(1, 200)
    some = replace(plain, data=replace(plain.data, screens=("random", "constant")))
    assert RunSpec.from_dict(some.to_dict()) == some
    other = replace(plain, data=replace(plain.data, screens=("constant", "random")))
    assert some.sha256() == other.sha256() != plain.sha256()
    assert left_out(some.data) == ["raters at chance", "raters who gave one label always"]
    for wrong_one in (("bored",), ("random", "random")):
        with pytest.raises(SpecError, match="each once; found"):
            replace(plain.data, screens=wrong_one)


def screens_of(dataset: Dataset) -> tuple[Remark, ...]:
    """What a run says of screens, once it is done."""
    result = compute_in_threads(dataset, run_spec(3, 200))
    said = {Caution.RANDOM_RESPONDERS, Caution.CONSTANT_RATERS, Caution.NEAR_DUPLICATES}
    return tuple(one for one in result.warnings if one.code in {*said, ScreenCaution.SCREENED_IN_GROUPS})


def test_a_run_says_whom_screens_name_in_numbers() -> None:
    dataset = group_of_clickers(3, screen=False)
    total, by_group = screens_of(dataset)
    assert total == Caution.RANDOM_RESPONDERS(raters=4, looked_at=60)
    assert by_group == ScreenCaution.SCREENED_IN_GROUPS(
        screen="raters at chance", groups=(GroupCount.RATERS_OF_GROUP(group="side in", raters=4, of=10),)
    )
    assert str(by_group) == "raters at chance, by group: 'side in: 4 of 10'"
    assert (is_public(total), is_public(by_group)) == (True, False)
    assert "--leave-out random" in str(total)
    assert not screens_of(group_of_clickers(3, screen=True))


def test_clickers_make_differences_that_are_none_and_screening_removes_them() -> None:
    # 4 clickers of a group of 10 make 9 of 10 runs wrong; without them .05, so 3 of 6 has p < .01.
    pool = Pool(workers.threads)
    try:
        before, after = (wrong(range(6), screen, pool) for screen in (False, True))
    finally:
        pool.close()
    assert before["irr"] > 0.5
    assert max(after.values()) < 0.5


def test_the_command_leaves_out_by_name(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    written = "\n".join(",".join(row) for row in rows())
    (tmp_path / "votes.csv").write_text(written, encoding="utf-8")
    asked = ["quality", "--annotations", "votes.csv", "--out", "quality.json"]
    assert cli.main(asked) == 0
    printed = capsys.readouterr().out
    assert "4 raters of 61 with 20 or more items" in printed
    assert "Raters at chance: 4 found among 61 raters" in printed
    assert "r0003" not in printed
    assert cli.main([*asked, "--show-ids"]) == 0
    assert "r0003" in capsys.readouterr().out
    assert cli.main([*asked, "--leave-out", "random,constant,duplicates"]) == 0
    said = capsys.readouterr()
    assert "Raters at chance: none found among 56 raters" in said.out
    assert "raters whose labels agree with those of others no more than chance does" in said.out + said.err
    assert cli.main([*asked, "--leave-out", "bored"]) == cli.BAD_INPUT
    assert "random, constant, duplicates" in capsys.readouterr().err
