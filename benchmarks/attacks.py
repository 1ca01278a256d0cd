"""Measure a server while everything that once stopped it is done to it: ``python -m benchmarks.attacks``.

People who have signed in send files made to grow, ask for reports and long runs, try passwords and tokens,
and begin uploads that never end, all at once and again and again. Meanwhile another person, once a second,
asks for the server's health, opens a results page, and has a small file read and a short run computed. Before
the attacks, the same person did so alone. Goal: at most 1 s for health and 3 s for a page, and memory of the
server and everything it started below 1.5 times what its settings allow. Client and server share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import itertools
import json
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx

from benchmarks import signed_in
from benchmarks.figures import peak_mib, tell, tree_mib
from benchmarks.served import free_port, serving
from benchmarks.sessions import visiting
from grasp_core.engine.pools import workers
from grasp_core.model.access import EVERYTHING
from grasp_core.model.example import AXES, example_files, example_spec
from grasp_core.model.settings import read_settings
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server

LONG, SHORT = 10_000_000, 200
"""Permutations of an attacker's run, and of the other person's run."""
PASSWORD = "a good password"
TURN_S = 1.0
LOOK_S = 10.0
LIMITS_MIB = {"GRASP_COMPUTE_MEMORY_MB": 2048, "GRASP_READ_MEMORY_MB": 1024}
ALLOWED_MIB = 2048 + 2 * 1024 + 3 * 256
"""Memory that these limits allow: computing, two large readings at a time, and three small ones."""
Figures = dict[str, list[float]]


class Person:
    """A person with an own token."""

    def __init__(self, store: Server, number: int, address: str) -> None:
        cookies = signed_in.cookies(store, number)
        (found,) = store.accounts.people.search(f"{number}@lab.example")[0]
        token = store.tokens.create(owner=found.id, name="benchmark", scope="run", days=1)
        self.id = found.id
        self.api = httpx.AsyncClient(
            base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        self.browser = httpx.AsyncClient(base_url=address, cookies=cookies, timeout=60)

    async def store(self, content: bytes, name: str) -> dict[str, str]:
        """Upload a file; return the fields that name it in a run."""
        answer = await self.api.post("/files", params={"name": name}, content=content)
        answer.raise_for_status()
        return {"sha256": hashlib.sha256(content).hexdigest(), "name": name}

    async def ask(self, files: dict[str, dict[str, str]], **analysis: object) -> httpx.Response:
        """Ask for a run."""
        asked = {"axes": [[name] for name in AXES], **analysis}
        spec = {"data": example_spec().to_dict()["data"], "analysis": asked}
        return await self.api.post("/runs", json={"spec": spec, "files": files})


def bombs() -> list[bytes]:
    """Return files that grow when they are read: by rows, by fields, by numbers."""
    rows = gzip.compress(b"item_id,rater_id,label\n" + b"1,2,3\n" * 40_000_000, 1)
    fields = b"{" + b",".join(b'"f%d":1' % number for number in range(400_000)) + b"}"
    arrays = json.dumps([{"a": [[0] * 1_000] * 3_000}]).encode()
    return [rows, fields, arrays]


def wide() -> bytes:
    """Return 80 rows of 6,402 columns."""
    names = ",".join(f"rater {number}" for number in range(6_401))
    rows = (
        f"item {row}," + ",".join(("yes", "no")[row % 3 == n % 3] for n in range(6_401)) for row in range(80)
    )
    return "\n".join([f"item,{names}", *rows]).encode()


def singles() -> dict[str, bytes]:
    """Return annotations by 20,000 raters, each of whom is a team of one."""
    votes = (
        f"{(n + 77 * k) % 500},{n},{('yes', 'no')[(n + k) % 3 == 0]}" for n in range(20_000) for k in range(3)
    )
    teams = (f"{n},team {n}" for n in range(20_000))
    told = {"annotations": ("item_id,rater_id,label", *votes), "raters": ("rater_id,team", *teams)}
    return {kind: "\n".join(lines).encode() for kind, lines in told.items()}


class Attacks:
    """Attacks on the server, all at once.

    Parameters
    ----------
    people : list of Person
        The attackers.
    run_id, link, locked : str
        A finished run, and two links to it; the second has a password.
    port : int
    """

    def __init__(self, people: list[Person], run_id: str, link: str, locked: str, port: int) -> None:
        self._people, self._run_id, self._link, self._locked = people, run_id, link, locked
        self._port = port
        self.answered: dict[str, int] = defaultdict(int)

    async def all(self, files: dict[str, bytes]) -> None:
        """Begin all attacks, which continue until this is cancelled."""
        growing = bombs()
        async with asyncio.TaskGroup() as group:
            for person in self._people[:2]:
                for content in growing:
                    named = {"annotations": await person.store(content, "votes.csv")}
                    group.create_task(self._again("bombs", lambda p=person, n=named: p.ask(n)))
            for person in self._people[2:4]:
                named = {kind: await person.store(content, kind) for kind, content in files.items()}
                seeds = itertools.count(100)
                for _ in range(2):
                    group.create_task(
                        self._again(
                            "long runs",
                            lambda p=person, n=named, s=seeds: p.ask(n, permutations=LONG, seed=next(s)),
                        )
                    )
            for kind, content in (("wide files", {"annotations": wide()}), ("teams of one", singles())):
                named = {name: await self._people[4].store(one, name) for name, one in content.items()}
                asked = {"spec": {"analysis": {"min_raters": 1}}, "files": named}
                group.create_task(
                    self._again(kind, lambda a=asked: self._people[4].api.post("/runs", json=a))
                )
            export = f"/runs/{self._run_id}/exports"
            for _ in range(60):
                group.create_task(self._again("a link's exports", self._export_by_link))
            for number in range(60):
                name = ("html", "xlsx", "latex")[number % 3]
                person = self._people[4 + number % 2]
                group.create_task(self._again("exports", lambda p=person, n=name: p.api.get(f"{export}/{n}")))
            for _ in range(10):
                group.create_task(self._again("passwords", lambda: self._try(os.urandom(8).hex())))
                group.create_task(self._again("right passwords", lambda: self._try(PASSWORD)))
                group.create_task(self._again("tokens", self._try_token))
                group.create_task(self._again("uploads", self._stalled))

    async def _again(self, what: str, once: Callable[[], Awaitable[httpx.Response | None]]) -> None:
        """Attack, and again when that is allowed, or a moment after the answer."""
        while True:
            pause = 0.5
            with contextlib.suppress(httpx.HTTPError, OSError):
                answer = await once()
                self.answered[what if answer is None else f"{what}: {answer.status_code}"] += 1
                pause = pause if answer is None else float(answer.headers.get("Retry-After", pause))
            await asyncio.sleep(min(pause, 5.0))

    async def _export_by_link(self) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._link}"}
        return await self._people[5].browser.get(f"/api/v1/runs/{self._run_id}/exports/html", headers=headers)

    async def _try(self, password: str) -> httpx.Response:
        """Open the link that has a password, each time as a new visitor."""
        browser = self._people[4].browser
        browser.cookies.pop("grasp_visit", None)
        headers = {"Authorization": f"Bearer {self._locked}", "Link-Password": password}
        return await browser.get(f"/api/v1/runs/{self._run_id}", headers=headers)

    async def _try_token(self) -> httpx.Response:
        headers = {"Authorization": f"Bearer {os.urandom(24).hex()}"}
        return await self._people[4].browser.get(f"/api/v1/runs/{self._run_id}", headers=headers)

    async def _stalled(self) -> None:
        """Begin an upload that states 500 MB, sends 17 bytes and waits."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = f"POST /api/v1/files?name=x HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        token = self._people[5].api.headers["Authorization"]
        writer.write(
            f"{head}Authorization: {token}\r\nContent-Length: 500000000\r\n\r\n".encode() + bytes(17)
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(20):
                await reader.read()
        writer.close()


@contextlib.asynccontextmanager
async def going_on(attacks: Attacks, files: dict[str, bytes]) -> AsyncIterator[None]:
    """Keep the attacks going while this context lasts."""
    task = asyncio.create_task(attacks.all(files))
    await asyncio.sleep(5)  # time for all of them to begin
    if task.done():
        task.result()
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@contextlib.contextmanager
def looking(process: int) -> Iterator[list[float]]:
    """Measure memory of a process and everything it started; seldom, because it takes processor time."""
    seen, ended = [tree_mib(process)], threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_S):
            seen.append(tree_mib(process))

    looker = threading.Thread(target=look)
    looker.start()
    yield seen
    ended.set()
    looker.join()


