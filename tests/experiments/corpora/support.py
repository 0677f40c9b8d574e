"""What the tests of corpora share: a server of any answer, and a folder."""

import pathlib
import re
import socket
import sys
import tempfile
import threading
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "experiments/corpora"))


def response(status, body=b"", length=None):
    """With its length; the body may be another one than the length says."""
    length = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode() + body


def answer_of(begin, file):
    """What a server answers that has one file and knows ranges."""
    if not begin:
        return response("200 OK", file)
    return response("206 Partial Content", file[begin:]) if begin < len(file) else response("416 Range Not Satisfiable")


class HttpServer:
    """Serves one connection after another on localhost with `answer(path, begin)`: bytes, or an iterable of bytes to be sent one by one,
    None being a wait until the client goes. `asked` are (path, where the range begins) of all requests so far."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                try:
                    self.serve_one(client)
                except OSError:
                    pass  # it is gone

    def serve_one(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return
            head += more
        path, begin = head.split()[1].decode(), re.search(rb"(?i)range: bytes=(\d+)", head)
        begin = int(begin[1]) if begin else None
        self.asked.append((path, begin))
        answer = self.answer(path, begin)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            if piece is None:
                client.recv(1)
            else:
                client.sendall(piece)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
