"""A plan's recruitment table as an Excel workbook."""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.analysis.planner.values import Plan
from grasp_core.model.text import printable, printable_name
from grasp_core.report.plan import RECRUITMENT_COLUMNS, recruitment_rows, sentences
from grasp_core.report.writers._workbook import Book, Cell, Column


def recruitment_xlsx(plan: Plan) -> bytes:
    """Workbook with whom the cheapest design takes, and a sheet of sentences."""
    book = Book("Recruitment", plan.total)
    rows = recruitment_rows(plan)
    cells: tuple[Sequence[Cell], ...] = (
        [printable_name(row.group) for row in rows],
        [row.have for row in rows],
        [row.needed for row in rows],
        [row.recruit for row in rows],
        [row.annotations for row in rows],
    )
    counts = [
        Column(head, "text" if place == 0 else "count", of)
        for place, (head, of) in enumerate(zip(RECRUITMENT_COLUMNS, cells, strict=False))
    ]
    book.add("Recruitment", [*counts, Column(RECRUITMENT_COLUMNS[-1], "value", [row.cost for row in rows])])
    book.add("In words", [Column("In words", "text", [printable(one.plain) for one in sentences(plan)])])
    return book.content()
