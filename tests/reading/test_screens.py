"""Screens: constant raters, near-duplicates, random responders; honest raters are left in peace."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.clickers import CLICKERS, crowd, group_of_clickers, wrong
from benchmarks.planted import run_spec
from benchmarks.rare_labels import rare
from grasp_core.analysis.design import screen_cautions
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.cautions import Caution, GroupCount, LeftOutReason, ScreenCaution, is_public
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.filters import screened
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.screens import duplicates
from grasp_core.reading.screens.constant import find_constant, too_constant
from grasp_core.reading.screens.duplicates import Duplicates, Pair, is_quick, near_duplicates
from grasp_core.reading.screens.random_responders import is_quick_search, random_responders
from grasp_core.report.words.levels import left_out
from tests.commands import ran, refused
from tests.computing import compute_in_threads
from tests.permutation.simulated import coded, part
from tests.reading.making import LONG, csv_bytes, labels_of, rows_table

SETS, MOST = 10, 2
"""At most .05 of honest data sets have somebody named: of 10, more than 2 with a probability below .02."""


@pytest.mark.parametrize("prevalence", [0.03, 0.3])
def test_no_screen_names_anybody_for_a_rare_label(prevalence: float) -> None:
    crowds = [rare(seed, prevalence=prevalence) for seed in range(SETS)]
    assert sum(bool(too_constant(one, None).named.any()) for one in crowds) <= MOST
    assert sum(bool(random_responders(one).raters) for one in crowds) <= MOST
    assert sum(bool(near_duplicates(one).pairs) for one in crowds) <= MOST


def test_rare_labels_make_many_constant_and_six_who_always_say_one_thing_are_found() -> None:
    crowd = rare(3, prevalence=0.03)
    assert find_constant(crowd)[0].sum() > 5
    assert not screened("constant", crowd, None).any()
    found = [too_constant(rare(seed, prevalence=0.3, constant=6), None).named for seed in range(20)]
    assert sum(bool(one[:6].all()) for one in found) >= 19
    assert sum(int(one[6:].sum()) for one in found) <= 2
    rarer = [too_constant(rare(seed, prevalence=0.1, constant=6), None).named for seed in range(20)]
    assert sum(bool(one[:6].all()) for one in rarer) >= 5


def test_few_labels_and_the_rest_of_several_are_told_apart() -> None:
    crowd = rare(5, prevalence=0.2, items=200, constant=6)
    few = (crowd.rater == 6) & (crowd.item < 10)
    found = too_constant(part(crowd, few | (crowd.rater != 6), np.where(few, 0, crowd.category)), None)
    assert found.named[:6].all()
    assert found.looked_at[6]
    assert not found.named[6]
    crowd = rare(2, prevalence=0.4, constant=5)
    other = np.random.default_rng(2).integers(1, 4, crowd.category.size)
    three = np.where(crowd.category > 0, other, 0)
    three[crowd.rater == 5] = 2  # one of the rest, always
    found = too_constant(coded(crowd.item, crowd.rater, three, 4, (crowd.n_items, crowd.n_raters)), None)
    assert set(np.flatnonzero(found.named)) == {0, 1, 2, 3, 4, 5}


def test_what_a_whole_group_says_is_its_label_use() -> None:
    crowd = rare(4, prevalence=0.3)
    group = np.arange(60) < 15
    theirs = group[crowd.rater]
    both = part(crowd, ..., np.where(theirs, rare(5, prevalence=0.03).category, crowd.category))
    sides = Axis.from_values(["in" if one else "out" for one in group])
    raters = Raters(crowd.rater_ids, {"side": sides})
    assert not too_constant(both, raters).named.any()
    silent = part(crowd, ..., np.where(theirs, 0, crowd.category))
    assert too_constant(silent, None).named[group].all()
    assert not too_constant(silent, raters).named.any()
    clicking = part(crowd, ..., np.where(crowd.rater < 6, 0, crowd.category))
    assert set(np.flatnonzero(too_constant(clicking, raters).named)) == set(range(6))
    grouping = form_groups(raters, [("side",)])
    cautions = [[one.code for one in screen_cautions(one, raters, grouping)] for one in (silent, clicking)]
    assert cautions == [[], [Caution.CONSTANT_RATERS, ScreenCaution.SCREENED_IN_GROUPS]]
    spec = replace(LONG, screens=("constant",))
    for one, named in ((silent, 0), (clicking, 6)):  # left out is who the warning counts
        cells = zip(one.item, one.rater, one.category, group[one.rater], strict=True)
        loaded = load(rows_table([["item", "rater", "label", "side"], *cells]), None, spec, ["side"])
        assert loaded.raters.rater_ids == tuple(map(str, range(named, 60)))


LABELS = ("a", "b", "c")


def simulated(seed, *, items=200, raters=40, missing=0.0, copies=0, slips=0.1, community=0) -> Annotations:
    """Raters of differing skill; the last `copies` copy the first but for slips; a community shares views."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=items, p=[0.6, 0.3, 0.1])
    shares = rng.dirichlet([0.7] * 3, size=items)
    own = (rng.random((items, raters, 1)) > shares.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    labels = np.where(rng.random((items, raters)) < rng.beta(2, 1, raters), truth[:, None], own)
    if community:
        view = rng.choice(3, size=items)[:, None]
        shared = rng.random((items, community)) < 0.8
        labels[:, :community] = np.where(shared, view, labels[:, :community])
    for copy in range(copies):
        slipped = rng.random(items) < slips
        labels[:, -1 - copy] = np.where(slipped, labels[:, -1 - copy], labels[:, community + copy])
    item, rater = np.nonzero(rng.random((items, raters)) >= missing)
    return coded(item, rater, labels[item, rater], LABELS, (items, raters))


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    [{}, {"missing": 0.5, "items": 300}, {"raters": 10, "items": 100}, {"raters": 80, "items": 60}],
    ids=["plain", "gaps", "few raters", "many raters"],
)
def test_honest_raters_are_seldom_accused(shape):
    # The bound is 5 % of data sets; 60 of them, so that more than 7 would have probability below 0.01.
    accused = sum(bool(near_duplicates(simulated(seed, **shape)).pairs) for seed in range(60))
    assert accused <= 7


