"""Texts of labels and of raters: missing values, choices in any order, numbers written in two ways."""

from collections.abc import Sequence

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named, told
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.guess.values import advise_alike
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.made_up import doubts
from tests.reading.making import crossed, rows_table


def matrix(odd: str, labels: Sequence[str] = "12") -> Table:
    """Eight items by three raters; the third gave every other item no label, which `odd` stands for."""
    rows = [[f"i{n}", labels[n % 2], labels[0], odd if n % 2 else labels[1]] for n in range(8)]
    return rows_table([["item", "rater_1", "rater_2", "rater_3"], *rows])


def long(labels: Sequence[str]) -> Table:
    """Twelve items by six raters, the labels in turn."""
    return crossed(
        "item,rater,label", lambda n, r: (f"i{n}", f"r{r}", labels[(n + r) % len(labels)]), 12, raters=6
    )


def read(table: Table, raters: Table | None = None) -> tuple[int, tuple[str, ...], list[str]]:
    """What is left by the guess, and what it says of texts that are no label."""
    guess = recognise(table, raters)
    data = load(table, raters, guess.spec, guess.axes).summary
    return data.annotations, data.categories, [r.sentence for r in guess.reasons if r.field == "missing"]


@pytest.mark.parametrize("odd", ["nan", "NaN", "#N/A", "<NA>", "NA", "null", "None", "-", "?"])
def test_among_numbers_it_is_no_label(odd: str) -> None:
    why = f"'{odd}' in 4 cells are no label: the others are numbers"
    assert read(matrix(odd)) == (20, ("1", "2"), [why])


@pytest.mark.parametrize(
    ("odd", "labels"),
    [("nan", "ny"), ("#N/A", "ny"), (" ", ("no", "yes")), ("-", ("no", "yes")), (".", ("neg", "pos"))],
)
def test_among_words_only_what_nobody_answers(odd: str, labels: Sequence[str]) -> None:
    annotations, categories, why = read(matrix(odd, labels))
    assert (annotations, categories, len(why)) == (20, tuple(labels), 1)


@pytest.mark.parametrize(("odd", "label"), [("NA", False), ("NULL", False), ("None", True), ("N/A", True)])
def test_what_most_cells_of_a_matrix_hold_was_not_rated(odd: str, label: bool) -> None:
    """As R writes a matrix in which each rates some of the items, words or not."""
    rows = [[f"i{n}", *("yn"[r % 2] if (n + r) % 3 == 0 else odd for r in range(6))] for n in range(9)]
    annotations, categories, why = read(rows_table([["item", *(f"rater_{r}" for r in range(6))], *rows]))
    assert (annotations, odd in categories, bool(why)) == (54 if label else 18, label, not label)


def test_countries_keep_their_codes_and_seconds_are_no_labels() -> None:
    raters = read_table(b"rater,country\nrater_1,NA\nrater_2,NA\nrater_3,ZA\n", "raters.csv")
    assert read(matrix("NA"), raters) == (24, ("1", "2", "NA"), [])
    assert recognise(long(["nan"])).spec.missing == ("",)
    table = crossed(
        "Nr,Bewerter,Urteil,Dauer (s)", lambda n, r: (f"i{n}", f"r{r}", "xyz"[(n + r) % 3], n * r % 7), 12, 6
    )
    assert recognise(table).spec.label == "Urteil"


@pytest.mark.parametrize(("odd", "labels"), [("-99", "12"), ("99", "12"), ("888", "05"), ("-9", "01")])
def test_a_number_apart_from_the_others_is_recommended_to_be_no_answer(odd: str, labels: str) -> None:
    table = matrix(odd, labels)
    annotations, categories, why = read(table)
    assert (annotations, odd in categories, why) == (24, True, [])
    guess = recognise(table)
    assert [one.sentence for one in guess.advice] == [
        f"4 cells with '{odd}': it lies apart from the other numbers, as codes for no answer do"
    ]
    assert load(table, None, guess.advised).summary.annotations == 20


