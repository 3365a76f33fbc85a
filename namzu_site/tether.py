"""`python -m namzu_site.tether PARENT COMMAND …`: the command, which ends when its parent ends, even by kill -9.

A program of its own instead of code between fork and exec, which would be unsafe beside threads.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Becomes the command."""
    if sys.platform == "linux":  # elsewhere the command outlives a killed parent
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before it was watched
            sys.exit(128 + signal.SIGTERM)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
