"""Sources: places in tools and databases, each as one text without a secret; hosts that may be asked."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.settings import on_this_machine
from grasp_core.model.text import listed, quoted

Kind = Literal["label-studio", "argilla", "hf", "sql"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Tool(NamedTuple):
    """A kind of source: its name, written form, package, variable with a token, and function that fetches."""

    name: str
    written: str
    client: str
    variable: str
    fetcher: str
    options: tuple[str, ...] = ()
    needs_token: bool = False


TOOLS: Mapping[Kind, Tool] = {
    "label-studio": Tool(
        name="Label Studio",
        written="label-studio:https://host/projects/3",
        client="label_studio_sdk",
        variable="LABEL_STUDIO_API_KEY",
        fetcher="tools:label_studio",
        needs_token=True,
    ),
    "argilla": Tool(
        name="Argilla",
        written="argilla:https://host/workspace/dataset",
        client="argilla",
        variable="ARGILLA_API_KEY",
        fetcher="tools:argilla",
        needs_token=True,
    ),
    "hf": Tool(
        name="Hugging Face",
        written="hf:organisation/name@revision?config=...&split=...",
        client="datasets",
        variable="HF_TOKEN",
        fetcher="tools:hugging_face",
        options=("config", "split"),
    ),
    "sql": Tool(
        name="Database (SQL)",
        written="sql:postgresql://user@host/database?table=... (or ?query=select ...)",
        client="sqlalchemy",
        variable="PGPASSWORD",
        fetcher="sql:fetch",
        options=("table", "query"),
    ),
}
HUB = "https://huggingface.co"
PORTS: Mapping[str, int] = {"http": 80, "https": 443, "postgresql": 5432}

_NAME = r"[A-Za-z0-9][\w.-]*"
_HUGGING_FACE = re.compile(rf"(?:{_NAME}/)?{_NAME}(?:@[\w.][\w./-]*)?", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_USER = re.compile(r"[\w.@+-]+", re.ASCII)
_DATABASE = re.compile(r"[\w$.-]+")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Source:
    """A place from which data are fetched, without a secret; as a text, ``kind:address?option=value``."""

    kind: Kind
    address: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        asked = f"?{urlencode(self.options, quote_via=quote)}" if self.options else ""
        return f"{self.kind}:{self.address}{asked}"

    def option(self, name: str) -> str:
        """Return an option's value; empty if it is not given."""
        return dict(self.options).get(name, "")

    @property
    def shown(self) -> str:
        """The source in a few words for people."""
        *_, place, last = ["", *unquote(self.address).split("/")]
        if self.kind == "hf":
            return f"data set {self.address}{''.join(f', {value}' for _, value in self.options)}"
        if self.kind == "sql":
            table = self.option("table")
            what = f"table {table}" if table else "a query"
            host = "" if self.in_file else f" at {urlsplit(self.address).netloc.rpartition('@')[2]}"
            return f"{what} of {last}{host}"
        what = f"project {last}" if self.kind == "label-studio" else f"data set {place}/{last}"
        return f"{what} at {urlsplit(self.address).netloc}"

    @property
    def tool(self) -> Tool:
        """The tool of its kind."""
        return TOOLS[self.kind]

    @property
    def in_file(self) -> bool:
        """True if it is a database in a file."""
        return self.address.startswith("sqlite:")

    def site(self, hub: str = HUB) -> str:
        """Return the place that a token opens: a server, and for a database also user and database."""
        if self.kind == "hf":
            return hub
        if self.in_file:
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}{parts.path if self.kind == 'sql' else ''}"


def is_source(text: str) -> bool:
    """Return whether a text names a source, and not a file or its address."""
    kind, colon, rest = text.partition(":")
    return bool(colon) and kind in KINDS and not rest.startswith("//")


def parse(text: str) -> Source:
    """Read a source from its written form."""
    kind, colon, rest = text.strip().partition(":")
    found = next((known for known in KINDS if known == kind), None)
    if found is None or not colon:
        raise DataError(f"a source begins with {listed([f'{one}:' for one in KINDS])}; found {quoted(text)}")
    address, mark, asked = rest.partition("?")
    return make(found, address, dict(parse_qsl(asked, keep_blank_values=True)) if mark else {})


