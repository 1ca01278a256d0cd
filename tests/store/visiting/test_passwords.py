import hashlib
import os
import sys
import threading

import pytest

from grasp_core.model.errors import LimitError
from grasp_core.store.links import hashed, matches

pytestmark = pytest.mark.in_earnest


def test_a_password_matches_its_own_hash_alone() -> None:
    kept = hashed("Grüße vom Rhein")
    assert matches("Grüße vom Rhein", kept), "composed or not"
    assert not matches("Grüße vom rhein", kept)
    assert hashed("Grüße vom Rhein") != kept
    assert kept.startswith("scrypt-15-8-3$")


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_a_check_gives_way_to_those_who_draw_pages(monkeypatch) -> None:
    plain, priorities = hashlib.scrypt, []

    def noting(*given, **named) -> bytes:
        priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return plain(*given, **named)

    monkeypatch.setattr(hashlib, "scrypt", noting)
    hashed("Grüße vom Rhein")
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert priorities == [max(own, 10)]


@pytest.mark.parametrize("kept", ["", "scrypt-15-8-3", "scrypt-15-8-3$a$b", "scrypt-1-8-1$AAAA$AAAA", "$$"])
def test_what_is_no_hash_is_matched_by_nothing(kept: str) -> None:
    assert not any(matches(password, kept) for password in ("", "a", kept))


@pytest.mark.parametrize("password", ["", "1234567", "x" * 201])
def test_a_password_is_neither_short_nor_endless(password: str) -> None:
    with pytest.raises(LimitError, match="8 to 200 characters"):
        hashed(password)
