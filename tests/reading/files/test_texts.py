"""Text files: code pages by the letters of languages; no header, or several rows of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.files.encodings import to_utf8
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.files.workbook_files import xlsx_bytes
from tests.reading.making import rows_table
from tests.shared_data import SHARED, needs_shared_data

LANGUAGES = """
cp1252 French: très bien; à côté; déçu
La réponse est très claire, même après relecture.| Où sont passées les pièces à vérifier ?
cp1252 Spanish: mañana; sí; quizás
¿Está bien escrita la pregunta de mañana?| El niño llegó después y no pidió más.
cp1252 Portuguese: não; sim, é; opinião
Não há razão para mudar a opinião.| As três lições são difíceis, você também não acha?
cp1252 Italian: è così; perché; più
Perché la città è più bella di sera?| Non si può dire di no, però è già tardi.
cp1252 Dutch: beïnvloed; één; geëerd
De ideeën van één groep zijn geërfd.| Beïnvloeding van vóór de oorlog, zonder coördinatie.
cp1252 Catalan: això; què; maça
Això és el que més m'agrada, també a fora.| Què vol dir la lliçó d'avui, si és possible?
cp1252 Swedish: på; nej då; också
Jag tror att många får höra på när det går så.| Frågan är för svår, även på nästa år.
cp1252 Danish: køn; må ikke; særlig
Jeg tror på, at spørgsmålet er blevet læst.| Både år og køn mangler, så må vi gætte.
cp1252 Norwegian: kjønn; må ikke; på
Spørsmålet ble ikke lest nøye på skolen.| Vi må gå før været blir dårlig, så gå nå.
cp1252 Finnish: hyvä; pöytä; ei tänään
Tämä on hyvä väite, mutta pitää tänään lukea lisää.| Työ jäi kesken, koska sää oli märkä.
cp1252 German: männlich; groß; übel
Die Antwort gefällt mir überhaupt nicht, schöne Grüße.| Größe und Höhe fehlen für die Bäume.
cp1252 Icelandic: já, það; góð; ekki með
Það er góð spurning og við svörum þessu á morgun.| Hún sagði að veðrið væri síðan æði gott.
cp1250 Hungarian: nő; férfi; egyszerű
A kérdés első része egyszerű és jól érthető.| Az időjárás hűvös, később eső várható.
cp1250 Romanian: bărbaţi; greşit; în parte
Această întrebare este uşor de înţeles şi fără greşeli.| Să vorbim după ce aţi citit şi încă o dată.
cp1250 Czech: muž; žádný; těžké
Otázka je příliš těžká, řekl včera učitel.| Když jsme přišli domů, bylo už všechno zavřené.
cp1250 Slovak: muž; žiadny; ťažké
Otázka je príliš ťažká, povedal včera učiteľ.| Keď sme prišli, všetko už bolo späť na stole.
cp1250 Polish: mężczyzna; źle; zupełnie
Pytanie było łatwe, ale odpowiedź jest błędna.| Myślę, że są różne zdania i żadne nie jest złe.
cp1250 Croatian: muško; žensko; točno
Sljedeće pitanje nije točno, možda će biti lakše.| Kuća je već prodana, a mlađi će živjeti drugdje.
cp1250 Slovene: moški; ženska; točno
Vprašanje je težko, vendar še ni zaključeno.| Včeraj smo že našli rešitev, ki še velja.
cp1254 Turkish: kadın; değil; yanlış
Bu soru çok açık değil, yarın tekrar yazışalım.| İstanbul'da hava sıcak ve güneşliydi, ağaçlar yeşil.
cp1257 Lithuanian: visiškai ne; iš dalies, taip; mažai žinių
Šis klausimas yra per sunkus, todėl atsakymų mažai.| Vėliau žmonės grįžo į savo namus už miško.
cp1257 Latvian: nē; pilnīgi; mazāk šeit
Šis jautājums ir pārāk grūts, tāpēc atbilžu ir maz.| Vēlāk cilvēki atgriezās mājās aiz meža, ļoti lēni.
"""  # noqa: RUF001
"""For each language its code page, three labels and two sentences."""
LINES = LANGUAGES.strip().splitlines()
EVERY = {}
for head, told in zip(LINES[::2], LINES[1::2], strict=True):
    page, language, labels = head.replace(":", "").split(" ", 2)
    EVERY[language] = (page, labels.split("; "), told.split("| "))


def small(labels: list[str]) -> str:
    rows = [f"{item};r{rater};{labels[(item + rater) % 3]}" for item in range(8) for rater in range(3)]
    return "\r\n".join(["item;rater;label", *rows, ""])


def larger(sentences: list[str], labels: list[str]) -> str:
    rows = [f"{n};{sentences[n % 2]} {n};r{n % 3};{labels[n % 3]}" for n in range(300)]
    return "\r\n".join(["item;text;rater;label", *rows, ""])


def decoded(text: str, page: str) -> str:
    """The text written in a code page and read from it."""
    return to_utf8(text.encode(page), "votes.csv")[0].decode()


@pytest.mark.parametrize("language", EVERY)
def test_each_language_is_read_in_its_code_page(language: str) -> None:
    page, labels, sentences = EVERY[language]
    for text in (small(labels), larger(sentences, labels), " ".join(sentences)):
        read, encoding, notes = to_utf8(text.encode(page), "votes.csv")
        assert read.decode() == text
        assert encoding == page.replace("cp", "Windows-") or text.encode(page) == text.encode("cp1252")
        assert len(notes) == 1
    text = larger(sentences, labels)
    # Turkish capitals are not those of Python, which makes I of both i and dotless i.
    capitals = text.translate({ord("i"): "İ"}).upper() if language == "Turkish" else text.upper()
    assert decoded(capitals, page) == capitals
    for label in (one for one in labels if page == "cp1252" and not one.isascii()):  # alone
        text = f"item,label\n1,{label}\n2,no\n" * 5
        assert decoded(text, page) == text


def test_what_tells_a_code_page_and_bytes_of_none() -> None:
    signs = "item,label\n1,¿Cuántos m³ son?\n2,½ taza\n3,1º piso\n4,£5 más\n"  # beside words
    names = "name,votes\nMüller,1\nNúñez,2\nGonçalves,3\nSørensen,2\nSão Tomé,1\nLefèvre,2\nÅngström,3\n"
    nothing = "item,label\n1,pleť\n2,zeď\n3,síť\n"  # a byte that is nothing in Windows-1252
    for page, text in (("cp1252", signs), ("cp1252", names), ("cp1250", nothing)):
        assert decoded(text, page) == text
    with pytest.raises(DataError, match="not text in Windows-1252"):
        to_utf8(b"item,label\n1,caf\xe9\n2,\x81\x8d\x90\xa9\x98\x83\n", "votes.csv")


@pytest.mark.parametrize(
    ("page", "labels", "said"),
    [
        ("cp1252", ["pâté", "élevé", "très", "après"], "row 4 holds 'très' for one"),
        ("cp1250", ["férfi", "nő", "első", "egyszerű", "időjárás", "később"], "row 3 holds 'nő'"),
        ("cp1252", ["thé"], "row 2 holds 'é' for one"),  # all pages agree
        ("shift_jis", ["いいえ、違います", "はい"] * 3, "holds 'い' for one"),
        ("cp1252", ["x" * 50 + "ñ" + "y" * 50], "xñy"),
    ],
)
def test_the_note_shows_a_word_or_letter_that_the_other_page_would_change(page, labels, said) -> None:
    rows = "".join(f"{n},{label}\n" for n, label in enumerate(labels))
    (note,) = to_utf8(f"item,label\n{rows}".encode(page), "votes.csv")[2]
    assert said in note.message
    assert "x" * 20 not in note.message


BODY = [[f"C{n}", "1", "y", "2", "n"] for n in range(3)]


def table(text: str) -> Table:
    return read_table(text.encode(), "votes.csv")


def test_which_rows_name_the_columns():
    def named(text: str, columns: str, rows: int) -> None:
        found = table(text)
        assert (",".join(found.columns), len(found)) == (columns, rows)

    named(UNNAMED, "column 1,column 2,column 3", 4)
    named("C1,P1,yes\nC2,P1,no\nC1,P2,no\nC2,P2,yes\n", "column 1,column 2,column 3", 4)
    named("1,,3,2\n,2,3,2\n1,1,,2\n", "column 1,column 2,column 3,column 4", 3)
    named("P01,Man\nP02,Woman\nP03,Man\n", "column 1,column 2", 3)
    named("item,rater,label\na,x,1\nb,x,2\n", "item,rater,label", 2)
    named("item,1,2,3\n1,5,4,3\n2,3,3,3\n", "item,1,2,3", 2)
    named(",1,3,7\n1,5,4,3\n2,3,3,3\n", "column 1,1,3,7", 2)
    named(",1,2,3\n1,5,4,3\n2,3,3,3\n", "column 1,1,2,3", 2)
    named("0,1,2\n5,4,3\n3,3,3\n", "0,1,2", 2)
    named("29670858,29670860,29670861\n5,4,3\n3,3,3\n", "29670858,29670860,29670861", 2)
    named("2019,2020\n5,4\n3,3\n", "2019,2020", 2)
    named("text,label\nhello,1\nyou,2\n", "text,label", 2)
    # Row names, as R writes them.
    named('"item","rater","label"\n"1","a","x",3\n"2","b","x",4\n', "column 1,item,rater,label", 2)
    named(INDEXED, "item,P1,P2", 2)


def test_headers_may_have_two_levels_or_none_and_it_is_said():
    assert (table(UNNAMED).row(0), table(INDEXED).row(0)) == (1, 4)
    for text, said in (
        (UNNAMED, "the columns have no names"),
        (FIELD_SHORT, "one field shorter than the rows"),
        (TWO_ROWS, "from the first 2 rows"),
    ):
        assert any(said in problem.message for problem in table(text).problems)
    for text in (",off,off,sar,sar\nrater,P1,P2,P1,P2\nitem,,,,\na,1,2,y,n\nb,3,4,y,n\n", TWO_ROWS):
        found = table(text)
        spec = recognise(found).spec
        assert (len(found), spec.rater) == (4, "rater")
        assert load(found, None, spec).summary.annotations == 4


UNNAMED, FIELD_SHORT = "1,1,1\n2,1,2\n5,1,2\n1,2,3\n", "item,rater,label\n1,a,x,3\n2,b,x,4\n"
TWO_ROWS = "item,P1,,P2,\n,off,sar,off,sar\na,1,y,2,n\nb,3,y,4,n\n"
INDEXED = ",label,label\nrater,P1,P2\nitem,,\na,1,2\nb,2,1\n"


def test_what_may_look_like_a_header_or_not():
    words = [f"{one}{n}" for n in range(6) for one in ("alpha", "beta", "gamma")]
    rows = [",".join([*(f"{word}x{place}" for place in range(5)), "1", "2"]) for word in words]
    found = table("\n".join(["topic,author,mood,tone,place,1,2", *rows]))
    assert found.columns == ("topic", "author", "mood", "tone", "place", "1", "2")
    rows = [f"21687865{n % 9:03},{n:02}hfu1edim4o69ihnmeas7{n % 7:02},{'n123'[n % 4]}" for n in range(80)]
    assert len(table("\n".join(rows))) == 80
    found = table("item,rater,label\na,x,1\nb,x,2\nitem,rater,label\na,y,1\nb,y,2\n")
    assert (len(found), found.row(2)) == (4, 5)
    assert any("1 row that repeats the header left out" in problem.message for problem in found.problems)


@given(
    st.integers(2, 12),
    st.integers(2, 6),
    st.sampled_from((str, "C{}".format, "user_{}".format)),
    st.randoms(use_true_random=False),
)
def test_a_table_of_triples_loses_no_row(items, raters, style, rng):
    rows = [[style(i), style(100 + j), rng.choice("12345")] for i in range(items) for j in range(raters)]
    rng.shuffle(rows)
    found = rows_table(rows)
    if len({row[0] for row in rows[1:]}) == items and len({row[1] for row in rows[1:]}) == raters:
        assert found.columns == ("column 1", "column 2", "column 3")
        assert [[found.cell(name, row) for name in found.columns] for row in range(len(found))] == rows


LONG = [f"i{n},w{r},{(n + r) % 3},{'fm'[r % 2]}" for n in range(6) for r in range(4)]
WIDE = [f"P{n},{20 + n},{n % 5},{n % 4},{n % 3}" for n in range(12)]


@pytest.mark.parametrize(
    ("header", "described", "rows"),
    [
        ("item,worker,rude,gender", "Id of the item,Id of the worker,Is it rude?,Self-reported", LONG),
        ("item,worker,rude,gender", "item id,worker id,0 to 2,", LONG),
        ("CASE,age,q1,q2,q3", "Interview,Your age,How rude is text 1?,text 2,text 3", WIDE),
    ],
)
def test_a_row_that_describes_the_columns_is_no_data(header, described, rows):
    found = table("\n".join([header, described, *rows]))
    assert (len(found), found.row(0)) == (len(rows), 3)
    column, cell = header.split(",")[0], described.split(",")[0]
    said = f"votes.csv: row 2 describes the columns (of '{column}' it says '{cell}'), and was left out"
    assert said in [problem.message for problem in found.problems]


def test_a_first_row_that_may_be_an_answer_stays():
    for header, first, rows in (
        ("item,worker,rude,gender", "i99,w99,3,x", LONG),
        ("item,worker,rude,gender", "i99,w99,none,f", LONG),
        ("rater,age,q1,q2,q3", "P99,unknown,0,0,0", WIDE),
        ("rater,gender,country,job", "P99,Other,Peru,Nurse", [f"P{n},Woman,UK,None" for n in range(9)]),
        ("rater,gender,age", "P99,Other,unknown", [f"P{n},Woman,{20 + n}" for n in range(9)]),
    ):
        assert len(table("\n".join([header, first, *rows]))) == len(rows) + 1


@pytest.mark.parametrize(
    "third", ["Number,Response,Response,Response,Open-Ended Response", "id,text,1-5,1-5,years"]
)
def test_a_third_row_of_a_header_is_no_answer(third):
    said = "Respondent,What is your gender?,How rude is text 1?,How rude is text 2?,How old are you?"
    rows = [f"{n},{('Man', 'Woman')[n % 2]},{n % 5},{n % 3},{20 + n}" for n in range(1, 21)]
    found = table("\n".join(["ID,gender,Q1,Q2,age", said, third, *rows]))
    assert (len(found), found.row(0)) == (20, 4)
    assert len(table("\n".join(["ID,gender,Q1,Q2,age", said, "0,Man,1,1,33", *rows]))) == 21


def test_workbooks_have_such_headers_too():
    for rows, count in (
        ([["item", "P1", "", "P2", ""], ["", "off", "sar", "off", "sar"], *BODY], 6),
        ([["", "P1", "", "P2", ""], ["item", "off", "sar", "off", "sar"], *BODY], 6),
        ([["C1", "P1", "yes"], ["C2", "P1", "no"], ["C1", "P2", "no"], ["C2", "P2", "yes"]], 4),
    ):
        table = read_table(xlsx_bytes(rows), "votes.xlsx")
        spec = recognise(table).spec
        assert load(table, None, spec).summary.annotations == count


VOTES = "".join(f"d{at}\tw{at % 4}\t{'yn'[at % 2]}\t{at % 3}\n" for at in range(24))


@pytest.mark.parametrize(
    ("types", "roles"),
    [
        ("string\tdiscrete\tdiscrete\tcontinuous", "meta\tmeta\t\tclass"),
        ("s\td\td\tc", "m\t\t\tc"),
        ("string\tw0 w1 w2 w3\tn y\tcontinuous", "meta\tmeta\t\tclass"),
    ],
)
def test_types_and_roles_as_orange_writes_them_are_no_data(types, roles):
    found = table(f"item\trater\tsure\trude\n{types}\n{roles}\n{VOTES}")
    assert (len(found), found.row(0)) == (24, 4)
    said = " ".join(problem.message for problem in found.problems)
    assert "row 2 describes the columns" in said
    assert "row 3 describes the columns" in said


def test_labels_that_only_look_like_types_stay():
    for first in ("c\td\ts\td\nm\tm\t\tc\nc\td\ts\td\n", "d\td\td\td\n\t\t\t\n", "d\tw\td\td\nm\tm\t\tc\n"):
        rows = sum(map(bool, map(str.strip, first.splitlines())))
        assert len(table(f"P1\tP2\tP3\tP4\n{first}{VOTES}")) == 24 + rows


@pytest.mark.parametrize("ids", ["R{}", "{}"])
def test_a_raters_file_tells_which_column_without_a_name_holds_raters(ids):
    rows = [[ids.format(j), str(i), "12"[i * j % 2]] for i in range(40) for j in range(24) if (i + j) % 5]
    raters = rows_table([["id", "age"], *([ids.format(j), str(20 + j)] for j in range(24))], "raters.csv")
    guess = recognise(rows_table(rows), raters)
    assert (guess.spec.rater, guess.spec.item, guess.spec.label) == ("column 1", "column 2", "column 3")
    assert "rater" not in [reason.field for reason in guess.uncertain]


@pytest.mark.parametrize("header", ["item,label", "i0,yes"])
def test_a_short_row_further_down_is_refused_by_its_line(header):
    rows = [header, *(f"i{row},yes" for row in range(1, 9)), "short", "i10,no"]
    with pytest.raises(DataError, match="row 10: 1 field found"):
        table("\n".join(rows))


@pytest.mark.parametrize(
    "above",
    ["Coding sheet 2021,,,\nCoder:,Anna,,\n,,,\n", "Coder: Anna,,,\n\n", ",,,\nCoding sheet,,,\nWave,2,,\n"],
)
def test_titles_above_the_names_are_left_out_with_a_note(above):
    """As spreadsheets save them; their cells behind the title are blank."""
    rows = "".join(f"{n},Text {n},{'yes' if n % 2 else 'no'},{'abc'[n % 3]}\n" for n in range(1, 20))
    table = read_table(f"{above}No.,Text,Rude,Kind\n{rows}".encode(), "votes.csv")
    assert (table.columns, len(table)) == (("No.", "Text", "Rude", "Kind"), 19)
    row = above.count("\n") + 1
    assert table.first_row == row + 1
    assert f"the column names were taken from row {row}; " in table.problems[0].message


@pytest.mark.parametrize(
    "row", ["text {n},{yes},no,yes", "{n},Text {n},{yes},maybe", "t{n},x{n},{yes},{abc}"]
)
def test_rows_below_names_that_are_blank_are_data(row):
    cells = ({"n": n, "yes": "yes" if n % 2 else "no", "abc": "abc"[n % 3]} for n in range(1, 20))
    rows = "".join(f"{row.format(**one)}\n" for one in cells)
    table = read_table(f"id,text,,\n{rows}".encode(), "votes.csv")
    assert (table.columns[:2], len(table)) == (("id", "text"), 19)


@pytest.mark.parametrize("above", [",,\n", ",,\n , ,\n"])
def test_rows_of_delimiters_alone_above_a_table_are_no_header(above):
    found = table(f"{above}item,rater,label\ni1,r1,yes\ni1,r2,no\n")
    assert (found.columns, len(found), found.row(0)) == (("item", "rater", "label"), 2, above.count("\n") + 2)


@needs_shared_data
def test_real_triples():
    found = read_table(SHARED / "data" / "exports" / "survey" / "numeric_triples_noheader.csv")
    assert len(found) == 725
    assert found.distinct("column 3") == ("1", "2", "4", "5", "3")