def make(kind: Kind, address: str, options: Mapping[str, str]) -> Source:
    """Make a source of a user's input; options without a value are left out."""
    address = address.strip()
    given = {name: value.strip() for name, value in options.items() if value.strip()}
    if not (address + "".join(given.values())).replace("\n", " ").replace("\t", " ").isprintable():
        raise _wrong(kind, "there are characters that none has")
    if len(address) + sum(map(len, given.values())) > _LONGEST:
        raise _wrong(kind, "it is too long")
    unknown = [name for name in given if name not in TOOLS[kind].options]
    if unknown:
        raise _wrong(kind, f"{quoted(unknown[0])} is no option of it")
    return Source(kind, _READ[kind](address, given), tuple(sorted(given.items())))


def _wrong(kind: Kind, why: str) -> DataError:
    return DataError(f"{TOOLS[kind].name}: {why}; write it like {TOOLS[kind].written}")


def _web(kind: Kind, address: str) -> tuple[str, list[str]]:
    """Return beginning and folders of a web address."""
    parts = _split(kind, address)
    if parts.scheme not in ("http", "https"):
        raise _wrong(kind, "the address does not begin with https://")
    if "@" in parts.netloc:
        raise _wrong(kind, "the address holds a user name or password, which are given apart")
    pieces = [unquote(piece) for piece in parts.path.split("/") if piece]
    if any(piece in (".", "..") or "/" in piece or "\\" in piece for piece in pieces):
        raise _wrong(kind, "the address has a folder that no page has")
    return f"{parts.scheme}://{_host(kind, parts)}", pieces


