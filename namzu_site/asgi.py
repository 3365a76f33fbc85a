"""ASGI entry point: what `manage.py up` and production serve (docs/decisions/0008)."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "namzu_site.settings")
wsgi = get_wsgi_application()  # sets Django up, which what follows needs

from namzu_site import env  # noqa: E402
from namzu_site.front.front import Front  # noqa: E402

gc.collect()
gc.freeze()  # what was loaded so far stays; without it every full collection walks through all of Django

application = Front(
    wsgi,
    env.database("DATABASE_URL") or {},
    threads=env.integer("NAMZU_WEB_THREADS", 4, least=1, most=256),
)
