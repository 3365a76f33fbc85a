"""Answers that are given again when a call is repeated (api.md, Conventions: Idempotency-Key)."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class StoredAnswer(models.Model):
    """The answer to a successful call that carried an Idempotency-Key, written in the transaction of its change."""

    digest = models.BinaryField(primary_key=True)  # of credential, method, path and key
    body_sha256 = models.BinaryField()  # of what was asked
    status = models.PositiveSmallIntegerField()
    answer = models.BinaryField()
    created_at = models.DateTimeField()

    class Meta:
        # Rows come in order of time and go in order of time: a summary per block range costs an append next to nothing.
        indexes = [BrinIndex("created_at", name="stored_answer_by_time")]
