"""The documents' commands run, and their examples look like the real thing.

Marks in the documents: the second word of a fence names the file that the block is (``votes.csv``,
``tasks.json``, ...), or the place in a result that a ``json`` block shows. The command lines of GRASP in an
``sh`` block are run unless its second word is ``needs-data``; they must print the lines of a ``text`` block
right after it (``...`` stands for any).
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from grasp_core import cli
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.cli.entry import COMMANDS
from grasp_core.report.tidy import (
    CSV_COLUMNS,
    GIVEN_COLUMNS,
    PAIR_COLUMNS,
    SLICE_COLUMNS,
    TAIL_COLUMNS,
)
from tests.links import anchors, named_rows, targets

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
FORMATS = ROOT / "docs" / "formats.md"
WRITTEN = ROOT / "docs" / "file-formats.md"
SECURITY = ROOT / "docs" / "security.md"
MODELS = ROOT / "docs" / "models.md"
USING = ROOT / "docs" / "using.md"
VALIDITY = ROOT / "docs" / "validity.md"
INDEX = ROOT / "docs" / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCUMENTS = (README, *sorted((ROOT / "docs").glob("*.md")), CONTRIBUTING)
COMMAND = "grasp "
FILES = (".csv", ".tsv", ".json", ".jsonl", ".txt")
_FENCE = re.compile(r"^```(\w+) ?([\w.-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _shown(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    language: str
    mark: str
    text: str


def blocks(document: Path) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(document.read_text(encoding="utf-8"))]


def commands(block: Block) -> list[list[str]]:
    lines = block.text.replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix(COMMAND)) for line in lines if line.startswith(COMMAND)]


def flat(text: str) -> str:
    return " ".join(text.split())


def run_blocks(document: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Write the document's files into the working folder, run its commands and compare what they print."""
    ran = 0
    found = blocks(document)
    for block in found:
        if block.mark.endswith(FILES):
            Path(block.mark).write_text(block.text, encoding="utf-8")
    for block, following in zip(found, [*found[1:], Block("", "", "")], strict=True):
        if block.language != "sh" or block.mark == "needs-data" or not commands(block):
            continue
        expected = following.text if following.language == "text" else ""
        capsys.readouterr()
        for arguments in commands(block):
            status = cli.main(arguments)
            assert status == (cli.BAD_INPUT if expected.startswith("grasp:") else 0), arguments
            ran += 1
        printed = capsys.readouterr()
        output = flat(printed.out + printed.err)
        for line in expected.splitlines():
            assert line == "..." or flat(line) in output
    return ran


@pytest.mark.parametrize("document", [USING, FORMATS], ids=lambda path: path.name)
def test_commands_run_and_print_what_is_shown(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run_blocks(document, capsys) > 1


def test_the_readme_shows_the_beginning_of_the_example_that_is_run() -> None:
    (example, text), (whole, whole_text) = (
        next((one, next_one) for one, next_one in pairwise(blocks(document)) if commands(one))
        for document in (README, USING)
    )
    for asked, run in zip(commands(example), commands(whole), strict=True):
        assert asked == run[: len(asked)]
    shown = text.text.removesuffix("...\n")
    assert shown.count("\n") > 3
    assert whole_text.text.startswith(shown)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_shown)
