"""Other systems below a folder: minimal Debians and an Ubuntu, made by debootstrap, in which commands run as root with this network."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
UBUNTU = "http://archive.ubuntu.com/ubuntu"
# With the keys of Ubuntu's archive, which Debian does not have everywhere.
KEYRING = f"{UBUNTU}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"
KEYRING_SHA256 = "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8"
SKIPPED = 77


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    python: str = "/usr/bin/python3"
    ubuntu: bool = False


SYSTEMS = {
    "bullseye": System("Debian 11", python="/opt/python/bin/python3"),
    "bookworm": System("Debian 12"),
    "trixie": System("Debian 13"),
    "noble": System("Ubuntu 24.04", ubuntu=True),
}


def why_impossible(suites):
    """Why these systems cannot be made here; empty if they can."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        return "this takes root and debootstrap"
    if any(SYSTEMS[suite].ubuntu for suite in suites):
        try:
            urllib.request.urlopen(f"{UBUNTU}/dists/noble/InRelease", timeout=60).close()
        except OSError as error:
            return f"{UBUNTU} cannot be reached: {error}"
    return ""


def keyring(work):
    """The file of Ubuntu's keys, of a package of a known digest."""
    package, folder = work / "ubuntu-keyring.deb", work / "ubuntu-keyring"
    with urllib.request.urlopen(KEYRING, timeout=60) as answer:
        package.write_bytes(answer.read())
    if hashlib.sha256(package.read_bytes()).hexdigest() != KEYRING_SHA256:
        sys.exit(f"{KEYRING} has another SHA-256 than {KEYRING_SHA256}")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return folder / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


class Root:
    """A root folder, and what is mounted there for each command; pip's downloads are shared."""

    def __init__(self, work, suite, folder=None):
        self.suite, self.system, self.python = suite, SYSTEMS[suite], SYSTEMS[suite].python
        self.work, self.root, self.shared = work, folder or work / suite, work / "pip"
        self.shared.mkdir(parents=True, exist_ok=True)

    def command(self, script):
        """The words that run a script of bash in the root."""
        mounts = "".join(f"mkdir -p {self.root}{to} && mount --rbind {what} {self.root}{to} && " for what, to in
                         [(SOURCE, "/source"), (self.shared, "/pip"), ("/dev", "/dev"), ("/sys", "/sys"), ("/etc/ssl/certs", "/etc/ssl/certs")])
        # The certificates of this machine, which a pip of Python's own source would not read.
        environment = "PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_CACHE_DIR=/pip HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive"
        return ["unshare", "--mount", "--propagation", "private", "bash", "-c",
                mounts + f'mount -t proc proc {self.root}/proc && exec chroot {self.root} bash -c "$1"', "bash",
                f"export {environment}; set -euo pipefail; {script}"]

    def attempt(self, script):
        """The exit code and the output of a script."""
        done = subprocess.run(self.command(script), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb"})
        return done.returncode, done.stdout

    def run(self, script):
        """The output of a script that must not fail."""
        code, output = self.attempt(script)
        if code != 0:
            sys.exit(f"{output[-4000:]}\n{self.suite}: this failed: {script}")
        return output

    def install(self, *packages):
        self.run(f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {' '.join(packages)}")

    def bootstrap(self):
        words = ["debootstrap", "--variant=minbase", "--include=python3-venv,ca-certificates"]
        if self.system.ubuntu:  # debootstrap has one script for all of them
            scripts = "/usr/share/debootstrap/scripts/gutsy"
            words += ["--components=main,universe", f"--keyring={keyring(self.work)}", self.suite, self.root, UBUNTU, scripts]
        else:
            words += [self.suite, self.root]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        if self.system.ubuntu:
            sources = self.root / "etc/apt/sources.list"
            sources.write_text("".join(f"deb {UBUNTU} {self.suite}{pocket} main universe\n" for pocket in ("", "-updates")))

    def prepare(self):
        """Makes the system, unless it is there."""
        if not (self.root / "ready").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            self.bootstrap()
            (self.root / "ready").touch()
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", self.root / "etc" / name)

    def copied(self):
        """A copy in which nothing has been installed yet; it replaces an older one."""
        folder = self.work / f"{self.suite}.fresh"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["cp", "-a", self.root, folder], check=True)
        return Root(self.work, self.suite, folder)
