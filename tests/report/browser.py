# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is spoken to over a pipe (the DevTools protocol): no library, no port."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find():
    """The browser, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One page. `problems` are the errors, warnings and exceptions that it told its console."""

    def __init__(self, width=1280, height=900):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # a child of the browser may still write there
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def ends():  # as the browser wants them: it reads 3 and writes 4
            os.dup2(to_browser, 30)
            os.dup2(from_browser, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={self.home.name}",
             f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=ends,
            env=dict(os.environ, HOME=self.home.name))
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.session, self.problems, self.events = b"", 0, None, [], []
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.into, 1 << 20)
            if not part:
                raise AssertionError("the browser has gone")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        what, more = message.get("method"), message.get("params")
        if what == "Runtime.exceptionThrown":
            self.problems.append(more["exceptionDetails"].get("exception", {}).get("description", more))
        elif what == "Runtime.consoleAPICalled" and more["type"] in ("error", "warning", "assert"):
            self.problems.append(more["args"])
        elif what == "Log.entryAdded" and more["entry"]["level"] in ("error", "warning"):
            self.problems.append(more["entry"]["text"])
        elif what:
            self.events.append(what)
        return message

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def open(self, path):
        self.events.clear()
        self.ask("Page.navigate", url="file://" + path)
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def run(self, script):
        """The value of an expression, as JSON has it."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, (script, answer["exceptionDetails"])
        return answer["result"].get("value")

    def dark(self, on):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def size(self, width, height):
        """Of the window; a phone's is narrower than a window can be."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
        except (AssertionError, OSError):
            self.process.kill()
        self.process.wait(20)
        os.close(self.into)
        os.close(self.out)
        self.home.cleanup()
