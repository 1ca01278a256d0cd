"""Seeded permutations, the compiled kernel, null distributions, p-values and corrections.

Compiled code is kept in a folder of its own for each state of this package's sources. Numba looks at the file
of the function alone; a kernel would go on calling what its helpers in other files were before an upgrade.

Imports `remarks` and `statistics`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba

_HERE = Path(__file__).parent


def sources_digest(folder: Path = _HERE) -> str:
    """Hash of all sources of a package, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


_config: Any = numba.config
_base = Path(_config.CACHE_DIR or _HERE / "__pycache__" / "kernels")
_config.CACHE_DIR = str(_base / sources_digest())
