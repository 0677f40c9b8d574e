"""Makes parity.json: an independent PyTorch account of Ablate's model, loss and optimizer.

    .venv/bin/python tests/training/golden/parity.py

Nothing here is shared with the C++ code. The model is written once more from Vaswani et al. 2017 as
a function of named parameters, in the plainest operations there are; gradients come from PyTorch's
autograd, updates from torch.optim.AdamW. Weights follow a closed formula, so that the file need not
hold them. All numbers are computed twice, in float64 and in float32.

Layout of parity.json
  vocabulary, pad            16, 0
  label_smoothing            (1 - s) nll + s / V * sum over V of -log p, padding targets ignored
  optimizer                  learning_rate (constant), beta1, beta2, epsilon, weight_decay (decoupled;
                             only parameters of two or more dimensions)
  batch                      source [3, S], target_in [3, T], target_out [3, T]: padded rows of ids
  variants[]
    name
    options                  d_model, layers, heads, key_value_heads, d_k, d_v, d_hidden, placement
                             (post | pre), norm (layer | rms), gated (silu(gate) * up instead of
                             relu(up)), position (sinusoidal | learned | rotary, half layout | alibi,
                             symmetric | t5, 32 buckets to 128), max_length (null unless learned),
                             tying (three_way); dropout is 0
    parameters[]             name, shape, offset, scale; in the order of named_parameters(). Element
                             j (row-major) of parameter number i, both from 0, computed in float64
                             and then rounded to the precision, is
                                 offset + scale * sin(0.7 i + 0.37 j + 0.1)
    fp64, fp32
      logits                 3 * T * V numbers, row-major, with the initial weights
      loss_sum, tokens       label-smoothed cross-entropy summed over the batch's real target tokens,
                             and how many these are
      gradients[]            of loss_sum / tokens: one row-major list for each parameter, in order
      losses                 10 numbers: loss_sum / tokens before the 1st, 2nd, ... 10th update

float64 has 17 significant digits, float32 has 9: both read back exactly. Some gradients are zero in
exact arithmetic (the biases of keys) and rounding noise here: compare an element with the largest
magnitude of its tensor, not with itself.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

VOCABULARY, PAD = 16, 0
SMOOTHING = 0.1
OPTIMIZER = dict(learning_rate=1e-2, beta1=0.9, beta2=0.98, epsilon=1e-9, weight_decay=0.01)
UPDATES = 10
T5_BUCKETS, T5_DISTANCE = 32, 128
BATCH = dict(
    source=[[5, 9, 14, 3, 7, 2], [4, 11, 6, 2, 0, 0], [13, 8, 2, 0, 0, 0]],
    target_in=[[1, 12, 4, 10, 15], [1, 7, 7, 0, 0], [1, 3, 9, 5, 0]],
    target_out=[[12, 4, 10, 15, 2], [7, 7, 2, 0, 0], [3, 9, 5, 2, 0]],
)
TINY = dict(d_model=8, layers=2, heads=2, d_k=4, d_v=4, d_hidden=12, placement="post",
            position="sinusoidal", max_length=None, tying="three_way", key_value_heads=2,
            norm="layer", gated=False)
VARIANTS = dict(
    post_sinusoidal={},
    pre_sinusoidal=dict(placement="pre"),
    post_learned=dict(position="learned", max_length=16),
    post_free_widths=dict(d_k=3, d_v=5),
    pre_rms_gated=dict(placement="pre", norm="rms", gated=True),
    grouped_rotary=dict(heads=4, key_value_heads=2, d_k=2, d_v=2, position="rotary"),
    alibi=dict(position="alibi"),
    pre_t5=dict(placement="pre", position="t5"),
)


def parameter_shapes(o):
    """Name -> shape, a module's own parameters first, then its children in order."""
    d, h, k, v, f = o["d_model"], o["heads"], o["d_k"], o["d_v"], o["d_hidden"]
    g = o["key_value_heads"]
    shapes = {"embedding": [VOCABULARY, d]}

    def linear(name, rows, columns):
        shapes[name + ".weight"] = [rows, columns]
        shapes[name + ".bias"] = [rows]

    def norm(name):
        shapes[name + ".weight"] = [d]
        if o["norm"] == "layer":
            shapes[name + ".bias"] = [d]

    for side in ("encoder", "decoder"):
        if o["position"] == "learned":
            shapes[side + ".position.table"] = [o["max_length"], d]
        if o["position"] == "t5":
            shapes[side + ".position.table"] = [T5_BUCKETS, h]
        for layer in range(o["layers"]):
            at = f"{side}.layers.{layer}."
            linear(at + "attention.qkv", h * k + g * (k + v), d)
            linear(at + "attention.out", d, h * v)
            norm(at + "attention_norm")
            if side == "decoder":
                linear(at + "cross_attention.query", h * k, d)
                linear(at + "cross_attention.key_value", g * (k + v), d)
                linear(at + "cross_attention.out", d, h * v)
                norm(at + "cross_attention_norm")
            linear(at + "feed_forward.up", 2 * f if o["gated"] else f, d)
            linear(at + "feed_forward.down", d, f)
            norm(at + "feed_forward_norm")
        if o["placement"] == "pre":
            norm(side + ".norm")
    return shapes


