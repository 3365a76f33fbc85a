"""`manage.py up`: the whole product in the foreground."""

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand

from namzu_site import env
from namzu_site.address import Address, AddressUnusable, NotAnswering, free_address
from namzu_site.database import embedded
from namzu_site.database.errors import DatabaseUnavailable
from namzu_site.supervisor import ENDING, ChildEnded, StoppedBySignal, Supervisor

# Requests a web process has at once. Most of them wait, for news or for their body, and cost next to nothing then.
_CONNECTIONS = 4096


class Command(BaseCommand):
    help = "Runs database, web server and worker in the foreground until Ctrl-C."
    requires_system_checks = ()  # the children run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=env.text("HOST", "127.0.0.1"), help="address to listen at (HOST)")
        parser.add_argument("--port", type=int, default=env.integer("PORT", 8000, least=1, most=65535), help="PORT")
        parser.add_argument(
            "--import", dest="import_dir", metavar="DIR", default=env.text("IMPORT"), help="imported when up (IMPORT)"
        )
        parser.add_argument("--ephemeral", action="store_true", help="a throw-away database, gone at the end")

    def handle(self, *args: Any, **options: Any) -> None:
        for number in ENDING:
            signal.signal(number, _leave)  # while the database starts; then the supervisor listens
        try:
            address = free_address(options["host"], options["port"])
            with _database(ephemeral=options["ephemeral"]) as url:
                try:
                    asyncio.run(_supervise(address, url, options["import_dir"]))
                finally:
                    for number in ENDING:
                        signal.signal(number, signal.SIG_IGN)  # the database stops in peace
        except StoppedBySignal:
            self.stdout.write("Stopped.")
        except (AddressUnusable, ChildEnded, DatabaseUnavailable, NotAnswering) as error:
            sys.exit(str(error))


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _database(*, ephemeral: bool) -> AbstractContextManager[str]:
    given = env.text("DATABASE_URL")
    if ephemeral and given:
        sys.exit("--ephemeral and DATABASE_URL exclude each other.")
    if ephemeral:
        return embedded.ephemeral()
    return nullcontext(given) if given else embedded.serve(settings.DATA_DIR)


async def _supervise(address: Address, database_url: str, import_dir: str) -> None:
    hosts = _allowed_hosts(address)
    environment = os.environ | {"DATABASE_URL": database_url, "NAMZU_ALLOWED_HOSTS": ",".join(hosts)}
    manage = (sys.executable, str(settings.BASE_DIR / "manage.py"))
    async with Supervisor(settings.BASE_DIR, environment) as processes:
        if not env.text("DATABASE_URL"):
            processes.end_with(embedded.until_gone(database_url))
        await processes.step("prepare", *manage, "prepare")
        await processes.start("web", *_web_server(address))
        await processes.start("worker", *manage, "qcluster")
        await processes.meanwhile(address.until_it_answers(_as_host(hosts)))
        print(f"\nNamzu Console runs at {address.url} (Ctrl-C stops it)", flush=True)
        if address.is_everywhere and not env.text("NAMZU_ALLOWED_HOSTS"):
            print("It answers to localhost alone: NAMZU_ALLOWED_HOSTS names its other hosts.", flush=True)
        await processes.step("first_admin", *manage, "first_admin")
        if import_dir:
            await _import(processes, manage, import_dir)
        await processes.until_end()


async def _import(processes: Supervisor, manage: tuple[str, str], folder: str) -> None:
    try:
        await processes.step("import", *manage, "import_state", str(Path(folder).expanduser().absolute()))
    except ChildEnded as error:
        if error.child.name != "import":
            raise
        print(f"The import of {folder} failed; the service goes on without it. {error}", file=sys.stderr)


def _web_server(address: Address) -> tuple[str, ...]:
    options = {
        "interface": "asgi",
        "http": "1",  # without TLS nobody speaks HTTP/2, and looking for it costs every connection
        "host": address.number,
        "port": address.port,
        "workers": env.integer("NAMZU_WEB_WORKERS", 2, least=1, most=64),
        "backpressure": _CONNECTIONS,
        "workers-kill-timeout": 5,  # open streams do not hold up the end
        "log-level": "warning",
    }
    flags = (f"--{name}={value}" for name, value in options.items())
    return sys.executable, "-m", "granian", *flags, "--no-ws", "namzu_site.asgi:application"


def _allowed_hosts(address: Address) -> list[str]:
    """Hosts the service answers to: as set, else this machine's own and the address it listens at."""
    hosts: list[str] = list(settings.ALLOWED_HOSTS)
    listening = f"[{address.host}]" if ":" in address.host else address.host
    if env.text("NAMZU_ALLOWED_HOSTS") or address.is_everywhere or listening in hosts:
        return hosts
    return [*hosts, listening]


def _as_host(hosts: list[str]) -> str:
    named = [host.removeprefix(".") for host in hosts if host != "*"]
    return named[0] if named else "localhost"
