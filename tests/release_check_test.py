"""Tests what `make release-check` runs and writes, on parts of a moment, and what tests/install/fresh_test.py reads in the output of make:
release_check_test.py <source>"""

import contextlib
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(SOURCE / "cmake"), str(SOURCE / "tests/install")]
import fresh_test
import release_check

PARTS = {
    "good": "echo once >>../good",
    "bad": "echo 'w.cpp:2:1: warning: unused'; echo 'x.cpp:3:1: error: no semicolon'; echo ends; exit 3",
    "warned": "echo begins; echo 'w.cpp:2:1: warning: unused'; echo 'make: leaving'; exit 1",
    "silent": "exit 1",
    "without": "echo 'skipped: no root'; exit 77",
}


class ReleaseCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.above = pathlib.Path(folder.name)
        self.tree = self.above / "tree"
        (self.tree / "docs/results").mkdir(parents=True)
        (self.tree / ".gitignore").write_text("/build*/\n")
        self.git("init", "-q")
        self.commit("file", "one")

    def git(self, *words):
        subprocess.run(["git", "-C", self.tree, "-c", "user.name=a", "-c", "user.email=b", *words], check=True, stdout=subprocess.DEVNULL)

    def commit(self, name, text):
        (self.tree / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", text)

    def check(self, *words, parts=None):
        """The exit code and what was said."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = release_check.main(self.tree, parts or PARTS, list(words))
        return code, said.getvalue()

    def page(self):
        """{part: cells} of the page."""
        rows = [[cell.strip() for cell in line.split(" | ")] for line in (self.tree / release_check.PAGE).read_text().splitlines()
                if re.match(r"\| [a-z]", line) and not line.startswith("| part ")]
        return {row[0].strip("| "): row[1:] for row in rows}

    def times(self):
        return (self.above / "good").read_text().count("once")

    def test_every_part_runs_and_has_a_row_with_its_result_commit_machine_and_date(self):
        code, said = self.check()
        self.assertEqual(code, 1, said)
        page = self.page()
        self.assertEqual({part: cells[1] for part, cells in page.items()},
                         {"good": "passed", "bad": "failed: x.cpp:3:1: error: no semicolon", "warned": "failed: w.cpp:2:1: warning: unused",
                          "silent": "failed: no output", "without": "skipped: no root"})
        head = subprocess.run(["git", "-C", self.tree, "rev-parse", "HEAD"], text=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(page["good"][0], f"`{PARTS['good']}`")
        self.assertTrue(head.startswith(page["good"][2]) and len(page["good"][2]) == 10)
        self.assertRegex(page["good"][3], r"^\d+ cores of .+, .+")
        self.assertRegex(page["good"][4], r"^\d{4}-\d\d-\d\d$")
        self.assertIn("| good | ", said)

    def test_what_has_passed_on_this_tree_does_not_run_again(self):
        self.check()
        self.check()
        self.assertEqual(self.times(), 1)
        self.commit(release_check.PAGE, "the page is no part of the tree")
        self.check()
        self.assertEqual(self.times(), 1)
        self.check(parts={**PARTS, "good": PARTS["good"] + " "})
        self.assertEqual(self.times(), 2, "another command")
        self.commit("file", "two")
        self.check("bad")
        self.assertEqual(self.page()["good"][1], "passed, at an earlier commit")
        self.check()
        self.assertEqual(self.times(), 3)

    def test_only_the_named_parts_run(self):
        self.assertEqual(self.check("good")[0], 0)
        self.assertEqual(self.page()["bad"][1], "not run")
        self.assertEqual(self.check("without")[0], 0)
        code, said = self.check("goood")
        self.assertEqual((code, "there is no part goood; the parts are good bad" in said), (2, True), said)

    def test_a_tree_with_changes_is_refused_before_and_after_a_part(self):
        (self.tree / "file").write_text("changed")
        code, said = self.check()
        self.assertEqual((code, "these files are not: file" in said), (2, True), said)
        self.git("checkout", "-q", "file")
        with self.assertRaisesRegex(SystemExit, "writes: the tree has changed meanwhile.*: new"):
            self.check(parts={"writes": "touch new"})
        self.assertFalse((self.tree / release_check.FOLDER / "results.jsonl").exists())

    def test_an_interrupted_part_has_no_result_and_leaves_no_process(self):
        program = (f"import sys, pathlib; sys.path.insert(0, {str(SOURCE / 'cmake')!r}); import release_check; "
                   f"release_check.main(pathlib.Path({str(self.tree)!r}), {{'good': 'true', 'long': 'echo $$ >../pid; sleep 1000'}}, [])")
        process = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (self.above / "pid").exists() or not (self.above / "pid").read_text().strip():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(process.wait(), 0)
        results = (self.tree / release_check.FOLDER / "results.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["part"] for line in results], ["good"])
        self.assertFalse(pathlib.Path("/proc", (self.above / "pid").read_text().strip()).exists())

    def test_every_part_is_a_target_of_the_makefile(self):
        targets = set(re.findall(r"^([a-z-]+):", (SOURCE / "Makefile").read_text(), re.M))
        for part, command in release_check.PARTS.items():
            self.assertTrue(command == ".ci/run" or command.split()[1] in targets, part)
        checks = {target for target in targets if target.startswith("test-") or target.endswith("-check")}
        covered = {command.split()[1] for command in release_check.PARTS.values() if command.startswith("make ")}
        self.assertEqual(checks - covered, {"release-check"}, "what checks a release is a part")


class FreshSystems(unittest.TestCase):
    OUTPUT = """/usr/include/x.h:3:1: warning: ‘a’ may be used uninitialized [-Wmaybe-uninitialized]
CMake Warning (dev) at cmake/commit.cmake:8 (file):
CMake Deprecation Warning at CMakeLists.txt:1
[3/70] Building CXX object warnings_test.cpp.o
Test project /home/ada/ablate/build
      Start  1: a
 1/3 Test  #1: a ..........................   Passed    0.10 sec
 2/3 Test #12: cluster_engines .............***Skipped   0.05 sec
warning: said by a test

100% tests passed, 0 tests failed out of 3
"""

    def test_warnings_are_those_of_the_build(self):
        self.assertEqual([line.split()[0] for line in fresh_test.warnings_in(self.OUTPUT)], ["/usr/include/x.h:3:1:", "CMake", "CMake"])

    def test_tests_are_counted_and_the_skipped_ones_named(self):
        self.assertEqual(fresh_test.tests_in(self.OUTPUT), (3, ["cluster_engines"]))
        self.assertEqual(fresh_test.tests_in("no tests"), (0, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
