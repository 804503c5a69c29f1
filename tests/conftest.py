"""Hypothesis profiles: quick and repeatable by default, ten times as many random examples with VERTEBRA_SOAK=1."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

LONGEST = "test_long_use.py"
"""Its minutes begin first, so that no worker has to wait for them at the end."""

# A deadline in ms that a busy computer keeps: only what hangs fails.
settings.register_profile("default", max_examples=100, derandomize=True, database=None, deadline=60_000)
settings.register_profile("soak", max_examples=1000, database=None, deadline=60_000, print_blob=True)
settings.load_profile("soak" if os.environ.get("VERTEBRA_SOAK") == "1" else "default")

# A shell that starts the tests in the background lets them, and all processes that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One folder for all workers of a run, which is removed as pytest removes its own."""
    own = tmp_path_factory.getbasetemp()
    os.environ["VERTEBRA_TEST_RUN"] = str(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name != LONGEST)
