"""Training speed and memory of Ablate beside its PyTorch twin, in one interleaved run.

    .venv/bin/python bench/compare.py [--device cuda] [--sizes tiny,small,base] [--rounds 3] [--quick]

Every measurement is a separate process. The programs take turns (A B A B A B), so that other load on the
machine affects both equally; a ratio compares the two runs of one round. README.md lists what is compared.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
STEPS = {"tiny": 24, "small": 16, "base": 4}
QUICK_STEPS = {"tiny": 8, "small": 5, "base": 2}
WARMUP = {"tiny": 4, "small": 3, "base": 1}
CUDA_STEPS = {"tiny": 200, "small": 200, "base": 100}
CUDA_WARMUP = 20  # every shape of a batch once
LOSS_TOLERANCE = 0.05  # the programs start from different random weights
# What holds LibTorch, our kernels, oneDNN, MKL and XLA back. A processor with AVX-512 is measured as one with AVX2, too.
LEVELS = {"AVX-512": {},
          "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                   "XLA_FLAGS": "--xla_cpu_max_isa=AVX2"},
          "CUDA": {}}
PHASES = ("forward", "backward", "optimizer", "data")


class Failure(RuntimeError):
    pass


def chosen(known):
    """Parser of a comma-separated selection."""

    def parse(text):
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return names

    return parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--sizes", type=chosen(STEPS), default=list(STEPS), metavar="tiny,small,base")
    add("--device", choices=("cpu", "cuda"), default="cpu")
    add("--precisions", type=chosen(("fp32", "tf32", "bf16")), default=["fp32", "bf16"],
        metavar="fp32,bf16", help="tf32 needs a GPU")
    add("--rounds", type=int, default=3, help="runs of each program (default 3)")
    add("--threads", type=int, default=len(os.sched_getaffinity(0)),
        help="CPU threads of each program (default: all cores)")
    add("--compile", action="store_true", help="time the twin under torch.compile as well")
    add("--graphs", action="store_true", help="time the twin with CUDA graphs as well; needs a GPU")
    add("--jax", action="store_true", help="time jax_twin.py as well; needs `pip install jax`")
    add("--plain-malloc", action="store_true", help="leave the twin's malloc as glibc has it")
    add("--quick", action="store_true", help="fewer steps a run")
    add("--ablate", type=pathlib.Path, default=BENCH.parent / "build" / "ablate",
        help="the program (default build/ablate)")
    add("--output", type=pathlib.Path, help="also write every run to this JSON file")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be positive")
    if options.device == "cpu" and (options.graphs or "tf32" in options.precisions):
        parser.error("--graphs and tf32 need --device cuda")
    if not options.ablate.is_file():
        parser.error(f"{options.ablate} does not exist; run `make build` first")
    return options


def measured(command, level):
    """Runs a program whose last line of output is a JSON object, and returns that object."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env=os.environ | LEVELS[level])
    try:
        if done.returncode == 0:
            return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        pass
    tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
    line = " ".join(map(str, command))
    raise Failure(f"exit code {done.returncode} and no result from\n  {line}\n{tail}")


class Pair:
    """The two programs at one size, precision and instruction set."""

    def __init__(self, options, size, case, folder):
        self.options, self.size, (self.precision, self.level) = options, size, case
        self.batches = folder / f"{size}.jsonl"
        cuda = options.device == "cuda"
        self.steps = (QUICK_STEPS if options.quick else CUDA_STEPS if cuda else STEPS)[size]
        self.warmup = CUDA_WARMUP if cuda else WARMUP[size]

    def ablate(self):
        return measured([
            self.options.ablate, "bench", "train", BENCH / f"{self.size}.yaml", "--json",
            "--set", f"training.device={self.options.device}", "--set", f"training.precision={self.precision}",
            "--steps", self.steps, "--threads", self.options.threads, "--batches", self.batches], self.level)

    def twin(self, attention, *flags):
        command = [
            sys.executable, BENCH / "twin.py", self.batches, "--steps", self.steps,
            "--warmup", self.warmup, "--threads", self.options.threads, "--device", self.options.device,
            "--precision", self.precision, "--attention", attention]
        return measured(command + list(flags) + ["--plain-malloc"] * self.options.plain_malloc, self.level)

    def jax(self):
        return measured([
            sys.executable, BENCH / "jax_twin.py", self.batches, "--steps", self.steps,
            "--warmup", WARMUP[self.size], "--threads", self.options.threads,
            "--precision", self.precision], self.level)

    def run(self):
        """All runs, by program. Ablate runs first: it writes the batches that the others read."""
        flags = {"twin": [], "compiled": ["--compile"] * self.options.compile, "graphs": ["--graphs"] * self.options.graphs}
        twins = {name: flag for name, flag in flags.items() if flag or name == "twin"}
        runs = {name: [] for name in ["ablate", *twins, *["jax"] * self.options.jax]}
        attention = "auto"  # the first round decides for all
        for round_ in range(self.options.rounds):
            say(f"{self.size} {self.precision} {self.level}: round {round_ + 1} of {self.options.rounds}")
            runs["ablate"].append(self.ablate())
            for name, flag in twins.items():
                runs[name].append(self.twin(attention, *flag))
                attention = runs["twin"][0]["attention"]
            if self.options.jax:
                runs["jax"].append(self.jax())
        return {"size": self.size, "precision": self.precision, "level": self.level,
                "attention": attention, "runs": runs}


