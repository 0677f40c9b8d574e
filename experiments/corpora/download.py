"""Downloads the sources of a corpus, verified to the byte, and continues partial downloads."""

import hashlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from recipes import HOSTS

USAGE, DATA, IO, INTERRUPTED = 2, 3, 7, 75  # exit codes of every verb
FEWEST_BYTES = 1000  # that come within the patience
APT_HELPER = "/usr/lib/apt/apt-helper"


class Failure(Exception):
    """Ends the program with `code`."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class NotTheFile(Exception):
    """A place has another file under this name."""


class Stalled(Exception):
    """The patience is over."""


def is_url(place):
    return place.startswith(("http://", "https://"))


def write(file, data):
    try:
        file.write(data)
    except OSError as error:
        raise OSError(f"cannot write {file.name}: {error.strerror}") from error


class WebAlone(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https, ten at most."""

    def redirect_request(self, request, answer, code, message, headers, url):
        if not is_url(url):
            raise urllib.error.URLError(f"a redirection to {url} is not allowed")
        return super().redirect_request(request, answer, code, message, headers, url)


def impatient(*_):
    raise Stalled


def check_size(announced, source):
    if announced != source.bytes:
        raise NotTheFile(f"has another size than {source.bytes} bytes")


def take(answer, part, source, patience, progress):
    """Appends an answer to a part, of which it is the rest or, if the server knows no ranges, the whole."""
    with open(part, "ab", buffering=0) as file:
        came = os.fstat(file.fileno()).st_size
        if came and answer.status != 206:
            file.truncate(0)
            came = 0
        counted = came
        if answer.length is not None:
            check_size(came + answer.length, source)
        while data := answer.read1(1 << 16):
            if came == 0 and re.match(rb"(?i)[\s\xef\xbb\xbf]*(<!doctype|<html)", data):
                raise NotTheFile("is a web page, as servers send for errors and networks for logging in")
            came += len(data)
            if came > source.bytes:
                check_size(came, source)
            write(file, data)
            progress(came)
            if came - counted >= FEWEST_BYTES:
                counted = came
                signal.alarm(patience)


def ask(url, part, source, patience, progress):
    """Asks a server for the bytes that `part` lacks."""
    came = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "ablate", **({"Range": f"bytes={came}-"} if came else {})})
    try:
        with urllib.request.build_opener(WebAlone).open(request) as answer:
            take(answer, part, source, patience, progress)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not came:
            raise OSError(f"the server answers {error.code}: {' '.join(error.reason.split())}") from error
        part.unlink()  # it has more bytes than the server
        ask(url, part, source, patience, progress)


def from_server(url, part, source, patience, progress):
    """After an OSError `part` holds the bytes so far, and the same call continues there."""
    why = "the server ended it too early"
    signal.signal(signal.SIGALRM, impatient)
    signal.alarm(patience)
    try:
        ask(url, part, source, patience, progress)
    except Stalled:
        why = f"the server sent fewer than {FEWEST_BYTES} bytes in {patience} seconds"
    except urllib.error.URLError as error:
        why = str(error.reason)
    except (http.client.HTTPException, ConnectionError) as error:
        why = str(error) or type(error).__name__
    finally:
        signal.alarm(0)
    came = part.stat().st_size if part.exists() else 0
    if came != source.bytes:
        raise OSError(f"{why} after {came} of {source.bytes} bytes; the same command continues there")


def run(*command, folder):
    """Runs a registry's client and returns its output. Throws OSError with its last words."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError as error:
        raise OSError(f"there is no {command[0]} here") from error
    if done.returncode != 0:
        words = [line for line in done.stderr.splitlines() if not line.startswith("W")] or [f"it ended with {done.returncode}"]
        raise OSError(" ".join(words[-3:]))
    return done.stdout


def from_apt(source, folder, patience):
    timeout = ["-o", f"Acquire::http::Timeout={patience}", "-o", f"Acquire::https::Timeout={patience}"]
    if source.requirement:
        run("apt-get", "download", "-qq", *timeout, source.requirement, folder=folder)
        return
    roots = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Codename: bookworm", "Component: main", "Created-By: Packages",
                folder=folder).split()
    if not roots:
        raise OSError("apt has no index of Debian 12 (bookworm); add its source and run apt-get update")
    run(APT_HELPER, *timeout, "download-file", roots[0] + source.path, source.name, "SHA256:" + source.sha256, folder=folder)


def client_folder(part):
    return part.with_suffix(".client")


def from_client(source, part, patience):
    """By the client of a package registry, as this machine has it set up."""
    folder = client_folder(part)
    folder.mkdir(exist_ok=True)
    try:
        if source.origin == "pip":
            run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--timeout", str(patience), "--dest", ".",
                source.requirement, folder=folder)
        else:
            from_apt(source, folder, patience)
        for file in folder.iterdir():
            os.replace(file, part)
    except OSError as error:
        raise OSError(f"{error}; --from takes a folder or a mirror that has the file") from error
    shutil.rmtree(folder)


def places_of(source, mirror):
    """Every place where the file may be, in the order in which they are asked: of a mirror also by the names alone that the file has in
    the registry and that apt-get gives it."""
    if not mirror:
        return [f"{root}/{source.path}" for root in HOSTS.get(source.origin, [])] or [source.origin]
    version = source.requirement.split("=")[-1]
    by_apt = source.name.replace("_" + version.split(":")[-1], "_" + version.replace(":", "%3a"))
    return [f"{mirror.rstrip('/')}/{path}" for path in dict.fromkeys([source.path, source.name, by_apt])]


def verified(data, source):
    check_size(len(data), source)
    found = hashlib.sha256(data).hexdigest()
    if found != source.sha256:
        raise NotTheFile(f"has the SHA-256 {found} instead of {source.sha256}")
    return data


def download_file(place, part, source, patience, progress):
    """The bytes of the source from one place. `part` is gone if they are other ones."""
    if not is_url(place) and place != source.origin:
        return verified(pathlib.Path(place).read_bytes(), source)
    try:
        if not part.exists() or part.stat().st_size != source.bytes:
            if is_url(place):
                from_server(place, part, source, patience, progress)
            else:
                from_client(source, part, patience)
        return verified(part.read_bytes(), source)
    except NotTheFile:
        part.unlink(missing_ok=True)
        raise


def part_of(source, folder):
    """The file of a partial download."""
    return folder / f"{source.sha256[:16]}-{source.name}.part"


def download(source, mirror, folder, patience, progress):
    """The bytes of the source, all of them verified, by way of its part in `folder`. Throws Failure: DATA if some place has other bytes
    and none the right ones, else IO."""
    part, refusals, code = part_of(source, folder), "", IO
    for place in places_of(source, mirror):
        try:
            return download_file(place, part, source, patience, progress)
        except NotTheFile as error:
            refusals, code = f"{refusals}\n  {place}: {error}", DATA
        except OSError as error:
            refusals += f"\n  {place}: {error}"
    raise Failure(code, f"cannot fetch {source.name}:{refusals}")


def delete_partial(source, folder):
    """Removes the partial download of a source from `folder`."""
    part = part_of(source, folder)
    part.unlink(missing_ok=True)
    shutil.rmtree(client_folder(part), ignore_errors=True)
