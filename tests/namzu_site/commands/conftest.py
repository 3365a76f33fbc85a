import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from namzu_site.database import programs
from namzu_site.database.embedded import home_of


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server's files, elsewhere when root runs it, go with the test."""
    folder = tmp_path / "data"
    yield folder
    shutil.rmtree(home_of(folder, programs.account()), ignore_errors=True)
