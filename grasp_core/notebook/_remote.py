"""A run's result from a server, by the address of its page or of the API."""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from grasp_core.model.errors import RemoteError
from grasp_core.report.saved import MAX_BYTES
from grasp_core.version import __version__

SECONDS = 60.0
"""The longest that a server may be silent."""
_API = re.compile(r"(?P<base>.*)/api/(?:v\d+/)?runs/(?P<run>[^/]+)/?")
_PAGE = re.compile(r"(?P<base>.*)/[^/]*")
_PROBLEM_BYTES = 100_000
_CODES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "not-admitted",
    HTTPStatus.FORBIDDEN: "not-allowed",
    HTTPStatus.NOT_FOUND: "not-found",
    HTTPStatus.TOO_MANY_REQUESTS: "too-often",
}
_WRITE_IT = "write it like https://host/results?run=... or https://host/api/v1/runs/..."


def fetched(address: str, token: str | None) -> Any:
    """A run's result as parsed JSON.

    `address`: of the run's page, or of the run in the API.
    `token`: sent to this server alone, and never in the clear but to this machine.
    """
    plain = _answer(_asked(api_address(address), token))
    if isinstance(plain, dict) and plain.get("format") is None and "state" in plain:
        if plain["state"] in ("failed", "cancelled"):
            why = plain.get("error") or "its page says why"
            raise RemoteError(f"the run {plain['state']}: {why}", "no-result")
        raise RemoteError(f"the run is {plain['state']}; open it once it is done", "not-done")
    return plain


def api_address(address: str) -> str:
    """The address of a run in the API, of any address by which people know the run."""
    parts = urlsplit(address)
    if parts.hostname is None or parts.username is not None or parts.password is not None:
        raise RemoteError(f"this is no address of a run; {_WRITE_IT}", "no-address")
    if parts.scheme != "https" and not _this_machine(parts.hostname):
        raise RemoteError("a token and what it opens need an address that begins with https://", "no-https")
    of_page = parse_qs(parts.query).get("run")
    found = _API.fullmatch(parts.path) if of_page is None else _PAGE.fullmatch(parts.path)
    if found is None:
        raise RemoteError(f"this address names no run; {_WRITE_IT}", "no-address")
    run = found["run"] if of_page is None else quote(of_page[0], safe="")
    return f"{parts.scheme}://{parts.netloc}{found['base']}/api/v1/runs/{run}"


def _this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _asked(address: str, token: str | None) -> urllib.request.Request:
    headers = {"Accept": "application/json", "User-Agent": f"grasp/{__version__}"}
    if token is not None:
        if not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
            raise RemoteError("the token has characters that no token has; copy it again", "no-token")
        headers["Authorization"] = f"Bearer {token.strip()}"
    return urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was looked at


class _OnlyHere(urllib.request.HTTPRedirectHandler):
    """Follows redirects within a server: a token is not for others."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        old, new = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            fp.close()
            raise RemoteError("the server leads to another one, where a token is not sent", "elsewhere")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _answer(request: urllib.request.Request) -> Any:
    opener = urllib.request.build_opener(_OnlyHere)
    try:
        with opener.open(request, timeout=SECONDS) as response:
            content = response.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise _refusal(error) from None
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise RemoteError(f"there is no connection to {request.host}: {why}", "no-server") from None
    if len(content) > MAX_BYTES:
        raise RemoteError(f"the answer is larger than {MAX_BYTES // 1_000_000} MB", "too-large")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise RemoteError("the answer is no JSON: this address is no GRASP server's", "no-grasp") from None


def _refusal(error: urllib.error.HTTPError) -> RemoteError:
    """The server's own sentence, where it gives one."""
    with error:
        content = error.read(_PROBLEM_BYTES)
    try:
        said = str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError, RecursionError):
        said = f"the server answers with status {error.code}"
    return RemoteError(said, _CODES.get(error.code, "refused"))
