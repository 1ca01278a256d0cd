"""A process of one thread that has imported the readers, and forks a child for each file.

Run as a program with the number of its control socket, and the module whose functions are called. Over the
socket come orders of :data:`ORDER`: to read, with a connection for the child and a pipe that is told how the
child ended; or to end a child. It ends when the socket is closed, and so with whoever started it.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import struct
import sys
from contextlib import suppress

ORDER = struct.Struct("!cQ")
"""A letter for what to do, and the job's number."""
READ, KILL = b"R", b"K"
STATUS = struct.Struct("!i")
"""A child's exit status, or the signal that ended it as a negative number."""


class _Jobs:
    """The children, by job."""

    def __init__(self, control: socket.socket, woken: int, wake: int) -> None:
        self._control, self._woken, self._wake = control, woken, wake
        self._pids: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}

    def read(self, job: int, connection: int, status: int) -> None:
        """Fork a child."""
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._let_go(status)
            os._exit(_read(connection))
        os.close(connection)
        self._pids[job] = pid
        self._ends[pid] = (job, status)

    def kill(self, job: int) -> None:
        """End a child that nobody waits for any more."""
        if job in self._pids:
            os.kill(self._pids[job], signal.SIGKILL)

    def kill_all(self) -> None:
        """End all."""
        for job in self._pids:
            self.kill(job)

    def reap(self) -> None:
        """Tell how children ended."""
        with suppress(BlockingIOError):
            os.read(self._woken, 1 << 16)
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                job, status = self._ends.pop(found[0])
                del self._pids[job]
                with suppress(BrokenPipeError):
                    os.write(status, STATUS.pack(os.waitstatus_to_exitcode(found[1])))
                os.close(status)

    def _let_go(self, status: int) -> None:
        """Close in a child what is the helper's."""
        self._control.close()
        for descriptor in (self._woken, self._wake, status, *(end for _, end in self._ends.values())):
            os.close(descriptor)


def _read(connection: int) -> int:
    from grasp_core.reading.sandbox import parse

    with socket.socket(fileno=connection) as own:
        return parse.run(own)


def serve(control: socket.socket) -> None:
    """Carry orders out until the control socket is closed."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this
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
        order, descriptors, _, _ = socket.recv_fds(control, ORDER.size, 2)
        if len(order) < ORDER.size:
            jobs.kill_all()
            return
        what, job = ORDER.unpack(order)
        if what == READ:
            jobs.read(job, *descriptors)
        else:
            jobs.kill(job)


def main() -> None:
    """Import first what children need, so that none has to; Arrow imports pandas with its first column."""
    gc.disable()
    import pandas  # noqa: F401

    from grasp_core.reading.sandbox import parse

    parse.get_ready(sys.argv[2])
    gc.freeze()  # children share what is there, and need not look through it
    gc.enable()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)


if __name__ == "__main__":
    main()
