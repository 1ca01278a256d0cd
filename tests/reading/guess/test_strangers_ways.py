"""What real files of strangers have: each in the shape that was met, small."""

import json
import random
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import question, recognise
from tests.reading.made_up import asked
from tests.reading.making import csv_bytes, read_here, rows_table

RNG = random.Random(5)
TASTERS = [f"c{n}" for n in range(12)]


def tastings(*more: str) -> list[list[str]]:
    """A row per taster and product, with a label from 1 to 7; one of them is NA."""
    rows = [[taster, f"p{p}", RNG.choice("1234567"), *more] for taster in TASTERS for p in range(5)]
    rows[3][2] = "NA"
    return rows


def test_coders_who_have_not_begun_hide_no_others() -> None:
    rows = [[f"scan_{n}.png", RNG.choice("012"), "", "", RNG.choice("012")] for n in range(20)]
    table = rows_table([["img_id", "asta", "bob", "cem", "dora"], *rows])
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="items-by-raters"))
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
    filled = {"id": "i{}", "tweet": "A tweet of many words, the one with number {}", "gender": "male"}
    rows = [[filled.get(name, RNG.choice("12345")).format(n) for name in head.split()] for n in range(60)]
    rows[0] = [one.replace("male", "female") for one in rows[0]]
    table = rows_table([head.split(), *rows])
    (reason,) = recognise(table).uncertain
    assert reason.field == "layout"
    assert len(raters) == 2 or "criteria of one judgement" in question(reason)
    for layout in reason.candidates:
        guess = recognise(table, named=Named(layout=layout))
        read = load(table, None, guess.spec, guess.axes).annotations
        assert raters == (read.rater_ids if layout == "items-by-raters" else read.item_ids)
        assert set(guess.axes) <= {"gender"}


