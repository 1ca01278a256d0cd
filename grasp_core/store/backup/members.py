"""Members of a backup's archive: in the open, or sealed by a key and named in a signed manifest."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import time
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any, cast

from sqlalchemy import Table
from sqlalchemy.exc import SQLAlchemyError

from grasp_core.errors import DataError
from grasp_core.store.backup.sealed import BackupKey

MANIFEST, SIGNATURE, _SEALED = "manifest.json", "signature", ".age"
MAX_MANIFEST_BYTES = 2**16
MAX_SIGNATURE_BYTES = 2**8
_PART_BYTES = 2**20
UNSIGNED = b"0" * 64
"""The comment of an archive that is going to be signed."""
MAX_RATIO = 200
"""An archive that would grow by more is none that GRASP wrote."""


def member_name(table: Table, sealed: bool) -> str:
    """The name of a table's member."""
    return f"{table.name}.jsonl{_SEALED if sealed else ''}"


@contextlib.contextmanager
def added(
    archive: zipfile.ZipFile, table: Table, key: BackupKey | None, sealed: hashlib._Hash
) -> Iterator[IO[bytes]]:
    """A member for a table's lines; with a key, `sealed` digests what they become."""
    entry = zipfile.ZipInfo(member_name(table, key is not None), time.localtime()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED if key is None else zipfile.ZIP_STORED
    with archive.open(entry, "w", force_zip64=True) as member:
        if key is None:
            yield member
        else:
            with key.sealing(cast(IO[bytes], _Digesting(member, sealed))) as opened:
                yield opened


class _Digesting:
    """A file that is written to, whose content is digested on its way."""

    def __init__(self, file: IO[bytes], digest: hashlib._Hash) -> None:
        self._file = file
        self._digest = digest

    def write(self, content: bytes) -> int:
        self._digest.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()


def archive_of(path: Path, file: IO[bytes], known: Collection[list[str]]) -> zipfile.ZipFile:
    """The archive, once it is known to hold what a backup holds and to stay within bounds."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise DataError(f"{path} is no backup of GRASP") from None
    members = archive.infolist()
    names = sorted(member.filename for member in members)
    if names not in known:
        raise DataError(f"{path} is no backup of GRASP, or of another version: it holds other files")
    largest = max(MAX_RATIO * path.stat().st_size, 2**20)
    if sum(member.file_size for member in members) > largest:
        raise DataError(f"{path} is no backup of GRASP: it would grow more than {MAX_RATIO} times")
    return archive


def check_signature(path: Path, archive: zipfile.ZipFile, key: BackupKey | None) -> None:
    """Refuse what somebody without the key may have written, before any of it is read."""
    sealed = SIGNATURE in archive.namelist()
    if key is None:
        if sealed:
            raise DataError(
                f"{path} is encrypted: restore it with the key it was made with, GRASP_BACKUP_KEY."
            )
        return
    if not sealed:
        raise DataError(
            f"{path} is neither encrypted nor signed, so anybody may have changed it; if you know where it "
            "was kept, --unencrypted restores it, with its share links withdrawn"
        )
    with archive.open(MANIFEST) as manifest, archive.open(SIGNATURE) as signature:
        if not key.signed(manifest.read(MAX_MANIFEST_BYTES), signature.read(MAX_SIGNATURE_BYTES)):
            raise DataError(
                f"{path} was changed, or made with another key than GRASP_BACKUP_KEY; nothing was restored"
            )


def check_whole(path: Path, archive: zipfile.ZipFile, key: BackupKey) -> None:
    """Refuse a file of which anything at all was changed, also what no reader looks at.

    Raises
    ------
    DataError
    """
    length = path.stat().st_size - len(archive.comment)
    with path.open("rb") as file:
        whole = key.sign_whole(file, length)
    if not hmac.compare_digest(whole, archive.comment):
        raise damaged(path, "it is not what was written")


def sign_whole(path: Path, key: BackupKey) -> None:
    """Put the signature of all that is before it into an archive's comment."""
    with path.open("r+b") as file:
        length = file.seek(-len(UNSIGNED), os.SEEK_END)
        whole = key.sign_whole(file, length)
        file.seek(length)
        file.write(whole)


def check_sealed(
    path: Path, archive: zipfile.ZipFile, tables: Collection[Table], expected: dict[str, Any]
) -> None:
    """Refuse streams that are not those of the signed manifest, before anything is read from them."""
    for table in tables:
        with archive.open(member_name(table, sealed=True)) as member:
            digest = hashlib.sha256()
            while part := member.read(_PART_BYTES):
                digest.update(part)
            if digest.hexdigest() != expected.get(table.name, {}).get("sealed"):
                raise damaged(path, f"{table.name} is not what was written")


@contextlib.contextmanager
def opened(archive: zipfile.ZipFile, table: Table, key: BackupKey | None) -> Iterator[IO[bytes]]:
    """A member's lines."""
    with archive.open(member_name(table, key is not None)) as member:
        if key is None:
            yield member
        else:
            with key.opening(member) as lines:
                yield lines


def parsed(path: Path, text: bytes) -> dict[str, Any]:
    """A JSON object.

    Raises
    ------
    DataError
        If it is none.
    """
    try:
        plain = json.loads(text.decode("ascii"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict):
        raise damaged(path, "a line is no JSON object")
    return plain


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def damaged(path: Path, where: str) -> DataError:
    """The sentence for a file that is not what was written."""
    return DataError(f"{path} is damaged, so nothing was restored: {where}")


@contextlib.contextmanager
def rows_refused(path: Path) -> Iterator[None]:
    """Rows that contradict each other are the file's fault."""
    try:
        yield
    except (SQLAlchemyError, UnicodeEncodeError) as error:
        raise damaged(path, f"the database refuses its rows, {type(error).__name__}") from None
