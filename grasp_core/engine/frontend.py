"""Frontends: the names of options on a command line or in Python, and the way notes are shown there."""

from abc import ABC, abstractmethod


class Frontend(ABC):
    """A command line, or Python: names of options, notes and questions there."""

    @abstractmethod
    def note(self, sentence: str) -> None:
        """Show a note."""

    def tell_labels(self, sentence: str) -> None:
        """Show which labels there are: as a note, unless it is the first part of the answer."""
        self.note(sentence)

    @abstractmethod
    def option(self, field: str) -> str:
        """Return the option that sets a field, such as ``--items-id`` or ``items_id=``."""

    @abstractmethod
    def value(self, field: str, value: object) -> str:
        """Return the option with a value, such as ``--permutations 10000``, or ``--no-pairs`` for False."""

    def within(self, column: str) -> str:
        """Return the option that shuffles profiles within a column's values, such as ``--within batch``."""
        return self.value("strata", [column])

    def condition(self, option: str, column: str, value: str) -> str:
        """Return an option that takes a column and a value, such as ``--keep status=rejected``."""
        return self.value(option, [(column, value)])

    def ask(self, question: str, *, recommended: bool) -> bool | None:
        """Ask for yes or no; yes may be recommended. Return None if nobody can be asked."""
        del question, recommended
        return None


class KeepingNotes(Frontend):
    """A frontend that collects its notes, for an answer that contains them."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        """See :class:`Frontend`."""
        self.notes.append(sentence)
