"""Things that are compared, pairs, objects in cells and rounds: what is none of raters, items and labels."""

import random

import pytest

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, recognise
from tests.reading.made_up import asked
from tests.reading.making import crossed, numbered

RNG = random.Random(9)
WORDS = [f"w{n}" for n in range(9)]


def sentences(guess: Guess) -> str:
    return "\n".join(one.sentence for one in guess.reasons)


@pytest.mark.parametrize("layout", [None, "items-by-raters", "raters-by-items"])
@pytest.mark.parametrize(
    ("head", "shown"), [("sub1 sub2 agreement", 2), ("item1 item2 item3 item4 best worst", 4)]
)
def test_things_shown_side_by_side_are_no_labels(head: str, shown: int, layout: str | None) -> None:
    def row(_: int) -> list[str]:
        them = RNG.sample(WORDS, shown)
        return [*them, *(RNG.sample(them, 2) if shown > 2 else RNG.choices("01"))]

    guess = recognise(numbered(head, row, 200), named=Named(layout=layout))
    assert "differ from each other in every row" in sentences(guess)
    assert "layout" not in asked(guess)


def test_raters_who_may_agree_by_chance_and_ranks_are_labels() -> None:
    def row(n: int) -> list[str]:
        return RNG.sample(WORDS, 2) if n else ["w1", "w1"]  # they agree once, or there are few rows

    ranks = numbered("item rater1 rater2 rater3", lambda n: (f"i{n}", *RNG.sample(["low", "mid", "high"], 3)))
    for table in (*(numbered("coder1 coder2", row, rows) for rows in (8, 200)), ranks):
        assert "differ from each other in every row" not in sentences(recognise(table))


def test_a_pair_in_both_orders_is_told() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        pair = (f"use{n}", f"use{n + 1}")
        return (*(pair if (n + r) % 2 else pair[::-1]), f"r{r}", *RNG.choices("1234"))

    table = crossed("use_id1,use_id2,annotator,judgment", row, 30, 4)
    told = sentences(recognise(table, named=Named(item="use_id1+use_id2")))
    assert "30 pairs occur in both orders, as two items" in told
    plain = crossed("use_id1,use_id2,annotator,judgment", lambda n, r: (n, n + 1, f"r{r}", r), 30, 4)
    assert "both orders" not in sentences(recognise(plain, named=Named(item="use_id1+use_id2")))


