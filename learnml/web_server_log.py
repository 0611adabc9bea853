"""The web server's log in the common format."""

from __future__ import annotations

import logging.config
from typing import Any

from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from gpu_worker.logs import configuration


class WebServerLogger(Logger):
    """Leaves writing to the root logger's handler."""

    def setup(self, cfg: Any) -> None:
        """Configure the format; gunicorn calls it at its start and at each reload."""
        super().setup(cfg)
        logging.config.dictConfig(configuration())
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True
