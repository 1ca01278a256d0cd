"""Compilation of kernels with Numba, the cache of compiled code, and messages to users who wait for it.

Compiled code is cached in one folder per state of its sources. Numba alone would check only the function's
own file, so a kernel would continue to use helpers and constants of other files from before an upgrade. An
upgrade that does not change these sources compiles nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

from grasp_core.model.spec import Level

CORE = Path(__file__).parents[1]
TAKEN_IN = ("permutation/kernel", "statistics/items.py")
"""Sources whose functions or constants become part of compiled functions of other modules."""
WAITING_SECONDS = 0.7
"""Seconds of compiling after which users see a message."""

# Divisors are never 0, so code that checks them and raises errors is left out.
_COMPILED: Any = {"nogil": True, "error_model": "numpy"}
_CALLED_BY_COMPILED: Any = {**_COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_config: Any = numba.config
_type_of: Any = numba.typeof
_MACHINE = f"{_config.CPU_NAME or get_host_cpu_name()}.{sys.implementation.cache_tag}"


def borrowing(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled code calls, and that neither makes nor returns arrays.

    References to its arguments are not counted: for named tuples of many arrays, counting takes as long as
    some hundred items. Python must not call it: code for calls from Python would take a sixth of the compile
    time and is left out.

    Numba compiles a function again for each constant argument (``0``, ``True``): pass variables, or
    ``np.int64(0)``.
    """
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile as :func:`borrowing`, inlined: for short functions called often, as passing tuples is slow."""
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False, forceinline=True)


def whole_sums(function: Callable[..., Any]) -> Any:
    """Compile as :func:`borrowing`, for sums of whole numbers: exact in any order, so added many at once."""
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False, fastmath={"reassoc"})


def making(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled code calls and that makes arrays."""
    return _kept(function, _CALLED_BY_COMPILED)


def compiled(*, seconds: float = 1.0, common: bool = False) -> Callable[[Callable[..., Any]], Kernel]:
    """Compile a function that Python calls, in about so many seconds; `common`: nearly every run needs it."""
    return lambda function: Kernel(function, seconds, common=common)


