"""``raft human``: what a few raters per item reach together."""

from __future__ import annotations

import argparse

from grasp_core.benchmark.gold import gold_labels
from grasp_core.benchmark.scoring.human import human_baseline
from grasp_core.cli.data.options import add_reading
from grasp_core.cli.data.reading import read
from grasp_core.cli.terminal.lines import note
from grasp_core.reading.dataset.load import load

_NUMBERS = (
    ("votes", 5, "annotations drawn per item"),
    ("items", 100, "items drawn"),
    ("repeats", 100, "draws that mean and spread are over"),
    ("seed", 1, "of the draws"),
)


def fill_human(human: argparse.ArgumentParser) -> None:
    """Add the command to those of ``raft``."""
    human.set_defaults(command=_human)
    add_reading(human)
    drawn = human.add_argument_group("human baseline")
    for name, default, what in _NUMBERS:  # options of reading have names like these
        drawn.add_argument(
            f"--{name}",
            dest=f"human_{name}",
            type=int,
            default=default,
            metavar="N",
            help=f"{what} (default: {default})",
        )


def _human(chosen: argparse.Namespace) -> None:
    given = {name: value for name, value in vars(chosen).items() if value is not None}
    if chosen.min_gold is None:  # no rater is left out by their right labels
        given.pop("gold", None)
    found = read(given)
    against = None if chosen.gold is None else gold_labels(found.annotations, found.spec, chosen.gold)
    dataset = load(found.annotations, found.raters, found.spec, axes=())
    result = human_baseline(
        dataset,
        votes=chosen.human_votes,
        items=chosen.human_items,
        repeats=chosen.human_repeats,
        seed=chosen.human_seed,
        against=against,
    )
    low, high = result.ci95
    print(
        f"macro-F1 {result.macro_f1:.3f}, 95 % interval {low:.3f} to {high:.3f}: plurality of {result.votes} "
        f"on {result.n:,} of {result.eligible:,} items, against {result.against}"
    )
    print(f"over all {len(dataset.annotations.categories)} categories {result.macro_f1_declared:.3f}")
    if result.repeats > 1:
        print(
            f"{result.repeats:,} such draws: mean {result.mean:.3f}, standard deviation {result.spread:.3f}"
        )
    for problem in dataset.problems:
        note(problem.message)
