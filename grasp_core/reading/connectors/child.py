"""A process that fetches one source and ends: its request comes over a socket, its hosts are restricted."""

import errno
import importlib
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.reading.connectors.source import FetchJob, parse
from grasp_core.reading.sandbox import wire
from grasp_core.reading.sandbox.limits import limit_process

_FORBIDDEN = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
_SENT = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind")

Admits = Callable[[str, int], bool]  # returns whether the process may connect to a host at a port
refused: list[str] = []
"""Hosts that were requested and not admitted; libraries replace the errors that they get."""


class NotAdmittedError(PermissionError):
    """A connection that is not allowed."""


def keep_to(admits: Admits) -> None:
    """Restrict this process: it connects only where `admits` allows, and starts no other process."""
    known: set[tuple[str, int]] = set()
    ask = socket.getaddrinfo

    def asked(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        number = int(port) if str(port).isdecimal() else -1
        if not admits(name.casefold().rstrip("."), number):
            refused.append(name)
            raise NotAdmittedError(name)
        found = ask(host, port, *args, **kwargs)
        known.update((str(entry[4][0]), int(entry[4][1])) for entry in found)
        return found

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in _FORBIDDEN:
            raise NotAdmittedError(event)
        if event in _SENT:
            address = args[1]
            if address is None:  # of an existing connection
                return
            if not isinstance(address, tuple) or tuple(address[:2]) not in known:
                refused.append(str(address[0] if isinstance(address, tuple) else "a socket of this machine"))
                raise NotAdmittedError

    socket.getaddrinfo = asked
    sys.addaudithook(watch)


_NOT_ADMITTED = (401, 403)
_TOO_MANY = 429
_REFUSALS = ("UnauthorizedError", "ForbiddenError", "ArgillaCredentialsError")


def sentence(error: BaseException, job: FetchJob) -> str:
    """Return a sentence on an error, or on one that led to it."""
    host, chain = job.host, list(_chain(error))
    on_the_way = _of_the_way(chain, job)
    if refused and (on_the_way or any(isinstance(one, NotAdmittedError) for one in chain)):
        return (
            f"{host} leads to another host, {refused[-1]}, which this server may not ask; name the "
            "address where the data really are, or have that host named in GRASP_SOURCE_HOSTS"
        )
    if any(isinstance(one, OSError) and one.errno == errno.EFBIG for one in chain):
        return f"{job.source.shown} is larger than what is fetched at most; ask for a part of it"
    known = _of_the_hub(error, chain, job) if job.source.kind == "hf" else None
    status = next(filter(None, map(_status, chain)), None)
    if known is not None:
        return known
    if status is not None:
        return _of_status(status, job)
    return on_the_way or (
        f"{host} does not answer as {job.source.tool.name} does ({type(error).__name__}); check the address"
    )


def _of_the_way(chain: list[BaseException], job: FetchJob) -> str | None:
    """Return a sentence if an error came before the tool could answer."""
    host, names = job.host, " ".join(type(one).__name__ for one in chain)
    if any("CERTIFICATE_VERIFY" in str(one) for one in chain):
        return (
            f"the certificate of {host} cannot be verified, so nothing was sent; have it signed by a known "
            "authority, or name your authority's file in SSL_CERT_FILE"
        )
    if any(isinstance(one, ssl.SSLError) for one in chain):
        return f"{host} does not answer with encryption; check the address and its port"
    if "Timeout" in names:
        return f"{host} did not answer in time; try again later"
    if any(isinstance(one, socket.gaierror) for one in chain):
        return f"there is no host called {host}; check the address"
    if any(isinstance(one, OSError) for one in chain) or "Connect" in names or "Protocol" in names:
        return (
            f"there is no connection to {host}, or it broke; check the address, and whether "
            f"{job.source.tool.name} runs there"
        )
    return None


def _of_the_hub(error: BaseException, chain: list[BaseException], job: FetchJob) -> str | None:
    """Return a sentence for errors of Hugging Face's own library."""
    name, names = job.source.address, " ".join(type(one).__name__ for one in chain)
    if "Gated" in names:
        return f"{name} is given to those who agreed to its terms at {job.host}; do so, and give a token"
    if "RevisionNotFound" in names:
        return f"{name}: there is no such revision at {job.host}"
    if "EmptyDataset" in names or "DataFilesNotFound" in names:
        return f"{name} at {job.host} has no files of data that can be read"
    if "DatasetNotFound" in names or "RepositoryNotFound" in names:
        whose = "this token may read" if job.token else "everybody may read; of a private one, give a token"
        return f"{job.host} has no data set {name} that {whose}"
    if isinstance(error, ValueError) and "onfig" in str(error):  # lists the configurations
        return f"{name}: {' '.join(str(error).split())}"
    return None


def _of_status(status: int, job: FetchJob) -> str:
    tool, host = job.source.tool.name, job.host
    if status in _NOT_ADMITTED:
        return f"{host} does not let this token read {job.source.shown}; make one at {tool} that may"
    if status == 404:
        return f"{host} has no {job.source.shown} that this token may see; check the address"
    if status == _TOO_MANY:
        return f"{host} says that it is asked too often; try again later"
    return f"{host} answers with status {status}; try again later, or ask whoever runs it"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    """Return the status of an answer, if the error has one."""
    for holder in (error, getattr(error, "response", None)):
        found = getattr(holder, "status_code", None)
        if isinstance(found, int) and found >= 400:
            return found
    return _NOT_ADMITTED[0] if type(error).__name__ in _REFUSALS else None


def main() -> None:
    """Fetch the source that is requested over the socket of the given number."""
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        channel = wire.Channel(connection)
        asked = wire.value_of(channel.receive()[1])
        job = FetchJob(
            source=parse(asked["source"]),
            folder=Path(asked["folder"]),
            told=lambda words: channel.say(wire.PROGRESS, words),
            **{name: asked[name] for name in ("token", "seconds", "file", "hub")},
        )
        limit_process(asked["memory"], asked["bytes"])
        admitted = asked["admitted"]
        if admitted is not None:  # a name that begins with a dot means all hosts below it
            keep_to(
                lambda host, port: any(
                    port == known and (host == name or (name.startswith(".") and host.endswith(name)))
                    for name, known in admitted
                )
            )
        try:
            module, function = job.source.tool.fetcher.split(":")
            loaded = importlib.import_module(f"grasp_core.reading.connectors.{module}")
            channel.say(wire.VALUE, getattr(loaded, function)(job))
        except DataError as error:
            channel.say(wire.REFUSED, str(error))
        except MemoryError:
            said = f"{job.source.shown} takes more memory than reading may take; ask for less"
            channel.say(wire.REFUSED, said)
        except Exception as error:  # every client has errors of its own
            channel.say(wire.REFUSED, sentence(error, job))


if __name__ == "__main__":
    main()
