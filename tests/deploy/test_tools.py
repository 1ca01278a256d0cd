"""What pins images and lists packages."""

import json
import re
import runpy
from pathlib import Path

import pytest

from tests.deploy.test_image import pins
from tests.serving import ROOT

DIGEST = "sha256:" + "0123456789abcdef" * 4


def test_digests_are_added_to_every_image_and_asked_for_anew() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "digests.py"))
    asked = []

    def digest_of(image: str) -> str:
        asked.append(image)
        return DIGEST

    for name in tool["FILES"]:
        text = (ROOT / name).read_text(encoding="utf-8")
        once = tool["pinned"](text, digest_of)
        assert tool["pinned"](once, digest_of) == once
        assert re.sub(f"@{DIGEST}", "", once) == re.sub("@sha256:[0-9a-f]{64}", "", text)
    assert sorted({image.partition(":")[0] for image in asked}) == ["caddy", "postgres", "python"]
    assert not any("@" in image for image in asked)


def test_the_list_of_packages_is_the_image_s() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "sbom.py"))
    lists = {ROOT / name for name in tool["LISTS"]}
    together = tool["together"](path.read_text(encoding="utf-8") for path in lists)
    found = dict(re.findall(r"^([a-z0-9.-]+)(?:\[[^\]]+\])?==([^ ]+)", together, re.MULTILINE))
    assert found == pins(lists)
    assert together.count("\n-r") == 0
    assert len(re.findall(r"^\S", together, re.MULTILINE)) == len(found)


@pytest.mark.long
def test_it_is_written_as_cyclonedx(tmp_path: Path) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "sbom.py"))
    tool["write"](tmp_path / "sbom.json")
    written = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert (written["bomFormat"], written["metadata"]["component"]["name"]) == ("CycloneDX", "grasp-core")
    assert {one["name"]: one["version"] for one in written["components"]} == pins(
        {ROOT / name for name in tool["LISTS"]}
    )
    assert all(one["purl"].startswith("pkg:pypi/") for one in written["components"])
