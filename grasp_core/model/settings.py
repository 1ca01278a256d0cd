"""Settings of an installation, read from the environment once."""

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from grasp_core.model.errors import SettingsError

_MEANT_FOR_SIGN_IN = (
    "oidc_client_id",
    "oidc_client_secret",
    "allowed_domains",
    "admins",
    "analysts",
    "admit_unverified",
)
_SWITCH = {"": False, "0": False, "no": False, "false": False, "1": True, "yes": True, "true": True}

_RATE = re.compile(r"[1-9]\d{0,8}/(second|minute|hour|day)", re.ASCII)


def _setting(default: Any, meaning: str, *, secret: bool = False, exact: bool = False) -> Any:
    """Return a field; with `exact`, a list keeps upper and lower case."""
    return field(default=default, metadata={"meaning": meaning, "secret": secret, "exact": exact})


@dataclass(frozen=True)
class Settings:
    """Settings by field; the environment variable of ``home`` is ``GRASP_HOME``, and so on.

    Entries of lists are separated by commas. The file that ``GRASP_X_FILE`` names may contain a secret.
    :func:`read_settings` reads and checks them; docs/deploy.md shows them all.
    """

    home: str = _setting("", "Folder of the server's data; by default ~/.local/share/grasp")
    database_url: str = _setting("", "PostgreSQL URL; by default a SQLite file in GRASP_HOME", secret=True)
    database_password: str = _setting("", "Password for that URL, if the URL has none", secret=True)
    workers: int = _setting(0, "Processes that compute on this machine; 0 means one per core")
    compute_memory_mb: int = _setting(
        0, "MiB of memory that computing may take, 1024 or more; 0 means half of the machine's"
    )
    dask_address: str = _setting(
        "", "Dask scheduler whose workers compute instead, e.g. tcp://scheduler:8786; see scaling.md"
    )
    dask_ca: str = _setting("", "File with the authority of the cluster's certificates, for tls:// addresses")
    dask_cert: str = _setting("", "File with this server's certificate there")
    dask_key: str = _setting("", "File with that certificate's key, if it is not in the same file")
    queue_limit: int = _setting(20, "Runs that one person may have waiting or running")
    file_quota_mb: int = _setting(2048, "MiB of uploaded files that one person may have on the server")
    read_memory_mb: int = _setting(
        0,
        "MiB of memory that reading one file may take, two at a time (and three small files, of 256 MiB at "
        "most, beside them), and the files that one person has open together; 0 means a third of the "
        "machine's",
    )
    read_seconds: int = _setting(120, "Seconds of processor time that reading one file may take")
    raft_gold: str = _setting("", "Folder with private gold labels, TASK/test.csv; scoring is on when set")
    raft_tasks: str = _setting("", "Folder with the benchmark's tasks, TASK/task.json; by default RAFT's 11")
    raft_scorings: int = _setting(20, "Different predictions that one person may have scored per task")
    lm_endpoint: str = _setting(
        "", "OpenAI-compatible server for the language model baseline, e.g. http://localhost:8000/v1"
    )
    lm_model: str = _setting("", "Name of the language model there")
    lm_key: str = _setting("", "Key for that server, if it needs one", secret=True)
    keep_files_hours: float = _setting(24.0, "Hours to keep uploaded files that no run needs any more")
    keep_runs_days: float = _setting(0.0, "Days after which runs are deleted; 0 keeps them")
    keep_log_days: float = _setting(365.0, "Days to keep entries of the audit log; 0 keeps them")
    backup_key: str = _setting(
        "", "Key that encrypts and signs backups; the command backup-key makes one", secret=True
    )
    data_dir: str = _setting("", "Folder on the server whose files, and Parquet folders, people may pick")
    data_urls: tuple[str, ...] = _setting(
        (),
        "Addresses below which people may name files, e.g. https://data.example.org/,s3://bucket/a/",
        exact=True,
    )
    source_hosts: tuple[str, ...] = _setting(
        (),
        "Hosts of tools and databases that people may fetch from, e.g. labels.example.org,db.internal:5433; "
        "without sign-in, on this machine, any",
    )
    secret_key: str = _setting(
        "",
        "Random text of 32 characters or more that encrypts kept tokens; without it none are kept",
        secret=True,
    )
    public_url: str = _setting("", "Address under which people reach the server, for links and sign-in")
    oidc_metadata_url: str = _setting("", "OpenID Connect discovery document; sign-in is on when it is set")
    oidc_client_id: str = _setting("", "Client id at the OpenID provider")
    oidc_client_secret: str = _setting("", "Client secret at the OpenID provider", secret=True)
    oidc_groups_claim: str = _setting(
        "groups", "Claim of the sign-in that lists a person's groups, by which projects admit members"
    )
    cookie_secret: str = _setting("", "Random text of 32 characters or more that signs cookies", secret=True)
    allowed_domains: tuple[str, ...] = _setting(
        (), "Mail domains that may sign in; empty admits all of the provider's"
    )
    admins: tuple[str, ...] = _setting((), "Mail addresses of admins")
    analysts: tuple[str, ...] = _setting(
        ("*",), "Mail addresses of people who may run analyses; * means everybody signed in"
    )
    admit_unverified: bool = _setting(
        False, "Admit people whose provider does not say whether mail addresses are verified"
    )
    session_idle_minutes: float = _setting(
        480.0, "Minutes without use after which people have to sign in again; 0 for never"
    )
    allow_anonymous: bool = _setting(
        False, "Serve without sign-in beyond this machine: everybody is an admin"
    )
    metrics_token: str = _setting(
        "", "Bearer token for /metrics; without one it answers this machine only", secret=True
    )
    api_rate: str = _setting("600/minute", "Requests to the API that one person may make, at each server")
    api_change_rate: str = _setting("120/minute", "Of these, requests that change something")
    guess_rate: str = _setting("30/minute", "Invalid links and tokens that one address may try")
    upload_rate: str = _setting("300/minute", "Uploads that one person may make, at each server")
    run_rate: str = _setting("60/minute", "Runs that one person may ask for, at each server")
    tab_rate: str = _setting("300/minute", "Tabs that one person may open, reloads too, at each server")
    tabs: int = _setting(100, "Tabs that one person may have open at once, at each server")
    webhook_urls: tuple[str, ...] = _setting(
        (),
        "Addresses below which webhooks may report that a run ended, e.g. https://hooks.example.org/",
        exact=True,
    )
    webhook_networks: tuple[str, ...] = _setting(
        (), "Private networks that these addresses may lead into, e.g. 10.2.0.0/16"
    )
    webhook_secret: str = _setting(
        "", "Random text of 32 characters or more that signs webhooks", secret=True
    )
    log_format: str = _setting("text", "Log lines as text or json")

    @property
    def sign_in(self) -> bool:
        """True if people have to sign in."""
        return bool(self.oidc_metadata_url)

    @property
    def own_machine(self) -> bool:
        """True if the server is only for the user of this machine."""
        return not self.sign_in and not self.allow_anonymous

    @property
    def origin(self) -> str:
        """Scheme, host and port of `public_url`: the origin that browsers send."""
        url = urlsplit(self.public_url)
        return f"{url.scheme}://{url.netloc}" if url.netloc else ""

    @property
    def base_path(self) -> str:
        """Path of `public_url` without a slash at its end."""
        return urlsplit(self.public_url).path

    @property
    def https(self) -> bool:
        """True if people reach the server by https."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def folder(self) -> Path:
        """`home`, or its default."""
        return Path(self.home) if self.home else Path.home() / ".local" / "share" / "grasp"


def variable(name: str) -> str:
    """Return the name of a field's environment variable."""
    return f"GRASP_{name.upper()}"


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read and check all settings."""
    values: dict[str, Any] = {}
    for entry in dataclasses.fields(Settings):
        text = environment.get(variable(entry.name))
        if entry.metadata["secret"]:
            text = _secret(environment, variable(entry.name), text)
        if text is not None:
            values[entry.name] = _parse(entry.name, text.strip(), entry.default, entry.metadata["exact"])
    if "public_url" in values:
        values["public_url"] = values["public_url"].rstrip("/")
    settings = Settings(**values)
    _check(settings)
    return settings


def _secret(environment: Mapping[str, str], name: str, text: str | None) -> str | None:
    """Return a secret from its variable, or from the file that its variable with ``_FILE`` names."""
    file = environment.get(f"{name}_FILE", "").strip()
    if not file:
        return text
    if text:
        raise SettingsError(f"{name} and {name}_FILE exclude each other; unset one of them")
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{name}_FILE must name a file of text that this server can read") from None


def _parse(name: str, text: str, default: Any, exact: bool) -> Any:
    try:
        if isinstance(default, bool):
            return _SWITCH[text.casefold()]
        if isinstance(default, tuple):
            parts = [part.strip() for part in text.split(",") if part.strip()]
            return tuple(parts if exact else map(str.casefold, parts))
        if isinstance(default, int | float):
            number = type(default)(text)
            if not 0 <= number < float("inf"):
                raise ValueError
            return number
    except (KeyError, ValueError):
        kind = {bool: "yes or no", int: "a whole number from 0", float: "a number from 0"}[type(default)]
        raise SettingsError(f"{variable(name)} must be {kind}; found {text!r}") from None
    return text


def _check(settings: Settings) -> None:
    if settings.log_format not in ("text", "json"):
        raise SettingsError(f"GRASP_LOG_FORMAT must be text or json; found {settings.log_format!r}")
    for name in (entry.name for entry in dataclasses.fields(Settings) if entry.name.endswith("_rate")):
        if not _RATE.fullmatch(getattr(settings, name)):
            raise SettingsError(
                f"{variable(name)} must be like 600/minute; found {getattr(settings, name)!r}"
            )
    if 0 < settings.compute_memory_mb < 1024:
        raise SettingsError("GRASP_COMPUTE_MEMORY_MB must be 1024 or more, or 0 for half of the machine's")
    if not settings.tabs:
        raise SettingsError("GRASP_TABS must be 1 or more: without a tab nobody sees anything")
    if settings.public_url:
        _check_url("public_url", settings.public_url)
        if "?" in settings.public_url:
            raise SettingsError("GRASP_PUBLIC_URL must end with the path; found a query")
    if settings.secret_key and len(settings.secret_key) < 32:
        raise SettingsError("GRASP_SECRET_KEY must be random text of 32 characters or more")
    _check_language_model(settings)
    _check_cluster(settings)
    _check_webhooks(settings)
    if settings.sign_in:
        _check_sign_in(settings)
        return
    for name in _MEANT_FOR_SIGN_IN:
        # Setting one of these only makes sense with sign-in, so an admin may believe that it is on.
        if getattr(settings, name) != getattr(Settings, name):
            raise SettingsError(f"{variable(name)} needs {variable('oidc_metadata_url')} too: sign-in is off")


def _check_language_model(settings: Settings) -> None:
    if not settings.lm_endpoint:
        for name in ("lm_model", "lm_key"):
            if getattr(settings, name):
                raise SettingsError(f"{variable(name)} needs {variable('lm_endpoint')} too")
        return
    _check_url("lm_endpoint", settings.lm_endpoint)
    if "?" in settings.lm_endpoint:
        raise SettingsError("GRASP_LM_ENDPOINT must end with the path; found a query")
    if not settings.lm_model:
        raise SettingsError("GRASP_LM_ENDPOINT needs GRASP_LM_MODEL too: the model's name there")
    if not (settings.lm_key.isascii() and settings.lm_key.isprintable()):
        raise SettingsError("GRASP_LM_KEY holds no key: there are characters no key has")
    if settings.lm_key and not kept_secret(settings.lm_endpoint):
        raise SettingsError("GRASP_LM_KEY needs an https GRASP_LM_ENDPOINT, except on this machine")


def _check_cluster(settings: Settings) -> None:
    tls = ("dask_ca", "dask_cert", "dask_key")
    given = [variable(name) for name in tls if getattr(settings, name)]
    if not settings.dask_address.startswith("tls://"):
        if given:
            raise SettingsError(f"{given[0]} needs a GRASP_DASK_ADDRESS that starts with tls://")
    elif missing := [variable(name) for name in tls[:2] if not getattr(settings, name)]:
        raise SettingsError(f"a GRASP_DASK_ADDRESS that starts with tls:// needs {' and '.join(missing)} too")
    if not settings.dask_address:
        return
    try:
        url = urlsplit(settings.dask_address)
        complete = url.hostname and url.port and url.netloc and url.username is None
    except ValueError:
        complete = False
    if not complete or url.scheme not in ("tcp", "tls") or url.path.strip("/") or url.query or url.fragment:
        raise SettingsError("GRASP_DASK_ADDRESS must be an address like tcp://scheduler:8786")


def _check_webhooks(settings: Settings) -> None:
    if not settings.webhook_urls:
        return
    if len(settings.webhook_secret) < 32:
        raise SettingsError("GRASP_WEBHOOK_URLS needs a GRASP_WEBHOOK_SECRET of 32 characters or more")
    for url in settings.webhook_urls:
        _check_url("webhook_urls", url)
        if not kept_secret(url):
            raise SettingsError("GRASP_WEBHOOK_URLS must be https addresses, except on this machine")


def _check_sign_in(settings: Settings) -> None:
    needed = ("oidc_client_id", "oidc_client_secret", "public_url")
    missing = [variable(name) for name in needed if not getattr(settings, name)]
    if missing:
        raise SettingsError(f"sign-in needs {' and '.join(missing)} too")
    if len(settings.cookie_secret) < 32:
        raise SettingsError("sign-in needs a GRASP_COOKIE_SECRET of 32 characters or more")
    if settings.allow_anonymous:
        raise SettingsError("GRASP_ALLOW_ANONYMOUS and sign-in exclude each other; unset one of them")
    for name in ("public_url", "oidc_metadata_url"):
        _check_url(name, getattr(settings, name))
        if not kept_secret(getattr(settings, name)):
            raise SettingsError(f"sign-in needs an https {variable(name)}, except on this machine")


def _check_url(name: str, text: str) -> None:
    problem = SettingsError(f"{variable(name)} must be a web address like https://grasp.example.org")
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError:
        raise problem from None
    odd = url.fragment or url.username is not None or set(text) & set(" \\")
    if url.scheme not in ("http", "https") or not url.hostname or odd:
        raise problem  # the address is not quoted: it may contain a password


def kept_secret(text: str) -> bool:
    """Return whether nobody on the way to this address can read along: it has https, or is this machine."""
    url = urlsplit(text)
    return url.scheme == "https" or on_this_machine(url.hostname or "")


def on_this_machine(host: str) -> bool:
    """Return whether a host's name or address is this machine's own."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
