"""A headless Chromium for pages on the disk, where the machine has one."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager

__all__ = ["WHY_NOT", "Page", "opened"]

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_DRIVER = shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

#: Why there is no browser; empty if there is one.
WHY_NOT = ""
if webdriver is None:
    WHY_NOT = "selenium is not installed"
elif not _CHROMIUM or not _DRIVER:
    WHY_NOT = "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)"

#: WebGL by software, so that it is the same with and without a graphics card.
_OPTIONS = (
    "--headless=new",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
    "--hide-scrollbars",
)


class Page:
    """A browser with one page, what it logged and what it asked the network for."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1280, height=900, phone=False, dark=False, timeout=60):
        """Open a file at a size of the screen, wait until it is drawn, and return its timing."""
        self.logged()
        self.requested()
        devtools = self.driver.execute_cdp_cmd
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        devtools("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        devtools("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.set_script_timeout(timeout)
        self.driver.get(path.resolve().as_uri())
        return self.run("return await viewhop.ready")

    def run(self, script, *arguments):
        """What an asynchronous piece of script returns; its error is raised here."""
        body = (
            "const done = arguments[arguments.length - 1];"
            f"(async (...args) => {{ {script} }})(...arguments)"
            ".then((value) => done({ value }), (error) => done({ error: String(error.stack) }))"
        )
        found = self.driver.execute_async_script(body, *arguments)
        if "error" in found:
            raise AssertionError(found["error"])
        return found.get("value")

    def logged(self):
        """What the console got since the last call, warnings and worse."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("WARNING", "SEVERE")
        ]

    def requested(self):
        """Addresses that were asked for since the last call."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        return [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]


@contextmanager
def opened():
    """A browser, closed at the end."""
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    for option in _OPTIONS:
        options.add_argument(option)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has no sandbox for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_DRIVER))
    try:
        yield Page(driver)
    finally:
        driver.quit()
