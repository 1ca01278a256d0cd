"""What compose.yaml promises, read from the file as it is after its variables are filled in."""

import re
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import ruamel.yaml
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from grasp_core.model.settings import Settings, read_settings, variable
from tests.serving import ROOT


def filled_in(value: Any, environment: dict[str, str]) -> Any:
    """The value with each ``${NAME}``, also with ``:-default``, ``:+text`` or ``:?message``, replaced."""
    if isinstance(value, dict):
        return {name: filled_in(inner, environment) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled_in(inner, environment) for inner in value]

    def replaced(found: re.Match[str]) -> str:
        name, operator, rest = found.groups()
        given = environment.get(name, "")
        if operator == ":+":
            return rest if given else ""
        assert given or operator != ":?", found[0]
        return given or rest or ""

    while isinstance(value, str) and "${" in value:  # the innermost first: one may stand in another's default
        value = re.sub(r"\$\{(\w+)(:[-+?])?([^${}]*)\}", replaced, value)
    return value


def composed(**environment: str) -> dict[str, Any]:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    filled: dict[str, Any] = filled_in(ruamel.yaml.YAML(typ="safe", pure=True).load(text), environment)
    return filled


SERVICES = composed()["services"]
APPS = ("app", "app-2")
SECRETS = {
    variable(field.name): field.name
    for field in fields(Settings)
    if field.metadata["secret"] and field.name != "database_url"  # its password is another setting
}
"""Secret settings, and the files that hold them."""
CLUSTER = ("scheduler", "worker")


def settings_of(**env_file: str) -> Settings:
    """The settings of a server with this ``.env``, but for secrets, whose files are in containers alone."""
    environment = {**env_file, **composed(**env_file)["services"]["app"]["environment"]}
    return read_settings({name: value for name, value in environment.items() if not name.endswith("_FILE")})


