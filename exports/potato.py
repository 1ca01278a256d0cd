"""Potato: a single choice, a multiple choice and a rating, in its state folder and its own exports."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

from exports.answers import KINDS, LABELS, PEOPLE, Answer, Ledger, Vote, made_up, texts
from exports.servers import HOST, Client, environment, free_port, python_of, run, running

TOOL = "potato"
_FORMATS = {"jsonl": "annotations.jsonl", "parquet": "annotations.parquet"}


def exported(folder: Path, ledger: Ledger, seed: int) -> None:
    """Annotate a task, and hold what Potato keeps and exports against what was sent."""
    port = free_port()
    config = _configured(folder, port)
    env = environment(folder)
    python = python_of(TOOL)
    sent = made_up(seed)
    with running([python, "-m", "potato", "start", config, "-p", str(port)], folder, env):
        Client(port).wait("/health")
        for name in PEOPLE:
            _annotate(port, name, [answer for answer in sent if answer.rater == name])
    wanted: Counter[Vote] = Counter((f"item_{one.item}", one.rater, one.label) for one in sent)
    ledger.hold(f"{TOOL}, its folder", _packed(folder / "annotation_output"), "annotation_output.zip", wanted)
    for form, name in _FORMATS.items():
        out = folder / f"as_{form}"
        run(
            [python, "-m", "potato.export", "--config", config, "--format", form, "--output", out],
            folder,
            env,
        )
        ledger.hold(f"{TOOL}, {form}", next(out.rglob(name)).read_bytes(), name, wanted)


def _configured(folder: Path, port: int) -> Path:
    """The task's configuration; JSON is YAML too."""
    items = [json.dumps({"id": f"item_{at}", "text": text}) for at, text in enumerate(texts())]
    (folder / "items.jsonl").write_text("\n".join(items) + "\n", encoding="utf-8")
    single = {"annotation_type": "radio", "name": "verdict", "description": "Toxic?", "labels": list(LABELS)}
    several = {
        "annotation_type": "multiselect",
        "name": "kinds",
        "description": "Kinds",
        "labels": list(KINDS),
    }
    config = {
        "annotation_task_name": "Toxicity",
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "output_annotation_format": "jsonl",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [single, several],
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "alert_time_each_instance": 10_000_000,
        "max_annotations_per_user": len(items),
        "assignment_strategy": "fixed_order",
        "site_dir": "default",
        "host": HOST,
        "port": port,
    }
    path = folder / "config.yaml"
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")
    return path


def _annotate(port: int, name: str, answers: list[Answer]) -> None:
    client = Client(port)
    client.form("/auth", {"email": name, "pass": ""})
    for answer in answers:
        given = {f"verdict:::{answer.label}": answer.label} | {
            f"kinds:::{kind}": kind for kind in answer.kinds
        }
        client.post("/updateinstance", {"instance_id": f"item_{answer.item}", "annotations": given})


def _packed(folder: Path) -> bytes:
    """A folder as a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent).as_posix())
    return packed.getvalue()