def test_commands_that_need_data_parse(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = tmp_path / "open" / "banking_77" / "task.json"  # whose classes an option takes
    task.parent.mkdir(parents=True)
    task.write_text(builtin_tasks()["banking_77"].task_json, encoding="utf-8")
    for block in blocks(document):
        for arguments in commands(block):
            cli.entry.make_parser().parse_args(arguments)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Result and table of the first example in the file formats."""
    folder = tmp_path_factory.mktemp("formats")
    for block in blocks(FORMATS):
        if block.mark.endswith(FILES):
            (folder / block.mark).write_text(block.text, encoding="utf-8")
    first = next(block for block in blocks(FORMATS) if commands(block))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(commands(first)[0]) == 0
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result, (folder / "table.csv").read_text(encoding="utf-8")


def agrees(shown: Any, real: Any, where: str) -> None:
    """The example has the fields of the real thing, and its values up to rounding; ``...`` is any text."""
    if isinstance(real, dict):
        assert isinstance(shown, dict), where
        if where.endswith(".statistics"):  # one of them stands for all
            assert set(shown) <= set(real), where
        else:
            assert list(shown) == list(real), where
        for name, value in shown.items():
            agrees(value, real[name], f"{where}.{name}")
    elif isinstance(real, list):
        assert isinstance(shown, list), where
        assert len(shown) == len(real) or where.endswith(".counts"), where
        for value, other in zip(shown, real, strict=False):
            agrees(value, other, f"{where}[]")
    elif isinstance(real, float):
        assert shown == pytest.approx(real, abs=5e-4), where
    else:
        assert shown in (real, "..."), where


def test_json_examples_are_those_of_a_real_result(outputs: tuple[dict[str, Any], str]) -> None:
    examples = [
        block
        for document in DOCUMENTS
        for block in blocks(document)
        if block.language == "json" and not block.mark.endswith(FILES)
    ]
    assert {block.mark for block in examples} == {"spec", "data", "groups.0", "dsi.0"}
    for block in examples:
        real: Any = outputs[0]
        for step in block.mark.split("."):
            real = real[int(step) if step.isdigit() else step]
        agrees(json.loads(block.text), real, block.mark)


def field_names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name == "labels" and isinstance(inner, dict):  # its fields are the data's own labels
                yield from field_names(list(inner.values()))
            elif name not in ("group", "a", "b"):  # their fields are the data's own axes
                yield from field_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from field_names(inner)


def test_every_field_and_column_is_described(outputs: tuple[dict[str, Any], str]) -> None:
    described = set(re.findall(r"`([^`\n]+)`", re.sub(_FENCE, "", WRITTEN.read_text(encoding="utf-8"))))
    codes = WRITTEN.with_name("codes.csv").read_text(encoding="utf-8")
    described |= set(re.findall(r"\*(\w+)\*", codes))  # the numbers of reasons and warnings
    assert set(field_names(outputs[0])) <= described
    every = (*CSV_COLUMNS, *PAIR_COLUMNS, *SLICE_COLUMNS, *GIVEN_COLUMNS, *TAIL_COLUMNS)
    columns = {one.name for one in every}
    assert columns <= described


def test_the_readme_is_one_page() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 90


def test_every_document_is_listed() -> None:
    listed = re.findall(r"^\| \[([\w-]+\.md)\]", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
    there = {path.name for path in INDEX.parent.glob("*.md")} - {INDEX.name}
    assert len(listed) == len(set(listed))
    assert set(listed) - {CONTRIBUTING.name, "CHANGELOG.md"} == there


def test_the_tables_columns_are_shown(outputs: tuple[dict[str, Any], str]) -> None:
    shown = [block.text for block in blocks(WRITTEN) if block.language == "csv" and not block.mark]
    assert shown == [outputs[1].splitlines(keepends=True)[0]]


def test_explained_messages_exist() -> None:
    section = FORMATS.read_text(encoding="utf-8").split("## When a file is refused")[1].split("```")[0]
    messages = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][1:]
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "grasp_core").rglob("*.py"))
    assert len(messages) > 10
    for message in messages:
        for part in re.split(r" / |\.\.\.", message):
            assert part.strip() in source, message


@pytest.mark.parametrize(
    "command",
    ["run", "quality", "agreement", "raters", "report", "compare", "items", "completion", "fetch", "models"]
    + ["rater-map", "plan"]
    + [f"raft {name}" for name in ("validate", "score", "compare", "baseline", "tune", "sheet", "human")],
)
def test_every_option_is_described(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    written = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert options
    assert {option for option in options if option not in written} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=_shown)
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(_FENCE, "", document.read_text(encoding="utf-8"))
    for target in targets(text):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        other = (document.parent / path) if path else document
        assert other.exists(), target
        if heading:
            assert heading in anchors(other.read_text(encoding="utf-8")), target


def test_rows_of_the_study_have_anchors_of_their_own() -> None:
    named = named_rows(VALIDITY.read_text(encoding="utf-8"))
    assert len(named) > 100
    assert len(set(named)) == len(named)


def test_every_promise_of_security_names_tests_that_there_are() -> None:
    text = SECURITY.read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[^`]+)`", text)
    assert len(named) > 60
    for one in named:
        path, _, test = one.partition("::")
        content = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {test}\(", content, re.MULTILINE), one
    for line in text.splitlines():
        if line.startswith("| ") and line.count(" | ") == 1 and not line.startswith("| promise"):
            assert "`tests/" in line, line


def test_messages_name_only_commands_that_there_are() -> None:
    known = {one.name for one in COMMANDS}
    sources = [*(ROOT / "grasp_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    named = {name for one in sources for name in re.findall(r"`grasp ([a-z-]+)", one.read_text("utf-8"))}
    assert "report" in named
    assert named <= known
