"""The worker's Celery application: `celery -A gpu_worker.celery_app worker -Q cpu -c 1`.

All settings come from the environment, see `gpu_worker.messages.queues`:

    REDIS_URL or LEARNML_QUEUE_SOCKET   the broker
    LEARNML_WORKER_KEY                  what this worker signs with, see `messages.signing`
    LEARNML_NODE                        this worker's name, default host name and process id
    LEARNML_HEARTBEAT_SECONDS           between signs of life while grading, default 5
    LEARNML_NODE_REPORT_SECONDS         between reports of the node itself, default 30
    LEARNML_GPU_LOCK_FOLDER             where workers of queue gpu keep the locks of devices
    LEARNML_GPU_KERNELS_FOLDER          where they keep kernels that they compiled ahead
    LEARNML_ALLOW_NO_NAMESPACES         1: start at isolation level B, see docs/how-to
    LEARNML_UNSAFE_DEVELOPMENT          1: start without a sandbox where nothing better works
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import (
    celeryd_after_setup,
    celeryd_init,
    setup_logging,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
)

from gpu_worker import logs
from gpu_worker.gpu.fleet import Watch, fleet
from gpu_worker.gpu.intake import Intake
from gpu_worker.messages import queues, transport
from gpu_worker.messages.signing import KeyMissing, key_from_environment
from gpu_worker.sandbox import isolation
from gpu_worker.sandbox.errors import RefusedError
from gpu_worker.worker.reporter import NodeReporter

app = Celery("gpu_worker")
app.config_from_object(queues.celery_settings(queues.broker_url_from_environment()))
app.conf.imports = ("gpu_worker.worker.tasks",)
setup_logging.connect(logs.configure)
logs.follow_messages()
transport.use()

EXIT_REFUSED = 78
"""The exit code where submissions cannot be isolated, or the worker has no key (EX_CONFIG)."""

logger = logging.getLogger(__name__)


@celeryd_init.connect
def _limit_tasks(conf: Any = None, options: Any = None, **_: Any) -> None:
    """Give a worker the time limit of the queue that it was started for."""
    if queues.QUEUE_GPU in (options.get("queues") or ()):
        conf.task_time_limit = queues.hard_time_limit_seconds(queues.QUEUE_GPU)


@celeryd_after_setup.connect
def _have_a_key_or_refuse(**_: Any) -> None:
    """Find out that nobody would believe this worker before it takes a job."""
    try:
        key_from_environment()
    except KeyMissing as error:
        logger.critical("%s", error)
        raise SystemExit(EXIT_REFUSED) from None


@celeryd_after_setup.connect
def _isolate_or_refuse(**_: Any) -> None:
    """Find out the level of isolation before anything is taken from the queue; refuse if too low.

    Here, in the worker's main process: its children inherit what was found.
    """
    # Logged whatever the level is: an operator must be able to see it.
    logging.getLogger(isolation.__name__).setLevel(logging.INFO)
    try:
        isolation.establish()
    except RefusedError as error:
        logger.critical("%s", error)
        raise SystemExit(EXIT_REFUSED) from None


@worker_ready.connect
def _announce(sender: Any = None, **_: Any) -> None:
    """Report the node from now on."""
    # Celery warns of this setting whenever the broker is lost, but it is deliberate: see
    # `messages.queues`. Set here, since Celery installs filters of its own as it starts.
    warnings.filterwarnings("ignore", "\\s*In Celery 5.1", CPendingDeprecationWarning)
    consumed = [queue.name for queue in sender.app.amqp.queues.consume_from.values()]
    queue = consumed[0] if consumed else queues.QUEUE_CPU
    if queue == queues.QUEUE_GPU:
        isolated = bool(isolation.establish().setup.bubblewrap)
        intake = Intake(sender, isolated=isolated)
        # Until a device has been examined, other workers should take the jobs.
        intake.follow("None has been examined yet.")
        Watch(fleet(), intake.follow).start()
    NodeReporter(sender.app, queue).start()


@worker_process_init.connect
def _start_zygote(**_: Any) -> None:
    """Start the zygote from the child's main thread: it dies with the thread that made it."""
    from gpu_worker.worker import tasks

    tasks.zygote.start()


@worker_process_init.connect
def _remember_what_is_loaded(**_: Any) -> None:
    from gpu_worker.worker import exercise_checks

    exercise_checks.remember_what_is_loaded()


@worker_process_shutdown.connect
def _close_zygote(**_: Any) -> None:
    from gpu_worker.worker import tasks

    tasks.zygote.close()
    tasks.lane.close()
