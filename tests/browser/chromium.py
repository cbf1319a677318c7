"""Debian's chromium without a screen, driven over its DevTools protocol: JSON messages on two pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe")
LIMIT_S = 60


class Chromium:
    """A browser with a profile of its own, which is gone afterwards."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp()
        from_us, self.to_it = os.pipe()
        self.from_it, to_us = os.pipe()

        def place_pipes():
            high_in, high_out = os.dup2(from_us, 100), os.dup2(to_us, 101)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            [PROGRAM, *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"], close_fds=False, preexec_fn=place_pipes,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.buffer, self.number, self.events = b"", 0, []
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_it)
        os.close(self.from_it)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_it], [], [], left)[0]:
                raise TimeoutError("chromium does not answer")
            read = os.read(self.from_it, 1 << 20)
            if not read:
                raise OSError("chromium has ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_it, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, dark=False, media=""):
        return Page(self, path, width, dark, media)


class Page:
    """A file shown at a width in pixels, by day or by night, on a screen or on paper."""

    def __init__(self, browser, path, width, dark, media):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.events.clear()
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=f"file://{path}")
        self.wait_for("Page.loadEventFired")

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def wait_for(self, method):
        deadline = time.monotonic() + LIMIT_S
        while not any(event.get("method") == method for event in self.browser.events):
            self.browser.events.append(self.browser.receive(deadline))

    def said(self):
        """What the console, the log and exceptions said."""
        words = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.browser.events if event.get("method") in words]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("method") == "Network.requestWillBeSent"]

    def evaluate(self, expression):
        """The value of an expression; the page's own scripts stay off."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
