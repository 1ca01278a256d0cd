"""Measure pages while many people use one server: ``python -m benchmarks.sessions [--json FILE]``.

Readers load the results page again and again, and watchers follow runs that are being computed. All use
Streamlit's own protocol on real websockets, as a browser does but without drawing, and each has signed in as
a different person. Client and servers share the machine. Several servers share its cores and the store, and a
proxy keeps each visitor with one of them. An answer that is not the whole page, or shows an error, ends the
measurement.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import itertools
import os
import random
import ssl
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from benchmarks import signed_in
from benchmarks.figures import peak_mib, tell
from benchmarks.served import free_port, proxying, serving
from grasp_core.engine.pools import workers
from grasp_core.model.access import EVERYTHING
from grasp_core.model.example import AXES, example_files, example_spec
from grasp_core.model.settings import read_settings
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord

PATIENCE_S = 120
PERMUTATIONS = 100_000  # of each run that is computed meanwhile
WHOLE_PAGE = (b"Findings", b"How sure", b"Data and methods")
_XSRF = "_streamlit_xsrf"
ANYBODY = ssl.create_default_context()
"""TLS without verification, because the proxy has its own certificate authority."""
ANYBODY.check_hostname, ANYBODY.verify_mode = False, ssl.CERT_NONE
_SUCCESS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class WrongAnswerError(Exception):
    """The server's answer is not what a visitor should see."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """The content that one run of the page's script sent."""

    content: bytes
    polls: tuple[tuple[str, float], ...]  # fragments to run again, and after how many seconds
    seconds: float


class Visit:
    """A tab: a websocket, and a browser's messages on it."""

    def __init__(self, socket: ClientConnection, query: str) -> None:
        self._socket = socket
        self._query = query
        self._page = ""  # its hash, once the server has told it

    async def ask(self, fragment: str = "") -> Answer:
        """Run the page's script, or one fragment of it, and receive everything that it draws."""
        started = time.perf_counter()
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self._query
        state.page_name, state.page_script_hash = ("", self._page) if self._page else ("results", "")
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.color_scheme = "light"
        if fragment:
            state.fragment_id = fragment
            state.is_auto_rerun = True
        await self._socket.send(message.SerializeToString())
        content, polls = [], []
        async with asyncio.timeout(PATIENCE_S):
            async for data in self._socket:
                assert isinstance(data, bytes)
                answer = ForwardMsg.FromString(data)
                kind = answer.WhichOneof("type")
                if kind == "auto_rerun":
                    polls.append((answer.auto_rerun.fragment_id, answer.auto_rerun.interval))
                elif kind == "delta":
                    _check(answer)
                    content.append(data)
                elif kind == "navigation":
                    self._page = answer.navigation.page_script_hash
                elif kind == "script_finished":
                    if answer.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        content.clear()
                        polls.clear()
                        continue
                    if answer.script_finished not in _SUCCESS:
                        raise WrongAnswerError(f"the script ended with status {answer.script_finished}")
                    return Answer(b"".join(content), tuple(polls), time.perf_counter() - started)
        raise WrongAnswerError("the server closed the connection")


def _check(answer: ForwardMsg) -> None:
    element = answer.delta.new_element
    kind = element.WhichOneof("type")
    if kind == "exception" or (kind == "alert" and element.alert.format == element.alert.ERROR):
        raise WrongAnswerError(f"the page shows an error: {str(element)[:300]}")


@contextlib.asynccontextmanager
async def visiting(person: httpx.AsyncClient, run_id: str) -> AsyncIterator[Visit]:
    """Open a run's link as a browser does: the page's HTML, its first requests, the websocket."""
    query = f"run={run_id}"
    for path in (f"/results?{query}", "/_stcore/health", "/_stcore/host-config"):
        (await person.get(path)).raise_for_status()
    address = str(person.base_url).rstrip("/")
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    held = {cookie.name: cookie.value or "" for cookie in person.cookies.jar}
    async with connect(
        stream,
        origin=Origin(address),
        subprotocols=[Subprotocol("streamlit"), Subprotocol(held[_XSRF])],
        additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())},
        ssl=ANYBODY if address.startswith("https") else None,
        max_size=None,
        open_timeout=60,
    ) as socket:
        yield Visit(socket, query)


