"""``completion``: a script that completes commands, options and values in bash, zsh or fish."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from grasp_core.cli.parser import fill_all
from grasp_core.cli.terminal.messages import say

_FILES = ("FILE", "BACKUP", "RESULT", "DIR", "FOLDER", "A", "B")
"""What stands for a file or folder in a command's help."""
_LONGEST = 70
_BASH_FILES = """local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur"))"""


class _Option(NamedTuple):
    """An option: its names, whether a value follows, and which; files where `files` is true."""

    names: tuple[str, ...]
    words: str
    takes_value: bool
    values: tuple[str, ...]
    files: bool


class _Place(NamedTuple):
    """A command by its words, what may follow it, and in which words it is described."""

    path: tuple[str, ...]
    words: str
    below: tuple[str, ...]
    options: tuple[_Option, ...]
    values: tuple[str, ...]
    files: bool


def fill_completion(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_completion)
    parser.add_argument("shell", choices=_SCRIPTS, metavar="SHELL", help=f"{', '.join(_SCRIPTS)}")


def _completion(chosen: argparse.Namespace) -> None:
    from grasp_core.cli.entry import make_parser

    parser = make_parser()
    fill_all(parser)
    say(_SCRIPTS[chosen.shell](list(_places(parser, ("grasp",), ""))), end="")


def _places(parser: argparse.ArgumentParser, path: tuple[str, ...], words: str) -> Iterator[_Place]:
    """A command and all below it."""
    options: list[_Option] = []
    values: list[str] = []
    files = False
    below: dict[str, argparse.ArgumentParser] = {}
    told: dict[str, str] = {}
    for action in parser._actions:
        choices = tuple(map(str, action.choices)) if action.choices is not None else ()
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
            told = {one.dest: _line(one.help or "") for one in action._choices_actions}
        elif action.option_strings and action.help != argparse.SUPPRESS:
            named = tuple(action.option_strings)
            options.append(
                _Option(named, _help(parser, action), action.nargs != 0, choices, _is_file(action))
            )
        elif not action.option_strings:
            values += choices
            files = files or _is_file(action)
    yield _Place(path, words, tuple(below), tuple(options), tuple(values), files)
    for name, one in below.items():
        yield from _places(one, (*path, name), told.get(name, ""))


def _is_file(action: argparse.Action) -> bool:
    return action.type is Path or action.metavar in _FILES


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return _line(parser._get_formatter()._expand_help(action) if action.help else "")


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _alternatives(paths: Iterable[str]) -> str:
    return "|".join(f'"{path}"' for path in paths)


def _cases(places: list[_Place]) -> Iterator[tuple[str, tuple[str, ...] | None, bool]]:
    """Patterns of commands with options that wait for a value, the values where they are known, or files."""
    files: list[str] = []
    unknown: list[str] = []
    for place in places:
        for option in place.options:
            patterns = [" ".join((*place.path, name)) for name in option.names]
            if option.values:
                yield _alternatives(patterns), option.values, False
            elif option.takes_value:
                (files if option.files else unknown).extend(patterns)
    yield _alternatives(files), None, True
    yield _alternatives(unknown), None, False


def _bash(places: list[_Place]) -> str:
    steps = _alternatives(" ".join(place.path) for place in places[1:])
    lines = [
        "# Completion of grasp in bash. In ~/.bashrc: source <(grasp completion bash)",
        "_grasp() {",
        '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=grasp words="" options=""',
        "  local files=no i",
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    case "$at ${COMP_WORDS[i]}" in',
        f'      {steps}) at="$at ${{COMP_WORDS[i]}}" ;;',
        "    esac",
        "  done",
        '  case "$at $prev" in',
    ]
    for pattern, values, files in _cases(places):
        known = f'COMPREPLY=($(compgen -W "{" ".join(values or ())}" -- "$cur"))'
        found = known if values else _BASH_FILES if files else "COMPREPLY=()"
        lines.append(f"    {pattern}) {found}; return ;;")
    lines += ["  esac", '  case "$at" in']
    for place in places:
        options = " ".join(name for option in place.options for name in option.names)
        words = " ".join((*place.below, *place.values))
        files_too = " files=yes;" if place.files else ""
        lines.append(f'    "{" ".join(place.path)}") words="{words}"; options="{options}";{files_too} ;;')
    return "\n".join(
        [
            *lines,
            "  esac",
            "  if [[ $cur == -* ]]; then",
            '    COMPREPLY=($(compgen -W "$options" -- "$cur"))',
            "  elif [[ $files == yes ]]; then",
            f"    {_BASH_FILES}",
            "  else",
            '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "  fi",
            "}",
            "complete -o filenames -F _grasp grasp",
            "",
        ]
    )


