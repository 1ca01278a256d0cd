"""People who sign in, for tests of the API."""

import pytest

from grasp_core.server.server import Server
from grasp_core.store.schema import addresses, people
from tests.server.conftest import ANN, SIGN_IN


@pytest.fixture
def signing_in(server: Server) -> None:
    """Let the server itself know that people sign in."""
    for name, value in SIGN_IN.items():
        object.__setattr__(server.settings, name, value)
    known = [ANN.id, "bob@lab.example", "root@lab.example", "eve@evil.example"]
    times = {"created_at": 0.0, "signed_in_at": 0.0}
    rows = [{"id": one, "issuer": "i", "subject": one, "email": one, "name": one, **times} for one in known]
    with server.database.begin() as connection:
        connection.execute(people.insert(), rows)
        connection.execute(addresses.insert(), [{"address": one, "person_id": one} for one in known])
