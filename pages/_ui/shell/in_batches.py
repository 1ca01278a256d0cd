"""What a page draws is handed on a hundred times a second at most, not message by message.

Streamlit's script thread wakes the server's loop for each of a page's hundred messages (its
`AppSession._call_soon_on_event_loop`), and each time one of them waits for the interpreter's lock: a third of
what the loop does for a page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from streamlit.runtime.app_session import AppSession

BATCH_SECONDS = 0.01
"""How long a message waits for others at most, less than anybody sees."""
_WAITING = "_grasp_waiting"


def hand_on_in_batches() -> None:
    """Have the sessions of all tabs do so from now on."""
    AppSession._call_soon_on_event_loop = _call_soon  # type: ignore[method-assign]


def _call_soon(self: AppSession, callback: Callable[[], None]) -> None:
    """Handle on its loop what a session's script says: in its order, with what comes a moment later."""
    waiting: deque[Callable[[], None]] = vars(self).setdefault(_WAITING, deque())
    waiting.append(callback)
    if len(waiting) > 1:
        return  # the loop is going to look

    loop = self._event_loop

    def handle() -> None:
        while waiting:
            loop.call_soon(waiting.popleft())  # one that fails holds up none after it

    try:
        loop.call_soon_threadsafe(loop.call_later, BATCH_SECONDS, handle)
    except RuntimeError:  # as Streamlit does: a server that ends drops what is left
        if not loop.is_closed():
            raise
