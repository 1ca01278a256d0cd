"""Client of a server's API, by address and token: requests, and runs that the server computes."""

import contextlib
import dataclasses
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urljoin, urlsplit

from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.analysis.planner.values import Plan
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.analysis.results import read_result
from grasp_core.engine.frontend import Frontend
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.request_fields import as_option
from grasp_core.model.data_spec import IN_FILES, DataSpec
from grasp_core.model.errors import RemoteError
from grasp_core.model.fields import fields_of
from grasp_core.model.groups import AxisSet
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.result import Result
from grasp_core.model.settings import kept_secret
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import for_python
from grasp_core.notebook.options import Python
from grasp_core.reading.table.table import Table
from grasp_core.report.quality import QualityReport
from grasp_core.report.saved import MAX_BYTES
from grasp_core.version import __version__

SECONDS = 60.0
"""Most seconds for which a server may be silent."""
_AGAIN_S = 0.5
"""Seconds between two looks at the progress."""
_API = re.compile(r"(?P<base>.*)/api/(?:v\d+/)?runs/(?P<run>[^/]+)/?")
_PAGE = re.compile(r"(?P<base>.*)/[^/]*")
_PROBLEM_BYTES = 100_000
_CODES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "not-admitted",
    HTTPStatus.FORBIDDEN: "not-allowed",
    HTTPStatus.NOT_FOUND: "not-found",
    HTTPStatus.TOO_MANY_REQUESTS: "too-often",
}
ROLES = {"annotations": "member", "raters": "raters_member", "items": "items_member"}
"""Roles of a request's files, each with the field that names the file's member."""
_NAMES = {*fields_of(DataSpec), *fields_of(AnalysisSpec), "axes", "filters", "raters", "recommended"}
_OF_FILES = {written: name for name, written in IN_FILES.items()}
_IN_REQUESTS = re.compile(r'"(\w+)"(: )?')
"""An option as requests write it, with a second group if its value follows."""
_IN_DATA = ' in "data"'
_WRITE_IT = "write it like https://host/results?run=... or https://host/api/v1/runs/..."

ShowProgress = Callable[[int, int], object]
"""Function called with the number of permutations, or other steps, that are done, and their total."""


class RemoteResult(NamedTuple):
    """A run's result, its id, and the server's notes on how it read the data."""

    result: Result
    run: str
    notes: tuple[str, ...]


def _silent(words: str) -> None:
    """Tell nothing."""


def in_words_of(frontend: Frontend, text: str) -> str:
    """Reword a server's sentence: it writes options as requests have them, the frontend in its own way."""
    said, at = "", 0
    while found := _IN_REQUESTS.search(text, at):
        said, end, (name, follows) = said + text[at : found.start()], found.end(), found.groups()
        words = found[0]
        if (name := _OF_FILES.get(name, name)) in _NAMES:
            words, end = frontend.option(name), found.end(1) + 1
            with contextlib.suppress(ValueError):
                if follows:
                    value, end = json.JSONDecoder().raw_decode(text, found.end())
                    words = as_option(name, value) or frontend.value(name, value)
            end += len(_IN_DATA) if text.startswith(_IN_DATA, end) else 0
        said, at = said + words, end
    return said + text[at:]


def in_python(text: str) -> str:
    """Reword a server's sentence for Python."""
    return for_python(in_words_of(Python(), text))


