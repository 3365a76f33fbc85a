"""File locks that the kernel releases when their process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """One lock file, opened; held shared, held alone, or not held."""

    def __init__(self, path: Path) -> None:
        # Python's descriptors close on exec: the server, started from here, never holds the lock itself.
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def share(self) -> None:
        """The lock is held together with other users."""
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def take(self) -> None:
        """The lock is held alone, after waiting for the others."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def try_take(self) -> bool:
        """True and held alone where nobody else holds it, else False (and a shared hold may be lost)."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """The lock is released."""
        os.close(self._descriptor)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else is between the same two lines; waits for its turn."""
    lock = FileLock(path)
    try:
        lock.take()
        yield
    finally:
        lock.close()
