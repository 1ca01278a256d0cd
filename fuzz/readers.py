"""Damage files of all formats until reading one fails, not by a refusal: ``python -m fuzz.readers``.

Starts from a file of each format, exports of tools and the examples of docs/formats.md, and keeps files that
reach new code in fuzz/corpus. It stops at the first input that breaks the promise of
:func:`tests.reading.reader_samples.outcome`, which is then in fuzz/crashes;
``python -m fuzz.readers --input FILE`` reads that one alone.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import random
import re
import sys
import zipfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["grasp_core.read"]):
    from tests.reading.reader_samples import outcome, samples, zipped
    from tests.reading.sandbox.hostile import SHAPES

_HERE = Path(__file__).parent
_CORPUS = _HERE / "corpus"
_CRASHES = _HERE / "crashes"
_EXAMPLE = re.compile(rb"^```\w+ [\w-]+\.\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A file in docs/formats.md."""
_EXPORTS = _HERE.parent / "tests" / "reading" / "formats" / "tools" / "examples"
_LONGEST = 1 << 15
_SIZES = (3, 300)
"""Of the hostile shapes to start from; tests/reading/sandbox/test_process.py reads large ones."""
_SLOW_SECONDS = 60


def _mutate(content: bytes, longest: int, seed: int) -> bytes:
    """Damage a member of a sound archive most of the time: damage to the archive itself is soon refused."""
    chance = random.Random(seed)  # noqa: S311 - damage, not secrets
    if content.startswith(b"PK\x03\x04") and chance.random() < 0.9:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            name = chance.choice(sorted(members))
            return zipped({**members, name: bytes(atheris.Mutate(members[name], longest))})
        except Exception:
            return bytes(atheris.Mutate(content, longest))
    return bytes(atheris.Mutate(content, longest))


def main() -> None:
    """Read the arguments and search, or read one file."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.readers", description=__doc__)
    parser.add_argument("--seconds", type=int, default=180, help="how long to search (default: %(default)s)")
    parser.add_argument("--input", type=Path, metavar="FILE", help="read this file instead of searching")
    given = parser.parse_args()
    if given.input:
        sys.stdout.write(f"{outcome(given.input.read_bytes())}\n")
        return
    for folder in (_CORPUS, _CRASHES):
        folder.mkdir(exist_ok=True)
    examples = _EXAMPLE.findall((_HERE.parent / "docs" / "formats.md").read_bytes())
    exports = (path.read_bytes() for path in _EXPORTS.iterdir())
    shapes = (shape(size) for shape in SHAPES.values() for size in _SIZES)
    for content in (*samples().values(), *examples, *exports, *shapes):
        (_CORPUS / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
    options = {
        "max_total_time": given.seconds,
        "artifact_prefix": f"{_CRASHES}/",
        "max_len": _LONGEST,
        "timeout": _SLOW_SECONDS,
        "rss_limit_mb": 4096,
        "print_final_stats": 1,
    }
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(_CORPUS)]
    atheris.Setup(arguments, outcome, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
