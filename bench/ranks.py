#!/usr/bin/env python3
"""Training on two ranks of one thread beside one process of one and of two threads, in turns.

Trains bench/<size>.yaml on Multi30k with two batches an update, once for a few updates and once for more; what the
second run takes longer is the cost of its further updates, so that starting does not count. Seconds are those that runs
record for training, bytes those that the loopback interface counts, so no other program may use it meanwhile. Prints a
Markdown table.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy

FEWEST = 2  # updates of the shorter run
KINDS = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 ranks of 1 thread": (2, 1)}
DATA = ("{ task: text, train: [multi30k/train.en.gz, multi30k/train.de.gz], validation: [multi30k/val.en.gz, multi30k/val.de.gz], "
        "test: [multi30k/test_2016_flickr.en.gz, multi30k/test_2016_flickr.de.gz] }")


def study(size: str, folder: pathlib.Path, tokens: int, steps: int) -> pathlib.Path:
    lines = pathlib.Path(f"bench/{size}.yaml").read_text().splitlines()
    text = "\n".join(lines).replace("data: { task: reverse }", f"data: {DATA}").replace(
        "tokenizer: { kind: word }", "tokenizer: { kind: bpe, vocabulary: 8000 }").replace(
        "  training:\n", f"  training:\n    accumulate: 2\n    steps: {steps}\n").replace(
        "tokens_per_batch: 4096", f"tokens_per_batch: {tokens}")
    path = folder / f"{size}.yaml"
    path.write_text(text)
    return path


def sent() -> int:
    return int(pathlib.Path("/sys/class/net/lo/statistics/tx_bytes").read_text())


def cost(path: pathlib.Path, kind: tuple[int, int], options: argparse.Namespace) -> numpy.ndarray:
    """Seconds of training, and bytes through the loopback interface, of the study's one run."""
    ranks, threads = kind
    output, before = path.with_suffix(""), sent()
    subprocess.run([options.program, "run", path, "--output", output, "--data", options.data, "--ranks", str(ranks),
                    "--threads", str(threads), "--set", "decoding.max_length=1"], check=True, capture_output=True)
    moved = sent() - before
    result = json.loads(next(output.glob("*/*/*/seed-1/result.json")).read_text())
    return numpy.array([result["training_seconds"], moved])


def update_cost(size: str, kind: tuple[int, int], options: argparse.Namespace) -> numpy.ndarray:
    costs = []
    for steps in (FEWEST, FEWEST + options.steps):
        with tempfile.TemporaryDirectory() as name:
            costs.append(cost(study(size, pathlib.Path(name), options.tokens, steps), kind, options))
    return (costs[1] - costs[0]) / options.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--data", required=True, help="folder that holds multi30k/")
    parser.add_argument("--sizes", default="small,base")
    parser.add_argument("--tokens", type=int, default=2048, help="of a batch, of which an update has two")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| size | " + " | ".join(f"{kind}: s an update" for kind in KINDS) + " | ranks / two threads | MB that a rank sends |")
    print("|---|" + "---|" * (len(KINDS) + 2))
    for size in options.sizes.split(","):
        times, sent_bytes = {kind: [] for kind in KINDS}, []
        for _ in range(options.rounds):
            for kind, (ranks, threads) in KINDS.items():
                seconds, moved = update_cost(size, (ranks, threads), options)
                times[kind].append(seconds)
                sent_bytes += [moved / ranks] if ranks > 1 else []
        ratios = [a / b for a, b in zip(times["2 ranks of 1 thread"], times["1 process, 2 threads"])]
        cells = [f"{statistics.median(t):.3f} ({min(t):.3f}-{max(t):.3f})" for t in times.values()]
        print(f"| {size} | " + " | ".join(cells) + f" | {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
              f" | {statistics.median(sent_bytes) / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
