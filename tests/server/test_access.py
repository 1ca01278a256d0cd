import dataclasses
from typing import Any

import pytest

from grasp_core.model import access
from grasp_core.model.errors import AccessError
from grasp_core.model.settings import Settings, read_settings

SAID = {"iss": "https://id.example", "sub": "s-1", "email_verified": True}
LAB = Settings(allowed_domains=("lab.example",), analysts=("ann@lab.example",), admins=("root@lab.example",))


def person(email: str, settings: Settings, *, name: str = "", **rest: Any) -> access.Person:
    identity = access.identity_of({**SAID, "email": email, "name": name}, settings)
    values: dict[str, Any] = {"role": None, "disabled_at": None, "holder": "p1", **rest}
    return access.Person(id="p1", identity=identity, created_at=0.0, signed_in_at=0.0, **values)


def signed_in(email: str, settings: Settings, *, name: str = "") -> access.User:
    return access.user_of(person(email, settings, name=name), settings)


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
    user = signed_in(email, LAB, name="N.")
    assert (user.id, user.email, user.name, user.role) == ("p1", email.casefold(), "N.", role)


def test_by_default_everybody_signed_in_is_an_analyst() -> None:
    assert signed_in("x@y.example", read_settings({})).role == "analyst"


@pytest.mark.parametrize(
    ("email", "own", "role"),
    [
        ("vera@lab.example", "analyst", "analyst"),
        ("vera@lab.example", "admin", "admin"),
        ("ann@lab.example", "viewer", "viewer"),
        ("root@lab.example", "viewer", "admin"),
    ],
)
def test_a_role_of_ones_own_stands_above_the_settings_but_not_above_their_admins(email, own, role) -> None:
    assert access.role_of(person(email, LAB, role=own), LAB) == role


@pytest.mark.parametrize("holder", ["p2", None])
def test_what_is_said_of_an_address_is_said_of_who_holds_it(holder: str | None) -> None:
    for email in ("ann@lab.example", "root@lab.example"):
        assert access.user_of(person(email, LAB, holder=holder), LAB).role == "viewer"
        assert access.role_of(person(email, LAB, holder=holder, role="analyst"), LAB) == "analyst"


def test_who_is_disabled_or_of_a_domain_that_is_not_allowed_any_more_may_nothing() -> None:
    with pytest.raises(AccessError, match=access.DISABLED):
        access.user_of(person("ann@lab.example", LAB, disabled_at=1.0), LAB)
    with pytest.raises(AccessError, match=r"y\.example"):
        access.user_of(person("x@y.example", read_settings({})), LAB)


def test_a_missing_email_verified_is_refused_unless_a_setting_admits_it() -> None:
    silent = {"iss": "https://id.example", "sub": "s-1", "email": "ann@lab.example"}
    with pytest.raises(AccessError, match="does not say whether your mail address is verified"):
        access.identity_of(silent, LAB)
    lenient = dataclasses.replace(LAB, admit_unverified=True)
    assert access.identity_of(silent, lenient).email == "ann@lab.example"
    for said in (False, "false", None, 0, "yes"):
        with pytest.raises(AccessError, match="not verified"):
            access.identity_of({**silent, "email_verified": said}, lenient)


@pytest.mark.parametrize(
    "change", [{"iss": None}, {"sub": ""}, {"sub": 7}, {"sub": "x" * 256}, {"iss": ["https://id.example"]}]
)
def test_who_is_not_said_to_be_anybody_is_not_admitted(change: dict[str, Any]) -> None:
    with pytest.raises(AccessError, match="does not say who you are"):
        access.identity_of({**SAID, "email": "ann@lab.example", **change}, LAB)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"email": None},
        {"email": ["ann@lab.example"]},
        {"email": "lab.example"},
        {"email": "ann\n@lab.example"},
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
        access.identity_of({**SAID, **claims}, LAB)


def test_who_may_do_what() -> None:
    vera, ann, root = (
        dataclasses.replace(signed_in(f"{name}@lab.example", LAB), id=name)
        for name in ("vera", "ann", "root")
    )
    assert [user.may_run for user in (vera, ann, root, access.LOCAL_USER)] == [False, True, True, True]
    everybody = (vera, ann, root, access.LOCAL_USER)
    assert [user.may_manage(ann.id, access.EVERYONE) for user in everybody] == [False, True, True, True]
    assert not vera.may_manage(vera.id, access.EVERYONE)
    assert not ann.may_manage(root.id, access.EVERYONE)
    assert not ann.may_manage("", access.EVERYONE)


ROLES: tuple[access.ProjectRole | None, ...] = (None, "viewer", "analyst", "owner")


@pytest.mark.parametrize(
    ("role", "may_see", "may_run", "may_manage_own", "may_lead"),
    [
        ("viewer", [0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]),
        ("analyst", [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]),
        ("admin", [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
    ],
)
def test_nobody_may_more_in_a_project_than_on_the_server(
    role: access.Role, may_see: list[int], may_run: list[int], may_manage_own: list[int], may_lead: list[int]
) -> None:
    users = [access.User("1", "N.", role, projects={} if one is None else {"p": one}) for one in ROLES]
    assert [user.may_see("p") for user in users] == may_see
    assert [user.may_run_in("p") for user in users] == may_run
    assert [user.may_manage("1", "p") for user in users] == may_manage_own
    assert [user.may_manage("2", "p") for user in users] == may_lead
    assert [user.may_lead("p") for user in users] == may_lead
    assert not any(user.may_see("q") for user in users) or role == "admin"
    assert not any(user.may_lead(access.EVERYONE) for user in users) or role == "admin"


def test_how_far_somebody_reaches() -> None:
    ann = access.User("1", "N.", "analyst", projects={"p": "viewer"})
    assert ann.reach("p") == access.Reach(frozenset({"p", access.EVERYONE}), "p")
    with pytest.raises(AccessError):
        ann.reach("q")
    assert access.LOCAL_USER.reach("q") == access.Reach(None, "q")


@pytest.mark.parametrize(
    ("named", "groups"),
    [
        (["b", "a", "b"], ("a", "b")),
        ("a", ("a",)),
        (None, ()),
        ({"a": 1}, ()),
        ([1, None, "", ["a"], "b"], ("b",)),
    ],
)
def test_groups_are_the_provider_s(named: Any, groups: tuple[str, ...]) -> None:
    claims = {"email": "ann@lab.example", "teams": named, "groups": ["not asked for"]}
    settings = dataclasses.replace(LAB, oidc_groups_claim="teams")
    assert access.groups_of(claims, settings) == groups
