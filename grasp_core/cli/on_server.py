"""Commands that a server computes: ``--server ADDRESS``."""

import argparse
import inspect
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from grasp_core.cli.options import axes_given, given_options, spec_fields, test_fields
from grasp_core.cli.reading import read_place
from grasp_core.cli.terminal.messages import TERMINAL, counting_down, note
from grasp_core.engine.reading_request import Reading
from grasp_core.model.data_spec import Filters
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import listed
from grasp_core.notebook.remote import ROLES, Api, RemoteResult, asked_plain, in_words_of, lying
from grasp_core.reading.table.table import Table
from grasp_core.report.saved import read_spec

_HERE = ("engine", "workers", "scratch", "resume", "show_ids")
"""Options that apply only if the command computes here."""
_READ_HERE = ("keep", "preset")
"""Options that apply only if the data are read here."""


def on_server(command: Callable[..., Any], address: str) -> Callable[[argparse.Namespace], Any]:
    """Return the command in a form that a server computes."""
    if "api" not in inspect.signature(command).parameters:
        able = ("run", "quality", "agreement", "items", "rater-map", "plan", "models", "report", "compare")
        raise SpecError(f"--server goes with {listed(able)}: other commands compute here")
    api = Api(address, os.environ.get("GRASP_TOKEN") or None, word=partial(in_words_of, TERMINAL))

    def there(chosen: argparse.Namespace) -> Any:
        for name in _HERE:
            if vars(chosen).get(name):
                flag = name.replace("_", "-")
                raise SpecError(f"--{flag} is of what is computed here: leave --server out")
        return command(chosen, api)

    return there


def run_on_server(
    api: Api,
    found: Reading,
    given: Mapping[str, Any],
    spec: RunSpec,
    models: Mapping[str, tuple[Any, Table]] | None = None,
) -> RemoteResult:
    """Let the server compute a run of data that were read here; an equal earlier run is used again."""
    return computed(api, api.sent(spec, found, given, models or {}))


def computed(api: Api, asked: Mapping[str, object]) -> RemoteResult:
    """Let the server compute a run, and show its progress."""
    with counting_down() as show:
        there = api.compute(
            asked, lambda done, of: show(done / max(of, 1), f"{done:,} of {of:,} permutations")
        )
    note(f"the run is {api.address}/results?run={there.run}")
    return there


def request_for_server_files(chosen: argparse.Namespace, api: Api) -> dict[str, Any] | None:
    """Return the request for a run of the server's files, unnamed ones in order of roles, or None."""
    places = dict(zip(ROLES, chosen.files, strict=False))
    named = {role: vars(chosen).get(role) for role in ROLES}
    places |= {role: place for role, place in named.items() if place is not None}
    if not any(map(_lies_there, places.values())):
        return None
    if "annotations" not in places:
        raise SpecError("name the file with the labels first, or by --annotations")
    given = given_options(chosen)
    if used := [name for name in _READ_HERE if given.get(name)]:
        raise SpecError(f"--{used[0]} is of data that are read here, and not by the server")
    files = {
        role: lying(place) if _lies_there(place) else api.brought(place, read_place(place, None))
        for role, place in places.items()
    }
    if given.get("spec") is not None:
        return {"spec": read_spec(chosen.spec).spec.to_dict(), "files": files}
    fields = spec_fields(given)
    named_too = {"further", *(["filters"] if fields["filters"] != Filters() else [])}
    named_too |= {"recode"} if fields["recode"] else set()
    axes, crossed = axes_given(given)
    if crossed and not axes:
        raise SpecError("of data that the server reads, name the axes beside --intersect, with --axis")
    plain = asked_plain(fields, test_fields(given), {*given, *named_too}, (*axes, *crossed) or None)
    return {"spec": plain, "files": files, "recommended": given.get("recommended")}


def _lies_there(place: str) -> bool:
    return place.startswith("data:") or re.fullmatch("[0-9a-f]{64}", place) is not None
