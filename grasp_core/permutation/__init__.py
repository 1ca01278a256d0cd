"""Seeded permutations, the compiled kernel, null distributions, p-values and corrections.

Compiled code is kept in a folder of its own for each state of the sources of this room and of `statistics`,
whose constants kernels take in. Numba looks at the file of the function alone; a kernel would go on with what
helpers and constants in other files were before an upgrade.

Imports `remarks` and `statistics`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numba

_HERE = Path(__file__).parent
TAKEN_IN = ("permutation", "statistics")
"""Rooms of the core whose sources may end in compiled code of other files, in kernels of `panels` too."""


def sources_digest(root: Path = _HERE.parent, rooms: Iterable[str] = TAKEN_IN) -> str:
    """Hash of all sources of these rooms below a folder, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for source in sorted(source for room in rooms for source in (root / room).rglob("*.py")):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(root)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


_config: Any = numba.config
_base = Path(_config.CACHE_DIR or _HERE / "__pycache__" / "kernels")
_config.CACHE_DIR = str(_base / sources_digest())
