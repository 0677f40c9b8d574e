"""Tests what cmake/setup.sh says and does where an index of packages is away, a download breaks, a package is missing, or the disk is
full: setup_test.py <source>

The script runs in a copy, with a Debian that has all packages, and with a pip that says what pip says and installs nothing, or with the
pip of this Python. The index of LibTorch for CPUs is a server of this test. Also the number of compilers that cmake/jobs.cmake allows.
"""

import contextlib
import hashlib
import http.server
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
VERSION = re.search(r"^torch==(.*)$", (SOURCE / "cmake/wheels/cuda.in").read_text(), re.M)[1]

# Knows no torch, and fails as pip does where the arguments name an index that is away. It notes what it is asked for.
PYTHON = f"""#!/bin/sh
echo "$*" >>"$(dirname "$0")/asked"
case "$* " in
  *fetch.py*) exec {sys.executable} "$@" ;;
  *"{{away}}"*)
    for left in 4 3 2 1 0; do echo "WARNING: Retrying (Retry(total=$left, connect=None)) after connection broken" >&2; done
    echo "ERROR: No matching distribution found for torch" >&2
    exit 1 ;;
esac
"""


def wheel():
    """The name and the bytes of a torch for this Python."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    name = f"torch-{VERSION}+cpu-{python}-{python}-linux_{platform.machine()}.whl"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / name
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("torch/__init__.py", "x = 0\n" * 50_000)
            facts = f"torch-{VERSION}+cpu.dist-info"
            archive.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {VERSION}+cpu\n")
            archive.writestr(f"{facts}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {python}-{python}-linux_{platform.machine()}\n")
            archive.writestr(f"{facts}/RECORD", "")
        return name, file.read_bytes()


class Index(http.server.BaseHTTPRequestHandler):
    """Serves the wheel as far as the server's `bytes_left` go, and then breaks the connection."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        if server.refusal:
            return self.send_error(server.refusal)
        first = int(self.headers.get("Range", "bytes=0-")[6:-1])
        body = server.wheel if self.path == "/wheel" else f'<a href="/wheel">none</a><a href="/{server.name}">{server.name}</a>'.encode()
        if self.path.endswith(".whl"):
            body = server.wheel
            server.firsts.append(first)
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        sent = body[first:]
        if self.path.endswith(".whl"):
            sent = sent[:server.bytes_left]
            server.bytes_left -= len(sent)
        self.wfile.write(sent)


@contextlib.contextmanager
def index():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.name, server.wheel = wheel()
    server.refusal, server.firsts, server.bytes_left = None, [], 1 << 30
    server.page = f"http://127.0.0.1:{server.server_port}/torch/"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@contextlib.contextmanager
