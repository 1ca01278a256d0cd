"""Data of two batches that have items of their own, with most of a gender in one of them."""

import pandas as pd

ITEMS, EACH = 25, 20


def in_batches() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotations, and raters with their batch and gender; within batches nothing is odd."""
    who = [
        (f"r{j}", "one" if j < EACH else "two", "Woman" if j % EACH < (15 if j < EACH else 5) else "Man")
        for j in range(2 * EACH)
    ]
    rows = [
        (f"i{batch}{i}", rater, "yes" if (i + int(rater[1:])) % 3 else "no")
        for rater, batch, _ in who
        for i in range(ITEMS)
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "rater_id", "label"])
    return votes, pd.DataFrame(who, columns=["rater_id", "batch", "gender"])


def in_teams() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotations, and raters with their team and gender: ten teams, each of one gender and of one mind."""
    who = [(f"r{j}", f"team {j // 4}", "Woman" if j // 4 < 4 else "Man") for j in range(2 * EACH)]
    rows = [
        (f"i{i}", rater, "yes" if (i * (int(team[5:]) + 3) + (int(rater[1:]) == i)) % 7 > 2 else "no")
        for rater, team, _ in who
        for i in range(ITEMS)
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "rater_id", "label"])
    return votes, pd.DataFrame(who, columns=["rater_id", "team", "gender"])
