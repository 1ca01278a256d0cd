"""People who use a server, and their rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from grasp_core.model.errors import AccessError
from grasp_core.model.settings import Settings
from grasp_core.model.text import one_line

Role = Literal["viewer", "analyst", "admin"]
"""Role of a person on a server; :class:`grasp_core.model.access.User` defines the rights."""
Scope = Literal["read", "run", "admin"]
"""Highest rights of a token: look, also upload and run, or everything that its owner may do."""
COMMAND = "command"
"""Actor in the audit log for commands that work on the database directly."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the provider describes them: by `subject`, which never changes, with a verified `email`."""

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has signed in.

    `id`: id by which objects name their owner.
    `created_at`, `signed_in_at`: first and last sign-in, seconds since 1970.
    `holder`: id of the person who holds the mail address: the first to sign in with it, or the person to whom
        an admin assigned it. None while nobody holds it.
    """

    id: str
    identity: Identity
    role: Role | None
    created_at: float
    signed_in_at: float
    disabled_at: float | None
    holder: str | None

    @property
    def holds_address(self) -> bool:
        """True if the person has the rights that settings and projects give to their mail address."""
        return self.holder == self.id

    @property
    def other_holder(self) -> str | None:
        """Id of another person who holds this person's mail address, if any."""
        return None if self.holds_address else self.holder


@dataclass(frozen=True, slots=True)
class Token:
    """A token's record as its owner sees it; the token itself is shown once and not stored."""

    id: str
    owner: str
    name: str
    scope: Scope
    created_at: float
    expires_at: float
    revoked_at: float | None
    last_used_at: float | None
    expired: bool

    @property
    def works(self) -> bool:
        """True if the server answers requests with this token."""
        return self.revoked_at is None and not self.expired


ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, weakest first; each includes the rights of those before."""
DISABLED = "Your account on this server is disabled; ask whoever runs it."
_ROLE_OF_SCOPE: Mapping[Scope, Role] = {"read": "viewer", "run": "analyst", "admin": "admin"}
_LONGEST = 255
"""Most characters of an issuer, a subject (OpenID Connect allows no more), a mail address and a name."""
ProjectRole = Literal["viewer", "analyst", "owner"]
"""Role in a project: a viewer looks; an analyst also starts runs, and manages own runs and links; an owner
manages the whole project and its members."""
EVERYONE = "everyone"
"""Id of the project to which everybody admitted belongs, with the role that they have on the server."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The projects whose stored objects somebody may open.

    `projects`: ids of these projects; None for all, which is the server's own reach.
    `home`: the project that is listed and searched and to which new objects belong; one of `projects`.
    """

    projects: frozenset[str] | None
    home: str

    def __post_init__(self) -> None:
        """Raise AccessError unless `home` is one of `projects`."""
        if self.projects is not None and self.home not in self.projects:
            raise AccessError("This project is not there any more, or not for you; choose another one.")


EVERYTHING = Reach(None, EVERYONE)
"""Reach of the server itself, for work that it does for no particular person."""


def only(project: str) -> Reach:
    """Return the reach into one project."""
    return Reach(frozenset({project}), project)


@dataclass(frozen=True, slots=True)
class User:
    """A person who has signed in, or anybody if sign-in is off.

    `role`: role on the server; a viewer here is at most a viewer in each project.
    `holds_address`: true if projects that admit the address admit the user, since nobody else holds it.
    `projects`: role by project, without :data:`EVERYONE`.
    """

    id: str
    name: str
    role: Role
    email: str = ""
    holds_address: bool = field(default=False, kw_only=True)
    groups: tuple[str, ...] = ()
    projects: Mapping[str, ProjectRole] = field(default_factory=dict, hash=False)

    @property
    def may_run(self) -> bool:
        """True if the user may upload data and start runs in projects where they are analyst or owner."""
        return self.role in ("analyst", "admin")

    @property
    def may_administer(self) -> bool:
        """True if the user may see and change everybody's rights on this server."""
        return self.role == "admin"

    def role_in(self, project: str) -> ProjectRole | None:
        """Return the user's role in a project; None if they may not see it."""
        if self.role == "admin":
            return "owner"
        if project == EVERYONE:
            return self.role
        role = self.projects.get(project)
        return "viewer" if role is not None and self.role == "viewer" else role

    def may_see(self, project: str) -> bool:
        """Return whether the user may open objects of a project."""
        return self.role_in(project) is not None

    def may_run_in(self, project: str) -> bool:
        """Return whether the user may upload data to a project and start runs in it."""
        return self.role_in(project) in ("analyst", "owner")

    def may_manage(self, owner: str, project: str) -> bool:
        """Return whether the user may rename, share, cancel or delete `owner`'s objects in a project."""
        role = self.role_in(project)
        return role == "owner" or (role == "analyst" and owner == self.id)

    def may_lead(self, project: str) -> bool:
        """Return whether the user may rename, archive and delete a project, and change its members."""
        return self.role_in(project) == "owner"

    def reach(self, home: str) -> Reach:
        """Return the user's reach while they work in the project `home`."""
        seen = None if self.role == "admin" else frozenset({EVERYONE, *self.projects})
        return Reach(seen, home)

    def at_most(self, role: Role) -> User:
        """Return the same person with at most `role`, for requests with a token."""
        return replace(self, role=min(self.role, role, key=ROLES.index))


