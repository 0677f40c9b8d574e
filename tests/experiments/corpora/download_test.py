"""Claims about what comes from a server, a folder or the client of a registry."""

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock
import zipfile

from support import FolderTest, HttpServer, answer_of, response

import download
from recipes import HOSTS, Source

FILE = b"a file of some bytes: " + b"x" * 5000 + b"end"


def source_of(data, path="pool/file.deb", origin="test", requirement=""):
    return Source(origin, path, len(data), hashlib.sha256(data).hexdigest(), requirement)


class SourceTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.progress = []
        self.part = download.part_of(source_of(FILE), self.folder)

    def download_file(self, mirror, source=source_of(FILE), patience=60):
        """From a mirror, or if it is a server's address from its path there alone."""
        at_path = [mirror] if mirror.startswith("http") else HOSTS.get("test", [])
        with unittest.mock.patch.dict(HOSTS, test=at_path):
            return download.download(source, "" if at_path else mirror, self.folder, patience, self.progress.append)

    def refusal(self, mirror, code, source=source_of(FILE), patience=60):
        with self.assertRaises(download.Failure) as caught:
            self.download_file(mirror, source, patience)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        return str(caught.exception)

    def refusal_of(self, answer, code, patience=60):
        with HttpServer(lambda path, begin: answer) as server:
            return self.refusal(server.url, code, patience=patience)


