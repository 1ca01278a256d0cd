"""A pool whose workers are those of a Dask cluster."""

from __future__ import annotations

import logging
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import cast

from distributed import Security

from grasp_core.engine.pools.cluster import Cluster
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.workers import Sent
from grasp_core.errors import WorkerError

log = logging.getLogger(__name__)


class ClusterPool(Pool):
    """A :class:`Pool` whose workers are those of a Dask cluster.

    Parameters
    ----------
    address, security, limit
        See :class:`Cluster`, which is connected to when it is first needed, and again where it was lost.
    """

    def __init__(self, address: str, security: Security | None = None, limit: int | None = None) -> None:
        super().__init__(lambda _: Cluster(address, security, limit))
        self._address = address

    @property
    def n_workers(self) -> int:
        """Blocks that are computed side by side: threads of the cluster at this moment."""
        return self._ready().n_workers

    def warm(self) -> None:
        """Connect now. Where that fails, pages are served all the same, and runs try again."""
        try:
            log.info("the Dask cluster at %s computes, with %d threads", self._address, self.n_workers)
        except WorkerError as error:
            log.warning("%s", error)

    def _ready(self, broken: Executor | None = None) -> Cluster:
        with self._lock:
            if isinstance(self._executor, Cluster) and self._executor.problem is not None:
                self._executor.shutdown()
                self._executor = None
        return cast("Cluster", super()._ready(broken))

    def _holding(self, buffer: bytes, executor: Executor) -> AbstractContextManager[Sent]:
        return cast("Cluster", executor).holding(buffer)
