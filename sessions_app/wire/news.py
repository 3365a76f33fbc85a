"""That something new is there, said to those who wait for it in this process or another (reliability.md, NOTIFY)."""

from collections import deque

from django.db import transaction

# What was told and not passed on yet. Bounded, so that it does no harm where nobody passes it on (commands, the
# worker): those who wait look for themselves every second.
told: deque[int] = deque(maxlen=10_000)


def tell_after_commit(session_pk: int) -> None:
    """Waiters for news of the session are woken, soon after the running transaction has committed."""
    transaction.on_commit(lambda: told.append(session_pk))
