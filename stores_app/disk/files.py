"""Opening what lies in a tree without ever leaving it (reliability.md, bad input 9).

Everything is opened by name relative to an open directory, links are not followed, and only regular files that have
no second name are read: a tree that came from somewhere else cannot make us read what lies outside of it.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Literal, NamedTuple, Self

from stores_app.disk.errors import RefusedFile

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_RECORD_BYTES = 16 * 1024 * 1024
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not make us wait
_BUFFER_BYTES = 64 * 1024


class Entry(NamedTuple):
    """A name in a folder; `other` is a device, a pipe or a socket."""

    name: str
    kind: Literal["folder", "file", "link", "other"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; `data` is None where it is longer than the limit, `ended` tells of its newline."""

    number: int
    data: bytes | None
    ended: bool


class Folder:
    """An open directory of a tree; `path` is its place below the root. Use it as a context manager."""

    def __init__(self, descriptor: int, path: PurePosixPath) -> None:
        self._descriptor = descriptor
        self.path = path

    @classmethod
    def of_root(cls, root: Path) -> Self:
        """The root itself; a link is refused here too, name what it points at. Raises OSError."""
        return cls(os.open(root, _FOLDER_FLAGS), PurePosixPath())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)

    def folder(self, path: PurePosixPath | str) -> Self | None:
        """The folder at a path below this one, None where there is none; raises RefusedFile."""
        place, descriptor = self.path, os.dup(self._descriptor)
        for name in PurePosixPath(path).parts:
            place = place / name
            try:
                deeper = os.open(name, _FOLDER_FLAGS, dir_fd=descriptor)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise self._refusal(place, name, descriptor, error) from None
            finally:
                os.close(descriptor)
            descriptor = deeper
        return type(self)(descriptor, place)

    def entries(self) -> list[Entry]:
        """What lies in here, by name in code-unit order; raises RefusedFile."""
        try:
            with os.scandir(self._descriptor) as found:
                return sorted(Entry(entry.name, _kind_of(entry)) for entry in found)
        except OSError as error:
            raise RefusedFile(shown(self.path), "", _words(error)) from None

    def read(self, name: str, limit: int = MAX_RECORD_BYTES) -> bytes | None:
        """The whole file, None where there is none; raises RefusedFile, also for one that is longer than the limit."""
        descriptor = self._open_file(name)
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as stream:
            data = self._guarded(name, stream.read, limit + 1)
        if len(data) > limit:
            raise RefusedFile(shown(self.path / name), "", f"is longer than {limit} bytes")
        return data

    def lines(self, name: str, limit: int = MAX_LINE_BYTES) -> Iterator[Line]:
        """The file's lines, split at newlines only and read as they are asked for; none where there is no file.

        Raises RefusedFile.
        """
        descriptor = self._open_file(name)
        if descriptor is None:
            return
        with os.fdopen(descriptor, "rb", buffering=_BUFFER_BYTES) as stream:
            number = 0
            while data := self._guarded(name, stream.readline, limit + 1):
                number += 1
                ended = data.endswith(b"\n")
                if ended or len(data) <= limit:
                    yield Line(number, data[:-1] if ended else data, ended)
                    continue
                while data and not ended:
                    data = self._guarded(name, stream.readline, _BUFFER_BYTES)
                    ended = data.endswith(b"\n")
                yield Line(number, None, ended)

    def _open_file(self, name: str) -> int | None:
        place = self.path / name
        try:
            status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
            _check_readable(place, status)  # before opening: to open a device can have an effect
            descriptor = os.open(name, _FILE_FLAGS, dir_fd=self._descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refusal(place, name, self._descriptor, error) from None
        try:
            _check_readable(place, os.fstat(descriptor))  # it may have been exchanged in between
        except RefusedFile:
            os.close(descriptor)
            raise
        return descriptor

    def _guarded(self, name: str, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except OSError as error:
            raise RefusedFile(shown(self.path / name), "", _words(error)) from None

    @staticmethod
    def _refusal(place: PurePosixPath, name: str, parent: int, error: OSError) -> RefusedFile:
        """Why it was not opened: whether a link is told as ELOOP or ENOTDIR depends on the flags, so look."""
        try:
            is_link = stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        except OSError:
            is_link = False
        return RefusedFile(shown(place), "", "is a symbolic link; it is not followed" if is_link else _words(error))


def shown(path: PurePosixPath) -> str:
    """The path as text that can be written anywhere: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def _check_readable(place: PurePosixPath, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise RefusedFile(shown(place), "", "is a symbolic link; it is not followed")
    if not stat.S_ISREG(status.st_mode):
        raise RefusedFile(shown(place), "", "is not a regular file")
    if status.st_nlink > 1:
        raise RefusedFile(shown(place), "", "has a second name (hard link), perhaps outside of the tree")


def _kind_of(entry: "os.DirEntry[str]") -> Literal["folder", "file", "link", "other"]:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _words(error: OSError) -> str:
    return f"cannot be read: {error.strerror}"
