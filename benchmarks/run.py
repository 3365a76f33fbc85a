"""`python -m benchmarks.run`: measures the product against the goals of docs/performance.md."""

import os
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from benchmarks.timing import Figure, busy_share, note, show

if TYPE_CHECKING:
    from benchmarks.server import Bench

PARTS = ("append", "drill", "transcript")


def main() -> None:
    """Prints one table (or with --json one line) for each part."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="namzu-benchmark-") as data_dir:
        _prepare_environment(data_dir)
        from benchmarks.load import TENANT  # settings are read from here on
        from benchmarks.server import bench, durable_server, is_durable

        server = nullcontext(options.database_url) if options.database_url else durable_server()
        with server as url:
            durable = is_durable(url)
            if not durable:
                note("This server does not keep its promises (fsync or synchronous_commit is off): a smoke test only.")
            measures = _measures(options)
            with bench(url, TENANT) as ready:
                for part in options.parts or PARTS:
                    busy = busy_share()
                    title = (
                        f"{part} ({'durable' if durable else 'NOT durable'}, {busy:.0%} busy with other work before)"
                    )
                    show(title, measures[part](ready), as_json=options.json)


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.run", description=main.__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all where none is named")
    parser.add_argument("--database-url", help="a PostgreSQL server to use; else one of its own, in a temporary folder")
    parser.add_argument("--rounds", type=int, default=21, help="rounds that count (default: %(default)s)")
    parser.add_argument("--singles", type=int, default=1000, help="single appends a round (default: %(default)s)")
    parser.add_argument("--batches", type=int, default=5, help="batches of 1,000 a round (default: %(default)s)")
    parser.add_argument("--sessions", type=int, nargs=2, default=(100_000, 1_000_000), metavar=("FEW", "MANY"))
    parser.add_argument("--drills", type=int, default=100, help="drills a round (default: %(default)s)")
    parser.add_argument("--messages", type=int, default=100_000, help="length of the transcript (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=50, help="pages a round (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each part")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {min(unknown)}: choose from {', '.join(PARTS)}")
    return options


def _prepare_environment(data_dir: str) -> None:
    """Settings can be loaded; nothing is asked of the database before the server is there."""
    os.environ["NAMZU_DATA_DIR"] = data_dir
    os.environ["DJANGO_SETTINGS_MODULE"] = "namzu_site.settings"
    import django

    django.setup()


def _measures(options: Namespace) -> "dict[str, Callable[[Bench], list[Figure]]]":
    from benchmarks import append, drill, transcript

    few, many = options.sessions
    return {
        "append": lambda ready: append.measure(ready, append.Size(options.rounds, options.singles, options.batches)),
        "drill": lambda ready: drill.measure(ready, drill.Size(few, many, options.rounds, options.drills)),
        "transcript": lambda ready: transcript.measure(
            ready, transcript.Size(options.messages, options.rounds, options.pages)
        ),
    }


if __name__ == "__main__":
    main()