def test_the_file_follows_the_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run(
        [*command, "compose.yaml"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_few_rights_and_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert not service.get("privileged")
    assert service["restart"] == "unless-stopped"
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    for mounted in service["volumes"]:
        assert mounted.split(":")[0] in composed()["volumes"]  # nothing of the host's


def dockerfile(service: dict[str, Any]) -> str:
    """What a service's image is built from."""
    build = service["build"]
    return (ROOT / build["context"] / build.get("dockerfile", "Dockerfile")).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_runs_as_root(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        users = re.findall(r"^USER (\S+)$", dockerfile(service), re.MULTILINE)
        assert int(users[-1].split(":")[0]) > 0
    else:
        assert int(service["user"].split(":")[0]) > 0


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_says_how_it_is(name: str) -> None:
    service = SERVICES[name]
    if "build" not in service:
        assert service["healthcheck"]["test"][0] == "CMD"
        return
    assert "HEALTHCHECK" in dockerfile(service)


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert composed()["networks"]["back"] == {"internal": True}
    assert SERVICES["database"]["networks"] == ["back"]
    assert set(SERVICES["proxy"]["networks"]) == {"front"}
    for name in APPS:
        assert set(SERVICES[name]["networks"]) == {"front", "back", "compute"}


def test_the_cluster_is_reached_by_the_servers_alone_and_knows_no_secret() -> None:
    assert composed()["networks"]["compute"] == {"internal": True}
    inside = {name for name, service in SERVICES.items() if "compute" in service["networks"]}
    assert inside == {*APPS, *CLUSTER}
    for name in CLUSTER:
        assert SERVICES[name]["profiles"] == ["cluster"]
        assert SERVICES[name]["networks"] == ["compute"]
        assert SERVICES[name]["image"] == SERVICES["app"]["image"]  # others' versions are refused
        assert SERVICES[name].keys().isdisjoint({"environment", "env_file"})


def test_the_cluster_finds_itself_and_the_servers_find_it() -> None:
    env_file = {
        "COMPOSE_PROFILES": "cluster",
        "GRASP_UPSTREAMS": "app:8501",
        "GRASP_DASK_ADDRESS": "tcp://scheduler:8786",
        "GRASP_CLUSTER_CPUS": "3",
    }
    with_cluster = composed(**env_file)["services"]
    address = settings_of(**env_file).dask_address
    assert address in with_cluster["worker"]["command"]
    assert "--nworkers=3" in with_cluster["worker"]["command"]
    assert with_cluster["worker"]["deploy"]["resources"]["limits"]["cpus"] == "3"
    port = address.rpartition(":")[2]
    assert port in with_cluster["scheduler"]["command"]
    assert all(port in with_cluster[name]["healthcheck"]["test"][-1] for name in CLUSTER)
    assert with_cluster["proxy"]["environment"]["GRASP_UPSTREAMS"] == "app:8501"


def test_servers_believe_the_proxy_and_nobody_else() -> None:
    trusted = SERVICES["app"]["environment"]["FORWARDED_ALLOW_IPS"]
    assert trusted == SERVICES["proxy"]["networks"]["front"]["ipv4_address"]
    hosts = ProxyHeadersMiddleware(lambda *_: None, trusted).trusted_hosts  # type: ignore[arg-type, return-value]
    assert trusted in hosts
    assert all(other not in hosts for other in ("172.30.250.1", "172.30.250.130", "127.0.0.1", "0.0.0.0"))


def test_the_second_server_comes_with_its_profile() -> None:
    assert SERVICES["app-2"]["profiles"] == ["replicas"]
    assert SERVICES["proxy"]["environment"]["GRASP_UPSTREAMS"].split() == ["app:8501"]
    with_profile = composed(COMPOSE_PROFILES="replicas")["services"]
    assert with_profile["proxy"]["environment"]["GRASP_UPSTREAMS"].split() == ["app:8501", "app-2:8501"]
    same = ("image", "env_file", "environment", "networks", "volumes")
    assert all(SERVICES["app"][part] == SERVICES["app-2"][part] for part in same)


def test_limits_and_paths_are_the_same_on_both_sides() -> None:
    services = composed(GRASP_UPLOAD_MB="70", GRASP_BASE_PATH="/grasp", GRASP_SITE="grasp.example.org")[
        "services"
    ]
    app, proxy = services["app"]["environment"], services["proxy"]["environment"]
    assert app["STREAMLIT_SERVER_MAX_UPLOAD_SIZE"] == proxy["GRASP_UPLOAD_MB"] == "70"
    assert app["STREAMLIT_SERVER_BASE_URL_PATH"] == proxy["GRASP_BASE_PATH"] == "/grasp"
    assert app["GRASP_PUBLIC_URL"] == f"https://{proxy['GRASP_SITE']}/grasp"


def test_servers_take_every_setting_from_one_file_and_start_without_it() -> None:
    assert all(SERVICES[name]["env_file"] == [{"path": ".env", "required": False}] for name in APPS)
    decided = {"home", "database_url", "workers", "public_url", "log_format"}
    own = {variable(name) for name in decided} | {f"{name}_FILE" for name in SECRETS}
    assert {name for name in SERVICES["app"]["environment"] if name.startswith("GRASP_")} == own
    given = settings_of(GRASP_QUEUE_LIMIT="3", GRASP_HOME="/tmp", GRASP_DATABASE_URL="sqlite://")
    assert given == replace(settings_of(), queue_limit=3)
    for field in fields(Settings):
        if field.name not in decided:
            assert getattr(settings_of(), field.name) == field.default, field.name


def test_secrets_are_files_and_in_no_environment() -> None:
    assert {"secrets/", ".env"} <= set((ROOT / ".gitignore").read_text(encoding="utf-8").splitlines())
    assert composed()["secrets"] == {name: {"file": f"./secrets/{name}"} for name in SECRETS.values()}
    for name in APPS:
        assert set(SERVICES[name]["secrets"]) == set(SECRETS.values())
        environment = SERVICES[name]["environment"]
        for setting, secret in SECRETS.items():
            assert environment[f"{setting}_FILE"] == f"/run/secrets/{secret}"
    database = SERVICES["database"]
    assert database["secrets"] == ["database_password"]
    assert database["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/secrets/database_password"
    assert all(SERVICES[name].keys().isdisjoint({"secrets", "env_file"}) for name in ("proxy", *CLUSTER))
    known = "|".join([*SECRETS, "PASSWORD", "SECRET", "TOKEN", "KEY"])
    for service in SERVICES.values():
        for variable_name, value in service.get("environment", {}).items():
            named = re.search(rf"({known})$", variable_name)
            assert not named or variable_name == "GRASP_DASK_KEY", variable_name  # a file of the cluster's
            assert not re.search(r"://[^/@]+:[^/@]+@", str(value)), variable_name
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert not re.search(rf"^#?({'|'.join(SECRETS)})=", example, re.MULTILINE)


def test_secrets_are_made_once_and_taken_over(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("secrets.sh", "lib.sh"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools" / name)
    (tmp_path / ".env").write_text(
        "GRASP_SITE=x\nGRASP_OIDC_CLIENT_SECRET='of the provider'\n", encoding="utf-8"
    )
    made = []
    for _ in range(2):
        told = subprocess.run(
            ["bash", "tools/secrets.sh"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        made.append({file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()})
        assert "of the provider" not in told.stdout + told.stderr
    assert made[0] == made[1]
    assert set(made[0]) == set(SECRETS.values())
    assert made[0].pop("oidc_client_secret") == "of the provider"
    assert {made[0].pop(name) for name in ("lm_key", "backup_key", "secret_key")} == {""}
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in made[0].values())
    assert len(set(made[0].values())) == len(made[0])
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o644 for file in (tmp_path / "secrets").iterdir())


def test_every_variable_of_the_example_is_used() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    text += " ".join(variable(field.name) for field in fields(Settings))
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if found := re.match(r"#?([A-Z_]+)=", line):
            assert found[1] in text, found[1]
