"""Root's databases lie away from their data folders: what is moved, copied, lost or begun anew."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from namzu_site.database import embedded, identity, programs
from namzu_site.database.errors import DatabaseMissing, DatabaseUnavailable, FolderCopied, FolderUnusable, IdMissing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="others have the database in the data folder itself")


@pytest.fixture(autouse=True)
def homes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the databases of this test lie."""
    with tempfile.TemporaryDirectory(prefix="namzu-homes-") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(programs, "ROOT_HOME", Path(folder) / "homes")
        yield programs.ROOT_HOME


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A data folder whose database holds something."""
    folder = tmp_path / "data"
    with embedded.serve(folder) as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    return folder


def kept_in(data_dir: Path) -> int:
    with embedded.serve(data_dir) as url, psycopg.connect(url) as connection:
        row = connection.execute("SELECT number FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def refusal(data_dir: Path, kind: type[DatabaseUnavailable]) -> str:
    with pytest.raises(kind) as caught, embedded.serve(data_dir):
        pass
    return str(caught.value)


def home(data_dir: Path) -> Path:
    found = identity.known_home(data_dir)
    assert found is not None
    return found


def test_a_moved_data_folder_takes_its_database_along(used: Path) -> None:
    moved = used.rename(used.with_name("moved"))

    assert kept_in(moved) == 7
    assert (home(moved) / "belongs-to").read_text() == f"{moved}\n"
    assert kept_in(moved.rename(used)) == 7


def test_a_moved_data_folder_whose_old_place_is_in_use_anew_is_no_copy(used: Path) -> None:
    moved = used.rename(used.with_name("moved"))
    (home(moved) / "belongs-to").write_text(f"{moved}\n")
    with embedded.serve(used):
        pass

    assert kept_in(moved) == 7
    assert home(used) != home(moved)


def test_a_copied_data_folder_is_refused_and_the_owner_goes_on(used: Path) -> None:
    copy = used.with_name("copy")
    shutil.copytree(used, copy)

    said = refusal(copy, FolderCopied)

    assert f"{copy} is a copy of {used}" in said
    assert "manage.py backup" in said
    assert kept_in(used) == 7
    shutil.rmtree(used)
    assert kept_in(copy) == 7


def test_a_second_name_of_the_same_folder_is_no_copy(used: Path) -> None:
    link = used.with_name("link")
    link.symlink_to(used)

    assert kept_in(link) == 7
    assert (home(used) / "belongs-to").read_text() == f"{used}\n"


def test_a_missing_database_is_refused_and_can_be_begun_anew(used: Path) -> None:
    lost = home(used)
    shutil.rmtree(lost)

    said = refusal(used, DatabaseMissing)

    assert str(lost) in said
    assert f"remove {used / 'installation_id'}" in said
    (used / "installation_id").unlink()
    with embedded.serve(used):
        assert home(used) != lost


def test_a_new_data_folder_in_an_old_ones_place_is_told_of_the_old_database(used: Path) -> None:
    old = home(used)
    shutil.rmtree(used)

    said = refusal(used, IdMissing)

    assert f"echo {old.name} > {used / 'installation_id'}" in said
    assert f"rm -r {old}" in said
    (used / "installation_id").write_text(f"{old.name}\n")
    assert kept_in(used) == 7


def test_a_first_start_that_was_cut_off_is_done_again_in_the_same_place(used: Path, homes: Path) -> None:
    begun = home(used)
    shutil.rmtree(begun / "data")
    (used / "installation_id").unlink()  # as if it had ended before the last step

    with embedded.serve(used):
        assert home(used) == begun


def test_an_id_that_is_none_is_named(used: Path) -> None:
    (used / "installation_id").write_text("../../etc\n")

    assert str(used / "installation_id") in refusal(used, FolderUnusable)
