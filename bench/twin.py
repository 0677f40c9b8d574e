"""Times training in PyTorch on batches that Ablate wrote, and prints one line of JSON.

    build/ablate bench train bench/small.yaml --batches batches.jsonl
    .venv/bin/python bench/twin.py batches.jsonl --steps 20 --precision bf16

The file's first line holds the model, {"vocabulary", "model": {"d_model", "layers", "heads",
"d_hidden", "dropout"}, "label_smoothing", "learning_rate"}; every other line is a batch of padded
rows of ids, {"source", "target_in", "target_out"}. A fixed number of warm-up updates comes first and
is not measured; the batches are used in turn.
"""

import argparse
import json
import math
import os
import sys
import time

LEARNING_RATE = 3e-4  # unless the file names one
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 36),
}


def arguments():
    parser = argparse.ArgumentParser(description="Training speed of the PyTorch twin.")
    parser.add_argument("batches", help="JSON lines written by `ablate bench train --batches`")
    parser.add_argument("--steps", type=int, default=20, help="measured updates")
    parser.add_argument("--warmup", type=int, default=3, help="updates before the measured ones")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    parser.add_argument("--attention", choices=["bmm", "sdpa", "auto"], default="auto",
                        help="auto: the faster of the two in a short trial")
    parser.add_argument("--compile", action="store_true", help="run the model by torch.compile")
    parser.add_argument("--graphs", action="store_true", help="record the passes over each shape of batch as a CUDA graph")
    parser.add_argument("--plain-malloc", action="store_true", help="leave glibc's malloc as it is")
    return parser.parse_args()


def tune_malloc():
    """Starts this program again with an allocator that keeps its memory: read only at start-up."""
    if any(os.environ.get(name) != value for name, value in MALLOC.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | MALLOC)


def read(path, torch, device):
    """The header and the batches, on the host, in memory from which a GPU copies while Python goes on."""
    def tensor(rows):
        return torch.tensor(rows, pin_memory=device == "cuda")

    with open(path) as lines:
        header = json.loads(next(lines))
        batches = [{name: tensor(rows) for name, rows in json.loads(line).items()} for line in lines]
    return header, batches


def peak_memory_mb(torch, device):
    """Largest resident size of this process, or what LibTorch reserved on a GPU, in MiB."""
    if device == "cuda":
        return torch.cuda.max_memory_reserved() / 2**20
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


class Clock:
    """Seconds by phase; a phase lasts from the mark before it to its own."""

    def __init__(self):
        self.seconds = {"data": 0.0, "forward": 0.0, "backward": 0.0, "optimizer": 0.0}
        self.last = time.perf_counter()

    def mark(self, phase):
        now = time.perf_counter()
        self.seconds[phase] += now - self.last
        self.last = now


class Training:
    def __init__(self, options, header, torch):
        from transformer import Options, Transformer, loss_sum

        self.torch, self.device, self.bf16 = torch, options.device, options.precision == "bf16"
        self.smoothing, self.loss_sum = header["label_smoothing"], loss_sum
        shape = Options(vocabulary=header["vocabulary"], **header["model"])
        model = Transformer(shape).to(self.device).train()
        self.optimizer = torch.optim.AdamW(
            model.parameters(), header.get("learning_rate", LEARNING_RATE), (0.9, 0.98), 1e-9,
            weight_decay=0, fused=True
        )
        self.plain_model = model
        self.graphs = {} if options.graphs else None  # by the shapes of a batch
        self.pool = torch.cuda.graph_pool_handle() if options.graphs else None
        self.model = torch.compile(model, dynamic=True) if options.compile else model

    def attend_by(self, kind, batch):
        """Sets the way of attending, found by trial if `kind` is auto; returns what was set."""
        if kind == "auto":
            part = self.there({name: ids[: math.ceil(len(ids) / 4)] for name, ids in batch.items()})
            kind = min(("bmm", "sdpa"), key=lambda each: self.trial(each, part))
        self.plain_model.set_attention(kind)
        return kind

    def trial(self, kind, batch):
        """Shortest seconds of a forward and backward pass; no weight changes."""
        self.plain_model.set_attention(kind)
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            self.loss(self.plain_model, batch).backward()
            self.wait()
            seconds.append(time.perf_counter() - start)
        self.optimizer.zero_grad()
        return min(seconds)

    def there(self, batch):
        return {name: ids.to(self.device, non_blocking=True) for name, ids in batch.items()}

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def loss(self, model, batch):
        with self.torch.autocast(self.device, self.torch.bfloat16, enabled=self.bf16):
            logits = model(batch["source"], batch["target_in"])
            return self.loss_sum(logits, batch["target_out"], self.smoothing)

    def captured(self, batch):
        """The graph of the passes over such a batch, with the tensors that it reads and its loss; all graphs share their memory."""
        shapes = tuple(ids.shape for ids in batch.values())
        if shapes not in self.graphs:
            read = self.there(batch) | {"tokens": self.torch.ones((), device=self.device)}
            cuda = self.torch.cuda
            for graph in (None, cuda.CUDAGraph()):  # libraries are set up by the first pass
                self.wait()
                with cuda.graph(graph, self.pool) if graph else cuda.stream(cuda.Stream()):
                    self.optimizer.zero_grad(set_to_none=False)
                    loss = self.loss(self.model, read) / read["tokens"]
                    loss.backward()
            self.wait()
            self.graphs[shapes] = graph, read, loss.detach()
        return self.graphs[shapes]

    def replay(self, batch, tokens, clock):
        graph, read, loss = self.captured(batch)
        for name, ids in batch.items():
            read[name].copy_(ids, non_blocking=True)
        read["tokens"].fill_(tokens.item())
        clock.mark("data")
        graph.replay()
        clock.mark("backward")
        self.optimizer.step()
        clock.mark("optimizer")
        return loss

    def step(self, batch, clock):
        tokens = batch["target_out"].count_nonzero()
        if self.graphs is not None:
            return self.replay(batch, tokens, clock), tokens
        batch = self.there(batch)
        clock.mark("data")
        loss = self.loss(self.model, batch) / tokens
        clock.mark("forward")
        loss.backward()
        clock.mark("backward")
        self.optimizer.step()
        self.optimizer.zero_grad()
        clock.mark("optimizer")
        return loss, tokens


def main():
    options = arguments()
    if not options.plain_malloc:
        tune_malloc()
    import torch  # after the restart, so that it is loaded once

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    header, batches = read(options.batches, torch, options.device)
    training = Training(options, header, torch)
    attention = training.attend_by(options.attention, batches[0])
    for number in range(options.warmup):
        training.step(batches[number % len(batches)], Clock())
    training.wait()
    tokens, clock, start = 0, Clock(), time.perf_counter()
    for number in range(options.warmup, options.warmup + options.steps):
        loss, count = training.step(batches[number % len(batches)], clock)
        tokens += count.item()
    training.wait()
    seconds = time.perf_counter() - start
    result = {
        "tokens_per_second": tokens / seconds,
        "peak_memory_mb": peak_memory_mb(torch, options.device),
        "loss": loss.item(),
        "attention": attention,
        "breakdown": {phase: s / options.steps for phase, s in clock.seconds.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
