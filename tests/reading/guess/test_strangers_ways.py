"""What real files of strangers have: each in the shape that was met, small."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest

from grasp_core import analyse
from grasp_core.model.errors import DataError
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, question, recognise
from grasp_core.reading.table.table import Table
from tests.reading.made_up import asked
from tests.reading.making import crossed, numbered, read_here, rows_table, tabled

RNG = random.Random(5)
LAYOUTS = ("items-by-raters", "raters-by-items")
FEW = "--permutations 50"


def some(of: Iterable[str], k: int = 1) -> list[str]:
    """So many answers by chance."""
    return RNG.choices(tuple(of), k=k)


def guessed(table: Table, **named: str) -> Guess:
    return recognise(table, named=Named(**named))


def those_of(columns: Iterable[str], pattern: str) -> tuple[str, ...]:
    """The columns that a pattern names."""
    start, end = pattern.split("*")
    return tuple(name for name in columns if name.startswith(start) and name.endswith(end))


# Read without a question
def reads(table: Table, *columns: str) -> None:
    """Item, rater and label are these, and nothing is asked."""
    guess = recognise(table)
    assert (asked(guess), guess.spec.item, guess.spec.rater, guess.spec.label) == ({}, *columns)


@pytest.mark.parametrize("ids", ["tweetid workerid", "imgid userid", "item Kodierer"])
def test_ids_in_one_word_are_ids(ids: str) -> None:
    reads(numbered(f"{ids} label", lambda n: (40 + n // 4, n % 4, *some("abc"))), *ids.split(), "label")


@pytest.mark.parametrize("key", ["workerid", "participant_number"])
def test_slots_of_a_row_per_rater_hold_items(key: str) -> None:
    def row(n: int) -> list[object]:
        return [70 + n, *(cell for one in RNG.sample("evdi", 4) for cell in (one, *some("lr")))]

    slots = " ".join(f"video_{at} video_{at}_response" for at in "1234")
    reads(numbered(f"{key} {slots}", row, 20), "video", key, "response")


def test_turkers_beside_scores_are_raters_and_what_is_known_of_annotators_is_none() -> None:
    head = "Id Score1 Score2 Score3 TurkId1 TurkId2 TurkId3"
    scores = numbered(head, lambda n: (f"r{n}", *some("12345", 3), *RNG.sample("ABCDEFG", 3)), 20)
    reads(scores, "Id", "TurkId", "Score")
    head = "comment_id,annotator_id,hate,infit,outfit,annotator_infit,annotator_outfit"
    known = crossed(
        head, lambda n, r: (f"c{n}", r, *some("01234"), "0.5", "0.7", f"{r / 8:.2f}", f"{r / 16:.2f}"), 30, 8
    )
    reads(known, "comment_id", "annotator_id", "hate")


def test_an_id_of_the_rows_by_any_name_tells_the_items_apart() -> None:
    head = " ".join(f"{what}_coder{n}" for n in (1, 2) for what in ("role", "tone", "frame"))
    guess = recognise(numbered(f"pair_id {head}", lambda n: (f"14822{n}::PA{n}", *some("abc", 6)), 20))
    assert guess.spec.item == "pair_id"
    assert not any("no column tells the items apart" in one.sentence for one in guess.reasons)


def test_times_of_reaction_are_no_labels() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        times = f"{RNG.random():.4f}", f"{-RNG.random():.4f}"
        return (f"N{r}", f"word{n}", *times, *some(("TRUE", "FALSE")))

    guess = guessed(crossed("id,item,rt,log_rt,correct", row, 20, 12), item="item", rater="id")
    assert guess.spec.label == "correct"
    assert "label" not in asked(guess)


def test_annotations_of_parts_of_a_record_are_read() -> None:
    def record(n: int) -> dict[str, object]:
        parts = [{"sentence": f"s {n}.{at}", "responses": [
            {"worker_id": w, "response": RNG.choice("yn")} for w in "abc"]} for at in range(2)]  # fmt: skip
        return {"article": f"Text {n}", "sentences": parts}

    table = read_here("\n".join(json.dumps(record(n)) for n in range(9)).encode(), "x.jsonl")
    guess = recognise(table)
    data = load(table, None, guess.spec, ())
    assert (asked(guess), data.summary.items, data.summary.annotations) == ({}, 18, 54)


@pytest.mark.parametrize("options", ["hate offensive neither", "label_hate label_offensive label_neither"])
def test_options_of_which_each_row_ticks_one_are_one_label(options: str) -> None:
    said, head = options.split(), f"text_id annotator {options}"
    chosen = some(said, 80)
    rows = [[f"t{n // 4}", f"r{n % 4}", *(int(one == own) for one in said)] for n, own in enumerate(chosen)]
    table = tabled(head, rows)
    assert [one.remark.code for one in table.problems] == [FileProblem.ONE_IS_TICKED]
    guess = recognise(table)
    assert (guess.spec.label, guess.uncertain) == ("label", ())
    assert set(load(table, None, guess.spec, ()).annotations.categories) == set(said)
    beside = recognise(tabled(f"{head} rating", [[*row, *some("12345")] for row in rows]))
    assert beside.spec.label == "rating"  # what was ticked is no label beside one
    rows[0][2:] = 1, 1, 0  # two of them: each is a question of its own
    assert "label" in asked(recognise(tabled(head, rows)))


def test_who_won_a_comparison_is_the_label_and_what_was_compared_belongs_to_the_item() -> None:
    pairs = ("ant", "bee"), ("ant", "cod"), ("bee", "cod")
    table = crossed(
        "question_id,model_a,model_b,winner,judge",
        lambda q, n: (f"q{q}", *pairs[n % 3], *some(("left", "right", "tie")), f"j{RNG.randrange(9)}"),
        *(30, 9),
    )
    guess = recognise(table)
    assert (asked(guess), guess.spec.label) == ({}, "winner")
    with pytest.raises(DataError, match=r"which differ in 'model_[ab]', 'model_[ab]'\. If these name what"):
        load(table, None, guess.spec, ())


def test_what_a_survey_embeds_after_the_last_question_is_known_of_its_respondents() -> None:
    own = ["StartDate", "Status", "Finished", "RecordedDate", "ResponseId"]
    head = [*own, "Trust_1", "Honest_1", "Open_1", "Impress", "condition"]
    texts = [*own, *(f"How{of}?" for of in ("Trusty", "Honest", "Open", "Impressive")), "condition"]
    ids = [f'{{"ImportId":"{name if name in (*own, "condition") else f"QID{name}"}"}}' for name in head]
    about = "2025-11-04", "IP Address", "True", "2025-11-04"
    rows = [
        [*about, f"R_{n}", *some("12345", 3), *some(("high", "low")), ("control", "treated")[n % 2]]
        for n in range(12)
    ]
    table = tabled(" ".join(head), [texts, ids, *rows])
    guess = guessed(table, label="*_1")
    assert "condition" in guess.spec.profile
    assert "condition" in guess.axes
    with pytest.raises(DataError, match="column 'Status' is put aside, so it cannot describe raters"):
        load(table, None, guess.spec, ("Status",))


# Layouts
def test_coders_who_have_not_begun_hide_no_others() -> None:
    head = "img_id asta bob cem dora"
    table = numbered(head, lambda n: (f"scan_{n}.png", *some("012"), "", "", *some("012")), 20)
    assert "layout" in asked(recognise(table))
    guess = guessed(table, layout="items-by-raters")
    assert load(table, None, guess.spec, ()).annotations.rater_ids == ("asta", "dora")


@pytest.mark.parametrize(
    ("head", "raters"),
    [
        ("Blair Hague Kennedy gender", ("Blair", "Hague", "Kennedy")),
        ("anna ben clara", ("anna", "ben", "clara")),
        ("id tweet anna ben clara final", ("anna", "ben", "clara")),
        ("label_A label_B label_final", ("label_A", "label_B")),
        ("id code_JM code_KL code_agreed", ("code_JM", "code_KL")),
        ("id label1 label2 label_resolved", ("label1", "label2")),
        ("fluency adequacy relevance", ("fluency", "adequacy", "relevance")),
    ],
)
def test_a_layout_is_asked_where_columns_of_any_names_hold_the_same_labels(head, raters) -> None:
    """Both answers load, and what was settled is nobody's."""

    def row(n: int) -> list[str]:
        sex = "male" if n else "female"
        filled = {"id": f"i{n}", "tweet": f"A tweet of many words, the one with number {n}", "gender": sex}
        return [filled.get(name, RNG.choice("12345")) for name in head.split()]

    table = numbered(head, row)
    (reason,) = recognise(table).uncertain
    assert reason.field == "layout"
    assert len(raters) == 2 or "criteria of one judgement" in question(reason)
    for layout in reason.candidates:
        guess = guessed(table, layout=layout)
        read = load(table, None, guess.spec, guess.axes).annotations
        assert raters == (read.rater_ids if layout == "items-by-raters" else read.item_ids)
        assert set(guess.axes) <= {"gender"}


