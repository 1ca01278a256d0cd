"""Workers, which compute blocks on any ``concurrent.futures`` executor, and limits of their memory."""

import dataclasses
import functools
import io
import logging
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from grasp_core.analysis.panel import BlockWork
from grasp_core.model.annotations import FloatArray
from grasp_core.permutation.jit import tell_of_preparing

LEAST_MEMORY = 2**30
"""Fewest bytes that a process is given: Python, its libraries and compiled kernels take a part of them."""


def limit_memory(size: int) -> None:
    """Limit the memory of this process to `size` bytes, unless the system has no such limit."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def share_of_memory(processes: int) -> int:
    """Return the bytes that each process may take of this process's limit; 0 if there is no limit."""
    with suppress(ImportError, OSError):
        import resource

        size, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if size != resource.RLIM_INFINITY:
            return min(size, max(size // processes, LEAST_MEMORY))
    return 0


T = TypeVar("T")
log = logging.getLogger(__name__)

HELD = 4
"""Most pieces of work that a worker process keeps unpacked: for the runs that are computed side by side."""
NICENESS = 5
"""Niceness of worker processes: they have lower priority than the process that started them."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(workers: int) -> Executor:
    """Make an executor of spawned processes, so that a page's own process never computes."""
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(share_of_memory(workers),),
    )


def threads(workers: int) -> Executor:
    """Make an executor of threads, for the command line; the kernel releases the interpreter's lock."""
    return ThreadPoolExecutor(workers, thread_name_prefix="grasp-worker")


@dataclass(frozen=True, slots=True, eq=False)
class SentWork:
    """A buffer sent to workers once; `key` is the path of its file, unless its `content` is sent too."""

    key: str
    content: bytes | None = None


def pack(value: Any) -> bytes:
    """Pack a data class of numbers, arrays and tuples or data classes of such into an ``.npz`` file."""
    packed = io.BytesIO()
    np.savez(packed, **_arrays(value))
    return packed.getvalue()


def _arrays(value: Any) -> dict[str, Any]:
    """Return numbers and arrays by their paths in a value."""
    if hasattr(value, "_asdict"):
        parts = value._asdict()
    elif dataclasses.is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif isinstance(value, tuple):
        parts = dict(enumerate(value))
    else:
        return {} if value is None else {"": value}
    below = {part: _arrays(one) for part, one in parts.items()}
    return {f"{part}/{path}".rstrip("/"): one for part, of in below.items() for path, one in of.items()}


def unpack(kind: type[T], packed: str | io.BytesIO) -> T:
    """Return the value of this kind from a file by :func:`pack`, or its path."""
    tree: dict[str, Any] = {}
    with np.load(packed) as arrays:
        for path, array in arrays.items():
            *above, last = path.split("/")
            node = tree
            for part in above:
                node = node.setdefault(part, {})
            node[last] = array
    found: T = _value(kind, tree)
    return found


def _value(kind: Any, found: Any) -> Any:
    if isinstance(found, np.ndarray):  # numbers have become arrays without axes
        return found if found.ndim else found.item()
    if found is None:
        return None
    if get_origin(kind) is tuple:
        return tuple(_value(get_args(kind)[0], one) for one in found.values())
    kind = next((one for one in get_args(kind) if one is not NoneType), kind)
    return kind(**{name: _value(of, found.get(name)) for name, of in _kinds(kind).items()})


_kinds = functools.cache(get_type_hints)


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """A block's values, shape (permutations, U, V), and the processor time that they took, in seconds."""

    values: FloatArray
    seconds: float


def compute_block(
    kind: type[BlockWork], seed: int, start: int, stop: int, *, sent: BlockWork | SentWork
) -> Computed:
    """Compute permutations `start` to `stop` - 1 of work, packed unless the workers are threads."""
    work = _unpacked(kind, sent) if isinstance(sent, SentWork) else sent
    began = time.thread_time()
    values = work.shuffled(seed, start, stop)
    return Computed(values, time.thread_time() - began)


def compute_nothing() -> None:
    """Make the executor start a worker."""


_held: dict[str, BlockWork] = {}
# NumPy parses a file's header with `ast`, which in Python 3.11 fails now and then in two threads at once.
_one_at_a_time = threading.Lock()


def _unpacked(kind: type[BlockWork], sent: SentWork) -> BlockWork:
    with _one_at_a_time:
        work = _held.pop(sent.key, None)
        if work is None:
            work = unpack(kind, sent.key if sent.content is None else io.BytesIO(sent.content))
        while len(_held) >= HELD:
            del _held[next(iter(_held))]
        _held[sent.key] = work  # the latest comes last
    return work


def _start_worker(memory: int) -> None:
    if memory:
        limit_memory(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    # The parent may ignore it, and a broken pool ends its workers by it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(NICENESS)
    threading.Thread(target=end_with_parent, daemon=True).start()
    tell_of_preparing(log.info)  # only logged: people look at the run, not at this process


def end_with_parent() -> None:
    """End this process with its parent: a killed parent cannot end workers, which would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
