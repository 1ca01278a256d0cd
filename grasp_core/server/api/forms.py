"""Objects that the API takes and returns; the schema and the reference page are made from them."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from grasp_core.analysis.small_groups import LEAST
from grasp_core.engine.service import id_of
from grasp_core.model.access import EVERYONE, Role
from grasp_core.reading.sources.allowed import FOLDER
from grasp_core.store.links import LONGEST, MOST_USES, SHORTEST
from grasp_core.store.runs import TAG_LENGTH

_HALF = re.compile("[\ud800-\udfff]")
Makers = Mapping[str, Callable[[Any], Any]]
State = Literal["queued", "running", "done", "failed", "cancelled"]


def at(seconds: float) -> datetime:
    """Return a time of the store as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


Time = Annotated[
    datetime, BeforeValidator(lambda given: at(given) if isinstance(given, int | float) else given)
]


class Form(BaseModel):
    """A JSON object. Unknown fields are refused, not ignored, and so is text that is not valid Unicode."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    made: ClassVar[Makers] = {}
    """Functions that make the fields which the stored object has by another name, or not at all."""

    @classmethod
    def of(cls, stored: Any, **more: Any) -> Self:
        """Build the form of a stored object, from its fields of the same names, `made`, and `more`."""
        names = (name for name in cls.model_fields if name not in more)
        return cls(**{name: cls.made.get(name, attrgetter(name))(stored) for name in names}, **more)

    @model_validator(mode="before")
    @classmethod
    def _is_unicode(cls, given: Any) -> Any:
        """Refuse lone surrogates, which JSON can contain: they could be neither stored nor returned."""
        if _has_half(given):
            raise ValueError("a text has half of a surrogate pair, which is no Unicode")
        return given


def _has_half(given: Any) -> bool:
    if isinstance(given, dict):
        return any(map(_has_half, given)) or any(map(_has_half, given.values()))
    if isinstance(given, list):
        return any(map(_has_half, given))
    return isinstance(given, str) and _HALF.search(given) is not None


class ProblemListed(Form):
    """One of the problems of a request."""

    code: str
    text: str
    count: int | None = None
    examples: list[str] | None = None
    field: str | None = None
    place: str | None = None


class Problem(Form):
    """The reason why a request cannot be answered (RFC 9457)."""

    type: str = Field(description="Address of the page that explains `code`.")
    title: str
    status: int
    code: str = Field(
        description="Code of the error, for programs; it stays the same if sentences are reworded."
    )
    detail: str = Field(description="One sentence for people.")
    problems: list[ProblemListed] | None = Field(None, description="All problems, with codes.")


class Permutations(Form):
    """A run's progress: permutations done, and their total."""

    done: int
    total: int


class Run(Form):
    """A run, without its result."""

    id: str
    project: str = Field(description="Id of the run's project.")
    title: str
    owner: str
    note: str
    tags: list[str]
    state: State
    error: str | None = Field(description="Reason why it failed.")
    verdict: str | None = Field(description="The result in one sentence; null until the run is done.")
    permutations: Permutations
    created_at: Time
    finished_at: Time | None
    version: str = Field(description="Version of GRASP at the time of the request.")
    made: ClassVar[Makers] = {"permutations": lambda run: run, "version": lambda run: run.code_version}


class StartedRun(Run):
    """A requested run, with notes on how its files are read."""

    notes: list[str] = Field(description="Notes on how the files are read.")
    hints: list[str] = Field(description="Rows that were used and left out, and advice.")


class Answer(Form):
    """A result in words."""

    headline: str
    mind: list[str] = Field(description="Warnings that may undo the finding.")
    sentences: list[str] = Field(
        description="Sentences that support the finding, advice, and sentences on pairs."
    )
    warnings: list[str] = Field(description="Other warnings.")


class Runs(Form):
    """A page of the list of runs."""

    runs: list[Run]
    next: str | None = Field(description="`cursor` of the next page; null on the last one.")


class File(Form):
    """A file that was uploaded."""

    sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="SHA-256 of the file's content; it names the file."
    )
    name: str = Field(min_length=1, max_length=255, description="Name of the file in messages.")


class OwnFile(Form):
    """A file of yours in a project."""

    sha256: str
    name: str | None = Field(
        description="Your last name for the file; null for a file that stays on the server or at an address."
    )
    bytes: int
    added_at: Time
    location: str | None = Field(description="Place of a file that stays on the server or at an address.")
    source: str | None = Field(description="Source from which the file was fetched.")
    made: ClassVar[Makers] = {"added_at": lambda file: file.created_at}


class OwnFiles(Form):
    """Your files in a project, latest first."""

    files: list[OwnFile]


