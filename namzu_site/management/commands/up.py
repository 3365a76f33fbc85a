"""`manage.py up`: the whole product in the foreground."""

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand

from namzu_site import env
from namzu_site.address import Address, AddressUnusable, NotAnswering, announcement, free_address
from namzu_site.database import embedded
from namzu_site.database.errors import DatabaseUnavailable
from namzu_site.management.commands.import_state import LEFT_OUT
from namzu_site.supervisor import ENDING, ChildEnded, StepFailed, StoppedBySignal, Supervisor
from stores_app.disk import NotATree, find_root

# Requests a web process has at once. Most of them wait, for news or for their body, and cost next to nothing then.
_CONNECTIONS = 4096


class Command(BaseCommand):
    help = "Runs database, web server and worker in the foreground until Ctrl-C."
    requires_system_checks = ()  # the children run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=env.text("HOST", "127.0.0.1"), help="address to listen at (HOST)")
        parser.add_argument("--port", type=_port, default=env.integer("PORT", 8000, least=1, most=65535), help="PORT")
        parser.add_argument(
            "--import", dest="import_dir", metavar="DIR", default=env.text("IMPORT"), help="imported when up (IMPORT)"
        )
        parser.add_argument("--ephemeral", action="store_true", help="a throw-away database, gone at the end")

    def handle(self, *args: Any, **options: Any) -> None:
        for number in ENDING:
            signal.signal(number, _leave)  # while the database starts; then the supervisor listens
        try:
            import_dir = _folder_to_import(options["import_dir"])
            address = free_address(options["host"], options["port"])
            with _database(ephemeral=options["ephemeral"]) as url:
                try:
                    asyncio.run(_supervise(address, url, import_dir))
                finally:
                    for number in ENDING:
                        signal.signal(number, signal.SIG_IGN)  # the database stops in peace
        except StoppedBySignal:
            self.stdout.write("Stopped.")
        except (AddressUnusable, ChildEnded, StepFailed, DatabaseUnavailable, NotAnswering) as error:
            sys.exit(str(error))


def _port(text: str) -> int:
    port = int(text)
    if not 1 <= port <= 65535:
        raise ArgumentTypeError("expected 1 to 65535")
    return port


def _folder_to_import(given: str) -> Path | None:
    """The folder, looked at before anything starts; exits where nothing can be imported from it."""
    if not given:
        return None
    try:
        folder = Path(given).expanduser().absolute()
        find_root(folder)
    except NotATree as error:
        sys.exit(f"IMPORT: {error.message}")
    except (OSError, RuntimeError) as error:
        sys.exit(f"IMPORT={given} cannot be read: {error}.")
    return folder


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _database(*, ephemeral: bool) -> AbstractContextManager[str]:
    given = env.text("DATABASE_URL")
    if ephemeral and given:
        sys.exit("--ephemeral and DATABASE_URL exclude each other.")
    if ephemeral:
        return embedded.ephemeral()
    return nullcontext(given) if given else embedded.serve(settings.DATA_DIR)


async def _supervise(address: Address, database_url: str, import_dir: Path | None) -> None:
    named = env.hosts("NAMZU_ALLOWED_HOSTS")
    answered = [*named, address.as_host] if address.as_host else named  # who sets HOST wants it to be opened
    environment = os.environ | {"DATABASE_URL": database_url, "NAMZU_ALLOWED_HOSTS": ",".join(answered)}
    manage = (sys.executable, str(settings.BASE_DIR / "manage.py"))
    async with Supervisor(settings.BASE_DIR, environment) as processes:
        if not env.text("DATABASE_URL"):
            processes.end_with(embedded.until_gone(database_url))
        await processes.step("prepare", *manage, "prepare")
        await processes.start("web", *_web_server(address))
        await processes.start("worker", *manage, "qcluster")
        await processes.meanwhile(address.until_it_answers())
        print(f"\n{announcement(address, named, https=settings.HTTPS)}", flush=True)
        await processes.step("first_admin", *manage, "first_admin")
        if import_dir:
            await _import(processes, manage, import_dir)
        await processes.until_end()


async def _import(processes: Supervisor, manage: tuple[str, str], folder: Path) -> None:
    try:
        await processes.step("import", *manage, "import_state", str(folder))
    except StepFailed as error:
        outcome = "left something out" if error.code == LEFT_OUT else "failed"
        print(f"The import of {folder} {outcome}, see above; the service goes on.", file=sys.stderr)


def _web_server(address: Address) -> tuple[str, ...]:
    options = {
        "interface": "asgi",
        "http": "1",  # without TLS nobody speaks HTTP/2, and looking for it costs every connection
        "host": address.number,
        "port": address.port,
        "workers": settings.WEB_WORKERS,
        "backpressure": _CONNECTIONS,
        "workers-kill-timeout": 5,  # open streams do not hold up the end
        "log-level": "error",  # its only warnings are of workers it kills at the end, and some it takes for alive
    }
    flags = (f"--{name}={value}" for name, value in options.items())
    return sys.executable, "-m", "granian", *flags, "--no-ws", "namzu_site.asgi:application"
