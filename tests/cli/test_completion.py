"""``completion``: what a shell offers behind a few words."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grasp_core import cli

ASKED = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _grasp; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The script of each shell."""
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("grasp_core.cli.completion.say", lambda text, end: said.append(text))
        assert [cli.main(["completion", shell]) for shell in ("bash", "zsh", "fish")] == [0, 0, 0]
    return dict(zip(("bash", "zsh", "fish"), said, strict=True))


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["grasp", "agr"], {"agreement"}),
        (["grasp", "run", "--lev"], {"--level"}),
        (["grasp", "run", "--level", "or"], {"ordinal"}),
        (["grasp", "raft", "val"], {"validate"}),
        (["grasp", "raft", "score", "--ta"], {"--tasks"}),
        (["grasp", "run", "--out", "re"], {"result one.json", "result.json"}),
        (["grasp", "report", "result."], {"result.json"}),
        (["grasp", "run", "--axis", "r"], {""}),
        (["grasp", "completion", ""], {"bash", "zsh", "fish"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bash_offers_what_may_follow(
    tmp_path: Path, scripts: dict[str, str], words: list[str], offered: set[str]
) -> None:
    for name in ("result.json", "result one.json"):
        (tmp_path / name).touch()
    (tmp_path / "script").write_text(f"{scripts['bash']}\n{ASKED}\n", encoding="utf-8")
    ran = subprocess.run(["bash", "script", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(ran.stdout.split("\n")[:-1]) == offered
    assert ran.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_knows_all_commands(scripts: dict[str, str], shell: str) -> None:
    for command in cli.entry.COMMANDS:
        assert command.name in scripts[shell]
    assert "--no-pairs" in scripts[shell] or "-l no-pairs" in scripts[shell]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_another_shell_reads_its_script(tmp_path: Path, scripts: dict[str, str], shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(scripts[shell], encoding="utf-8")
    subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)
