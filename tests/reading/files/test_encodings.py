"""Code pages are told apart by the letters of languages, and the note shows a word that tells."""

from __future__ import annotations

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.files.encodings import to_utf8

WESTERN = {
    "French": (
        ["très bien", "à côté", "déçu"],
        ["La réponse est très claire, même après relecture.", "Où sont passées les pièces à vérifier ?"],
    ),
    "Spanish": (
        ["mañana", "sí", "quizás"],
        ["¿Está bien escrita la pregunta de mañana?", "El niño llegó después y no pidió más."],
    ),
    "Portuguese": (
        ["não", "sim, é", "opinião"],
        ["Não há razão para mudar a opinião.", "As três lições são difíceis, você também não acha?"],
    ),
    "Italian": (
        ["è così", "perché", "più"],
        ["Perché la città è più bella di sera?", "Non si può dire di no, però è già tardi."],
    ),
    "Dutch": (
        ["beïnvloed", "één", "geëerd"],
        ["De ideeën van één groep zijn geërfd.", "Beïnvloeding van vóór de oorlog, zonder coördinatie."],
    ),
    "Catalan": (
        ["això", "què", "maça"],
        ["Això és el que més m'agrada, també a fora.", "Què vol dir la lliçó d'avui, si és possible?"],
    ),
    "Swedish": (
        ["på", "nej då", "också"],
        ["Jag tror att många får höra på när det går så.", "Frågan är för svår, även på nästa år."],
    ),
    "Danish": (
        ["køn", "må ikke", "særlig"],
        ["Jeg tror på, at spørgsmålet er blevet læst.", "Både år og køn mangler, så må vi gætte."],
    ),
    "Norwegian": (
        ["kjønn", "må ikke", "på"],
        ["Spørsmålet ble ikke lest nøye på skolen.", "Vi må gå før været blir dårlig, så gå nå."],
    ),
    "Finnish": (
        ["hyvä", "pöytä", "ei tänään"],
        ["Tämä on hyvä väite, mutta pitää tänään lukea lisää.", "Työ jäi kesken, koska sää oli märkä."],
    ),
    "German": (
        ["männlich", "groß", "übel"],
        ["Die Antwort gefällt mir überhaupt nicht, schöne Grüße.", "Größe und Höhe fehlen für die Bäume."],
    ),
    "Icelandic": (
        ["já, það", "góð", "ekki með"],
        ["Það er góð spurning og við svörum þessu á morgun.", "Hún sagði að veðrið væri síðan æði gott."],
    ),
}
OTHERS = {
    "Hungarian": (
        "cp1250",
        ["nő", "férfi", "egyszerű"],
        ["A kérdés első része egyszerű és jól érthető.", "Az időjárás hűvös, később eső várható."],
    ),
    "Romanian": (
        "cp1250",
        ["bărbaţi", "greşit", "în parte"],
        [
            "Această întrebare este uşor de înţeles şi fără greşeli.",
            "Să vorbim după ce aţi citit şi încă o dată.",
        ],
    ),
    "Czech": (
        "cp1250",
        ["muž", "žádný", "těžké"],
        ["Otázka je příliš těžká, řekl včera učitel.", "Když jsme přišli domů, bylo už všechno zavřené."],
    ),
    "Slovak": (
        "cp1250",
        ["muž", "žiadny", "ťažké"],
        ["Otázka je príliš ťažká, povedal včera učiteľ.", "Keď sme prišli, všetko už bolo späť na stole."],
    ),
    "Polish": (
        "cp1250",
        ["mężczyzna", "źle", "zupełnie"],
        ["Pytanie było łatwe, ale odpowiedź jest błędna.", "Myślę, że są różne zdania i żadne nie jest złe."],
    ),
    "Croatian": (
        "cp1250",
        ["muško", "žensko", "točno"],
        [
            "Sljedeće pitanje nije točno, možda će biti lakše.",
            "Kuća je već prodana, a mlađi će živjeti drugdje.",
        ],
    ),
    "Slovene": (
        "cp1250",
        ["moški", "ženska", "točno"],
        ["Vprašanje je težko, vendar še ni zaključeno.", "Včeraj smo že našli rešitev, ki še velja."],
    ),
    "Turkish": (
        "cp1254",
        ["kadın", "değil", "yanlış"],  # noqa: RUF001
        [
            "Bu soru çok açık değil, yarın tekrar yazışalım.",  # noqa: RUF001
            "İstanbul'da hava sıcak ve güneşliydi, ağaçlar yeşil.",  # noqa: RUF001
        ],
    ),
    "Lithuanian": (
        "cp1257",
        ["visiškai ne", "iš dalies, taip", "mažai žinių"],
        ["Šis klausimas yra per sunkus, todėl atsakymų mažai.", "Vėliau žmonės grįžo į savo namus už miško."],
    ),
    "Latvian": (
        "cp1257",
        ["nē", "pilnīgi", "mazāk šeit"],
        [
            "Šis jautājums ir pārāk grūts, tāpēc atbilžu ir maz.",
            "Vēlāk cilvēki atgriezās mājās aiz meža, ļoti lēni.",
        ],
    ),
}
EVERY = {name: ("cp1252", *texts) for name, texts in WESTERN.items()} | OTHERS
SHOWN = {
    "cp1250": "Windows-1250",
    "cp1252": "Windows-1252",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
}