class DownloadTest(SourceTest):
    def test_downloads_a_file_and_reports_its_progress(self):
        with HttpServer(lambda path, begin: answer_of(begin, FILE) if path == "/pool/file.deb" else response("404 No")) as server:
            self.assertEqual(self.download_file(server.url), FILE)
        self.assertEqual(self.progress[-1], len(FILE))

    def test_a_broken_connection_continues_where_it_stopped(self):
        for beginning in (response("200 OK", FILE[:100], len(FILE)), b"HTTP/1.0 200 OK\r\n\r\n" + FILE[:100]):
            with HttpServer(lambda path, begin: answer_of(begin, FILE) if begin else beginning) as server:
                self.assertIn("too early after 100 of 5025 bytes; the same command", self.refusal(server.url, download.IO))
                self.assertEqual(self.part.read_bytes(), FILE[:100])
                self.assertEqual(self.download_file(server.url), FILE)
                self.assertIn(("/pool/file.deb", 100), server.asked)
            self.part.unlink()

    def test_a_server_without_ranges_is_read_from_the_beginning(self):
        for refused in (response("200 OK", FILE), response("416 Range Not Satisfiable")):
            self.part.write_bytes(FILE[:100])
            with HttpServer(lambda path, begin: refused if begin else response("200 OK", FILE)) as server:
                self.assertEqual(self.download_file(server.url), FILE)
                self.assertEqual(server.asked[0], ("/pool/file.deb", 100))

    def test_a_part_of_other_bytes_is_thrown_away_and_the_next_attempt_begins_again(self):
        self.part.write_bytes(b"not how the file begins")
        with HttpServer(lambda path, begin: answer_of(begin, FILE)) as server:
            self.assertIn("SHA-256", self.refusal(server.url, download.DATA))
            self.assertFalse(self.part.exists())
            self.assertEqual(self.download_file(server.url), FILE)

    def test_all_that_has_come_is_not_asked_for_again(self):
        self.part.write_bytes(FILE)
        with HttpServer(lambda path, begin: response("500 Broken")) as server:
            self.assertEqual(self.download_file(server.url), FILE)
            self.assertEqual(server.asked, [])

    def test_a_server_that_lies_is_told_by_what_it_sends(self):
        size = "has another size than 5025 bytes"
        for why, answer in (("has the SHA-256", response("200 OK", FILE[:1000] + b"y" + FILE[1001:])),
                            (size, response("200 OK", FILE + b"more")), (size, response("200 OK", FILE[1:])),
                            (size, b"HTTP/1.0 200 OK\r\n\r\n" + FILE + b"more"), (size, response("200 OK")),
                            ("is a web page", response("200 OK", b"<!DOCTYPE html><html>Log in</html>".ljust(len(FILE)))),
                            ("is a web page", response("200 OK", b"\n<html>".ljust(len(FILE))))):
            with self.subTest(why=why):
                self.assertIn(why, self.refusal_of(answer, download.DATA))
                self.assertFalse(self.part.exists())

    def test_a_server_that_is_broken_is_a_failure_of_input_and_output(self):
        def redirect(to):
            return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        for why, answer in (("the server answers 404", response("404 Not Found", b"<html>no</html>")),
                            ("the server answers 503", response("503 Service Unavailable")),
                            ("after 0 of 5025 bytes", b""), ("after 0 of 5025 bytes", b"gibberish\r\n\r\n"),
                            ("redirect", redirect("/again")), ("is not allowed", redirect("file:///etc/passwd")),
                            ("is not allowed", redirect("ftp://127.0.0.1/x"))):
            with self.subTest(why=why):
                self.assertIn(why, self.refusal_of(answer, download.IO))

    def test_a_network_that_is_not_there_is_a_failure_of_input_and_output(self):
        with HttpServer(None) as server:
            pass
        self.assertIn("refused after 0 of 5025 bytes", self.refusal(server.url, download.IO))

    def test_a_redirect_is_followed(self):
        moved = b"HTTP/1.1 301 Moved\r\nLocation: /real\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        with HttpServer(lambda path, begin: answer_of(begin, FILE) if path == "/real" else moved) as server:
            self.assertEqual(self.download_file(server.url), FILE)

    def test_a_server_that_sends_nothing_is_given_up(self):
        why = self.refusal_of([None], download.IO, patience=1)
        self.assertIn("the server sent fewer than 1000 bytes in 1 seconds after 0 of 5025 bytes; the same command continues there", why)

    def test_a_server_that_sends_no_more_is_given_up_and_what_came_is_kept(self):
        self.progress = unittest.mock.Mock(append=lambda came: came == 4000 and signal.setitimer(signal.ITIMER_REAL, 0.1))
        with unittest.mock.patch("signal.alarm"):
            why = self.refusal_of([response("200 OK", FILE[:4000], len(FILE)), None], download.IO)
        self.assertIn("the server sent fewer than 1000 bytes in 60 seconds after 4000 of 5025 bytes", why)
        self.assertEqual(self.part.read_bytes(), FILE[:4000])

    def test_a_server_that_sends_a_byte_now_and_then_is_given_up_too(self):
        def trickle():  # at most 100 bytes in a second, on any machine
            yield response("200 OK", b"", len(FILE))
            for byte in FILE:
                yield bytes([byte])
                time.sleep(0.01)
        self.assertIn("fewer than 1000 bytes in 1 seconds", self.refusal_of(trickle(), download.IO, patience=1))

    def test_the_patience_begins_anew_with_every_thousand_bytes(self):
        with HttpServer(lambda path, begin: answer_of(begin, FILE)) as server, \
                unittest.mock.patch("http.client.HTTPResponse.read1", lambda answer, _: answer.read(250)), \
                unittest.mock.patch("signal.alarm", wraps=signal.alarm) as alarm:
            self.download_file(server.url)
        self.assertEqual([call.args[0] for call in alarm.call_args_list], [60] * 6 + [0])

    def test_mirrors_are_asked_in_their_order_until_one_has_the_bytes(self):
        with HttpServer(lambda path, begin: response("503 Busy")) as busy, HttpServer(lambda path, begin: response("200 OK", b"lies")) as liar, \
                HttpServer(lambda path, begin: answer_of(begin, FILE)) as server:
            with unittest.mock.patch.dict(HOSTS, test=[busy.url, liar.url, server.url, "http://127.0.0.1:1"]):
                self.assertEqual(self.download_file(""), FILE)
            self.part.unlink()
            with unittest.mock.patch.dict(HOSTS, test=[busy.url, liar.url]):
                why = self.refusal("", download.DATA)
            self.assertLess(why.index(busy.url), why.index(liar.url))

    def test_a_folder_is_a_mirror_by_path_and_by_both_names(self):
        epoch = source_of(FILE, "pool/tool_1.2-3_all.deb", "apt-get", "tool=4:1.2-3")
        for name in ("pool/tool_1.2-3_all.deb", "tool_1.2-3_all.deb", "tool_4%3a1.2-3_all.deb"):
            file = self.folder / "mirror" / name
            file.parent.mkdir(parents=True)
            file.write_bytes(FILE)
            self.assertEqual(self.download_file(str(self.folder / "mirror") + "/", epoch), FILE)
            file.write_bytes(b"other")
            self.refusal(str(self.folder / "mirror"), download.DATA, epoch)
            shutil.rmtree(self.folder / "mirror")
        self.refusal(str(self.folder), download.IO, epoch)

    def test_a_disk_that_is_full_is_a_failure_of_input_and_output(self):
        self.part.symlink_to("/dev/full")
        self.assertIn("No space left on device", self.refusal_of(response("200 OK", FILE), download.IO))

    def test_a_folder_that_cannot_be_written_is_a_failure_of_input_and_output(self):
        self.folder /= "absent"
        self.assertIn("No such file", self.refusal_of(response("200 OK", FILE), download.IO))


