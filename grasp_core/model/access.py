"""People who use a server, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from grasp_core.model.errors import AccessError
from grasp_core.model.settings import Settings
from grasp_core.model.text import one_line

Role = Literal["viewer", "analyst", "admin"]
"""What somebody may do on a server; see :class:`grasp_core.model.access.User`."""
Scope = Literal["read", "run", "admin"]
"""What a token may do at most: look, also upload and run, or all that its person may."""
COMMAND = "command"
"""Who acts where somebody has the database itself."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a sign-in provider says somebody is.

    `issuer`, `subject`: the provider, and its name for the person that never changes.
    `email`: verified, in small letters.
    """

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has signed in.

    `id`: what objects name as their owner.
    `identity`: as of the last sign-in.
    `role`: none where the settings decide.
    `created_at`, `signed_in_at`: first and last sign-in, seconds since 1970.
    `holder`: id of who holds the mail address: the first who signed in with it, or whom an admin assigned it
        to. None while nobody does.
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
        """Whether the person has what the settings and projects give to their mail address."""
        return self.holder == self.id

    @property
    def other_holder(self) -> str | None:
        """Id of somebody else who holds the person's mail address."""
        return None if self.holds_address else self.holder


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its person sees it; the token itself is shown once and not kept."""

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
        """Whether requests with it are answered."""
        return self.revoked_at is None and not self.expired


ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, each of which may all that those before it may."""
DISABLED = "Your account on this server is disabled; ask whoever runs it."
_ROLE_OF_SCOPE: Mapping[Scope, Role] = {"read": "viewer", "run": "analyst", "admin": "admin"}
_LONGEST = 255
"""Characters of an issuer, a subject (OpenID Connect allows no more) and a name."""
ProjectRole = Literal["viewer", "analyst", "owner"]
"""In a project: a viewer looks; an analyst also runs, and manages own runs and links; an owner manages all
of it and says who belongs to it."""
EVERYONE = "everyone"
"""Id of the project whose members are all who are admitted, with the role that they have on the server."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far somebody reaches into what is stored.

    `projects`: projects whose objects may be opened; None for all, as the server itself does.
    `home`: the project that is listed and searched, and that new objects belong to; one of `projects`.
    """

    projects: frozenset[str] | None
    home: str

    def __post_init__(self) -> None:
        """Refuse a home that is out of reach."""
        if self.projects is not None and self.home not in self.projects:
            raise AccessError("This project is not there any more, or not for you; choose another one.")


EVERYTHING = Reach(None, EVERYONE)
"""The server's own reach, at work for nobody in particular."""


def only(project: str) -> Reach:
    """Reach into one project."""
    return Reach(frozenset({project}), project)


@dataclass(frozen=True, slots=True)
class User:
    """A person who has signed in, or the one at this machine where nobody has to.

    `id`: what objects name as their owner; opaque.
    `role`: on the server; nobody may more in a project, whatever they are there.
    `email`: the verified mail address, in lower case.
    `holds_address`: whether projects that admit the address admit the user: nobody else holds it.
    `groups`: those that the sign-in provider names.
    `projects`: role by project, but for :data:`EVERYONE`.
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
        """Whether the user may upload data and start runs, wherever they are a project's analyst."""
        return self.role in ("analyst", "admin")

    @property
    def may_administer(self) -> bool:
        """Whether the user may see and change who may do what on this server."""
        return self.role == "admin"

    def role_in(self, project: str) -> ProjectRole | None:
        """What the user is in a project; None where they see nothing of it."""
        if self.role == "admin":
            return "owner"
        if project == EVERYONE:
            return self.role
        role = self.projects.get(project)
        return "viewer" if role is not None and self.role == "viewer" else role

    def may_see(self, project: str) -> bool:
        """Whether the user may open what belongs to a project."""
        return self.role_in(project) is not None

    def may_run_in(self, project: str) -> bool:
        """Whether the user may upload data to a project and start runs in it."""
        return self.role_in(project) in ("analyst", "owner")

    def may_manage(self, owner: str, project: str) -> bool:
        """Whether the user may rename, share, cancel or delete what is `owner`'s in a project."""
        role = self.role_in(project)
        return role == "owner" or (role == "analyst" and owner == self.id)

    def may_lead(self, project: str) -> bool:
        """Whether the user may rename, archive and delete a project, and say who belongs to it."""
        return self.role_in(project) == "owner"

    def reach(self, home: str) -> Reach:
        """The user's reach while they work in the project `home`."""
        seen = None if self.role == "admin" else frozenset({EVERYONE, *self.projects})
        return Reach(seen, home)

    def at_most(self, role: Role) -> User:
        """The same person with no more than `role`, as a token lends it."""
        return replace(self, role=min(self.role, role, key=ROLES.index))


LOCAL_USER = User(id="", name="", role="admin")
"""Everybody, where sign-in is off."""


def actor_of(by: User | None) -> str:
    """Who did something, for the audit log; None is whoever has the database."""
    return COMMAND if by is None else by.id


def identity_of(claims: Mapping[str, Any], settings: Settings) -> Identity:
    """Who an identity token describes."""
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
    """What a person may do, without their projects and groups."""
    if person.disabled_at is not None:
        raise AccessError(DISABLED)
    _check_domain(person.identity.email, settings)
    identity, holds = person.identity, person.holds_address
    return User(person.id, identity.name, role_of(person, settings), identity.email, holds_address=holds)


def user_by_token(token: Token, owner: User | None, settings: Settings) -> User | None:
    """The person whose token it is, with no more than its scope; None where they are not admitted any more.

    `owner`: who made it, as they may act now; None if they are not admitted.
    """
    if not settings.sign_in:
        owner = None if token.owner else LOCAL_USER
    return None if owner is None else owner.at_most(_ROLE_OF_SCOPE[token.scope])


def role_of(person: Person, settings: Settings) -> Role:
    """A person's role: admin where the settings say so, else their own, else what the settings say.

    What the settings say of a mail address is said of who holds it.
    """
    if is_admin_by_settings(person, settings):
        return "admin"
    if person.role is not None:
        return person.role
    named = person.holds_address and person.identity.email in settings.analysts
    return "analyst" if named or "*" in settings.analysts else "viewer"


def is_admin_by_settings(person: Person, settings: Settings) -> bool:
    """Whether the settings make a person an admin, whatever role they were given."""
    return person.holds_address and person.identity.email in settings.admins


def _check_domain(email: str, settings: Settings) -> None:
    domain = email.rpartition("@")[2]
    if settings.allowed_domains and domain not in settings.allowed_domains:
        raise AccessError(f"This server does not admit mail addresses of {domain}.")


def groups_of(claims: Mapping[str, Any], settings: Settings) -> tuple[str, ...]:
    """The groups that an identity token names, under the claim that the settings say."""
    named = claims.get(settings.oidc_groups_claim)
    listed = named if isinstance(named, list) else [named]
    return tuple(sorted({group for group in listed if isinstance(group, str) and group}))