def _zsh(places: list[_Place]) -> str:
    words_of = {place.path: place.words for place in places}
    steps = _alternatives(" ".join(place.path) for place in places[1:])
    lines = [
        "#compdef grasp",
        "# Completion of grasp in zsh. In ~/.zshrc, behind compinit: source <(grasp completion zsh)",
        "_grasp() {",
        "  local at=grasp files=no i",
        "  local -a offered options",
        "  for ((i = 2; i < CURRENT; i++)); do",
        '    case "$at ${words[i]}" in',
        f'      ({steps}) at="$at ${{words[i]}}" ;;',
        "    esac",
        "  done",
        '  case "$at ${words[CURRENT-1]}" in',
    ]
    for pattern, values, files in _cases(places):
        found = f"compadd -- {' '.join(values)}" if values else "_files" if files else "_message value"
        lines.append(f"    ({pattern}) {found}; return ;;")
    lines += ["  esac", '  case "$at" in']
    for place in places:
        options = " ".join(
            shlex.quote(f"{name}:{option.words}") for option in place.options for name in option.names
        )
        below = [f"{name}:{words_of[(*place.path, name)]}" for name in place.below]
        offered = " ".join(map(shlex.quote, (*below, *place.values)))
        files_too = " files=yes" if place.files else ""
        lines.append(
            f'    ("{" ".join(place.path)}") offered=({offered}); options=({options});{files_too} ;;'
        )
    return "\n".join(
        [
            *lines,
            "  esac",
            "  if [[ $PREFIX == -* ]]; then",
            "    _describe -o option options",
            "  elif [[ $files == yes ]]; then",
            "    _files",
            "  else",
            "    _describe command offered",
            "  fi",
            "}",
            'if [ "$funcstack[1]" = "_grasp" ]; then _grasp "$@"; else compdef _grasp grasp; fi',
            "",
        ]
    )


def _fish(places: list[_Place]) -> str:
    words_of = {place.path: place.words for place in places}
    lines = [
        "# Completion of grasp in fish: grasp completion fish > ~/.config/fish/completions/grasp.fish",
        "complete -c grasp -f",
    ]
    for place in places:
        seen = [f"__fish_seen_subcommand_from {name}" for name in place.path[1:]]
        here = "; and ".join(seen) or "__fish_use_subcommand"
        nothing_yet = (
            [f"not __fish_seen_subcommand_from {' '.join(place.below)}"] if place.below and seen else []
        )
        when = shlex.quote("; and ".join([*seen, *nothing_yet]) or here)
        for name in place.below:
            told = _in_fish(words_of[(*place.path, name)])
            lines.append(f"complete -c grasp -n {when} -a {name} -d {told}")
        if place.values:
            lines.append(f"complete -c grasp -n {when} -a {shlex.quote(' '.join(place.values))}")
        if place.files:
            lines.append(f"complete -c grasp -n {when} -F")
        for option in place.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            value = " -r" if option.takes_value else ""
            value += f" -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            value += " -F" if option.files else ""
            lines.append(
                f"complete -c grasp -n {shlex.quote(here)} {names}{value} -d {_in_fish(option.words)}"
            )
    return "\n".join([*lines, ""])


def _in_fish(text: str) -> str:
    """A text in fish's single quotes, in which a backslash stands before another and before a quote."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
