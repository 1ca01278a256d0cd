"""A group's items as files to take away."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grasp_core.export.items import items_markdown, items_title, items_xlsx
from grasp_core.export.registry import safe_name
from grasp_core.panels.items.result import ItemsResult
from grasp_core.report.items.tables import items_csv
from grasp_core.report.words.printable import json_text
from pages._ui.widgets.outputs import download
from pages._ui.widgets.sections import menu_when_open
from pages._ui.widgets.shown import Shown

_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def save_items(shown: Shown, found: ItemsResult, texts: Mapping[str, str] | None) -> None:
    """One menu of files; texts of items are in the workbook alone."""
    files: tuple[tuple[str, str, str, Callable[[], bytes | str]], ...] = (
        ("Table (CSV)", "csv", "text/csv", lambda: items_csv(found)),
        ("Table (Excel)", "xlsx", _EXCEL, lambda: items_xlsx(found, texts)),
        ("Table (Markdown)", "md", "text/markdown", lambda: items_markdown(found)),
        ("Full result (JSON)", "json", "application/json", lambda: json_text(found.to_dict())),
    )

    def menu() -> None:
        for label, extension, media_type, make in files:
            download(
                shown.check,
                label,
                make,
                file_name=f"{safe_name(items_title(found))}.{extension}",
                media_type=media_type,
                width="stretch",
            )

    menu_when_open("Save the items", menu, key="items", icon=":material/download:")
