#!/usr/bin/env python3
"""A training step of a mixture of experts beside its dense twins, on one thread.

Runs `ablate bench train` for each model in turn, round after round: a mixture of 8 experts, the
dense feed-forward of its active width and that of its total width. Prints seconds per step of the
mixture divided by each twin's, as a Markdown table.
"""

import argparse
import json
import statistics
import subprocess


def step_time(settings: dict, options: argparse.Namespace) -> float:
    command = [options.program, "bench", "train", "bench/small.yaml", "--json", "--steps",
               str(options.steps), "--threads", "1", "--precision", options.precision]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = subprocess.run(command, check=True, capture_output=True)
    return 1 / json.loads(result.stdout)["tokens_per_second"]


def mixture(d_model: int, active: int, match: str) -> dict:
    router = "{ kind: switch }" if active == 1 else "{ kind: softmax }"
    hidden = 4 * d_model // active
    return {"model.d_model": d_model, "training.tokens_per_batch": 2048,
            "model.feed_forward": f"{{ kind: moe, experts: 8, active: {active}, d_hidden: {hidden}, "
                                  f"router: {router}, match: {match} }}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    options = parser.parse_args()
    print("| d_model | active of 8 | mixture / dense of the active width | dense of the total width / mixture |")
    print("|---|---|---|---|")
    for d_model in (128, 256):
        for active in (1, 2):
            rounds = []
            for _ in range(options.rounds):
                times = {match: step_time(mixture(d_model, active, match), options)
                         for match in ("none", "active", "total")}
                rounds.append((times["none"] / times["active"], times["total"] / times["none"]))
            cells = [f"{statistics.median(r):.2f} ({min(r):.2f}-{max(r):.2f})"
                     for r in zip(*rounds)]
            print(f"| {d_model} | {active} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