@pytest.mark.parametrize(
    "head", ["subject rater1 rater2 rater3 Anna Ben", "participant coder_A coder_B teacher parent"]
)
def test_columns_of_the_same_labels_are_no_axes_in_either_layout(head: str) -> None:
    table = numbered(head, lambda n: (f"x{n}", *some("12345", head.count(" "))), 40)
    assert "layout" in asked(recognise(table))
    for layout in LAYOUTS:
        guess = guessed(table, layout=layout)
        assert (guess.axes, guess.uncertain) == ((), ())


TEXT = "A text of some words, {}"
TWO = "text @1_label @1_confidence @2_label @2_confidence"


@pytest.mark.parametrize(
    ("head", "key", "read"),
    [
        *(("text emotion# emotion# emotion#", TEXT, 0), ("text run# run# run#", TEXT, 0)),
        *(("text topic# topic# topic#", TEXT, 0), ("text A# A# A#", TEXT, 1)),
        *(("text expert# expert# expert#", TEXT, 1), ("patient_id model# model# model#", "p{}", 0)),
        *(("video_id frame# frame# frame#", "p{}", 0), ("gene sample# sample# sample#", "p{}", 0)),
        *(("id output# output# output#", "p{}", 0), ("id Q# Q# Q#", "p{}", 1)),
        *(("user_id frame# frame# frame#", "p{}", 1), (TWO.replace("@", "run"), TEXT, 0)),
        *((TWO.replace("@", "eye"), TEXT, 0), (TWO.replace("@", "annotator"), TEXT, 1)),
    ],
)  # fmt: skip
def test_numbered_columns_are_raters_and_rows_people_where_something_says_so(head, key, read) -> None:
    for at in "123":
        head = head.replace("#", at, 1)
    table = numbered(head, lambda n: (key.format(n), *some(("joy", "fear", "rage"), head.count(" "))))
    assert ("layout" not in asked(recognise(table))) is bool(read)