def _split(kind: Kind, address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        raise _wrong(kind, "the address cannot be read") from None
    if parts.query or parts.fragment:
        raise _wrong(kind, "the address has '#' or a second '?'")
    if parts.password is not None:  # not quoted
        raise _wrong(kind, "the address holds a password, which is given apart and never written there")
    return parts


def _host(kind: Kind, parts: SplitResult) -> str:
    name = (parts.hostname or "").rstrip(".")
    name = f"[{name}]" if ":" in name else name
    if not _HOST.fullmatch(name):
        raise _wrong(kind, "the address names no host")
    usual = parts.port in (None, PORTS[parts.scheme])
    return name if usual else f"{name}:{parts.port}"


def _path(pieces: list[str]) -> str:
    return "".join(f"/{quote(piece, safe='')}" for piece in pieces)


def _label_studio(address: str, _: Mapping[str, str]) -> str:
    start, pieces = _web("label-studio", address)
    if "projects" in pieces:
        place = pieces.index("projects") + 1
        if place < len(pieces) and pieces[place].isascii() and pieces[place].isdigit():
            return start + _path([*pieces[:place], str(int(pieces[place]))])
    raise _wrong("label-studio", "the address is no project's")


def _argilla(address: str, _: Mapping[str, str]) -> str:
    """Read an address of workspace and data set, or of Argilla's pages: ``/dataset/ID/annotation-mode``."""
    start, pieces = _web("argilla", address)
    if "dataset" in pieces[:-1]:
        place = pieces.index("dataset") + 2
        return start + _path(pieces[:place])
    if len(pieces) < 2:
        raise _wrong("argilla", "the address names no workspace and data set")
    return start + _path(pieces)


def _hugging_face(address: str, _: Mapping[str, str]) -> str:
    plain = address.removeprefix(f"{HUB}/datasets/").removesuffix("/")
    if not _HUGGING_FACE.fullmatch(plain) or ".." in plain:
        raise _wrong("hf", f"{quoted(plain)} is no name of a data set")
    return plain


def _sql(address: str, options: Mapping[str, str]) -> str:
    if len(options) != 1:
        raise _wrong("sql", "give either a table or a query")
    parts = _split("sql", address)
    scheme = parts.scheme.partition("+")[0]
    if scheme == "sqlite":
        if parts.netloc or len(parts.path) < 2 or "\x00" in parts.path:
            raise _wrong("sql", "the address of a SQLite file is sqlite:///folder/file.db")
        return f"sqlite:///{parts.path[1:]}"
    if scheme not in ("postgresql", "postgres"):
        raise _wrong("sql", f"{quoted(parts.scheme)} is not read; PostgreSQL and SQLite are")
    user, database = unquote(parts.username or ""), unquote(parts.path.strip("/"))
    if user and not _USER.fullmatch(user):
        raise _wrong("sql", "the user's name has characters that are not read")
    if not _DATABASE.fullmatch(database):
        raise _wrong("sql", "the address names no database")
    host = _host("sql", parts._replace(scheme="postgresql"))
    return f"postgresql://{quote(user, safe='')}{'@' if user else ''}{host}/{quote(database)}"


_READ: Mapping[Kind, Callable[[str, Mapping[str, str]], str]] = {
    "label-studio": _label_studio,
    "argilla": _argilla,
    "hf": _hugging_face,
    "sql": _sql,
}


# Hosts that may be asked

_ENTRY = re.compile(r"(http://)?([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host with its port; 0 is the usual port of the protocol. `plain` means without encryption."""

    host: str
    port: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts that may be asked; `any`: others too, as the user is at this machine and acts for nobody else."""

    named: tuple[HostPort, ...] = ()
    any: bool = False

    def check(self, source: Source, hub: str = HUB) -> HostPort | None:
        """Return host and port of a source if it may be asked; None for a file."""
        if source.in_file:
            return None
        parts = urlsplit(source.site(hub))
        place = HostPort(parts.hostname or "", parts.port or PORTS[parts.scheme], parts.scheme == "http")
        entries = [
            entry
            for entry in self.named
            if (entry.host, entry.port or PORTS[parts.scheme]) == (place.host, place.port)
        ]
        safe = not place.plain or on_this_machine(place.host) or any(entry.plain for entry in entries)
        if (entries or self.any) and safe:
            return place
        shown = f"{place.host}:{place.port}"
        if entries or self.any:
            raise DataError(
                f"{shown} is asked without encryption, so others could read the token; write https://, or "
                f"name http://{shown} in GRASP_SOURCE_HOSTS if the way there is safe"
            )
        known = ", ".join(entry.host for entry in self.named)
        raise DataError(
            f"{shown} is not a host that this server may ask; "
            + (f"it may ask {known}" if known else "it may ask none")
            + "; whoever runs it can name others in GRASP_SOURCE_HOSTS"
        )


def hosts_of(entries: Sequence[str], *, own_machine: bool) -> Hosts:
    """Read hosts as ``GRASP_SOURCE_HOSTS`` lists them."""
    return Hosts(tuple(map(_place, entries)), own_machine)


def _place(entry: str) -> HostPort:
    found = _ENTRY.fullmatch(entry)
    if found is None or int(found[3] or 0) > 65535:
        raise SettingsError(
            f"GRASP_SOURCE_HOSTS lists hosts like labels.example.org or db.internal:5433; found {entry!r}"
        )
    return HostPort(found[2].strip("[]"), int(found[3] or 0), bool(found[1]))


@dataclass(frozen=True, slots=True)
class FetchJob:
    """A source to be fetched into a folder; `file` is the path of a database in a file."""

    source: Source
    token: str
    folder: Path
    seconds: float
    told: Callable[[str], None]
    file: str = ""
    hub: str = HUB

    @property
    def host(self) -> str:
        """The host that is asked, for messages."""
        return urlsplit(self.source.site(self.hub)).netloc.rpartition("@")[2]

    @property
    def pieces(self) -> list[str]:
        """The folders of a web address."""
        return [unquote(piece) for piece in urlsplit(self.source.address).path.split("/") if piece]

    def start(self, pieces: int) -> str:
        """Return a web address without so many of its last folders."""
        return self.source.address.rsplit("/", pieces)[0]