async def usual(
    person: Person, run_id: str, files: dict[str, bytes], seconds: float, first_seed: int
) -> Figures:
    """Do each second what the other person does; return how long each step took."""
    taken: Figures = defaultdict(list)
    until, seeds = time.perf_counter() + seconds, itertools.count(first_seed)

    async def health() -> None:
        (await person.browser.get("/api/health")).raise_for_status()

    async def page() -> None:
        async with visiting(person.browser, run_id) as visit:
            await visit.ask()

    async def result() -> None:
        (await person.api.get(f"/runs/{run_id}")).raise_for_status()

    async def understood() -> None:
        named = {kind: await person.store(content, kind) for kind, content in files.items()}
        answer = await person.ask(named, permutations=SHORT, seed=next(seeds))
        answer.raise_for_status()
        asked.append(answer.json()["id"])

    async def computed() -> None:
        while (await person.api.get(f"/runs/{asked[-1]}/status")).raise_for_status().json()[
            "state"
        ] != "done":
            await asyncio.sleep(0.1)

    asked: list[str] = []
    while time.perf_counter() < until:
        for what in (health, page, result, understood, computed):
            started = time.perf_counter()
            await what()
            taken[what.__name__].append(time.perf_counter() - started)
        await asyncio.sleep(TURN_S)
    return taken


