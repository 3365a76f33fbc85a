"""The tables of the slices, where Django looks for them."""

from namzu_site.overview.models import Heartbeat

__all__ = ["Heartbeat"]
