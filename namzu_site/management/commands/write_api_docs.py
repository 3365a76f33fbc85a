"""manage.py write_api_docs: docs/api.md from the API's description."""

from typing import Any

from django.core.management.base import BaseCommand

from namzu_site import api_docs


class Command(BaseCommand):
    help = "Writes docs/api.md anew, from the OpenAPI document."

    def handle(self, *_: Any, **__: Any) -> None:
        """The file is as the API is."""
        api_docs.PATH.write_text(api_docs.written())
        self.stdout.write(f"Wrote {api_docs.PATH}.")