@pytest.mark.parametrize(
    ("column", "said"), [("town", "no group there has 2 raters or more"), ("remark", "")]
)
def test_an_axis_that_nobody_named_and_that_makes_no_group_stops_no_run(
    tmp_path: Path, monkeypatch, capsys, column: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    known = {"w1": "here", "w2": "there", "w3": ""}
    rows = [[f"h{n}", worker, RNG.choice("ab"), text] for n in range(4) for worker, text in known.items()]
    (tmp_path / "x.csv").write_bytes(csv_bytes([["hit", "worker", "label", column], *rows]))
    assert cli.main(["run", "x.csv", "--permutations", "50"]) == 0
    told = capsys.readouterr()
    assert "Your 3 raters" in told.out
    assert said in told.err
    assert cli.main(["run", "x.csv", "--permutations", "50", "--axis", column]) == 2


def test_a_raters_file_in_which_a_rater_stands_twice_is_joined(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[f"t{n}", f"p{r}", RNG.choice("123")] for n in range(6) for r in range(4)]
    (tmp_path / "x.csv").write_bytes(csv_bytes([["turn", "participant_id", "interest"], *rows]))
    people = [[f"p{r}", "MF"[r % 2], f"{31 + r}"] for r in (0, 1, 2, 3)]
    people.append(["p1", "F", "26"])
    (tmp_path / "y.csv").write_bytes(csv_bytes([["Participant id", "Sex", "Age"], *people]))
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--out", "x.json"]) == 0
    assert json.loads((tmp_path / "x.json").read_text())["spec"]["analysis"]["axes"] == [["Sex"]]
    capsys.readouterr()
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--axis", "Age"]) == 2
    assert "column 'Age': rater 'p1' has '32' and '26'; give each rater one value" in capsys.readouterr().err


def test_raters_who_stand_in_a_row_for_each_wave_are_known_and_told_by_their_rows(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[f"t{n}", f"p{r}", RNG.choice("123")] for n in range(6) for r in range(6)]
    (tmp_path / "x.csv").write_bytes(csv_bytes([["turn", "rater", "interest"], *rows]))
    people = [[f"p{r}", "MF"[r % 2], wave, f"{r % 2 + int(wave)}"] for r in range(6) for wave in "12"]
    (tmp_path / "y.csv").write_bytes(csv_bytes([["rater", "gender", "wave", "mood"], *people]))
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--axis", "gender"]) == 0
    capsys.readouterr()
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--axis", "mood"]) == 2
    assert "rows 2 and 3, column 'mood': rater 'p0' has '1' and '2'" in capsys.readouterr().err


def test_files_of_which_none_joins_are_told_how_to_say_what_each_holds(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(csv_bytes([["Taster", "Product", "rating"], *tastings()]))
    (tmp_path / "y z.csv").write_bytes(csv_bytes([["who", "sex"], ["Ann", "F"], ["Bob", "M"]]))
    assert cli.main(["run", "x.csv", "y z.csv"]) == 2
    said = capsys.readouterr().err
    assert "y z.csv: nothing in it joins to x.csv; " in said
    assert said.endswith("such as --annotations x.csv --raters 'y z.csv'\n")


@pytest.mark.parametrize("tells", [True, False])
def test_first_answers_are_not_proposed_where_most_rows_would_be_left_out(tells: bool) -> None:
    """Each row is a case of its own; `tells`: whether other columns differ between those of one kind."""
    more = [["town", "language"], *([RNG.choice("xyz"), RNG.choice("ef")] for _ in range(90))]
    cases = [
        ["nation", "judge", "decision"],
        *([f"n{n % 3}", f"j{n % 5}", RNG.choice("yn")] for n in range(90)),
    ]
    table = rows_table(
        [[*case, *beside] if tells else case for case, beside in zip(cases, more, strict=True)]
    )
    guess = recognise(table, named=Named(item="nation", rater="judge", label="decision"))
    with pytest.raises(DataError, match="raters have several rows for most items") as refused:
        load(table, None, guess.spec, ())
    said = str(refused.value)
    assert "--repeated" not in said
    assert ("which differ in 'town', 'language'" if tells else "nothing names what was judged") in said


def test_an_id_of_the_rows_by_any_name_tells_the_items_apart() -> None:
    asked_of_each = [f"{what}_coder{n}" for n in (1, 2) for what in ("role", "tone", "frame")]
    rows = [[f"14822{n}::PA{n}", *(RNG.choice("abc") for _ in asked_of_each)] for n in range(20)]
    guess = recognise(read_here(csv_bytes([["pair_id", *asked_of_each], *rows]), "pairs.csv"))
    assert guess.spec.item == "pair_id"
    assert not any("no column tells the items apart" in one.sentence for one in guess.reasons)


def test_times_of_reaction_are_no_labels() -> None:
    head = ["id", "item", "rt", "log_rt", "correct"]
    rows = [
        [f"N{r}", f"word{n}", f"{RNG.random():.4f}", f"{-RNG.random():.4f}", RNG.choice(("TRUE", "FALSE"))]
        for n in range(20)
        for r in range(12)
    ]
    guess = recognise(rows_table([head, *rows]), named=Named(item="item", rater="id"))
    assert guess.spec.label == "correct"
    assert "label" not in asked(guess)


def test_what_a_survey_embeds_after_the_last_question_is_known_of_its_respondents() -> None:
    own = ["StartDate", "Status", "Finished", "RecordedDate", "ResponseId"]
    asked_of = ["Trust_1", "Honest_1", "Open_1"]
    head = [*own, *asked_of, "Impress", "condition"]
    texts = [*own, "How trusty?", "How honest?", "How open?", "How impressive?", "condition"]
    ids = [f'{{"ImportId":"{name if name in (*own, "condition") else f"QID{name}"}"}}' for name in head]
    rows = [
        [
            *("2025-11-04", "IP Address", "True", "2025-11-04", f"R_{n}"),
            *(RNG.choice("12345") for _ in asked_of),
            *(RNG.choice(("high", "low")), ("control", "treated")[n % 2]),
        ]
        for n in range(12)
    ]
    table = read_here(csv_bytes([head, texts, ids, *rows]), "survey.csv")
    guess = recognise(table, named=Named(label="*_1"))
    assert "condition" in guess.spec.profile
    assert "condition" in guess.axes
    with pytest.raises(DataError, match="column 'Status' is put aside, so it cannot describe raters"):
        load(table, None, guess.spec, ("Status",))


@pytest.mark.parametrize(
    "head", ["subject rater1 rater2 rater3 Anna Ben", "participant coder_A coder_B teacher parent"]
)
def test_columns_of_the_same_labels_are_no_axes_in_either_layout(head: str) -> None:
    rows = [[f"x{n}", *RNG.choices("12345", k=head.count(" "))] for n in range(40)]
    table = rows_table([head.split(), *rows])
    assert "layout" in asked(recognise(table))
    for layout in ("items-by-raters", "raters-by-items"):
        guess = recognise(table, named=Named(layout=layout))
        assert (guess.axes, guess.uncertain) == ((), ())


def test_neither_one_of_several_criteria_nor_a_rating_is_offered_as_the_item() -> None:
    essays = [[f"e{n}", f"R{n % 2}", *RNG.choices("123456", k=4)] for n in range(60)]
    head = ["essay_id", "rater", "organization", "grammar", "content", "style"]
    films = [[f"{n % 40}", f"{n}", RNG.choice("12345")] for n in range(120)]
    for table in (rows_table([head, *essays]), rows_table([["userId", "movieId", "rating"], *films])):
        (reason, *_) = recognise(table).uncertain
        assert (reason.field, reason.candidates) == ("item", ())
        assert question(reason).startswith("no column looks like items: hardly any value has several raters")


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
            lambda n: (
                f"f{n}.png",
                f"{n % 90}.{n % 83 + 13}",
                f"{n % 70}.{n % 71 + 13}",
                f"{n % 60}.{n % 59 + 13}",
            ),
            "of the cells are numbers with decimals, as means are",
        ),
    ],
)
def test_where_nobody_rates_the_refusal_says_what_the_file_is(head: str, row, why: str) -> None:
    table = rows_table([head.split(), *([str(one) for one in row(n)] for n in range(16))])
    try:
        told = [question(reason) for reason in recognise(table).uncertain]
    except DataError as error:
        told = [str(error)]
    assert len(told) == 1
    assert why in told[0]


