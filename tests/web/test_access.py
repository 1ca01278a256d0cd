from __future__ import annotations

from typing import Any

import pytest

from grasp_core.access import LOCAL_USER, user_from_claims
from grasp_core.errors import AccessError
from grasp_core.settings import Settings, read_settings

LAB = Settings(allowed_domains=("lab.example",), analysts=("ann@lab.example",), admins=("root@lab.example",))


@pytest.mark.parametrize(
    ("email", "role"),
    [
        ("vera@lab.example", "viewer"),
        ("ann@lab.example", "analyst"),
        ("Ann@LAB.example", "analyst"),
        ("root@lab.example", "admin"),
    ],
)
def test_roles(email: str, role: str) -> None:
    user = user_from_claims({"email": email, "name": "N."}, LAB)
    assert (user.id, user.name, user.role) == (email.casefold(), "N.", role)


def test_by_default_everybody_signed_in_is_an_analyst() -> None:
    assert user_from_claims({"email": "x@y.example"}, read_settings({})).role == "analyst"


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"email": None},
        {"email": ["ann@lab.example"]},
        {"email": "lab.example"},
        {"email": "ann@evil.example"},
        {"email": "ann@lab.example.evil.example"},
        {"email": "ann@evil.example@"},
        {"email": "ann@lab.example", "email_verified": False},
        {"email": "ann@lab.example", "email_verified": "false"},
        {"email": "ann@lab.example", "email_verified": None},
        {"email": "ann@lab.example "},
        {"email": "ann@sub.lab.example"},
        {"email": "ann@notlab.example"},
    ],
)
def test_who_is_not_admitted(claims: dict[str, Any]) -> None:
    with pytest.raises(AccessError):
        user_from_claims(claims, LAB)


def test_who_may_do_what() -> None:
    vera, ann, root = (
        user_from_claims({"email": f"{name}@lab.example"}, LAB) for name in ("vera", "ann", "root")
    )
    assert [user.may_run for user in (vera, ann, root, LOCAL_USER)] == [False, True, True, True]
    assert [user.may_manage(ann.id) for user in (vera, ann, root, LOCAL_USER)] == [False, True, True, True]
    assert not vera.may_manage(vera.id)
    assert not ann.may_manage(root.id)
    assert not ann.may_manage("")
