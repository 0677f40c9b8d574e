"""Studies whose processes meet with faults, and what must be the same afterwards."""

import collections
import functools
import json
import pathlib
import shutil
import struct
import subprocess
import tempfile

from processes import Loaded, Server, wait_and_wake, wait_for_orphans

HERE = pathlib.Path(__file__).resolve().parent
OPERATIONS = ("", "create", "write", "sync", "rename", "exchange", "unlink", "mkdir", "rmdir", "link", "truncate")
# What depends on the clock, on the machine or on how often a run was started, wherever it stands in a JSON file.
VARYING = {"sha256", "decode_seconds", "training_seconds", "core_seconds", "tokens_per_second", "log_bytes", "log_sha256", "memory_bytes", "seconds",
           "seconds_to_target", "metrics.jsonl", "state.json"}  # the last two as files of others, by digest
# Without a word in the end about what happened on the way. The tables hold seconds; results.json has their other figures.
IGNORED = {"environment.json", "log.txt", "command.json", "failure.json", "report.html", "results.csv", "results.jsonl", "table.txt", "table.md",
           "table.tex"}

STUDY = """name: faults
seeds: [1]
base:
  data: { task: copy, symbols: 6, train_length: [1, 4], test_length: [4], examples: { train: 200, validation: 20, test: 10 } }
  tokenizer: { kind: word }
  model: { d_model: 16, layers: 1, attention: { heads: 2 }, feed_forward: { d_hidden: 24 } }
  training: { steps: 24, tokens_per_batch: 60, max_length: 32, schedule: { kind: constant, peak: 3.0e-3 }, threads: 1,
              log_every: 3, evaluate_every: 8, save_every: 5 }
  decoding: { max_length: 8 }
"""
# Every family, precision and optimizer, and what else a checkpoint has to carry.
STUDIES = {
    "plain": "",
    "decoder": "arms: { base: { model.family: decoder_only, training.optimizer.kind: lion } }\n",
    "bf16": "arms: { base: { training.precision: bf16, training.optimizer.kind: adamw } }\n",
    "sgd": "arms: { base: { training.optimizer.kind: sgd, training.accumulate: 2 } }\n",
    "ema": "arms: { base: { training.ema: 0.9 } }\n",
    "experts": "arms: { base: { model.feed_forward: { kind: moe, experts: 4, active: 2, d_hidden: 12 } } }\n",
    "dropout": "arms: { base: { model.dropout: 0.2, model.position.kind: learned } }\n",
    "two": "arms: { base: {}, more: { model.layers: 2 } }\ncompare: { baseline: base, metric: exact_match }\n",
    "tuned": "tune: { by: shared, keys: { training.schedule.peak: [1.0e-3, 4.0e-3] }, seeds: [2], extend: 1 }\n",
    # What is evaluated has to follow from the steps alone, not from what was saved on the way.
    "averaged": "arms: { base: { training.average: 3, training.keep: 3, training.evaluate_every: 3 } }\n",
    "patient": "arms: { base: { training.evaluate_every: 2, training.patience: 2, training.schedule.peak: 0.05 } }\n",
    "started": "arms: { base: { training.ema: 0.9, training.evaluate_every: 2 },"
               " best: { training.steps: 0, training.init_from: { arm: base, weights: best } },"
               " mean: { training.steps: 0, training.init_from: { arm: base, average: 2 } } }\n",
}

# Of two processes; only for kills, since the others count calls or allocations, of which ranks make some when they like.
RANKED = {"ranks": "arms: { base: { training.accumulate: 2 } }\n"}


class Call(collections.namedtuple("Call", "number operation path other data offset")):
    """A call that changed the folder; paths are relative to it."""


class Outcome(collections.namedtuple("Outcome", "code calls output allocations faults")):
    """How a program ended: its exit code, how many calls its processes made, what it said, how many allocations of the
    size that was asked for were counted, and how many of the faults that were to happen did."""


