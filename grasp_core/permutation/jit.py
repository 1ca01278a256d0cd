"""Compiling: how kernels are compiled, where compiled code is kept, and what is told to those who wait.

Compiled code is kept in a folder for each state of the sources that end in it. Numba looks at the file of the
function alone; a kernel would go on with the helpers and constants that other files had before an upgrade.
An upgrade that leaves these sources as they are compiles nothing.
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
"""Sources of the core from which compiled functions of other modules take functions or constants."""
WAITING_SECONDS, READING_SECONDS = 0.7, 3.0
"""Compiling is told of once it takes longer; where code is kept, which a busy machine reads slowly, later."""

# Divisors are never 0, so code that asks and raises errors is left out.
_COMPILED: Any = {"nogil": True, "error_model": "numpy"}
_CALLED_BY_COMPILED: Any = {**_COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_config: Any = numba.config
_type_of: Any = numba.typeof
_MACHINE = f"{_config.CPU_NAME or get_host_cpu_name()}.{sys.implementation.cache_tag}"


def borrowing(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled code calls, and that neither makes nor returns arrays.

    References to what it is given are not counted: for named tuples of many arrays, counting them takes as
    long as going through some hundred items. Code for calls from Python would take a sixth of the time of
    compiling; Python must not call it.

    Numba compiles a function once more for each constant (``0``, ``True``) that it is given: hand over
    variables, or ``np.int64(0)``.
    """
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """As :func:`borrowing`, for short functions that are called often: handing over tuples takes long."""
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False, forceinline=True)


def whole_sums(function: Callable[..., Any]) -> Any:
    """As :func:`borrowing`, for sums of whole numbers, exact in any order: many are added at once."""
    return _kept(function, _CALLED_BY_COMPILED, _nrt=False, fastmath={"reassoc"})


def making(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled code calls and that makes arrays."""
    return _kept(function, _CALLED_BY_COMPILED)


def compiled(*, seconds: float = 1.0, common: bool = False) -> Callable[[Callable[..., Any]], Kernel]:
    """Compile a function that Python calls.

    `seconds`: processor time that compiling it takes, about, on the machine of docs/scaling.md.
    `common`: whether nearly every run needs it.
    """
    return lambda function: Kernel(function, seconds, common=common)


class Kernel:
    """A compiled function that Python calls, compiled at its first call unless compiled code is kept.

    One process compiles it; others that need it meanwhile wait, and read what that one keeps.

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
        """Whether some process on this machine compiles it now, or reads what is kept."""
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
        """Whether compiled code for this processor and this Python lies on the disk."""
        return self._ready or (self._folder is not None and self._mark.exists())

    @property
    def _lock_file(self) -> Path:
        return (self._folder or Path()) / f"{self._name}.lock"

    @property
    def _mark(self) -> Path:
        return self._lock_file.with_suffix(f".{_MACHINE}.kept")

    def _prepare(self, args: tuple[Any, ...]) -> None:
        types = tuple(_type_of(argument) for argument in args)
        telling = threading.Timer(READING_SECONDS if self.is_kept else WAITING_SECONDS, _tell_once)
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
        except Exception:  # such as half a file: what is kept is given up, and compiled again
            for other in self._folder.parent.glob("*/*/*.nb[ci]"):
                other.unlink(missing_ok=True)
            self.compiled.compile(types)
        self._mark.touch()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Within, no other process compiles it."""
        if self._folder is None:
            yield
            return
        with self._lock_file.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


KERNELS: list[Kernel] = []
"""Those of the modules that are imported."""
_listeners: list[Callable[[str], None]] = []
_told = threading.Event()


def preparing() -> str | None:
    """The sentence for those who wait while a process on this machine compiles; None while none does."""
    if not any(kernel.is_compiling for kernel in KERNELS):
        return None
    left = sum(one.seconds for one in KERNELS if one.is_compiling or (one.common and not one.is_kept))
    about = max(5 * round(left / 5), 5)
    return f"Preparing the engine, once on this machine: about {about} s"


def tell_of_preparing(listener: Callable[[str], None]) -> None:
    """Have the sentence of :func:`preparing` told to a listener, in place of standard error, from now on."""
    _listeners.append(listener)


@contextlib.contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """The same within; told once in a process, by a thread of its own."""
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
    """Where compiled code of a module is kept: a folder for each state of its sources; None for nowhere."""
    base = _base()
    return None if base is None else _usable(base / sources_digest(module), anybodys=True)


@functools.cache
def sources_digest(module: str, core: Path = CORE) -> str:
    """Hash of the sources that end in the compiled code of a module, 16 hexadecimal digits.

    They are its own, and those of :data:`TAKEN_IN` that these import, and so on.
    """
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
    """Where code can be kept: where Numba is told to, in this package, with the user's caches, or for now."""
    if _config.CACHE_DIR:
        return _usable(Path(_config.CACHE_DIR), anybodys=True)
    of_user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grasp" / "kernels"
    of_now = Path(tempfile.gettempdir()) / f"grasp-kernels-{os.getuid()}"
    places = (CORE / "permutation" / "__pycache__" / "kernels", of_user, of_now)
    return next((place for place in map(_usable, places) if place is not None), None)


def _usable(folder: Path, *, anybodys: bool = False) -> Path | None:
    """The folder, made if need be; None where it cannot be written, or another user could change it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = anybodys or folder.stat().st_uid == os.getuid()
    except OSError:
        return None
    return folder if mine and os.access(folder, os.W_OK) else None


class _Cache(FunctionCache):
    """Code kept on disk.

    Numba sets up all that compiling needs before it reads what is kept, half a second for each process;
    reading needs memory's management alone.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for types of arguments; None for nothing."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def _kept(function: Any, options: Any, **more: Any) -> Any:
    """Compile a function at its first call, and keep that in the folder of its sources if there is one."""
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