async def read_result(person: httpx.AsyncClient, run_id: str, waits: float, taken: list[float]) -> None:
    """Load a finished run's page, note the time that took, and read for a while."""
    started = time.perf_counter()
    async with visiting(person, run_id) as visit:
        answer = await visit.ask()
        taken.append(time.perf_counter() - started)
        for part in WHOLE_PAGE:
            if part not in answer.content:
                raise WrongAnswerError(f"the results page lacks {part.decode()!r}")
        await asyncio.sleep(waits)


class Load:
    """Visitors and runs on one server.

    Parameters
    ----------
    store : Server
        The servers' store; it computes nothing itself.
    dataset, spec
        Data and spec of the runs.
    people : list of httpx.AsyncClient
        The visitors' browsers, each with the cookies of its own sign-in.
    """

    def __init__(
        self, store: Server, dataset: Dataset, spec: RunSpec, people: list[httpx.AsyncClient]
    ) -> None:
        self.store = store
        self.dataset = dataset
        self.spec = spec
        self.people = people
        self.ends_at = 0.0
        self.loaded: list[float] = []
        self.polled: list[float] = []
        self.finished = 0
        self._seeds = itertools.count(2)

    def submit(self, permutations: int, owner: str) -> RunRecord:
        """Ask for a run that nobody has asked for before."""
        analysis = dataclasses.replace(self.spec.analysis, seed=next(self._seeds), permutations=permutations)
        spec = dataclasses.replace(self.spec, analysis=analysis)
        record, _ = self.store.service.submit(
            self.dataset, spec, title="benchmark", reach=EVERYTHING, owner=owner
        )
        return record

    async def finish(self, run_id: str) -> None:
        """Wait until a run is done."""
        async with asyncio.timeout(PATIENCE_S):
            while (run := self.store.runs.get(run_id)) is None or run.state != "done":
                if run is None or run.ended:
                    raise WrongAnswerError(f"a run ended as {run and run.state}: {run and run.error}")
                await asyncio.sleep(0.2)

    async def read(self, run_id: str, person: httpx.AsyncClient, pause: float, rng: random.Random) -> None:
        """Read results until the time is over."""
        await asyncio.sleep(rng.uniform(0, pause))
        while time.perf_counter() < self.ends_at:
            await read_result(person, run_id, rng.uniform(0.5, 1.5) * pause, self.loaded)

    async def watch(self, owner: str, person: httpx.AsyncClient) -> None:
        """Have one run after another computed, and follow each as its page does."""
        while time.perf_counter() < self.ends_at:
            record = await asyncio.to_thread(self.submit, PERMUTATIONS, owner)
            async with visiting(person, record.id) as visit:
                answer = await visit.ask()
                while answer.polls and time.perf_counter() < self.ends_at:
                    fragment, interval = answer.polls[-1]
                    await asyncio.sleep(interval)
                    polled = await visit.ask(fragment)
                    self.polled.append(polled.seconds)
                    run = await asyncio.to_thread(self.store.runs.get, record.id)
                    if run is None or run.state in ("failed", "cancelled"):
                        raise WrongAnswerError(f"a run ended as {run and run.state}")
                    if run.ended:
                        answer = await visit.ask()
                        self.finished += not answer.polls