@pytest.mark.parametrize("head", ["id gender test1 test2 test3", "gender score1 score2 score3"])
def test_points_of_tests_are_no_ids_and_asked_about(head: str) -> None:
    points = [str(n) for n in range(300, 400)]

    def row(n: int) -> list[str]:
        return [{"id": f"s{n}", "gender": "MF"[n % 2]}.get(name, RNG.choice(points)) for name in head.split()]

    (reason,) = recognise(numbered(head, row, 40)).uncertain
    assert reason.field == "layout"
    assert "different numbers may be points of tests" in question(reason)


def test_numbers_that_tell_rows_apart_are_no_columns_of_a_matrix_unasked() -> None:
    rows = [[s, d, s % 4, *some("12345"), d % 9] for s in range(60) for d in range(s % 7, 90, 9)]
    RNG.shuffle(rows)
    table = tabled("# s d year y dept", ([n, *row] for n, row in enumerate(rows, 1)))
    assert asked(recognise(table))["layout"] == ("long", "items-by-raters")
    assert not asked(guessed(table, item="d", rater="s", label="y"))


@pytest.mark.parametrize("left", [False, True])
def test_labels_with_blanks_between_are_people_where_a_column_says_what_they_agree_on(left: bool) -> None:
    def row(n: int) -> list[str]:
        own = some(["hate", "hate", "none"] if n % 2 else ["none", "none", "hate"], 3)
        places = range(3) if left else sorted(RNG.sample(range(6), 3))
        cells = dict(zip(places, own, strict=True))
        return [str(n), *(cells.get(at, "") for at in range(6)), max(set(own), key=own.count)]

    head = " ".join(f"label_{at}" for at in range(1, 7))
    table = numbered(f"case_id {head} label_majority", row, 90)
    assert ("layout" in asked(recognise(table))) is left


