"""The LibTorch that a wheel is built with, for scikit-build-core (dynamic metadata) and for CMake: libtorch.py prints its folder.

It is the one of the environment variable TORCH_ROOT, else the torch of the Python that TORCH names, of .venv, or of the Python that
builds. If there is none, the build asks pip for the version that setup.sh would take.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import subprocess

FIND = "import importlib.util; found = importlib.util.find_spec('torch'); print(found.submodule_search_locations[0] if found else '')"
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def folder() -> pathlib.Path | None:
    """Of LibTorch; torch is not imported."""
    if os.environ.get("TORCH_ROOT"):
        return pathlib.Path(os.environ["TORCH_ROOT"])
    if os.environ.get("TORCH"):
        return pathlib.Path(subprocess.run([os.environ["TORCH"], "-c", FIND], cwd="/", check=True, text=True, capture_output=True).stdout.strip())
    beside = sorted(SOURCE.glob(".venv/lib/python3*/site-packages/torch"))
    spec = importlib.util.find_spec("torch")
    return beside[0] if beside else pathlib.Path(spec.submodule_search_locations[0]) if spec else None


def version() -> str:
    """The major and the minor version, such as "2.13"."""
    root = folder()
    if root is None:
        pinned = (SOURCE / "cmake/wheels/cuda.in").read_text(encoding="utf-8")
        return re.search(r"^torch==(\d+\.\d+)", pinned, re.M)[1]
    header = (root / "include/torch/headeronly/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"TORCH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR"))


def dynamic_metadata(field: str, settings: dict[str, object] | None = None, project: object = None) -> list[str]:
    """What the wheel depends on: LibTorch's classes change their layout with the minor version."""
    return [f"torch=={version()}.*"]


def get_requires_for_dynamic_metadata(settings: dict[str, object] | None = None) -> list[str]:
    """What pip brings for the build: torch, and for NCCL the headers that PyPI's torch lacks."""
    return [] if folder() else [f"torch=={version()}.*", "cuda-toolkit[cccl,crt]"]


if __name__ == "__main__":
    print(folder() or "")
