"""Addresses: the same however they are written, and refused where programs would read them differently."""

from __future__ import annotations

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.sources.remote import parse

PREFIX = parse("https://data.example.org/annotations/")


@pytest.mark.parametrize(
    "text",
    [
        "https://data.example.org/annotations/may.csv",
        "HTTPS://Data.Example.ORG:443/annotations/may.csv",
        "https://data.example.org./annotations/may.csv",
        "https://data.example.org/%61nnotations/may.csv",
        "https://data.example.org/annotations/m%61y.csv",
    ],
)
def test_one_address_written_in_several_ways(text: str) -> None:
    address = parse(text)
    assert address.url == "https://data.example.org/annotations/may.csv"
    assert address.name == "may.csv"
    assert address.below(PREFIX)


@pytest.mark.parametrize(
    "text",
    [
        "https://data.example.org.evil/annotations/may.csv",
        "https://data.example.orgevil/annotations/may.csv",
        "https://evil/data.example.org/annotations/may.csv",
        "http://data.example.org/annotations/may.csv",
        "https://data.example.org:8443/annotations/may.csv",
        "https://data.example.org/annotations2/may.csv",
        "https://data.example.org/Annotations/may.csv",
        "https://data.example.org/may.csv",
        "https://data.example.org/",
        "s3://data.example.org/annotations/may.csv",
    ],
)
def test_what_only_looks_as_if_it_were_below(text: str) -> None:
    assert not parse(text).below(PREFIX)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("https://user:hidden@data.example.org/annotations/a.csv", "user name or password"),
        ("https://data.example.org@evil/annotations/a.csv", "user name or password"),
        ("https://data.example.org/annotations/../secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations/%2e%2e/secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations/%2E./secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations/..;/secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations/.%20/secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations/\uff0e\uff0e/secret.csv", "called '.' or '..'"),
        ("https://data.example.org/annotations//a.csv", "an empty folder"),
        ("https://data.example.org/annotations/a%2ecsv", "encoded dots"),
        ("https://data.example.org/annotations/..%2fsecret.csv", "encoded characters"),
        ("https://data.example.org/annotations/..%5csecret.csv", "encoded characters"),
        ("https://data.example.org/annotations/%252e%252e/secret.csv", "encoded characters"),
        ("https://data.example.org/annotations/%00.csv", "encoded characters"),
        ("https://data.example.org/annotations/%ff.csv", "encoded characters"),
        ("https://data.example.org/annotations\\..\\secret.csv", "a character that none may have"),
        ("https://data.example.org/annotations/a.csv\n", "a character that none may have"),
        ("https://data.example.org/annotations/a.csv?to=http://evil", "a query"),
        ("https://data.example.org/annotations/a.csv?", "a query"),
        ("https://data.example.org/annotations/a.csv#x", "a fragment"),
        ("https://data.example.org:port/a.csv", "cannot be read"),
        ("https://[::1/a.csv", "cannot be read"),
        ("https://dat\u0430.example.org/a.csv", "not the name of a host"),
        ("https://data%2eexample.org/a.csv", "not the name of a host"),
        ("https:///annotations/a.csv", "not a whole address"),
        ("//data.example.org/annotations/a.csv", "not a whole address"),
        ("annotations/a.csv", "not a whole address"),
        ("", "not a whole address"),
        ("simplecache::https://data.example.org/annotations/a.csv", "chains several protocols"),
        (
            "zip://a.csv::https://data.example.org/annotations/a.zip",
            "chains several protocols|cannot be read",
        ),
        ("https://data.example.org/annotations/a::file:///etc/passwd", "chains several protocols"),
        ("file:///etc/passwd", "not a whole address"),
        ("file://localhost/etc/passwd", "does not lead to another machine"),
        ("local://x/etc/passwd", "does not lead to another machine"),
        ("zip://a.csv/b", "does not lead to another machine"),
        ("reference://x/y", "does not lead to another machine"),
    ],
)
def test_what_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as raised:
        parse(text)
    assert "hidden" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_names_of_objects_are_taken_literally() -> None:
    """In an object store `%20` is no blank: two names, two objects."""
    assert not parse("s3://bucket/team%20x/a.csv").below(parse("s3://bucket/team x/"))
    assert parse("s3://bucket/team x/a b.csv").url == "s3://bucket/team x/a b.csv"
    assert parse("https://h/team x/ä.csv").url == "https://h/team%20x/%C3%A4.csv"
    assert parse("https://h/team x/ä.csv").name == "ä.csv"


def test_hosts_with_ports() -> None:
    assert parse("http://[::1]:8000/a.csv").url == "http://[::1]:8000/a.csv"
    assert parse("http://127.0.0.1:80/a.csv").url == "http://127.0.0.1/a.csv"
    assert parse("sftp://host:22/a.csv").url == "sftp://host:22/a.csv"