def checkout(page="http://127.0.0.1:9/torch/", digest="0" * 64, away="nothing is away", tools=None, archives=("sentencepiece",)):
    """A copy of the scripts that takes LibTorch for CPUs from `page`, and a pip to which the indices named by `away` are away. The shell
    scripts `tools` stand in for commands; the vendor folder holds `archives`."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        shutil.copytree(SOURCE / "cmake", tree / "cmake")
        script = (tree / "cmake/setup.sh").read_text()
        script = re.sub(r"(?m)^cpu_wheels=.*$", f"cpu_wheels={page}", script)
        (tree / "cmake/setup.sh").write_text(re.sub(r"(?s)cpu_wheels_sha256=\(.*?\n([^#\n]*)\)", f"cpu_wheels_sha256=({digest})", script, count=1))
        for line in (tree / "cmake/vendor.txt").read_text().splitlines():
            if line.split()[0] in archives:
                write(tree / ".deps/vendor" / line.split()[4], "")
        write(tree / ".venv/bin/python", PYTHON.replace("{away}", away))
        for name, text in ({"dpkg-query": "echo install ok installed"} | (tools or {})).items():
            write(tree / "tools" / name, f"#!/bin/sh\n{text}\n")
        yield tree


PROGRESS = re.compile(r"setup: \d+\.\d of \d+\.\d MB")


def said(tree, **environment):
    """The exit code of the setup and the lines it writes, but for those on what has arrived."""
    code, lines = all_said(tree, **environment)
    return code, [line for line in lines if not PROGRESS.fullmatch(line)]


def all_said(tree, **environment):
    done = subprocess.run([tree / "cmake/setup.sh"], text=True, capture_output=True,
                          env={**os.environ, "PATH": f"{tree}/tools:{os.environ['PATH']}", "TORCH_BUILD": "cpu", "TORCH_ROOT": "", "TORCH": "",
                               "TORCH_VERSION": "", "ABLATE_VENDOR": "", "CXX": "", "PIP_CONFIG_FILE": "/dev/null", "PIP_FIND_LINKS": "",
                               "PIP_NO_INDEX": "1"} | environment)
    return done.returncode, (done.stdout + done.stderr).splitlines()


class Setup(unittest.TestCase):
    def said(self, away="nothing is away", tools=None, archives=("sentencepiece",), **environment):
        with checkout(away=away, tools=tools, archives=archives) as tree:
            return said(tree, **environment)

    def test_without_any_index_it_ends_with_the_error_alone(self):
        code, lines = self.said(" install ", TORCH_BUILD="cuda")
        self.assertNotEqual(code, 0)
        self.assertEqual(lines[-1], "ERROR: No matching distribution found for torch")
        self.assertFalse([line for line in lines if "Retrying" in line])

    def test_without_the_right_to_install_it_lists_once_what_is_missing(self):
        user = {"id": "echo 1000", "sudo": "exit 1", "c++": "cat >/dev/null; exit 1", "apt-get": "touch asked"}
        code, lines = self.said(tools=user, archives=("sentencepiece", "fmt", "utf8proc", "onig"))
        self.assertEqual(code, 2, lines)
        self.assertEqual(lines, [
            "setup: these packages are missing, and this user may not install them:",
            "setup:   Debian, Ubuntu   apt-get install libcli11-dev libprotozero-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev",
            "setup:   Red Hat, Fedora  dnf install cli11-devel json-devel protozero-devel yaml-cpp-static zlib-devel",
            "setup:   conda            conda install -c conda-forge cli11 nlohmann_json protozero zlib",
            "setup:   or, instead of cli11 nlohmann_json protozero yaml-cpp zlib, the archive that `make vendor` packs, "
            "unpacked in .deps/vendor"])

    def test_with_a_torch_of_another_it_installs_none(self):
        for name in ("TORCH", "TORCH_ROOT"):
            code, lines = self.said("install", **{name: "elsewhere"})
            self.assertEqual((code, lines), (0, ["setup: done"]), name)

    def test_another_version_of_torch_is_taken_by_its_name(self):
        _, lines = self.said(TORCH_VERSION="2.15.0")
        self.assertIn("LibTorch 2.15.0 for the CPU", lines[1])

    def test_a_full_disk_is_told_before_anything_is_downloaded(self):
        code, lines = self.said(tools={"df": "echo; echo disk 1 1 100 1 /"})
        self.assertEqual(code, 2, lines)
        self.assertRegex(lines[-1], "^setup: .* has 100 MB free, and this takes about 576 MB$")

    def test_a_compiler_runs_for_each_core_and_each_two_and_a_half_gigabytes(self):
        for cores, megabytes, jobs in ((2, 24000, 2), (16, 20000, 8), (16, 19999, 7), (4, 1000, 1)):
            done = subprocess.run(["cmake", f"-DCORES={cores}", f"-DMEGABYTES={megabytes}", "-P", SOURCE / "cmake/jobs.cmake"],
                                  text=True, capture_output=True, check=True)
            self.assertEqual(done.stderr.strip(), str(jobs), f"{cores} cores, {megabytes} MB")



class Libtorch(unittest.TestCase):
    """The build of LibTorch for CPUs, where pip has not been told of one."""

    def refused(self, page, reason, digest="0" * 64):
        with checkout(page, digest, away=" install ") as tree:
            code, lines = said(tree)
            self.assertEqual(code, 2, lines)
            self.assertRegex(lines[2], rf"^setup: LibTorch {re.escape(VERSION)} for the CPU could not be downloaded from {page}: {reason}$")
            self.assertIn("2744 MB instead of 192 MB", lines[4])
            self.assertNotIn("cuda.txt", (tree / ".venv/bin/asked").read_text(), "nothing larger than announced is asked for")
            self.assertFalse((tree / ".deps/stamp-build").exists())
            return tree

    def test_a_refusal_is_told_with_its_reason_and_nothing_larger_is_downloaded(self):
        self.refused("http://127.0.0.1:9/torch/", ".*Connection refused")
        self.refused("http://no.such.host.invalid/torch/", r"\[Errno -\d\] .*")
        with index() as server:
            server.refusal = 403
            self.refused(server.page, "HTTP Error 403: Forbidden")
            server.refusal, server.name = None, "torch-1.0-cp27-cp27-linux_x86_64.whl"
            self.refused(server.page, f"it has no wheel of {re.escape(VERSION)} for Python {platform.python_version()} on {platform.machine()}")

    def test_another_file_than_the_known_one_is_refused(self):
        with index() as server:
            self.refused(server.page, ".* has the SHA-256 [0-9a-f]{64}, which is not the one known")

    def test_the_larger_build_is_taken_by_its_name(self):
        with checkout(away="torch==") as tree:
            self.assertEqual(said(tree, TORCH_BUILD="cuda")[0], 0)
            self.assertIn("cuda.txt", (tree / ".venv/bin/asked").read_text())

    def test_what_pip_has_been_told_of_is_taken_first(self):
        with checkout() as tree:
            self.assertEqual(said(tree)[1][2:], ["setup: done"])
            self.assertNotIn("fetch.py", (tree / ".venv/bin/asked").read_text())

    def test_with_the_pip_of_this_python_it_goes_on_from_what_has_arrived(self):
        with index() as server, checkout(server.page, hashlib.sha256(server.wheel).hexdigest()) as tree:
            shutil.rmtree(tree / ".venv")
            server.refusal = 503
            code, lines = said(tree)
            self.assertEqual((code, lines[2].rsplit(": ", 1)[1]), (2, "Service Unavailable"), lines)
            server.refusal, server.bytes_left = None, 100_000
            code, lines = said(tree)
            self.assertEqual((code, lines[2].rsplit(": ", 1)[1]), (2, "the connection broke after 0.1 MB"), lines)
            server.bytes_left = 1 << 30
            code, lines = all_said(tree)
            size = len(server.wheel) / 1e6
            self.assertEqual((code, lines[2:]), (0, [f"setup: 0.1 of {size:.1f} MB", f"setup: {size:.1f} of {size:.1f} MB", "setup: done"]), lines)
            self.assertEqual(server.firsts[-1], 100_000)
            subprocess.run([tree / ".venv/bin/python", "-c", "import torch; assert torch.x == 0"], check=True)
            self.assertFalse((tree / ".deps/wheels").exists(), "what is installed is not kept twice")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