class Kernel:
    """A compiled function that Python calls, compiled at its first call unless it is in the cache.

    One process compiles it. Other processes that need it meanwhile wait and then read the cached code.

    `seconds`, `common`: see :func:`compiled`.
    """

    def __init__(self, function: Callable[..., Any], seconds: float, *, common: bool) -> None:
        functools.update_wrapper(self, function)
        self.compiled, self.seconds, self.common = _kept(function, _COMPILED), seconds, common
        self._name = f"{function.__module__}.{function.__name__}"
        self._folder = folder_for(function.__module__)
        self._ready = self._compiling = False
        KERNELS.append(self)

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        if not self._ready:
            self._prepare(args)
        return self.compiled(*args)

    @property
    def is_compiling(self) -> bool:
        """True if a process on this machine is compiling it, or reading it from the cache."""
        if self._compiling or self._folder is None:
            return self._compiling
        with contextlib.suppress(FileNotFoundError), self._lock_file.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    @property
    def is_kept(self) -> bool:
        """True if the cache has compiled code for this processor and this Python."""
        return self._ready or (self._folder is not None and self._mark.exists())

    @property
    def _lock_file(self) -> Path:
        return (self._folder or Path()) / f"{self._name}.lock"

    @property
    def _mark(self) -> Path:
        return self._lock_file.with_suffix(f".{_MACHINE}.kept")

    def _prepare(self, args: tuple[Any, ...]) -> None:
        types = tuple(_type_of(argument) for argument in args)
        telling = threading.Timer(WAITING_SECONDS, _tell_once)
        telling.daemon = True
        self._compiling = True
        try:
            telling.start()
            with self.locked():
                self._read_or_compile(types)
        finally:
            telling.cancel()
            self._compiling = False
        self._ready = True

    def _read_or_compile(self, types: tuple[Any, ...]) -> None:
        if self._folder is None:
            self.compiled.compile(types)
            return
        try:
            self.compiled.compile(types)
        except Exception:  # e.g. an incomplete file: drop the cache and compile again
            for other in self._folder.parent.glob("*/*/*.nb[ci]"):
                other.unlink(missing_ok=True)
            self.compiled.compile(types)
        self._mark.touch()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from compiling it while the context lasts."""
        if self._folder is None:
            yield
            return
        with self._lock_file.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


KERNELS: list[Kernel] = []
_listeners: list[Callable[[str], None]] = []
_told = threading.Event()


def preparing() -> str | None:
    """Return the message for users who wait while a process on this machine compiles; None if none does."""
    if all(kernel.is_kept or not kernel.is_compiling for kernel in KERNELS):  # reading takes no time to tell
        return None
    left = sum(one.seconds for one in KERNELS if one.is_compiling or (one.common and not one.is_kept))
    about = max(5 * round(left / 5), 5)
    return f"Preparing the engine, once on this machine: about {about} s"


def tell_of_preparing(listener: Callable[[str], None]) -> None:
    """Send the message of :func:`preparing` to a listener from now on, not to standard error."""
    _listeners.append(listener)


@contextlib.contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """Do so while the context lasts; a process sends the message once, from a separate thread."""
    tell_of_preparing(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _tell_once() -> None:
    sentence = preparing()
    if sentence is None or _told.is_set():
        return
    _told.set()
    if _listeners:
        _listeners[-1](sentence)
    else:
        print(f"note: {sentence}", file=sys.stderr)


@functools.cache
def folder_for(module: str) -> Path | None:
    """Return the cache folder for a module and the present state of its sources; None if there is none."""
    base = _base()
    return None if base is None else _usable(base / sources_digest(module), anybodys=True)


@functools.cache
def sources_digest(module: str, core: Path = CORE) -> str:
    """Return a hash of a module's source and of those in :data:`TAKEN_IN` that it imports, and so on."""
    found: dict[str, bytes] = {}
    left = [module]
    while left:
        name = left.pop()
        source = core.joinpath(*name.split(".")[1:]).with_suffix(".py")
        if name in found or not source.is_file():
            continue
        found[name] = source.read_bytes()
        for package, names in _IMPORTS.findall(found[name].decode()):
            inside = [package, *(f"{package}.{one.split()[0]}" for one in names.split(",") if one.strip())]
            left += [one for one in inside if _is_taken_in(one)]
    digest = hashlib.sha256(repr((Level, _COMPILED, _CALLED_BY_COMPILED, numba.__version__)).encode())
    for name in sorted(found):
        digest.update(f"{name} {len(found[name])}\n".encode() + found[name])
    return digest.hexdigest()[:16]


_IMPORTS = re.compile(r"^from (grasp_core[\w.]*) import \(?([^)\n#]*)", re.MULTILINE)


def _is_taken_in(module: str) -> bool:
    path = "/".join(module.split(".")[1:])
    return any(f"{path}.py" == one or path.startswith(one) for one in TAKEN_IN)


@functools.cache
def _base() -> Path | None:
    """Return a folder for the cache: Numba's setting, this package, the user's caches, or a temporary one."""
    if _config.CACHE_DIR:
        return _usable(Path(_config.CACHE_DIR), anybodys=True)
    of_user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grasp" / "kernels"
    of_now = Path(tempfile.gettempdir()) / f"grasp-kernels-{os.getuid()}"
    places = (CORE / "permutation" / "__pycache__" / "kernels", of_user, of_now)
    return next((place for place in map(_usable, places) if place is not None), None)


def _usable(folder: Path, *, anybodys: bool = False) -> Path | None:
    """Return the folder, made if needed; None if it is not writeable, or another user could change it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = anybodys or folder.stat().st_uid == os.getuid()
    except OSError:
        return None
    return folder if mine and os.access(folder, os.W_OK) else None


class _Cache(FunctionCache):
    """A cache of compiled code, read without Numba's set-up for compiling: half a second a process."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for types of arguments; None if there is none."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def _kept(function: Any, options: Any, **more: Any) -> Any:
    """Compile a function at its first call, and cache it in the folder for its sources if there is one."""
    folder, before = folder_for(function.__module__), _config.CACHE_DIR
    dispatcher: Any = numba.njit(**options, **more)(function)
    if folder is None:
        return dispatcher
    _config.CACHE_DIR = str(folder)
    try:
        dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]
    finally:
        _config.CACHE_DIR = before
    return dispatcher