def test_copies_are_found_and_small_communities_not_accused():
    found = [pairs_of(near_duplicates(simulated(seed, copies=2))) for seed in range(10)]
    named = sum(len({(0, 39), (1, 38)} & set(pairs)) for pairs in found)
    assert named >= 14  # of 20; a copy of a rater who says what everybody says cannot be told
    found = [near_duplicates(simulated(seed, community=6)) for seed in range(20)]
    assert sum(bool(each.pairs) for each in found) <= 2


def pairs_of(found: Duplicates) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in found.pairs]


def test_counts_are_those_of_the_labels():
    annotations = simulated(3, items=80, raters=12, missing=0.2, copies=1, slips=0)
    found = near_duplicates(annotations)
    label = np.full((80, 12), -1)
    label[annotations.item, annotations.rater] = annotations.category
    assert found.looked_at == 66  # 12 raters, about 51 common items each
    assert found.pairs
    for pair in found.pairs:
        one, other = label[:, pair.first], label[:, pair.second]
        both = (one >= 0) & (other >= 0)
        assert (pair.common, pair.agreed) == (both.sum(), (both & (one == other)).sum())
        assert 0 < pair.expected < pair.agreed
    assert found.raters == len({rater for pair in pairs_of(found) for rater in pair})


def test_constant_raters_and_short_overlaps_are_not_looked_at():
    labels = np.random.default_rng(1).integers(3, size=(40, 4))
    labels[:, 2:] = 0
    item, rater = np.nonzero(np.ones_like(labels))
    assert near_duplicates(coded(item, rater, labels[item, rater], LABELS)).looked_at == 1
    assert near_duplicates(simulated(1, items=19)).looked_at == 0


