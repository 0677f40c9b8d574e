"""Claims about the folder of a corpus: whole or not at all, with a record, verified ever after."""

import fcntl
import hashlib
import io
import json
import threading
import unittest
import unittest.mock

from support import FolderTest, HttpServer, answer_of, response

import corpus
from download import DATA, IO, USAGE, Failure
from recipes import HOSTS, RECIPES, Recipe, Source


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make(sources):
    return {"train.en": sources["one.txt"], "test.en": sources["two.txt"]}, {"pairs": 7}


GREETINGS = Recipe("what people say", "Everybody may use it.", "Comparable with nothing.",
                   [Source("greetings", "a/one.txt", 3, sha256(b"one")), Source("greetings", "b/two.txt", 3, sha256(b"two"))], "", make)


def serve(path, begin):
    files = {"/a/one.txt": b"one", "/b/two.txt": b"two"}
    return answer_of(begin, files[path]) if path in files else response("404 Not Found")


class CorpusTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.to, self.notes = self.folder / "to", ""
        HOSTS["greetings"] = ["https://example.invalid"]
        self.addCleanup(HOSTS.pop, "greetings")

    def fetch(self, mirror, recipe=GREETINGS):
        notes = io.StringIO()
        try:
            corpus.fetch("greetings", recipe, self.to, mirror, 60, notes)
        finally:
            self.notes = notes.getvalue()

    def fails(self, code, mirror, recipe=GREETINGS):
        with self.assertRaises(Failure) as caught:
            self.fetch(mirror, recipe)
        self.assertEqual(caught.exception.code, code, str(caught.exception))

    def text(self, file):
        return (self.to / "greetings" / file).read_text()

    def test_it_has_files_and_a_record_of_their_sources(self):
        with HttpServer(serve) as server:
            self.fetch(server.url)
        self.assertEqual((self.text("train.en"), self.text("test.en")), ("one", "two"))
        record = json.loads(self.text("corpus.json"))
        self.assertEqual(record["licence"], "Everybody may use it.")
        self.assertEqual(record["sources"][0]["from"], "https://example.invalid/a/one.txt")
        self.assertEqual(record["files"][1], {"name": "train.en", "bytes": 3, "sha256": sha256(b"one")})
        self.assertEqual(record["counts"], {"pairs": 7})
        self.assertEqual(record["sha256"], sha256(f"{sha256(b'two')}  test.en\n{sha256(b'one')}  train.en\n".encode()))
        self.assertIn("7 pairs\n", self.notes)
        self.assertIn("Comparable with nothing.\n", self.notes)

    def test_the_licence_is_shown_before_anything_is_asked_for(self):
        self.fails(IO, "http://127.0.0.1:1")
        self.assertIn("licence: Everybody may use it.\n", self.notes)
        self.assertIn("download: 2 files, 0.0 MB, from http://127.0.0.1:1\n", self.notes)

    def test_other_bytes_than_the_published_ones_are_named(self):
        with HttpServer(serve) as server:
            self.fetch(server.url, GREETINGS._replace(sha256="0" * 64))
        self.assertIn("warning: Ablate's published results are of other bytes", self.notes)

    def test_after_a_failure_the_same_call_asks_only_for_the_rest(self):
        with HttpServer(lambda path, begin: serve(path, begin) if path == "/a/one.txt" else response("500 Broken")) as half:
            self.fails(IO, half.url)
        self.assertFalse((self.to / "greetings").exists())
        with HttpServer(serve) as server:
            self.fetch(server.url)
            self.assertEqual(server.asked, [("/b/two.txt", None)])
        self.assertEqual([file.name for file in (self.to / ".fetch").iterdir()], [".lock"])

    def test_a_recipe_that_fails_leaves_no_corpus(self):
        def broken(sources):
            raise OSError("no")
        for make_it in (broken, lambda sources: ({"absent/folder": b"x"}, {})):
            with HttpServer(serve) as server, self.assertRaises(OSError):
                self.fetch(server.url, GREETINGS._replace(make=make_it))
            self.assertEqual([file.name for file in self.to.iterdir()], [".fetch"])
            self.assertFalse((self.to / ".fetch/greetings").exists())

    def test_the_folder_has_its_name_only_when_it_is_whole(self):
        synced = []
        with HttpServer(serve) as server, unittest.mock.patch("corpus.sync", lambda path: synced.append((self.to / "greetings").exists())):
            self.fetch(server.url)
        self.assertEqual(synced, [False] * 4 + [True])

    def test_what_a_killed_fetch_was_writing_is_written_again(self):
        (self.to / ".fetch/greetings").mkdir(parents=True)
        (self.to / ".fetch/greetings/train.en").write_text("half")
        with HttpServer(serve) as server:
            self.fetch(server.url)
        self.assertEqual(self.text("train.en"), "one")

    def test_a_corpus_that_is_there_is_verified_without_a_server(self):
        with HttpServer(serve) as server:
            self.fetch(server.url)
        self.fetch("http://127.0.0.1:1")
        self.assertIn("7 pairs\n", self.notes)
        (self.to / "greetings/train.en").write_text("damaged")
        self.fails(DATA, "http://127.0.0.1:1")
        (self.to / "greetings/corpus.json").write_text("{")
        self.fails(DATA, "http://127.0.0.1:1")

    def test_a_folder_that_was_not_fetched_is_left_alone(self):
        (self.to / "greetings").mkdir(parents=True)
        (self.to / "greetings/mine").write_text("mine")
        self.fails(USAGE, "http://127.0.0.1:1")
        self.assertEqual(self.text("mine"), "mine")

    def test_two_at_once_take_turns(self):
        (self.to / ".fetch").mkdir(parents=True)
        for name in ("one", "two"):
            (self.folder / f"{name}.txt").write_text(name)
        notes, waits = io.StringIO(), threading.Event()
        notes.flush = lambda: waits.set() if "waiting for another fetch" in notes.getvalue() else None
        with open(self.to / ".fetch/.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            other = threading.Thread(target=corpus.fetch, args=("greetings", GREETINGS, self.to, str(self.folder), 60, notes))
            other.start()
            self.assertTrue(waits.wait(60))
            self.assertFalse((self.to / "greetings").exists())
        other.join()
        self.assertEqual(self.text("train.en"), "one")

    def test_every_recipe_has_a_licence_and_pinned_sources(self):
        for name, recipe in RECIPES.items():
            with self.subTest(name):
                self.assertEqual((recipe.licence[-1], recipe.comparable[-1]), (".", "."))
                for pinned in (recipe, *recipe.sources):
                    self.assertRegex(pinned.sha256, "^[0-9a-f]{64}$")
                self.assertEqual(len({source.name for source in recipe.sources}), len(recipe.sources))
                self.assertEqual({source.origin for source in recipe.sources} - {"apt-get", "pip", *HOSTS}, set())


if __name__ == "__main__":
    unittest.main()
