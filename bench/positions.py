#!/usr/bin/env python3
"""Cost of every position scheme in a training step, beside no positions at all.

Runs `ablate bench train` for each scheme in turn, round after round, and divides each scheme's
seconds per step by those of `none` in the same round. Prints a Markdown table.
"""

import argparse
import json
import statistics
import subprocess

SCHEMES = ["none", "sinusoidal", "learned", "rotary", "alibi", "t5", "shaw", "fire",
           "transformer_xl", "kerple", "sandwich", "cope"]


def tokens_per_second(scheme: str, options: argparse.Namespace) -> float:
    command = [options.program, "bench", "train", "bench/small.yaml", "--json",
               "--steps", str(options.steps), "--threads", str(options.threads),
               "--precision", options.precision,
               "--set", f"model.position={{ kind: {scheme} }}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[
        "tokens_per_second"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("schemes", nargs="*", default=SCHEMES)
    options = parser.parse_args()
    costs: dict[str, list[float]] = {scheme: [] for scheme in options.schemes}
    for _ in range(options.rounds):
        none = tokens_per_second("none", options)
        for scheme in options.schemes:
            own = none if scheme == "none" else tokens_per_second(scheme, options)
            costs[scheme].append(none / own)
    print("| scheme | step time / none | range |\n|---|---|---|")
    for scheme, ratios in costs.items():
        print(f"| {scheme} | {statistics.median(ratios):.2f} | "
              f"{min(ratios):.2f}-{max(ratios):.2f} |")


if __name__ == "__main__":
    main()
