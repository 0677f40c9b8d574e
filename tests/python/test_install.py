"""The commands of docs/python.md, as they are printed, with a wheel that has what the real one says of itself, and without a network."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

import example

try:
    import tomllib
except ImportError:  # before Python 3.11
    from pip._vendor import tomli as tomllib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


def page_block():
    """The commands of the section on installing."""
    return re.search(r"^```sh\n(.*?)^```$", (SOURCE / "docs/python.md").read_text(), re.M | re.S)[1]


def dependencies():
    """What the wheel needs always."""
    place = PROJECT["tool"]["scikit-build"]["metadata"]["dependencies"]["provider-path"]
    spec = importlib.util.spec_from_file_location("libtorch", SOURCE / place / "libtorch.py")
    libtorch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(libtorch)
    return libtorch.dynamic_metadata("dependencies")


def write_wheel(folder, name, version, metadata="", files=()):
    """A wheel of these files, by their name in it."""
    about = f"{name}-{version}.dist-info"
    entries = {**dict(files), f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}",
               f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for file, text in entries.items():
            wheel.writestr(file, text)
        wheel.writestr(f"{about}/RECORD", "".join(f"{file},,\n" for file in [*entries, f"{about}/RECORD"]))


def write_own_wheel(folder):
    """What scikit-build-core makes of pyproject.toml, without the program."""
    pattern = PROJECT["tool"]["scikit-build"]["metadata"]["version"]["regex"]
    version = re.search(pattern, (SOURCE / "CMakeLists.txt").read_text())["value"]
    lines = [f"Requires-Python: {PROJECT['project']['requires-python']}", *(f"Requires-Dist: {needed}" for needed in dependencies())]
    for extra, names in EXTRAS.items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in names)]
    scripts = "".join(f"{name} = {place}\n" for name, place in PROJECT["project"]["scripts"].items())
    files = {f"ablate_lab/{file.name}": file.read_text() for file in sorted((SOURCE / "python/ablate_lab").glob("*.py"))}
    write_wheel(folder, "ablate_lab", version, "\n".join(lines) + "\n",
                {**files, f"ablate_lab-{version}.dist-info/entry_points.txt": f"[console_scripts]\n{scripts}"})


class Install(example.Case):
    def test_the_commands_of_the_page_install_the_package_and_what_its_extras_name(self):
        needed = [*dependencies(), *(name for names in EXTRAS.values() for name in names)]
        (self.folder / "index").mkdir()
        for name, version in (re.fullmatch(r"([\w-]+)(?:==([\d.]+)\.\*)?", text).groups("1") for text in needed):
            write_wheel(self.folder / "index", name, f"{version}.0")
        write_own_wheel(self.folder)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/python3").symlink_to(sys.executable)
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "PIP_NO_INDEX": "1",
                       "PIP_FIND_LINKS": f"{self.folder}/index", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": ""}
        done = subprocess.run(["sh", "-ec", f"{page_block()}\npip check\npip list --format freeze"], cwd=self.folder, env=environment, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        installed = {line.partition("==")[0].replace("_", "-") for line in done.stdout.splitlines()}
        self.assertLessEqual({"ablate-lab", *(re.match(r"[\w-]+", text)[0] for text in needed)}, installed)
        self.assertTrue((self.folder / "ablate/bin/ablate").exists())

    def test_the_page_names_every_extra_and_what_it_brings(self):
        self.assertIn(f"[{','.join(sorted(EXTRAS))}]", page_block())
        text = (SOURCE / "docs/python.md").read_text()
        self.assertEqual([name for names in EXTRAS.values() for name in names if f"`{name}`" not in text], [])


if __name__ == "__main__":
    unittest.main()