SURVEY = "StartDate Status Progress Finished RecordedDate ResponseId gender"


def answered(head: str, options: str = "1234567", cases: int = 40) -> list[list[str]]:
    """The names, and a row per respondent; of names that say no question an answer from `options`."""
    known = {
        **{"StartDate": "2024-01-02 10:00", "RecordedDate": "2024-01-02 10:10", "Status": "IP Address"},
        **{"Progress": "100", "Finished": "True", "ResponseId": "R_{}", "participant": "p{}"},
    }
    rows = [[known.get(name, RNG.choice(options)).format(n) for name in head.split()] for n in range(cases)]
    places = [place for place, name in enumerate(head.split()) if name == "gender"]
    for n, row in enumerate(rows):
        for place in places:
            row[place] = "MF"[n % 2]
    return [head.split(), *rows]


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
    table = rows_table(answered(" ".join([before, *columns])))
    assert asked(recognise(table))["label"] == patterns
    one = Named(label=patterns[0], layout="raters-by-items")
    guess = recognise(table, named=one)
    assert (guess.axes, guess.uncertain) == (("gender",), ())
    start, end = patterns[0].split("*")
    mine = tuple(name for name in columns if name.startswith(start) and name.endswith(end))
    assert load(table, None, guess.spec, guess.axes).annotations.item_ids == mine


def test_responses_without_ids_are_asked_about_by_patterns_and_one_of_them_is_no_id() -> None:
    head = ["date", "block", *(f"{kind}_{n}" for kind in ("resp", "rt", "conf") for n in range(1, 9))]
    rows = [
        ["2020-01-01", f"{n % 4}", *RNG.choices("12345", k=8), *RNG.sample(TIMES, 8), *RNG.choices("lh", k=8)]
        for n in range(30)
    ]
    rows = [[*row[:10], f"{700 + n}", *row[11:]] for n, row in enumerate(rows)]
    table = rows_table([head, *rows])
    found = asked(recognise(table))
    assert found["label"] == ("resp_*", "conf_*")
    assert "layout" in found
    assert "item" not in found


TIMES = [str(n) for n in range(300, 400)]


