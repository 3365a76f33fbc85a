"""Reads that wait for news (api.md, Conventions: waitSeconds)."""

from dataclasses import dataclass

from django.http import HttpRequest

WISH = "namzu.wish"  # where the asynchronous front looks; behind another server nobody does, and nothing waits


@dataclass(slots=True)
class Wish:
    """What a read that found nothing would like to wait for; filled in by the read, fulfilled by the front."""

    session_pk: int | None = None
    after: int = 0
    seconds: int = 0


def wait_for_news(request: HttpRequest, session_pk: int, after: int, seconds: int) -> None:
    """Says that the answer may be thrown away, and the call made again once the session has a message behind `after`.

    The call ends meanwhile, so neither a thread nor a database connection is held.
    """
    wish = request.META.get(WISH)
    if isinstance(wish, Wish):
        wish.session_pk, wish.after, wish.seconds = session_pk, after, seconds
