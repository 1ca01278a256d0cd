"""Sources as people write them: one form of each, and no secret in any."""

from __future__ import annotations

import json

import pytest

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.json_values import from_json, to_json
from grasp_core.reading.connectors.hosts import hosts_of
from grasp_core.reading.connectors.source import Source, is_source, make, parse


@pytest.mark.parametrize(
    ("written", "form", "shown"),
    [
        (
            " label-studio:HTTPS://Labels.Example.org:443/team/projects/007/data ",
            "label-studio:https://labels.example.org/team/projects/7",
            "project 7 at labels.example.org",
        ),
        (
            "argilla:https://argilla.example:6900/my%20lab/votes",
            "argilla:https://argilla.example:6900/my%20lab/votes",
            "data set my lab/votes at argilla.example:6900",
        ),
        (
            "argilla:https://argilla.example/dataset/6f9619ff/annotation-mode",
            "argilla:https://argilla.example/dataset/6f9619ff",
            "data set dataset/6f9619ff at argilla.example",
        ),
        (
            "hf:https://huggingface.co/datasets/lab/votes@v1.2?split=train&config=big",
            "hf:lab/votes@v1.2?config=big&split=train",
            "data set lab/votes@v1.2, big, train",
        ),
        (
            "sql:postgresql+psycopg://ann@DB.internal:5432/labels?table=public.votes",
            "sql:postgresql://ann@db.internal/labels?table=public.votes",
            "table public.votes of labels at db.internal",
        ),
        (
            "sql:sqlite:////data/votes.db?query=select%20*%20from%20votes",
            "sql:sqlite:////data/votes.db?query=select%20%2A%20from%20votes",
            "a query of votes.db",
        ),
    ],
)
def test_a_source_has_one_form(written: str, form: str, shown: str) -> None:
    source = parse(written)
    assert (str(source), source.shown) == (form, shown)
    assert parse(form) == source
    assert from_json(json.loads(json.dumps(to_json(source))), Source) == source
    assert is_source(form)


@pytest.mark.parametrize(
    "place",
    ["votes.csv", "https://host/votes.csv", "hf://datasets/lab/votes", "C:\\votes.csv", "sqlite:///x.db"],
)
def test_paths_and_addresses_are_no_sources(place: str) -> None:
    assert not is_source(place)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("labelstudio:https://host/projects/3", "a source begins with"),
        ("label-studio:https://host/user/3", "is no project's; write it like label-studio:https://host/proj"),
        ("label-studio:ftp://host/projects/3", "does not begin with https://"),
        ("label-studio:https://ann:hidden@host/projects/3", "holds a password, which is given apart"),
        ("label-studio:https://ann@host/projects/3", "holds a user name or password"),
        ("label-studio:https://ho st/projects/3", "names no host"),
        ("label-studio:https://host:x/projects/3", "cannot be read"),
        ("label-studio:https://host/projects/3?token=hidden", "'token' is no option"),
        ("label-studio:https://host/projects/3#hidden", "'#'"),
        ("label-studio:https://host/../projects/3", "a folder that no page has"),
        ("argilla:https://host/votes", "names no workspace"),
        ("hf:../votes", "is no name of a data set"),
        ("hf:/etc/passwd", "is no name of a data set"),
        ("hf:lab/votes@../../x", "is no name of a data set"),
        ("sql:postgresql://host/labels", "either a table or a query"),
        ("sql:postgresql://host/labels?table=a&query=b", "either a table or a query"),
        ("sql:postgresql://host/labels?table=a&host=/var/run", "'host' is no option"),
        ("sql:postgresql://ann:hidden@host/labels?table=a", "holds a password"),
        ("sql:postgresql://one,two/labels?table=a", "names no host"),
        ("sql:postgresql:///labels?table=a", "names no host"),
        ("sql:postgresql://host/a%20host=b?table=a", "names no database"),
        ("sql:mysql://host/labels?table=a", "'mysql' is not read; PostgreSQL and SQLite are"),
        ("sql:sqlite://host/file.db?table=a", "sqlite:///folder/file.db"),
        ("sql:sqlite:///?table=a", "sqlite:///folder/file.db"),
        ("hf:lab/\x00votes", "characters that none has"),
        ("hf:" + "a" * 30_000, "too long"),
    ],
)
def test_what_is_none_is_refused_and_passwords_are_not_repeated(written: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as raised:
        parse(written)
    assert "hidden" not in str(raised.value)


def test_options_without_a_value_are_left_out() -> None:
    assert make("hf", "lab/votes", {"config": " ", "split": "train"}) == parse("hf:lab/votes?split=train")


# Hosts

NAMED = hosts_of(
    ["labels.example.org", "http://studio:8080", "db.internal:5433", "[::1]:5432"], own_machine=False
)


@pytest.mark.parametrize(
    "source",
    [
        "label-studio:https://labels.example.org/projects/3",
        "label-studio:http://studio:8080/projects/3",
        "sql:postgresql://db.internal:5433/labels?table=a",
        "sql:postgresql://labels.example.org/labels?table=a",
        "sql:postgresql://[::1]/labels?table=a",
    ],
)
def test_hosts_that_are_named_may_be_asked(source: str) -> None:
    place = NAMED.check(parse(source))
    assert place is not None
    assert place.port


@pytest.mark.parametrize(
    "host",
    [
        *("labels.example.org:8443", "example.org", "x.labels.example.org", "labels.example.org.evil"),
        *("127.0.0.1", "169.254.169.254", "[::1]:8080", "localhost", "studio", "0x7f.1", "2130706433"),
    ],
)
def test_no_others_are_asked(host: str) -> None:
    with pytest.raises(DataError, match=r"is not a host that this server may ask; it may ask labels\.ex"):
        NAMED.check(parse(f"label-studio:https://{host}/projects/3"))
    with pytest.raises(DataError, match="it may ask none"):
        hosts_of([], own_machine=False).check(parse(f"label-studio:https://{host}/projects/3"))
    assert hosts_of([], own_machine=True).check(parse(f"label-studio:https://{host}/projects/3"))


def test_a_token_is_not_sent_in_the_clear() -> None:
    for hosts in (NAMED, hosts_of([], own_machine=True)):
        with pytest.raises(DataError, match="is asked without encryption"):
            hosts.check(parse("label-studio:http://labels.example.org/projects/3"))
    assert hosts_of([], own_machine=True).check(parse("label-studio:http://127.0.0.1:8080/projects/3"))


def test_the_hub_is_a_host_too() -> None:
    source = parse("hf:lab/votes")
    with pytest.raises(DataError, match=r"huggingface\.co:443 is not a host"):
        NAMED.check(source)
    assert NAMED.check(source, "https://labels.example.org")


@pytest.mark.parametrize("entry", ["https://host", "host/path", "host:99999", "*", "user@host", ""])
def test_entries_that_are_no_hosts(entry: str) -> None:
    with pytest.raises(SettingsError, match="GRASP_SOURCE_HOSTS lists hosts like"):
        hosts_of([entry], own_machine=False)
