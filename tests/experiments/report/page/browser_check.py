"""Opens a page from disk in headless Chromium and prints what the browser says of it, as JSON.

Speaks the DevTools protocol over two pipes; needs nothing but Python and Chromium (or CHROME=program).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, program, folder):
        to_browser, self.outgoing = os.pipe()
        self.incoming, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + folder]
        # The browser reads descriptor 3 and writes descriptor 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(["bash", "-c", command, "bash", program, *flags],
                                        pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.events, self.session = b"", 0, [], None

    def receive(self):
        while b"\0" not in self.rest:
            got = os.read(self.incoming, 1 << 16)
            if not got:
                raise RuntimeError("the browser ended")
            self.rest += got
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=address)
        while self.value("document.readyState + location.href") != "complete" + address:
            time.sleep(0.02)


PAPER = 1355  # pixels of a line on A4 on its side, within margins of 14 mm, at the three quarters of their size at which browsers print


def overflow(browser, width):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=True)
    return browser.value("document.documentElement.scrollWidth") - width


def overflow_on_paper(browser):
    browser.call("Emulation.setEmulatedMedia", media="print", features=[])
    over = overflow(browser, PAPER)
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    return over


DECODED = """Promise.all([...document.querySelectorAll('svg image')].map(picture => {
  const copy = new Image(); copy.src = picture.href.baseVal; return copy.decode().then(() => 0, () => 1);
})).then(broken => ({ pictures: broken.length, broken: broken.reduce((a, b) => a + b, 0) }))"""


def check(browser, path, widths=(320, 390, 1300, 1400)):
    browser.open("file://" + os.path.abspath(path))
    colours = {}
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours[scheme] = browser.value("getComputedStyle(document.body).backgroundColor")
    overflows = {width: overflow(browser, width) for width in widths} | {"paper": overflow_on_paper(browser)}
    named = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded")
    requests = [event["params"]["request"]["url"] for event in browser.events
                if event["method"] == "Network.requestWillBeSent"]
    requests = [address for address in requests if not address.startswith("data:")]
    return {"requests": sorted({address[:22] for address in requests}),
            "console": [event["params"] for event in browser.events if event["method"] in named],
            "background": colours, "overflow": overflows,
            "images": browser.value(DECODED),
            "title": browser.value("document.title")}


def main():
    program = os.environ.get("CHROME") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        print(json.dumps({"skipped": "no chromium on this machine"}))
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            print(json.dumps(check(browser, sys.argv[1])))
        finally:
            os.close(browser.outgoing)
            try:
                browser.process.wait(10)
            except subprocess.TimeoutExpired:
                browser.process.kill()


if __name__ == "__main__":
    main()
