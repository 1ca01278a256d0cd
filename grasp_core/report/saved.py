"""A result and its spec as JSON files, and reading the spec back from either."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import damaged, from_json
from grasp_core.model.result import FORMAT as RESULT_FORMAT
from grasp_core.model.result import READ_VERSIONS as RESULT_VERSIONS
from grasp_core.model.result import Result
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import json_text, printable

FORMAT = "grasp-spec"
FORMAT_VERSION = 1
MAX_BYTES = 200_000_000
"""Size above which a file is no result or spec; no result is nearly as large."""


@dataclass(frozen=True, slots=True)
class RecordedSpec:
    """A spec, the hash and file names of its data, and the permutations that the run took, or may take."""

    spec: RunSpec
    sha256: str
    files: tuple[str, ...]
    permutations: int


def result_json(result: Result) -> str:
    """The whole result, in the form that :meth:`Result.from_dict` reads."""
    return json_text(result.to_dict())


def spec_json(result: Result) -> str:
    """The spec with the data's fingerprint: all that is needed to compute the same numbers again."""
    return json_text(
        {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "spec": result.spec.to_dict(),
            "data": {
                "sha256": result.data.sha256,
                "files": [{"name": file.name, "sha256": file.sha256} for file in result.data.files],
            },
        }
    )


def read_spec(path: Path) -> RecordedSpec:
    """Read a spec file, or the spec of a saved result."""
    name, plain = printable(str(path)), json_in(path)
    if not isinstance(plain, dict) or plain.get("format") not in (FORMAT, RESULT_FORMAT):
        raise DataError(
            f"{name} is neither a spec nor a result of GRASP: its format is not {FORMAT} or {RESULT_FORMAT}"
        )
    read = (FORMAT_VERSION,) if plain["format"] == FORMAT else RESULT_VERSIONS
    if plain.get("version") not in read:
        found = printable(repr(plain.get("version"))[:40])
        raise DataError(f"{name} has format version {found}; this GRASP reads {' and '.join(map(str, read))}")
    try:
        spec = RunSpec.from_dict(plain.get("spec"))
    except SpecError as error:
        raise SpecError(f"{name}: {printable(str(error))}") from None
    with damaged(name):
        data = plain["data"]
        files = tuple(from_json(file["name"], str) for file in data["files"])
        stopped = plain.get("stopping")
        taken = spec.analysis.permutations if stopped is None else from_json(stopped["permutations"], int)
        return RecordedSpec(spec, from_json(data["sha256"], str), files, taken)


def json_in(path: Path) -> Any:
    """Read a JSON file; raise a DataError if that fails."""
    name = printable(str(path))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} is larger than {MAX_BYTES // 1_000_000} MB, so it is no spec or result")
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = printable(str(error)).split(":")[0]
        raise DataError(f"{name} is not JSON: {reason}") from None
