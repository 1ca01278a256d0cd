"""Where an installation computes: on this machine, or on its Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from grasp_core.engine.pools.pool import Pool
from grasp_core.errors import MissingPackageError, SettingsError
from grasp_core.extras import require
from grasp_core.settings import Settings, variable

_FILES = ("dask_ca", "dask_cert", "dask_key")


def server_pool(settings: Settings, make_executor: Callable[[int], Executor]) -> Pool:
    """The pool of a server: GRASP_WORKERS counts this machine's, a cluster has its own number."""
    return make_pool(settings, make_executor, None if settings.dask_address else settings.workers or None)


def make_pool(
    settings: Settings, make_executor: Callable[[int], Executor], n_workers: int | None = None
) -> Pool:
    """Make the pool that the settings ask for; nothing is started or connected to yet.

    Parameters
    ----------
    settings : Settings
        With a `dask_address`, runs are computed there.
    make_executor : callable
        What computes otherwise, see :class:`~grasp_core.engine.pools.pool.Pool`.
    n_workers : int, optional
        Most blocks side by side; by default one per core of this machine, or per thread of the cluster.

    Raises
    ------
    SettingsError
        If Dask is not installed, or a certificate cannot be used.
    """
    if not settings.dask_address:
        return Pool(make_executor, n_workers)
    try:
        require("GRASP_DASK_ADDRESS", "cluster")
    except MissingPackageError as error:  # a server says so before its first page
        raise SettingsError(str(error)) from None
    from distributed import Security  # only here: importing Dask takes a second

    from grasp_core.engine.pools.cluster_pool import ClusterPool

    if not settings.dask_ca:
        return ClusterPool(settings.dask_address, limit=n_workers)
    security = Security(
        tls_ca_file=settings.dask_ca,
        tls_client_cert=settings.dask_cert,
        tls_client_key=settings.dask_key or None,
        require_encryption=True,
    )
    try:
        security.get_connection_args("client")
    except OSError as error:
        named = ", ".join(variable(name) for name in _FILES)
        raise SettingsError(
            f"the certificates of {named} cannot be used: {error.strerror or type(error).__name__}"
        ) from None
    return ClusterPool(settings.dask_address, security, n_workers)