LOCAL_USER = User(id="", name="", role="admin")


def actor_of(by: User | None) -> str:
    """Return the actor's name for the audit log; None stands for a command on the database itself."""
    return COMMAND if by is None else by.id


def identity_of(claims: Mapping[str, Any], settings: Settings) -> Identity:
    """Return the identity in an identity token's claims; raise AccessError if it is not admitted."""
    issuer, subject = claims.get("iss"), claims.get("sub")
    for said in (issuer, subject):
        if not isinstance(said, str) or not 0 < len(said) <= _LONGEST:
            raise AccessError("Your sign-in does not say who you are; ask whoever runs this server.")
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email or len(email) > _LONGEST or not email.isprintable():
        raise AccessError("Your sign-in carries no mail address; ask whoever runs this server.")
    verified = claims.get("email_verified", "missing")
    if verified == "missing" and not settings.admit_unverified:
        raise AccessError(
            "Your sign-in does not say whether your mail address is verified; ask whoever runs this server."
        )
    if verified not in (True, "true", "missing"):  # some providers send texts
        raise AccessError("Your mail address is not verified with your sign-in provider.")
    email = email.casefold()
    _check_domain(email, settings)
    name = claims.get("name")
    name = one_line(name)[:_LONGEST].strip() if isinstance(name, str) else ""
    return Identity(str(issuer), str(subject), email, name or email)


def user_of(person: Person, settings: Settings) -> User:
    """Return the person as a user, without projects and groups; raise AccessError if not admitted."""
    if person.disabled_at is not None:
        raise AccessError(DISABLED)
    _check_domain(person.identity.email, settings)
    identity, holds = person.identity, person.holds_address
    return User(person.id, identity.name, role_of(person, settings), identity.email, holds_address=holds)


def user_by_token(token: Token, owner: User | None, settings: Settings) -> User | None:
    """Return the token's owner with at most its scope; None if they are no longer admitted."""
    if not settings.sign_in:
        owner = None if token.owner else LOCAL_USER
    return None if owner is None else owner.at_most(_ROLE_OF_SCOPE[token.scope])


def role_of(person: Person, settings: Settings) -> Role:
    """Return a person's role: admin by the settings, else their own, else the settings' role."""
    if is_admin_by_settings(person, settings):
        return "admin"
    if person.role is not None:
        return person.role
    named = person.holds_address and person.identity.email in settings.analysts
    return "analyst" if named or "*" in settings.analysts else "viewer"


def is_admin_by_settings(person: Person, settings: Settings) -> bool:
    """Return whether the settings make a person an admin, whatever role they were given."""
    return person.holds_address and person.identity.email in settings.admins


def _check_domain(email: str, settings: Settings) -> None:
    domain = email.rpartition("@")[2]
    if settings.allowed_domains and domain not in settings.allowed_domains:
        raise AccessError(f"This server does not admit mail addresses of {domain}.")


def groups_of(claims: Mapping[str, Any], settings: Settings) -> tuple[str, ...]:
    """Return the groups that an identity token lists under the claim that the settings name, sorted."""
    named = claims.get(settings.oidc_groups_claim)
    listed = named if isinstance(named, list) else [named]
    return tuple(sorted({group for group in listed if isinstance(group, str) and group}))
