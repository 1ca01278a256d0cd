"""The web server: Streamlit's pages, the engine's life cycle and security headers."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core import server
from pages._ui.guard import show_error
from pages._ui.warm import warm


def security_headers() -> dict[str, str]:
    """Headers of every response; the policy admits Streamlit's own files and nothing else.

    Streamlit's start page holds one inline script, admitted by its hash; its components set inline
    styles, and Vega draws without ``unsafe-eval``.
    """
    start_page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", start_page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


class SecurityHeaders:
    """ASGI middleware that adds :func:`security_headers` to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = [(name.lower().encode(), value.encode()) for name, value in security_headers().items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through, with the headers on each response's start."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Get ready while the first visitor reads the first page; hand running work back after the last."""
    warming = asyncio.get_running_loop().run_in_executor(None, warm)
    try:
        yield
    finally:
        await warming
        server.shared().close()


app = st.App(
    "pages/main.py",
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders)],
    on_script_error=show_error,
)
