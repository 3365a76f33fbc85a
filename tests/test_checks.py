import pytest

from tests import checks


@pytest.mark.parametrize("name", checks.CHECKS)
def test_check_passes(name: str) -> None:
    done = checks.run(name)

    assert done.returncode == 0, done.stdout
