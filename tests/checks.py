"""What is asked of the code without running it: `python -m tests.checks`, and one test each in test_checks.py."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_MODULE = (sys.executable, "-m")

CHECKS: dict[str, tuple[str, ...]] = {
    "ruff": (*_MODULE, "ruff", "check", "."),
    "ruff format": (*_MODULE, "ruff", "format", "--check", "."),
    "mypy": (*_MODULE, "mypy", "."),
    "djlint": (*_MODULE, "djlint", "templates", "--lint", "--quiet"),
    "djlint format": (*_MODULE, "djlint", "templates", "--check", "--quiet"),
    "import contracts": (str(Path(sys.executable).with_name("lint-imports")), "--no-logo"),
    # Without a server the command looks at the files alone, and warns that it did.
    "migrations": (
        sys.executable,
        "-W",
        "ignore::RuntimeWarning",
        "manage.py",
        "makemigrations",
        "--check",
        "--dry-run",
    ),
}


def run(name: str) -> subprocess.CompletedProcess[str]:
    """The finished check, with all it said in `stdout`."""
    return subprocess.run(
        CHECKS[name], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def main() -> None:
    """Runs all; exits with the names of those that failed."""
    failed = []
    for name in CHECKS:
        done = run(name)
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {name}", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout, flush=True)
    if failed:
        sys.exit("Failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
