"""Voices: how options are called where somebody asks, and where they are told what is good to know."""

from abc import ABC, abstractmethod


class Voice(ABC):
    """The manner of a command line, or of Python."""

    @abstractmethod
    def note(self, sentence: str) -> None:
        """Say what is good to know."""

    def tell_labels(self, sentence: str) -> None:
        """Say which labels there are: a note, where it is not the first part of the answer."""
        self.note(sentence)

    @abstractmethod
    def option(self, field: str) -> str:
        """The option that gives a field, such as ``--items-id`` or ``items_id=``."""

    @abstractmethod
    def value(self, field: str, value: object) -> str:
        """The option with a value, such as ``--permutations 10000``; for yes or no such as ``--no-pairs``."""

    def within(self, column: str) -> str:
        """The option that shuffles profiles within a column's values, such as ``--within batch``."""
        return self.value("strata", [column])

    def condition(self, option: str, column: str, value: str) -> str:
        """An option that takes a column and a value, such as ``--keep status=rejected``."""
        return self.value(option, [(column, value)])

    def ask(self, question: str, *, recommended: bool) -> bool | None:
        """Whether somebody says yes, which may be recommended; None where nobody can be asked."""
        del question, recommended
        return None


class KeepingNotes(Voice):
    """A manner in which notes are kept, for an answer that holds them."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        """See :class:`Voice`."""
        self.notes.append(sentence)