# Questions
SURVEY = "StartDate Status Progress Finished RecordedDate ResponseId gender"


def answered(head: str, options: str = "1234567", cases: int = 40) -> Table:
    """A row per respondent; of names that say no question an answer from `options`."""
    known = {
        **{"StartDate": "2024-01-02 10:00", "RecordedDate": "2024-01-02 10:10", "Status": "IP Address"},
        **{"Progress": "100", "Finished": "True", "ResponseId": "R_{}", "participant": "p{}"},
    }

    def row(n: int) -> list[str]:
        own = known | {"gender": "MF"[n % 2]}
        return [own.get(name, RNG.choice(options)).format(n) for name in head.split()]

    return numbered(head, row, cases)


@pytest.mark.parametrize("before", [SURVEY, "participant gender"])
@pytest.mark.parametrize(
    ("columns", "patterns"),
    [
        ([f"legitimacy_{a}_{b}" for a in (1, 2) for b in range(1, 6)], ("legitimacy_1_*", "legitimacy_2_*")),
        ([f"Q{a}_{b}" for a in (3, 4) for b in range(1, 8 - a)], ("Q3_*", "Q4_*")),
        ([f"{a}_Q{b}" for a in range(1, 9) for b in (5, 6)], ("*_Q5", "*_Q6")),
    ],
)
def test_matrices_of_like_names_are_questions_apart(before: str, columns: list[str], patterns) -> None:
    table = answered(" ".join([before, *columns]))
    assert asked(recognise(table))["label"] == patterns
    guess = guessed(table, label=patterns[0], layout="raters-by-items")
    assert (guess.axes, guess.uncertain) == (("gender",), ())
    read = load(table, None, guess.spec, guess.axes).annotations
    assert read.item_ids == those_of(columns, patterns[0])


@pytest.mark.parametrize(
    ("head", "patterns"),
    [
        ("fluency_A adequacy_A exact_A fluency_B adequacy_B exact_B", "fluency_* adequacy_* exact_*"),
        ("fluency1 adequacy1 relevance1 fluency2 adequacy2 relevance2", "fluency* adequacy* relevance*"),
        ("anna_flow anna_adequacy ben_flow ben_adequacy eve_flow eve_adequacy", "*_flow *_adequacy"),
    ],
)
def test_criteria_of_each_coder_are_questions_and_no_more_raters(head: str, patterns: str) -> None:
    columns, named = head.split(), patterns.split()
    table = numbered(f"item {head}", lambda n: (f"i{n}", *some("12345", len(columns))))
    assert asked(recognise(table))["label"] == tuple(named)
    guess = guessed(table, label=named[0], layout="items-by-raters")
    assert load(table, None, guess.spec, ()).annotations.rater_ids == those_of(columns, named[0])


def test_responses_without_ids_are_asked_about_by_patterns_and_one_of_them_is_no_id() -> None:
    times = [str(n) for n in range(300, 400)]
    head = " ".join(f"{kind}_{n}" for kind in ("resp", "rt", "conf") for n in range(1, 9))

    def row(n: int) -> list[object]:
        answers, spans, sure = some("12345", 8), RNG.sample(times, 7), some("lh", 8)
        return ["2020-01-01", n % 4, *answers, 700 + n, *spans, *sure]

    found = asked(recognise(numbered(f"date block {head}", row, 30)))
    assert found["label"] == ("resp_*", "conf_*")
    assert "layout" in found
    assert "item" not in found


def test_a_row_per_respondent_with_several_questions_is_asked_about_by_patterns() -> None:
    others = ["egg hen", "tea rye", "sun rain", "inn bar", "cat dog"]
    scale = [f"How is? / {who}" for who in ("Ann", "Bo", "Cy")]
    head = ["RespondentID", *map("Which, {}?".format, others), *scale]
    rows = [
        [str(900 + n), *(RNG.choice(two.split()) for two in others), *some(("good", "so so", "bad"), 3)]
        for n in range(40)
    ]
    table = rows_table([head, *rows])
    guess = recognise(table)
    assert (guess.spec.layout, asked(guess).keys()) == ("raters-by-items", {"label"})
    for pattern in asked(guess)["label"]:
        assert len(load(table, None, guessed(table, label=pattern).spec, ()).annotations.item_ids) == 3


