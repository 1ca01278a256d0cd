"""Addresses: one form of each, and those that are refused."""

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.sources.remote import parse

BELOW = "https://data.example.org/annotations/"
PREFIX = parse(BELOW)


@pytest.mark.parametrize(
    "text",
    [
        f"{BELOW}may.csv",
        "HTTPS://Data.Example.ORG:443/annotations/may.csv",
        "https://data.example.org./annotations/may.csv",
        "https://data.example.org/%61nnotations/may.csv",
        f"{BELOW}m%61y.csv",
    ],
)
def test_one_address_written_in_several_ways(text: str) -> None:
    address = parse(text)
    assert address.url == f"{BELOW}may.csv"
    assert address.name == "may.csv"
    assert address.below(PREFIX)


def test_what_only_looks_as_if_it_were_below() -> None:
    for text in (
        *(
            BELOW.replace(old, new) + "may.csv"
            for old, new in (
                *((".org", ".org.evil"), (".org", ".orgevil"), ("//", "//evil/"), ("https", "http")),
                *((".org", ".org:8443"), ("annotations", "annotations2"), ("ann", "Ann"), ("https", "s3")),
            )
        ),
        *("https://data.example.org/may.csv", "https://data.example.org/"),
    ):
        assert not parse(text).below(PREFIX)


REFUSED = {
    "user name or password": [
        "https://user:hidden@data.example.org/annotations/a.csv",
        "https://data.example.org@evil/annotations/a.csv",
    ],
    "called '.' or '..'": [
        *(f"{BELOW}{folder}/secret.csv" for folder in ("..", "%2e%2e", "%2E.", "..;", ".%20", "\uff0e\uff0e"))
    ],
    "an empty folder": [f"{BELOW}/a.csv"],
    "encoded dots": [f"{BELOW}a%2ecsv"],
    "encoded characters": [
        *(f"{BELOW}{path}" for path in ("..%2fsecret.csv", "..%5csecret.csv", "%252e%252e/secret.csv")),
        *(f"{BELOW}{path}" for path in ("%00.csv", "%ff.csv")),
    ],
    "a character that none may have": [f"{BELOW[:-1]}\\..\\secret.csv", f"{BELOW}a.csv\n"],
    "a query": [f"{BELOW}a.csv?to=http://evil", f"{BELOW}a.csv?"],
    "a fragment": [f"{BELOW}a.csv#x"],
    "cannot be read": ["https://data.example.org:port/a.csv", "https://[::1/a.csv"],
    "not the name of a host": ["https://dat\u0430.example.org/a.csv", "https://data%2eexample.org/a.csv"],
    "not a whole address": [
        *("https:///annotations/a.csv", "//data.example.org/annotations/a.csv", "annotations/a.csv", ""),
        "file:///etc/passwd",
    ],
    "chains several protocols": [f"simplecache::{BELOW}a.csv", f"{BELOW}a::file:///etc/passwd"],
    "chains several protocols|cannot be read": [f"zip://a.csv::{BELOW}a.zip"],
    "does not lead to another machine": [
        *("file://localhost/etc/passwd", "local://x/etc/passwd", "zip://a.csv/b", "reference://x/y")
    ],
}


@pytest.mark.parametrize(("text", "sentence"), [(one, said) for said, own in REFUSED.items() for one in own])
def test_what_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as raised:
        parse(text)
    assert "hidden" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_names_of_objects_are_taken_literally() -> None:
    """In an object store `%20` is no blank: two names, two objects."""
    assert not parse("s3://bucket/team%20x/a.csv").below(parse("s3://bucket/team x/"))
    for text, url in (
        ("s3://bucket/team x/a b.csv", "s3://bucket/team x/a b.csv"),
        ("https://h/team x/ä.csv", "https://h/team%20x/%C3%A4.csv"),
        ("http://[::1]:8000/a.csv", "http://[::1]:8000/a.csv"),
        ("http://127.0.0.1:80/a.csv", "http://127.0.0.1/a.csv"),
        ("sftp://host:22/a.csv", "sftp://host:22/a.csv"),
    ):
        assert parse(text).url == url
    assert parse("https://h/team x/ä.csv").name == "ä.csv"
