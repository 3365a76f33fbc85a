"""Where the embedded server of a data folder has its files."""

import os
from pathlib import Path

from namzu_site.database import identity


def home_of(data_dir: Path) -> Path | None:
    """The server's home where it has one: in the data folder, or for root where the data folder's id says."""
    if os.geteuid() == 0:
        return identity.known_home(data_dir)
    home = data_dir / "postgres"
    return home if home.exists() else None
