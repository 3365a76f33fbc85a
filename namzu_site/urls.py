"""Where everything is mounted."""

from django.urls import URLPattern, URLResolver, include, path

from namzu_site.api import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("namzu_site.overview.urls")),
    path("api/v1/", api.urls),
]
