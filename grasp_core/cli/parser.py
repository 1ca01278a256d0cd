"""The parser of the commands: an option that takes a value takes any, also one that begins with a minus."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any


class Parser(argparse.ArgumentParser):
    """An argument parser that takes ``--categories -1,1`` for what it says.

    What follows an option with a value is its value, whatever it begins with. Only another option's name is
    none, so that a value left out is still noticed.
    """

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """As argparse does, each value tied to its option before."""
        return super().parse_known_args(self._tied(sys.argv[1:] if args is None else list(args)), namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if arg_strings == ["--"] and action.option_strings and action.nargs is None:
            value = self._get_value(action, "--")  # argparse would drop it
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _tied(self, args: Sequence[str]) -> list[str]:
        tied: list[str] = []
        for text in args:
            if tied and text.startswith("-") and self._takes_value(tied[-1]) and not self._names_option(text):
                tied[-1] = f"{tied[-1]}={text}"
            else:
                tied.append(text)
        return tied

    def _names_option(self, text: str) -> bool:
        return text.partition("=")[0] in self._option_string_actions

    def _takes_value(self, text: str) -> bool:
        """Whether the text is an option, or short for one, that waits for a value."""
        if not text.startswith("--") or text == "--":
            return False
        actions = self._option_string_actions
        able = (
            [actions[text]]
            if text in actions
            else [actions[name] for name in actions if name.startswith(text)]
        )
        return bool(able) and all(action.nargs is None for action in able)
