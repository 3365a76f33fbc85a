"""The front in the test's own process, on the test's database."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db import connection

from namzu_site.front.front import Front
from namzu_site.wsgi import application as wsgi
from sessions_app.wire.authentication import ApiKeyBearer
from tests.api_client import Caller, new_tenant

Script = Callable[[httpx.AsyncClient, Front], Awaitable[Any]]


@pytest.fixture
def caller(transactional_db: None) -> Caller:
    ApiKeyBearer.forget_everything()
    return Caller(new_tenant())


@pytest.fixture
def through_front(transactional_db: None) -> Callable[[Caller, Script], Any]:
    """Runs an asynchronous script with a client whose calls go through the front with the caller's key."""

    def run(caller: Caller, script: Script) -> Any:
        with ThreadPoolExecutor(1) as thread:  # a browser's test may have a loop running in this one
            return thread.submit(asyncio.run, _run(caller, script)).result()

    return run


async def _run(caller: Caller, script: Script) -> Any:
    database = {"dbname": connection.settings_dict["NAME"]}
    for ours, theirs in (("HOST", "host"), ("PORT", "port"), ("USER", "user"), ("PASSWORD", "password")):
        if connection.settings_dict[ours]:
            database[theirs] = connection.settings_dict[ours]
    front = Front(wsgi, database, threads=2)
    front.news.start()
    try:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(front),
            base_url=f"http://localhost{caller.base}",
            headers={"Authorization": f"Bearer {caller.token}"},
        ) as client:
            return await script(client, front)
    finally:
        await front.stop()
