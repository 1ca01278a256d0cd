"""Pin the images of compose.yaml and the Dockerfiles by digest: exact bytes, not a name that may change.

It asks their registries through `docker buildx imagetools inspect`, which has to reach them. Run it again for
fixes in the images; the versions stay as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("compose.yaml", "Dockerfile", "deploy/proxy.Dockerfile")
REFERENCE = re.compile(
    r"^(?P<before>ARG BASE=|    image: )(?P<name>[a-z0-9./-]+:[\w.-]+)(?:@(?P<digest>sha256:[0-9a-f]{64}))?$",
    re.MULTILINE,
)
"""A line that names a foreign image, by version and perhaps by digest."""


def pinned(text: str, digest_of: Callable[[str], str]) -> str:
    """Return the text with the current digest of each image."""

    def line(found: re.Match[str]) -> str:
        return f"{found['before']}{found['name']}@{digest_of(found['name'])}"

    return REFERENCE.sub(line, text)


def digest_of(image: str) -> str:
    """Return the digest that the image's registry gives."""
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"grasp: no digest of {image}: {getattr(error, 'stderr', '') or error}")
    digest = asked.stdout.strip()
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        sys.exit(f"grasp: no digest of {image}: found {digest[:100]!r}")
    print(f"{image}@{digest}")
    return digest


if __name__ == "__main__":
    changed = {ROOT / file: pinned((ROOT / file).read_text(encoding="utf-8"), digest_of) for file in FILES}
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
