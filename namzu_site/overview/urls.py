"""Mounted at the root."""

from django.urls import path

from namzu_site.overview import pages, views

urlpatterns = [
    path("", pages.home, name="home"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