@pytest.mark.parametrize("settled", ["final", "majority", "gold", "agreed"])
def test_a_pattern_names_no_label_that_was_settled_and_other_coders_columns_are_no_axes(settled: str) -> None:
    head = f"id label_A label_B label_{settled} confidence_A confidence_B"
    table = numbered(head, lambda n: (f"i{n}", *some("yn", 3), *some("12345", 2)))
    assert asked(recognise(table))["label"] == ("label_*", "confidence_*")
    for layout in LAYOUTS:
        guess = guessed(table, layout=layout, label="label_*")
        assert (guess.uncertain, guess.axes) == ((), ())
        read = load(table, None, guess.spec, ()).annotations
        assert ("label_A", "label_B") in (read.rater_ids, read.item_ids)
        assert f"label_{settled}" in guess.spec.ignore


def test_a_category_asked_of_some_is_one_question_of_several() -> None:
    rows = [[f"p{n // 3}", f"w{n % 9}", *some("yn", 2), *some(("", "age", "race"))] for n in range(90)]
    table = tabled("post WorkerId rude lewd targetCategory", rows)
    assert asked(recognise(table)) == {"label": ("rude", "lewd", "targetCategory")}


# What is asked, and how
def test_numbered_reviews_may_be_other_peoples_in_each_row_and_thirds_are_means() -> None:
    head = "paper_id 0 1 2 3 decision"
    reviews = numbered(head, lambda n: (f"p{n}q", *some("3456789", 3), "", "yn"[n % 2]), 40)
    (reason,) = recognise(reviews).uncertain
    assert "if '0' to '2' are the same people in all rows" in question(reason)
    shares = ("1.0", "1.0", "1.0", "0.6666666666666666", "0.5", "0.0")
    head = " ".join(f"Error{letter}" for letter in "abcdefghi")
    means = numbered(f"hash model_name {head}", lambda n: (f"h{n // 3}", "xyz"[n % 3], *some(shares, 9)))
    (reason,) = recognise(means).uncertain
    assert reason.candidates == ()
    assert "numbers with decimals, as means are" in question(reason)


def test_a_column_of_criteria_is_known_with_an_id_behind_its_name() -> None:
    criteria = ("Bias", "Tone", "Lede")
    table = crossed(
        "art_id,ann,criteriaID,annotation",
        lambda n, at: (f"a{n}", f"Ann. {at // 3 + 1}", criteria[at % 3], *some("1234")),
        *(12, 6),
    )
    (reason,) = recognise(table).uncertain
    assert reason.field == "label"
    assert "'criteriaID' names what each row answers ('Bias', 'Lede', 'Tone')" in question(reason)


@pytest.mark.parametrize("box", ["not_applicable", "N/A"])
def test_a_ticked_box_of_no_answer_is_asked_about(box: str) -> None:
    def row(n: int) -> tuple[object, ...]:
        return (f"t{n // 4}", f"r{n % 4}", *some("12345"), int(n % 9 == 0))

    reasons = recognise(numbered(f"item rater score {box}", row, 80)).reasons
    (doubt,) = [one for one in reasons if one.field == "filters"]
    assert doubt.confidence == "unsure"
    assert doubt.sentence.startswith(f"'{box}' = '1' in 9 rows of 80")


def test_a_column_of_lists_of_raters_is_told_as_such() -> None:
    rows = [[str(n), *some("ab"), *some("cd"), str(RNG.sample("wxyz", 3))] for n in range(80)]
    (reason,) = recognise(tabled("number kind area annotators", rows)).uncertain
    assert "'annotators' holds lists, several raters in a row" in reason.sentence


def test_each_of_two_ids_without_names_may_be_either() -> None:
    rows = [[f"s{n % 20}", f"u{n // 20}", f"{RNG.randrange(90)}", f"{n % 17}"] for n in range(120)]
    found = asked(recognise(rows_table([[f"column {at}" for at in range(1, 5)], *rows])))
    assert {"column 1", "column 2"} <= set(found["item"]) & set(found["rater"])


