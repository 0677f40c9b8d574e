#!/usr/bin/env python3
"""A mixture of experts beside its dense twins, on one thread: training steps and decoding.

Runs `ablate bench` for each model in turn, round after round: a mixture of 8 experts, the dense
feed-forward of its active width and that of its total width. Prints the ratios of times as Markdown
tables. The vocabulary is small, so that the output layer does not dominate.
"""

import argparse
import json
import statistics
import subprocess


def step_time(settings: dict, verb: list[str], options: argparse.Namespace) -> float:
    command = [options.program, "bench", *verb, "bench/small.yaml", "--json", "--threads", "1",
               "--precision", options.precision, "--vocabulary", str(options.vocabulary)]
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
    parser.add_argument("--vocabulary", type=int, default=256)
    options = parser.parse_args()
    kinds = {"training": ["train", "--steps", str(options.steps)],
             "decoding, batch 1": ["decode", "--batch", "1", "--steps", str(4 * options.steps)],
             "decoding, batch 64": ["decode", "--batch", "64", "--steps", str(options.steps)]}
    print("| what | d_model | active of 8 | mixture / dense of the active width | dense of the total"
          " width / mixture |")
    print("|---|---|---|---|---|")
    for what, verb in kinds.items():
        for d_model in (128, 256):
            for active in (1, 2):
                rounds = []
                for _ in range(options.rounds):
                    times = {match: step_time(mixture(d_model, active, match), verb, options)
                             for match in ("none", "active", "total")}
                    rounds.append((times["none"] / times["active"],
                                   times["total"] / times["none"]))
                cells = [f"{statistics.median(r):.2f} ({min(r):.2f}-{max(r):.2f})"
                         for r in zip(*rounds)]
                print(f"| {what} | {d_model} | {active} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