@pytest.mark.parametrize("head", ["id gender test1 test2 test3", "gender score1 score2 score3"])
def test_points_of_tests_are_no_ids_and_asked_about(head: str) -> None:
    rows = answered(head)
    rows[1:] = [
        [f"s{n}" if name == "id" else row[place] if name == "gender" else RNG.choice(TIMES) for place, name in
         enumerate(head.split())] for n, row in enumerate(rows[1:])
    ]  # fmt: skip
    guess = recognise(rows_table(rows))
    (reason,) = guess.uncertain
    assert reason.field == "layout"
    assert "different numbers may be points of tests" in question(reason)


def test_all_of_many_answers_to_a_batch_are_named_in_the_question() -> None:
    answers = [f"Answer.{a}{b}" for a in "kindest" for b in ("ness", "_of_all", "less", "er")]
    head = ["HITId", "WorkerId", "AssignmentId", "AssignmentStatus", *answers]
    rows = [
        [f"H{n % 8}", f"W{n // 8}", f"A{n}", "Approved", *RNG.choices("yn", k=len(answers))]
        for n in range(40)
    ]
    (reason,) = recognise(rows_table([head, *rows])).uncertain
    assert [name for name in answers if f"'{name}'" not in question(reason)] == []


@pytest.mark.parametrize(
    ("head", "patterns"),
    [
        (
            "fluency_A adequacy_A accuracy_A fluency_B adequacy_B accuracy_B",
            ("fluency_*", "adequacy_*", "accuracy_*"),
        ),
        (
            "fluency1 adequacy1 relevance1 fluency2 adequacy2 relevance2",
            ("fluency*", "adequacy*", "relevance*"),
        ),
        (
            "anna_fluency anna_adequacy ben_fluency ben_adequacy eve_fluency eve_adequacy",
            ("*_fluency", "*_adequacy"),
        ),
    ],
)
def test_criteria_of_each_coder_are_questions_and_no_more_raters(head: str, patterns) -> None:
    columns = head.split()
    table = rows_table(
        [["item", *columns], *([f"i{n}", *RNG.choices("12345", k=len(columns))] for n in range(60))]
    )
    found = asked(recognise(table))
    assert found["label"] == patterns
    guess = recognise(table, named=Named(label=patterns[0], layout="items-by-raters"))
    start, end = patterns[0].split("*")
    mine = tuple(name for name in columns if name.startswith(start) and name.endswith(end))
    assert load(table, None, guess.spec, ()).annotations.rater_ids == mine


def test_numbered_reviews_may_be_other_peoples_in_each_row_and_thirds_are_means() -> None:
    rows = [[f"p{n}q", *RNG.choices("3456789", k=3), "", "yn"[n % 2]] for n in range(40)]
    (reason,) = recognise(rows_table([["paper_id", "0", "1", "2", "3", "decision"], *rows])).uncertain
    assert "if '0' to '2' are the same people in all rows" in question(reason)
    shares = ["1.0", "1.0", "1.0", "0.6666666666666666", "0.5", "0.0"]
    rows = [[f"h{n // 3}", "xyz"[n % 3], *RNG.choices(shares, k=9)] for n in range(60)]
    head = ["hash", "model_name", *(f"Error{letter}" for letter in "abcdefghi")]
    (reason,) = recognise(rows_table([head, *rows])).uncertain
    assert reason.candidates == ()
    assert "numbers with decimals, as means are" in question(reason)


def test_a_column_of_criteria_is_known_with_an_id_behind_its_name() -> None:
    rows = [
        [f"a{n}", f"Ann. {r}", c, RNG.choice("1234")]
        for n in range(12)
        for r in (1, 2)
        for c in ("Bias", "Tone", "Lede")
    ]
    (reason,) = recognise(rows_table([["art_id", "ann", "criteriaID", "annotation"], *rows])).uncertain
    assert reason.field == "label"
    assert "'criteriaID' names what each row answers ('Bias', 'Lede', 'Tone')" in question(reason)


