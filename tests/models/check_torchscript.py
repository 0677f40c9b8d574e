#!/usr/bin/env python3
"""Loads every module of a folder with PyTorch alone and compares its outputs, and the floating-point operations that
PyTorch counts, with those it carries."""

import math
import pathlib
import sys
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count


def fused_attention(query, key, value, *_, **__):
    return sdpa_flop_count(query, key, value)


def triangular_solve(matrix, right, *_, **__):
    return right[-2] * math.prod(right)  # one multiplication and one addition for each number left of the diagonal


def multiplied_and_added(numbers, *_, **__):
    return 2 * math.prod(numbers)


# What PyTorch's counter does not know.
BESIDES = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: fused_attention,
           torch.ops.aten._scaled_dot_product_fused_attention_overrideable: fused_attention,
           torch.ops.aten.linalg_solve_triangular: triangular_solve,
           torch.ops.aten.addcmul_: multiplied_and_added}


def counted(module: torch.jit.ScriptModule, inputs: list[torch.Tensor]) -> int:
    with FlopCounterMode(display=False, custom_mapping=BESIDES) as counter, torch.backends.mkldnn.flags(enabled=False):
        module(*[ids.clamp(min=3) for ids in inputs])  # experts skip padding
    return counter.get_total_flops()


def wrong(file: pathlib.Path) -> str:
    module = torch.jit.load(str(file))
    carried = dict(module.expected.named_buffers())
    inputs = [carried["source"]] + ([carried["target"]] if "target" in carried else [])
    with torch.no_grad():
        if "flops" in carried and (flops := counted(module, inputs)) != carried["flops"]:
            return f"{flops} floating-point operations and not {int(carried['flops'])}"
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
    warnings.simplefilter("ignore")  # without oneDNN, whose fused LSTM is not counted, PyTorch speaks of GPUs
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.pt"))
    failures = [f"{file.stem}: {why}" for file in files if (why := wrong(file))]
    print(f"{len(files)} modules, {len(failures)} wrong")
    print("\n".join(failures))
    sys.exit(bool(failures) or not files)


if __name__ == "__main__":
    main()
