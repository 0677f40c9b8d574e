#!/usr/bin/env python3
"""Training on two ranks of one thread beside one process of one and of two threads, in turns.

Trains bench/<size>.yaml on Multi30k with two batches an update; speed is that of the updates between two pauses of
`ablate train --until`, so that starting does not count. Bytes are those that the loopback interface counts in the same
updates, so nothing else may use it meanwhile. Prints a Markdown table.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy

KINDS = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 ranks of 1 thread": (2, 1)}
DATA = ("{ task: text, train: [multi30k/train.en.gz, multi30k/train.de.gz], validation: [multi30k/val.en.gz, multi30k/val.de.gz], "
        "test: [multi30k/test_2016_flickr.en.gz, multi30k/test_2016_flickr.de.gz] }")


def study(size: str, folder: pathlib.Path, tokens: int) -> pathlib.Path:
    lines = pathlib.Path(f"bench/{size}.yaml").read_text().splitlines()
    text = "\n".join(lines).replace("data: { task: reverse }", f"data: {DATA}").replace(
        "tokenizer: { kind: word }", "tokenizer: { kind: bpe, vocabulary: 8000 }").replace(
        "  training:\n", "  training:\n    accumulate: 2\n    steps: 1000\n").replace(
        "tokens_per_batch: 4096", f"tokens_per_batch: {tokens}")
    path = folder / f"{size}.yaml"
    path.write_text(text)
    return path


def sent() -> int:
    return int(pathlib.Path("/sys/class/net/lo/statistics/tx_bytes").read_text())


def cost(command: list[str]) -> numpy.ndarray:
    """Seconds, and bytes through the loopback interface."""
    bytes_before, start = sent(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return numpy.array([time.perf_counter() - start, sent() - bytes_before])


def update_cost(size: str, ranks: int, threads: int, options: argparse.Namespace) -> numpy.ndarray:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = study(size, folder, options.tokens)
        subprocess.run([options.program, "run", path, "--output", folder / "runs", "--data", options.data, "--launcher", "print"],
                       check=True, capture_output=True)
        run = next((folder / "runs").glob("*/*/*/seed-1"))
        train = [options.program, "train", str(run), "--threads", str(threads), "--ranks", str(ranks), "--until"]
        cost([*train, "2"])  # trains the tokenizer, too
        shutil.copytree(run, folder / "copy")
        short = cost([*train, "4"])
        shutil.rmtree(run)
        shutil.copytree(folder / "copy", run)
        return (cost([*train, str(4 + options.steps)]) - short) / options.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--data", required=True, help="folder in which multi30k/ lies")
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
                seconds, moved = update_cost(size, ranks, threads, options)
                times[kind].append(seconds)
                sent_bytes += [moved / ranks] if ranks > 1 else []
        ratios = [a / b for a, b in zip(times["2 ranks of 1 thread"], times["1 process, 2 threads"])]
        cells = [f"{statistics.median(t):.3f} ({min(t):.3f}-{max(t):.3f})" for t in times.values()]
        print(f"| {size} | " + " | ".join(cells) + f" | {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
              f" | {statistics.median(sent_bytes) / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
