"""WSGI entry point of the pages and the API."""

from namzu_site.entry import prepare_process

prepare_process()

from django.core.wsgi import get_wsgi_application  # noqa: E402 - slow, and signals have to work meanwhile

application = get_wsgi_application()
