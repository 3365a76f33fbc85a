"""Mounted at the root."""

from django.urls import path

from namzu_site.overview import views

urlpatterns = [
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
