"""One throw-away PostgreSQL for the whole run, and the fixtures every part of the suite may ask for."""

import atexit
import contextlib
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import django
import pytest
from hypothesis import settings as hypothesis_settings

from namzu_site.database import embedded
from namzu_site.database.errors import DatabaseUnavailable

ROOT = Path(__file__).resolve().parent.parent


def _prepare_environment() -> None:
    """The environment holds what the settings need; they are loaded after this file.

    Workers of pytest-xdist inherit it from the process that started them, and with it the one server; pytest-django
    gives each of them a database of its own.
    """
    if "NAMZU_TESTS_PREPARED" in os.environ:
        return
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    if not os.environ.get("DATABASE_URL"):
        try:
            os.environ["DATABASE_URL"] = stack.enter_context(embedded.ephemeral())
        except DatabaseUnavailable as error:
            pytest.exit(str(error), returncode=3)
    os.environ["NAMZU_DATA_DIR"] = stack.enter_context(TemporaryDirectory(prefix="namzu-tests-"))
    os.environ["NAMZU_TESTS_PREPARED"] = "1"


# Named in pyproject.toml, pytest-django would load the settings before this file, when there is no server yet.
_prepare_environment()
os.environ["DJANGO_SETTINGS_MODULE"] = "namzu_site.settings"
django.setup()

# Two cores shared with servers and a browser: how long one example takes says nothing.
hypothesis_settings.register_profile("suite", deadline=None)
hypothesis_settings.load_profile("suite")


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """Folder of the recorded fixtures: `NAMZU_FIXTURES`, or `shared/fixtures` beside the checkout."""
    folder = Path(os.environ.get("NAMZU_FIXTURES") or ROOT.parent / "shared" / "fixtures")
    if not folder.is_dir():
        reason = f"RECORDED FIXTURES ARE MISSING: {folder} is no folder; NAMZU_FIXTURES names another one"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def unpack_fixture(fixtures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folder of an unpacked fixture by its name (`v020-small`), unpacked once: copy it before changing anything."""
    unpacked: dict[str, Path] = {}

    def unpack(name: str) -> Path:
        if name not in unpacked:
            target = tmp_path_factory.mktemp(name)
            with tarfile.open(fixtures_dir / f"{name}.tar.gz") as archive:
                archive.extractall(target, filter="data")
            unpacked[name] = target
        return unpacked[name]

    return unpack
