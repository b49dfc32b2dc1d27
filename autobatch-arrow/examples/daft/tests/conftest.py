"""The tests run in this process, or on two workers of Ray if DAFT_RUNNER is `ray`. No test waits for ever."""

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import batched  # noqa: E402


@contextlib.contextmanager
def limited(seconds, end, *arguments):
    timer = threading.Timer(seconds, end, arguments)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@pytest.fixture(scope="session", autouse=True)
def engine():
    batched.load()
    is_on_ray = os.environ.get("DAFT_RUNNER") == "ray"
    with limited(600, os._exit, 1), batched.two_workers() if is_on_ray else contextlib.nullcontext():
        yield


@pytest.fixture(autouse=True)
def time_limit(engine):
    """On Ray the test fails, and Ray is shut down; otherwise the process ends."""
    with limited(120, os.kill, os.getpid(), signal.SIGTERM):
        yield