class Api:
    """A client of one server's API.

    `address`: of the server, such as ``https://grasp.example.org``. `token`: sent to this server alone, and
        unencrypted only to this machine. `project`: id of the project of runs and files.
    `word`: rewords the server's sentences for the caller.
    """

    def __init__(
        self,
        address: str,
        token: str | None,
        project: str = "everyone",
        word: Callable[[str], str] = in_python,
    ) -> None:
        self.address = _checked(address, "https://host").geturl().rstrip("/")
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
            raise RemoteError("the token has characters that no token has; copy it again", "no-token")
        self._token, self.project, self._word = token, project, word

    def ask(self, path: str, plain: object = None, content: bytes | None = None) -> Any:
        """Return the JSON response to a GET, or to a POST of JSON or of a file's content."""
        headers = {"Accept": "application/json", "User-Agent": f"grasp/{__version__}"}
        if plain is not None:
            content, headers["Content-Type"] = json.dumps(plain).encode(), "application/json"
        elif content is not None:
            headers["Content-Type"] = "application/octet-stream"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token.strip()}"
        address = f"{self.address}/api/v1{path}"
        return _answer(urllib.request.Request(address, content, headers), self._word)  # noqa: S310 - see _checked

    def result(self, run: str) -> Any:
        """Return a run's result as parsed JSON."""
        plain = self.ask(f"/runs/{quote(run, safe='')}")
        if isinstance(plain, dict) and plain.get("format") is None and "state" in plain:
            if plain["state"] in ("failed", "cancelled"):
                why = plain.get("error") or "its page says why"
                raise RemoteError(f"the run {plain['state']}: {why}", "no-result")
            raise RemoteError(f"the run is {plain['state']}; open it once it is done", "not-done")
        return plain

    def ended(self, told: Any, tell: Callable[[str], object] = _silent) -> Any:
        """Wait for work that the server has begun, and return its outcome; `tell` gets the current step."""
        while told.get("state") == "running" and "doing" in told:
            tell(told["doing"])
            time.sleep(_AGAIN_S)
            told = self.ask(f"/work/{told['id']}")
        if (problem := told.get("problem")) is not None:
            raise RemoteError(self._word(problem["detail"]), problem["code"])
        return told

    def quality(
        self, asked: Mapping[str, Any], tell: Callable[[str], object] = _silent, *, power: bool
    ) -> tuple[QualityReport, tuple[str, ...]]:
        """Return the report on data, and the server's notes on how it read them."""
        told = self.ended(self.ask("/quality", {**asked, "power": power, "project": self.project}), tell)
        plain = told.get("report") or told
        notes = tuple(map(self._word, (*plain["notes"], *plain["hints"])))
        return QualityReport.from_dict(plain), notes

    def plan(self, asked: Mapping[str, Any], tell: Callable[[str], object] = _silent) -> Plan:
        """Return a plan."""
        return from_json(self.ended(self.ask("/plans", asked), tell)["report"]["plan"], Plan)

    def items(self, run: str, group: Mapping[str, str], question: str | None) -> ItemsResult:
        """Return the items of a group of a run."""
        place = f"/runs/{quote(run, safe='')}/items"
        told = self.ask(place, {"group": dict(group), "question": question})
        place += f"/{told['id']}"
        while "format" not in told:
            if told["state"] == "failed":
                raise RemoteError(self._word(told["error"]), "no-result")
            if told["state"] == "running":
                time.sleep(_AGAIN_S)
            told = self.ask(place)
        return ItemsResult.from_dict(told)

    def rater_map(self, run: str) -> tuple[RaterMap, Mapping[str, Any]]:
        """Return the map of a run's raters, and the whole file of it."""
        plain = self.ended(self.ask(f"/runs/{quote(run, safe='')}/rater-map", {}))["report"]
        return from_json(plain["map"], RaterMap), plain

    def sent(
        self,
        spec: RunSpec,
        found: Reading,
        given: Mapping[str, Any],
        models: Mapping[str, tuple[Any, Table]] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Upload data that were read here, a file as it is, all else as Parquet; return the request.

        `models`: by name, the labels given for a model, and their table.
        """
        files: dict[str, Any] = {}
        for role, member in ROLES.items():
            table = getattr(found, role)
            if table is None:
                continue
            files[role] = self.brought(given.get(role), table)
            if _file_at(given.get(role)) is None:  # Parquet has no members
                alone: dict[str, Any] = {member: None}
                spec = dataclasses.replace(spec, data=dataclasses.replace(spec.data, **alone))
        labels = {name: self.brought(given, table) for name, (given, table) in models.items()}
        sources = (
            dataclasses.replace(one, sha256=labels.get(one.name, files["annotations"])["sha256"])
            for one in spec.models
        )
        spec = dataclasses.replace(spec, models=tuple(sources))
        once = {one["sha256"]: one for one in labels.values()}
        return {"spec": spec.to_dict(), "files": {**files, "models": list(once.values())}}

    def brought(self, given: Any, table: Table) -> dict[str, str]:
        """Upload a file; return how requests name it."""
        path = _file_at(given)
        name = f"{table.name.removesuffix('.parquet')}.parquet" if path is None else path.name
        content = _parquet(table) if path is None else path.read_bytes()
        asked = urlencode({"name": name, "project": self.project})
        return {"sha256": self.ask(f"/files?{asked}", content=content)["sha256"], "name": name}

    def compute(self, asked: Mapping[str, object], tell: ShowProgress) -> RemoteResult:
        """Return the result of a run; an interrupt cancels the run."""
        told = self.ended(self.ask("/runs", {**asked, "project": self.project}))
        run = told.get("run") or told
        notes = tuple(map(self._word, (*run["notes"], *run["hints"])))
        try:
            while run["state"] not in ("done", "failed", "cancelled"):
                tell(run["permutations"]["done"], run["permutations"]["total"])
                time.sleep(_AGAIN_S)
                run = self.ask(f"/runs/{run['id']}/status")
        except KeyboardInterrupt:
            self.ask(f"/runs/{run['id']}/cancel", {})
            raise
        return RemoteResult(read_result(self.result(run["id"])), run["id"], notes)


def lying(place: str, name: str = "", token: str | None = None) -> dict[str, str | None]:
    """Return how a request names a file that the server reads itself."""
    if re.fullmatch("[0-9a-f]{64}", place):
        return {"sha256": place, "name": name or place[:12]}
    if place.startswith(("data:", "http://", "https://")):
        return {"location": place}
    return {"source": place, "token": token}


def asked_plain(
    data: Mapping[str, Any],
    analysis: Mapping[str, Any],
    named: Collection[str],
    axes: Sequence[AxisSet] | None,
) -> dict[str, Any]:
    """Return a spec with the named fields, for data that a server reads; it guesses the other fields."""
    fields = {IN_FILES.get(name, name): to_json(one) for name, one in data.items() if name in named}
    asked = {name: to_json(one) for name, one in analysis.items()}
    return {"data": fields, "analysis": asked if axes is None else {**asked, "axes": to_json(axes)}}


def api_of(address: str, token: str | None) -> tuple[Api, str]:
    """Return the server and the id of a run, from any address by which people know the run."""
    parts = _checked(address, _WRITE_IT)
    of_page = parse_qs(parts.query).get("run")
    found = _API.fullmatch(parts.path) if of_page is None else _PAGE.fullmatch(parts.path)
    if found is None:
        raise RemoteError(f"this address names no run; {_WRITE_IT}", "no-address")
    run = found["run"] if of_page is None else of_page[0]
    return Api(f"{parts.scheme}://{parts.netloc}{found['base']}", token), run


def _checked(address: str, how: str) -> Any:
    """Return an address's parts; refuse an address by which a token would leak."""
    parts = urlsplit(address)
    if parts.hostname is None or parts.username is not None or parts.password is not None:
        raise RemoteError(f"this is no address of a server; write it like {how}", "no-address")
    if not kept_secret(address):
        raise RemoteError("a token and what it opens need an address that begins with https://", "no-https")
    return parts


def _file_at(given: Any) -> Path | None:
    path = Path(given) if isinstance(given, str | Path) else None
    return path if path is not None and path.is_file() else None


def _parquet(table: Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pa.BufferOutputStream()
    pq.write_table(table.data, file)
    return bytes(file.getvalue())


class _OnlyHere(urllib.request.HTTPRedirectHandler):
    """A handler that follows redirects only within a server: other servers must not get the token."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        old, new = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            fp.close()
            raise RemoteError("the server leads to another one, where a token is not sent", "elsewhere")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _answer(request: urllib.request.Request, word: Callable[[str], str]) -> Any:
    opener = urllib.request.build_opener(_OnlyHere)
    try:
        with opener.open(request, timeout=SECONDS) as response:
            content = response.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise _refusal(error, word) from None
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise RemoteError(f"there is no connection to {request.host}: {why}", "no-server") from None
    if len(content) > MAX_BYTES:
        raise RemoteError(f"the answer is larger than {MAX_BYTES // 1_000_000} MB", "too-large")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise RemoteError("the answer is no JSON: this address is no GRASP server's", "no-grasp") from None


def _refusal(error: urllib.error.HTTPError, word: Callable[[str], str]) -> RemoteError:
    """Return an error with the server's own sentence, if it gives one, reworded for the caller."""
    with error:
        content = error.read(_PROBLEM_BYTES)
    try:
        said = word(str(json.loads(content)["detail"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        said = f"the server answers with status {error.code}"
    return RemoteError(said, _CODES.get(error.code, "refused"))
