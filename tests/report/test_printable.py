import json

import pytest

from grasp_core.model.result import RunResult
from grasp_core.model.text import json_text, printable
from grasp_core.report.words.printable import printable_result
from tests.report.hostile import TEXTS, hostile_result
from tests.results import make_result


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Asian, Woman", "Asian, Woman"),
        ("日本 🦒 ‏עברית", "日本 🦒 ‏עברית"),
        ("a\tb\r\nc\u2028d", "a b  c d"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00b\x1b[0m", "a[U+0000]b[U+001B][0m"),
        ("a\ud800b\uffff", "a[U+D800]b[U+FFFF]"),
    ],
)
def test_unseen_characters_are_named(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_every_text_of_a_result_is_visible():
    hostile = hostile_result()
    plain = printable_result(hostile).to_dict()
    spec = plain.pop("spec")
    assert printable(str(plain)) == str(plain)
    assert not [escape for escape in ("\\x1b", "\\ud800", "\\u202e", "\\n") if escape in str(plain)]
    assert spec == hostile.spec.to_dict()
    result = make_result()
    assert printable_result(result) == result
    hostile = hostile_result()
    text = json_text(hostile.to_dict())
    assert printable(text.replace("\n", "")) == text.replace("\n", "")
    assert json.loads(text.encode("utf-8")) == hostile.to_dict()
    assert RunResult.from_dict(json.loads(text)) == hostile
    assert json.loads(json_text(list(TEXTS))) == list(TEXTS)
