"""Where the published data are: beside the repository, not in it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
DICES350 = SHARED / "data" / "dices350"
REFERENCE = SHARED / "reference"

needs_shared_data = pytest.mark.skipif(
    not DICES350.is_dir(), reason="needs the published data in ../shared beside the repository"
)