@pytest.mark.parametrize("odd", ["k.A.", "keine Angabe", "No answer", "sin respuesta"])
@pytest.mark.parametrize("labels", ["12345", "xyz"])
def test_words_that_say_so_are_recommended_to_be_no_answer(odd: str, labels: str) -> None:
    (asked,) = recognise(long([*labels, odd])).advice
    assert (asked.field, asked.values, asked.count) == ("missing", (odd,), 72 // (len(labels) + 1))
    assert asked.recommended


def test_labels_and_groups_that_case_or_blanks_tell_apart_are_asked_about() -> None:
    table = crossed(
        "item,rater,label,gender",
        lambda n, r: (f"i{n}", f"r{r}", ("Yes", "no", "yes ", "no")[(n + r) % 4], ("f", "m", "F")[r % 3]),
        raters=9,
    )
    guess = recognise(table)
    labels, groups = guess.advice
    assert (labels.values, labels.into, labels.group) == (("yes ",), ("Yes",), False)
    assert (groups.column, groups.group, sorted((*groups.values, *groups.into))) == (
        "gender",
        True,
        ["F", "f"],
    )
    assert load(table, None, guess.spec).summary.categories == ("no", "Yes", "yes ")
    advised = load(table, None, guess.advised, ("gender",))
    assert advised.summary.categories == ("no", "Yes")
    assert sorted(len(one.values) for one in advised.raters.axes.values()) == [2]
    assert all(one.followed(guess.advised) for one in guess.advice)
    assert not recognise(table, declared={"Yes", "yes "}).advice[1:]
    assert not recognise(long(["1", "1.0", "2"])).advice  # one number is one label anyway


BESIDE_A_SCALE = {"012345": "0", "123456": "6", "123457": "7", "1236": "6", "123459": "9", "0123459": "09"}
SCALES = ("12345", "1234567", "0123", "01234", "01", "189", "ab7")


@pytest.mark.parametrize(("labels", "asked"), [*BESIDE_A_SCALE.items(), *((scale, "") for scale in SCALES)])
def test_a_number_beside_a_scale_is_asked_about(labels: str, asked: str) -> None:
    table = long(labels)
    advice = recognise(table).advice
    assert sorted(one.values[0] for one in advice) == sorted(asked)
    assert not any(one.recommended for one in advice)
    assert not recognise(table, declared=set(labels)).advice


@pytest.mark.parametrize(
    ("odd", "labels"),
    [("-1", "01"), ("9", "18"), ("-2", "12"), ("99", ("1", "50")), ("-", "+0"), ("NA", "yn"), ("None", "yn")],
)
def test_what_a_scale_may_have_is_a_label(odd: str, labels: Sequence[str]) -> None:
    annotations, categories, why = read(matrix(odd, labels))
    assert (annotations, odd in categories, why) == (24, True, [])


@pytest.mark.parametrize(
    ("odd", "labels", "asked"),
    [
        *(("-1", "12", True), ("-1", "01", False), ("x", "12", True), ("x", "ab", False)),
        *(("unsure", "12", False), ("NA", ("no", "yes"), True), ("None", ("no", "yes"), False)),
    ],
)
def test_a_lone_minus_one_or_sign_among_numbers_is_asked_about(odd, labels, asked) -> None:
    table = matrix(odd, labels)
    assert [one.values for one in recognise(table).advice] == ([(odd,)] if asked else [])
    assert not recognise(table).uncertain
    assert not recognise(table, declared={odd}).advice


# Codes for no answer in columns about raters are nobody's group.
def groups(values: Sequence[str], rater: str = "w{}") -> tuple[list[str], list[str]]:
    """The groups on an axis of these values, and what was said of texts that mean no value."""
    table = crossed(
        "item,rater,label,age",
        lambda n, r: (f"i{n}", rater.format(r), "yn"[(n + r) % 2], values[r % len(values)]),
        raters=8,
    )
    guess = recognise(table)
    data = load(table, None, guess.spec, ("age",))
    said = [one.sentence for one in guess.reasons if one.field == "missing"]
    return sorted(data.raters.axes["age"].values), said


BY_SURVEYS = "as codes of surveys do"
BY_PROGRAMS = "as programs write it"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        *((("1", "2", "-99"), BY_SURVEYS), (("18-29", "30+", "999"), BY_SURVEYS)),
        *((("20", "61", "33", "999"), BY_SURVEYS), (("Woman", "Man", "-9"), BY_SURVEYS)),
        *((("Woman", "Man", text), BY_PROGRAMS) for text in ("NA", "<NA>", "NaT", "#N/A", "NULL", " ")),
        *((("Woman", "Man", text), BY_PROGRAMS) for text in ("CONSENT_REVOKED", "DATA_EXPIRED")),
    ],
)
def test_a_code_for_no_answer_is_no_group(values: tuple[str, ...], why: str) -> None:
    *others, code = values
    assert groups(values) == (sorted(others), [f"'{code}' in 'age' stands for no answer, {why}"])


def test_what_may_be_a_value_or_a_place_is_one() -> None:
    for values, rater in (
        *((("20", "61", "99"), "w{}"), (("-1", "0", "-9"), "w{}")),
        (("18-29", "30+", "77"), "7{}"),  # the id of a rater, too
        (("Christian", "Muslim", "None"), "w{}"),
    ):
        assert groups(values, rater) == (sorted(values), [])
    assert groups(("DE", "US", "NA")) == (["DE", "NA", "US"], [])


def test_what_may_be_a_place_among_codes_of_places_is_asked_about() -> None:
    places = ("DE", "US", "NA")
    table = crossed(
        "item,rater,label,country", lambda n, r: (f"i{n}", f"w{r}", "yn"[(n + r) % 2], places[r % 3]), 4, 6
    )
    guess = recognise(table)
    (asked,) = guess.advice
    assert asked.sentence == (
        "8 cells with 'NA' in 'country': it may be the code of a place, or stand for no answer"
    )
    assert not asked.recommended
    assert "kept as a group: 8 cells" in told(guess.advice, "all", "none", "--missing {}".format)
    taken = load(table, None, asked.taken(guess.spec), ("country",))
    assert "NA" not in taken.raters.axes["country"].values
    assert not recognise(table, declared={"NA"}).advice


