"""One port for pages, API and whoever waits."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.conf import settings

from namzu_site.front.appends import Appends
from namzu_site.front.bridge import Answer, Application, Bridge, Receive, Scope, Send, answer_of, read_body
from namzu_site.front.news import News
from namzu_site.http_errors import problem_of
from sessions_app.wire.errors import BodyTooSlow
from sessions_app.wire.waiting import WISH, Wish


class Front:
    """The ASGI application of a web process.

    Requests run in threads, by the WSGI application. A single append takes a way without one; a read that waits for
    news ends, and is made again when there is some. `database` holds psycopg's connection parameters.
    """

    def __init__(self, application: Application, database: Mapping[str, Any], *, threads: int) -> None:
        self.bridge = Bridge(application, threads=threads)
        self.appends = Appends(database)
        self.news = News(database)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            with contextlib.suppress(ConnectionResetError):  # the client has gone
                await self._answer(scope, receive, send)

    async def stop(self) -> None:
        """Ends waits, threads and connections."""
        await self.news.stop()
        await self.appends.stop()
        self.bridge.stop()

    async def _live(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] == "lifespan.startup":
            self.news.start()
            await send({"type": "lifespan.startup.complete"})
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            whole = await read_body(scope, receive, settings.MAX_BODY_BYTES)
        except TimeoutError:
            await self.bridge.send(answer_of(problem_of(BodyTooSlow())), send)
            return
        with whole as body:
            answer = await self.appends.answer(scope, body) if self.appends.takes(scope) else None
            if answer is None:
                answer = await self._patiently(scope, body, receive)
        await self.bridge.send(answer, send)

    async def _patiently(self, scope: Scope, body: BinaryIO, receive: Receive) -> Answer:
        """The application's answer; where it found nothing and wishes to wait, the one it gives once there is some."""
        loop, deadline = asyncio.get_running_loop(), None
        while True:
            body.seek(0)
            wish = Wish()
            answer = await self.bridge.call(scope, body, **{WISH: wish})
            if wish.session_pk is None:
                return answer
            deadline = deadline or loop.time() + wish.seconds
            if not await self._wait(wish.session_pk, wish.after, deadline - loop.time(), receive):
                return answer

    async def _wait(self, session_pk: int, after: int, seconds: float, receive: Receive) -> bool:
        """Whether there are news; raises ConnectionResetError when the client goes."""
        waiting = asyncio.ensure_future(self.news.wait(session_pk, after, seconds))
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise ConnectionResetError
            return waiting.result()
        finally:
            for task in (waiting, gone):
                task.cancel()
            await asyncio.gather(waiting, gone, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