def test_raters_whom_nobody_can_be_held_against_change_nothing_about_the_others():
    crowd = simulated(5, copies=2, slips=0)
    alone = np.arange(25 * 3)  # three more, with 25 items each that nobody else has seen
    annotations = coded(
        np.append(crowd.item, 200 + alone),
        np.append(crowd.rater, 40 + alone // 25),
        np.append(crowd.category, alone % 3),
        LABELS,
    )
    found, before = near_duplicates(annotations), near_duplicates(crowd)
    assert before.pairs
    assert found.looked_at == before.looked_at
    assert pairs_of(found) == pairs_of(before)


def test_blocks_and_thinning_keep_what_they_see(monkeypatch):
    annotations = simulated(5, copies=2, slips=0)
    whole = near_duplicates(annotations)
    assert whole.pairs
    monkeypatch.setattr(duplicates, "BLOCK_BYTES", 64 * 40 * 3)  # three raters a block
    assert near_duplicates(annotations) == whole
    monkeypatch.setattr(duplicates, "MAX_WORK", 100 * 40**2 * 3)
    thinned = near_duplicates(annotations)
    assert thinned.items_used == 0.5
    assert all(pair.common == 100 for pair in thinned.pairs)


@pytest.mark.parametrize(
    ("items", "raters", "instant", "quick"),
    [(350, 104, True, True), (1000, 220, False, True), (3000, 220, False, False)],
    ids=["36,400 annotations", "220,000", "660,000"],
)
def test_how_long_the_searches_take_is_told_from_the_size(items, raters, instant, quick):
    annotations = simulated(1, items=items, raters=raters)
    assert (is_quick(annotations, instant=True), is_quick(annotations)) == (instant, quick)
    assert is_quick_search(crowd(1, items=items)) == quick


def named(annotations: Annotations) -> set[int]:
    return set(np.flatnonzero(random_responders(annotations).random))


@pytest.mark.parametrize(
    "shape",
    [{}, {"raters": 10, "items": 200}, {"categories": 2}, {"categories": 7}, {"items": 600, "each": 50}],
    ids=["crossed", "few raters", "two labels", "seven labels", "sparse"],
)
def test_honest_raters_are_seldom_named(shape):
    assert sum(bool(named(crowd(seed, **shape))) for seed in range(SETS)) <= MOST


def test_random_responders_are_found():
    found = [named(crowd(seed, items=200, clickers=4)) for seed in range(10)]
    assert sum(len(each & {0, 1, 2, 3}) for each in found) >= 34  # of 40
    found = [named(crowd(seed, raters=10, items=200, clickers=4, sharp=2.0)) for seed in range(10)]
    assert sum(len(each & {0, 1, 2, 3}) for each in found) >= 32


def test_nobody_is_named_where_everybody_agrees_little():
    for seed in range(5):
        found = random_responders(crowd(seed, items=200, clickers=4, sharp=0.3))
        assert found.agreement is not None
        assert found.agreement < 0.1
        assert not found.random.any()


def test_short_overlaps_constant_raters_and_tiny_crowds_are_not_looked_at():
    assert random_responders(crowd(1, items=19)).agreement is None
    assert random_responders(crowd(1, raters=4)).agreement is None
    annotations = crowd(1, items=100, clickers=1)
    constant = np.where(annotations.rater == 0, 0, annotations.category)
    found = random_responders(part(annotations, ..., constant))
    assert found.looked_at.sum() == 59
    assert not found.looked_at[0]


@pytest.mark.parametrize("turned", [1.0, 0.5], ids=["inverted", "half of the items"])
def test_a_minority_with_a_view_of_its_own_is_not_named(turned):
    crowds = [crowd(seed, items=200, categories=2, minority=6, turned=turned) for seed in range(8)]
    assert sum(len(named(one) & set(range(6))) for one in crowds) <= 2  # of 48


# Leaving them out when data are read
CROWD = crowd(3, items=200, clickers=CLICKERS)


def rows() -> list[list[str]]:
    """The crowd with its clickers r0000 to r0003, a constant rater, and a copy of the last one."""
    found = [[*pair, label] for pair, label in labels_of(CROWD).items()]
    copied = [[item, "twin", label] for item, rater, label in found if rater == "r0059"]
    constant = [[item, "bored", "label a"] for item in CROWD.item_ids[:50]]
    return [["item", "rater", "label"], *found, *constant, *copied]


def read(*screens: str, spec: DataSpec = LONG) -> Dataset:
    header, *body = rows()
    table = rows_table([[*header, "again"], *([*row, row[2]] for row in body)])
    return load(table, None, replace(spec, screens=screens), [])


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
    why = LeftOutReason
    assert counts == {why.AT_CHANCE(): 800, why.ONE_LABEL_ALWAYS(): 50, why.TOO_CLOSE(): 200}
    assert account.read == account.used + 1050


def test_who_is_screened_leaves_all_questions_and_half_of_a_chain_stays() -> None:
    every = read("random", spec=replace(LONG, further=(Question("again"),)))
    assert gone(every) == {"r0000", "r0001", "r0002", "r0003"}
    assert [one.n_annotations for one in every.questions] == [56 * 200 + 250] * 2
    annotations = crowd(1, raters=4)
    pairs = tuple(Pair(a, b, 60, 60, 30.0) for a, b in ((0, 1), (1, 2), (2, 3)))
    assert Duplicates(pairs, 6, 1.0).one_of_each(annotations).tolist() == [False, True, False, True]
    fewer = annotations.rater != 0
    fewer[0] = True
    thin = part(annotations, fewer)
    assert Duplicates(pairs[:1], 6, 1.0).one_of_each(thin).tolist() == [True, False, False, False]


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
    assert str(by_group) == "raters at chance, by group: side in: 4 of 10"
    assert (is_public(total), is_public(by_group)) == (True, False)
    assert "--leave-out random" in str(total)
    assert not screens_of(group_of_clickers(3, screen=True))


def test_clickers_make_differences_that_are_none_and_screening_removes_them() -> None:
    # 4 clickers of a group of 10 make 9 of 10 runs wrong; without them .05, so 3 of 6 has p < .01.
    with closing(Pool(workers.threads)) as pool:
        before, after = (wrong(range(6), screen, pool) for screen in (False, True))
    assert before["irr"] > 0.5
    assert max(after.values()) < 0.5


def test_the_command_leaves_out_by_name(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_bytes(csv_bytes(rows()))
    asked = ["quality", "--annotations", "votes.csv", "--out", "quality.json"]
    printed = ran(capsys, *asked).out
    assert "4 raters of 61 agree with the others no more than chance does" in printed
    assert "Raters at chance: 4 found among 61 raters" in printed
    assert "r0003" not in printed
    assert "r0003" in ran(capsys, *asked, "--show-ids").out
    said = ran(capsys, *asked, "--leave-out", "random,constant,duplicates")
    assert "Raters at chance: none found among 56 raters" in said.out
    assert "raters whose labels agree with those of others no more than chance does" in said.out + said.err
    assert "random, constant, duplicates" in refused(capsys, *asked, "--leave-out", "bored")
