"""Data sets that are held until their runs are computed."""

from __future__ import annotations

from grasp_core.engine.inputs import Holding
from tests.engine.asking import DATA


def test_data_of_a_question_asked_again_outlast_its_first_run() -> None:
    """The first run may end in the database a moment before it lets its own data go."""
    holding = Holding()
    first = holding.hold("question", DATA, 0.5)
    again = holding.hold("question", DATA, 0.0)
    holding.drop("question", first)
    held = holding.find("question")
    assert held is not None
    assert (held.number, held.dataset, held.load_s) == (again, DATA, 0.0)
    holding.drop("question", again)
    assert holding.find("question") is None
    holding.drop("question", again)


def test_the_data_of_the_latest_questions_are_held() -> None:
    holding = Holding()
    for number in range(9):
        holding.hold(str(number), DATA, 0.0)
    assert holding.find("0") is None
    assert all(holding.find(str(number)) for number in range(1, 9))
