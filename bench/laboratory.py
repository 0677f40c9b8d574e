#!/usr/bin/env python3
"""What the laboratory costs: `ablate run` of a study's first run beside the same training in a bare loop.

Both read the data, train, validate as often and evaluate; `ablate run` also freezes the study,
starts a process, logs, writes TensorBoard events and checkpoints, and makes tables and report.
Seconds are those of the whole commands, in turns.
"""

import argparse
import resource
import statistics
import subprocess
import tempfile
import time


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of(command: list) -> tuple:
    """Of the clock, and of all its processes on a core."""
    start, cpu = time.perf_counter(), cpu_seconds()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start, cpu_seconds() - cpu


def print_ratio(what: str, bare: list, whole: list) -> None:
    ratios = [w / b for w, b in zip(whole, bare)]
    print(
        f"{what}: bare {statistics.median(bare):.2f} s, ablate run {statistics.median(whole):.2f} s, "
        f"ratio {statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--data", default=".")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--select", default="", help='of ablate run: what leaves the first run alone')
    parser.add_argument("--set", action="append", default=[], help="key.path=value of the study")
    options = parser.parse_args()
    shared = [options.study, "--data", options.data, "--set", "training.threads=1"]
    for value in options.set:
        shared += ["--set", value]
    bare, whole = [], []
    for round_ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            run = ["run", *shared, "--output", folder, "--jobs", "1", *options.select.split()]
            turns = [(bare, ["bench", "bare", *shared]), (whole, run)]
            for seconds, words in turns if round_ % 2 == 0 else reversed(turns):
                seconds.append(seconds_of([options.program, *words]))
        print(f"round {round_ + 1}: bare {bare[-1][0]:.2f} s, ablate run {whole[-1][0]:.2f} s", flush=True)
    for i, what in enumerate(("clock", "processor")):
        print_ratio(what, [pair[i] for pair in bare], [pair[i] for pair in whole])



if __name__ == "__main__":
    main()