async def measure(load: Load, people: int, runs: int, seconds: float, pause: float) -> dict[str, float]:
    """Return all figures: of one visitor alone, of everybody, and of all people at one moment."""
    figures: dict[str, float] = {}
    threads = ThreadPoolExecutor(people + runs)  # a thread each, so that nobody waits for another's request
    asyncio.get_running_loop().set_default_executor(threads)
    started = time.perf_counter()
    run = load.submit(10_000, "reader")
    await load.finish(run.id)
    figures["one visitor: from question to result, s"] = time.perf_counter() - started
    alone: list[float] = []
    for _ in range(6):
        await read_result(load.people[0], run.id, 0, alone)
    figures["one visitor: first page, s"] = alone[0]
    figures["one visitor: later pages, median, s"] = statistics.median(alone[1:])
    async with visiting(load.people[0], run.id) as visit:
        again = [(await visit.ask()).seconds for _ in range(6)][1:]
    figures["one visitor: page after a click, median, s"] = statistics.median(again)
    rng = random.Random(1)
    load.ends_at = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as everybody:
        for number, person in enumerate(load.people[people:]):
            everybody.create_task(load.watch(f"watcher {number}", person))
        for person in load.people[:people]:
            everybody.create_task(load.read(run.id, person, pause, rng))
    figures["results pages"] = len(load.loaded)
    _add_percentiles(figures, "results page", load.loaded)
    figures["progress polls"] = len(load.polled)
    _add_percentiles(figures, "progress poll", load.polled)
    figures["runs finished meanwhile"] = load.finished
    together: list[float] = []
    async with asyncio.TaskGroup() as everybody:
        for person in load.people[:people]:
            everybody.create_task(read_result(person, run.id, 0, together))
    _add_percentiles(figures, f"{people} pages asked for at once", together)
    return figures


def _add_percentiles(figures: dict[str, float], what: str, taken: list[float]) -> None:
    if len(taken) < 2:
        return
    percentiles = statistics.quantiles(taken, n=100, method="inclusive")
    for name, value in (("p50", percentiles[49]), ("p95", percentiles[94]), ("largest", max(taken))):
        figures[f"{what}: {name}, s"] = value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sessions", description=__doc__)
    parser.add_argument("--people", type=int, default=100, help="people who read results")
    parser.add_argument(
        "--runs", type=int, default=10, help="people who each have one run after the other computed"
    )
    parser.add_argument("--servers", type=int, default=1, help="more than one stand behind the proxy")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=10, help="seconds between two pages of a reader")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grasp-benchmark-") as home, contextlib.ExitStack() as up:
        port = free_port()
        proxied = chosen.servers > 1
        address = f"https://localhost:{port}" if proxied else f"http://127.0.0.1:{port}"
        environment = {
            "GRASP_HOME": home,
            "GRASP_WORKERS": str(max(workers.available_cores() // chosen.servers, 1)),
            **signed_in.environment(address),
        }
        ports = [free_port() for _ in range(chosen.servers)] if proxied else [port]
        servers = [up.enter_context(serving(environment, one)) for one in ports]
        if proxied:
            up.enter_context(proxying([one for one, _ in servers], port, Path(home)))
        files = example_files()
        spec = example_spec()
        tables = [read_table(content, name) for name, content in files.items()]
        store = Server(read_settings({**os.environ, **environment}))
        up.callback(store.database.dispose)
        for content in files.values():
            store.files.put(content, owner="benchmark")
        people = [
            httpx.AsyncClient(
                base_url=address,
                cookies=signed_in.cookies(store, number),
                verify=ANYBODY,
                trust_env=False,
                timeout=60,
                limits=httpx.Limits(
                    keepalive_expiry=2
                ),  # servers close connections before they would be used again
            )
            for number in range(chosen.people + chosen.runs)
        ]
        load_ = Load(store, load(*tables, spec.data, AXES), spec, people)
        figures = asyncio.run(measure(load_, chosen.people, chosen.runs, chosen.seconds, chosen.pause))
        figures["servers"] = chosen.servers
        figures["a server's peak memory, MiB"] = max(peak_mib(process.pid) for _, process in servers)
    figures["cores"] = workers.available_cores()
    figures["load average before"] = before
    figures["load average after"] = os.getloadavg()[0]
    tell(figures, chosen.json)


if __name__ == "__main__":
    main()
