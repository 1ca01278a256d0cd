"""``open``: results that were saved, in a file or on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError
from grasp_core.model.result import RunResult
from grasp_core.model.wording import not_there
from grasp_core.notebook._remote import fetched
from grasp_core.notebook.models import ModelsAnalysis
from grasp_core.notebook.results import Analysis
from grasp_core.report.saved import MAX_BYTES


def open(place: str | Path, *, token: str | None = None) -> Analysis | ModelsAnalysis:
    """Open a result that was saved.

    Parameters
    ----------
    place : str or Path
        A file that :meth:`Analysis.save`, ``run --out`` or the page wrote as JSON. Or a run on a server: the
        address of its page, such as ``https://grasp.example.org/results?run=...``, or of the run in the API.
    token : str, optional
        A personal token with the scope "read", or that of a share link to the run.

    Returns
    -------
    Analysis, or ModelsAnalysis of a run of models

    Raises
    ------
    DataError
        If the file is none, or damaged.
    RemoteError
        If the server cannot be reached, or does not give the run; `code` says why.
    """
    address = str(place)
    remote = address.startswith(("http://", "https://"))
    result = read_result(fetched(address, token) if remote else _in_file(Path(place)))
    return ModelsAnalysis(result) if isinstance(result, ModelsResult) else Analysis(cast("RunResult", result))


def _in_file(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path} is larger than {MAX_BYTES // 1_000_000} MB, so it is no result")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(not_there(path.name, path)) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path} is not JSON, so it is no result") from None
