"""The app's tables; each lives in its slice."""

from stores_app.session.models import Message, RenderedMessage

__all__ = ["Message", "RenderedMessage"]