def test_neither_one_of_several_criteria_nor_a_rating_is_offered_as_the_item() -> None:
    head = "essay_id rater organization grammar content style"
    for table in (
        numbered(head, lambda n: (f"e{n}", f"R{n % 2}", *some("123456", 4))),
        numbered("userId movieId rating", lambda n: (n % 40, n, *some("12345")), 120),
    ):
        (reason, *_) = recognise(table).uncertain
        assert (reason.field, reason.candidates) == ("item", ())
        assert question(reason).startswith("no column looks like items: hardly any value has several raters")


@pytest.mark.parametrize("tells", [True, False])
def test_first_answers_are_not_proposed_where_most_rows_would_be_left_out(tells: bool) -> None:
    """Each row is a case of its own; `tells`: whether other columns differ between those of one kind."""

    def row(n: int) -> list[str]:
        more = [*some("xyz"), *some("ef")] if tells else []
        return [f"n{n % 3}", f"j{n % 5}", *some("yn"), *more]

    table = numbered(f"nation judge decision{' town language' * tells}", row, 90)
    guess = guessed(table, item="nation", rater="judge", label="decision")
    with pytest.raises(DataError, match="raters have several rows for most items") as refused:
        load(table, None, guess.spec, ())
    said = str(refused.value)
    assert "--repeated" not in said
    assert ("which differ in 'town', 'language'" if tells else "nothing names what was judged") in said


