"""What `docker compose up` starts, on loopback: two servers on one PostgreSQL behind the proxy."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.deploy.proxy import program, proxying, wait_for
from tests.serving import Served, free_port, serving
from tests.store.postgres import Postgres, programs

BASE_PATH = "/team/grasp"
UPLOAD_MB = 2
METRICS_TOKEN = "a token for metrics"


@dataclass(frozen=True)
class Team:
    """Everything that runs, and the address under which people find it."""

    url: str
    servers: tuple[Served, Served]


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    binaries = programs()
    if binaries is None:
        pytest.skip("needs PostgreSQL's server programs: install Debian's package postgresql")
    if program() is None:
        pytest.skip("needs Caddy: install Debian's package caddy")
    folder = tmp_path_factory.mktemp("team")
    https_port = free_port()
    with ExitStack() as running:
        database = Postgres(binaries)
        running.callback(database.remove)
        environment = {
            "GRASP_DATABASE_URL": database.new_database().render_as_string(hide_password=False),
            "GRASP_ALLOW_ANONYMOUS": "1",
            "GRASP_PUBLIC_URL": f"https://localhost:{https_port}{BASE_PATH}",
            "GRASP_WORKERS": "1",
            "GRASP_METRICS_TOKEN": METRICS_TOKEN,
            "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": str(UPLOAD_MB),
        }
        servers = []
        for name in ("one", "two"):
            (folder / name).mkdir()
            servers.append(running.enter_context(serving(folder / name, environment, base_path=BASE_PATH)))
        upstreams = [server.url.removeprefix("http://").removesuffix(BASE_PATH) for server in servers]
        settings = {
            "GRASP_BASE_PATH": BASE_PATH,
            "GRASP_UPLOAD_MB": str(UPLOAD_MB),
            "GRASP_BODY_TIMEOUT": "3s",
        }
        url = running.enter_context(proxying(folder / "proxy", upstreams, https_port, settings)) + BASE_PATH
        wait_for(f"{url}/_stcore/health", 200)
        yield Team(url, (servers[0], servers[1]))
