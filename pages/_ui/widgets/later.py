"""What is made for a session once its page has been drawn: files, which are made when they are asked for."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

T = TypeVar("T")


def as_this_session(make: Callable[[], T]) -> Callable[[], T]:
    """The function, for being called outside a script's run, as Streamlit calls what makes a file.

    There nobody has signed in and nothing is in the session. What it asks is answered here as in the run that
    draws the page now: whose session it is, that is; what they may is asked when it is called.
    """
    context, there = get_script_run_ctx(), contextvars.copy_context()

    def made() -> T:
        outcome: Future[T] = Future()

        def run() -> None:
            try:
                outcome.set_result(make())
            except BaseException as error:  # raised where it was called
                outcome.set_exception(error)

        thread = threading.Thread(target=there.run, args=(run,), name="grasp-file", daemon=True)
        add_script_run_ctx(thread, context)
        thread.start()
        return outcome.result()

    return made
