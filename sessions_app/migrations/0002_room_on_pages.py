from django.db import migrations


class Migration(migrations.Migration):
    """Leaves room on the pages of rows that are updated at every append or event, so that the new version stays there."""

    dependencies = [("sessions_app", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE sessions_app_session SET (fillfactor = 80);"
            "ALTER TABLE sessions_app_eventlog SET (fillfactor = 70);",
            "ALTER TABLE sessions_app_session RESET (fillfactor);"
            "ALTER TABLE sessions_app_eventlog RESET (fillfactor);",
        )
    ]
