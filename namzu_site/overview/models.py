"""Signs of life."""

from django.db import models


class Heartbeat(models.Model):
    """When a process of that name was last seen at work."""

    name = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.seen_at.isoformat()}"
