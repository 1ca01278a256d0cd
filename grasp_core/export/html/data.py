"""The data of a result in an HTML report, and how it is run again."""

from __future__ import annotations

import shlex
from html import escape

from grasp_core.export.html.parts import code, number, table, text
from grasp_core.report.account import account_sentence
from grasp_core.report.contents import raters_per_item
from grasp_core.result import FileFingerprint, RunResult


def data(result: RunResult) -> str:
    """Counts, labels, files and what was left out."""
    read, timing = result.data, result.timing
    facts = {
        "Items": f"{read.items:,}",
        "Raters": f"{read.raters:,}",
        "Annotations": f"{read.annotations:,}",
        "Raters per item": raters_per_item(result),
        "Computed in": f"{timing.load_s + timing.observed_s + timing.permutations_s:.1f} s",
    }
    labels = zip(read.categories, read.label_counts, strict=False)
    files = [(text(_name(file)), number(f"{file.bytes:,}"), text(file.sha256, "hash")) for file in read.files]
    return "\n".join(
        [
            table(
                "Counts",
                [text("What"), number("Value")],
                [(text(what), number(value)) for what, value in facts.items()],
            ),
            table(
                "Annotations per label",
                [text("Label"), number("Annotations")],
                [(text(label), number(f"{count:,}")) for label, count in labels],
            ),
            "" if read.account is None else f"<p>{escape(account_sentence(read.account))}</p>",
            table("Input files", [text("File"), number("Bytes"), text("SHA-256")], files) if files else "",
            f'<p>Fingerprint of all data (SHA-256): <span class="hash">{escape(read.sha256)}</span></p>',
        ]
    )


def _name(file: FileFingerprint) -> str:
    return f"{file.name}, fetched from {file.source}" if file.source else file.name


def again(result: RunResult, spec_file: str) -> str:
    """The command and the spec that give the same numbers."""
    names = [shlex.quote(file.source or file.name) for file in result.data.files]
    beside = ["--raters"] * (len(names) - 1 - (result.spec.data.items_id is not None))
    options = ["--annotations", *beside, "--items"]
    files = [f"{option} {name}" for option, name in zip(options, names, strict=False)]
    command = " ".join(["grasp run --spec spec.json", *files])
    return (
        f"<p>Save the text below as spec.json. With the same files and GRASP {escape(result.code_version)} "
        f"this gives the same numbers:</p>\n{code('Command', command)}\n{code('Spec as JSON', spec_file)}"
    )
