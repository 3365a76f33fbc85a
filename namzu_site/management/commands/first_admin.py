"""`manage.py first_admin`: a way in where there is none."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from sessions_app.access.actions import create_first_admin


class Command(BaseCommand):
    help = "Makes an administrator and prints the sign-in, where there is none yet."

    def handle(self, *args: Any, **options: Any) -> None:
        made = create_first_admin(now=timezone.now())
        if made is not None:
            name, password = made
            self.stdout.write(f"\nFirst sign-in, shown only this once:\n  user name  {name}\n  password   {password}\n")
