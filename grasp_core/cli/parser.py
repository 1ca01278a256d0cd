"""The parser of the commands: each is loaded when it is chosen; misspelt words are reported in two lines."""

import argparse
import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from grasp_core.model.errors import MissingPackageError
from grasp_core.model.extras import Extra, require
from grasp_core.model.text import closest, quoted
from grasp_core.reading.sandbox.process import HELPER


class Parser(argparse.ArgumentParser):
    """An argument parser that takes the words ``--categories -1,1`` as an option and its value.

    The word after an option with a value is its value, even if it begins with a hyphen. Only another option's
    name is not, so that a missing value is still noticed. Files may stand before and after options.
    """

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Parse as argparse does, after tying each value to its option; refuse unknown words."""
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
        """Report what is wrong, and how to list all options; exit with 2."""
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
        """Return whether the text is an option, or short for one, that takes a value."""
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
    """Return a phrase with the name that may be meant; empty if none is similar."""
    close = closest(name, names)
    return f"; did you mean {close[0]}?" if close else ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command whose parser is filled when the command is chosen, so that the others need no time.

    `module`: name within this package; its function ``fill_NAME`` takes the command's parser, adds arguments
        and sets the default ``command``, which takes the parsed ones. `extra`: the extra that the command
        needs; `modules`: the extra's modules without which the command is refused.
    """

    name: str
    help: str
    module: str
    reads: bool = False
    extra: Extra | None = None
    modules: tuple[str, ...] = ()

    def filled(self, parser: argparse.ArgumentParser, *, to_run: bool = True) -> None:
        """Add the command's arguments to its parser; `to_run` starts what the command needs."""
        if self.extra is not None:
            require(f"`{self.name}`", self.extra, *self.modules)
        if self.reads and to_run:  # the process that reads files starts during the imports
            HELPER.start()
        module = importlib.import_module(f"grasp_core.cli.{self.module}")
        getattr(module, f"fill_{self.name.replace('-', '_')}")(parser)
        if parser.get_default("command") is not None:
            add_quiet(parser)


def option(
    group: argparse._ActionsContainer,
    usage: str,
    help: str | None = None,
    kind: Callable[[str], Any] | None = None,
    **how: Any,
) -> None:
    """Add an option as its help writes it, such as ``-o --out FILE``; one without a value is a switch."""
    words = usage.split()
    names = [word for word in words if word.startswith("-")]
    values = words[len(names) :]
    if len(values) == 1:
        how["metavar"] = values[0]
    elif values:
        how |= {"metavar": tuple(values), "nargs": len(values)}
    elif not how.keys() & {"action", "choices"}:
        how["action"] = "store_true"
    if kind is not None:
        how["type"] = kind
    group.add_argument(*names, help=help, **how)


def whole(text: str) -> int:
    """Parse a whole number from 0, such as a seed."""
    if not (text.isascii() and text.isdigit() and int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^63 - 1; found {text!r}")
    return int(text)


def from_one(text: str) -> int:
    """Parse a whole number from 1."""
    if whole(text) == 0:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return int(text)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves out notes and progress."""
    option(parser, "-q --quiet", "say nothing on standard error but errors")


def add_commands(parser: argparse.ArgumentParser, commands: Sequence[Command]) -> None:
    """Add the commands, one of which has to be given."""
    chosen = cast("_Chosen", parser.add_subparsers(required=True, metavar="COMMAND", action=_Chosen))
    for command in commands:
        chosen.add_parser(command.name, help=command.help)
    chosen.empty = {command.name: command for command in commands}


def fill_all(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command below the parser, except commands whose packages are missing."""
    for action in parser._actions:
        if isinstance(action, _Chosen):
            for name, below in action.choices.items():
                with contextlib.suppress(MissingPackageError):
                    action.fill(name, to_run=False)
                    fill_all(below)


class _Chosen(argparse._SubParsersAction):  # type: ignore[type-arg]  # argparse's own is generic in stubs only
    """The choice of a command; `empty`: the commands whose parsers have no arguments yet."""

    empty: dict[str, Command]

    def fill(self, name: str, *, to_run: bool = True) -> None:
        """Add the arguments of a command, once."""
        command = self.empty.pop(name, None)
        if command is not None:
            command.filled(self.choices[name], to_run=to_run)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        self.fill(values[0])
        super().__call__(parser, namespace, values, option_string)
