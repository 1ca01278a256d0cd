"""Backups that only a key opens, and that only whoever has the key can have made.

Each table is a stream of its own in the age format (https://age-encryption.org/v1), gzip inside. That keeps
it from being read; it does not say who wrote it, for an age recipient is no secret. So the manifest, which
has the SHA-256 of every stream, is signed: HMAC-SHA256 by a key derived from the same secret. So is the file
as a whole, whose signature is its last 64 bytes, the archive's comment.
"""

from __future__ import annotations

import contextlib
import gzip
import hmac
import os
import threading
from collections.abc import Callable, Iterator
from typing import IO, cast

import pyrage
from pyrage import x25519

from grasp_core.errors import DataError, SettingsError

SIGNED_FOR = b"grasp-backup manifest"
SIGNED_WHOLE = b"grasp-backup whole file"
_PART_BYTES = 2**20
_LEVEL = 6


def new_key() -> str:
    """A fresh key, as `GRASP_BACKUP_KEY` takes it."""
    return str(x25519.Identity.generate())


class BackupKey:
    """What seals backups and opens them.

    Parameters
    ----------
    text : str
        An age identity, ``AGE-SECRET-KEY-1...``.

    Raises
    ------
    SettingsError
        If it is none; it is not quoted.
    """

    def __init__(self, text: str) -> None:
        try:
            self._identity = x25519.Identity.from_str(text)
        except pyrage.IdentityError:
            raise SettingsError("GRASP_BACKUP_KEY is no key; the command backup-key makes one.") from None
        self._signing = hmac.digest(str(self._identity).encode("ascii"), SIGNED_FOR, "sha256")

    def sign(self, manifest: bytes) -> bytes:
        """The signature of a manifest, in hexadecimal."""
        return hmac.digest(self._signing, manifest, "sha256").hex().encode("ascii")

    def signed(self, manifest: bytes, signature: bytes) -> bool:
        """Whether whoever signed it had this key."""
        return hmac.compare_digest(self.sign(manifest), signature)

    def sign_whole(self, file: IO[bytes], length: int) -> bytes:
        """The signature of a file's first `length` bytes, in hexadecimal."""
        digest = hmac.new(self._signing, SIGNED_WHOLE, "sha256")
        file.seek(0)
        while length > 0 and (part := file.read(min(length, _PART_BYTES))):
            digest.update(part)
            length -= len(part)
        return digest.hexdigest().encode("ascii")

    @contextlib.contextmanager
    def sealing(self, file: IO[bytes]) -> Iterator[IO[bytes]]:
        """What is written to it arrives in the file compressed and encrypted, piece by piece."""
        recipients = [self._identity.to_public()]
        reader, writer = _pipe()
        with (
            _beside(lambda: pyrage.encrypt_io(reader, file, recipients), reader),
            writer,
            gzip.GzipFile(fileobj=writer, mode="wb", compresslevel=_LEVEL, mtime=0) as packed,
        ):
            yield cast(IO[bytes], packed)

    @contextlib.contextmanager
    def opening(self, file: IO[bytes]) -> Iterator[IO[bytes]]:
        """What the file holds, piece by piece."""
        reader, writer = _pipe()
        with (
            _beside(lambda: pyrage.decrypt_io(file, writer, [self._identity]), writer),
            reader,
            gzip.GzipFile(fileobj=reader, mode="rb") as plain,
        ):
            yield cast(IO[bytes], plain)


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


@contextlib.contextmanager
def _beside(work: Callable[[], None], its_end: IO[bytes]) -> Iterator[None]:
    """Let a thread work at the other end of a pipe; what failed there is told here."""
    failed: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # told to whoever waits
            failed.append(error)
        with contextlib.suppress(OSError):  # nobody may be there any more
            its_end.close()

    thread = threading.Thread(target=run, name="grasp-backup", daemon=True)
    thread.start()
    try:
        yield
    except BrokenPipeError:
        thread.join()
        raise _told(failed) from None
    finally:
        thread.join()
    if failed:
        raise _told(failed)


def _told(failed: list[Exception]) -> DataError:
    reason = str(failed[0]).partition(": ")[2] or str(failed[0]) if failed else "the pipe was closed"
    return DataError(f"The backup cannot be encrypted or decrypted ({reason}).")
