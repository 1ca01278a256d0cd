"""Where an installation computes: on this machine, or on its Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import MissingPackageError, SettingsError
from grasp_core.model.extras import require
from grasp_core.model.settings import Settings


def server_pool(settings: Settings, make_executor: Callable[[int], Executor]) -> Pool:
    """The pool of a server: GRASP_WORKERS counts this machine's, a cluster has its own number."""
    return make_pool(settings, make_executor, None if settings.dask_address else settings.workers or None)


def make_pool(
    settings: Settings, make_executor: Callable[[int], Executor], n_workers: int | None = None
) -> Pool:
    """The pool that the settings ask for, not started yet; a SettingsError where Dask cannot be used."""
    if not settings.dask_address:
        return Pool(make_executor, n_workers)
    try:
        require("GRASP_DASK_ADDRESS", "cluster")
    except MissingPackageError as error:  # a server says so before its first page
        raise SettingsError(str(error)) from None
    from grasp_core.engine.pools.cluster import ClusterPool, certificates  # importing Dask takes a second

    return ClusterPool(settings.dask_address, certificates(settings), n_workers)
