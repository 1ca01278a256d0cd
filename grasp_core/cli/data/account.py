"""The account of what was read and what became of it, said before any figures."""

from __future__ import annotations

from grasp_core.cli.terminal.lines import note
from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.load import Dataset
from grasp_core.report.account import account_sentence, unused_sentence
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.printable import printable


def say_data(dataset: Dataset, spec: DataSpec) -> None:
    """Say on standard output which labels there are and how many, on standard error how they were read."""
    print(printable(labelled_sentence(spec, dataset.summary)), flush=True)
    say_account(dataset)


def say_account(dataset: Dataset) -> None:
    """Say how much was read, used and left out, and the columns that nothing was taken from."""
    account = dataset.summary.account
    if account is None:
        return
    for sentence in (account_sentence(account), unused_sentence(account)):
        if sentence:
            note(printable(sentence))
