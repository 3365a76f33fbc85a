"""The API's addresses, looked through without those of the pages."""

from django.urls import URLPattern, URLResolver, path

from namzu_site.api import api

urlpatterns: list[URLPattern | URLResolver] = [path("api/v1/", api.urls)]
