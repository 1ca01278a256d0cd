"""How often somebody may ask, counted in this process."""

from __future__ import annotations

import math
import time
from http import HTTPStatus

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from grasp_core.settings import Settings
from grasp_core.web.problem import ProblemError


class Rates:
    """Counts requests to the API by person, or by address where nobody has signed in.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._counted = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._looks = parse(settings.api_rate)
        self._changes = parse(settings.api_change_rate)

    def check(self, who: tuple[str, str], *, changes: bool) -> None:
        """Count a request.

        Raises
        ------
        ProblemError
            If there were too many; its header says after how many seconds to come again.
        """
        self._count(self._looks, "all", *who)
        if changes:
            self._count(self._changes, "changes", *who)

    def _count(self, rate: RateLimitItem, *key: str) -> None:
        if self._counted.hit(rate, *key):
            return
        reset = self._counted.get_window_stats(rate, *key).reset_time
        raise ProblemError(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"That was more than {rate.amount:,} requests in {rate.multiples} {rate.GRANULARITY.name}; wait.",
            {"Retry-After": str(max(1, math.ceil(reset - time.time())))},
        )
