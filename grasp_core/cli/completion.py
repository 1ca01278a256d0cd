"""``completion`` and ``warm``: a script that completes words in bash, zsh or fish; compiling the kernels."""

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from grasp_core.cli.parser import fill_all
from grasp_core.cli.terminal.messages import say
from grasp_core.engine.warm import warm

_FILES = ("FILE", "BACKUP", "RESULT", "DIR", "FOLDER", "A", "B")
"""Placeholders for a file or folder in a command's help."""
_LONGEST = 70
_BASH_FILES = """local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur"))"""
_BASH = """\
# Completion of grasp in bash. In ~/.bashrc: source <(grasp completion bash)
_grasp() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=grasp words="" options=""
  local files=no i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
      @STEPS@) at="$at ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
@VALUES@
  esac
  case "$at" in
@PLACES@
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ $files == yes ]]; then
    @FILES@
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o filenames -F _grasp grasp
""".replace("@FILES@", _BASH_FILES)
_ZSH = """\
#compdef grasp
# Completion of grasp in zsh. In ~/.zshrc, behind compinit: source <(grasp completion zsh)
_grasp() {
  local at=grasp files=no i
  local -a offered options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at ${words[i]}" in
      (@STEPS@) at="$at ${words[i]}" ;;
    esac
  done
  case "$at ${words[CURRENT-1]}" in
@VALUES@
  esac
  case "$at" in
@PLACES@
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif [[ $files == yes ]]; then
    _files
  else
    _describe command offered
  fi
}
if [ "$funcstack[1]" = "_grasp" ]; then _grasp "$@"; else compdef _grasp grasp; fi
"""
_FISH = """\
# Completion of grasp in fish: grasp completion fish > ~/.config/fish/completions/grasp.fish
"""


class _Option(NamedTuple):
    """An option: its names, its help, whether a value follows, known values; `files`: the value is a file."""

    names: list[str]
    words: str
    takes_value: bool
    values: list[str]
    files: bool


class _Command(NamedTuple):
    """A command: its words, the commands below it with their help, its options, and other words after it."""

    name: str
    below: dict[str, str]
    options: list[_Option]
    values: list[str]
    files: bool


def fill_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}

    def command(chosen: argparse.Namespace) -> None:
        from grasp_core.cli.entry import make_parser

        every = make_parser()
        fill_all(every)
        say(scripts[chosen.shell](list(_places(every, "grasp"))), end="")

    parser.set_defaults(command=command)
    parser.add_argument("shell", choices=scripts, metavar="SHELL", help=", ".join(scripts))


def fill_warm(parser: argparse.ArgumentParser) -> None:
    """Set the command; ``warm`` has no arguments."""
    parser.set_defaults(command=lambda _: warm())


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _places(parser: argparse.ArgumentParser, name: str) -> Iterator[_Command]:
    """Yield a command and all commands below it."""
    place, parsers = _Command(name, {}, [], [], files=False), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        choices = [*map(str, action.choices or ())]
        is_file = action.type is Path or action.metavar in _FILES
        if isinstance(action, argparse._SubParsersAction):
            parsers = dict(action.choices)
            place.below.update({one.dest: _line(one.help or "") for one in action._choices_actions})
        elif not action.option_strings:
            place.values.extend(choices)
            place = place._replace(files=place.files or is_file)
        elif action.help != argparse.SUPPRESS:
            words = _line(parser._get_formatter()._expand_help(action) if action.help else "")
            names, takes_value = [*action.option_strings], action.nargs != 0
            place.options.append(_Option(names, words, takes_value, choices, is_file))
    yield place
    for below, one in parsers.items():
        yield from _places(one, f"{name} {below}")


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(f'"{name}"' for name in names)


def _filled(
    script: str,
    places: list[_Command],
    found: Callable[[list[str], bool], str],
    case: str,
    line: Callable[[_Command], str],
) -> str:
    """Fill a script: `found` completes known values, else files or nothing; `line` completes a command."""
    cases, others = [], dict[bool, list[str]]({True: [], False: []})
    for place in places:
        for option in place.options:
            patterns = [f"{place.name} {name}" for name in option.names]
            if option.values:
                cases.append((patterns, option.values, False))
            elif option.takes_value:
                others[option.files] += patterns
    cases += [(others[files], [], files) for files in (True, False)]
    values = (case.format(_alternatives(names), found(known, files)) for names, known, files in cases)
    steps = _alternatives(place.name for place in places[1:])
    parts = {"STEPS": steps, "VALUES": "\n".join(values), "PLACES": "\n".join(map(line, places))}
    for mark, text in parts.items():
        script = script.replace(f"@{mark}@", text)
    return script


def _bash(places: list[_Command]) -> str:
    def found(known: list[str], files: bool) -> str:
        words = f'COMPREPLY=($(compgen -W "{" ".join(known)}" -- "$cur"))'
        return words if known else _BASH_FILES if files else "COMPREPLY=()"

    def line(place: _Command) -> str:
        options = " ".join(name for option in place.options for name in option.names)
        words, files = " ".join((*place.below, *place.values)), " files=yes;" if place.files else ""
        return f'    "{place.name}") words="{words}"; options="{options}";{files} ;;'

    return _filled(_BASH, places, found, "    {}) {}; return ;;", line)


def _zsh(places: list[_Command]) -> str:
    def found(known: list[str], files: bool) -> str:
        return f"compadd -- {' '.join(known)}" if known else "_files" if files else "_message value"

    def line(place: _Command) -> str:
        options = (f"{name}:{option.words}" for option in place.options for name in option.names)
        offered = (*(f"{name}:{words}" for name, words in place.below.items()), *place.values)
        words, files = " ".join(map(shlex.quote, offered)), " files=yes" if place.files else ""
        said = " ".join(map(shlex.quote, options))
        return f'    ("{place.name}") offered=({words}); options=({said});{files} ;;'

    return _filled(_ZSH, places, found, "    ({}) {}; return ;;", line)


def _fish(places: list[_Command]) -> str:
    def quoted(text: str) -> str:  # a backslash escapes another one, and a quote
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = []
    for place in places:
        seen = [f"__fish_seen_subcommand_from {name}" for name in place.name.split()[1:]]
        here = shlex.quote("; and ".join(seen) or "__fish_use_subcommand")
        further = f"not __fish_seen_subcommand_from {' '.join(place.below)}" if place.below else ""
        when = shlex.quote("; and ".join(filter(None, [*seen, further]))) if seen else here
        lines += [
            f"complete -c grasp -n {when} -a {name} -d {quoted(words)}" for name, words in place.below.items()
        ]
        if place.values:
            lines.append(f"complete -c grasp -n {when} -a {shlex.quote(' '.join(place.values))}")
        if not place.files:
            lines.append(f"complete -c grasp -n {when} -f")
        for option in place.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            value = "" if not option.takes_value else " -r -F" if option.files else " -x"
            value += f" -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            lines.append(f"complete -c grasp -n {here} {names}{value} -d {quoted(option.words)}")
    return _FISH + "\n".join([*lines, ""])
