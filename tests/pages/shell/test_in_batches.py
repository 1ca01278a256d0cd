from __future__ import annotations

import asyncio
import inspect
import threading
from types import SimpleNamespace
from typing import Any

from streamlit.runtime.app_session import AppSession

from pages._ui.shell.in_batches import BATCH_SECONDS, _call_soon, hand_on_in_batches


def _said_on_a_loop(messages: int, *, failing: int | None = None) -> tuple[list[int], int]:
    """What a loop handles of that many messages of a thread, and how often it was woken."""
    handled: list[int] = []
    woken = 0

    async def listen() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)
        wake = loop.call_soon_threadsafe

        def counted(*args: Any) -> Any:
            nonlocal woken
            woken += 1
            return wake(*args)

        loop.call_soon_threadsafe = counted  # type: ignore[method-assign]
        session: Any = SimpleNamespace(_event_loop=loop)

        def handle(number: int) -> None:
            if number == failing:
                raise ValueError
            handled.append(number)

        def say() -> None:
            for number in range(messages):
                _call_soon(session, lambda number=number: handle(number))

        speaking = threading.Thread(target=say)
        speaking.start()
        while speaking.is_alive():
            await asyncio.sleep(BATCH_SECONDS / 10)
        await asyncio.sleep(5 * BATCH_SECONDS)
        _call_soon(session, lambda: handle(messages))
        await asyncio.sleep(5 * BATCH_SECONDS)

    asyncio.run(listen())
    return handled, woken


def test_messages_come_in_their_order_and_wake_the_loop_a_few_times() -> None:
    handled, woken = _said_on_a_loop(5000)
    assert handled == list(range(5001))
    assert woken < 1000


def test_a_message_that_cannot_be_handled_holds_up_none_after_it() -> None:
    handled, _ = _said_on_a_loop(100, failing=40)
    assert handled == [number for number in range(101) if number != 40]


def test_a_loop_that_has_ended_is_told_nothing() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    session: Any = SimpleNamespace(_event_loop=loop)
    _call_soon(session, lambda: None)


def test_streamlit_still_says_it_there(monkeypatch: Any) -> None:
    own = AppSession._call_soon_on_event_loop
    monkeypatch.setattr(AppSession, "_call_soon_on_event_loop", own)  # put back in the end
    assert list(inspect.signature(own).parameters) == list(inspect.signature(_call_soon).parameters)
    assert "_call_soon_on_event_loop" in inspect.getsource(AppSession._on_scriptrunner_event)
    hand_on_in_batches()
    assert AppSession._call_soon_on_event_loop is _call_soon
