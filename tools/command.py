"""Put the command ``grasp`` into the environment that runs this, for the checkout as it is.

It does the same as an editable install, but without a network and at once: the checkout's own code is
imported, and pip knows the package, so that ``pip install 'grasp-core[figures]'`` adds an extra's packages.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
COMMAND = """\
#!/bin/sh
exec {python} -P -m grasp_core "$@"
"""


def main() -> None:
    """Write command, path and metadata anew."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    packages, scripts = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("scripts"))
    stem = project["name"].replace("-", "_")
    for old in packages.glob(f"{stem}-*.dist-info"):
        shutil.rmtree(old)
    command = scripts / next(iter(project["scripts"]))
    info = packages / f"{stem}-{project['version']}.dist-info"
    files = {
        packages / f"{stem}.pth": f"{ROOT}\n",
        command: COMMAND.format(python=shlex.quote(sys.executable)),
        info / "METADATA": "".join(f"{line}\n" for line in metadata(project)),
        info / "INSTALLER": "tools/setup.sh\n",
    }
    info.mkdir()
    for path, text in files.items():
        path.write_text(text, "utf-8")
    command.chmod(0o755)
    lines = [f"{os.path.relpath(path, packages)},{digest(path)}" for path in files]
    lines.append(f"{os.path.relpath(info / 'RECORD', packages)},,")
    (info / "RECORD").write_text("\n".join(lines) + "\n", "utf-8")


def metadata(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of METADATA that pip reads."""
    yield from ("Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {project['version']}")
    yield f"Requires-Python: {project['requires-python']}"
    for line in project["dependencies"]:
        yield f"Requires-Dist: {Requirement(line)}"
    for extra in project["optional-dependencies"]:
        yield f"Provides-Extra: {extra}"
        for needed in brought(project, extra):
            wanted = f"extra == '{extra}'"
            needed.marker = Marker(f"({needed.marker}) and {wanted}" if needed.marker else wanted)
            yield f"Requires-Dist: {needed}"


def brought(project: Mapping[str, Any], extra: str) -> Iterator[Requirement]:
    """Yield the packages of an extra, and of the extras that it names."""
    for line in project["optional-dependencies"][extra]:
        needed = Requirement(line)
        if needed.name == project["name"]:
            for other in sorted(needed.extras):
                yield from brought(project, other)
        else:
            yield needed


def digest(path: Path) -> str:
    """Return a file's hash and size, in the form of RECORD."""
    content = path.read_bytes()
    urlsafe = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={urlsafe},{len(content)}"


if __name__ == "__main__":
    main()
