"""What the Dockerfile promises, read from the file, from .dockerignore and from the lists of packages."""

import re
from importlib import metadata
from pathlib import Path

from grasp_core.benchmark.baselines import embedding
from tests.serving import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COPIED = [
    name
    for names in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for name in names.split()
    if name != "."
]
(INSTALL,) = re.findall(r"pip --python \S+ install (.+?) +\$\{CONNECTORS", DOCKERFILE, re.MULTILINE)
(WITH_CONNECTORS,) = re.findall(r"\$\{CONNECTORS:\+--requirement (\S+)\}", DOCKERFILE)


def installed() -> set[Path]:
    """The files of packages that the image installs, with those that they include."""
    found: set[Path] = set()
    waiting = [name.strip('"') for name in re.findall(r"--requirement (\S+)", INSTALL)]
    while waiting:
        path = ROOT / waiting.pop()
        found.add(path)
        waiting += re.findall(r"^-r (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found


def pins(paths: set[Path]) -> dict[str, str]:
    """Version by package."""
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    found = re.findall(r"^([a-z0-9.-]+)(?:\[[^\]]+\])?==([^ ]+)", text, re.MULTILINE)
    versions = dict(found)
    assert all(versions[name] == version for name, version in found), "two versions of one package"
    return versions


def test_every_list_of_packages_is_copied_and_sent_to_the_builder() -> None:
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    names = {path.name for path in installed()} | {WITH_CONNECTORS}
    assert names <= set(COPIED)
    assert {f"!{name}" for name in COPIED} <= set(sent)


def test_the_image_has_what_every_baseline_needs() -> None:
    versions = pins(installed())
    for module in (*embedding.MODULES, "openai"):
        (package,) = metadata.packages_distributions()[module]
        assert versions[package] == metadata.version(package)


def test_the_image_can_serve_as_a_clusters_scheduler_or_worker() -> None:
    assert pins(installed())["distributed"] == metadata.version("distributed")


def test_nothing_is_installed_but_what_is_listed() -> None:
    assert {"--no-deps", "--only-binary"} <= set(INSTALL.split())
    assert not {"torch", "sentence-transformers"} & pins(installed()).keys()


def test_connectors_can_be_added_to_it() -> None:
    versions = pins(installed() | {ROOT / WITH_CONNECTORS})
    assert {"label-studio-sdk", "argilla", "datasets"} <= versions.keys()
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert 'CONNECTORS: "${GRASP_IMAGE_CONNECTORS:-}"' in compose
