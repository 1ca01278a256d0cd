"""SQL: rows of a table or query of PostgreSQL or SQLite, read only, as Parquet."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, quoted
from grasp_core.reading.connectors.source import FetchJob

_BATCH = 10_000
_CONNECT_S = 30
_ADMITTED = frozenset(
    (sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)
_READS = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*\(*\s*(?:select|with|values)\b", re.I | re.S)
_NOT_READING = ("0A000", "25001", "25006")
"""PostgreSQL's codes for actions that a reading cursor or transaction refuses."""
_ONLY = "a query is one SELECT, which may begin with WITH"


def fetch(job: FetchJob) -> str:
    """Write the rows into a file and return its name."""
    try:
        with _connected(job) as connection:
            name, query = _asked(connection, job)
            asking = connection.execution_options(stream_results=True, no_parameters=True)
            with closing(asking.exec_driver_sql(query)) as result:
                columns = list(result.keys())
                twice = next((column for column in columns if columns.count(column) > 1), None)
                if twice is not None:
                    raise DataError(
                        f"the query gives two columns called {quoted(twice)}; name them apart with AS"
                    )
                schema = pa.schema([(column, pa.string()) for column in columns])
                count = 0
                with pq.ParquetWriter(job.folder / name, schema) as file:
                    while True:
                        _limit(connection, job)
                        rows = result.fetchmany(_BATCH)
                        if not rows:
                            break
                        arrays = [
                            pa.array(map(_text, cells), pa.string()) for cells in zip(*rows, strict=True)
                        ]
                        file.write_table(pa.Table.from_arrays(arrays, schema=schema))
                        count += len(rows)
                        job.told(f"{count:,} rows")
                if not count:
                    raise DataError(f"{_what(job)} has no rows, so there is nothing to read yet")
    except DBAPIError as error:
        raise DataError(_why(error, job)) from None
    return name


def _limit(connection: sa.Connection, job: FetchJob) -> None:
    """Set the time limit before each batch: the query may have lifted it, and the next statement needs it."""
    if not job.source.in_file:
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(f"SET statement_timeout = {_milliseconds(job)}")


def _text(value: Any) -> str | None:
    """Return a value as the text of a cell."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return str(value)


# The query


def _asked(connection: sa.Connection, job: FetchJob) -> tuple[str, str]:
    """Return a file's name, and the query for it."""
    query = job.source.option("query").rstrip().removesuffix(";")
    if not query:
        query = _of_table(connection, job)
    elif not _READS.match(query):
        raise DataError(f"{_ONLY}; found {quoted(query)}")
    if job.source.in_file:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)  # noqa: S101 - the driver that the address names
        driver.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_OK if action in _ADMITTED else sqlite3.SQLITE_DENY
        )
    table = re.sub(r"[^\w.-]", "_", job.source.option("table")) or "query"
    return f"{table}.parquet", query


def _of_table(connection: sa.Connection, job: FetchJob) -> str:
    """Return a query for a whole table in the order of its key: the same rows give the same file."""
    schema, _, table = job.source.option("table").rpartition(".")
    inspector = sa.inspect(connection)
    if not inspector.has_table(table, schema or None):
        there = inspector.get_table_names(schema or None) + inspector.get_view_names(schema or None)
        have = f"it has {listed(sorted(there))}" if there else "it shows none"
        raise DataError(f"{_database(job)} has no table {quoted(job.source.option('table'))}; {have}")
    name = connection.dialect.identifier_preparer.quote_identifier
    key = inspector.get_pk_constraint(table, schema or None)["constrained_columns"]
    order = f" ORDER BY {', '.join(map(name, key))}" if key else ""
    return f"SELECT * FROM {f'{name(schema)}.' if schema else ''}{name(table)}{order}"  # noqa: S608 - quoted


# Connections that cannot write


def _connected(job: FetchJob) -> sa.Connection:
    if job.source.in_file:
        url: str | sa.URL = f"sqlite:///file:{quote(job.file)}?mode=ro&uri=true"
        return sa.create_engine(url, poolclass=sa.NullPool).connect()
    parts = urlsplit(job.source.address)
    url = sa.URL.create(
        "postgresql+psycopg",
        username=unquote(parts.username) if parts.username else None,
        password=job.token or None,
        host=parts.hostname,
        port=parts.port,
        database=unquote(parts.path[1:]),
    )
    options = f"-c default_transaction_read_only=on -c statement_timeout={_milliseconds(job)}"
    limits = {"connect_timeout": _CONNECT_S, "options": options}
    connection = sa.create_engine(url, poolclass=sa.NullPool, connect_args=limits).connect()
    return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _milliseconds(job: FetchJob) -> int:
    return int(job.seconds * 900)  # before it is cancelled from outside


# Reasons of failures


def _why(error: DBAPIError, job: FetchJob) -> str:
    """Return the reason of an error, in the database's words only if they cannot quote cells."""
    state, said = getattr(error.orig, "sqlstate", None) or "", str(error.orig).strip().split("\n")[0]
    if job.source.in_file:
        if "not authorized" in said or "prohibited" in said or "one statement" in said:
            return _ONLY
        if "not a database" in said or "unable to open" in said:
            return f"{_database(job)} is no SQLite database that can be opened; check the path"
        return f"{_database(job)}: {said}"
    refused = ("password authentication", "password supplied", "role ", "pg_hba")
    if state.startswith("28") or (not state and any(words in said for words in refused)):
        return f"{job.host} does not accept this user with this password; check both"
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return f"{job.host} has no {_database(job)}; check its name"
    if state == "57014":
        return f"{_what(job)} took longer than {job.seconds:,.0f} s; ask for less"
    if state in _NOT_READING or (state == "42601" and "cannot insert multiple" in said):
        return f"{_database(job)} is only read here: {_ONLY}"
    if state == "42501":
        return f"this user may not read {_what(job)}; ask whoever runs {job.host} for the right to"
    if state.startswith("42"):
        return f"{_database(job)} cannot do this query: {said}"
    if not state:
        return f"{job.host}: {_connection(said)}; check the address, and whether PostgreSQL runs there"
    return f"{_database(job)} ended the query with its error {state}"


def _connection(said: str) -> str:
    if "translate host name" in said or "resolve host" in said:
        return "there is no host of this name"
    if "timeout" in said:
        return f"no answer within {_CONNECT_S} s"
    if "certificate" in said or "SSL" in said:
        return "its certificate or encryption does not fit"
    return "there is no connection to it, or it broke"


def _database(job: FetchJob) -> str:
    return f"database {quoted(unquote(job.source.address.rpartition('/')[2]))}"


def _what(job: FetchJob) -> str:
    table = job.source.option("table")
    return f"table {quoted(table)}" if table else "the query"
