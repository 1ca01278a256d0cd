"""Files on web servers, opened as streams under limits of time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import fsspec
from fsspec.asyn import sync


@contextlib.contextmanager
def opened(url: str, guard: Callable[[str], None] | None, total_s: float, idle_s: float) -> Iterator[Any]:
    """A file on a web server; `guard` takes each address before it is asked, redirects too."""
    closing = contextlib.AsyncExitStack()
    timeout = aiohttp.ClientTimeout(total=total_s, sock_connect=idle_s, sock_read=idle_s)

    async def client(**given: Any) -> aiohttp.ClientSession:
        return await closing.enter_async_context(_session(guard, closing, timeout, **given))

    files = fsspec.filesystem(
        url.partition(":")[0],
        get_client=client,
        headers={"Accept-Encoding": "identity"},
        skip_instance_cache=True,
    )
    try:
        # Given any size, fsspec asks for the file at once and not for its length first; it comes as a stream.
        with files.open(url, "rb", block_size=0, size=1) as file:
            yield file
    finally:
        sync(files.loop, closing.aclose)


def _session(
    guard: Callable[[str], None] | None,
    closing: contextlib.AsyncExitStack,
    timeout: aiohttp.ClientTimeout,
    **given: Any,
) -> aiohttp.ClientSession:
    """A session that puts each answer on `closing`: fsspec leaves those open that it does not like."""

    async def guarded(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if guard is not None:
            guard(str(request.url))
        response = await handler(request)
        closing.callback(response.close)
        return response

    return aiohttp.ClientSession(
        timeout=timeout,
        middlewares=(guarded,),  # sees every request, those that follow a redirect too
        trust_env=True,  # the proxy that the network asks for
        **given,
    )