def describe_parameters(o):
    described = []
    for name, shape in parameter_shapes(o).items():
        is_norm = name.split(".")[-2:-1] and name.split(".")[-2].endswith("norm")
        offset = 1.0 if is_norm and name.endswith(".weight") else 0.0
        scale = 0.3 if len(shape) >= 2 else 0.4
        described.append(dict(name=name, shape=shape, offset=offset, scale=scale))
    return described


def make_parameters(described, dtype):
    made = {}
    for i, p in enumerate(described):
        count = math.prod(p["shape"])
        values = [p["offset"] + p["scale"] * math.sin(0.7 * i + 0.37 * j + 0.1)
                  for j in range(count)]
        tensor = torch.tensor(values, dtype=torch.float64).reshape(p["shape"]).to(dtype)
        made[p["name"]] = tensor.requires_grad_()
    return made


def attention(q, k, v, hidden, bias=0.0):
    """softmax(q k^T / sqrt(K) + bias) v for one head; `hidden` is true where a key may not be seen."""
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + bias  # [B, T, S]
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def turned(x):
    """Rotary positions, half layout: dimensions i and i + K/2 turn by t * 10000^(-2i/K). // [B, T, K]"""
    half = x.shape[-1] // 2
    angle = torch.tensor([[t * 10_000 ** (-i / half) for i in range(half)]
                          for t in range(x.shape[1])], dtype=torch.float64)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)


def t5_bucket(distance, causal):
    """Bucket of key - query (Raffel et al. 2019): half exact, half logarithmic to 128."""
    buckets = T5_BUCKETS if causal else T5_BUCKETS // 2
    first = 0 if causal or distance <= 0 else buckets
    far = max(0, -distance) if causal else abs(distance)
    exact = buckets // 2
    if far < exact:
        return first + far
    wide = exact + int(math.log(far / exact) / math.log(T5_DISTANCE / exact) * (buckets - exact))
    return first + min(wide, buckets - 1)


class Model:
    def __init__(self, options, parameters):
        self.o, self.p = options, parameters

    def linear(self, name, x):
        return x @ self.p[name + ".weight"].T + self.p[name + ".bias"]

    def norm(self, name, x):
        if self.o["norm"] == "rms":
            square = (x ** 2).mean(-1, keepdim=True)
            return x / torch.sqrt(square + 1e-5) * self.p[name + ".weight"]
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        scaled = (x - mean) / torch.sqrt(variance + 1e-5)
        return scaled * self.p[name + ".weight"] + self.p[name + ".bias"]

    def bias(self, name, head, length):
        """What the position scheme adds to one head's scores. // [T, T]"""
        side = name.split(".")[0]
        if self.o["position"] == "alibi":
            slope = 2.0 ** (-8 * (head + 1) / self.o["heads"])
            return torch.tensor([[-slope * abs(j - i) for j in range(length)]
                                 for i in range(length)], dtype=self.p["embedding"].dtype)
        if self.o["position"] == "t5":
            table = self.p[side + ".position.table"]
            return torch.stack([torch.stack([table[t5_bucket(j - i, side == "decoder"), head]
                                             for j in range(length)]) for i in range(length)])
        return 0.0

    def heads(self, name, q, k, v, hidden):
        """Runs each head on its own columns and puts the results side by side."""
        dk, dv, own = self.o["d_k"], self.o["d_v"], "cross" not in name
        turn = turned if own and self.o["position"] == "rotary" else lambda x: x
        done = []
        for h in range(self.o["heads"]):
            g = h * self.o["key_value_heads"] // self.o["heads"]
            bias = self.bias(name, h, q.shape[1]) if own else 0.0
            done.append(attention(turn(q[..., h * dk:(h + 1) * dk]),
                                  turn(k[..., g * dk:(g + 1) * dk]),
                                  v[..., g * dv:(g + 1) * dv], hidden, bias))
        return torch.cat(done, -1)

    def self_attention(self, name, x, hidden):
        keys = self.o["heads"] * self.o["d_k"]
        shared = self.o["key_value_heads"] * self.o["d_k"]
        qkv = self.linear(name + ".qkv", x)
        q, k, v = qkv[..., :keys], qkv[..., keys:keys + shared], qkv[..., keys + shared:]
        return self.linear(name + ".out", self.heads(name, q, k, v, hidden))

    def cross_attention(self, name, x, memory, hidden):
        keys = self.o["key_value_heads"] * self.o["d_k"]
        kv = self.linear(name + ".key_value", memory)
        q, k, v = self.linear(name + ".query", x), kv[..., :keys], kv[..., keys:]
        return self.linear(name + ".out", self.heads(name, q, k, v, hidden))

    def feed_forward(self, name, x):
        if self.o["gated"]:
            gate, up = self.linear(name + ".up", x).chunk(2, -1)
            return self.linear(name + ".down", F.silu(gate) * up)
        return self.linear(name + ".down", torch.relu(self.linear(name + ".up", x)))

    def residual(self, name, x, branch):
        if self.o["placement"] == "post":
            return self.norm(name + "_norm", x + branch(x))
        return x + branch(self.norm(name + "_norm", x))

    def embed(self, side, ids):
        table, d = self.p["embedding"], self.o["d_model"]
        x = table[ids] * math.sqrt(d)
        if self.o["position"] == "learned":
            return x + self.p[side + ".position.table"][: ids.shape[1]]
        if self.o["position"] != "sinusoidal":
            return x
        position = torch.zeros(ids.shape[1], d, dtype=torch.float64)
        for t in range(ids.shape[1]):
            for pair in range(0, d, 2):
                angle = t / 10_000 ** (pair / d)
                position[t, pair], position[t, pair + 1] = math.sin(angle), math.cos(angle)
        return x + position.to(x.dtype)

    def stack_norm(self, side, x):
        return self.norm(side + ".norm", x) if self.o["placement"] == "pre" else x

    def encode(self, source):
        x = self.embed("encoder", source)
        hidden = (source == PAD)[:, None, :]  # [B, 1, S]
        for layer in range(self.o["layers"]):
            at = f"encoder.layers.{layer}."
            x = self.residual(at + "attention", x,
                              lambda y: self.self_attention(at + "attention", y, hidden))
            x = self.residual(at + "feed_forward", x,
                              lambda y: self.feed_forward(at + "feed_forward", y))
        return self.stack_norm("encoder", x)

    def logits(self, source, target_in):
        memory = self.encode(source)
        x = self.embed("decoder", target_in)
        length = target_in.shape[1]
        future = torch.ones(length, length).triu(1).bool()[None]  # [1, T, T]
        padding = (source == PAD)[:, None, :]
        for layer in range(self.o["layers"]):
            at = f"decoder.layers.{layer}."
            x = self.residual(at + "attention", x,
                              lambda y: self.self_attention(at + "attention", y, future))
            x = self.residual(at + "cross_attention", x, lambda y: self.cross_attention(
                at + "cross_attention", y, memory, padding))
            x = self.residual(at + "feed_forward", x,
                              lambda y: self.feed_forward(at + "feed_forward", y))
        return self.stack_norm("decoder", x) @ self.p["embedding"].T


