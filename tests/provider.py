"""A real OpenID provider on this machine that believes everybody, and a sign-in without a browser."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from joserfc import jwt
from joserfc.jwk import OctKey

from tests.serving import free_port, wait_for

PATIENCE_S = 60


@contextmanager
def providing(people: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Address of a provider that knows these people's claims, by subject."""
    port = free_port()
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    for subject, claims in people.items():
        command += ["--user-claims", json.dumps({"sub": subject, **claims})]
    address = f"http://localhost:{port}"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"{address}/.well-known/openid-configuration", process)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def sign_in(web: httpx.Client, subject: str, cookie_secret: str) -> None:
    """Go the way to the provider and back that *Sign in* begins; afterwards the client has the cookies."""
    claims = {"provider": "default", "exp": int(time.time()) + 60}
    token = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(cookie_secret))
    asked = web.get("/auth/login", params={"provider": token})
    assert asked.is_redirect, asked.text
    agreed = httpx.post(asked.headers["Location"], data={"sub": subject}, verify=False)
    assert agreed.is_redirect, agreed.text
    assert web.get(agreed.headers["Location"]).is_redirect
