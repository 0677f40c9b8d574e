"""A checkout, a vendor folder and a LibTorch are enough for the first result: offline_build.py <source> <LibTorch>

Packs the vendor folder by `make vendor`, and builds and runs the quickstart as a user without rights, in a namespace without network and
without a library of the system. Then the archives are damaged, and the sentence about each fault is read. As root; else it is skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534
SKIPPED = 77


def must(*command, where, **environment):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=where, env=environment or None, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-4000:]}\n{' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


class Node:
    """A checkout below `folder` on a machine without network, which a user without rights works on."""

    def __init__(self, folder, torch):
        self.tree, self.vendor, self.torch = folder / "ablate", folder / "vendor", torch

    def run(self, *command, vendor=None, **environment):
        print("+", *command, flush=True)
        alone = ("unshare", "--net", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command)
        done = subprocess.run([str(word) for word in alone], cwd=self.tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.tree), "TORCH_ROOT": str(self.torch),
                                   "ABLATE_VENDOR": str(vendor or self.vendor), "OMP_NUM_THREADS": "1", **environment},
                              check=False)
        return done.returncode, done.stdout

    def must(self, *command):
        code, output = self.run(*command)
        if code != 0:
            sys.exit(f"{output[-4000:]}\n{' '.join(map(str, command))} ended with {code}")
        return output

    def refuses(self, words, vendor=None, **environment):
        """A new build says `words` and stops."""
        shutil.rmtree(self.tree / "build-refused", ignore_errors=True)
        code, output = self.run("cmake", "--preset", "release", "-B", "build-refused", "-DABLATE_SYSTEM_LIBRARIES=OFF", vendor=vendor,
                                **environment)
        if code == 0 or words not in " ".join(output.split()):
            sys.exit(f"refused with '{words}' expected, ended with {code}:\n{output[-4000:]}")


def check_out(source, node):
    for name in must("git", "ls-files", where=source).splitlines():
        (node.tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, node.tree / name)
    must("make", "vendor", where=source)
    node.vendor.mkdir()
    must("tar", "-xf", source / "ablate-vendor.tar", "-C", node.vendor, where=source)
    for folder, _, files in os.walk(node.tree):
        for path in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(path, NOBODY, NOBODY)


def check_faults(node, folder):
    damaged = folder / "damaged"
    shutil.copytree(node.vendor, damaged)
    archive = next(damaged.glob("fmtlib*"))
    archive.write_bytes(archive.read_bytes()[:-1])
    node.refuses(f"{archive} has the SHA-256", damaged)
    archive.unlink()
    node.refuses(f"fmt is neither installed nor in {damaged}", damaged)
    locked = folder / "locked"
    locked.mkdir(mode=0o755)
    node.refuses(f"{locked} cannot be written to", locked)
    node.refuses("There is no LibTorch in", TORCH_ROOT=str(locked))
    old = folder / "old"
    (old / "lib").mkdir(parents=True)
    (old / "lib/libtorch.so").touch()
    node.refuses(f"The LibTorch in '{old}' is older than 2.11.", TORCH_ROOT=str(old))
    must(sys.executable, "-m", "venv", "--without-pip", folder / "without", where=folder)
    node.refuses("has no torch. Name a Python that has one", TORCH_ROOT="", TORCH=str(folder / "without/bin/python"))


def check_quickstart(node):
    interfaces = node.must("cat", "/proc/self/net/dev")
    if interfaces.count(":") != 1:
        sys.exit(f"there is a network:\n{interfaces}")
    node.must("cmake", "--preset", "release", "-DABLATE_SYSTEM_LIBRARIES=OFF")
    output = node.must("make", "quickstart")
    for words in ("minutes", "report: "):
        if words not in output:
            sys.exit(f"the quickstart does not say '{words}':\n{output[-4000:]}")
    linked = node.must("ldd", "build/ablate")
    for library in ("yaml", "utf8proc", "onig", "sentencepiece", "libz."):
        if library in linked:
            sys.exit(f"{library} is not linked statically:\n{linked}")


def main():
    source, torch = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    if os.geteuid() != 0:
        print("skipped: only root makes namespaces and other users")
        return SKIPPED
    if subprocess.run(["test", "-r", torch / "lib/libtorch.so"], user=NOBODY, group=NOBODY, extra_groups=[], check=False).returncode != 0:
        print(f"skipped: no other user may read {torch}; a checkout outside of root's home lets them")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        node = Node(pathlib.Path(folder), torch)
        check_out(source, node)
        check_faults(node, pathlib.Path(folder))
        check_quickstart(node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