class FolderFile(Form):
    """A file, or a folder of Parquet files, in the server's folder."""

    location: str = Field(description="Location by which a run names the file.")
    bytes: int
    changed_at: Time
    made: ClassVar[Makers] = {
        "location": lambda entry: FOLDER + entry.path,
        "changed_at": lambda entry: entry.changed,
    }


class FolderFiles(Form):
    """Files in the server's folder, by path."""

    files: list[FolderFile]
    more: bool = Field(description="True if there are more files; search for them by `text`.")


class StoredFile(File):
    """A stored file, kept until no run needs it any more."""

    bytes: int


class Parts(Form):
    """Uploaded parts of a file, in order."""

    name: str = Field(min_length=1, max_length=255, description="Name of the whole file in messages.")
    sha256s: list[Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(min_length=1, max_length=1000)


class Place(Form):
    """A file that is read where it is, and not uploaded."""

    location: str = Field(
        min_length=1,
        max_length=2000,
        description="`data:` and its path in the server's folder, or its address on the web.",
    )


class Fetch(Form):
    """Data that are fetched from a tool or database."""

    source: str = Field(
        min_length=1, max_length=20_000, description="As `sql:...` or `label-studio:...`, docs/formats.md."
    )
    token: str | None = Field(
        None, max_length=2000, exclude=True, description="Token for the source; by default your kept token."
    )


def _kind_of(given: Any) -> str:
    """Return the tag of the form that describes a file."""
    names = given if isinstance(given, dict) else getattr(type(given), "model_fields", {})
    return next((name for name in ("location", "source") if name in names), "sha256")


AnyFile = Annotated[
    Annotated[File, Tag("sha256")] | Annotated[Place, Tag("location")] | Annotated[Fetch, Tag("source")],
    Discriminator(_kind_of),
]


class Files(Form):
    """The files of a run."""

    annotations: AnyFile
    raters: AnyFile | None = None
    items: AnyFile | None = None
    models: list[File] = Field([], max_length=100, description="Files of the models that the spec names.")


Project = Annotated[str, Query(max_length=32, description="Id of a project of yours.")]


class NewCheck(Form):
    """Files and a spec to check, without starting a run."""

    spec: dict[str, Any] = Field(
        {},
        description="A run spec, docs/file-formats.md; defaults may be omitted, and so may columns and axes, "
        "which are then recognised.",
    )
    files: Files
    recommended: bool | None = Field(
        None,
        description="True leaves out raters and annotations that the files mark to be left out, and rows "
        "without an id, counts a rater's last answer to an item, and merges spellings that differ by case or "
        "blanks. By default all count, and `notes` say how many they are.",
    )
    project: str = Field(EVERYONE, max_length=32, description="Id of a project of yours.")


class NewRun(NewCheck):
    """A run to start."""

    title: str | None = Field(
        None, min_length=1, max_length=200, description="Title; by default a summary of the request."
    )
    webhook: str | None = Field(
        None, max_length=2000, description="Address that gets a signed message when the run ends."
    )


class ChangedRun(Form):
    """Changes to a run's title, note or tags."""

    title: str | None = Field(None, max_length=200, pattern=r"\S")
    note: str | None = Field(None, max_length=5000)
    tags: list[Annotated[str, Field(max_length=TAG_LENGTH, pattern=r"\S")]] | None = Field(
        None, max_length=100, description="All of them."
    )


class Question(Form):
    """A question that must be answered before anything runs."""

    field: str = Field(description="Field of `data`.")
    text: str
    candidates: list[str] = Field(description="Candidates, best first.")


class GroupFormed(Form):
    """A group that would be compared."""

    group: dict[str, str]
    raters: int


class Checked(Form):
    """A preview of a run: data that it would read and leave out, and groups that it would compare."""

    runs: bool = Field(description="True if the spec would run as it is.")
    spec: dict[str, Any] | None = Field(
        description="The spec that would run, with recognised columns filled in."
    )
    data: dict[str, Any] | None = Field(description="`data` of a result: counts, files, rows left out.")
    groups: list[GroupFormed]
    notes: list[str] = Field(description="Notes on how the files are read.")
    hints: list[str] = Field(description="Rows that were used and left out, and advice.")
    questions: list[Question]
    problems: list[ProblemListed] = Field(description="All problems that have to be solved first.")


class NewReport(NewCheck):
    """Files and a spec to report on, without starting a run."""

    power: bool = Field(False, description="Simulate how large a GAI these raters and items would find.")


class Submission(Form):
    """A system that was scored."""

    id: str
    name: str
    owner: str
    created_at: Time
    scores: dict[str, Any] = Field(description="As `raft score --details` writes them, docs/models.md.")


class Work(Form):
    """Work that takes a while, and its outcome."""

    id: str
    state: Literal["running", "done", "failed"]
    doing: str = Field(description="The current step, in words.")
    seconds: float = Field(description="Seconds since the request.")
    run: StartedRun | None = Field(None, description="The run, once it has started.")
    checked: Checked | None = None
    report: dict[str, Any] | None = Field(None, description="docs/file-formats.md")
    submission: Submission | None = None
    problem: Problem | None = Field(None, description="Reason why it failed.")


class NewItems(Form):
    """A request for the items of a group."""

    group: dict[str, str] = Field(
        min_length=1, max_length=20, description="Its value on each axis, as `groups[].group` of the result."
    )
    question: str | None = Field(None, description="The label to examine, if there are several.")


class AskedItems(Form):
    """A request for the items of a group and its state, without the items."""

    id: str
    group: dict[str, str]
    question: str | None = Field(description="Label of the question; null if the run has one label.")
    state: Literal["running", "done", "failed"]
    share: float = Field(description="Share of the work that is done.")
    error: str | None = Field(description="Reason why it failed.")
    made: ClassVar[Makers] = {
        "id": lambda asked: id_of(asked.group, asked.question),
        "group": lambda asked: asked.group.by_axis,
        "question": lambda asked: asked.question_name,
    }


class Items(Form):
    """Requests for items, in the order of the result's groups."""

    items: list[AskedItems]


class FoundItems(BaseModel):
    """The items of a group in the format of files, or the state of the request; docs/file-formats.md."""

    model_config = ConfigDict(extra="allow")

    format: str | None = Field(None, description="`grasp-items` for a finished answer.")
    state: str | None = Field(None, description="State of an unfinished answer.")


class NewLink(Form):
    """A link to make."""

    label: str = Field("", max_length=100, description="Your note on the link; visitors do not see it.")
    days: float | None = Field(30, gt=0, le=36_500, description="Days until the link ends; null for no end.")
    password: str | None = Field(
        None, min_length=SHORTEST, max_length=LONGEST, description="Password that visitors have to give."
    )
    max_uses: int | None = Field(
        None, ge=1, le=MOST_USES, description="Largest number of visits; null for no limit."
    )
    small_groups: bool = Field(
        False, description=f"Show groups of fewer than {LEAST} raters too. Small groups are people."
    )


class Link(Form):
    """A share link."""

    id: str
    label: str
    created_by: str
    created_at: Time
    expires_at: Time | None
    revoked_at: Time | None
    works: bool
    uses: int
    last_used_at: Time | None
    has_password: bool
    max_uses: int | None
    small_groups: bool
    made: ClassVar[Makers] = {"small_groups": lambda link: link.target.small_groups}


class MadeLink(Link):
    """A link that was just made."""

    token: str | None = Field(description="The link's token, shown once; null in a repeated answer.")
    address: str | None = Field(description="Address that opens the link.")


class Links(Form):
    """The links to a run, latest first."""

    links: list[Link]


class Withdrawn(Form):
    """The outcome of withdrawing links."""

    withdrawn: int = Field(description="Number of links that were withdrawn.")


class Person(Form):
    """Somebody who has signed in."""

    id: str
    email: str
    name: str
    role: Role
    signed_in_at: Time
    disabled: bool
    address_held_by: str | None = Field(
        description="Id of another person who holds the mail address; this person then has no rights by it."
    )
    made: ClassVar[Makers] = {
        "email": lambda person: person.identity.email,
        "name": lambda person: person.identity.name,
        "disabled": lambda person: person.disabled_at is not None,
        "address_held_by": lambda person: person.other_holder,
    }


class People(Form):
    """People, by name."""

    people: list[Person]
    total: int = Field(description="Total number.")


class Address(Form):
    """A mail address to assign."""

    address: str = Field(max_length=320, description="Mail address of the person's last sign-in.")


class Erasure(Form):
    """The effects of erasing a person, in sentences."""

    does: list[str]
    stays: list[str]


class Erasing(Form):
    """A person to erase."""

    confirm: str = Field(max_length=320, description="The person's mail address.")
    owned: Literal["hand over", "delete"] = Field(
        description="Hand over, or delete, the person's runs, files, readings, submissions and links."
    )
    to: str | None = Field(None, max_length=32, description="Id of the person who gets them.")


class WebhookKey(Form):
    """The keys that check the signatures of webhooks."""

    key: str = Field(description="Key in the form of Standard Webhooks.")
    previous: str | None = Field(description="Previous key; it signs messages, too.")


class Found(BaseModel):
    """A result in the format of files, or a run's state and provisional result; docs/file-formats.md."""

    model_config = ConfigDict(extra="allow")

    format: str | None = Field(None, description="`grasp-run` or `grasp-models` for a result.")
    state: State | None = Field(None, description="State of a run without a result.")
    permutations: Any = None
    provisional: dict[str, Any] | None = Field(None, description="Results so far of an unfinished run.")
