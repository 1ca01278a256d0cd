"""A helper process of one thread that has imported the readers, and forks a child for each file.

Its owner starts it once, sends it orders, and restarts it if it ended. It runs this file, with the number
of its control socket and the module whose functions are called. Orders (:data:`_ORDER`) come over the
socket: to read, with a connection for the child and a pipe for the child's exit status; or to end a child.
It ends when the socket is closed, and so together with its owner. This file imports little, so that
the helper can get ready while its owner is still importing.
"""

import atexit
import gc
import itertools
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

_ORDER = struct.Struct("!cQ")  # an order: a letter for the action, and the job's number
_READ, _KILL = b"R", b"K"
_STATUS = struct.Struct("!i")  # a child's exit status, or the signal that ended it as a negative number
ROOT = Path(__file__).parents[3]
"""The folder of the package: processes started here import it, installed or not."""
_INHERITED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH"),
    *("DYLD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_OWN = {
    "OPENBLAS_NUM_THREADS": "1",  # a process that forks has no threads
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # allocates no more than requested, so that the limit is exact
}


class HelperGoneError(Exception):
    """The helper process ended, and could not be started again."""


class Job:
    """A child of the helper: the connection to it, and its exit status."""

    def __init__(self, number: int, connection: socket.socket, status: int) -> None:
        self.number = number
        self.connection = connection
        self._status = status

    def close(self) -> None:
        """Close the connection and the pipe."""
        self.connection.close()
        os.close(self._status)

    def exit_code(self) -> int | None:
        """Wait for the child's end and return its exit code; None if the helper itself is gone."""
        told = os.read(self._status, 64)
        return int.from_bytes(told, "big", signed=True) if told else None


class Helper:
    """A helper process, for any number of threads, that calls functions of the module named `work`."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._numbers = itertools.count()
        atexit.register(self.close)

    def start(self) -> None:
        """Start the process, if there is none, without waiting until it is ready."""
        with self._lock:
            self._started()

    def job(self) -> Job:
        """Fork a child."""
        with self._lock:
            for _ in range(2):  # it may have ended since it was last needed
                try:
                    return self._ordered(self._started())
                except OSError:
                    self._end()
        raise HelperGoneError

    def kill(self, job: Job) -> None:
        """End a child, if it has not ended."""
        with self._lock, suppress(OSError):
            if self._control is not None:
                self._control.send(_ORDER.pack(_KILL, job.number))

    def close(self) -> None:
        """End the process and its children."""
        with self._lock:
            self._end()

    def _ordered(self, control: socket.socket) -> Job:
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        told, tell = os.pipe()
        try:
            socket.send_fds(control, [_ORDER.pack(_READ, number)], [theirs.fileno(), tell])
        except OSError:
            ours.close()
            os.close(told)
            raise
        finally:
            theirs.close()
            os.close(tell)
        return Job(number, ours, told)

    def _started(self) -> socket.socket:
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        self._end()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own script; no shell
                [sys.executable, "-P", __file__, str(theirs.fileno()), self._work],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
                pass_fds=[theirs.fileno()],
            )
        self._control = ours
        return ours

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


def environment(*, whole: bool = False, **own: str) -> dict[str, str]:
    """Return variables for a process that handles untrusted data, without secrets; or all but GRASP's own."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or (whole and not name.startswith(("GRASP_", "PYTHON")))
    }
    return given | _OWN | own | {"PYTHONPATH": str(ROOT)}


HELPER = Helper("grasp_core.reading.guess.tables")  # the helper that reads files and handles tables


# The helper's side


class _Jobs:
    def __init__(self, control: socket.socket, woken: int, wake: int) -> None:
        self._control, self._woken, self._wake = control, woken, wake
        self._pids: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}

    def read(self, job: int, connection: int, status: int) -> None:
        """Fork a child, which closes the helper's own descriptors."""
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._control.close()
            for descriptor in (self._woken, self._wake, status, *(end for _, end in self._ends.values())):
                os.close(descriptor)
            from grasp_core.reading.sandbox import parse

            with socket.socket(fileno=connection) as own:
                os._exit(parse.run(own))
        os.close(connection)
        self._pids[job] = pid
        self._ends[pid] = (job, status)

    def kill(self, *jobs: int) -> None:
        """End children that nobody waits for any more; without arguments, all of them."""
        for job in jobs or tuple(self._pids):
            if job in self._pids:
                os.kill(self._pids[job], signal.SIGKILL)

    def reap(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, 1 << 16)
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                job, status = self._ends.pop(found[0])
                del self._pids[job]
                with suppress(BrokenPipeError):
                    os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(found[1])))
                os.close(status)


def serve(control: socket.socket) -> None:
    """Carry orders out until the control socket is closed."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake)
    jobs = _Jobs(control, woken, wake)
    ready = selectors.DefaultSelector()
    ready.register(control, selectors.EVENT_READ)
    ready.register(woken, selectors.EVENT_READ)
    while True:
        events = {key.fileobj for key, _ in ready.select()}
        if woken in events:
            jobs.reap()
        if control not in events:
            continue
        order, descriptors, _, _ = socket.recv_fds(control, _ORDER.size, 2)
        if len(order) < _ORDER.size:
            jobs.kill()
            return
        what, job = _ORDER.unpack(order)
        if what == _READ:
            jobs.read(job, *descriptors)
        else:
            jobs.kill(job)


def main() -> None:
    """Import the modules that children need, then serve; Arrow imports pandas with its first column."""
    gc.disable()
    import pandas  # noqa: F401

    from grasp_core.reading.sandbox import parse

    parse.get_ready(sys.argv[2])
    gc.freeze()  # children share existing objects, and need not scan them
    gc.enable()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)


if __name__ == "__main__":
    main()
