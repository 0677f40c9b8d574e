#!/usr/bin/env python3
"""Loads every module of a folder with PyTorch alone and compares its outputs with those it carries."""

import pathlib
import sys

import torch


def wrong(file: pathlib.Path) -> str:
    module = torch.jit.load(str(file))
    carried = dict(module.expected.named_buffers())
    inputs = [carried["source"]] + ([carried["target"]] if "target" in carried else [])
    with torch.no_grad():
        for run in (module, torch.jit.freeze(module)):
            logits = run(*inputs)
            far = (logits - carried["logits"]).abs().max().item()
            if far > 1e-5 * max(1.0, logits.abs().max().item()):
                return f"logits differ by {far}"
        if "greedy" not in carried:
            return ""
        greedy, _ = module.greedy(carried["source"], 12, 1.5)
        beam, _ = module.beam(carried["source"], 4, 0.7, 12, 1.5)
    for name, ids in (("greedy", greedy), ("beam", beam)):
        if not torch.equal(ids, carried[name]):
            return f"{name} gives {ids.tolist()} and not {carried[name].tolist()}"
    sampled, _ = module.sample(carried["source"], 1.0, 5, 0.9, 12, 1.5)
    return "" if sampled.size(0) == carried["source"].size(0) else "samples have other rows"


def main() -> None:
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.pt"))
    failures = [f"{file.stem}: {why}" for file in files if (why := wrong(file))]
    print(f"{len(files)} modules, {len(failures)} wrong")
    print("\n".join(failures))
    sys.exit(bool(failures) or not files)


if __name__ == "__main__":
    main()