@pytest.mark.parametrize("settled", ["final", "majority", "gold", "agreed"])
def test_a_pattern_names_no_label_that_was_settled_and_other_coders_columns_are_no_axes(settled: str) -> None:
    head = [f"{kind}_{one}" for kind in ("label", "confidence") for one in ("A", "B", settled)][:-1]
    rows = [[f"i{n}", *RNG.choices("yn", k=3), *RNG.choices("12345", k=2)] for n in range(60)]
    table = rows_table([["id", *head], *rows])
    assert asked(recognise(table))["label"] == ("label_*", "confidence_*")
    for layout in ("items-by-raters", "raters-by-items"):
        guess = recognise(table, named=Named(layout=layout, label="label_*"))
        assert (guess.uncertain, guess.axes) == ((), ())
        read = load(table, None, guess.spec, ()).annotations
        assert ("label_A", "label_B") in (read.rater_ids, read.item_ids)
        assert f"label_{settled}" in guess.spec.ignore


@pytest.mark.parametrize("options", ["hate offensive neither", "label_hate label_offensive label_neither"])
def test_options_of_which_each_row_ticks_one_are_one_label(options: str) -> None:
    said = options.split()
    chosen = [RNG.choice(said) for _ in range(80)]
    rows = [
        [f"t{n // 4}", f"r{n % 4}", *(str(int(one == own)) for one in said)] for n, own in enumerate(chosen)
    ]
    table = read_here(csv_bytes([["text_id", "annotator", *said], *rows]), "options.csv")
    assert [one.remark.code for one in table.problems] == [FileProblem.ONE_IS_TICKED]
    guess = recognise(table)
    assert (guess.spec.label, guess.uncertain) == ("label", ())
    read = load(table, None, guess.spec, ()).annotations
    assert set(read.categories) == set(said)
    rated = [[*row, RNG.choice("12345")] for row in rows]  # what was ticked is no label beside one
    beside = recognise(read_here(csv_bytes([["text_id", "annotator", *said, "rating"], *rated]), "r.csv"))
    assert beside.spec.label == "rating"
    rows[0][2:] = "1", "1", "0"  # two of them: each is a question of its own
    assert "label" in asked(
        recognise(read_here(csv_bytes([["text_id", "annotator", *said], *rows]), "o.csv"))
    )


@pytest.mark.parametrize("box", ["not_applicable", "N/A"])
def test_a_ticked_box_of_no_answer_is_asked_about(box: str) -> None:
    rows = [[f"t{n // 4}", f"r{n % 4}", RNG.choice("12345"), str(int(n % 9 == 0))] for n in range(80)]
    reasons = recognise(rows_table([["item", "rater", "score", box], *rows])).reasons
    (doubt,) = [one for one in reasons if one.field == "filters"]
    assert doubt.confidence == "unsure"
    assert doubt.sentence.startswith(f"'{box}' = '1' in 9 rows of 80")