def test_what_r_writes_for_no_value_of_raters_it_writes_among_labels_too() -> None:
    """A table as R's write.csv leaves it, with two raters and some answers unknown."""
    table = crossed(
        "item,rater,label,gender",
        lambda n, r: (f"i{n}", f"w{r}", ("Yes", "No", "NA")[(n + r) % 3], ("Man", "Woman", "NA")[r % 3]),
        12,
        9,
    )
    guess = recognise(table)
    data = load(table, None, guess.spec, ("gender",))
    assert data.summary.categories == ("No", "Yes")
    assert sorted(data.raters.axes["gender"].values) == ["Man", "Woman"]
    assert [one.sentence for one in guess.reasons if one.field == "missing"] == [
        "'NA' in 'gender' stands for no answer there and among the labels, as programs write it"
    ]
    assert "NA" in load(table, None, recognise(table, declared={"NA"}).spec, ()).summary.categories


# Lists of the same choices are one label, in whatever order they stand; so is a number written in two ways.
def found(labels: tuple[str, ...], declared: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    table = crossed(
        "item,rater,label", lambda n, r: (f"i{n}", f"r{r}", labels[(n * r + n + r) % len(labels)]), 12, 7
    )
    guess = recognise(table, declared=declared)
    assert not guess.uncertain
    data = load(table, None, guess.spec, ())
    return sorted(data.summary.categories), [r.sentence for r in guess.reasons if r.field == "recode"]


CHOICES, NUMBERS = "the same choices in another order are", "one number written in two ways is"


@pytest.mark.parametrize(
    ("labels", "read", "what"),
    [
        (("joy", "anger", "joy|anger", "anger|joy"), ["anger", "anger|joy", "joy"], CHOICES),
        (("a; b", "b; a", "a", "b", "c;a;b", "a;b;c"), ["a", "a; b", "a;b;c", "b"], CHOICES),
        (("1,3", "3,1", "1", "3", "1,2,3", "2"), ["1", "1,2,3", "1,3", "2", "3"], CHOICES),
        (('["a", "b"]', '["b", "a"]', '["a"]'), ['["a", "b"]', '["a"]'], CHOICES),
        (("['a', 'b']", "['b', 'a']", "[]", "['b']"), ["['a', 'b']", "['b']", "[]"], CHOICES),
        (("1", "0", "1.0", "0.0"), ["0", "1"], NUMBERS),
        (("1.5", "1,5", "2,5"), ["1.5", "2,5"], NUMBERS),
        (("2.0", "2.00", "3.0"), ["2", "3.0"], NUMBERS),
        (("-1", "-1.0", "0", "1"), ["-1", "0", "1"], NUMBERS),
    ],
)
def test_texts_of_one_meaning_are_one_label_unless_declared(labels, read, what) -> None:
    categories, why = found(labels)
    assert categories == read
    assert why[0].startswith(f"{what} one label: ")
    assert found(labels, labels) == (sorted(labels), [])


def test_other_labels_stay_as_they_are() -> None:
    for labels in (
        ("a|b|c", "b|a|c", "c|b|a"),  # ranks
        *(("yes, always", "no, never", "maybe"), ("1,5", "5,1", "1", "5", "2"), ("a|b", "a", "b")),
        *(("1", "01", "2"), ("1.0", "2.0"), ("1", "1.5"), ("1,000", "1", "2"), ("Yes", "yes")),
        ("1,2", "1,3", "2,3", "k.A."),  # decimals
    ):
        categories, why = found(labels)
        assert categories == sorted(labels)
        assert all("lists several answers" in one for one in why)
        assert bool(why) == (labels == ("a|b", "a", "b"))


# Ids written in two ways are asked about.
def rated(item: str = "{}", rater: str = "r{}") -> Table:
    """Nine items by four raters, of whom the last two write items as `item` says."""
    return crossed(
        "item,rater,label",
        lambda n, r: (item.format(n) if r > 1 else n, rater.format(r + 1), "yn"[n * (r + 1) % 2]),
    )


def test_ids_of_two_spellings_or_rounded_ones_are_asked_about_and_others_not() -> None:
    table = rated("{}.0")
    why = "'0', '0.0' are one number written in two ways, as 9 ids may be; write them alike"
    assert doubts(recognise(table)) == [("item", why)]
    assert not recognise(table, named=Named(item="item")).uncertain
    ((field, why),) = doubts(recognise(rated(rater="1.0585{}E+14")))
    assert field == "rater"
    assert "'1.05851E+14' is a long number that a spreadsheet has rounded" in why
    for rater in ("00{}", "{}e5", "{}.5"):
        assert not recognise(rated(rater=rater)).uncertain


def test_a_first_letter_of_one_word_alone_is_a_group_of_raters_of_that_name() -> None:
    cells = {"Female": 5, "F": 2, "f": 1, "Male": 4, "Man": 2, "M": 1}
    (advice,) = advise_alike(cells, "gender", group=True, initials=True)
    assert dict(zip(advice.values, advice.into, strict=True)) == {"F": "Female", "f": "Female"}
    (of_labels,) = advise_alike(cells, "label")
    assert of_labels.values == ("f",)
