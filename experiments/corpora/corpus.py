"""Makes the folder of a corpus: its files, and corpus.json with its sources, digests and counts."""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil

from download import DATA, USAGE, Failure, download, delete_partial, is_url, places_of

RECORD = "corpus.json"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def digest(files):
    """The SHA-256 over the names and bytes of all files."""
    return sha256("".join(f"{sha256(files[name])}  {name}\n" for name in sorted(files)).encode())


def megabytes(size):
    return f"{size / 1e6:.1f} MB"


def size_of(recipe):
    return sum(source.bytes for source in recipe.sources)


def announce(name, recipe, mirror, notes):
    where = mirror or places_of(recipe.sources[0], mirror)[0].removesuffix("/" + recipe.sources[0].path)
    count = f"{len(recipe.sources)} file{'s' * (len(recipe.sources) != 1)}"
    print(f"{name}: {recipe.about}\nlicence: {recipe.licence}\ndownload: {count}, {megabytes(size_of(recipe))}, from {where}", file=notes,
          flush=True)


def download_all(recipe, mirror, folder, patience, notes):
    """{name: bytes} of the sources."""
    files = {}
    for source in recipe.sources:
        def progress(came):
            if notes.isatty():
                print(f"\r{source.name} {100 * came // source.bytes} % of {megabytes(source.bytes)}", end="", file=notes, flush=True)
        files[source.name] = download(source, mirror, folder, patience, progress)
        print(f"{chr(13) * notes.isatty()}{source.name}, {megabytes(source.bytes)}, verified", file=notes, flush=True)
    return files


def record_of(name, recipe, files, counts):
    return {"name": name, "licence": recipe.licence, "comparable": recipe.comparable, "sha256": digest(files),
            "sources": [{"from": source.requirement or places_of(source, "")[0], "file": source.path, "bytes": source.bytes,
                         "sha256": source.sha256} for source in recipe.sources],
            "files": [{"name": file, "bytes": len(files[file]), "sha256": sha256(files[file])} for file in sorted(files)],
            "counts": counts}


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write(files, scratch, folder):
    """Writes everything into `scratch` and gives it its name."""
    try:
        scratch.mkdir()
        for name, data in files.items():
            (scratch / name).write_bytes(data)
            sync(scratch / name)
        sync(scratch)
        scratch.rename(folder)
        sync(folder.parent)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def verified_record(folder):
    """The record of the corpus in a folder. Throws Failure if its files are not as it says."""
    file = folder / RECORD
    try:
        record = json.loads(file.read_text())
        for entry in record["files"]:
            file = folder / entry["name"]
            if sha256(file.read_bytes()) != entry["sha256"]:
                raise ValueError
        return record
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(DATA, f"'{file}' is not as it was fetched; remove the folder '{folder}' and run the same command again") from error


def show(folder, recipe, notes):
    record = verified_record(folder)
    lines = [f"{number:>10} {what}" for what, number in record["counts"].items()]
    lines.append(f"{folder}: SHA-256 {record['sha256']}")
    if recipe.sha256 not in ("", record["sha256"]):
        lines.append(f"warning: Ablate's published results are of other bytes, of SHA-256 {recipe.sha256}; another version of Python may "
                     "divide texts differently")
    print(*lines, recipe.comparable, sep="\n", file=notes, flush=True)


@contextlib.contextmanager
def locked(folder, notes):
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another fetch into this folder", file=notes, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_there(folder):
    if not os.path.lexists(folder):
        return False
    if not (folder / RECORD).exists():
        raise Failure(USAGE, f"'{folder}' is there and was not fetched, since it has no {RECORD}; name another folder")
    return True


def check_mirror(mirror):
    if "://" in mirror and not is_url(mirror):
        raise Failure(USAGE, f"--from takes a folder or a URL of http or https, not {mirror}")
    if mirror and not is_url(mirror) and not os.path.isdir(mirror):
        raise Failure(USAGE, f"--from: there is no folder {mirror}")


def make(name, recipe, folder, mirror, patience, notes):
    downloads = folder.parent / ".fetch"
    downloads.mkdir(parents=True, exist_ok=True)
    with locked(downloads, notes):
        if is_there(folder):
            return
        shutil.rmtree(downloads / name, ignore_errors=True)
        sources = download_all(recipe, mirror, downloads, patience, notes)
        print("making the corpus", file=notes, flush=True)
        files, counts = recipe.make(sources)
        record = json.dumps(record_of(name, recipe, files, counts), indent=2, ensure_ascii=False) + "\n"
        write({**files, RECORD: record.encode()}, downloads / name, folder)
        for source in recipe.sources:
            delete_partial(source, downloads)


def fetch(name, recipe, to, mirror="", patience=60, notes=None):
    """Prints the licence, downloads the sources, makes the corpus and writes `to`/<name>/. That folder appears complete or not at all;
    downloads stay in `to`/.fetch until then, so that the same call continues. A corpus that is there is verified and
    left alone. Throws Failure and OSError."""
    check_mirror(mirror)
    folder = pathlib.Path(to) / name
    if not is_there(folder):
        announce(name, recipe, mirror, notes)
        make(name, recipe, folder, mirror, patience, notes)
    show(folder, recipe, notes)
