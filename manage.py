#!/usr/bin/env python
"""Django's entry point: `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")
    if sys.argv[1:2] == ["up"]:
        # The supervisor needs no Django; its children load it, once each, side by side.
        from learnml.supervisor.main import main as up

        sys.exit(up(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
