"""The commands of docs/api.md, run as they stand there against a real server."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.watching import votes
from tests.serving import ROOT, Served


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_documented_commands_upload_run_and_follow(served: Served, tmp_path: Path) -> None:
    document = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    commands = re.findall(r"```sh\n(curl .*?)```", document, re.DOTALL)
    listing, upload, start, follow = (
        next(one for one in commands if part in one)
        for part in ("/api/v1/runs\n", "--data-binary", "Idempotency-Key", "/events")
    )
    table = votes().decode().splitlines()
    lines = [
        "item_id,rater_id,gender,label,race",
        *(f"{row},{'AB'[at % 3 == 0]}" for at, row in _numbered(table)),
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(lines), encoding="utf-8")
    said = {"SERVER": served.url, "TOKEN": _token(served)}

    def command(text: str, **more: str) -> str:
        asked = ["sh", "-euc", text.replace("curl ", "curl --silent --show-error --fail-with-body ")]
        given = {**os.environ, **said, **more}
        answer = subprocess.run(asked, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=120)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    stored = json.loads(command(upload))
    assert stored["name"] == "ratings.csv"
    run = json.loads(command(start, SHA256=stored["sha256"]))
    assert "event: end" in command(follow, RUN=run["id"])
    shown = json.loads(command(listing.replace("https://grasp.example.org", served.url)))
    assert [one["state"] for one in shown["runs"]] == ["done"]


def _token(served: Served) -> str:
    """Made as the document says, for nobody by name: this server asks nobody to sign in."""
    made = subprocess.run(
        [sys.executable, "-m", "grasp_core", "token", "make", "--name", "nightly", "--scope", "run"],
        cwd=ROOT,
        env={**os.environ, "GRASP_HOME": str(served.log.parent / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return made.stdout.strip()


def _numbered(table: list[str]) -> list[tuple[int, str]]:
    """Rows with the number of their rater."""
    return [(int(row.split(",")[1][1:]), row) for row in table[1:]]
