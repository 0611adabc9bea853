import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    # In a migration of its own: PostgreSQL alters no table in which rows were just written.

    dependencies = [
        ('courses', '0008_identity'),
    ]

    operations = [
        migrations.AlterField('chapter', 'uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
        migrations.AlterField('course', 'uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
    ]
