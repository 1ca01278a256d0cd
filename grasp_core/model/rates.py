"""Limits on how often somebody may ask for something, counted in this process."""

import functools
import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from grasp_core.model.errors import TooOftenError
from grasp_core.model.settings import Settings

MANY = 10
"""Limits of an address, as a multiple of one person's: a whole office may share an address."""
COUNTERS = 10_000
"""Most counters that are kept; beyond that, the oldest are dropped."""
TRY_AGAIN_S = 5
"""Seconds after which somebody with too many tabs may try again; when they close one is unknown."""
_parse = functools.cache(parse)


@dataclass(frozen=True, slots=True)
class Asker:
    """The source of a request: a person's id, or an address; of IPv6, the first 64 bits count."""

    person: str
    address: str

    @property
    def key(self) -> tuple[str, str]:
        """Key under which this source's requests are counted."""
        return ("person", self.person) if self.person else self.place

    @property
    def name(self) -> str:
        """The person or the address as one text."""
        return " ".join(self.key)

    @property
    def place(self) -> tuple[str, str]:
        """Key under which the address is counted."""
        return ("address", _network(self.address))


class Left(NamedTuple):
    """Requests of one kind that are left of `most` in `window` seconds; `seconds` until there are more."""

    what: str
    most: int
    window: int
    left: int
    seconds: int


class Rates:
    """Counters of people's requests; they raise TooOftenError beyond the limits."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._storage = _BoundedStorage()
        self._counted = SlidingWindowCounterRateLimiter(self._storage)
        self._open: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def request(self, asker: Asker, *, changes: bool) -> None:
        """Count a request to the API."""
        self._count("requests", _parse(self._settings.api_rate), asker.key)
        if changes:
            self._count("changes", _parse(self._settings.api_change_rate), asker.key)

    def requests_left(self, asker: Asker) -> tuple[Left, ...]:
        """Return the API requests that somebody has left, and those of them that may change something."""
        rates = {"requests": self._settings.api_rate, "changes": self._settings.api_change_rate}
        return tuple(self._left(what, _parse(rate), asker.key) for what, rate in rates.items())

    def _left(self, what: str, rate: RateLimitItem, key: tuple[str, str]) -> Left:
        stats = self._counted.get_window_stats(rate, what, *key)
        seconds = max(0, math.ceil(stats.reset_time - time.time()))
        return Left(what, rate.amount, rate.get_expiry(), stats.remaining, seconds)

    def upload(self, asker: Asker) -> None:
        """Count an upload."""
        self._count("uploads", _for(asker.key, self._settings.upload_rate), asker.key)

    def run(self, asker: Asker) -> None:
        """Count a run that is asked for."""
        self._count("runs", _for(asker.key, self._settings.run_rate), asker.key)

    def before_guess(self, asker: Asker) -> None:
        """Refuse an address that has tried too many tokens, before a token that may be short is looked up."""
        rate = _parse(self._settings.guess_rate)
        if not self._counted.test(rate, "guesses", *asker.place):
            raise self._refusal("guesses", rate, asker.place)

    def guess(self, asker: Asker, token: str) -> None:
        """Count a token that opens nothing; the same token again, as programs send it, is no new guess.

        Call it only once a token is known to open nothing. Somebody who guesses then shuts out nobody else at
        the same address, and tokens of 256 random bits cannot be guessed.
        """
        self.before_guess(asker)
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        rate = _parse(self._settings.guess_rate)
        once = type(rate)(1, rate.multiples)
        if self._counted.hit(once, "guess", *asker.place, digest):
            self._counted.hit(rate, "guesses", *asker.place)

    def before_tab(self, asker: Asker) -> None:
        """Refuse somebody who may not open a tab now, before a page is sent that could show nothing."""
        for key in {asker.key, asker.place}:
            rate = _for(key, self._settings.tab_rate)
            if not self._counted.test(rate, "tabs", *key):
                raise self._refusal("tabs", rate, key)
            self._check_open(key)

    @contextmanager
    def tab(self, asker: Asker) -> Iterator[None]:
        """Count a tab while it is open."""
        keys = {asker.key, asker.place}
        for key in keys:
            self._count("tabs", _for(key, self._settings.tab_rate), key)
        with self._lock:
            for key in keys:
                self._check_open(key)
            self._open.update(keys)
        try:
            yield
        finally:
            with self._lock:
                self._open.subtract(keys)
                self._open = +self._open

    def _check_open(self, key: tuple[str, str]) -> None:
        most = self._settings.tabs * _times(key)
        if self._open[key] >= most:
            raise TooOftenError(
                f"One {key[0]} may have {most:,} tabs open at once; close some and reload.", TRY_AGAIN_S
            )

    def _count(self, what: str, rate: RateLimitItem, key: tuple[str, str]) -> None:
        if not self._counted.hit(rate, what, *key):
            raise self._refusal(what, rate, key)

    def _refusal(self, what: str, rate: RateLimitItem, key: tuple[str, str]) -> TooOftenError:
        reset = self._counted.get_window_stats(rate, what, *key).reset_time
        seconds = max(1, math.ceil(reset - time.time()))
        most = f"{rate.amount:,} {_WORDS[what]} per {rate.GRANULARITY.name}"
        return TooOftenError(f"One {key[0]} may have {most}; try again in {seconds:,} s.", seconds)


_WORDS = {
    "requests": "requests",
    "changes": "requests that change something",
    "uploads": "uploads",
    "runs": "runs asked for",
    "guesses": "links or tokens that open nothing",
    "tabs": "pages opened",
}


class _NoTimer(threading.Timer):
    def is_alive(self) -> bool:
        return True


class _BoundedStorage(MemoryStorage):
    """Counters in bounded memory, dropped when they are asked for after their time.

    The library would start a thread for that at a hundred requests a second, and each request would wait for
    it: on a busy machine longer than for all else that it asks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.timer = _NoTimer(0, lambda: None)

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        for old in list(self.storage)[:1] if len(self.storage) >= COUNTERS else ():
            self.clear(old)
        return super().incr(key, expiry, amount)


def _for(key: tuple[str, str], rate: str) -> RateLimitItem:
    one = _parse(rate)
    return type(one)(one.amount * _times(key), one.multiples)


def _times(key: tuple[str, str]) -> int:
    return 1 if key[0] == "person" else MANY


@functools.lru_cache(1000)
def _network(address: str) -> str:
    """Return the text that stands for an address: of version 6, its network of 64 bits."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
    return str(found)
