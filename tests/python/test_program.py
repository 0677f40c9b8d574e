"""The command `ablate` of the wheel, and how failures are told."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import ablate_lab
import example
from ablate_lab import _program


def command(*words, **environment):
    """The exit code and the error of `ablate` in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "ablate_lab", *words], env={**os.environ, **environment}, text=True, capture_output=True)
    return done.returncode, done.stderr


class Command(example.Case):
    def test_the_command_is_the_program_with_its_exit_codes(self):
        self.assertEqual(command("--version"), (0, ""))
        self.assertEqual(command("run", "none.yaml"), (2, "ablate: none.yaml: cannot be read: No such file or directory\n"))

    def test_the_command_becomes_the_program(self):
        self.program("echo $$; exit 75\n")
        process = subprocess.Popen([sys.executable, "-m", "ablate_lab"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(int(process.communicate()[0]), process.pid)
        self.assertEqual(process.returncode, 75)

    def test_a_program_that_is_not_there_is_named(self):
        nothing = f"{self.folder}/nothing"
        self.assertEqual(command(ABLATE=nothing), (7, f"ablate: {nothing} cannot be started: No such file or directory\n"))
        self.environment(ABLATE=nothing)
        with self.assertRaisesRegex(ablate_lab.AblateError, f"^{nothing} cannot be started: No such file or directory$") as raised:
            ablate_lab.call("doctor")
        self.assertEqual(raised.exception.exit_code, 7)


class Surroundings(example.Case):
    def without_a_named_program(self):
        self.environment(LD_LIBRARY_PATH="/before")
        os.environ.pop("ABLATE", None)

    def test_without_torch_the_command_says_how_to_install_it(self):
        self.without_a_named_program()
        self.patch(_program.importlib.util, "find_spec", lambda name: None)
        self.patch(_program.importlib.metadata, "requires", lambda name: ["pandas", "torch==2.13.*"])
        with self.assertRaisesRegex(ablate_lab.AblateError,
                                    r"torch, .* is not installed here; install it with: .* -m pip install 'torch==2\.13\.\*'") as raised:
            ablate_lab.call("doctor")
        self.assertEqual(raised.exception.exit_code, 7)

    def test_a_libc_that_is_too_old_is_told_in_one_sentence(self):
        program = self.folder / "program"
        program.write_bytes(b"\x7fELF\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0GLIBCXX_3.4.30\0")
        self.patch(_program, "program", lambda: program)
        for libc in ("glibc 2.28", "musl 1.2.5"):
            self.patch(_program.os, "confstr", lambda name, libc=libc: libc)
            self.assertTrue(_program._libc_problem().startswith(
                f"this build of ablate needs glibc 2.34 and this machine has {libc}; install the wheel for"))
        self.patch(_program.os, "confstr", lambda name: "glibc 2.34")
        self.assertEqual(_program._libc_problem(), "")

    def test_a_torch_elsewhere_is_where_the_program_looks_first(self):
        self.without_a_named_program()
        self.patch(_program, "_libc_problem", lambda: "")
        spec = _program.importlib.machinery.ModuleSpec("torch", None, is_package=True)
        spec.submodule_search_locations = [f"{self.folder}/torch"]
        self.patch(_program.importlib.util, "find_spec", lambda name: spec)
        self.assertEqual(_program._environment()["LD_LIBRARY_PATH"], f"{self.folder}/torch/lib:/before")
        spec.submodule_search_locations = [str(_program.OURS.parent / "torch")]
        self.assertEqual(_program._environment()["LD_LIBRARY_PATH"], "/before")

    def test_a_program_that_is_named_by_a_relative_path_stays_the_same_in_another_folder(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/program").write_text("#!/bin/sh\necho here\n")
        (self.folder / "bin/program").chmod(0o755)
        code = "import ablate_lab, os; os.chdir('/'); print(ablate_lab.call(), end='')"
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "ABLATE": "bin/program"}, cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual((done.stdout, done.stderr), ("here\n", ""))


class Errors(example.Case):
    def test_an_error_has_the_last_message_of_the_program_alone(self):
        self.program("echo 'ablate: a note' >&2\necho progress >&2\necho 'ablate: first line' >&2\necho '  second' >&2\nexit 3\n")
        with self.assertRaises(ablate_lab.AblateError) as raised:
            ablate_lab.call()
        self.assertEqual((str(raised.exception), raised.exception.exit_code), ("first line\n  second", 3))
        self.program("kill -9 $$\n")
        with self.assertRaisesRegex(ablate_lab.AblateError, "ablate ended with exit code -9"):
            ablate_lab.call()

    def test_an_error_is_the_same_in_another_process(self):
        error = ablate_lab.AblateError("first line\n  second", 3)
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            self.assertEqual((type(again), str(again), again.exit_code), (ablate_lab.AblateError, "first line\n  second", 3))

    def test_an_error_reaches_those_who_wait_for_a_pool_of_processes(self):
        script = self.folder / "script.py"
        script.write_text("import ablate_lab\nfrom concurrent.futures import ProcessPoolExecutor\nif __name__ == '__main__':\n"
                          "    with ProcessPoolExecutor(1) as pool:\n        for words in (['wrong'], ['right']):\n"
                          "            try: print(pool.submit(ablate_lab.call, *words).result(), end='')\n"
                          "            except ablate_lab.AblateError as error: print(error.exit_code, error)\n")
        self.program("[ $1 = wrong ] && { echo 'ablate: no such verb' >&2; exit 2; }; echo fine\n")
        done = subprocess.run([sys.executable, script], text=True, capture_output=True)
        self.assertEqual((done.stdout, done.stderr), ("2 no such verb\nfine\n", ""))

    def test_what_cannot_be_shown_stops_the_program(self):
        class Broken:
            def write(self, text):
                raise BrokenPipeError("nobody reads")

        self.program(f"trap 'touch {self.folder}/asked' INT\necho begun >&2\nwhile [ ! -e {self.folder}/asked ]; do sleep 0.01; done\n")
        self.patch(sys, "stderr", Broken())
        with self.assertRaisesRegex(BrokenPipeError, "nobody reads"):
            ablate_lab.call(show=True)
        self.assertTrue((self.folder / "asked").exists())


class Calls(example.Case):
    def test_call_gives_input_and_returns_output(self):
        self.assertIn("Train and evaluate", ablate_lab.call("help", "run"))
        self.assertIsInstance(ablate_lab.program(), pathlib.Path)

    def test_words_are_paths_and_whatever_can_be_printed(self):
        self.program('echo "$@"; cat\n')
        (entry,) = os.scandir(self.folder)
        self.assertEqual(ablate_lab.call("export", entry, pathlib.Path("a"), 3, input="text\n"), f"export {entry.path} a 3\ntext\n")

    def test_what_is_no_word_and_no_text_is_refused_before_anything_starts(self):
        self.program(f"touch {self.folder}/started\n")
        for message, words, given in ((r"a word is \['run', 'a.yaml'\]; give each word by itself", (["run", "a.yaml"],), {}),
                                      ("a word is None; give each word by itself", ("run", None), {}),
                                      ("a word is b'run', a bytes", (b"run",), {}),
                                      ("input is b'text', a bytes; give a text", ("metrics",), {"input": b"text"})):
            with self.subTest(message), self.assertRaisesRegex(TypeError, message):
                ablate_lab.call(*words, **given)
        self.assertFalse((self.folder / "started").exists())

    def test_carriage_returns_stay_what_they_are(self):
        self.program("cat; printf 'a\\rb\\r\\n'\n")
        self.assertEqual(ablate_lab.call("translate", input="c\rd\r\n"), "c\rd\r\na\rb\r\n")

    def test_no_input_is_an_empty_one(self):
        self.program("cat; echo end\n")
        self.assertEqual(ablate_lab.call("metrics", input=None), "end\n")


if __name__ == "__main__":
    unittest.main()
