"""The list in docs/deploy.md of what is hardened already, line by line against the files that do it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.deploy.test_compose import APPS, SERVICES, composed
from tests.serving import ROOT

PROXY = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
DOCKERFILES = {
    name: (ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", "deploy/proxy.Dockerfile")
}
DOCUMENT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
IMAGE = re.compile(r"[a-z0-9./-]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}")


def services() -> list[dict[str, Any]]:
    return list(SERVICES.values())


def block(name: str) -> str:
    """A block of the Caddyfile, as it is indented."""
    found = re.search(rf"^(\t*){re.escape(name)}.*?\{{$(.*?)^\1\}}$", PROXY, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[2]


def open_files() -> bool:
    return all(one["ulimits"] == {"nofile": {"soft": 65536, "hard": 65536}} for one in services())


def https_only() -> bool:
    site = re.search(
        r"^\{\$GRASP_SITE:localhost\} \{$", PROXY, re.MULTILINE
    )  # no scheme: both, http redirects
    public = all(SERVICES[name]["environment"]["GRASP_PUBLIC_URL"].startswith("https://") for name in APPS)
    return bool(site) and "auto_https" not in PROXY and public


def patience() -> bool:
    lines = [line.split() for line in block("timeouts").strip().splitlines()]
    return lines == [["read_header", "10s"], ["read_body", "{$GRASP_BODY_TIMEOUT:30m}"], ["idle", "2m"]]


def uploads() -> bool:
    sides = composed(GRASP_UPLOAD_MB="7")["services"]
    told = {sides["proxy"]["environment"]["GRASP_UPLOAD_MB"]}
    told |= {sides[name]["environment"]["STREAMLIT_SERVER_MAX_UPLOAD_SIZE"] for name in APPS}
    return told == {"7"} and "max_size {$GRASP_UPLOAD_MB:500}MiB" in block("request_body")


def metrics() -> bool:
    paths = re.search(r"@inside path (.*)\n\trespond @inside 404$", PROXY, re.MULTILINE)
    return bool(paths) and {"/metrics", "{$GRASP_BASE_PATH}/metrics"} <= set(paths[1].split())


def forwarded() -> bool:
    address = SERVICES["proxy"]["networks"]["front"]["ipv4_address"]
    believed = all(SERVICES[name]["environment"]["FORWARDED_ALLOW_IPS"] == address for name in APPS)
    return believed and "trusted_proxies" not in PROXY


def silent_proxy() -> bool:
    return "\tadmin off\n" in PROXY and PROXY.count("header -Server") == 2


def logs() -> bool:
    bounded = {"driver": "local", "options": {"max-size": "10m", "max-file": "5"}}
    return all(one["logging"] == bounded for one in services())


def packages() -> bool:
    lists = re.findall(r"--requirement ([\w.-]+)", DOCKERFILES["Dockerfile"])
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in [*lists, "requirements.txt"]]
    pins = [
        entry
        for text in texts
        for entry in re.findall(r"^[a-z0-9][^\n]*(?:\n    [^\n]*)*", text, re.MULTILINE)
    ]
    return (
        len(pins) > 100
        and all("--hash=sha256:" in pin for pin in pins)
        and "--only-binary :all:" in DOCKERFILES["Dockerfile"]
    )


def images() -> bool:
    named = [one["image"] for one in services() if "build" not in one]
    named += re.findall(r"^ARG BASE=(\S+)$", "\n".join(DOCKERFILES.values()), re.MULTILINE)
    found = [IMAGE.fullmatch(name) for name in named]
    return len(named) == 3 and all(found)


LINES: dict[str, Callable[[], bool]] = {
    "room for 65,536 open files": open_files,
    "HTTPS only": https_only,
    "headers arrive within 10 s": patience,
    "uploads are as large": uploads,
    "metrics are not passed on": metrics,
    "`X-Forwarded-*` is believed": forwarded,
    "the proxy has no address": silent_proxy,
    "log files are bounded": logs,
    "packages of the image": packages,
    "images are named by version": images,
}
ELSEWHERE = {"no root, no capabilities", "the database and the cluster", "secrets are files"}
"""What test_compose.py compares."""


def listed() -> list[str]:
    section = DOCUMENT.partition("## Hardening\n")[2].partition("\n\n- ")[2]
    return re.split(r"\n- ", section.partition("\n\n")[0])


def test_every_line_of_the_list_is_compared() -> None:
    known = LINES.keys() | ELSEWHERE
    assert {next((start for start in known if line.startswith(start)), line) for line in listed()} == known


@pytest.mark.parametrize("line", LINES)
def test_it_is_so(line: str) -> None:
    assert LINES[line]()
