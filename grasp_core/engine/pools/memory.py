"""Memory that a process which computes may take: beyond, what asks for more ends, and nothing else."""

from __future__ import annotations

from contextlib import suppress

LEAST_MEMORY = 2**30
"""Bytes that a process is given at least: Python, its libraries and compiled kernels take a part of them."""


def limit_memory(size: int) -> None:
    """Give this process no more than so many bytes; where a system knows no such limit, it has none."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def share_of_memory(processes: int) -> int:
    """Bytes that each of some processes may take of what this one may; 0 where it may take any."""
    with suppress(ImportError, OSError):
        import resource

        size, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if size != resource.RLIM_INFINITY:
            return min(size, max(size // processes, LEAST_MEMORY))
    return 0
