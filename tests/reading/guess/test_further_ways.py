"""What further real files have: each in the shape that was met, small."""

import random

from grasp_core.reading.guess.recognise import recognise
from tests.reading.made_up import asked
from tests.reading.making import numbered

RNG = random.Random(7)


def test_how_long_questions_took_is_no_matrix() -> None:
    pages = " ".join(f"R{r}Q{q}" for r in "123" for q in "12")
    timed = " ".join(f"R{r}Q{q}Time" for r in "1234" for q in "1234")

    def row(n: int) -> list[object]:
        return [f"p{n}", *RNG.choices("abcd", k=6), *(f"{RNG.random() * 90:.2f}" for _ in range(16))]

    guess = recognise(numbered(f"token {pages} {timed}", row, 12))
    assert asked(guess)["label"] == ("R*Q1", "R*Q2")
