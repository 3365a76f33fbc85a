"""ASGI entry point: what `manage.py up` and production serve (docs/decisions/0008)."""

import gc

from namzu_site.entry import prepare_process

prepare_process()

from django.core.wsgi import get_wsgi_application  # noqa: E402 - slow, and signals have to work meanwhile

wsgi = get_wsgi_application()  # sets Django up, which what follows needs

from django.conf import settings  # noqa: E402

from namzu_site import env  # noqa: E402
from namzu_site.front.front import Front  # noqa: E402

gc.collect()
gc.freeze()  # what was loaded so far stays; without it every full collection walks through all of Django

application = Front(
    wsgi,
    env.database("DATABASE_URL") or {},
    threads=settings.WEB_THREADS,
)
