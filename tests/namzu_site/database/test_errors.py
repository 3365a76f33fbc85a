import errno
from pathlib import Path

import pytest

from namzu_site.database import errors

HOME = Path("/srv/console/postgres")


@pytest.mark.parametrize(
    "said",
    [
        'FATAL:  could not write lock file "postmaster.pid": No space left on device',
        "PANIC:  could not write to file: Disk quota exceeded",
    ],
)
def test_a_log_that_speaks_of_no_room_is_a_full_disk(said: str) -> None:
    error = errors.from_log(HOME, said)

    assert isinstance(error, errors.DiskFull)
    assert str(HOME) in str(error)


def test_any_other_log_is_passed_on() -> None:
    error = errors.from_log(HOME, "FATAL:  could not create shared memory segment")

    assert isinstance(error, errors.ServerDidNotStart)
    assert "shared memory" in str(error)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, errors.DiskFull),
        (errno.EDQUOT, errors.DiskFull),
        (errno.EACCES, errors.FolderUnusable),
        (errno.EROFS, errors.FolderUnusable),
        (errno.ENOTDIR, errors.FolderUnusable),
    ],
)
def test_an_operating_system_error_gets_its_meaning(number: int, kind: type[errors.DatabaseUnavailable]) -> None:
    error = errors.from_os_error(HOME, OSError(number, "reason", str(HOME / "data")))

    assert type(error) is kind
    assert str(HOME) in str(error)