def test_columns_that_tell_rows_apart_with_an_id_are_offered_with_it() -> None:
    pairs = ("ant", "bee"), ("ant", "cod"), ("bee", "cod")
    table = crossed(
        "question_id,left,right,turn,winner1,winner2,winner3",
        lambda q, at: (q, *pairs[at // 2], at % 2, *some(("m1", "m2", "tie"), 3)),
        *(12, 6),
    )
    whole = "question_id+left+right+turn"
    assert asked(guessed(table, layout="items-by-raters"))["item"] == (whole, "question_id")
    guess = guessed(table, layout="items-by-raters", item=whole)
    assert len(load(table, None, guess.spec, ()).annotations.item_ids) == 72


@pytest.mark.parametrize(
    ("head", "row", "why"),
    [
        (
            "model dataset accuracy f1",
            lambda n: ("abcd"[n // 4], "stuv"[n % 4], f"0.{61 + n}", f"0.{55 + n * n % 40}"),
            "'accuracy' is named like what is worked out",
        ),
        (
            "id count hate offensive neither class tweet",
            lambda n: (n, 3 + n % 2, n % 3, 3 - n % 3, n % 2, n % 3, f"Words of the tweet number {n}"),
            "'count' is the sum of 'hate', 'offensive', 'neither'",
        ),
        (
            "county party candidate votes",
            lambda n: (f"c{n // 4}", "lr"[n % 2], f"x{n % 4}", 100 + n * n),
            "'votes' counts how often",
        ),
        (
            "Word V.Mean.Sum V.SD.Sum A.Mean.Sum A.SD.Sum",
            lambda n: (f"w{n}", f"{n % 7}.{n % 9}", f"1.{n}", f"{n % 8}.{n % 7}", f"1.{n % 50}"),
            "'V.Mean.Sum' is named like what was counted or worked out",
        ),
        (
            "filename appeal sweetness saltiness",
            lambda n: (f"f{n}.png", *(f"{n % k}.{n % (k - 7) + 13}" for k in (90, 70, 60))),
            "of the cells are numbers with decimals, as means are",
        ),
    ],
)
def test_where_nobody_rates_the_refusal_says_what_the_file_is(head: str, row, why: str) -> None:
    try:
        told = [question(reason) for reason in recognise(numbered(head, row, 16)).uncertain]
    except DataError as error:
        told = [str(error)]
    assert len(told) == 1
    assert why in told[0]


# By the command
@pytest.mark.parametrize(
    ("column", "said"), [("town", "no group there has 2 raters or more"), ("remark", "")]
)
def test_an_axis_that_nobody_named_and_that_makes_no_group_stops_no_run(command, column, said) -> None:
    known = {"w1": "here", "w2": "there", "w3": ""}
    rows = [[f"h{n}", worker, *some("ab"), text] for n in range(4) for worker, text in known.items()]
    code, out, err = command(f"run x.csv {FEW}", x=[["hit", "worker", "label", column], *rows])
    assert code == 0
    assert "Your 3 raters" in out
    assert said in err
    assert command(f"run x.csv {FEW} --axis {column}")[0] == 2


INTEREST = [["turn", "rater", "interest"]]
INTEREST += [[f"t{n}", f"p{r}", str((n * r + r) % 3)] for n in range(6) for r in range(6)]


def test_a_raters_file_in_which_a_rater_stands_twice_is_joined(command) -> None:
    people = [[f"p{r}", "MF"[r % 2], f"{31 + r}"] for r in range(6)]
    files = {"x": INTEREST, "y": [["Participant id", "Sex", "Age"], *people, ["p1", "F", "26"]]}
    assert command(f"run x.csv y.csv {FEW} --out x.json", **files)[0] == 0
    assert json.loads(Path("x.json").read_text())["spec"]["analysis"]["axes"] == [["Sex"]]
    code, _, err = command(f"run x.csv y.csv {FEW} --axis Age")
    assert code == 2
    assert "column 'Age': rater 'p1' has '32' and '26'; give each rater one value" in err


def test_raters_who_stand_in_a_row_for_each_wave_are_known_and_told_by_their_rows(command) -> None:
    people = [[f"p{r}", "MF"[r % 2], wave, f"{r % 2 + int(wave)}"] for r in range(6) for wave in "12"]
    files = {"x": INTEREST, "y": [["rater", "gender", "wave", "mood"], *people]}
    assert command(f"run x.csv y.csv {FEW} --axis gender", **files)[0] == 0
    code, _, err = command(f"run x.csv y.csv {FEW} --axis mood")
    assert code == 2
    assert "rows 2 and 3, column 'mood': rater 'p0' has '1' and '2'" in err


def test_files_of_which_none_joins_are_told_how_to_say_what_each_holds(command) -> None:
    rows = [[f"c{n}", f"p{p}", *some("1234567")] for n in range(12) for p in range(5)]
    people = [["who", "colour"], ["Ann", "red"], ["Bob", "blue"]]
    code, _, said = command(
        "run x.csv 'y z.csv'", x=[["Taster", "Product", "rating"], *rows], **{"y z": people}
    )
    assert code == 2
    begins = "nothing in it joins to x.csv, where raters are called as 'c0' and items as 'p0'; it begins with"
    assert f"y z.csv: {begins} 'Ann'; " in said
    assert said.endswith("such as --annotations x.csv --raters 'y z.csv'\n")


@pytest.mark.parametrize(
    ("called", "difference"),
    [
        ("{}", "all would match but for what stands before their numbers, as 'p0' there and '0' in column"),
        ("P{}", "all would match but for upper and lower case, as 'p0' there and 'P0' in column"),
        ("p{}@example.org", "all would match but for what follows the @, as 'p0' there and 'p0@example.org'"),
        ("Anna {}x", "use the same rater ids in both files\n"),
    ],
)
def test_ids_that_no_file_shares_are_the_one_cause_that_is_told(
    command, called: str, difference: str
) -> None:
    ids = [called.format(r) for r in range(6)]
    people = [["rater", "gender", "age"], *([one, "MF"[n % 2], f"{31 + n}"] for n, one in enumerate(ids))]
    code, _, said = command("run x.csv y.csv", x=INTEREST, y=people)
    refusal = said[said.index("grasp: ") :]
    assert code == 2
    assert (
        "none of the raters of x.csv ('p0', 'p1', 'p2' and 3 more) is in column 'rater' of y.csv " in refusal
    )
    assert f"which holds {ids[0]!r} for one" in refusal
    assert difference in refusal
    assert "no column is taken" not in said
    frames = (pd.DataFrame(rows[1:], columns=rows[0]) for rows in (INTEREST, people))
    with pytest.raises(DataError) as caught:
        analyse(*frames)
    assert f"grasp: {caught.value}\n" == refusal.replace("x.csv", "annotations").replace("y.csv", "raters")


@pytest.mark.parametrize(("value", "joins"), [("1{:04}", "--bins zip:"), ("N{}", "--map;")])
def test_an_axis_with_a_value_for_each_rater_is_told_to_be_like_ids(command, value: str, joins: str) -> None:
    people = [["rater", "gender", "zip"], *([f"p{r}", "MF"[r % 2], value.format(7 * r)] for r in range(6))]
    code, _, said = command(f"run x.csv y.csv {FEW} --axis zip", x=INTEREST, y=people)
    assert code == 2
    assert "no group has 2 raters or more: 'zip' has 6 values for 6 raters, as a column of ids has; " in said
    assert f"join values by {joins}" in said
    assert said.endswith("or choose other axes by --axis\n")


def test_of_an_axis_of_many_groups_the_first_few_are_printed(command) -> None:
    rows = [["turn", "rater", "interest"]]
    rows += [[f"t{n}", f"p{r}", "NY"[(n * r + r // 5) % 3 % 2]] for n in range(8) for r in range(120)]
    people = [["rater", "gender", "team"], *([f"p{r}", "MF"[r // 60], f"T{r % 60:02}"] for r in range(120))]
    asks = f"run x.csv y.csv {FEW} --axis team --axis gender"
    code, told, _ = command(asks, x=rows, y=people)
    assert code == 0
    assert "gender" in told
    assert "T09" in told
    assert "T10" not in told[told.index("All 120 raters together") :]
    assert "... and 50 more: -o report.html has all" in told
    assert len(told.splitlines()) < 120


def test_labels_that_are_one_number_are_named_at_once_with_what_merges_them(command) -> None:
    said_by = ["0", "-0", "00", "1", "-1", "2", "3", "4"]
    rows = [["question", "worker", "answer"]]
    rows += [[f"q{n}", f"w{r}", said_by[(n * r + n) % 8]] for n in range(16) for r in range(6)]
    same = "'0', '-0' and '00' are one number: recode them as one, by --map :-0=0 --map :00=0"
    for level in ("interval", "ordinal"):
        code, _, said = command(f"run x.csv {FEW} --level {level}", x=rows)
        assert code == 2
        assert same in said
        merged = "--map :-0=0 --map :00=0"
        assert command(f"run x.csv {FEW} --level {level} {merged}")[0] == 0
    code, _, said = command(f"run x.csv {FEW}")
    assert f"note: {same}; until then they count as different labels" in said
    assert "labels are the numbers -1 to 4" in command(f"run x.csv {FEW} {merged}")[2]
    words = [[*row[:2], {"1": "five", "2": "a dozen"}.get(row[2], row[2])] for row in rows]
    _, _, said = command(f"run y.csv {FEW} --level interval", y=words)
    assert "and 'a dozen', 'five' are none" in said


def test_a_column_of_texts_in_a_matrix_has_the_items_texts_and_no_cells(command) -> None:
    people = [f"rater_{r}" for r in range(1, 7)]
    rows = [["comment_id", "text", "source", *people]]
    rows += [[f"k{n:03}", f"comment number {n}", "web", *some(("good", "bad"), 6)] for n in range(30)]
    code, told, said = command(f"run x.csv {FEW} --out x.json", x=rows)
    assert code == 0
    assert "180 annotations of 30 items by 6 raters" in told
    assert "text: 'text': texts, one per item (likely)" in said
    assert "210 cells read: 180 annotations, 30 left out (30 column 'source' put aside)" in said
    assert json.loads(Path("x.json").read_text())["spec"]["data"]["text"] == "text"
    told, said = command(f"run x.csv {FEW} --text source")[1:]  # the other column is no rater
    assert "180 annotations of 30 items by 6 raters" in told
    assert "(30 column 'text' put aside)" in said


def test_columns_beyond_the_axes_that_are_proposed_are_named(command) -> None:
    asks = [f"poll{n}" for n in range(1, 23)]
    people = [[f"p{r}", *("01"[(r + n) % 2] for n in range(len(asks)))] for r in range(6)]
    code, _, said = command(f"run x.csv y.csv {FEW}", x=INTEREST, y=[["rater", *asks], *people])
    assert code == 0
    assert "axes 'poll1', 'poll2', 'poll3', 'poll4', 'poll5', 'poll6'\n" in said
    assert "note: axes: further columns can be axes: 'poll7', 'poll8', " in said
    assert "'poll18' and 4 more; choose them by --axis\n" in said
    assert "further columns" not in command(f"run x.csv y.csv {FEW} --axis poll1")[2]
