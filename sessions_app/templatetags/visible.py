"""Text of unknown origin in templates: nothing in it hides or turns the line around."""

from django import template
from django.utils.safestring import SafeString, mark_safe

from sessions_app.wire.visible import visible_text

register = template.Library()


@register.filter
def visible(text: str) -> SafeString:
    """The text with its control characters marked by name."""
    return mark_safe(visible_text(text))  # noqa: S308 - escaped there
