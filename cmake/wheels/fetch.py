"""Downloads the wheel of LibTorch for CPUs: fetch.py PAGE VERSION FOLDER [SHA256...]

PAGE is an index of links; the wheel is that of VERSION for this Python and processor, with one of the digests, or with the one that PAGE
gives if none is named. A connection that breaks is taken up again as long as something arrives, and what has arrived stays in FOLDER
for the next time. Says at every tenth how much has arrived. Ends with 1 and one line on the standard output that says why there is no
wheel.
"""

import hashlib
import http.client
import os
import pathlib
import platform
import re
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

SECONDS = 60  # without a byte
BLOCK = 1 << 20


def opened(url, first=0):
    """The answer from byte `first` on, or from the beginning where the server does not know parts."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={first}-"} if first else {})
    # Of pip's settings, the certificates of a company's proxy; proxies themselves stand in variables that urllib reads.
    return urllib.request.urlopen(request, timeout=SECONDS, context=ssl.create_default_context(cafile=os.environ.get("PIP_CERT")))


def wheel_on(page, version):
    """The address of the wheel, its name, and its digest as the page has it."""
    with opened(page) as answer:
        links = re.findall(r'href="([^"]+)"', answer.read().decode())
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    for link in links:
        address, _, fragment = urllib.parse.urljoin(page, link).partition("#")
        name = urllib.parse.unquote(address.rsplit("/", 1)[1])
        if name.startswith(f"torch-{version}+cpu-{python}-{python}-") and name.endswith(f"_{platform.machine()}.whl"):
            return address, name, fragment.removeprefix("sha256=")
    raise OSError(f"it has no wheel of {version} for Python {platform.python_version()} on {platform.machine()}")


def tell(arrived, whole, told):
    """Says how much has arrived if that is a tenth of the whole more than was told; returns the tenth that is told."""
    tenth = 10 * arrived // whole
    if tenth > told:
        print(f"setup: {arrived / 1e6:.1f} of {whole / 1e6:.1f} MB", file=sys.stderr, flush=True)
    return tenth


def append(address, part):
    """Adds to `part` what it lacks, as far as it comes; returns whether that was all."""
    had = part.stat().st_size if part.exists() else 0
    try:
        answer = opened(address, had)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left
            return True
        raise
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        whole = file.tell() + int(answer.headers["Content-Length"])
        told = tell(file.tell(), whole, -1)
        while block := answer.read(BLOCK):
            file.write(block)
            told = tell(file.tell(), whole, told)
        return file.tell() == whole


def download(address, part):
    """Goes on until all is there; throws OSError once an attempt brings nothing."""
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            if append(address, part):
                return
        except (OSError, http.client.HTTPException):
            if not part.exists() or part.stat().st_size <= before:
                raise
        if part.stat().st_size <= before:
            raise OSError(f"the connection broke after {before / 1e6:.1f} MB")


def fetch(page, version, folder, digests):
    address, name, digest = wheel_on(page, version)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{name}.part"
    download(address, part)
    found = hashlib.sha256(part.read_bytes()).hexdigest()
    if found not in (digests or [digest]):
        part.unlink()
        raise OSError(f"{name} has the SHA-256 {found}, which is not the one known")
    part.rename(folder / name)


if __name__ == "__main__":
    try:
        fetch(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:])
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError) else error
        print(reason)
        sys.exit(1)
