"""How a format that GRASP knows is to be read."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.account import LeftOut
from grasp_core.data_spec import DataSpec
from grasp_core.groups import AxisSet


@dataclass(frozen=True, slots=True)
class Recipe:
    """The reading of a tool's export, or of a published data set.

    Parameters
    ----------
    name : str
        E.g. "Label Studio, JSON" or "DICES-350".
    spec : DataSpec or None
        How to read the annotations; None where it is still to be guessed, or for a file of raters alone.
        Its filters are advice: nothing is left out until somebody says so.
    axes : tuple of axis sets
        Those proposed; empty where they are still to be guessed.
    paper : bool
        Whether `axes` and `spec` are a published set-up, to be run with the paper's conventions.
    missing : tuple of str
        Cell texts that mean "no value" in this format, beside the empty cell.
    sentences : tuple of str
        What was done to the file, for people.
    left_out : tuple of LeftOut
        What the reader left out, e.g. drafts.
    questions : tuple of str
        Columns of what raters were asked, one of which is the label.
    respondents : str
        Column of the ids of a survey's respondents.
    aside : tuple of str
        Columns of such a survey that are no questions.
    raters : bool
        Whether the file describes raters, and holds no annotations.
    why_out : str
        Why the filters of `spec` leave out what they leave out.
    """

    name: str
    spec: DataSpec | None = None
    axes: tuple[AxisSet, ...] = ()
    paper: bool = False
    missing: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    questions: tuple[str, ...] = ()
    respondents: str = ""
    aside: tuple[str, ...] = ()
    raters: bool = False
    why_out: str = "the tool marks such answers as not counting"
