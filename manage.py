#!/usr/bin/env python
"""Django's entry point: `python manage.py help` lists the commands."""

import sys

from learnml.command_line import main

if __name__ == "__main__":
    main(sys.argv)
