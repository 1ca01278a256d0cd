import io
import json
import zipfile
from dataclasses import replace

import pytest

from grasp_core.model.result import RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.report.tidy import table_csv
from grasp_core.report.writers.registry import EXPORTS, safe_name
from tests.report.hostile import TEXTS, hostile_result
from tests.results import make_result


def few():
    return make_result(make_result().groups[3:6])


@pytest.fixture(scope="module")
def files():
    return {name: export.make(few()) for name, export in EXPORTS.items()}


def test_the_list_and_file_names():
    assert list(EXPORTS) == ["csv", "xlsx", "latex", "markdown", "html", "json", "spec"]
    assert all(export.name == name for name, export in EXPORTS.items())
    assert len({export.label for export in EXPORTS.values()}) == len(EXPORTS)
    assert len({export.extension for export in EXPORTS.values()}) == len(EXPORTS)
    with pytest.raises(TypeError):
        EXPORTS["exe"] = EXPORTS["csv"]
    result = make_result()
    assert EXPORTS["xlsx"].file_name(result.spec) == "Q_overall by age, gender, race, race x gender.xlsx"
    assert EXPORTS["spec"].file_name(result.spec).endswith(".spec.json")
    spec = RunSpec(replace(result.spec.data, label="../x"), result.spec.analysis)
    assert EXPORTS["csv"].file_name(spec).startswith("x by age")


def test_every_export_is_what_it_says(files):
    result = few()
    assert files["csv"].decode() == table_csv(result)
    assert zipfile.is_zipfile(io.BytesIO(files["xlsx"]))
    assert files["latex"].startswith(b"% In the preamble")
    assert files["markdown"].startswith(b"# Q\\_overall by")
    assert files["html"].startswith(b"<!DOCTYPE html>")
    assert RunResult.from_dict(json.loads(files["json"])) == result
    spec = json.loads(files["spec"])
    assert spec["format"] == "grasp-spec"
    assert RunSpec.from_dict(spec["spec"]) == result.spec


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "html"])
def test_equal_results_give_equal_bytes(files, name):
    assert EXPORTS[name].make(few()) == files[name]


@pytest.mark.parametrize("name", ["csv", "json", "spec"])  # of the others see their own modules
def test_hostile_results_can_be_exported(name):
    text = EXPORTS[name].make(hostile_result()).decode("utf-8")
    if name != "csv":
        assert RunSpec.from_dict(json.loads(text)["spec"]) == hostile_result().spec


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Q_overall by age, race × gender", "Q_overall by age, race x gender"),
        ("../../etc/passwd", "etc-passwd"),
        ('a/b\\c:d*e?f"g<h>i|j', "a-b-c-d-e-f-g-h-i-j"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("a\r\nSet-Cookie: b\x00\u202e", "a-Set-Cookie- b"),
        ("CON", "grasp CON"),
        ("nul.txt", "grasp nul.txt"),
        ("console", "console"),
        ("name. ", "name"),
        ("日本語", "日本語"),
        ("\ud800", "grasp"),
        ("...", "grasp"),
        ("", "grasp"),
        ("=1+1", "1+1"),
    ],
)
def test_safe_names(title, name):
    assert safe_name(title) == name


@pytest.mark.parametrize(
    "title", [*TEXTS, "é" * 500, "日" * 500, "con" + "x" * 500], ids=lambda text: repr(text[:20])
)
def test_names_fit_everywhere(title):
    name = safe_name(title)
    assert 1 <= len(name) <= 80
    assert len(name.encode()) <= 200
    assert name == name.strip(" .-")
    assert not set(name) & set('/\\:*?"<>|\r\n\t\0')
    assert name.isprintable()
