"""What a disk holds after a loss of power: only what was synced is certain.

A file has the bytes of its last sync, and perhaps later ones. A folder has the names of its last sync, and perhaps
later changes: all up to some moment, as a journal keeps them, or any of them, which is more than a disk with a
journal would do.
"""


class File:
    def __init__(self):
        self.now, self.certain = bytearray(), b""


class Folder:
    def __init__(self):
        self.now, self.certain = {}, {}
        self.pending = []  # changes since the last sync: (number of the call, name, what it is now, or None)

    def set(self, number, name, child):
        if child is None:
            self.now.pop(name, None)
        else:
            self.now[name] = child
        self.pending.append((number, name, child))


class Disk:
    """The root folder and everything below it, as calls make it."""

    def __init__(self):
        self.root = Folder()

    def find(self, path):
        place = self.root
        for part in filter(None, path.split("/")):
            place = place.now.get(part) if isinstance(place, Folder) else None
        return place

    def change(self, number, path, child):
        parent, _, name = path.rpartition("/")
        self.find(parent).set(number, name, child)

    def apply(self, call):
        found = self.find(call.path)
        if call.operation in ("create", "mkdir"):
            self.change(call.number, call.path, File() if call.operation == "create" else Folder())
        elif call.operation == "write" and isinstance(found, File):
            found.now[len(found.now):] = bytes(max(0, call.offset - len(found.now)))
            found.now[call.offset:call.offset + len(call.data)] = call.data
        elif call.operation == "truncate" and isinstance(found, File):
            found.now[:] = found.now[:call.offset].ljust(call.offset, b"\0")
        elif call.operation == "sync" and isinstance(found, File):
            found.certain = bytes(found.now)
        elif call.operation == "sync" and found is not None:
            found.certain, found.pending = dict(found.now), []
        elif call.operation in ("unlink", "rmdir"):
            self.change(call.number, call.path, None)
        elif call.operation in ("rename", "link", "exchange"):
            other = self.find(call.other)
            self.change(call.number, call.other, found)
            if call.operation != "link":
                self.change(call.number, call.path, other if call.operation == "exchange" else None)


class Dropped:
    """Nothing is there that was not synced."""

    name = "dropped"

    def names(self, folder):
        return folder.certain

    def content(self, file):
        return file.certain


class Journalled:
    """Names as of one moment of the whole disk; of every file its synced bytes, its latest, or a part of these."""

    name = "journalled"

    def __init__(self, random, calls):
        self.random, self.moment = random, random.randint(0, calls)

    def names(self, folder):
        return patched(folder, [change for change in folder.pending if change[0] <= self.moment])

    def content(self, file):
        return part_of(file, self.random)


class Reordered:
    """Any of the changes of names, and of every file any part of what came after its sync."""

    name = "reordered"

    def __init__(self, random):
        self.random, self.kept = random, {}

    def names(self, folder):
        return patched(folder, [change for change in folder.pending
                                if self.kept.setdefault(change[0], self.random.random() < 0.5)])

    def content(self, file):
        return part_of(file, self.random)


def patched(folder, changes):
    names = dict(folder.certain)
    for _, name, child in changes:
        names.pop(name, None)
        if child is not None:
            names[name] = child
    return names


def part_of(file, random):
    """Of a file that has only grown since its sync no synced byte is lost."""
    if bytes(file.now) == file.certain:
        return file.certain
    choice = random.random()
    if choice < 0.3:
        return file.certain
    least = len(file.certain) if file.now.startswith(file.certain) else 0
    return bytes(file.now[:random.randint(least, len(file.now))] if choice < 0.6 else file.now)


def leave(folder, survives, path):
    """Writes what survives below `path`, which exists and is empty."""
    for name, child in survives.names(folder).items():
        if isinstance(child, File):
            (path / name).write_bytes(survives.content(child))
        else:
            (path / name).mkdir()
            leave(child, survives, path / name)


def disk_after(calls, count):
    disk = Disk()
    for call in calls[:count]:
        disk.apply(call)
    return disk