@pytest.mark.parametrize(
    ("item", "rater"), [("tweetid", "workerid"), ("imgid", "userid"), ("item", "Kodierer")]
)
def test_ids_in_one_word_are_ids(item: str, rater: str) -> None:
    rows = [[str(40 + n // 4), str(n % 4), RNG.choice("abc")] for n in range(60)]
    guess = recognise(rows_table([[item, rater, "label"], *rows]))
    assert (asked(guess), guess.spec.item, guess.spec.rater) == ({}, item, rater)


def test_who_won_a_comparison_is_the_label_and_what_was_compared_belongs_to_the_item() -> None:
    pairs = [("ant", "bee"), ("ant", "cod"), ("bee", "cod")]
    rows = [
        [f"q{q}", *pair, RNG.choice(["left", "right", "tie"]), f"j{RNG.randrange(9)}"]
        for q in range(30)
        for pair in pairs
        for _ in range(3)
    ]
    table = rows_table([["question_id", "model_a", "model_b", "winner", "judge"], *rows])
    guess = recognise(table)
    assert (asked(guess), guess.spec.label) == ({}, "winner")
    with pytest.raises(DataError, match=r"which differ in 'model_[ab]', 'model_[ab]'\. If these name what"):
        load(table, None, guess.spec, ())


def test_a_category_asked_of_some_is_one_question_of_several() -> None:
    rows = [
        [f"p{n // 3}", f"w{n % 9}", *RNG.choices("yn", k=2), RNG.choice(["", "age", "race"])]
        for n in range(90)
    ]
    table = rows_table([["post", "WorkerId", "rude", "lewd", "targetCategory"], *rows])
    assert asked(recognise(table)) == {"label": ("rude", "lewd", "targetCategory")}


def test_what_is_known_of_annotators_is_none_where_a_column_names_them() -> None:
    known = {n: (f"{n / 8:.2f}", f"{n / 16:.2f}") for n in range(1, 9)}
    rows = [
        [f"c{n}", str(who), RNG.choice("01234"), "0.5", "0.7", *known[who]]
        for n in range(30)
        for who in known
    ]
    head = ["comment_id", "annotator_id", "hate", "infit", "outfit", "annotator_infit", "annotator_outfit"]
    guess = recognise(read_here(csv_bytes([head, *rows]), "x.csv"))
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("comment_id", "annotator_id", "hate")


@pytest.mark.parametrize("key", ["workerid", "participant_number"])
def test_slots_of_a_row_per_rater_hold_items(key: str) -> None:
    videos = ["egg", "vase", "duck", "ice"]
    shown = [RNG.sample(videos, 4) for _ in range(20)]
    rows = [
        [str(70 + n), *(cell for one in own for cell in (one, RNG.choice("lr")))]
        for n, own in enumerate(shown)
    ]
    head = [key, *(name for at in "1234" for name in (f"video_{at}", f"video_{at}_response"))]
    guess = recognise(read_here(csv_bytes([head, *rows]), "x.csv"))
    assert (asked(guess), guess.spec.item, guess.spec.rater, guess.spec.label) == (
        {},
        "video",
        key,
        "response",
    )


def test_turkers_beside_scores_are_raters() -> None:
    rows = [[f"r{n}", *RNG.choices("12345", k=3), *RNG.sample("ABCDEFG", 3)] for n in range(20)]
    head = ["Id", "Score1", "Score2", "Score3", "TurkId1", "TurkId2", "TurkId3"]
    guess = recognise(read_here(csv_bytes([head, *rows]), "x.csv"))
    assert (asked(guess), guess.spec.item, guess.spec.label) == ({}, "Id", "Score")


def test_a_column_of_lists_of_raters_is_told_as_such() -> None:
    rows = [[str(n), RNG.choice("ab"), RNG.choice("cd"), str(RNG.sample("wxyz", 3))] for n in range(80)]
    table = rows_table([["number", "kind", "area", "annotators"], *rows])
    (reason,) = recognise(table).uncertain
    assert "'annotators' holds lists, several raters in a row" in reason.sentence


def test_each_of_two_ids_without_names_may_be_either() -> None:
    rows = [[f"s{n % 20}", f"u{n // 20}", f"{RNG.randrange(90)}", str(n % 17)] for n in range(120)]
    found = asked(recognise(rows_table([["column 1", "column 2", "column 3", "column 4"], *rows])))
    assert {"column 1", "column 2"} <= set(found["item"]) & set(found["rater"])


def test_numbers_that_tell_rows_apart_are_no_columns_of_a_matrix_unasked() -> None:
    rows = [
        [str(s), str(d), str(s % 4), RNG.choice("12345"), str(d % 9)]
        for s in range(60)
        for d in range(s % 7, 90, 9)
    ]
    RNG.shuffle(rows)
    table = rows_table(
        [["", "s", "d", "year", "y", "dept"], *([str(n), *row] for n, row in enumerate(rows, 1))]
    )
    assert asked(recognise(table))["layout"] == ("long", "items-by-raters")
    guess = recognise(table, named=Named(item="d", rater="s", label="y"))
    assert not asked(guess)


def test_columns_that_tell_rows_apart_with_an_id_are_offered_with_it() -> None:
    rows = [
        [str(q), *pair, turn, *RNG.choices(["m1", "m2", "tie"], k=3)]
        for q in range(12)
        for pair in (("ant", "bee"), ("ant", "cod"), ("bee", "cod"))
        for turn in "12"
    ]
    table = rows_table([["question_id", "left", "right", "turn", "winner1", "winner2", "winner3"], *rows])
    whole = "question_id+left+right+turn"
    assert asked(recognise(table, named=Named(layout="items-by-raters")))["item"] == (whole, "question_id")
    guess = recognise(table, named=Named(layout="items-by-raters", item=whole))
    assert len(load(table, None, guess.spec, ()).annotations.item_ids) == 72


@pytest.mark.parametrize("left", [False, True])
def test_labels_with_blanks_between_are_people_where_a_column_says_what_they_agree_on(left: bool) -> None:
    rows = []
    for n in range(90):
        own = [RNG.choice(["hate", "hate", "none"] if n % 2 else ["none", "none", "hate"]) for _ in range(3)]
        places = range(3) if left else sorted(RNG.sample(range(6), 3))
        cells = dict(zip(places, own, strict=True))
        rows.append([str(n), *(cells.get(at, "") for at in range(6)), max(set(own), key=own.count)])
    table = rows_table([["case_id", *(f"label_{at}" for at in range(1, 7)), "label_majority"], *rows])
    assert ("layout" in asked(recognise(table))) is left


def test_a_row_per_respondent_with_several_questions_is_asked_about_by_patterns() -> None:
    scale, others = ["good", "so so", "bad"], ["egg hen", "tea rye", "sun rain", "inn bar", "cat dog"]
    head = [
        "RespondentID",
        *map("Which, {}?".format, others),
        *(f"How is? / {who}" for who in ("Ann", "Bo", "Cy")),
    ]
    rows = [
        [str(900 + n), *(RNG.choice(two.split()) for two in others), *RNG.choices(scale, k=3)]
        for n in range(40)
    ]
    guess = recognise(rows_table([head, *rows]))
    assert (guess.spec.layout, asked(guess).keys()) == ("raters-by-items", {"label"})
    for pattern in asked(guess)["label"]:
        spec = recognise(rows_table([head, *rows]), named=Named(label=pattern)).spec
        assert len(load(rows_table([head, *rows]), None, spec, ()).annotations.item_ids) == 3


def test_annotations_of_parts_of_a_record_are_read() -> None:
    record = [
        {
            "article": f"Text {n}",
            "sentences": [
                {
                    "sentence": f"s {n}.{at}",
                    "responses": [{"worker_id": w, "response": RNG.choice("yn")} for w in "abc"],
                }
                for at in range(2)
            ],
        }
        for n in range(9)
    ]
    lines = "\n".join(map(json.dumps, record)).encode()
    table = read_here(lines, "x.jsonl")
    guess = recognise(table)
    data = load(table, None, guess.spec, ())
    assert (asked(guess), data.summary.items, data.summary.annotations) == ({}, 18, 54)


@pytest.mark.parametrize(
    ("numbered", "read"), [("emotion", 0), ("run", 0), ("topic", 0), ("A", 1), ("expert", 1)]
)
def test_numbered_words_are_raters_where_they_say_so(numbered: str, read: bool) -> None:
    rows = [[f"A text of some words, {n}", *RNG.choices(["joy", "fear", "rage"], k=3)] for n in range(60)]
    guess = recognise(rows_table([["text", *(f"{numbered}{at}" for at in "123")], *rows]))
    assert ("layout" not in asked(guess)) is bool(read)


@pytest.mark.parametrize(
    ("key", "columns", "read"),
    [
        *(("patient_id", "model", 0), ("video_id", "frame", 0), ("gene", "sample", 0), ("id", "output", 0)),
        *(("id", "Q", 1), ("user_id", "frame", 1)),
    ],
)
def test_rows_are_people_where_something_says_so(key: str, columns: str, read: int) -> None:
    rows = [[f"p{n}", *RNG.choices("0123", k=3)] for n in range(60)]
    guess = recognise(rows_table([[key, *(f"{columns}{at}" for at in "123")], *rows]))
    assert ("layout" not in asked(guess)) is bool(read)


@pytest.mark.parametrize(("unit", "read"), [("run", 0), ("eye", 0), ("annotator", 1)])
def test_columns_named_after_two_things_are_raters_where_one_is_so_called(unit: str, read: int) -> None:
    columns = [f"{unit}{at}_{of}" for at in "12" for of in ("label", "confidence")]
    rows = [[f"A text of words, {n}", *RNG.choices("123", k=4)] for n in range(40)]
    guess = recognise(read_here(csv_bytes([["text", *columns], *rows]), "x.csv"))
    assert ("layout" not in asked(guess)) is bool(read)
