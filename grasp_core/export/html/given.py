"""What is left of one axis given another, in an HTML report."""

from __future__ import annotations

from html import escape

from grasp_core.export.html.parts import frame, listing, sentence
from grasp_core.report.given import GIVEN_EXPLANATION, given_sentences, given_table
from grasp_core.report.words.names import axis_label
from grasp_core.result import GivenResult, RunResult


def given(result: RunResult) -> str:
    """The section's content."""
    tables = [_axis(result, found) for found in result.given]
    said = listing(sentence(one) for one in given_sentences(result))
    return "\n".join([f"<p>{escape(GIVEN_EXPLANATION)}</p>", said, *tables])


def _axis(result: RunResult, found: GivenResult) -> str:
    cells = given_table(result, found)
    return frame(f"Tests of every group, at first and given {axis_label((found.column,))}", cells, 1)
