"""The helper process as its owner sees it: started once, ordered about, started anew when it is gone.

This imports little, so that the helper can get ready while its owner is still importing.
"""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from grasp_core.reading.sandbox.helper import KILL, ORDER, READ

_SCRIPT = Path(__file__).with_name("helper.py")
ROOT = Path(__file__).parents[3]
"""The folder that holds the package: processes started here import it, installed or not."""
_INHERITED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH"),
    *("DYLD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_OWN = {
    "OPENBLAS_NUM_THREADS": "1",  # a process that forks has no threads
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # takes what is asked for, so that the limit means it
}


class HelperGoneError(Exception):
    """The helper process ended, and could not be started again."""


class Job:
    """A child of the helper: the connection to it, and how it ended."""

    def __init__(self, number: int, connection: socket.socket, status: int) -> None:
        self.number = number
        self.connection = connection
        self._status = status

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()
        os.close(self._status)

    def exit_code(self) -> int | None:
        """The child's exit code, once it has ended; None where the helper itself is gone."""
        told = os.read(self._status, 64)
        return int.from_bytes(told, "big", signed=True) if told else None


class Helper:
    """A helper process, for any number of threads; there functions of the module called `work` are called."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._numbers = itertools.count()
        atexit.register(self.close)

    def start(self) -> None:
        """Start the process, if there is none; it gets ready by itself."""
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
                self._control.send(ORDER.pack(KILL, job.number))

    def close(self) -> None:
        """End the process and its children."""
        with self._lock:
            self._end()

    def _ordered(self, control: socket.socket) -> Job:
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        told, tell = os.pipe()
        try:
            socket.send_fds(control, [ORDER.pack(READ, number)], [theirs.fileno(), tell])
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
                [sys.executable, "-P", str(_SCRIPT), str(theirs.fileno()), self._work],
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
    """The variables of a process that handles strangers' data, without secrets; or all but GRASP's own."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or (whole and not name.startswith(("GRASP_", "PYTHON")))
    }
    return given | _OWN | own | {"PYTHONPATH": str(ROOT)}


HELPER = Helper("grasp_core.reading.work")
"""The one that reads and handles files."""
