"""Every kind of file that a result can be exported as."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.result import RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.report.contents import run_title
from grasp_core.report.models import sides_csv
from grasp_core.report.saved import result_json, spec_json
from grasp_core.report.tidy import table_csv
from grasp_core.report.writers._html_page import models_html, report_html
from grasp_core.report.writers.latex import table_latex
from grasp_core.report.writers.markdown import table_markdown
from grasp_core.report.writers.spreadsheet import table_xlsx

_NAME_CHARACTERS, _NAME_BYTES = 80, 200
"""File systems take 255 bytes; the rest is for an extension and a number in brackets."""
_UNSAFE = re.compile(r"[^\w ,.()+-]+")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResultExport:
    """A kind of export file.

    `make`: function from a result, and the map of its raters if there is one, to the file's content, the
        same for equal results.
    """

    name: str
    label: str
    extension: str
    media_type: str
    make: Callable[..., bytes]

    def file_name(self, spec: RunSpec) -> str:
        """A safe name that says what was run."""
        return f"{safe_name(run_title(spec))}.{self.extension}"


def safe_name(title: str) -> str:
    """Turn a title into a file's name for every system: at most 80 characters and 200 bytes, no ending."""
    words = _UNSAFE.sub("-", title.replace("×", "x"))[:_NAME_CHARACTERS]
    words = words.encode(errors="ignore")[:_NAME_BYTES].decode(errors="ignore").strip(" .-")
    if _DEVICES.match(words):
        words = f"grasp {words}"[:_NAME_CHARACTERS].strip(" .-")
    return words or "grasp"


def _utf8(write: Callable[..., str], *, of_map: bool = True) -> Callable[..., bytes]:
    """Turn a writer of text into one of bytes; characters that UTF-8 lacks become question marks."""

    def make(result: RunResult, rater_map: RaterMap | None = None) -> bytes:
        return write(result, *([rater_map] if of_map else [])).encode("utf-8", "replace")

    return make


_ALL = (
    ResultExport("csv", "Table (CSV)", "csv", "text/csv; charset=utf-8", _utf8(table_csv, of_map=False)),
    ResultExport(
        "xlsx",
        "Table (Excel)",
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        table_xlsx,
    ),
    ResultExport("latex", "Table (LaTeX)", "tex", "application/x-tex; charset=utf-8", _utf8(table_latex)),
    ResultExport("markdown", "Table (Markdown)", "md", "text/markdown; charset=utf-8", _utf8(table_markdown)),
    ResultExport("html", "Report (HTML)", "html", "text/html; charset=utf-8", _utf8(report_html)),
    ResultExport("json", "Full result (JSON)", "json", "application/json", _utf8(result_json, of_map=False)),
    ResultExport(
        "spec",
        "Spec, to run it again (JSON)",
        "spec.json",
        "application/json",
        _utf8(spec_json, of_map=False),
    ),
)
EXPORTS: Mapping[str, ResultExport] = MappingProxyType({export.name: export for export in _ALL})
"""Every export by name, in the order in which they are offered."""
MODELS_EXPORTS: Mapping[str, Callable[[ModelsResult], str]] = MappingProxyType(
    {"csv": sides_csv, "html": models_html, "json": result_json, "spec": spec_json}
)
"""Functions that write results about models; their labels, endings and types are those of `EXPORTS`."""
