"""Write sbom.cdx.json (CycloneDX): each Python package of the image, with version and hashes.

The source is the lists from which the image is built; they name packages of other systems too. Debian's
packages in the base images are not included: `docker sbom` or syft lists them for a built image.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("requirements.txt", "requirements-cluster.txt", "requirements-models.txt")
"""Lists that the Dockerfile installs."""


def together(lists: Iterable[str]) -> str:
    """Join the lists, each package once."""
    found: dict[str, str] = {}
    for text in lists:
        for entry in re.findall(r"^[A-Za-z0-9][^\n]*(?:\n[ \t][^\n]*)*", text, re.MULTILINE):
            found.setdefault(entry.split()[0], entry)
    return "\n".join(found.values()) + "\n"


def write(path: Path) -> None:
    """Have cyclonedx-bom write the list."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "--output-reproducible"]
    command += ["--pyproject", "pyproject.toml", "--of", "JSON", "--output-file", str(path), "-"]
    packages = together((ROOT / name).read_text(encoding="utf-8") for name in LISTS)
    subprocess.run(command, cwd=ROOT, input=packages, text=True, check=True)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "sbom.cdx.json").resolve())
