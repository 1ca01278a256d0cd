"""Texts of labels and of raters: missing values, choices in any order, numbers written in two ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from grasp_core import cli
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table


def matrix(odd: str, labels: str = "12") -> Table:
    """Eight items by three raters; the third gave every other item no label, which `odd` stands for."""
    rows = [f"i{n},{labels[n % 2]},{labels[0]},{odd if n % 2 else labels[1]}" for n in range(8)]
    return read_table("\n".join(["item,rater_1,rater_2,rater_3", *rows]).encode(), "votes.csv")


def read(table: Table, raters: Table | None = None) -> tuple[int, tuple[str, ...], list[str]]:
    guess = recognise(table, raters)
    data = load(table, raters, guess.spec, guess.axes).summary
    return data.annotations, data.categories, [r.sentence for r in guess.reasons if r.field == "missing"]


@pytest.mark.parametrize("odd", ["nan", "NaN", "#N/A", "<NA>", "NA", "null", "None", "-", "?"])
def test_among_numbers_it_is_no_label(odd: str) -> None:
    annotations, categories, why = read(matrix(odd))
    assert (annotations, categories) == (20, ("1", "2"))
    assert why == [f"'{odd}' in 4 cells are no label: the others are numbers"]


@pytest.mark.parametrize(
    ("odd", "labels"),
    [("nan", "ny"), ("#N/A", "ny"), (" ", ("no", "yes")), ("-", ("no", "yes")), (".", ("neg", "pos"))],
)
def test_among_words_only_what_nobody_answers(odd: str, labels: str) -> None:
    annotations, categories, why = read(matrix(odd, labels))
    assert (annotations, categories, len(why)) == (20, tuple(labels), 1)


@pytest.mark.parametrize(("odd", "label"), [("NA", False), ("NULL", False), ("None", True), ("N/A", True)])
def test_what_most_cells_of_a_matrix_hold_was_not_rated(odd: str, label: bool) -> None:
    """As R writes a matrix in which each rates some of the items, words or not."""
    rows = [[f"i{n}", *("yn"[r % 2] if (n + r) % 3 == 0 else odd for r in range(6))] for n in range(9)]
    header = ["item", *(f"rater_{r}" for r in range(6))]
    annotations, categories, why = read(rows_table([header, *rows]))
    assert (annotations, odd in categories, bool(why)) == (54 if label else 18, label, not label)


def test_a_country_keeps_its_code() -> None:
    raters = read_table(b"rater,country\nrater_1,NA\nrater_2,NA\nrater_3,ZA\n", "raters.csv")
    annotations, categories, why = read(matrix("NA"), raters)
    assert (annotations, categories, why) == (24, ("1", "2", "NA"), [])


def long(labels: Sequence[str], more: str = "", column: Callable[[int], str] = lambda r: "") -> Table:
    """Twelve items by six raters, the labels in turn; `column` makes a further one of the rater."""
    rows = [f"i{n},r{r},{labels[(n + r) % len(labels)]}{column(r)}" for n in range(12) for r in range(6)]
    return read_table("\n".join([f"item,rater,label{more}", *rows]).encode(), "votes.csv")


def test_without_any_other_label_nothing_is_said() -> None:
    assert recognise(long(["nan"])).spec.missing == ("",)


def test_the_command_takes_it_so_where_all_columns_are_named(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"i{n},r{r},{'nan' if r == n % 4 else 1 + (n + r) % 2}" for n in range(9) for r in range(4)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,rater,label", *rows]), encoding="utf-8")
    raters = "\n".join(["rater,gender", "r0,Man", "r1,Woman", "r2,Man", "r3,Woman"])
    (tmp_path / "raters.csv").write_text(raters, encoding="utf-8")
    files = ["--annotations", "votes.csv", "--raters", "raters.csv", "--axis", "gender"]
    named = ["--item", "item", "--rater", "rater", "--label", "label"]
    assert cli.main(["run", *files, *named, "--permutations", "20"]) == 0
    said = capsys.readouterr()
    assert "'nan' in 9 cells are no label" in said.err
    assert "27 annotations of 9 items by 4 raters" in said.out + said.err


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


def test_a_column_of_seconds_is_no_label() -> None:
    rows = [f"i{n},r{r},{'xyz'[(n + r) % 3]},{n * r % 7}" for n in range(12) for r in range(6)]
    table = read_table("\n".join(["Nr,Bewerter,Urteil,Dauer (s)", *rows]).encode(), "votes.csv")
    assert recognise(table).spec.label == "Urteil"


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        *(
            ("012345", "0"),
            ("123456", "6"),
            ("123457", "7"),
            ("1236", "6"),
            ("123459", "9"),
            ("0123459", "09"),
        ),
        *(("12345", ""), ("1234567", ""), ("0123", ""), ("01234", ""), ("01", ""), ("189", ""), ("ab7", "")),
    ],
)
def test_a_number_beside_a_scale_is_asked_about(labels: str, asked: str) -> None:
    table = long(labels)
    advice = recognise(table).advice
    assert sorted(one.values[0] for one in advice) == sorted(asked)
    assert not any(one.recommended for one in advice)
    assert not recognise(table, declared=set(labels)).advice


def test_the_command_says_first_what_may_be_no_answer_and_what_takes_it_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    labels = ["-1", *"12345"]
    rows = [f"i{n},r{r},{labels[(n + r) % 6]},{'fm'[r % 2]}" for n in range(12) for r in range(6)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,rater,label,sex", *rows]), encoding="utf-8")
    command = ["quality", "--annotations", "votes.csv"]
    for named in ([], ["--label", "label"], ["--item", "item", "--rater", "rater", "--label", "label"]):
        assert cli.main([*command, *named]) == 0
        said = capsys.readouterr()
        assert "72 annotations" in said.out.splitlines()[0]
        first = said.err.splitlines()[0]
        assert first.startswith("note: kept as a label: 12 cells with '-1'")
        assert "--missing -1 takes it for no answer" in first
        assert cli.main([*command, *named, "--missing", "-1"]) == 0
        said = capsys.readouterr()
        assert "60 annotations" in said.out.splitlines()[0]
        assert "kept as a label" not in said.err


@pytest.mark.parametrize(
    ("odd", "labels"),
    [("-1", "01"), ("9", "18"), ("-2", "12"), ("99", ("1", "50")), ("-", "+0"), ("NA", "yn"), ("None", "yn")],
)
def test_what_a_scale_may_have_is_a_label(odd: str, labels: str) -> None:
    annotations, categories, why = read(matrix(odd, labels))
    assert (annotations, odd in categories, why) == (24, True, [])


def test_a_code_that_is_declared_a_label_is_one(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"i{n},r{r},{'-9' if r == n % 4 else 1 + (n + r) % 2},{'fm'[r % 2]}"
        for n in range(9)
        for r in range(4)
    ]
    (tmp_path / "votes.csv").write_text("\n".join(["item,rater,label,sex", *rows]), encoding="utf-8")
    command = ["run", "--annotations", "votes.csv", "--axis", "sex", "--permutations", "20"]
    for options in ([], ["--categories", "-9,1,2"], ["--recommended", "--categories", "-9,1,2"]):
        assert cli.main([*command, *options]) == 0
        assert "36 annotations" in "".join(capsys.readouterr())
    assert cli.main([*command, "--recommended"]) == 0
    assert "27 annotations" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("odd", "labels", "asked"),
    [("-1", "12", True), ("-1", "01", False), ("x", "12", True), ("x", "ab", False), ("unsure", "12", False)],
)
def test_a_lone_minus_one_or_sign_among_numbers_is_asked_about(odd: str, labels: str, asked: bool) -> None:
    table = matrix(odd, labels)
    assert [one.values for one in recognise(table).advice] == ([(odd,)] if asked else [])
    assert not recognise(table).uncertain
    assert not recognise(table, declared={odd}).advice


# Codes for no answer in columns about raters are nobody's group.
def groups(values: tuple[str, ...], labels: str = "yn", rater: str = "w{}") -> tuple[list[str], list[str]]:
    """The groups on an axis of these values, and what was said of texts that mean no value."""
    rows = [
        [f"i{n}", rater.format(r), labels[(n + r) % len(labels)], values[r % len(values)]]
        for n in range(9)
        for r in range(8)
    ]
    table = rows_table([["item", "rater", "label", "age"], *rows])
    guess = recognise(table)
    data = load(table, None, guess.spec, ("age",))
    said = [one.sentence for one in guess.reasons if one.field == "missing"]
    return sorted(data.raters.axes["age"].values), said


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (("1", "2", "-99"), "-99"),
        (("18-29", "30+", "999"), "999"),
        (("20", "61", "33", "999"), "999"),
        (("Woman", "Man", "-9"), "-9"),
    ],
)
def test_a_code_is_no_group(values: tuple[str, ...], code: str) -> None:
    found, said = groups(values)
    assert found == sorted(set(values) - {code})
    assert said == [f"'{code}' in 'age' stands for no answer, as codes of surveys do"]


@pytest.mark.parametrize(
    ("values", "labels", "rater"),
    [
        (("20", "61", "99"), "yn", "w{}"),
        (("-1", "0", "-9"), "yn", "w{}"),
        (("18-29", "30+", "77"), "yn", "7{}"),  # the id of a rater, too
    ],
)
def test_what_may_be_a_value_is_one(values: tuple[str, ...], labels: str, rater: str) -> None:
    assert groups(values, labels, rater) == (sorted(set(values)), [])


@pytest.mark.parametrize(
    "text", ["NA", "<NA>", "NaT", "#N/A", "NULL", " ", "CONSENT_REVOKED", "DATA_EXPIRED"]
)
def test_what_programs_write_for_no_value_is_no_group(text: str) -> None:
    found, said = groups(("Woman", "Man", text))
    assert found == ["Man", "Woman"]
    assert said == [f"'{text}' in 'age' stands for no answer, as programs write it"]


def test_none_may_be_an_answer_and_na_a_place() -> None:
    assert groups(("Christian", "Muslim", "None")) == (["Christian", "Muslim", "None"], [])
    found, (said,) = groups(("DE", "US", "NA"))
    assert found == ["DE", "NA", "US"]
    assert said.startswith("'NA' in 'age' stands beside codes of places, so it is a group")


# Lists of the same choices are one label, in whatever order they stand; so is a number written in two ways.
def found(labels: tuple[str, ...], declared: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    rows = [[f"i{n}", f"r{r}", labels[(n * r + n + r) % len(labels)]] for n in range(12) for r in range(7)]
    table = rows_table([["item", "rater", "label"], *rows])
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
def test_texts_of_one_meaning_are_one_label(labels, read, what) -> None:
    categories, why = found(labels)
    assert categories == read
    assert why[0].startswith(f"{what} one label: ")


@pytest.mark.parametrize(
    "labels",
    [
        ("a|b|c", "b|a|c", "c|b|a"),  # ranks
        *(("yes, always", "no, never", "maybe"), ("1,5", "5,1", "1", "5", "2"), ("a|b", "a", "b")),
        *(("1", "01", "2"), ("1.0", "2.0"), ("1", "1.5"), ("1,000", "1", "2"), ("Yes", "yes")),
    ],
)
def test_other_labels_stay_as_they_are(labels) -> None:
    assert found(labels) == (sorted(labels), [])


@pytest.mark.parametrize("labels", [("joy", "anger", "joy|anger", "anger|joy"), ("1", "1.0")])
def test_labels_that_are_declared_stay(labels) -> None:
    assert found(labels, labels) == (sorted(labels), [])


# Numbers written in two ways: one label, and a question about ids.
def votes(labels: tuple[str, ...], rater: str = "r{}") -> Table:
    """Nine items by four raters."""
    rows = [
        [f"i{n}", rater.format(r), labels[(n * r + n) % len(labels)]] for n in range(9) for r in range(1, 5)
    ]
    return rows_table([["item", "rater", "label"], *rows])


def asked(table: Table, named: Named | None = None) -> list[tuple[str, str]]:
    return [(one.field, one.sentence) for one in recognise(table, named=named).uncertain]


def test_ids_of_two_spellings_are_asked_about() -> None:
    rows = [[f"{n}.0" if r > 2 else str(n), f"r{r}", "yn"[n * r % 2]] for n in range(9) for r in range(1, 5)]
    table = rows_table([["item", "rater", "label"], *rows])
    why = "'0', '0.0' are one number written in two ways, as 9 ids may be; write them alike"
    assert asked(table) == [("item", why)]
    assert asked(table, Named(item="item")) == []


def test_ids_that_a_spreadsheet_rounded_are_asked_about() -> None:
    ((field, why),) = asked(votes(("y", "n"), rater="1.0585{}E+14"))
    assert (field, "'1.05851E+14' is a long number that a spreadsheet has rounded" in why) == ("rater", True)


@pytest.mark.parametrize("rater", ["00{}", "{}e5", "{}.5"])
def test_ids_of_one_spelling_are_not(rater: str) -> None:
    assert asked(votes(("y", "n"), rater=rater)) == []
