"""Claims about `ablate data fetch`, with the program that ABLATE names."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import SOURCE, FolderTest, HttpServer, response

from recipes import HOSTS

BYTES = 1115394  # of tinyshakespeare's one file


class VerbTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.to, self.program = self.folder / "to", os.environ["ABLATE"]

    def fetch(self, *words, **options):
        done = subprocess.run([self.program, "data", "fetch", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              **options)
        return done.returncode, done.stdout

    def fetch_from(self, server):
        return self.fetch("tinyshakespeare", "--to", self.to, "--from", server.url + "/")

    def test_what_it_cannot_mean_is_a_mistake_of_use(self):
        for words, message in (
                (["tinyshakespear", "--to", "x"], "there is no corpus 'tinyshakespear'; did you mean 'tinyshakespeare'?"),
                (["--to", "x"], "name a corpus: tinyshakespeare, multi30k"), (["multi30k"], "name the folder to fetch into with --to"),
                (["multi30k", "--to", "x", "--from", self.to], "--from: there is no folder"), (["--patience", "0", "multi30k"], "--patience"),
                (["multi30k", "--to", "x", "--from", "ftp://localhost"], "--from takes a folder or a URL of http or https")):
            with self.subTest(words):
                code, said = self.fetch(*words)
                self.assertEqual(code, 2, said)
                self.assertIn(message, said)

    def test_lists_its_corpora(self):
        code, said = self.fetch("--list")
        self.assertEqual((code, [line.split()[0] for line in said.splitlines()]),
                         (0, ["tinyshakespeare", "multi30k", "debian-en-de", "debian-en-fr", "debian-en-it", "debian-titles",
                              "debian-sections", "cmudict"]))
        with open("/dev/full", "w") as full:
            done = subprocess.run([self.program, "data", "fetch", "--list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (7, "ablate: [Errno 28] No space left on device\n"))

    def test_other_bytes_end_with_three_and_a_broken_server_with_seven(self):
        for code, why, answer in ((3, "has the SHA-256", response("200 OK", b"x" * BYTES)), (7, "answers 503", response("503 Busy"))):
            with HttpServer(lambda path, begin, answer=answer: answer) as server:
                ended, said = self.fetch_from(server)
            self.assertEqual(ended, code, said)
            self.assertIn("licence: Shakespeare's words are in the public domain.", said)
            self.assertIn(why, said)
            self.assertFalse((self.to / "tinyshakespeare").exists())

    def test_a_folder_that_cannot_be_written_ends_with_seven(self):
        self.to.write_text("a file")
        self.assertEqual(self.fetch("multi30k", "--to", self.to)[0], 7)

    def test_after_ctrl_c_the_same_command_continues(self):
        part = self.to / ".fetch/86c4e6aa9db7c042-input.txt.part"
        for stop in (signal.SIGINT, signal.SIGTERM):
            with HttpServer(lambda path, begin: [response("200 OK", b"x" * 1000, BYTES), None]) as server:
                process = subprocess.Popen([self.program, "data", "fetch", "tinyshakespeare", "--to", self.to, "--from", server.url],
                                           stderr=subprocess.DEVNULL)
                deadline = time.monotonic() + 600
                while not (server.asked and part.exists() and part.stat().st_size == 1000) and time.monotonic() < deadline:
                    time.sleep(0.01)
                process.send_signal(stop)
                self.assertEqual(process.wait(60), 75)
            self.assertEqual(part.stat().st_size, 1000)
            self.assertEqual(os.listdir(self.to), [".fetch"])
        with HttpServer(lambda path, begin: response("404 Not Found")) as server:
            self.fetch_from(server)
            self.assertEqual(server.asked[0], ("/data/tinyshakespeare/input.txt", 1000))

    def test_an_installed_program_runs_the_script_that_is_installed_with_it(self):
        script = self.folder / "share/ablate/experiments/corpora"
        (self.folder / "bin").mkdir()
        shutil.copy(self.program, self.folder / "bin")
        self.program = self.folder / "bin/ablate"
        code, said = self.fetch("--list", cwd=SOURCE)
        self.assertEqual(code, 7)
        self.assertIn(f"the script that fetches corpora is neither {script} nor", said)
        script.mkdir(parents=True)
        (script / "__main__.py").write_text("print('installed')\nraise SystemExit(5)\n")
        self.assertEqual(self.fetch("--list"), (5, "installed\n"))

    def test_without_python_it_ends_with_seven(self):
        code, said = self.fetch("--list", env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(code, 7)
        self.assertIn("cannot run 'python3'", said)

    def test_addresses_stand_in_one_table(self):
        """And none is a package registry's, whose client knows where it is."""
        text = "".join(file.read_text() for file in (SOURCE / "experiments/corpora").glob("*.py"))
        self.assertEqual(set(re.findall(r"https?://\w[^\s\"]+", text)), {root for roots in HOSTS.values() for root in roots})


if __name__ == "__main__":
    unittest.main()