def small(labels: list[str]) -> str:
    rows = [f"{item};r{rater};{labels[(item + rater) % 3]}" for item in range(8) for rater in range(3)]
    return "\r\n".join(["item;rater;label", *rows, ""])


def larger(sentences: list[str], labels: list[str]) -> str:
    rows = [f"{n};{sentences[n % 2]} {n};r{n % 3};{labels[n % 3]}" for n in range(300)]
    return "\r\n".join(["item;text;rater;label", *rows, ""])


def example_of(content: bytes) -> str:
    (note,) = to_utf8(content, "votes.csv")[2]
    return note.message


@pytest.mark.parametrize("language", EVERY)
def test_each_language_is_read_in_its_code_page(language: str) -> None:
    page, labels, sentences = EVERY[language]
    for text in (small(labels), larger(sentences, labels), " ".join(sentences)):
        read, encoding, notes = to_utf8(text.encode(page), "votes.csv")
        assert read.decode() == text
        assert encoding == SHOWN[page] or text.encode(page) == text.encode("cp1252")
        assert len(notes) == 1


@pytest.mark.parametrize("language", WESTERN)
def test_single_western_labels_are_read_right(language: str) -> None:
    for label in filter(lambda one: not one.isascii(), WESTERN[language][0]):
        text = f"item,label\n1,{label}\n2,no\n" * 5
        assert to_utf8(text.encode("cp1252"), "votes.csv")[0].decode() == text


@pytest.mark.parametrize("language", EVERY)
def test_capitals_are_told_as_well(language: str) -> None:
    page, labels, sentences = EVERY[language]
    text = larger(sentences, labels)
    # Turkish capitals are not those of Python, which makes I of both i and dotless i.
    text = text.translate({ord("i"): "İ"}).upper() if language == "Turkish" else text.upper()
    assert to_utf8(text.encode(page), "votes.csv")[0].decode() == text


def test_signs_beside_words_are_no_letters() -> None:
    text = "item,label\n1,¿Cuántos m³ son?\n2,½ taza\n3,1º piso\n4,£5 más\n"
    assert to_utf8(text.encode("cp1252"), "votes.csv")[0].decode() == text


def test_names_of_all_countries_are_western() -> None:
    text = "name,votes\nMüller,1\nNúñez,2\nGonçalves,3\nSørensen,2\nSão Tomé,1\nLefèvre,2\nÅngström,3\n"
    assert to_utf8(text.encode("cp1252"), "votes.csv")[0].decode() == text


def test_a_byte_that_is_nothing_in_windows_1252_tells() -> None:
    text = "item,label\n1,pleť\n2,zeď\n3,síť\n"
    assert to_utf8(text.encode("cp1250"), "votes.csv")[0].decode() == text


def test_bytes_of_no_code_page_are_refused() -> None:
    with pytest.raises(DataError, match="not text in Windows-1252"):
        to_utf8(b"item,label\n1,caf\xe9\n2,\x81\x8d\x90\xa9\x98\x83\n", "votes.csv")


def test_the_note_shows_a_word_that_the_other_page_would_change() -> None:
    french = "item,label\n1,pâté\n2,élevé\n3,très\n4,après\n"
    assert "row 4 holds 'très' for one" in example_of(french.encode("cp1252"))
    hungarian = "item,label\n1,férfi\n2,nő\n3,első\n4,egyszerű\n5,időjárás\n6,később\n"
    assert "row 3 holds 'nő' for one" in example_of(hungarian.encode("cp1250"))


def test_the_note_shows_some_letter_where_all_pages_agree() -> None:
    assert "row 2 holds 'é' for one" in example_of("item,label\n1,thé\n".encode("cp1252"))


def test_the_note_shows_only_a_part_of_a_long_word() -> None:
    text = "item,label\n1," + "x" * 50 + "ñ" + "y" * 50 + "\n"
    message = example_of(text.encode("cp1252"))
    assert "xñy" in message
    assert "x" * 20 not in message


def test_the_note_shows_a_whole_letter_of_several_bytes() -> None:
    text = "item,label\n1,いいえ、違います\n2,はい\n" * 3
    assert "holds 'い' for one" in example_of(text.encode("shift_jis"))
