from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.service import Service
from tests.engine.asking import answer
from tests.engine.asking import planting as planting
from tests.engine.serving import serving


@pytest.fixture(scope="session")
def right() -> dict:
    """The digits that every way to compute :func:`~tests.engine.asking.question` has to reach."""
    return answer(n_workers=1)


@pytest.fixture
def threads() -> Iterator[Pool]:
    pool = Pool(workers.threads, 2)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def processes() -> Iterator[Pool]:
    pool = Pool(workers.processes, 2)
    pool.warm()
    yield pool
    pool.close()


@pytest.fixture
def url(tmp_path: Path) -> URL:
    return URL.create("sqlite", database=str(tmp_path / "grasp.db"))


@pytest.fixture
def service(url: URL) -> Iterator[Service]:
    with serving(url) as made:
        yield made
