#!/usr/bin/env python3
"""What the laboratory costs: `ablate run` of one run beside the same training in a bare loop.

Both read the data, train, validate as often and evaluate; `ablate run` also freezes the study,
starts a process, logs, writes TensorBoard events and checkpoints, and makes tables and report.
Seconds are those of the whole commands, in turns.
"""

import argparse
import statistics
import subprocess
import tempfile
import time


def seconds_of(command: list) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--data", default=".")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--set", action="append", default=[], help="key.path=value of the study")
    options = parser.parse_args()
    shared = [options.study, "--data", options.data, "--set", "training.threads=1"]
    for value in options.set:
        shared += ["--set", value]
    bare, whole = [], []
    for round_ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            run = ["run", *shared, "--output", folder, "--jobs", "1", "--seeds", options.seed]
            turns = [(bare, ["bench", "bare", *shared]), (whole, run)]
            for seconds, words in turns if round_ % 2 == 0 else reversed(turns):
                seconds.append(seconds_of([options.program, *words]))
        print(f"round {round_ + 1}: bare {bare[-1]:.2f} s, ablate run {whole[-1]:.2f} s", flush=True)
    ratios = [w / b for w, b in zip(whole, bare)]
    print(
        f"bare {statistics.median(bare):.2f} s, ablate run {statistics.median(whole):.2f} s, "
        f"ratio {statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})"
    )


if __name__ == "__main__":
    main()
