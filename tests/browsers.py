"""A browser for the tests that look at pages: one that is installed, or, run as a program, one that it installs.

`python -m tests.browsers` finds Chrome or Chromium, else installs it with apt (as root) or as playwright's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--use-gl=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
"""Draw in software, and speak to nobody but the page."""


def find_browser() -> str | None:
    """Path of a browser: the one that VERTEBRA_BROWSER names, one on the path, or playwright's own."""
    named = os.environ.get("VERTEBRA_BROWSER")
    return named or next((path for path in map(shutil.which, NAMES) if path), None) or _playwrights_own()


def _playwrights_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def browser_or_skip() -> str:
    """Path of a browser; without one the test is skipped and says so, and fails where CI=true."""
    found = find_browser()
    if found is None:
        reason = "no Chrome or Chromium found, and none could be installed; set VERTEBRA_BROWSER to its path"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def install_browser() -> str | None:
    """Find a browser, or try to install one."""
    for attempt in (None, _install_with_apt, _install_with_playwright):
        if attempt is not None:
            attempt()
        if (found := find_browser()) is not None:
            return found
    return None


def _install_with_apt() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium with apt for the tests that look at pages ...", flush=True)
        silent = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", "chromium"]):
            subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL, check=False, env=silent)


def _install_with_playwright() -> None:
    print("Installing playwright's Chromium for the tests that look at pages ...", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


if __name__ == "__main__":
    print(install_browser() or "No browser: the tests that look at pages will be skipped.")
