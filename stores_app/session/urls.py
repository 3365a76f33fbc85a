"""Addresses of a transcript's pieces, below `t/<tenant>/sessions/<session>/`."""

from django.urls import path

from stores_app.session import views

urlpatterns = [
    path("transcript/", views.transcript_stretch, name="transcript_stretch"),
    path("messages/<public_id:message_id>/", views.message_link, name="message_link"),
    path("messages/<public_id:message_id>/raw/", views.message_raw, name="message_raw"),
    path("messages/<public_id:message_id>/full/", views.message_full, name="message_full"),
]