def test_a_part_of_the_items_id_is_no_label_and_objects_are_named_as_such() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        fields = f'{{"clear": {RNG.randrange(2)}, "note": "{RNG.choice(WORDS)}"}}'
        return (n * 4 + r, n // 2, ["story", "theme"][n % 2], fields, f"u{r}")

    table = crossed("id,submission_id,category,fields_json,user", row, 60, 4)
    guess = recognise(table)
    assert not any("fields_json" in candidates for candidates in asked(guess).values())
    guess = recognise(table, named=Named(item="submission_id+category"))
    assert asked(guess).get("label") == ()
    assert "'fields_json' holds objects in JSON" in sentences(guess)


def test_one_part_that_decides_the_others_is_the_item() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        who = RNG.choice("ab") if r == 0 and n % 30 == 0 else f"Reviewer_{n}_{r}"
        return (f"p{n:03}", f"{RNG.choice(WORDS)} of paper {n:03}", who, *RNG.choices("3568"))

    guess = recognise(crossed("paper_id,title,reviewer,rating", row, 60, 3))
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("paper_id", "reviewer", "rating")
    assert "together" not in sentences(guess)


def test_rounds_of_two_raters_are_offered_apart() -> None:
    table = numbered("doc H1_r1 H1_r2 H2_r1 H2_r2", lambda n: (n, *RNG.choices(["yes", "no"], k=4)))
    assert asked(recognise(table))["label"] == ("H*_r1", "H*_r2", "H1_r*", "H2_r*")
    guess = recognise(table, named=Named(label="H*_r1"))
    assert (guess.spec.item, guess.spec.ignore) == ("doc", ("H1_r2", "H2_r2"))


def test_a_radiologist_may_be_called_rad() -> None:
    table = crossed("image_id,rad_id,finding", lambda n, r: (f"{n:x}", f"R{r}", *RNG.choices("01")), 30, 4)
    guess = recognise(table)
    assert (asked(guess), guess.spec.rater) == ({}, "rad_id")


@pytest.mark.parametrize(
    "head", ["rater1 rater2 rater3", "annotator1_label annotator2_label annotator3_label"]
)
def test_numbered_raters_whose_gender_differs_by_row_are_asked_about(head: str) -> None:
    columns = head.split()
    about = [f"{name.removesuffix('_label')}_{what}" for name in columns for what in ("gender", "race")]

    def row(n: int) -> list[object]:
        known = [cell for _ in columns for cell in (RNG.choice("MF"), RNG.choice("abc"))]
        return [n, f"{RNG.choice(WORDS)}_of_{n}", *RNG.choices("12345", k=3), *known]

    table = numbered(f"id text {head} {' '.join(about)}", row, 80)
    assert "are the same people in all rows" in "\n".join(one.sentence for one in recognise(table).uncertain)


def test_numbered_raters_with_one_gender_each_are_people() -> None:
    def row(n: int) -> list[object]:
        return [n, *(cell for one in "MFM" for cell in (*RNG.choices(["toxic", "ok"]), one))]

    head = " ".join(f"annotator{n}_label annotator{n}_gender" for n in (1, 2, 3))
    assert asked(recognise(numbered(f"id {head}", row, 80))) == {}


def test_questions_of_a_tool_about_a_texts_language_say_nothing_of_the_raters() -> None:
    def row(n: int) -> list[object]:
        first, last = ("2026-01-02T10:00:00Z", "2026-01-02T10:00:09Z")
        said = RNG.choice(["good", "bad"]), RNG.choice(["en", "de"])
        return [n, n % 2 + 1, first, n // 2 + 1, 3.5, *said, f"t{n // 2 + 1}", last]

    head = "annotation_id annotator created_at id lead_time sentiment language text updated_at"
    assert "rater" not in asked(recognise(numbered(head, row, 80)))


def test_numbered_workers_in_one_word_may_be_places() -> None:
    head = " ".join(f"worker{n}" for n in range(1, 6))
    guess = recognise(numbered(f"item {head}", lambda n: (n, *RNG.choices("ab", k=5))))
    assert asked(guess) == {"label": ("worker*",)}


def test_a_pattern_is_asked_for_only_if_one_names_the_labels() -> None:
    """`rater*` would name what is known of the raters, too, and `rater*gen` has no labels at all."""

    def row(n: int) -> list[object]:
        known = [(RNG.choice("MF"), RNG.choice(["white", "black", "asian"])) for _ in range(3)]
        return [n, *RNG.choices("12345", k=3), *(cell for pair in known for cell in pair)]

    head = "id rater1 rater2 rater3 rater1gen rater1eth rater2gen rater2eth rater3gen rater3eth"
    assert "label" not in asked(recognise(numbered(head, row, 80)))


def test_parts_of_a_task_without_labels_are_no_questions() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        answered = ("rating", *RNG.choices("1234567")) if n % 2 else ("fixation", "")
        return (f"Person {r}", f"img{n // 2}.jpg", *answered)

    table = crossed("Participant,image,Zone Type,Response", row, 40, 8)
    assert "label" not in asked(recognise(table))


def test_options_are_printed_as_a_shell_takes_them() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        return (f"i{n // 2}", f"r{r}", ["how clear", "how fun"][n % 2], *RNG.choices("12345"))

    guess = recognise(crossed("Item,Rater,Rated aspect,Score", row, 60, 5), named=Named(item="Item"))
    assert "--drop 'Rated aspect=how fun'" in sentences(guess)


def test_what_was_rated_may_be_called_by_a_demographic_word() -> None:
    """Experts place parties: their own `expert_gender` is theirs, but a `party_id` is no person's."""

    def row(n: int, r: int) -> tuple[object, ...]:
        return (500 + r, 100 + n, f"{RNG.randrange(11)}", "MF"[r % 2])

    guess = recognise(crossed("id,party_id,position,expert_gender", row, 12, 9), named=Named(rater="id"))
    assert (guess.spec.item, guess.spec.label) == ("party_id", "position")


def test_questions_of_two_coders_are_offered_by_question_too() -> None:
    table = numbered(
        "doc hate_AB hate_CD irony_AB irony_CD", lambda n: (n, *RNG.choices(["TRUE", "FALSE"], k=4))
    )
    assert asked(recognise(table))["label"][:2] == ("hate_*", "irony_*")


def test_a_second_of_a_video_is_part_of_the_item() -> None:
    table = crossed(
        "video,second,coder,code",
        lambda n, r: (f"v{n // 12}", n % 12 * 10, ["KL", "MN"][r], *RNG.choices(["on", "off"])),
        96,
        2,
    )
    assert asked(recognise(table)) == {"item": ("video+second",)}


def test_most_columns_may_be_models() -> None:
    table = numbered("id human_label a_pred b_pred gpt_pred", lambda n: (n, *RNG.choices(["yes", "no"], k=4)))
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert "'a_pred', 'b_pred', 'gpt_pred' are called like models" in sentences(guess)


def test_like_named_parts_of_an_item_go_together() -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        shown = sorted(RNG.sample(range(30), 3))
        return (f"s{r}", *(f"img{one}" for one in shown), *RNG.choices("123"))

    table = crossed("subject,image1,image2,image3,odd_one", row, 30, 10)
    assert asked(recognise(table))["item"] == ("image1+image2+image3",)


def test_two_columns_that_fit_as_well_are_offered_together_if_neither_alone_tells_the_rows_apart() -> None:
    """Turns of conversations: each is numbered anew, so only both columns together name a turn."""
    rows = [
        [f"conv{n // 4}", n % 4, f"a{r}", *RNG.choices("01234")]
        for n in range(240)
        for r in RNG.sample(range(140), 7)
    ]
    table = numbered("conversation_id turn_id annotator_id interestingness", lambda n: rows[n], len(rows))
    assert asked(recognise(table))["item"][0] == "conversation_id+turn_id"


def test_who_is_called_self_is_another_person_for_each_item() -> None:
    table = crossed(
        "ratee,rater,teamwork",
        lambda n, r: (f"e{n}", ["self", "peer", "boss"][r], *RNG.choices("12345")),
        30,
        3,
    )
    assert asked(recognise(table)) == {"rater": ("rater",)}


@pytest.mark.parametrize("known", [True, False])
def test_a_bare_id_that_decides_ages_is_the_raters(known: bool) -> None:
    def row(n: int, r: int) -> tuple[object, ...]:
        age = 20 + r % 7 if known else RNG.randrange(20, 90)
        return (f"case{n}", f"96;{400 + r}", *RNG.choices("1234567"), age)

    guess = recognise(crossed("case,id,response,age", row, 20, 15))
    assert asked(guess) == ({} if known else {"rater": ("id",)})
    assert (guess.spec.item, guess.spec.rater) == ("case", "id")


def test_raters_called_by_a_letter_of_two_may_all_be_meant() -> None:
    table = numbered("id M1 M2 F1 F2", lambda n: (n, *RNG.choices(["yes", "no"], k=4)))
    assert asked(recognise(table))["label"] == ("M*", "F*", "*")
    guess = recognise(table, named=Named(label="*", layout="items-by-raters"))
    assert (asked(guess), guess.spec.item, guess.spec.ignore) == ({}, "id", ())
