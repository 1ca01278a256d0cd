"""The parser of the commands: options take any value, and what is misspelt is answered in two lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from grasp_core.model.wording import closest, quoted


class Parser(argparse.ArgumentParser):
    """An argument parser that takes ``--categories -1,1`` for what it says.

    What follows an option with a value is its value, whatever it begins with. Only another option's name is
    none, so that a value left out is still noticed. Files may stand before and after options.
    """

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """As argparse does, each value tied to its option before; nothing is left unknown."""
        words = sys.argv[1:] if args is None else list(args)
        found, rest = super().parse_known_args(self._tied(words), namespace)
        files = next((one for one in self._actions if one.nargs == "*" and not one.option_strings), None)
        if files is not None and rest and not any(word.startswith("-") for word in rest):
            getattr(found, files.dest).extend(rest)
            rest = []
        if rest:
            self._refuse_unknown(rest)
        return found, rest

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where all that may be written stands; exit with 2."""
        self.exit(2, f"{self.prog}: {message}\n`{self.prog} --help` lists what there is\n")

    def _refuse_unknown(self, rest: Sequence[str]) -> NoReturn:
        name = next((word for word in rest if word.startswith("-")), rest[0]).partition("=")[0]
        if not name.startswith("-"):
            self.error(f"{quoted(name)} is one word too many; names with spaces stand in quotation marks")
        listed = [option for option in self._option_string_actions if option.startswith("--")]
        self.error(f"there is no option {name}{_meant(name, listed)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is None or value in choices:
            return
        names = [str(one) for one in choices]
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command {quoted(str(value))}{_meant(str(value), names)}")
        what = "/".join(action.option_strings) or action.metavar
        self.error(f"{what} takes {', '.join(names)}; found {quoted(str(value))}{_meant(str(value), names)}")

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


def _meant(name: str, names: Sequence[str]) -> str:
    """The name that may be meant; empty where none is like it."""
    close = closest(name, names)
    return f"; did you mean {close[0]}?" if close else ""