class Laboratory:
    """A program, the shim, and a folder for trials that is removed at the end."""

    def __init__(self, program):
        self.program = str(program)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ablate-faults-"))
        self.shim = self.folder / "shim.so"
        subprocess.run(["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-o", self.shim,
                        *(HERE / name for name in ("shim.c", "memory.c", "clock.c"))], check=True)
        for name, more in (STUDIES | RANKED).items():
            (self.folder / f"{name}.yaml").write_text(STUDY + more)
        self.undisturbed = {}
        self.allocated = {}
        self.faults = 0  # that have happened
        self.copies = False  # whether processes are copies of one that has loaded the program

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if "server" in self.__dict__:
            self.server.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @functools.cached_property
    def server(self):
        return Server(self.program, self.folder, self.shim)

    def command(self, study, output):
        command = [self.program, "run", self.folder / f"{study}.yaml", "--output", output, "--jobs", "1"]
        return [*command, "--ranks", "2"] if study in RANKED else command

    def export(self, run, to):
        return [self.program, "export", run, "--format", "safetensors", "--to", to]

    def run(self, command, under, log=None, meanwhile=lambda: None, **fault):
        """Runs a command whose calls below a folder are counted; `fault` has at and what (of several faults lists) and
        lasting, of an allocation least, allocation and lasting, and of the clock jump, from, until and haste. `meanwhile`
        is called when a process of it has stopped."""
        under.mkdir(exist_ok=True)
        counter = self.folder / f"{under.name}.counter"
        counter.write_bytes(bytes(32))
        variables = {"UNDER": under, "COUNTER": counter} | fault | ({"LOG": log} if log else {})
        variables = [f"FAULTS_{key.upper()}={','.join(map(str, listed(value)))}" for key, value in variables.items()]
        copied = self.copies and not log and "--ranks" not in command
        program = self.server if copied else Loaded(self.shim, self.folder / f"{under.name}.said")
        program.begin(command, variables)
        code = wait_and_wake(program, meanwhile)
        calls, allocations, _, faults = struct.unpack("4Q", counter.read_bytes())
        return Outcome(code, calls, program.said_by(0), allocations, faults)

    def wait_for_orphans(self, output):
        """Until no process works on a folder: a worker may outlive who started it."""
        wait_for_orphans(f"FAULTS_UNDER={output}")

    def whole(self, study):
        """What an undisturbed run of a study leaves, and the calls that it made; made once."""
        if study not in self.undisturbed:
            output = self.folder / f"whole-{study}"
            log = self.folder / f"whole-{study}.log"
            outcome = self.run(self.command(study, output), output, log)
            assert outcome.code == 0, outcome.output
            self.undisturbed[study] = (left_by(output), calls_in(log, output))
        return self.undisturbed[study]

    def allocations(self, study, least):
        """How many allocations of at least so many bytes an undisturbed run of a study makes; counted once."""
        if (study, least) not in self.allocated:
            output = self.folder / f"counted-{study}-{least}"
            outcome = self.run(self.command(study, output), output, least=least)
            assert outcome.code == 0, outcome.output
            self.allocated[study, least] = outcome.allocations
            shutil.rmtree(output)
        return self.allocated[study, least]


def listed(value):
    return value if isinstance(value, (list, tuple)) else [value]


def left_by(output):
    """What a study leaves that no interruption may change, by path."""
    found = {}
    for path in sorted(output.rglob("*")):
        name = str(path.relative_to(output))
        if path.is_dir() or path.name in IGNORED or path.name.startswith((".lock", "events.")) or "claims/" in name:
            continue
        content = path.read_bytes()
        if not content and path.name.startswith(".tmp-"):
            continue  # whoever made it may be about to lock it, so nobody removes it
        found[name] = content
        if path.suffix in (".json", ".jsonl"):
            try:
                found[name] = [steady(json.loads(line)) for line in (content.splitlines() if path.suffix == ".jsonl" else [content])]
            except ValueError:
                pass
    return found


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def steady(value, varying=frozenset(VARYING)):
    """A JSON value without what varies."""
    if isinstance(value, dict):
        if value.get("metric") in varying:
            return {}
        return {key: steady(inner, varying) for key, inner in value.items() if key not in varying}
    return [steady(inner, varying) for inner in value] if isinstance(value, list) else value


def differences(found, expected):
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def calls_in(log, folder):
    """The calls that the shim wrote down, in their order."""
    data, at, calls = log.read_bytes(), 0, []

    def below(path):
        return path.decode()[len(str(folder)) + 1:]

    while at < len(data):
        number, operation, length, offset = struct.unpack_from("QIIQ", data, at)
        first, second, content = data[at + 24:at + 24 + length].split(b"\0", 2)
        calls.append(Call(number, OPERATIONS[operation], below(first), below(second), content, offset))
        at += 24 + length
    return sorted(calls)
