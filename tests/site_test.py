"""Builds the site and looks at it in Chromium: site_test.py <source folder> <program>. Skipped without the tools of `make site`."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
ZENSICAL = pathlib.Path(os.environ.get("ZENSICAL", SOURCE / "build-site/tools/bin/zensical"))
CHROMIUM = os.environ.get("CHROME") or shutil.which("chromium")
sys.path.insert(0, str(SOURCE / "tests/experiments/report/page"))

import browser_check

LOOKED_AT = ("index.html", "statistics.html", "configuration.html", "gallery.html", "frontier.html", "results/index.html", "atlas/index.html",
             "atlas/claims.html", "atlas/claims/gates.html", "results/atlas/ladder.html")


def load(path):
    """The module of a file, since `site` is the name of another one."""
    spec = importlib.util.spec_from_file_location(path.stem + "_builder", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Problems(unittest.TestCase):
    def test_what_leads_nowhere_or_comes_from_elsewhere_is_told(self):
        builder = load(SOURCE / "cmake/site/site.py")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.html").write_text('<a href="b.html">1</a><a href="#here">2</a><a href="#there" id="here">3</a>'
                                                         '<script src="https://elsewhere.org/x.js"></script><a href="https://elsewhere.org">4</a>')
            (pathlib.Path(folder) / "a.css").write_text("@font-face { src: url('//elsewhere.org/f.woff') }")
            self.assertEqual(sorted(builder.problems(pathlib.Path(folder))),
                             ["a.css: loads //elsewhere.org/f.woff", "a.html: #there leads to no place of a.html", "a.html: b.html leads nowhere",
                              "a.html: loads https://elsewhere.org/x.js"])

    def test_links_of_the_repository_become_those_of_the_site(self):
        stage = load(SOURCE / "cmake/site/site.py").Stage({"README.md": "[s](docs/statistics.md#tests) [l](LICENSE) `x`\n```\n[c](docs/no.md)\n```\n",
                                                           "docs/statistics.md": "[r](../README.md) [e](../experiments/examples) [w](https://w.org)"})
        self.assertEqual(stage.pages["index.md"], "[s](statistics.md#tests) [l](LICENSE.md) `x`\n```\n[c](docs/no.md)\n```\n")
        self.assertEqual(stage.pages["statistics.md"], "[r](index.md) [e](experiments/examples/index.md) [w](https://w.org)")
        self.assertIn("- [attention.yaml](attention.yaml.md)", stage.pages["experiments/examples/index.md"])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        cls.built = subprocess.run([sys.executable, "-B", SOURCE / "cmake/site/site.py", PROGRAM, ZENSICAL, cls.folder], capture_output=True, text=True)
        cls.site = cls.folder / "site"
        if not (cls.site / "llms.txt").is_file():
            raise AssertionError(cls.built.stdout + cls.built.stderr)
        cls.browser = browser_check.Browser(CHROMIUM, str(cls.folder / "browser"))
        cls.addClassCleanup(cls.browser.process.wait)
        cls.addClassCleanup(os.close, cls.browser.outgoing)

    def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(self):
        self.assertEqual((self.built.returncode, self.built.stdout.splitlines()[-1:][0][:6]), (0, "site: "), self.built.stdout + self.built.stderr)

    def test_pages_open_without_a_message_a_request_or_an_overflow(self):
        for page in LOOKED_AT:
            with self.subTest(page):
                self.browser.events.clear()
                found = browser_check.check(self.browser, self.site / page, widths=(400, 1400))
                said = [message for message in found["console"] if "issue" not in message]  # issues are advice on forms
                self.assertEqual(({address[:8] for address in found["requests"]}, said), ({"file:///"}, []))
                self.assertEqual({width: max(over, 0) for width, over in found["overflow"].items()}, {400: 0, 1400: 0, "paper": 0})

    def test_the_choices_are_a_screen_high_with_one_line_for_each(self):
        self.browser.open(f"file://{self.site}/atlas/index.html")
        self.browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
        sections = self.browser.value("document.querySelectorAll('.choice h2').length")
        rows = self.browser.value("[...document.querySelectorAll('.choices tr')].map(row => row.getBoundingClientRect()).map(at => [at.bottom, at.height])")
        self.assertEqual(len(rows), sections + 1, "its head, and a row for each section below it")
        self.assertLessEqual(max(bottom for bottom, _ in rows), 900)
        self.assertLess(max(height for _, height in rows), 1.5 * min(height for _, height in rows), "a line")

    def test_pages_are_light_or_dark_as_the_reader_has_it(self):
        for scheme, name in (("light", "default"), ("dark", "slate")):
            self.browser.open("about:blank")
            self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.browser.call("Page.navigate", url=f"file://{self.site}/index.html")
            self.wait_for(f"document.body?.dataset.mdColorScheme == '{name}'")

    def test_a_search_finds_a_page_from_a_disk(self):
        self.browser.open(f"file://{self.site}/index.html")
        self.browser.value("document.querySelector('.md-search__button').click()")
        self.wait_for("!!document.activeElement.shadowRoot?.querySelector('input') && !!document.querySelector('iframe')?.contentWindow.onmessage")
        self.assertIn("/atlas/index.html", self.wait_for(SEARCH % "use SwiGLU"))

    def wait_for(self, expression):
        """The value, as soon as it says something, within ten seconds."""
        for _ in range(40):
            if found := self.browser.value(expression):
                return found
            time.sleep(0.25)
        return self.fail(expression)

    def test_every_page_has_its_markdown_beside_it_and_in_the_list_for_programs(self):
        listed = (self.site / "llms.txt").read_text()
        for page in set(self.site.rglob("*.html")) - {self.site / "positions.html"}:  # which the program draws
            self.assertTrue(page.with_suffix(".md").is_file(), page)
        self.assertIn("- [Statistics](statistics.md)", listed)
        for page, kept in (("atlas/index.md", " | SwiGLU 28k +0.019 | "), ("run_folder.md", "`cancelled-<line>`")):
            self.assertIn(kept, (self.site / page).read_text())


SEARCH = """(() => {
  const root = document.activeElement.shadowRoot, field = root.querySelector('input');
  if (!field.value) { field.value = '%s'; field.dispatchEvent(new Event('input', { bubbles: true })); }
  return [...root.querySelectorAll('a')].map(one => one.href).join(' ');
})()"""

if __name__ == "__main__":
    if not ZENSICAL.is_file() or not CHROMIUM:
        print("skipped: needs the tools of `make site`, and Chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
