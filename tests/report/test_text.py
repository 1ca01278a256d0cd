import pytest

from grasp_core.model.text import WORD_JOINER, Segment, Sentence, escape_markdown


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("Asian, Woman", r"Asian\, Woman"),
        ("<script>", r"\<script\>"),
        ("*bold* _it_ `code`", r"\*bold\* \_it\_ \`code\`"),
        ("[x](y)", r"\[x\]\(y\)"),
        ("$x$", r"\$x\$"),
        (":red[x]", rf"\:{WORD_JOINER}red\[x\]"),
        (":smile:", rf"\:{WORD_JOINER}smile\:"),
        ("www.evil.com", rf"www{WORD_JOINER}\.evil\.com"),
        ("a@b.com", rf"a\@{WORD_JOINER}b\.com"),
        ("back\\slash", r"back\\slash"),
        ("two\n\nlines", "two lines"),
        ("É, 日本 × β", r"É\, 日本 × β"),
    ],
)
def test_escape_markdown(text, escaped):
    assert escape_markdown(text) == escaped


def test_emphasis_is_apart_from_the_text():
    sentence = Sentence.of("Among them ", Segment("a*b", strong=True), ": 2.")
    assert sentence.plain == "Among them a*b: 2."
    assert sentence.markdown == r"Among them **a\*b**\: 2\."
    assert Sentence.of("a ", Segment("", strong=True), " b").markdown == "a  b"
    assert Sentence.of(" ", "b").markdown == " b"
