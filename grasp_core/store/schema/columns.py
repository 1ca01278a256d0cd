"""What all tables share: kinds of texts, references, and how constraints are named."""

from __future__ import annotations

import re

from sqlalchemy import Column, ForeignKey, MetaData, String, Text, TypeDecorator

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for NUL, which PostgreSQL refuses, and half surrogates, which are no Unicode."""
    return _UNSTORABLE.sub("\ufffd", text)


class _Storable(TypeDecorator[str]):
    """A text that is made :func:`storable` on its way in."""

    impl: type[String] = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """The value of a row."""
        return str

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:
        """See :func:`storable`."""
        return None if value is None else storable(value)


class Line(_Storable):
    """A short text, made storable on its way in."""

    impl = String
    cache_ok = True


class Prose(_Storable):
    """A text of any length, made storable on its way in."""

    impl = Text
    cache_ok = True


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def project_reference(*, primary_key: bool = False) -> Column[str]:
    """The column that names a row's project, with which the row goes."""
    return Column(
        "project_id",
        Line(32),
        ForeignKey("projects.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


def run_reference(*, nullable: bool = False) -> Column[str]:
    """The column that names a row's run, with which the row goes."""
    return Column(
        "run_id",
        Line(32),
        ForeignKey("runs.id", ondelete="CASCADE"),
        primary_key=not nullable,
        nullable=nullable,
    )
