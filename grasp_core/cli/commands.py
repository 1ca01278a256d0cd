"""Commands by name: what one needs is imported once it is chosen, so that the others cost nothing."""

from __future__ import annotations

import argparse
import contextlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from grasp_core.model.errors import MissingPackageError
from grasp_core.model.extras import Extra, require
from grasp_core.reading.sandbox.process import HELPER


@dataclass(frozen=True, slots=True)
class Command:
    """A command whose parser is filled when it is chosen.

    Parameters
    ----------
    fill : str
        ``module:function`` within this package; the function takes the command's parser, adds arguments and
        sets the default ``command``, which takes the parsed ones.
    reads : bool
        Whether the command reads files of annotations or labels.
    extra : str, optional
        The extra that it takes.
    modules : tuple of str
        Those of it without which the command is refused.
    """

    name: str
    help: str
    fill: str
    reads: bool = False
    extra: Extra | None = None
    modules: tuple[str, ...] = ()

    def filled(self, parser: argparse.ArgumentParser, *, to_run: bool = True) -> None:
        """Add the command's arguments to its parser; `to_run` gets ready what the command needs.

        Raises
        ------
        MissingPackageError
        """
        if self.extra is not None:
            require(f"`{self.name}`", self.extra, *self.modules)
        if self.reads and to_run:  # what reads files gets ready while the rest is imported
            HELPER.start()
        module, _, function = self.fill.partition(":")
        getattr(importlib.import_module(f"grasp_core.cli.{module}"), function)(parser)
        if parser.get_default("command") is not None:
            parser.add_argument(
                "-q", "--quiet", action="store_true", help="say nothing on standard error but errors"
            )


def add_commands(parser: argparse.ArgumentParser, commands: Sequence[Command]) -> None:
    """Let one of the commands follow."""
    chosen = cast("_Chosen", parser.add_subparsers(required=True, metavar="COMMAND", action=_Chosen))
    for command in commands:
        chosen.add_parser(command.name, help=command.help)
    chosen.empty = {command.name: command for command in commands}


def fill_all(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command below the parser, but for those whose packages are missing."""
    for action in parser._actions:
        if isinstance(action, _Chosen):
            for name, below in action.choices.items():
                with contextlib.suppress(MissingPackageError):
                    action.fill(name, to_run=False)
                    fill_all(below)


class _Chosen(argparse._SubParsersAction):  # type: ignore[type-arg]  # argparse's own is generic in stubs only
    """The choice of a command; `empty` are those whose parsers have no arguments yet."""

    empty: dict[str, Command]

    def fill(self, name: str, *, to_run: bool = True) -> None:
        """Add the arguments of a command, once."""
        command = self.empty.pop(name, None)
        if command is not None:
            command.filled(self.choices[name], to_run=to_run)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        self.fill(values[0])
        super().__call__(parser, namespace, values, option_string)
