"""Headless Chromium, spoken to over a pipe in its DevTools protocol: no driver and no network are needed."""

import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """One tab. `failures` collects what pages could not load, and their scripts' errors."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()

        def as_three_and_four():
            # Moved up first, since either may be 3 or 4 already.
            ends = [os.dup2(theirs_in, 100), os.dup2(theirs_out, 101)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            close_fds=False, preexec_fn=as_three_and_four, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.session, self.failures = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise RuntimeError("chromium ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(text)
        kind, values = message.get("method"), message.get("params", {})
        if kind == "Network.loadingFailed" and not values.get("canceled"):
            self.failures.append(values["errorText"])
        elif kind == "Network.requestWillBeSent" and not values["request"]["url"].startswith(("file:", "data:", "about:", "blob:")):
            self.failures.append("asks the network for " + values["request"]["url"])
        elif kind == "Runtime.exceptionThrown":
            self.failures.append(values["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return message

    def call(self, method, **values):
        self.number += 1
        number = self.number
        request = {"id": number, "method": method, "params": values}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while (message := self.message()).get("id") != number:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, url, width=1400, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        while self.evaluate("document.readyState") != "complete" or not self.evaluate("location.protocol === 'file:' && !!document.body"):
            time.sleep(0.02)

    def evaluate(self, script):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")