class ClientTest(SourceTest):
    """The real clients of registries that lie on this machine."""

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip")
    def test_pip_downloads_the_wheel_of_a_version(self):
        name = "thing-1.0-py3-none-any.whl"
        with zipfile.ZipFile(self.folder / name, "w") as wheel:
            for file, text in (("METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"), ("RECORD", ""),
                               ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")):
                wheel.writestr("thing-1.0.dist-info/" + file, text)
        data = (self.folder / name).read_bytes()
        with unittest.mock.patch.dict(os.environ, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder)):
            self.assertEqual(self.download_file("", source_of(data, name, "pip", "thing==1.0")), data)
            self.assertIn("has the SHA-256", self.refusal("", download.DATA, source_of(data[::-1], name, "pip", "thing==1.0")))
            self.assertIn("--from takes a folder", self.refusal("", download.IO, source_of(FILE, "thing-2", "pip", "thing==2.0")))

    def repository(self, path, _):
        """One of Debian's, with the package tool 4:1.2-3."""
        packages = (f"Package: tool\nVersion: 4:1.2-3\nArchitecture: all\nFilename: pool/tool_1.2-3_all.deb\nSize: {len(FILE)}\n"
                    f"SHA256: {hashlib.sha256(FILE).hexdigest()}\nDescription: x\n").encode()
        release = (f"Codename: bookworm\nSuite: stable\nComponents: main\nArchitectures: all amd64 arm64\nSHA256:\n"
                   f" {hashlib.sha256(packages).hexdigest()} {len(packages)} main/binary-all/Packages\n").encode()
        files = {"/dists/bookworm/Release": release, "/dists/bookworm/main/binary-all/Packages": packages,
                 "/pool/tool_1.2-3_all.deb": FILE, "/dists/bookworm/main/i18n/Translation-en.xz": FILE}
        return response("200 OK", files[path]) if path in files else response("404 Not Found")

    @unittest.skipUnless(shutil.which("apt-get"), "no apt")
    def test_apt_downloads_the_package_of_a_version_and_the_index_of_a_release(self):
        for folder in ("lists/partial", "cache/archives/partial", "parts", "downloads"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "apt.conf").write_text(
            f'Dir::State::Lists "{self.folder}/lists"; Dir::State::status "/dev/null"; Dir::Cache "{self.folder}/cache";\n'
            f'Dir::Etc::SourceList "{self.folder}/sources.list"; Dir::Etc::SourceParts "{self.folder}/parts";\n'
            'APT::Sandbox::User "root"; Acquire::http::Proxy "DIRECT"; Acquire::Languages "none"; Acquire::Retries "0";\n')
        package = source_of(FILE, "pool/tool_1.2-3_all.deb", "apt-get", "tool=4:1.2-3")
        index = source_of(FILE, "dists/bookworm/main/i18n/Translation-en.xz", "apt-get")
        with HttpServer(self.repository) as server, unittest.mock.patch.dict(os.environ, APT_CONFIG=str(self.folder / "apt.conf")):
            (self.folder / "sources.list").write_text("")
            self.assertIn("apt has no index of Debian 12", self.refusal("", download.IO, index))
            (self.folder / "sources.list").write_text(f"deb [trusted=yes] {server.url}/ bookworm main\n")
            subprocess.run(["apt-get", "update", "-qq"], stderr=subprocess.DEVNULL, check=True)
            for source in (package, index):
                self.assertEqual(self.download_file("", source), FILE)
                download.delete_partial(source, self.folder)
            other = package._replace(sha256="0" * 64)
            self.assertIn("has the SHA-256", self.refusal("", download.DATA, other))
            self.assertIn("4:1.2-4", self.refusal("", download.IO, package._replace(requirement="tool=4:1.2-4")))

    def test_a_client_that_is_not_there_is_named(self):
        source = source_of(FILE, "tool_1.2-3_all.deb", "apt-get", "tool=1.2-3")
        with unittest.mock.patch.dict(os.environ, PATH=str(self.folder)):
            self.assertIn("there is no apt-get here; --from takes a folder", self.refusal("", download.IO, source))
        download.delete_partial(source, self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