def say(message):
    print(message, file=sys.stderr, flush=True)


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def ratio(runs, peer):
    """Ablate's speed over the peer's, round by round: median and range."""
    ratios = [a["tokens_per_second"] / b["tokens_per_second"]
              for a, b in zip(runs["ablate"], runs[peer])]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def check_losses(result):
    """Same model, same batches: a program that does less work than it claims learns differently."""
    losses = {name: median(runs, "loss") for name, runs in result["runs"].items()}
    peer = losses["twin"]
    if not all(abs(loss - peer) <= LOSS_TOLERANCE * peer for loss in losses.values()):
        raise Failure(f"the last losses differ by more than {LOSS_TOLERANCE:.0%}: {losses}")


def shares(runs):
    """Median share of each phase in a step."""
    cells = []
    for phase in PHASES:
        parts = [100 * run["breakdown"].get(phase, 0) / sum(run["breakdown"].values())
                 for run in runs]
        cells.append(f"{statistics.median(parts):.0f}")
    return " / ".join(cells)


def row(result):
    runs = result["runs"]
    cells = [result["size"], result["precision"], result["level"]]
    cells += [f"{median(runs[name], 'tokens_per_second'):,.0f}" for name in runs]
    cells += [ratio(runs, name) for name in runs if name != "ablate"]
    cells += [f"{median(runs[name], 'peak_memory_mb'):,.0f}" for name in runs]
    return cells + [shares(runs["ablate"]), shares(runs["twin"]), result["attention"]]


def heading(names):
    peers = [name for name in names if name != "ablate"]
    return (["size", "precision", "instructions"] + [f"{name} tokens/s" for name in names] +
            [f"ablate / {name} (range)" for name in peers] + [f"{name} MB" for name in names] +
            ["ablate " + "/".join(PHASES) + " %", "twin %", "twin attention"])


def table(results):
    lines = [heading(list(results[0]["runs"]))] + [row(result) for result in results]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |"
                     for line in lines)


def cases(precisions, device):
    """Precision and instruction set of each comparison: bf16 products need AVX-512."""
    if device == "cuda":
        return [(precision, "CUDA") for precision in precisions]
    with open("/proc/cpuinfo") as lines:
        wide = "avx512f" in lines.read()
    return [(precision, level) for level in ("AVX-512", "AVX2") for precision in precisions
            if (level == "AVX2" or wide) and (level == "AVX-512" or precision == "fp32")]


def machine():
    with open("/proc/cpuinfo") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {len(os.sched_getaffinity(0))} cores"


def main():
    options = arguments()
    busy = os.getloadavg()[0]
    if busy > 0.5:
        say(f"warning: the load is {busy:.1f}; runs with several threads suffer most from company")
    if subprocess.run([sys.executable, BENCH / "verify.py"], stdout=sys.stderr).returncode != 0:
        say("the twin is not the model of tests/training/golden/parity.json")
        return 1
    results, failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            for case in cases(options.precisions, options.device):
                try:
                    results.append(Pair(options, size, case, pathlib.Path(folder)).run())
                    check_losses(results[-1])
                except Failure as failure:
                    failures.append(f"{size} {' '.join(case)}: {failure}")
                if options.output:  # after every case, so that an interruption loses none
                    options.output.write_text(json.dumps(results, indent=1) + "\n")
    print(f"{machine()}; threads: {options.threads}, rounds: {options.rounds}, medians; "
          f"tokens/s counts real target tokens")
    if results:
        print(table(results))
    for failure in failures:
        say(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
