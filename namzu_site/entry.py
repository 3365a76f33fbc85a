"""What a web server's process does before it loads the product."""

import multiprocessing
import os
import signal

from namzu_site import env


def prepare_process() -> None:
    """The settings can be loaded; raises SystemExit where nobody has said which database to use."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "namzu_site.settings")
    _end_when_told()
    if not env.text("DATABASE_URL"):
        raise SystemExit(
            "DATABASE_URL is not set, and a web server starts no database of its own. "
            "`make run` starts database, web server and worker together."
        )


def _end_when_told() -> None:
    """A signal ends this process, until the server has handlers for it.

    A worker that granian has forked inherits those of its parent, which do nothing in here: told to end while it loads,
    it would not, and its parent would wait for it for good.
    """
    if multiprocessing.parent_process() is None:
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        if str(getattr(signal.getsignal(number), "__module__", "")).startswith("granian."):
            signal.signal(number, signal.SIG_DFL)
