"""Waiting for news without a thread or a database connection: one listener and one look a second for the whole process.

Messages are numbered per session, so "something new" is a session whose last number is past the one a waiter knows.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, LiteralString

import psycopg

from sessions_app.wire.news import told

CHANNEL: LiteralString = "namzu_news"
PASS_ON_SECONDS = 0.05
LOOK_SECONDS = 1.0  # what commands and the worker write is not told; nor is anything while the listener is cut off
RETRY_SECONDS = 2.0
_MOST_KEYS = 400  # a notification holds 8,000 bytes; more at once is news for everybody

log = logging.getLogger(__name__)


class News:
    """The news of one process."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = dict(parameters)
        self._ended = False
        self._look_at = 0.0
        self._waiters: defaultdict[int, dict[asyncio.Event, int]] = defaultdict(dict)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to listen, to pass on and to look; call it in the running loop, as often as you like."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._keep(work)) for work in (self._listen, self._talk)]

    async def stop(self) -> None:
        """Ends all of it; nobody waits from here on."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        self._wake(set(self._waiters))
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def wait(self, session_pk: int, after: int, seconds: float) -> bool:
        """True as soon as the session may have a message behind `after`, False when the time is over."""
        if self._ended:
            return False
        event = asyncio.Event()
        self._look_at = 0.0  # what came between the caller's look and this one is not missed
        self._waiters[session_pk][event] = after
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
            return True
        except TimeoutError:
            return False
        finally:
            del self._waiters[session_pk][event]
            if not self._waiters[session_pk]:
                del self._waiters[session_pk]

    def _wake(self, keys: set[int]) -> None:
        for key in keys & self._waiters.keys():
            for event in self._waiters[key]:
                event.set()

    async def _keep(self, work: Any) -> None:
        """Goes on with the work for ever, over lost connections."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**self._parameters, autocommit=True) as connection:
                    await work(connection)
            except psycopg.OperationalError as error:
                log.warning("news: %s; trying again", str(error).strip())
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self, connection: "psycopg.AsyncConnection[Any]") -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        async for notification in connection.notifies():
            keys = notification.payload
            self._wake(set(self._waiters) if keys == "*" else {int(key) for key in keys.split(",")})

    async def _talk(self, connection: "psycopg.AsyncConnection[Any]") -> None:
        loop = asyncio.get_running_loop()
        while True:
            keys = _drain()
            self._wake(keys)
            if keys:
                payload = "*" if len(keys) > _MOST_KEYS else ",".join(map(str, keys))
                await connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])
            if self._waiters and loop.time() >= self._look_at:
                self._look_at = loop.time() + LOOK_SECONDS
                await self._look(connection)
            await asyncio.sleep(PASS_ON_SECONDS)

    async def _look(self, connection: "psycopg.AsyncConnection[Any]") -> None:
        found = await connection.execute(
            "SELECT id, last_seq FROM sessions_app_session WHERE id = ANY(%s)", [list(self._waiters)]
        )
        for key, last_seq in await found.fetchall():
            for event, after in self._waiters.get(key, {}).items():
                if last_seq > after:
                    event.set()


def _drain() -> set[int]:
    keys = set()
    with contextlib.suppress(IndexError):
        while True:
            keys.add(told.popleft())
    return keys
