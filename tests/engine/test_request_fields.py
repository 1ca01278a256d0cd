"""Sentences of the API name fields of requests; GRASP's own clients turn these into their options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_core.cli.terminal.messages import CommandLine
from grasp_core.engine.request_fields import for_requests
from grasp_core.notebook.remote import in_python, in_words_of

CORE = Path(__file__).parents[2] / "grasp_core"
OPTION = re.compile(r"(?<![\w-])--[a-z]")
BINS = (
    '"recode": [{"column": "age", "edges": [30.0, 50.0], '
    '"labels": ["under 30", "30-49", "50 and over"], "kind": "bins"}]'
)


@pytest.mark.parametrize(
    ("said", "to_programs", "on_a_terminal", "in_notebooks"),
    [
        (
            "on Data, under Leave out, or by --drop status=spam; else",
            'by "filters": {"drop": [["status", "spam"]]}; else',
            "by --drop status=spam; else",
            "by filters=grasp.Filters(drop=[('status', 'spam')]); else",
        ),
        (
            "on Data, or by --exclude 'my age=18'.",
            'by "exclude": [["my age", "18"]].',
            "by --exclude 'my age=18'.",
            "by exclude=[['my age', '18']].",
        ),
        (
            "name it with --label; a",
            'name it with "label"; a',
            "name it with --label; a",
            "name it with label=; a",
        ),
        (
            "under Recode values, or by --bins age:30,50",
            f"by {BINS}",
            "by --bins age:30,50",
            "by recode=[grasp.Bins(...)] of age:30,50",
        ),
        (
            "proposed: --categories 'low,high'",
            'proposed: "categories": ["low", "high"]',
            "proposed: --categories low,high",
            "proposed: categories=['low', 'high']",
        ),
        ("on Data, or by --missing -9", 'by "missing": ["-9"]', "by --missing -9", "by missing=['-9']"),
        (
            "on Analysis, or by --intersect a:b",
            'by "axes": [["a", "b"]]',
            "by --intersect a:b",
            "by axes=[('a', 'b')]",
        ),
        ("on Analysis, or by --axis.", 'by "axes".', "by --axis.", "by axes=."),
        (
            "on Results or Data, or by --leave-out constant (screens, in Python and in specs)",
            'by "screens": ["constant"]',
            "by --leave-out constant",
            "by screens=['constant']",
        ),
        ("by --within and it", 'by "strata" and it', "by --within and it", "by strata= and it"),
        (
            "by --item COLUMN+COLUMN",
            'by "item": "COLUMN+COLUMN"',
            "by --item COLUMN+COLUMN",
            "by item='COLUMN+COLUMN'",
        ),
        (
            "by --exclude-rater 'GPT 4'",
            'by "filters": {"raters": ["GPT 4"]}',
            "by --exclude-rater 'GPT 4'",
            "by filters=grasp.Filters(raters=['GPT 4'])",
        ),
        (
            "by --raters 'f.zip' --raters-member 'a.csv'",
            'by "raters": "f.zip" "raters_part": "a.csv"',
            "by --raters f.zip --raters-member a.csv",
            "by raters='f.zip' raters_member='a.csv'",
        ),
    ],
)
def test_options_become_fields_and_come_back(said, to_programs, on_a_terminal, in_notebooks) -> None:
    told = for_requests(said)
    assert told == to_programs
    assert in_words_of(CommandLine(), told) == on_a_terminal
    assert in_python(told) == in_notebooks


def sentences() -> Iterator[tuple[str, str]]:
    """The texts of GRASP that name an option, but for those of the command itself."""
    for path in sorted(CORE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = [
            one.body[0].value
            for one in ast.walk(tree)
            if isinstance(one, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and isinstance(one.body[0] if one.body else None, ast.Expr)
        ]
        for one in ast.walk(tree):
            text = one.value if isinstance(one, ast.Constant) and one not in told else None
            if isinstance(text, str) and OPTION.search(text):
                yield path.name, text


def test_no_sentence_of_the_api_names_an_option_of_the_command() -> None:
    found = [*sentences()]
    assert len(found) > 60
    assert [one for one in found if OPTION.search(for_requests(one[1]))] == []