async def measure(people: list[Person], attacks: Attacks, run_id: str, seconds: float) -> dict[str, object]:
    """Measure the other person's steps alone, and during all attacks."""
    files = {kind.partition(".")[0]: content for kind, content in example_files().items()}
    await usual(people[-1], run_id, files, 5, 1_000)  # first, so that everything is loaded
    alone = await usual(people[-1], run_id, files, seconds / 2, 2_000)
    async with going_on(attacks, files):
        beside = await usual(people[-1], run_id, files, seconds, 3_000)
    figures: dict[str, object] = {}
    for what in alone:
        before, during = statistics.median(alone[what]), statistics.median(beside[what])
        figures[f"{what}: alone, median, s"] = before
        figures[f"{what}: beside all attacks, median, s"] = during
        figures[f"{what}: beside all attacks, longest, s"] = max(beside[what])
    return figures | {f"answered, {what}": count for what, count in sorted(attacks.answered.items())}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grasp-attacks-") as home:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        limits = {name: str(mib) for name, mib in LIMITS_MIB.items()}
        environment = {"GRASP_HOME": home, **limits, **signed_in.environment(address)}
        with serving(environment, port) as (_, process):
            store = Server(read_settings({**os.environ, **environment}))
            people = [Person(store, number, address) for number in range(7)]
            spec, files = example_spec(), example_files()
            data = load(*(read_table(content, name) for name, content in files.items()), spec.data, AXES)
            for content in files.values():
                store.files.put(content, owner=people[-1].id)
            record, _ = store.service.submit(
                data, spec, title="benchmark", reach=EVERYTHING, owner=people[-1].id
            )
            while (now := store.runs.get(record.id)) is not None and now.state != "done":
                time.sleep(0.2)
            link = store.links.create(record.id, created_by=people[-1].id)
            locked = store.links.create(record.id, created_by=people[-1].id, password=PASSWORD)
            attacks = Attacks(people, record.id, link, locked, port)
            with looking(process.pid) as seen:
                figures = asyncio.run(measure(people, attacks, record.id, chosen.seconds))
            figures["server's peak memory, MiB"] = peak_mib(process.pid)
            figures["server and all that it started, most, MiB"] = max(seen)
            figures["times what the limits allow (goal 1.5)"] = max(seen) / ALLOWED_MIB
            store.database.dispose()
    figures["cores"] = workers.available_cores()
    figures["load average before"] = before
    tell(figures, chosen.json)


if __name__ == "__main__":
    main()
