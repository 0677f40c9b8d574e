#!/usr/bin/env python3
"""Training on two threads beside other busy processes, as a share of its speed on a quiet machine.

Runs `ablate bench train` on each study in turns with no and with some endless loops beside it, for every number of times
that a waiting thread of OpenMP looks before it sleeps (GOMP_SPINCOUNT): `ablate run` sets 1,000 for its runs, and
libgomp's own is 300,000. Prints a Markdown table.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

BENCH = pathlib.Path(__file__).resolve().parent
STEPS = {"tiny": 8, "small": 5, "base": 2}


def speed(options: argparse.Namespace, size: str, spins: str, busy: int) -> float:
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
    try:
        done = subprocess.run([options.ablate, "bench", "train", BENCH / f"{size}.yaml", "--json", "--threads", "2",
                               "--precision", options.precision, "--steps", str(STEPS[size])],
                              check=True, capture_output=True, text=True, env=os.environ | {"GOMP_SPINCOUNT": spins})
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return json.loads(done.stdout)["tokens_per_second"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ablate", type=pathlib.Path, default=BENCH.parent / "build" / "ablate")
    parser.add_argument("--sizes", default="tiny,small")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--spins", default="1000,300000", help="values of GOMP_SPINCOUNT")
    parser.add_argument("--busy", type=int, default=1, help="endless loops beside the program")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print("warning: the machine is not quiet")
    print(f"| size | precision | spins | quiet, tokens/s | beside {options.busy}, tokens/s | share kept |\n|---|---|---|---|---|---|")
    for size in options.sizes.split(","):
        rounds = {spins: [] for spins in options.spins.split(",")}
        for _ in range(options.rounds):
            for spins, speeds in rounds.items():
                speeds.append((speed(options, size, spins, 0), speed(options, size, spins, options.busy)))
        for spins, speeds in rounds.items():
            shares = [busy / quiet for quiet, busy in speeds]
            cells = [f"{statistics.median(column):,.0f}" for column in zip(*speeds)]
            print(f"| {size} | {options.precision} | {int(spins):,} | " + " | ".join(cells) +
                  f" | {statistics.median(shares):.2f} ({min(shares):.2f}-{max(shares):.2f}) |", flush=True)


if __name__ == "__main__":
    main()
