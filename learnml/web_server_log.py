"""The web server's lines in the form of all others."""

from __future__ import annotations

import logging.config
from typing import Any

from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from gpu_worker.logs import configuration


class WebServerLogger(Logger):
    """Leaves the writing of lines to the root's handler."""

    def setup(self, cfg: Any) -> None:
        """Configure what lines look like; gunicorn calls it at its start and each reload."""
        super().setup(cfg)
        logging.config.dictConfig(configuration())
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True
