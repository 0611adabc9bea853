import uuid

import django.db.models.deletion
from django.db import migrations, models

# What LearnML brings has its ids in its files; what is here already gets the same ones.
LIBRARY = {
    'Course': {
        'learn-ml-from-scratch': 'ba075103-4809-4276-9e15-2cebb05dc74d',
    },
    'Chapter': {
        'deep-neural-representations': 'afcc3624-992f-4c78-b78a-ed151698a482',
        'softmax-and-cross-entropy': '94d6c3c8-88fb-4769-a868-753c19bea0b0',
        'make-it-fast': '5d02b035-d951-49db-8228-7588ef9bbdc6',
    },
}


def give_ids(apps, schema_editor):
    for name, known in LIBRARY.items():
        rows = apps.get_model('courses', name).objects
        for pk, slug in rows.values_list('pk', 'slug'):
            rows.filter(pk=pk).update(uid=known.get(slug) or uuid.uuid4())


def _old_slug(name, owner):
    return migrations.CreateModel(
        name=name,
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('slug', models.CharField(max_length=100, unique=True)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            (owner, models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='old_slugs', to=f'courses.{owner}')),
        ],
        options={
            'ordering': ['slug'],
            'abstract': False,
        },
    )


class Migration(migrations.Migration):

    dependencies = [
        ('courses', '0007_held_forms'),
    ]

    operations = [
        migrations.AddField('chapter', 'uid', models.UUIDField(null=True, editable=False)),
        migrations.AddField('course', 'uid', models.UUIDField(null=True, editable=False)),
        migrations.RunPython(give_ids, migrations.RunPython.noop),
        _old_slug('OldChapterSlug', 'chapter'),
        _old_slug('OldCourseSlug', 'course'),
    ]