def loss_sum(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD,
                           label_smoothing=SMOOTHING, reduction="sum")


def make_optimizer(parameters):
    o = OPTIMIZER
    groups = [dict(params=[p for p in parameters if p.dim() >= 2], weight_decay=o["weight_decay"]),
              dict(params=[p for p in parameters if p.dim() < 2], weight_decay=0.0)]
    return torch.optim.AdamW(groups, lr=o["learning_rate"], betas=(o["beta1"], o["beta2"]),
                             eps=o["epsilon"])


def measure(options, described, dtype):
    """Everything the C++ side is compared with, at one precision."""
    parameters = make_parameters(described, dtype)
    model = Model(options, parameters)
    source, target_in, target_out = (torch.tensor(rows) for rows in BATCH.values())
    tokens = int((target_out != PAD).sum())
    optimizer = make_optimizer(list(parameters.values()))
    result = dict(tokens=tokens, losses=[])
    for _ in range(UPDATES):
        optimizer.zero_grad()
        logits = model.logits(source, target_in)
        loss = loss_sum(logits, target_out)
        (loss / tokens).backward()
        if not result["losses"]:
            result["logits"] = logits.detach().flatten().tolist()
            result["loss_sum"] = loss.item()
            result["gradients"] = [p.grad.flatten().tolist() for p in parameters.values()]
        result["losses"].append((loss / tokens).item())
        optimizer.step()
    return result


def written(value, digits):
    """JSON of numbers with `digits` significant digits."""
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return "[" + ",".join(written(item, digits) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",\n".join(f'"{key}":{written(item, digits)}'
                                for key, item in value.items()) + "}"
    return json.dumps(value)


def main():
    torch.set_num_threads(1)
    variants = []
    for name, changes in VARIANTS.items():
        options = {**TINY, **changes}
        described = describe_parameters(options)
        head = json.dumps(dict(name=name, options=options, parameters=described))[:-1]
        fp64 = written(measure(options, described, torch.float64), 17)
        fp32 = written(measure(options, described, torch.float32), 9)
        variants.append(f'{head},\n"fp64":{fp64},\n"fp32":{fp32}}}')
    head = json.dumps(dict(vocabulary=VOCABULARY, pad=PAD, label_smoothing=SMOOTHING,
                           optimizer=OPTIMIZER, batch=BATCH))[:-1]
    path = pathlib.Path(__file__).with_name("parity.json")
    path.write_text(head + ',\n"variants":[\n' + ",\n".join(variants) + "]}\n")


if __name__ == "__main__":
    main()
