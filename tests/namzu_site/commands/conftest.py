import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import home_of


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server's files, elsewhere when root runs it, go with the test."""
    folder = tmp_path / "data"
    yield folder
    home = home_of(folder)
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)
