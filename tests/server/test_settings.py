import os
import subprocess
import sys
from pathlib import Path

import pytest

from grasp_core.benchmark.language_models.endpoint import checked, key_for
from grasp_core.model.errors import SettingsError
from grasp_core.model.settings import Settings, read_settings, variable
from grasp_core.store.database import database_url
from tests.server.conftest import SIGN_IN
from tests.serving import ROOT


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    file, empty = tmp_path / "cookie", tmp_path / "empty"
    file.write_text("of the file\n", encoding="utf-8")
    empty.touch()
    told = {
        "GRASP_COOKIE_SECRET_FILE": str(file),
        "GRASP_LM_KEY_FILE": str(empty),
        "GRASP_HOME_FILE": str(file),
    }
    settings = read_settings(told)
    assert (settings.cookie_secret, settings.lm_key, settings.home) == ("of the file", "", "")
    with pytest.raises(SettingsError, match="GRASP_COOKIE_SECRET_FILE exclude each other") as both:
        read_settings({**told, "GRASP_COOKIE_SECRET": "of the environment"})
    file.write_bytes(b"\xff")
    for place in (file, tmp_path, tmp_path / "missing"):
        with pytest.raises(SettingsError, match="GRASP_COOKIE_SECRET_FILE must name a file of text"):
            read_settings({"GRASP_COOKIE_SECRET_FILE": str(place)})
    assert "of the file" not in str(both.value)
    assert "of the environment" not in str(both.value)


def test_the_database_s_password_may_stand_alone() -> None:
    url = "postgresql://grasp@database:5432/grasp"
    settings = Settings(database_url=url, database_password="p@ss:/word")
    assert database_url(settings).password == "p@ss:/word"
    assert database_url(settings).host == "database"
    for other in ("postgresql://grasp:other@database/grasp", ""):
        with pytest.raises(SettingsError, match="GRASP_DATABASE_PASSWORD"):
            database_url(Settings(database_url=other, database_password="p"))


def environment(**changes: str) -> dict[str, str]:
    return {variable(name): value for name, value in {**SIGN_IN, **changes}.items()}


def test_public_url_gives_origin_and_path() -> None:
    settings = read_settings(environment(public_url="https://lab.example:8443/grasp/"))
    assert settings.sign_in
    assert settings.public_url == "https://lab.example:8443/grasp"
    assert settings.origin == "https://lab.example:8443"
    assert settings.base_path == "/grasp"
    assert settings.https
    nothing = read_settings({})
    assert (nothing.origin, nothing.base_path, nothing.https, nothing.sign_in) == ("", "", False, False)


@pytest.mark.parametrize("url", ["http://localhost:8501", "http://127.0.0.1:8501", "http://[::1]:8501"])
def test_sign_in_without_https_on_this_machine(url: str) -> None:
    assert read_settings(environment(public_url=url)).origin == url


MODEL = {"lm_endpoint": "https://models.example/v1", "lm_model": "small", "lm_key": "hidden"}
BASES = {"nothing": {}, "sign-in": SIGN_IN, "model": MODEL, "both": {**SIGN_IN, **MODEL}}
REFUSED: dict[tuple[str, ...], list[tuple[dict[str, str], str]]] = {
    ("nothing",): [
        ({"allowed_domains": "lab.example"}, "sign-in is off"),
        ({"admins": "lab.example"}, "sign-in is off"),
        ({"dask_address": "scheduler:8786"}, "must be an address like tcp://scheduler:8786"),
        ({"dask_address": "tcp://scheduler"}, "GRASP_DASK_ADDRESS must be an address"),
        ({"dask_address": "tcp://scheduler:port"}, "GRASP_DASK_ADDRESS must be an address"),
        ({"dask_address": "tcp://user:hidden@scheduler:8786"}, "GRASP_DASK_ADDRESS must be an address"),
        ({"dask_address": "http://scheduler:8786"}, "GRASP_DASK_ADDRESS must be an address"),
        ({"dask_address": "tls://scheduler:8786"}, "needs GRASP_DASK_CA and GRASP_DASK_CERT too"),
        ({"dask_address": "tls://scheduler:8786", "dask_ca": "ca.pem"}, "needs GRASP_DASK_CERT too"),
        ({"dask_address": "tcp://scheduler:8786", "dask_ca": "ca.pem"}, "GRASP_DASK_CA needs a .* tls://"),
        ({"dask_key": "key.pem"}, "GRASP_DASK_KEY needs a GRASP_DASK_ADDRESS that starts with tls://"),
    ],
    ("sign-in",): [
        ({"oidc_client_id": ""}, "sign-in needs GRASP_OIDC_CLIENT_ID too"),
        ({"oidc_client_secret": "", "public_url": ""}, "GRASP_OIDC_CLIENT_SECRET and GRASP_PUBLIC_URL"),
        ({"cookie_secret": "short secret"}, "GRASP_COOKIE_SECRET of 32 characters"),
        ({"allow_anonymous": "1"}, "exclude each other"),
        ({"public_url": "http://grasp.example"}, "https GRASP_PUBLIC_URL, except on this machine"),
        ({"oidc_metadata_url": "http://id.example"}, "https GRASP_OIDC_METADATA_URL"),
        ({"public_url": "grasp.example"}, "GRASP_PUBLIC_URL must be a web address"),
        ({"public_url": "https://user:hidden@grasp.example"}, "GRASP_PUBLIC_URL must be a web address"),
        ({"public_url": "https://grasp.example:x"}, "GRASP_PUBLIC_URL must be a web address"),
        ({"public_url": "https://grasp.example/#x"}, "GRASP_PUBLIC_URL must be a web address"),
        ({"public_url": "https://grasp.example/?x=1"}, "GRASP_PUBLIC_URL must end with the path"),
        ({"oidc_metadata_url": ""}, "GRASP_OIDC_CLIENT_ID needs GRASP_OIDC_METADATA_URL too"),
    ],
    ("model", "both"): [
        ({"lm_endpoint": ""}, "GRASP_LM_MODEL needs GRASP_LM_ENDPOINT too"),
        ({"lm_endpoint": "", "lm_model": ""}, "GRASP_LM_KEY needs GRASP_LM_ENDPOINT too"),
        ({"lm_model": ""}, "GRASP_LM_ENDPOINT needs GRASP_LM_MODEL too"),
        ({"lm_endpoint": "models.example"}, "GRASP_LM_ENDPOINT must be a web address"),
        ({"lm_endpoint": "https://user:hidden@models.example/v1"}, "GRASP_LM_ENDPOINT must be a web address"),
        ({"lm_endpoint": "https://models.example/v1?key=hidden"}, "GRASP_LM_ENDPOINT must end with the path"),
        ({"lm_endpoint": "http://models.example/v1"}, "GRASP_LM_KEY needs an https GRASP_LM_ENDPOINT"),
        ({"lm_endpoint": "HTTP://10.0.0.7:8000/v1"}, "GRASP_LM_KEY needs an https GRASP_LM_ENDPOINT"),
        ({"lm_key": "hidden\nhidden"}, "GRASP_LM_KEY holds no key"),
    ],
}
"""What is refused, and how, changed from each of some settings that are taken."""


@pytest.mark.parametrize(
    ("base", "changes", "sentence"),
    [(base, *one) for bases, refused in REFUSED.items() for base in bases for one in refused],
)
def test_what_does_not_go_together_is_one_sentence(base: str, changes: dict[str, str], sentence: str) -> None:
    given = {variable(name): value for name, value in {**BASES[base], **changes}.items()}
    with pytest.raises(SettingsError, match=sentence) as error:
        read_settings(given)
    for secret in (SIGN_IN["oidc_client_secret"], SIGN_IN["cookie_secret"], "short secret", "hidden"):
        assert secret not in str(error.value)


def test_addresses_keep_their_case_and_people_do_not() -> None:
    settings = read_settings(
        environment(data_urls="https://data.example/Team/, s3://Bucket/x/,", admins="Ann@Lab.Example")
    )
    assert settings.data_urls == ("https://data.example/Team/", "s3://Bucket/x/")
    assert settings.admins == ("ann@lab.example",)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://models.example/v1", "hidden"),
        ("http://localhost:8000/v1", "hidden"),
        ("http://127.0.0.2:8000/v1", "hidden"),
        ("http://[::1]:8000/v1", "hidden"),
        ("http://models.example/v1", ""),
    ],
)
def test_a_key_goes_where_the_endpoint_itself_would_send_it(url: str, key: str, monkeypatch) -> None:
    settings = read_settings({"GRASP_LM_ENDPOINT": url, "GRASP_LM_MODEL": "Small/Model", "GRASP_LM_KEY": key})
    assert (settings.lm_endpoint, settings.lm_model, settings.lm_key) == (url, "Small/Model", key)
    monkeypatch.setenv("GRASP_LM_KEY", key)
    assert checked(url)
    assert key_for("GRASP_LM_KEY" if key else None, url) == (key or "unused")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        *(
            pytest.param({name: value}, f"grasp: {name}{told}", marks=pytest.mark.long)
            for name, value, told in (
                ("GRASP_WORKERS", "many", " must be a whole number from 0; found 'many'"),
                ("GRASP_DATABASE_URL", "mysql://u:hidden@db/x", ""),
                ("GRASP_DATA_URLS", "https://u:hidden@data.example/", ": the address holds"),
                ("GRASP_DATA_DIR", "/no/such/folder", ": /no/such/folder is not a folder"),
            )
        ),
        (
            {**environment(), "STREAMLIT_SERVER_BASE_URL_PATH": "grasp"},
            "grasp: sign-in needs the same path in GRASP_PUBLIC_URL (/) and in "
            "STREAMLIT_SERVER_BASE_URL_PATH (/grasp)",
        ),
    ],
)
def test_the_server_does_not_start_with_wrong_settings(changes, sentence, tmp_path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"],
        cwd=ROOT,
        env={**os.environ, "GRASP_HOME": str(tmp_path), **changes},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1].startswith(sentence)
    assert "Traceback" not in ended.stderr
    assert "hidden" not in ended.stderr + ended.stdout
